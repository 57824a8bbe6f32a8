/* Choices in words: what the seat to act may answer, by verb, with what each costs. */
#include "kit/kit.h"

#include <string.h>

/* Choices being told. */
typedef struct Telling {
    const TyRuleset *ruleset;
    const void *state;
    bool numbered;
    uint8_t mask[TY_ACTIONS_MAX];
    TyText *out;
} Telling;

/* The number of an action among the legal ones. */
static void number_write(const Telling *telling, uint32_t action)
{
    uint32_t number = 1;
    for (uint32_t i = 0; telling->numbered && i < action; i++) {
        number += telling->mask[i];
    }
    if (telling->numbered) {
        ty_text_add(telling->out, "%u) ", number);
    }
}

static void name_write(const Telling *telling, uint32_t action)
{
    char name[TY_NAME_MAX];
    ty_action_name(telling->ruleset, action, name);
    ty_text_add(telling->out, "%s", name);
}

void kit_explain(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out)
{
    if (ruleset->game->explain != NULL && action < ruleset->game_action_count) {
        ruleset->game->explain(ruleset, state, action, out);
    }
}

/* What the choice costs or leads to, if there is anything to say, between `before` and `after`. */
static void explain_write(const Telling *telling, uint32_t action, const char *before,
                          const char *after)
{
    char words[TY_EXPLAIN_MAX];
    TyText text = ty_text_init(words, sizeof words);
    kit_explain(telling->ruleset, telling->state, action, &text);
    if (text.length > 0) {
        ty_text_add(telling->out, "%s%s%s", before, words, after);
    }
}

/* One choice in a line of its own: what people call it, what it costs, its name in brackets. */
static void choice_write(const Telling *telling, uint32_t action)
{
    TyChoice choice = ty_choice(telling->ruleset, action);
    const TyNames *items = telling->ruleset->game->actions[choice.form].items;
    if (items != NULL) {
        ty_names_title(items, telling->ruleset, choice.item, telling->out);
    }
    explain_write(telling, action, items != NULL ? ": " : ", ", "");
    ty_text_add(telling->out, " [");
    name_write(telling, action);
    ty_text_add(telling->out, "]\n");
}

/* The length of the first word of a name. */
static size_t word_length(const char *name)
{
    return strcspn(name, " ");
}

/* Many choices by their names without the verb; those that share their first word in one line,
 * behind that word. */
static void brief_write(const Telling *telling, uint32_t first, uint32_t end)
{
    const TyActionForm *form =
        &telling->ruleset->game->actions[ty_choice(telling->ruleset, first).form];
    size_t verb = strlen(form->verb) + 1;
    char line[TY_NAME_MAX] = "";
    for (uint32_t action = first; action < end; action++) {
        char name[TY_NAME_MAX];
        if (!telling->mask[action]) {
            continue;
        }
        ty_action_name(telling->ruleset, action, name);
        const char *item = name + verb;
        size_t word = word_length(item);
        bool shared = item[word] == ' ';
        bool same = line[0] != '\0' &&
                    (!shared || (strlen(line) == word && strncmp(line, item, word) == 0));
        if (!same) {
            ty_text_add(telling->out, "%s    ", line[0] == '\0' ? "" : "\n");
            ty_text_put(telling->out, item, shared ? word : 0);
            ty_text_add(telling->out, "%s", shared ? ": " : "");
        }
        ty_text_add(telling->out, "%s", same ? ", " : "");
        number_write(telling, action);
        ty_text_add(telling->out, "%s", shared ? item + word + 1 : item);
        explain_write(telling, action, " (", ")");
        TyText kept = ty_text_init(line, sizeof line);
        ty_text_put(&kept, item, word);
    }
    ty_text_add(telling->out, "\n");
}

/* The choices of one form, whose actions are `first` to below `end`. */
static void form_write(const Telling *telling, const TyActionForm *form, uint32_t first,
                       uint32_t end)
{
    uint32_t count = 0;
    uint32_t last = 0;
    for (uint32_t action = first; action < end; action++) {
        count += telling->mask[action];
        last = telling->mask[action] ? action : last;
    }
    if (count == 0) {
        return;
    }
    ty_text_add(telling->out, "- ");
    if (count == 1) {
        number_write(telling, last);
    }
    ty_text_add(telling->out, "%s", form->help != NULL ? form->help : form->verb);
    if (count == 1) {
        ty_text_add(telling->out, "%s", form->items != NULL ? ": " : "");
        choice_write(telling, last);
    } else if (form->brief) {
        ty_text_add(telling->out, ", for example [");
        name_write(telling, last);
        ty_text_add(telling->out, "]; all of them:\n");
        brief_write(telling, first, end);
    } else {
        ty_text_add(telling->out, ":\n");
        for (uint32_t action = first; action < end; action++) {
            if (telling->mask[action]) {
                ty_text_add(telling->out, "    ");
                number_write(telling, action);
                choice_write(telling, action);
            }
        }
    }
}

/* What answers the question, or what may be done `aside` before it is answered. */
static void forms_write(const Telling *telling, bool aside)
{
    const TyRuleset *ruleset = telling->ruleset;
    const TyActionForm *forms = ruleset->game->actions;
    for (uint32_t i = 0; forms[i].verb != NULL; i++) {
        if (forms[i].aside == aside) {
            form_write(telling, &forms[i], ruleset->action_first[i], ruleset->action_first[i + 1]);
        }
    }
}

/* The outcomes between which the chance seat chooses. */
static void chances_write(const Telling *telling)
{
    const TyRuleset *ruleset = telling->ruleset;
    for (uint32_t i = ruleset->game_action_count; i < ruleset->shape.action_count; i++) {
        if (telling->mask[i]) {
            ty_text_add(telling->out, "- ");
            number_write(telling, i);
            ty_text_add(telling->out, "[");
            name_write(telling, i);
            ty_text_add(telling->out, "]\n");
        }
    }
}

void kit_choices(const TyRuleset *ruleset, const void *state, bool numbered, TyText *out)
{
    Telling telling = {.ruleset = ruleset, .state = state, .numbered = numbered, .out = out};
    ty_legal(ruleset, state, telling.mask);
    ty_text_add(out, "Choices (answer with the words in brackets):\n");
    forms_write(&telling, false);
    forms_write(&telling, true);
    chances_write(&telling);
}
