/* One episode of a script, resolved against a ruleset: which actions, which chance outcomes. */
#include "cli/script_replay.h"

#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int stream_find(const Replay *replay, const ScriptItem *item, uint8_t *stream)
{
    const char *const *streams = ty_shape(replay->ruleset)->streams;
    char names[1024];
    TyText list = ty_text_init(names, sizeof names);
    for (uint8_t i = 0; streams[i] != NULL; i++) {
        if (strcmp(streams[i], item->name) == 0) {
            *stream = i;
            return CLI_OK;
        }
        ty_text_add(&list, "%s%s", i > 0 ? ", " : "", streams[i]);
    }
    return cli_failure(replay->settings, "%s:%u: no source of chance '%s'; there are: %s",
                       replay->file, item->line, item->name, names);
}

/* The names of the outcomes of `stream` for which `allowed` is set (NULL: all), as a list. */
static void outcome_list(const Replay *replay, uint32_t stream, const bool *allowed, char *out,
                         size_t size)
{
    TyText list = ty_text_init(out, size);
    for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
        char name[TY_NAME_MAX];
        ty_outcome_name(replay->ruleset, stream, i, name);
        if (name[0] != '\0' && (allowed == NULL || allowed[i])) {
            ty_text_add(&list, "%s%s", list.length > 0 ? ", " : "", name);
        }
    }
}

static int outcome_add(Replay *replay, const ScriptItem *item)
{
    uint8_t stream = 0;
    uint32_t outcome = 0;
    int status = stream_find(replay, item, &stream);
    if (status != CLI_OK) {
        return status;
    }
    if (!ty_outcome_find(replay->ruleset, stream, item->outcome, &outcome)) {
        char names[TY_OUTCOMES_MAX * TY_NAME_MAX];
        outcome_list(replay, stream, NULL, names, sizeof names);
        return cli_failure(replay->settings, "%s:%u: chance %s has no outcome '%s'; there are: %s",
                           replay->file, item->line, item->name, item->outcome, names);
    }
    replay->lines[replay->outcome_count] = item->line;
    replay->outcomes[replay->outcome_count++] =
        (TyOutcome){.stream = stream, .outcome = (uint16_t)outcome};
    return CLI_OK;
}

static int outcomes_open(Replay *replay)
{
    size_t room = replay->end - replay->next + 1;
    replay->outcomes = cli_memory(calloc(room, sizeof *replay->outcomes));
    replay->before = cli_memory(calloc(room, sizeof *replay->before));
    replay->lines = cli_memory(calloc(room, sizeof *replay->lines));
    /* A chance seat answers by its own actions, which the script has as well. */
    const TyShape *shape = ty_shape(replay->ruleset);
    int status = CLI_OK;
    for (uint32_t i = replay->next; i < replay->end && status == CLI_OK; i++) {
        const ScriptItem *item = &replay->script->items[i];
        if (item->kind == SCRIPT_CHANCE && shape->seats == shape->players) {
            status = outcome_add(replay, item);
        }
    }
    return status;
}

int replay_open(Replay *replay, const Settings *settings, const TyRuleset *ruleset,
                const Script *script, uint32_t header)
{
    *replay = (Replay){
        .settings = settings,
        .ruleset = ruleset,
        .file = path_base(settings->script),
        .script = script,
        .next = header + 1,
        .end = header + 1,
    };
    while (replay->end < script->count && script->items[replay->end].kind != SCRIPT_HEADER) {
        replay->end++;
    }
    const ScriptItem *item = &script->items[header];
    const char *spec = ty_shape(ruleset)->spec;
    if (item->name != NULL && strcmp(item->name, spec) != 0) {
        return cli_failure(settings, "%s:%u: this is an episode of %s, not of %s", replay->file,
                           item->line, item->name, spec);
    }
    return outcomes_open(replay);
}

void replay_close(Replay *replay)
{
    free(replay->outcomes);
    free(replay->before);
    free(replay->lines);
}

void replay_attach(Replay *replay, TyTape *tape)
{
    tape->script = replay->outcomes;
    tape->script_count = replay->outcome_count;
}

void replay_mark(Replay *replay)
{
    memcpy(replay->before, replay->outcomes, replay->outcome_count * sizeof *replay->outcomes);
}

static int action_refused(const Replay *replay, const Match *match, const ScriptItem *item,
                          bool known)
{
    size_t size = (size_t)TY_ACTIONS_MAX * TY_NAME_MAX;
    char *names = cli_memory(malloc(size));
    TyText list = ty_text_init(names, size);
    for (uint32_t i = 0; i < ty_shape(replay->ruleset)->action_count; i++) {
        char name[TY_NAME_MAX];
        if (match->mask[i]) {
            ty_action_name(replay->ruleset, i, name);
            ty_text_add(&list, "%s%s", list.length > 0 ? ", " : "", name);
        }
    }
    int status = cli_failure(
        replay->settings, "%s:%u: '%s' is %s (step %u, seat %u, %s); legal: %s", replay->file,
        item->line, item->name, known ? "not legal here" : "not an action of this ruleset",
        ty_head(match->state)->steps + 1, match_seat(match),
        ty_phase_name(replay->ruleset, match->state), names);
    free(names);
    return status;
}

/* The next action among the items, or NULL. */
static const ScriptItem *next_action(const Replay *replay, uint32_t *index)
{
    *index = replay->next;
    while (*index < replay->end && replay->script->items[*index].kind != SCRIPT_ACTION) {
        (*index)++;
    }
    return *index < replay->end ? &replay->script->items[*index] : NULL;
}

int replay_action(Replay *replay, Match *match, uint32_t *action, bool *found)
{
    uint32_t index = 0;
    const ScriptItem *item = next_action(replay, &index);
    *found = item != NULL;
    if (item == NULL) {
        return CLI_OK;
    }
    match_look(match);
    bool known = ty_action_find(replay->ruleset, item->name, action);
    if (!known || !match->mask[*action]) {
        return action_refused(replay, match, item, known);
    }
    replay->next = index + 1;
    return CLI_OK;
}

/* Whether the reset or step goes through with `outcome` in place of entry `entry`, and with chance
 * left to the generator behind it. */
static bool outcome_fits(const Replay *replay, const Match *match, uint64_t seed,
                         const uint32_t *action, uint32_t entry, uint16_t outcome)
{
    _Alignas(8) uint8_t state[TY_STATE_MAX];
    int32_t reward[TY_SEATS_MAX] = {0};
    TyOutcome *trial = cli_memory(malloc(replay->outcome_count * sizeof *trial));
    memcpy(trial, replay->before, replay->outcome_count * sizeof *trial);
    memcpy(state, match->state, sizeof state);
    trial[entry].outcome = outcome;
    for (uint32_t i = entry + 1; i < replay->outcome_count; i++) {
        trial[i].used = trial[i].used || trial[i].stream == trial[entry].stream;
    }
    TyTape tape = {.script = trial, .script_count = replay->outcome_count};
    bool fits = action == NULL ? ty_reset(replay->ruleset, state, seed, &tape)
                               : ty_step(replay->ruleset, state, *action, reward, &tape);
    free(trial);
    return fits;
}

/* Which outcomes could stand in place of entry `entry`. True if there is any. */
static bool outcomes_possible(const Replay *replay, const Match *match, uint64_t seed,
                              const uint32_t *action, uint32_t entry,
                              bool possible[TY_OUTCOMES_MAX])
{
    bool any = false;
    for (uint32_t outcome = 0; outcome < TY_OUTCOMES_MAX; outcome++) {
        possible[outcome] = outcome_fits(replay, match, seed, action, entry, (uint16_t)outcome);
        any = any || possible[outcome];
    }
    return any;
}

static int outcome_refused(const Replay *replay, const Match *match, uint32_t entry,
                           const bool *possible, const uint32_t *action)
{
    const TyOutcome *given = &replay->outcomes[entry];
    char name[TY_NAME_MAX];
    char names[TY_OUTCOMES_MAX * TY_NAME_MAX];
    ty_outcome_name(replay->ruleset, given->stream, given->outcome, name);
    outcome_list(replay, given->stream, possible, names, sizeof names);
    return cli_failure(
        replay->settings, "%s:%u: chance '%s %s' cannot happen there (step %u); possible: %s",
        replay->file, replay->lines[entry], ty_shape(replay->ruleset)->streams[given->stream], name,
        action != NULL ? ty_head(match->state)->steps + 1 : 0, names);
}

int replay_refused(const Replay *replay, const Match *match, uint64_t seed, const uint32_t *action,
                   const TyTape *tape)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < replay->outcome_count; i++) {
        bool possible[TY_OUTCOMES_MAX];
        const TyOutcome *given = &replay->outcomes[i];
        if (!given->used || replay->before[i].used) {
            continue;
        }
        last = replay->lines[i];
        if (!outcome_fits(replay, match, seed, action, i, given->outcome) &&
            outcomes_possible(replay, match, seed, action, i, possible)) {
            return outcome_refused(replay, match, i, possible, action);
        }
    }
    return cli_failure(replay->settings, "%s: outcomes up to line %u do not fit: %s", replay->file,
                       last, tape->status.message);
}

int replay_finish(const Replay *replay, const Match *match)
{
    uint32_t index = 0;
    const ScriptItem *item = next_action(replay, &index);
    if (item != NULL && match_over(match)) {
        return cli_failure(replay->settings, "%s:%u: '%s' comes after the end of the episode",
                           replay->file, item->line, item->name);
    }
    for (uint32_t i = 0; i < replay->outcome_count; i++) {
        if (!replay->outcomes[i].used) {
            fprintf(stderr, "trainyard trace: %s:%u: this outcome was not needed\n", replay->file,
                    replay->lines[i]);
            break;
        }
    }
    return CLI_OK;
}
