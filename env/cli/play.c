/* trainyard play: a person in the terminal, alone or with built-in agents. */
#include "cli/match.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 256 };

typedef struct Table {
    const Settings *settings;
    const TyRuleset *ruleset;
    const TyShape *shape;
    Match *match;
    char *text; /* CLI_TEXT_MAX bytes */
} Table;

/* ---- Events, one readable line each ---- */

/* A value without parts; anything larger is shown as the JSON that it is. */
static void print_plain(const json_t *value)
{
    if (json_is_string(value)) {
        printf("%s", json_string_value(value));
        return;
    }
    char *text = cli_memory(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
    printf("%s", text);
    free(text);
}

/* A list is shown as a path: paris > lyon > marseille. */
static void print_list(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        printf("%s", i > 0 ? " > " : "");
        print_plain(json_array_get(list, i));
    }
    printf("%s", json_array_size(list) == 0 ? "-" : "");
}

static void print_part(const json_t *value)
{
    if (json_is_array(value)) {
        print_list(value);
    } else {
        print_plain(value);
    }
}

/* An object is shown in parentheses. */
static void print_member(const char *key, json_t *value)
{
    printf("%s ", key);
    if (!json_is_object(value)) {
        print_part(value);
        return;
    }
    const char *name = NULL;
    json_t *part = NULL;
    const char *separator = "(";
    json_object_foreach(value, name, part)
    {
        printf("%s%s ", separator, name);
        print_part(part);
        separator = ", ";
    }
    printf(")");
}

static void print_event(void *user, const TyEvent *event)
{
    const Table *table = user;
    char text[4096];
    ty_event_json(table->ruleset, event, text, sizeof text);
    json_t *object = cli_memory(json_loads(text, 0, NULL));
    printf("  * %s", json_string_value(json_object_get(object, "event")));
    if (event->secret && table->match->seating.agents[event->seat] != NULL) {
        printf(": seat %d, hidden\n", event->seat);
        json_decref(object);
        return;
    }
    bool first = true;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        if (strcmp(key, "event") != 0) {
            printf("%s", first ? ": " : ", ");
            print_member(key, value);
            first = false;
        }
    }
    printf("\n");
    json_decref(object);
}

/* ---- Questions ---- */

static void print_choices(const Table *table)
{
    char name[TY_NAME_MAX];
    int width = 0;
    for (uint32_t i = 0; i < table->shape->action_count; i++) {
        if (table->match->mask[i]) {
            ty_action_name(table->ruleset, i, name);
            width = (int)strlen(name) > width ? (int)strlen(name) : width;
        }
    }
    uint32_t columns = width + 8 < 96 ? 96u / (uint32_t)(width + 8) : 1;
    uint32_t number = 0;
    for (uint32_t i = 0; i < table->shape->action_count; i++) {
        if (table->match->mask[i]) {
            ty_action_name(table->ruleset, i, name);
            bool last = ++number % columns == 0;
            printf("%4u  %-*s%s", number, last ? 0 : width + 2, name, last ? "\n" : "");
        }
    }
    printf("%s", number % columns != 0 ? "\n" : "");
}

static void print_keys(void)
{
    printf("Type the number of a choice, or its name, or the beginning of its name if no other\n"
           "choice begins so. '?' shows this text and the choices again, 'q' quits.\n");
}

/* The legal action with the number `number`, counted from 1. */
static bool find_numbered(const Table *table, unsigned long number, uint32_t *action)
{
    for (uint32_t i = 0; i < table->shape->action_count; i++) {
        if (table->match->mask[i] && --number == 0) {
            *action = i;
            return true;
        }
    }
    return false;
}

/* The legal action whose name is, or alone begins with, `word`. Returns how many begin so. */
static uint32_t find_named(const Table *table, const char *word, uint32_t *action)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->shape->action_count; i++) {
        char name[TY_NAME_MAX];
        if (!table->match->mask[i]) {
            continue;
        }
        ty_action_name(table->ruleset, i, name);
        if (strcmp(name, word) == 0) {
            *action = i;
            return 1;
        }
        if (strncmp(name, word, strlen(word)) == 0) {
            *action = i;
            count++;
        }
    }
    return count;
}

/* Reads what was typed as a choice; complains and returns false if it is none. */
static bool understand(const Table *table, const char *word, uint32_t *action)
{
    if (strspn(word, "0123456789") == strlen(word)) {
        unsigned long number = strtoul(word, NULL, 10);
        if (number > 0 && find_numbered(table, number, action)) {
            return true;
        }
    }
    uint32_t count = find_named(table, word, action);
    if (count > 1) {
        printf("%u choices begin with '%s'; type more of it, or the number.\n", count, word);
    } else if (count == 0) {
        printf("'%s' is none of the choices; '?' shows them.\n", word);
    }
    return count == 1;
}

/* Reads a line without the blanks around it. NULL at the end of the input. */
static char *read_line(char line[INPUT_MAX])
{
    printf("> ");
    fflush(stdout);
    if (fgets(line, INPUT_MAX, stdin) == NULL) {
        printf("\n");
        return NULL;
    }
    char *start = line;
    while (isspace((unsigned char)*start)) {
        start++;
    }
    size_t length = strlen(start);
    while (length > 0 && isspace((unsigned char)start[length - 1])) {
        start[--length] = '\0';
    }
    return start;
}

static void print_question(const Table *table)
{
    uint32_t seat = match_seat(table->match);
    ty_text(table->ruleset, table->match->state, seat, table->text, CLI_TEXT_MAX);
    printf("\n%s", table->text);
    printf("\nSeat %u, %s:\n", seat, ty_phase_name(table->ruleset, table->match->state));
    print_choices(table);
}

/* Asks the person on the seat to act. False if they want to stop. */
static bool ask(const Table *table, uint32_t *action)
{
    char line[INPUT_MAX];
    match_look(table->match);
    print_question(table);
    for (;;) {
        const char *word = read_line(line);
        if (word == NULL || strcmp(word, "q") == 0) {
            return false;
        }
        if (strcmp(word, "?") == 0) {
            print_keys();
            print_choices(table);
        } else if (word[0] != '\0' && understand(table, word, action)) {
            return true;
        }
    }
}

/* ---- The episode ---- */

static void print_result(const Table *table)
{
    int32_t metrics[TY_METRICS_MAX];
    ty_metrics(table->ruleset, table->match->state, metrics);
    printf("\nThe episode is over.\n");
    for (uint32_t i = 0; i < table->shape->metric_count; i++) {
        printf("  %-24s %d\n", table->shape->metrics[i], metrics[i]);
    }
    for (uint32_t seat = 0; seat < table->shape->players; seat++) {
        printf("  return of seat %u (%s): %g\n", seat,
               agent_name(table->match->seating.agents[seat]),
               (double)table->match->reward[seat] / TY_REWARD_ONE);
    }
}

/* What an agent does, if all may know it: among opponents the events say what is public. */
static void print_action(const Table *table, uint32_t seat, uint32_t action)
{
    const char *agent = table->match->seating.agents[seat]->name;
    if (table->shape->cooperative) {
        char name[TY_NAME_MAX];
        ty_action_name(table->ruleset, action, name);
        printf("Seat %u (%s): %s\n", seat, agent, name);
    } else {
        printf("Seat %u (%s) has answered %s.\n", seat, agent,
               ty_phase_name(table->ruleset, table->match->state));
    }
}

static bool take_turn(const Table *table, TyTape *tape)
{
    Match *match = table->match;
    uint32_t seat = match_seat(match);
    const TyAgent *agent = match->seating.agents[seat];
    uint32_t action = 0;
    if (agent == NULL) {
        if (!ask(table, &action)) {
            return false;
        }
    } else {
        action = match_choose(match);
        print_action(table, seat, action);
    }
    return match_step(match, action, tape);
}

static int play_episode(const Table *table)
{
    TyTape tape = {.user = (void *)table, .event = print_event};
    printf("%s, seed %llu\n", table->shape->spec, (unsigned long long)table->settings->seed);
    if (table->shape->note[0] != '\0') {
        printf("Note: %s\n", table->shape->note);
    }
    print_keys();
    match_start(table->match, table->settings->seed, &tape);
    while (!match_over(table->match)) {
        if (!take_turn(table, &tape)) {
            printf("Stopped after %u decisions.\n", ty_head(table->match->state)->steps);
            return CLI_OK;
        }
    }
    print_result(table);
    return CLI_OK;
}

/* The first seat is the person's and the others are the standard agent's, unless --seats says
 * otherwise. */
static int seats_parse(const Settings *settings, const TyRuleset *ruleset, Seating *seating)
{
    const TyShape *shape = ty_shape(ruleset);
    *seating = seating_same(ruleset, agent_standard(ruleset));
    seating->agents[0] = NULL;
    if (settings->seats == NULL) {
        return CLI_OK;
    }
    AgentList list;
    int status = agent_list_parse(settings, ruleset, "seats", settings->seats, true, &list);
    if (status == CLI_OK && list.count != shape->players) {
        status = cli_usage_error(settings, "--seats: %u given, %u wanted for %s", list.count,
                                 shape->players, shape->spec);
    }
    for (uint32_t seat = 0; status == CLI_OK && seat < shape->players; seat++) {
        seating->agents[seat] = list.agents[seat];
    }
    return status;
}

static int play_seated(const Settings *settings, const TyRuleset *ruleset)
{
    Seating seating;
    int status = seats_parse(settings, ruleset, &seating);
    if (status != CLI_OK) {
        return status;
    }
    char *text = cli_memory(malloc(CLI_TEXT_MAX));
    Table table = {
        .settings = settings,
        .ruleset = ruleset,
        .shape = ty_shape(ruleset),
        .match = match_open(ruleset, &seating),
        .text = text,
    };
    status = play_episode(&table);
    free(table.match);
    free(text);
    return status;
}

static int play_run(const Settings *settings)
{
    TyRuleset *ruleset = NULL;
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status == CLI_OK) {
        status = play_seated(settings, ruleset);
        ty_ruleset_close(ruleset);
    }
    return status;
}

static const Option play_options[] = {
    OPTION_SEED,
    {.name = "seats",
     .value = "A,B,...",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, seats),
     .standard = "human first, then agents",
     .help = "Who sits where: human, or an agent's name."},
    {.name = NULL},
};

const Command command_play = {
    .name = "play",
    .arguments = "RULESET",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "play in the terminal",
    .details = "Shows the position of the seat to act in text, with numbered choices, and reads a\n"
               "number or the name of a choice. 'q' quits, '?' helps.",
    .example = "  trainyard play GAME --seed 7 --seats human,random",
    .options = play_options,
    .run = play_run,
};
