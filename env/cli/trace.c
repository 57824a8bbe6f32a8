/* trainyard trace: episodes as JSON Lines, played by agents or replayed from a file. */
#include "cli/cast.h"
#include "cli/output.h"
#include "cli/script_replay.h"
#include "describe.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_LINE_MAX = 1 << 20,
    TRACE_STATE_MAX = 1 << 19,
};

/* Something that happened in a step: an event, or a draw of chance. */
typedef struct Moment {
    bool draw;
    TyEvent event;
    uint32_t stream;
    uint32_t outcome;
    uint8_t weights[TY_OUTCOMES_MAX];
} Moment;

typedef struct Tracer {
    const Settings *settings;
    const TyRuleset *ruleset;
    const TyShape *shape;
    const Cast *cast; /* NULL: the script alone */
    Match *match;
    Match *second;        /* where the second agents of a mix sit; NULL: nobody is mixed */
    Replay *replay;       /* NULL: agents play from the beginning */
    TyJson line;          /* the line being made */
    const TyNotes *notes; /* what the agent told of the decision under way; NULL: nobody told */
    uint64_t hash;        /* of the position in `text` */
    char *text;           /* of a position or an event, TRACE_STATE_MAX bytes */
    Moment *moments;      /* of the step under way */
    uint32_t moment_count;
    uint32_t moment_capacity;
} Tracer;

static Tracer tracer_open(const Settings *settings, const TyRuleset *ruleset, const Cast *cast)
{
    Seating nobody = {.agents = {NULL}};
    Seating first = cast != NULL ? cast_seating(cast, false) : nobody;
    Seating second = cast != NULL ? cast_seating(cast, true) : nobody;
    bool mixed = memcmp(second.agents, nobody.agents, sizeof nobody.agents) != 0;
    Tracer tracer = {
        .settings = settings,
        .ruleset = ruleset,
        .shape = ty_shape(ruleset),
        .cast = cast,
        .match = match_open(ruleset, &first),
        .second = mixed ? match_open(ruleset, &second) : NULL,
        .line = ty_json_init(cli_memory(malloc(TRACE_LINE_MAX)), TRACE_LINE_MAX),
        .text = cli_memory(malloc(TRACE_STATE_MAX)),
    };
    if (settings->notes) {
        match_ask_notes(tracer.match);
    }
    if (settings->notes && mixed) {
        match_ask_notes(tracer.second);
    }
    return tracer;
}

static void tracer_close(Tracer *tracer)
{
    free(tracer->match);
    free(tracer->second);
    free(tracer->line.text.data);
    free(tracer->text);
    free(tracer->moments);
}

/* Moments are kept until it is known that the step went through. */
static Moment *moment_add(Tracer *tracer)
{
    if (tracer->moment_count == tracer->moment_capacity) {
        tracer->moment_capacity = tracer->moment_capacity > 0 ? tracer->moment_capacity * 2 : 64;
        tracer->moments =
            cli_memory(realloc(tracer->moments, tracer->moment_capacity * sizeof(Moment)));
    }
    Moment *moment = &tracer->moments[tracer->moment_count++];
    *moment = (Moment){.draw = false};
    return moment;
}

static void keep_event(void *user, const TyEvent *event)
{
    moment_add(user)->event = *event;
}

static void keep_draw(void *user, uint32_t stream, const uint8_t *weights, uint32_t count,
                      uint32_t outcome)
{
    Moment *moment = moment_add(user);
    moment->draw = true;
    moment->stream = stream;
    moment->outcome = outcome;
    memcpy(moment->weights, weights, count);
}

static void line_begin(Tracer *tracer)
{
    tracer->line = ty_json_init(tracer->line.text.data, TRACE_LINE_MAX);
    ty_json_open(&tracer->line, NULL, '{');
}

static void line_print(Tracer *tracer)
{
    ty_json_close(&tracer->line, '}');
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
            describe_file(tracer->ruleset, &fields[i], value);
            ty_json_put_string(&tracer->line, fields[i].key, value);
        }
    }
}

/* Who sits in each seat. A replayed trace has said so in `agents`, a JSON array, unless agents go
 * on behind it. */
static void add_agents(Tracer *tracer, const char *agents)
{
    if (agents != NULL && tracer->cast == NULL) {
        ty_json_put_raw(&tracer->line, "agents", agents);
        return;
    }
    ty_json_open(&tracer->line, "agents", '[');
    for (uint32_t seat = 0; seat < tracer->shape->seats; seat++) {
        const char *actor = tracer->cast != NULL ? tracer->cast->actors[seat].name : "";
        char name[TY_SPEC_MAX + 16];
        snprintf(name, sizeof name, "%s%s%s", tracer->replay != NULL ? "script" : "",
                 tracer->replay != NULL && actor[0] != '\0' ? ", then " : "", actor);
        ty_json_put_string(&tracer->line, NULL, name);
    }
    ty_json_close(&tracer->line, ']');
}

static void print_header(Tracer *tracer, uint64_t seed, const char *agents)
{
    const TyGame *game = ty_ruleset_game(tracer->ruleset);
    line_begin(tracer);
    ty_json_put_int(&tracer->line, "trace", SCRIPT_TRACE_FORMAT);
    ty_json_put_string(&tracer->line, "ruleset", tracer->shape->spec);
    ty_json_put_string(&tracer->line, "game", ty_game_name(game));
    ty_json_put_int(&tracer->line, "rules_version", ty_game_rules_version(game));
    output_unsigned(&tracer->line, "seed", seed);
    add_files(tracer);
    add_agents(tracer, agents);
    ty_json_put_string(&tracer->line, "note", tracer->shape->note);
    line_print(tracer);
}

/* Notes the position for add_position: a decision's line is finished after its step. */
static void note_position(Tracer *tracer)
{
    const void *state = tracer->match->state;
    tracer->hash = ty_hash(tracer->ruleset, state);
    size_t length = ty_state_json(tracer->ruleset, state, tracer->text, TRACE_STATE_MAX);
    assert(length < TRACE_STATE_MAX);
    (void)length;
}

static void add_position(Tracer *tracer)
{
    ty_json_put_hex(&tracer->line, "hash", tracer->hash);
    if (!tracer->settings->no_state) {
        ty_json_put_raw(&tracer->line, "state", tracer->text);
    }
}

/* What each player earned since it had `before`; NULL: in the whole episode. */
static void add_rewards(Tracer *tracer, const char *key, const int32_t *before)
{
    ty_json_open(&tracer->line, key, '[');
    for (uint32_t seat = 0; seat < tracer->shape->players; seat++) {
        int32_t earned = tracer->match->reward[seat] - (before != NULL ? before[seat] : 0);
        output_reward(&tracer->line, NULL, earned);
    }
    ty_json_close(&tracer->line, ']');
}

/* Makes the line of a decision; it is finished and printed once the step has gone through. */
static void make_decision(Tracer *tracer, uint32_t step, uint32_t action)
{
    Match *match = tracer->match;
    char name[TY_NAME_MAX];
    line_begin(tracer);
    ty_json_put_int(&tracer->line, "step", step);
    ty_json_put_int(&tracer->line, "seat", match_seat(match));
    ty_json_put_string(&tracer->line, "phase", ty_phase_name(tracer->ruleset, match->state));
    ty_json_open(&tracer->line, "legal", '[');
    for (uint32_t i = 0; i < tracer->shape->action_count; i++) {
        if (match->mask[i]) {
            ty_action_name(tracer->ruleset, i, name);
            ty_json_put_string(&tracer->line, NULL, name);
        }
    }
    ty_json_close(&tracer->line, ']');
    ty_action_name(tracer->ruleset, action, name);
    ty_json_put_string(&tracer->line, "action", name);
    if (tracer->notes != NULL && tracer->notes->count > 0) {
        output_notes(&tracer->line, tracer->ruleset, tracer->notes->list, tracer->notes->count);
    }
    note_position(tracer);
}

static void add_draw(Tracer *tracer, const Moment *moment)
{
    char name[TY_NAME_MAX];
    ty_outcome_name(tracer->ruleset, moment->stream, moment->outcome, name);
    ty_json_open(&tracer->line, "chance", '[');
    ty_json_put_string(&tracer->line, NULL, tracer->shape->streams[moment->stream]);
    ty_json_put_string(&tracer->line, NULL, name);
    ty_json_close(&tracer->line, ']');
    ty_json_open(&tracer->line, "weights", '{');
    for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
        if (moment->weights[i] > 0) {
            ty_outcome_name(tracer->ruleset, moment->stream, i, name);
            ty_json_put_int(&tracer->line, name, moment->weights[i]);
        }
    }
    ty_json_close(&tracer->line, '}');
}

/* The members of the event's own object, without the braces around them. */
static void add_event(Tracer *tracer, const TyEvent *event)
{
    size_t length = ty_event_json(tracer->ruleset, event, tracer->text, TRACE_STATE_MAX);
    assert(length > 2 && length < TRACE_STATE_MAX);
    tracer->text[length - 1] = '\0';
    ty_json_put_raw(&tracer->line, NULL, tracer->text + 1);
}

static void print_moments(Tracer *tracer, uint32_t step)
{
    for (uint32_t i = 0; i < tracer->moment_count; i++) {
        const Moment *moment = &tracer->moments[i];
        line_begin(tracer);
        ty_json_put_int(&tracer->line, "step", step);
        if (moment->draw) {
            add_draw(tracer, moment);
        } else {
            add_event(tracer, &moment->event);
        }
        line_print(tracer);
    }
    tracer->moment_count = 0;
}

/* The last line of an episode: where it stands and what came of it. */
static void print_last(Tracer *tracer)
{
    const TyHead *head = ty_head(tracer->match->state);
    int32_t metrics[TY_METRICS_MAX];
    line_begin(tracer);
    ty_json_put_int(&tracer->line, "step", head->steps);
    ty_json_put_bool(&tracer->line, "over", head->over != 0);
    ty_json_put_bool(&tracer->line, "truncated", head->truncated != 0);
    ty_metrics(tracer->ruleset, tracer->match->state, metrics);
    ty_json_open(&tracer->line, "metrics", '{');
    for (uint32_t i = 0; i < tracer->shape->metric_count; i++) {
        ty_json_put_int(&tracer->line, tracer->shape->metrics[i], metrics[i]);
    }
    ty_json_close(&tracer->line, '}');
    add_rewards(tracer, "returns", NULL);
    note_position(tracer);
    add_position(tracer);
    line_print(tracer);
}

/* What the agents want to do. */
static uint32_t agents_choose(Tracer *tracer)
{
    Match *match = tracer->match;
    bool second = cast_second_acts(tracer->cast, match);
    tracer->notes = !tracer->settings->notes ? NULL
                    : second                 ? &tracer->second->notes
                                             : &match->notes;
    if (!second) {
        return match_choose(match);
    }
    match_look(match);
    memcpy(tracer->second->state, match->state, sizeof match->state);
    return match_choose(tracer->second);
}

/* The next action: of the script, then of the agents. `found` is false when there is neither. */
static int next_action(Tracer *tracer, uint32_t *action, bool *found)
{
    *found = false;
    tracer->notes = NULL;
    int status = tracer->replay != NULL
                     ? replay_action(tracer->replay, tracer->match, action, found)
                     : CLI_OK;
    if (status == CLI_OK && !*found && tracer->cast != NULL) {
        *action = agents_choose(tracer);
        *found = true;
    }
    return status;
}

static int trace_step(Tracer *tracer, TyTape *tape, bool *more)
{
    Match *match = tracer->match;
    int32_t before[TY_SEATS_MAX];
    uint32_t step = ty_head(match->state)->steps + 1;
    uint32_t action = 0;
    int status = next_action(tracer, &action, more);
    if (status != CLI_OK || !*more) {
        return status;
    }
    make_decision(tracer, step, action);
    memcpy(before, match->reward, sizeof before);
    if (tracer->replay != NULL) {
        replay_mark(tracer->replay);
    }
    if (!match_step(match, action, tape)) {
        assert(tracer->replay != NULL); /* agents act legally */
        return replay_refused(tracer->replay, match, ty_head(match->state)->seed, &action, tape);
    }
    add_rewards(tracer, "rewards", before);
    add_position(tracer);
    line_print(tracer);
    print_moments(tracer, step);
    return CLI_OK;
}

/* Begins the episode and wakes the agents. */
static int trace_begin(Tracer *tracer, uint64_t seed, TyTape *tape)
{
    tracer->moment_count = 0;
    if (tracer->replay != NULL) {
        replay_attach(tracer->replay, tape);
        replay_mark(tracer->replay);
    }
    if (!match_start(tracer->match, seed, tape)) {
        assert(tracer->replay != NULL); /* chance without a script always has an answer */
        return replay_refused(tracer->replay, tracer->match, seed, NULL, tape);
    }
    if (tracer->second != NULL) {
        match_start(tracer->second, seed, NULL);
    }
    return CLI_OK;
}

/* `agents` as for add_agents. */
static int trace_episode(Tracer *tracer, uint64_t seed, const char *agents)
{
    TyTape tape = {.user = tracer, .event = keep_event, .drawn = keep_draw};
    int status = trace_begin(tracer, seed, &tape);
    if (status != CLI_OK) {
        return status;
    }
    print_header(tracer, seed, agents);
    print_moments(tracer, 0);
    bool more = true;
    while (status == CLI_OK && more && !match_over(tracer->match)) {
        status = trace_step(tracer, &tape, &more);
    }
    if (status == CLI_OK) {
        print_last(tracer);
        status = tracer->replay != NULL ? replay_finish(tracer->replay, tracer->match) : CLI_OK;
    }
    return status;
}

static int trace_agents(const Settings *settings, const TyRuleset *ruleset)
{
    Cast cast;
    int status = cast_parse(settings, ruleset, &cast);
    if (status != CLI_OK) {
        return status;
    }
    Tracer tracer = tracer_open(settings, ruleset, &cast);
    for (uint64_t i = 0; i < settings->episodes && status == CLI_OK; i++) {
        status = trace_episode(&tracer, settings->seed + i, NULL);
    }
    tracer_close(&tracer);
    return status;
}

static uint64_t replay_seed(const Settings *settings, const ScriptItem *header, uint64_t index)
{
    bool stored = header->seeded && !settings_given(settings, "seed");
    return stored ? header->seed : settings->seed + index;
}

static int trace_script_episodes(Tracer *tracer, const Script *script)
{
    int status = CLI_OK;
    uint64_t episode = 0;
    for (uint32_t i = 0; i < script->count && status == CLI_OK; i++) {
        const ScriptItem *header = &script->items[i];
        if (header->kind != SCRIPT_HEADER) {
            continue;
        }
        Replay replay;
        status = replay_open(&replay, tracer->settings, tracer->ruleset, script, i);
        if (status == CLI_OK) {
            tracer->replay = &replay;
            uint64_t seed = replay_seed(tracer->settings, header, episode++);
            status = trace_episode(tracer, seed, header->agents);
            tracer->replay = NULL;
        }
        replay_close(&replay);
    }
    return status;
}

static int trace_script(const Settings *settings, const TyRuleset *ruleset, const Script *script)
{
    Cast cast;
    bool go_on = settings->agent != NULL || settings->agents != NULL;
    int status = go_on ? cast_parse(settings, ruleset, &cast) : CLI_OK;
    if (status != CLI_OK) {
        return status;
    }
    Tracer tracer = tracer_open(settings, ruleset, go_on ? &cast : NULL);
    status = trace_script_episodes(&tracer, script);
    tracer_close(&tracer);
    return status;
}

static int trace_run_script(const Settings *settings)
{
    if (settings_given(settings, "episodes")) {
        return cli_usage_error(settings, "--script excludes --episodes: the file says how many "
                                         "episodes there are");
    }
    Script script;
    TyStatus read = script_open(settings->script, &script);
    if (read.code != TY_OK) {
        script_close(&script);
        return cli_failure(settings, "%s", read.message);
    }
    const char *spec = settings->argument_count > 0 ? settings->arguments[0] : script.items[0].name;
    TyRuleset *ruleset = NULL;
    int status = spec != NULL
                     ? ruleset_open(settings, spec, &ruleset)
                     : cli_usage_error(settings, "%s names no ruleset: give RULESET as well",
                                       settings->script);
    if (status == CLI_OK) {
        status = trace_script(settings, ruleset, &script);
    }
    ty_ruleset_close(ruleset);
    script_close(&script);
    return status;
}

static int trace_run(const Settings *settings)
{
    if (settings->script != NULL) {
        return trace_run_script(settings);
    }
    if (settings->argument_count == 0) {
        return cli_usage_error(settings, "RULESET is missing; only --script can do without, with "
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
    {.name = "agent",
     .value = "AGENT",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, agent),
     .standard = "expert if the game has one",
     .help = "The agent that plays every seat, or a mix: expert@0.9+random."},
    OPTION_AGENTS,
    OPTION_EPISODES("1"),
    {.name = "script",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, script),
     .help = "Take actions, and outcomes of chance if given, from a file."},
    {.name = "no-state",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, no_state),
     .help = "Leave the positions out; their hashes stay."},
    {.name = "notes",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, notes),
     .help = "With what agents tell of their choices: probabilities, values, visits."},
    {.name = NULL},
};

const Command command_trace = {
    .name = "trace",
    .arguments = "[RULESET]",
    .arguments_min = 0,
    .arguments_max = 1,
    .summary = "write episodes as JSON Lines, or replay them from a file",
    .details =
        "Writes one JSON object per line: a header, then every decision (who, the whole position,\n"
        "what was legal, what was done, what it earned), every draw of chance with the weights\n"
        "of its outcomes, every event, and at the end the last position with the result.\n"
        "\n"
        "An agent such as expert@0.9+random lets the expert decide with probability 0.9, and\n"
        "random otherwise: positions that the expert alone never reaches. The same seed gives the\n"
        "same trace.\n"
        "\n"
        "With --script the actions come from a trace, or from a text file with an action per line\n"
        "and lines 'chance SOURCE OUTCOME'; chance that is not given comes from the seed. A trace\n"
        "also gives ruleset and seed. Where the script ends the trace ends, or the agent of\n"
        "--agent or --agents plays on. The format is described in env/cli/TRACE.md.",
    .example = "  trainyard trace GAME --seed 7 --agent random > episode.jsonl\n"
               "  trainyard trace --script episode.jsonl\n"
               "  trainyard trace GAME --script opening.txt --agent expert",
    .options = trace_options,
    .run = trace_run,
};
