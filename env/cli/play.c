/* trainyard play: a person in the terminal, alone or with built-in agents. */
#define _POSIX_C_SOURCE 200809L
#include "cli/picture.h"
#include "cli/play_menu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { INPUT_MAX = 256, EVENT_MAX = 1024, LINE_MAX = 1600 };

typedef struct Table {
    const Settings *settings;
    const TyRuleset *ruleset;
    const TyShape *shape;
    Match *match;
    Menu *menu;
    uint32_t columns; /* of the terminal, or what is taken for one */
    PictureColours colours;
    char *text;            /* CLI_TEXT_MAX bytes */
    char *board;           /* as it was printed last, without colours; NULL: not yet */
    char line[LINE_MAX];   /* what happened and is not printed yet */
    char event[EVENT_MAX]; /* the last of that, */
    uint32_t repeated;     /* and how often it happened in a row; 0: there is none */
} Table;

/* The seat through whose eyes an event is told: its owner if a person sits there, otherwise the
 * first person's. */
static uint32_t eyes_of(const Table *table, const TyEvent *event)
{
    uint32_t seat = 0;
    if (event->seat >= 0 && table->match->seating.agents[event->seat] == NULL) {
        return (uint32_t)event->seat;
    }
    while (seat + 1 < table->shape->players && table->match->seating.agents[seat] != NULL) {
        seat++;
    }
    return seat;
}

/* ---- What happened -----------------------------------------------------------------------------
 */

/* Adds to the line how often the last event happened in a row. */
static void end_repeats(Table *table)
{
    if (table->repeated > 1) {
        size_t length = strlen(table->line);
        snprintf(table->line + length, sizeof table->line - length, " (%u times)", table->repeated);
    }
    table->repeated = 0;
}

/* Prints the line of what happened, if there is one. */
static void print_line(Table *table)
{
    end_repeats(table);
    if (table->line[0] != '\0') {
        table->line[0] = (char)toupper((unsigned char)table->line[0]);
        strncat(table->line, ".", sizeof table->line - strlen(table->line) - 1);
        printf("  * ");
        words_print(table->line, 4, 4, table->columns);
    }
    table->line[0] = '\0';
}

/* What a seat does begins a line; what comes of it is in the same one. */
static void tell_event(void *user, const TyEvent *event)
{
    Table *table = user;
    char text[EVENT_MAX];
    ty_event_text(table->ruleset, event, eyes_of(table, event), text, sizeof text);
    if (table->repeated > 0 && strcmp(text, table->event) == 0) {
        table->repeated++;
        return;
    }
    end_repeats(table);
    if (strncmp(text, "seat ", 5) == 0 || strlen(table->line) + strlen(text) + 8 > LINE_MAX) {
        print_line(table);
    }
    size_t length = strlen(table->line);
    snprintf(table->line + length, sizeof table->line - length, "%s%s", length > 0 ? "; " : "",
             text);
    memcpy(table->event, text, sizeof text);
    table->repeated = 1;
}

/* ---- The position ------------------------------------------------------------------------------
 */

/* The board if it has changed since it was printed, or if it is asked for; then what is beside it.
 */
static void print_drawing(Table *table, uint32_t seat, bool again)
{
    char *board = NULL;
    size_t size = 0;
    ty_svg(table->ruleset, table->match->state, seat, NULL, table->text, CLI_TEXT_MAX);
    FILE *memory = cli_memory(open_memstream(&board, &size));
    picture_print(table->text, table->columns, PICTURE_PLAIN, memory, NULL);
    fclose(memory);
    bool changed = again || table->board == NULL || strcmp(board, table->board) != 0;
    printf("\n");
    picture_print(table->text, table->columns, table->colours, changed ? stdout : NULL, stdout);
    free(table->board);
    table->board = board;
}

/* The position in words; its last line is the question. */
static void print_position(const Table *table, uint32_t seat, bool whole)
{
    ty_position_text(table->ruleset, table->match->state, seat, table->text, CLI_TEXT_MAX);
    size_t length = strlen(table->text);
    while (length > 0 && table->text[length - 1] == '\n') {
        table->text[--length] = '\0';
    }
    const char *question = strrchr(table->text, '\n');
    question = question != NULL ? question + 1 : table->text;
    if (whole) {
        printf("\n%s\n", table->text);
    } else {
        words_print(question, 0, 0, table->columns);
    }
}

static void print_keys(const Table *table)
{
    words_print("Type the number of a choice, or its name in brackets, or the beginning of its "
                "name if no other choice begins so. 'b' goes back to the choices above, '?' shows "
                "this text and the choices again, 'm' the board, 't' the position in words, 'q' "
                "quits.",
                0, 0, table->columns);
}

/* ---- Asking ------------------------------------------------------------------------------------
 */

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

static void print_question(Table *table)
{
    uint32_t seat = match_seat(table->match);
    if (table->settings->plain) {
        print_position(table, seat, true);
    } else {
        print_drawing(table, seat, false);
        print_position(table, seat, false);
    }
    menu_open(table->menu, table->match, "");
    menu_print(table->menu, table->columns);
}

/* One of the keys: true if it was one. */
static bool press_key(Table *table, const char *word)
{
    uint32_t seat = match_seat(table->match);
    if (strcmp(word, "?") == 0) {
        print_keys(table);
        menu_print(table->menu, table->columns);
    } else if (strcmp(word, "m") == 0) {
        print_drawing(table, seat, true);
    } else if (strcmp(word, "t") == 0) {
        print_position(table, seat, true);
    } else if (strcmp(word, "b") == 0 || strcmp(word, "back") == 0) {
        menu_back(table->menu);
        menu_print(table->menu, table->columns);
    } else {
        return word[0] == '\0';
    }
    return true;
}

/* Asks the person on the seat to act. False if they want to stop. */
static bool ask(Table *table, uint32_t *action)
{
    char line[INPUT_MAX];
    match_look(table->match);
    print_question(table);
    for (;;) {
        MenuEntry found;
        const char *word = read_line(line);
        if (word == NULL || strcmp(word, "q") == 0) {
            return false;
        }
        if (press_key(table, word) || !menu_find(table->menu, word, &found)) {
            continue;
        }
        if (found.count == 1) {
            *action = found.action;
            return true;
        }
        menu_open(table->menu, table->match, found.prefix);
        menu_print(table->menu, table->columns);
    }
}

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
        char words[TY_ACTION_TEXT_MAX];
        char line[TY_NAME_MAX + TY_ACTION_TEXT_MAX];
        ty_action_text(table->ruleset, NULL, action, words, sizeof words);
        snprintf(line, sizeof line, "Seat %u (%s): %s", seat, agent, words);
        words_print(line, 0, 4, table->columns);
    } else {
        printf("Seat %u (%s) has answered %s.\n", seat, agent,
               ty_phase_name(table->ruleset, table->match->state));
    }
}

static bool take_turn(Table *table, TyTape *tape)
{
    Match *match = table->match;
    uint32_t seat = match_seat(match);
    const TyAgent *agent = match->seating.agents[seat];
    uint32_t action = 0;
    print_line(table);
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

static int play_episode(Table *table)
{
    TyTape tape = {.user = table, .event = tell_event};
    printf("%s, seed %llu\n", table->shape->spec, (unsigned long long)table->settings->seed);
    if (table->shape->note[0] != '\0') {
        printf("Note: ");
        words_print(table->shape->note, 6, 6, table->columns);
    }
    print_keys(table);
    match_start(table->match, table->settings->seed, &tape);
    while (!match_over(table->match)) {
        if (!take_turn(table, &tape)) {
            printf("Stopped after %u decisions.\n", ty_head(table->match->state)->steps);
            return CLI_OK;
        }
    }
    print_line(table);
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
    Menu *menu = cli_memory(calloc(1, sizeof *menu));
    Table table = {
        .settings = settings,
        .ruleset = ruleset,
        .shape = ty_shape(ruleset),
        .match = match_open(ruleset, &seating),
        .menu = menu,
        .columns = picture_columns(stdout),
        .colours = picture_colours(stdout),
        .text = text,
    };
    status = play_episode(&table);
    free(table.match);
    free(table.board);
    free(menu);
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
     .standard = "human, then the game's expert",
     .help = "Who sits in each seat: human, or the name of an agent."},
    {.name = "plain",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, plain),
     .help = "The position in words instead of the board."},
    {.name = NULL},
};

const Command command_play = {
    .name = "play",
    .arguments = "RULESET",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "play a game yourself, in the terminal",
    .details =
        "Plays one episode with you in the first seat and built-in agents in the others. When\n"
        "it is your turn it draws the board, in colours unless NO_COLOR is set or the terminal\n"
        "has none, and lists the choices: type the number of one, or its name. Where there are\n"
        "many, a number leads to the choices of a group, and 'b' back. '?' helps, 'q' quits.",
    .example = "  trainyard play GAME\n"
               "  trainyard play GAME --seed 7 --seats human,random",
    .options = play_options,
    .run = play_run,
};
