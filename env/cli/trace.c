/* trainyard trace: episodes as JSON Lines, played by agents or replayed from a file. */
#include "cli/output.h"
#include "cli/replay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_FORMAT = 1,
    TRACE_LINE_MAX = 1 << 20,
    TRACE_STATE_MAX = 1 << 19,
};

typedef struct Tracer {
    const Settings *settings;
    const TyRuleset *ruleset;
    const TyShape *shape;
    Match *match;
    Json line;   /* the line being made */
    char *state; /* TRACE_STATE_MAX bytes */
    TyEvent *events;
    uint32_t event_count;
    uint32_t event_capacity;
} Tracer;

static Tracer tracer_open(const Settings *settings, const TyRuleset *ruleset,
                          const Seating *seating)
{
    return (Tracer){
        .settings = settings,
        .ruleset = ruleset,
        .shape = ty_shape(ruleset),
        .match = match_open(ruleset, seating),
        .line = json_init(cli_memory(malloc(TRACE_LINE_MAX)), TRACE_LINE_MAX),
        .state = cli_memory(malloc(TRACE_STATE_MAX)),
    };
}

static void tracer_close(Tracer *tracer)
{
    free(tracer->match);
    free(tracer->line.text.data);
    free(tracer->state);
    free(tracer->events);
}

/* Events are kept until it is known that the step went through. */
static void keep_event(void *user, const TyEvent *event)
{
    Tracer *tracer = user;
    if (tracer->event_count == tracer->event_capacity) {
        tracer->event_capacity = tracer->event_capacity > 0 ? tracer->event_capacity * 2 : 64;
        tracer->events =
            cli_memory(realloc(tracer->events, tracer->event_capacity * sizeof *tracer->events));
    }
    tracer->events[tracer->event_count++] = *event;
}

/* ---- Lines ---- */

static void line_begin(Tracer *tracer)
{
    tracer->line = json_init(tracer->line.text.data, TRACE_LINE_MAX);
    json_open(&tracer->line, NULL, '{');
}

static void line_print(Tracer *tracer)
{
    json_close(&tracer->line, '}');
    assert(tracer->line.text.length < TRACE_LINE_MAX);
    puts(tracer->line.text.data);
}

static void add_files(Tracer *tracer)
{
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(ty_ruleset_game(tracer->ruleset), &count);
    for (uint32_t i = 0; i < count; i++) {
        char value[TY_NAME_MAX];
        if (fields[i].kind == TY_FIELD_FILE) {
            ruleset_value(tracer->ruleset, &fields[i], value);
            json_put_string(&tracer->line, fields[i].key, value);
        }
    }
}

static void add_agents(Tracer *tracer, const char *agents)
{
    if (agents != NULL) {
        json_put_raw(&tracer->line, "agents", agents);
        return;
    }
    json_open(&tracer->line, "agents", '[');
    for (uint32_t seat = 0; seat < tracer->shape->seats; seat++) {
        const TyAgent *agent = tracer->match->seating.agents[seat];
        json_put_string(&tracer->line, NULL, agent != NULL ? agent->name : "script");
    }
    json_close(&tracer->line, ']');
}

/* `agents` is a JSON array that stood in a replayed trace, or NULL. */
static void print_header(Tracer *tracer, uint64_t seed, const char *agents)
{
    const TyGame *game = ty_ruleset_game(tracer->ruleset);
    line_begin(tracer);
    json_put_int(&tracer->line, "trace", TRACE_FORMAT);
    json_put_string(&tracer->line, "ruleset", tracer->shape->spec);
    json_put_string(&tracer->line, "game", ty_game_name(game));
    json_put_int(&tracer->line, "rules_version", ty_game_rules_version(game));
    output_unsigned(&tracer->line, "seed", seed);
    add_files(tracer);
    add_agents(tracer, agents);
    json_put_string(&tracer->line, "note", tracer->shape->note);
    line_print(tracer);
}

/* Makes the line of a decision; it is printed once the step has gone through. */
static void make_decision(Tracer *tracer, uint32_t step, uint32_t action)
{
    Match *match = tracer->match;
    char name[TY_NAME_MAX];
    line_begin(tracer);
    json_put_int(&tracer->line, "step", step);
    json_put_int(&tracer->line, "seat", match_seat(match));
    json_put_string(&tracer->line, "phase", ty_phase_name(tracer->ruleset, match->state));
    json_open(&tracer->line, "legal", '[');
    for (uint32_t i = 0; i < tracer->shape->action_count; i++) {
        if (match->mask[i]) {
            ty_action_name(tracer->ruleset, i, name);
            json_put_string(&tracer->line, NULL, name);
        }
    }
    json_close(&tracer->line, ']');
    ty_action_name(tracer->ruleset, action, name);
    json_put_string(&tracer->line, "action", name);
    json_put_hex(&tracer->line, "hash", ty_hash(tracer->ruleset, match->state));
    size_t length = ty_state_json(tracer->ruleset, match->state, tracer->state, TRACE_STATE_MAX);
    assert(length < TRACE_STATE_MAX);
    (void)length;
    json_put_raw(&tracer->line, "state", tracer->state);
}

static void add_result(Tracer *tracer)
{
    int32_t metrics[TY_METRICS_MAX];
    ty_metrics(tracer->ruleset, tracer->match->state, metrics);
    json_open(&tracer->line, "metrics", '{');
    for (uint32_t i = 0; i < tracer->shape->metric_count; i++) {
        json_put_int(&tracer->line, tracer->shape->metrics[i], metrics[i]);
    }
    json_close(&tracer->line, '}');
    json_open(&tracer->line, "rewards", '[');
    for (uint32_t seat = 0; seat < tracer->shape->players; seat++) {
        output_reward(&tracer->line, NULL, tracer->match->reward[seat]);
    }
    json_close(&tracer->line, ']');
}

static void print_event(Tracer *tracer, uint32_t step, const TyEvent *event)
{
    line_begin(tracer);
    json_put_int(&tracer->line, "step", step);
    size_t length = ty_event_json(tracer->ruleset, event, tracer->state, TRACE_STATE_MAX);
    assert(length > 2 && length < TRACE_STATE_MAX);
    /* Its members, without the braces around them. */
    tracer->state[length - 1] = '\0';
    json_put_raw(&tracer->line, NULL, tracer->state + 1);
    if (event->stream >= 0) {
        char name[TY_NAME_MAX];
        ty_outcome_name(tracer->ruleset, (uint32_t)event->stream, event->outcome, name);
        json_open(&tracer->line, "chance", '[');
        json_put_string(&tracer->line, NULL, tracer->shape->streams[event->stream]);
        json_put_string(&tracer->line, NULL, name);
        json_close(&tracer->line, ']');
    }
    if (event->kind == TY_EVENT_END) {
        add_result(tracer);
    }
    line_print(tracer);
}

static void print_events(Tracer *tracer, uint32_t step)
{
    for (uint32_t i = 0; i < tracer->event_count; i++) {
        print_event(tracer, step, &tracer->events[i]);
    }
    tracer->event_count = 0;
}

/* ---- Episodes ---- */

/* The next action, from the replay or from the agent. `found` is false when a replay ran out. */
static int next_action(Tracer *tracer, Replay *replay, uint32_t *action, bool *found)
{
    if (replay != NULL) {
        return replay_action(replay, tracer->match, action, found);
    }
    *action = match_choose(tracer->match);
    *found = true;
    return CLI_OK;
}

static int trace_step(Tracer *tracer, Replay *replay, TyTape *tape, bool *more)
{
    Match *match = tracer->match;
    uint32_t step = ty_head(match->state)->steps + 1;
    uint32_t action = 0;
    int status = next_action(tracer, replay, &action, more);
    if (status != CLI_OK || !*more) {
        return status;
    }
    make_decision(tracer, step, action);
    if (replay != NULL) {
        replay_mark(replay);
    }
    if (!match_step(match, action, tape)) {
        assert(replay != NULL); /* agents act legally */
        return replay_refused(replay, match, ty_head(match->state)->seed, &action, tape);
    }
    line_print(tracer);
    print_events(tracer, step);
    return CLI_OK;
}

/* `replay` is NULL if agents play; `agents` as for print_header. */
static int trace_episode(Tracer *tracer, uint64_t seed, Replay *replay, const char *agents)
{
    TyTape tape = {.user = tracer, .event = keep_event};
    tracer->event_count = 0;
    if (replay != NULL) {
        replay_attach(replay, &tape);
        replay_mark(replay);
    }
    if (!match_start(tracer->match, seed, &tape)) {
        assert(replay != NULL); /* chance without a script always has an answer */
        return replay_refused(replay, tracer->match, seed, NULL, &tape);
    }
    print_header(tracer, seed, agents);
    print_events(tracer, 0);
    int status = CLI_OK;
    bool more = true;
    while (status == CLI_OK && more && !match_over(tracer->match)) {
        status = trace_step(tracer, replay, &tape, &more);
    }
    return status == CLI_OK && replay != NULL ? replay_finish(replay, tracer->match) : status;
}

static int trace_agents(const Settings *settings, const TyRuleset *ruleset)
{
    Seating seating;
    int status = seating_parse(settings, ruleset, &seating);
    if (status != CLI_OK) {
        return status;
    }
    Tracer tracer = tracer_open(settings, ruleset, &seating);
    for (uint64_t i = 0; i < settings->episodes; i++) {
        trace_episode(&tracer, settings->seed + i, NULL, NULL);
    }
    tracer_close(&tracer);
    return CLI_OK;
}

static uint64_t replay_seed(const Settings *settings, const ScriptItem *header, uint64_t index)
{
    bool stored = header->seeded && !settings_given(settings, "seed");
    return stored ? header->seed : settings->seed + index;
}

static int trace_script(const Settings *settings, const TyRuleset *ruleset, const Script *script)
{
    Seating nobody = {.agents = {NULL}};
    Tracer tracer = tracer_open(settings, ruleset, &nobody);
    int status = CLI_OK;
    uint64_t episode = 0;
    for (uint32_t i = 0; i < script->count && status == CLI_OK; i++) {
        const ScriptItem *header = &script->items[i];
        if (header->kind != SCRIPT_HEADER) {
            continue;
        }
        Replay replay;
        status = replay_open(&replay, settings, ruleset, script, i);
        if (status == CLI_OK) {
            uint64_t seed = replay_seed(settings, header, episode++);
            status = trace_episode(&tracer, seed, &replay, header->agents);
        }
        replay_close(&replay);
    }
    tracer_close(&tracer);
    return status;
}

/* ---- The command ---- */

static int trace_run_script(const Settings *settings)
{
    if (settings->agent != NULL || settings->agents != NULL ||
        settings_given(settings, "episodes")) {
        return cli_usage_error(settings,
                               "--actions excludes --agent, --agents and --episodes: the file "
                               "says who does what");
    }
    Script script;
    TyStatus read = script_open(settings->actions, &script);
    if (read.code != TY_OK) {
        script_close(&script);
        return cli_failure(settings, "%s", read.message);
    }
    const char *spec = settings->argument_count > 0 ? settings->arguments[0] : script.items[0].name;
    TyRuleset *ruleset = NULL;
    int status = spec != NULL
                     ? ruleset_open(settings, spec, &ruleset)
                     : cli_usage_error(settings, "%s names no ruleset: give RULESET as well",
                                       settings->actions);
    if (status == CLI_OK) {
        status = trace_script(settings, ruleset, &script);
    }
    ty_ruleset_close(ruleset);
    script_close(&script);
    return status;
}

static int trace_run(const Settings *settings)
{
    if (settings->actions != NULL) {
        return trace_run_script(settings);
    }
    if (settings->argument_count == 0) {
        return cli_usage_error(settings, "RULESET is missing; only --actions can do without, with "
                                         "a trace that names it");
    }
    TyRuleset *ruleset = NULL;
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status == CLI_OK) {
        status = trace_agents(settings, ruleset);
        ty_ruleset_close(ruleset);
    }
    return status;
}

static const Option trace_options[] = {
    OPTION_SEED,
    OPTION_AGENT,
    OPTION_AGENTS,
    OPTION_EPISODES("1"),
    {.name = "actions",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, actions),
     .help = "Replay the actions, and the chance outcomes if given, of a file."},
    {.name = NULL},
};

const Command command_trace = {
    .name = "trace",
    .arguments = "[RULESET]",
    .arguments_min = 0,
    .arguments_max = 1,
    .summary = "write episodes as JSON Lines, or replay them from a file",
    .details = "Writes a header, every decision (who, what was legal, what was done, the whole\n"
               "position before it) and every event, chance included. With --actions the actions\n"
               "come from a trace, or from a text file with one action per line and lines 'chance\n"
               "SOURCE OUTCOME'; chance that is not given comes from the seed. A trace as FILE\n"
               "also gives ruleset and seed. The format is described in env/cli/TRACE.md.",
    .example = "  trainyard trace GAME --seed 7 --agent random > episode.jsonl\n"
               "  trainyard trace --actions episode.jsonl",
    .options = trace_options,
    .run = trace_run,
};
