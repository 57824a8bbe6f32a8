/* Choices in groups: a menu of the legal actions whose names begin with the same words. */
#pragma once

#include "cli/match.h"

enum {
    MENU_ENTRIES_MAX = TY_ACTIONS_MAX,
    MENU_LABEL_MAX = 1024, /* bytes of what an entry says */
};

/* An entry: an action, or a group of them with a menu of its own. */
typedef struct MenuEntry {
    char
        prefix[TY_NAME_MAX]; /* the name of the action, or the words that the group has in common */
    uint32_t action;         /* of a group: the first */
    uint32_t count;          /* of a group: how many; 1: an action */
} MenuEntry;

typedef struct Menu {
    const Match *match;       /* whose mask is filled */
    char prefix[TY_NAME_MAX]; /* what all its actions begin with; "" at the top */
    uint32_t count;
    MenuEntry entries[MENU_ENTRIES_MAX];
} Menu;

/* The menu of the actions that begin with `prefix`. Few are listed one by one, many in groups. */
void menu_open(Menu *menu, const Match *match, const char *prefix);
/* The menu above: true if there is one. */
bool menu_back(Menu *menu);
/* Prints the entries with their numbers, in lines of at most `columns` characters. */
void menu_print(const Menu *menu, uint32_t columns);
/* What was typed, a number or a name or the beginning of one: an entry of the menu, or any legal
 * action or group. Complains and returns false if it is none, or several. */
bool menu_find(const Menu *menu, const char *word, MenuEntry *found);

/* Prints a text in lines of at most `columns` characters, the further ones indented. */
void words_print(const char *text, uint32_t column, uint32_t indent, uint32_t columns);
