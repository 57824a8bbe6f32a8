/* Choices in groups. */
#include "cli/play_menu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LIST_MAX = 16, /* as many choices are listed one by one */
    FEW = 4,       /* at the top, as many of one verb are */
};

static const char ends[] = " /"; /* what ends a word of a name */

/* ---- Text --------------------------------------------------------------------------------------
 */

static uint32_t letters_count(const char *text, size_t length)
{
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += (text[i] & 0xc0) != 0x80;
    }
    return count;
}

void words_print(const char *text, uint32_t column, uint32_t indent, uint32_t columns)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        uint32_t wide = letters_count(text, length);
        if (column > indent && column + wide + 1 > columns) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            printf(" ");
            column++;
        }
        printf("%.*s", (int)length, text);
        column += wide;
        text += length;
        text += strspn(text, " \n");
    }
    printf("\n");
}

/* ---- Menus -------------------------------------------------------------------------------------
 */

/* Whether `name` is `prefix`, or goes on behind it with a new word. */
static bool begins_with(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return length == 0 || (strncmp(name, prefix, length) == 0 &&
                           (name[length] == '\0' || strchr(ends, name[length]) != NULL));
}

static uint32_t legal_count(const Match *match, const char *prefix, uint32_t *first)
{
    const TyRuleset *ruleset = match->lineup.ruleset;
    uint32_t count = 0;
    for (uint32_t action = 0; action < ty_shape(ruleset)->action_count; action++) {
        char name[TY_NAME_MAX];
        if (match->mask[action]) {
            ty_action_name(ruleset, action, name);
            bool counts = begins_with(name, prefix);
            *first = counts && count == 0 ? action : *first;
            count += counts;
        }
    }
    return count;
}

/* The words of `name` up to the one behind `prefix`. */
static void group_prefix(const char *name, const char *prefix, char out[TY_NAME_MAX])
{
    size_t from = strlen(prefix);
    from += from > 0 && name[from] != '\0';
    snprintf(out, TY_NAME_MAX, "%.*s", (int)(from + strcspn(name + from, ends)), name);
}

static void entry_add(Menu *menu, const char *prefix, uint32_t action, uint32_t count)
{
    MenuEntry *entry = &menu->entries[menu->count++];
    *entry = (MenuEntry){.action = action, .count = count};
    snprintf(entry->prefix, sizeof entry->prefix, "%s", prefix);
}

/* Adds the action, or the group that it is the first of. */
static void action_add(Menu *menu, uint32_t action, uint32_t list_max)
{
    const TyRuleset *ruleset = menu->match->lineup.ruleset;
    char name[TY_NAME_MAX];
    char group[TY_NAME_MAX];
    uint32_t first = action;
    ty_action_name(ruleset, action, name);
    group_prefix(name, menu->prefix, group);
    uint32_t count = legal_count(menu->match, group, &first);
    if (count <= list_max) {
        entry_add(menu, name, action, 1);
    } else if (first == action) {
        entry_add(menu, group, action, count);
    }
}

void menu_open(Menu *menu, const Match *match, const char *prefix)
{
    uint32_t first = 0;
    char kept[TY_NAME_MAX];
    snprintf(kept, sizeof kept, "%s", prefix);
    menu->match = match;
    menu->count = 0;
    memcpy(menu->prefix, kept, sizeof kept);
    uint32_t all = legal_count(match, kept, &first);
    uint32_t list_max = all <= LIST_MAX ? LIST_MAX : kept[0] == '\0' ? FEW : 1;
    for (uint32_t action = 0; action < ty_shape(match->lineup.ruleset)->action_count; action++) {
        char name[TY_NAME_MAX];
        if (match->mask[action]) {
            ty_action_name(match->lineup.ruleset, action, name);
            if (begins_with(name, kept)) {
                action_add(menu, action, list_max);
            }
        }
    }
}

bool menu_back(Menu *menu)
{
    if (menu->prefix[0] == '\0') {
        return false;
    }
    char above[TY_NAME_MAX];
    size_t length = strlen(menu->prefix) - 1;
    while (length > 0 && strchr(ends, menu->prefix[length]) == NULL) {
        length--;
    }
    snprintf(above, sizeof above, "%.*s", (int)length, menu->prefix);
    menu_open(menu, menu->match, above);
    return true;
}

/* ---- Entries in words --------------------------------------------------------------------------
 */

/* What a group is about: what its actions do, or the first half of what they do it with. */
static void group_label(const Menu *menu, const MenuEntry *entry, char *out, size_t size)
{
    static const char *const halves[] = {": ", " towards ", " - ", "\u2013", "/"};
    char verb[TY_NAME_MAX];
    char item[TY_NAME_MAX];
    ty_action_title(menu->match->lineup.ruleset, entry->action, verb, item);
    size_t length = strlen(item);
    for (uint32_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        const char *half = strstr(item, halves[i]);
        length = half != NULL && (size_t)(half - item) < length ? (size_t)(half - item) : length;
    }
    bool top = strchr(entry->prefix, ' ') == NULL;
    snprintf(out, size, "%.*s: %u choices ...", top ? TY_NAME_MAX : (int)length, top ? verb : item,
             entry->count);
}

/* Whether an entry and the one behind it are actions of one verb. */
static bool verb_goes_on(const Menu *menu, uint32_t index)
{
    const MenuEntry *entry = &menu->entries[index];
    char verbs[2][TY_NAME_MAX];
    char item[TY_NAME_MAX];
    if (index + 1 >= menu->count || entry[0].count > 1 || entry[1].count > 1) {
        return false;
    }
    ty_action_title(menu->match->lineup.ruleset, entry[0].action, verbs[0], item);
    ty_action_title(menu->match->lineup.ruleset, entry[1].action, verbs[1], item);
    return strcmp(verbs[0], verbs[1]) == 0;
}

/* With what the action is done, or if `alone` also what it does. */
static void action_label(const Menu *menu, const MenuEntry *entry, bool alone, char *out,
                         size_t size)
{
    const TyRuleset *ruleset = menu->match->lineup.ruleset;
    char verb[TY_NAME_MAX];
    char item[TY_NAME_MAX];
    char words[TY_ACTION_TEXT_MAX];
    ty_action_title(ruleset, entry->action, verb, item);
    ty_action_text(ruleset, menu->match->state, entry->action, words, sizeof words);
    size_t told = alone || item[0] == '\0' ? 0 : strlen(verb) + strlen(": ");
    snprintf(out, size, "%s [%s]", words + told, entry->prefix);
}

void menu_print(const Menu *menu, uint32_t columns)
{
    bool goes_on = false;
    for (uint32_t i = 0; i < menu->count; i++) {
        char label[MENU_LABEL_MAX];
        char verb[TY_NAME_MAX];
        char item[TY_NAME_MAX];
        const MenuEntry *entry = &menu->entries[i];
        bool follows = goes_on;
        goes_on = verb_goes_on(menu, i);
        if (goes_on && !follows) {
            ty_action_title(menu->match->lineup.ruleset, entry->action, verb, item);
            snprintf(label, sizeof label, "%s:", verb);
            words_print(label, 0, 0, columns);
        }
        if (entry->count > 1) {
            group_label(menu, entry, label, sizeof label);
        } else {
            action_label(menu, entry, !follows && !goes_on, label, sizeof label);
        }
        printf("%4u) ", i + 1);
        words_print(label, 6, 6, columns);
    }
    printf("%s", menu->prefix[0] != '\0' ? "   b) back\n" : "");
}

/* ---- What was typed ----------------------------------------------------------------------------
 */

/* The legal action whose name is, or alone begins with, `word`. Returns how many begin so. */
static uint32_t find_named(const Match *match, const char *word, MenuEntry *found)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ty_shape(match->lineup.ruleset)->action_count; i++) {
        char name[TY_NAME_MAX];
        if (!match->mask[i]) {
            continue;
        }
        ty_action_name(match->lineup.ruleset, i, name);
        bool whole = strcasecmp(name, word) == 0;
        if (whole || strncasecmp(name, word, strlen(word)) == 0) {
            *found = (MenuEntry){.action = i, .count = 1};
            memcpy(found->prefix, name, sizeof name);
            count++;
        }
        if (whole) {
            return 1;
        }
    }
    return count;
}

bool menu_find(const Menu *menu, const char *word, MenuEntry *found)
{
    bool digits = strspn(word, "0123456789") == strlen(word);
    unsigned long number = digits ? strtoul(word, NULL, 10) : 0;
    if (number > 0 && number <= menu->count) {
        *found = menu->entries[number - 1];
        return true;
    }
    for (uint32_t i = 0; i < menu->count; i++) {
        if (menu->entries[i].count > 1 && strcasecmp(menu->entries[i].prefix, word) == 0) {
            *found = menu->entries[i];
            return true;
        }
    }
    uint32_t count = find_named(menu->match, word, found);
    if (count > 1) {
        printf("%u choices begin with '%s'; type more of it, or the number.\n", count, word);
    } else if (count == 0) {
        printf("'%s' is none of the choices; '?' shows them.\n", word);
    }
    return count == 1;
}
