/* Playing recorded episodes again and comparing every step. */
#include "core/status.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLAYER_RULESETS = 8 };

/* An open ruleset and what it was opened from. */
typedef struct OpenRuleset {
    TyRuleset *ruleset;
    char spec[TY_SPEC_MAX];
    uint64_t contents[TY_FILES_MAX];
    uint64_t used; /* when it was last asked for */
} OpenRuleset;

struct Replayer {
    OpenRuleset open[REPLAYER_RULESETS];
    uint64_t clock;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t before[TY_STATE_MAX / 8]; /* the state in which the last decision was taken */
};

Replayer *replayer_open(void)
{
    return calloc(1, sizeof(Replayer));
}

void replayer_close(Replayer *replayer)
{
    for (uint32_t i = 0; replayer != NULL && i < REPLAYER_RULESETS; i++) {
        ty_ruleset_close(replayer->open[i].ruleset);
    }
    free(replayer);
}

/* ---- Rulesets ---- */

/* The user's files of an episode, handed out in the order in which the keys are read. */
typedef struct RecordedFiles {
    const LogReader *reader;
    const LogEpisode *episode;
    uint32_t next;
} RecordedFiles;

static TyStatus recorded_file_open(void *user, const char *value, const char **bytes, size_t *size,
                                   char name[TY_NAME_MAX])
{
    RecordedFiles *files = user;
    if (files->next < files->episode->content_count) {
        uint64_t hash = files->episode->contents[files->next++];
        for (uint32_t i = 0; i < files->reader->content_count; i++) {
            const LogContent *content = &files->reader->contents[i];
            if (content->hash == hash) {
                *bytes = (const char *)content->bytes;
                *size = content->size;
                snprintf(name, TY_NAME_MAX, "%s", value);
                return ty_status_ok();
            }
        }
    }
    return ty_status_fail(TY_BAD_FILE, "the log does not hold the content of '%.60s'", value);
}

static bool ruleset_matches(const OpenRuleset *open, const LogEpisode *episode)
{
    return open->ruleset != NULL && strcmp(open->spec, episode->spec) == 0 &&
           memcmp(open->contents, episode->contents, sizeof open->contents) == 0;
}

/* The name of the episode's game. */
static void game_name(const LogEpisode *episode, char name[TY_NAME_MAX])
{
    snprintf(name, TY_NAME_MAX, "%.*s", (int)strcspn(episode->spec, ":"), episode->spec);
}

static TyStatus rules_version_check(const LogEpisode *episode)
{
    char name[TY_NAME_MAX];
    game_name(episode, name);
    const TyGame *game = ty_game_find(name);
    if (game == NULL) {
        return ty_status_fail(TY_BAD_CONFIG, "there is no game '%.60s' in this version", name);
    }
    uint32_t version = ty_game_rules_version(game);
    if (version != episode->rules_version) {
        return ty_status_fail(TY_BAD_CONFIG,
                              "it was played by version %" PRIu32 " of the rules of %s; this is "
                              "version %" PRIu32,
                              episode->rules_version, name, version);
    }
    return ty_status_ok();
}

TyStatus replayer_ruleset(Replayer *replayer, const LogReader *reader, const LogEpisode *episode,
                          const TyRuleset **ruleset)
{
    OpenRuleset *oldest = &replayer->open[0];
    *ruleset = NULL;
    TyStatus status = rules_version_check(episode);
    if (status.code != TY_OK) {
        return status;
    }
    for (uint32_t i = 0; i < REPLAYER_RULESETS; i++) {
        OpenRuleset *open = &replayer->open[i];
        if (ruleset_matches(open, episode)) {
            open->used = ++replayer->clock;
            *ruleset = open->ruleset;
            return ty_status_ok();
        }
        oldest = open->used < oldest->used ? open : oldest;
    }
    RecordedFiles recorded = {.reader = reader, .episode = episode};
    const TyFiles files = {.user = &recorded, .open = recorded_file_open};
    ty_ruleset_close(oldest->ruleset);
    oldest->used = 0;
    status = ty_ruleset_open(episode->spec, &files, &oldest->ruleset);
    if (status.code == TY_OK) {
        memcpy(oldest->spec, episode->spec, sizeof oldest->spec);
        memcpy(oldest->contents, episode->contents, sizeof oldest->contents);
        oldest->used = ++replayer->clock;
        *ruleset = oldest->ruleset;
    }
    return status;
}

/* ---- Comparing ---- */

/* An episode being played again. */
typedef struct Play {
    const TyRuleset *ruleset;
    const TyShape *shape;
    const LogEpisode *episode;
    Replayer *replayer;
    uint64_t chain;
    uint32_t note; /* the first that was not looked at */
    int32_t returns[TY_SEATS_MAX];
    ReplayResult result;
} Play;

static bool diverge(Play *play, uint32_t step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes the first difference. Returns false. */
static bool diverge(Play *play, uint32_t step, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    play->result.verdict = REPLAY_DIVERGES;
    play->result.step = step;
    vsnprintf(play->result.message, sizeof play->result.message, format, args);
    va_end(args);
    return false;
}

static bool play_begin(Play *play)
{
    const LogEpisode *episode = play->episode;
    void *state = play->replayer->state;
    memset(state, 0, sizeof play->replayer->state);
    ty_reset(play->ruleset, state, episode->seed, NULL);
    memcpy(play->replayer->before, state, sizeof play->replayer->before);
    uint64_t hash = ty_hash(play->ruleset, state);
    play->chain = log_chain_begin(hash);
    if (episode->seat_count != play->shape->seats ||
        episode->player_count != play->shape->players ||
        episode->metric_count != play->shape->metric_count) {
        return diverge(play, 0, "the record has other seats or metrics than its ruleset");
    }
    if (hash != episode->first_hash) {
        return diverge(play, 0, "the seed deals another beginning than the recorded one");
    }
    return true;
}

/* Whether what was told of decision `index` is of actions that are legal there. */
static bool play_notes(Play *play, uint32_t index)
{
    uint8_t mask[TY_ACTIONS_MAX];
    const LogEpisode *episode = play->episode;
    for (bool first = true; play->note < episode->note_count; play->note++, first = false) {
        LogNote note = log_episode_note(episode, play->note);
        if (note.decision != index) {
            break;
        }
        if (first) {
            ty_legal(play->ruleset, play->replayer->state, mask);
        }
        if (note.note.action >= play->shape->action_count || !mask[note.note.action]) {
            return diverge(play, index + 1,
                           "step %" PRIu32 ": a note tells of action %" PRIu32
                           ", which is not legal there",
                           index + 1, note.note.action);
        }
    }
    return true;
}

/* Decision `index`, counted from 0. */
static bool play_step(Play *play, uint32_t index)
{
    void *state = play->replayer->state;
    uint32_t action = log_episode_action(play->episode, index);
    int32_t reward[TY_SEATS_MAX] = {0};
    memcpy(play->replayer->before, state, sizeof play->replayer->before);
    if (log_chain_check(play->chain, action) != log_episode_check(play->episode, index)) {
        return diverge(play, index + 1,
                       "step %" PRIu32 ": the action or what came before it is not what was played",
                       index + 1);
    }
    if (!ty_step(play->ruleset, state, action, reward, NULL)) {
        return diverge(play, index + 1, "step %" PRIu32 ": action %" PRIu32 " is not legal there",
                       index + 1, action);
    }
    play->chain = log_chain_add(play->chain, action, reward, state);
    for (uint32_t i = 0; i < play->shape->players; i++) {
        play->returns[i] += reward[i];
    }
    uint32_t done = index + 1;
    if (done % LOG_HASH_EVERY != 0) {
        return true;
    }
    const uint8_t *stored = play->episode->body + log_step_offset(done) - 8;
    if (load_le64(stored) != ty_hash(play->ruleset, state)) {
        return diverge(play, done,
                       "step %" PRIu32 ": the position is not the recorded one; it last agreed "
                       "after step %" PRIu32,
                       done, play->result.agreed);
    }
    play->result.agreed = done;
    return true;
}

static bool play_cause_fits(const Play *play)
{
    const TyHead *head = ty_head(play->replayer->state);
    switch (play->episode->cause) {
    case TY_CAUSE_RULES:
        return head->over && !head->truncated;
    case TY_CAUSE_CAP:
        return head->over && head->truncated;
    case TY_CAUSE_STEPS:
    case TY_CAUSE_CUT:
        return !head->over;
    case TY_CAUSE_FORFEIT:
        return !head->over && head->seat == play->episode->forfeit_seat;
    }
    return false;
}

/* What the one who forfeits, or all in a cooperative game, pay for it. */
static void play_forfeit(Play *play)
{
    for (uint32_t i = 0; i < play->shape->players; i++) {
        bool pays = play->shape->cooperative || (int8_t)i == play->episode->forfeit_seat;
        play->returns[i] -= pays ? TY_REWARD_ONE : 0;
    }
}

static bool play_finish(Play *play)
{
    const LogEpisode *episode = play->episode;
    int32_t metrics[TY_METRICS_MAX] = {0};
    if (!play_cause_fits(play)) {
        return diverge(play, episode->steps, "the episode did not end as the record says: %s",
                       replay_cause_name(episode->cause));
    }
    if (ty_hash(play->ruleset, play->replayer->state) != episode->final_hash) {
        return diverge(play, episode->steps,
                       "the last position is not the recorded one; it last agreed after step "
                       "%" PRIu32,
                       play->result.agreed);
    }
    if (episode->cause == TY_CAUSE_FORFEIT) {
        play_forfeit(play);
    }
    ty_metrics(play->ruleset, play->replayer->state, metrics);
    for (uint32_t i = 0; i < play->shape->metric_count; i++) {
        if (metrics[i] != episode->metrics[i]) {
            return diverge(play, episode->steps, "%s is %" PRId32 "; the record says %" PRId32,
                           play->shape->metrics[i], metrics[i], episode->metrics[i]);
        }
    }
    for (uint32_t i = 0; i < play->shape->players; i++) {
        if (play->returns[i] != episode->returns[i]) {
            return diverge(play, episode->steps,
                           "seat %" PRIu32 " earned %" PRId32 "/64; the record says %" PRId32 "/64",
                           i, play->returns[i], episode->returns[i]);
        }
    }
    play->result.agreed = episode->steps;
    return true;
}

ReplayResult replay_verify(Replayer *replayer, const LogReader *reader, const LogEpisode *episode)
{
    Play play = {.episode = episode, .replayer = replayer};
    TyStatus status = replayer_ruleset(replayer, reader, episode, &play.ruleset);
    if (status.code != TY_OK) {
        play.result.verdict = REPLAY_REFUSED;
        snprintf(play.result.message, sizeof play.result.message, "%s", status.message);
        return play.result;
    }
    play.shape = ty_shape(play.ruleset);
    bool agrees = play_begin(&play);
    for (uint32_t i = 0; agrees && i < episode->kept; i++) {
        agrees = play_notes(&play, i) && play_step(&play, i);
    }
    if (agrees && play.note < episode->note_count) {
        agrees = diverge(&play, episode->kept,
                         "a note tells of decision %" PRIu32 "; the last one here is %" PRIu32,
                         log_episode_note(episode, play.note).decision + 1, episode->kept);
    }
    if (agrees && episode->kept < episode->steps) {
        play.result.verdict = REPLAY_INCOMPLETE;
        snprintf(play.result.message, sizeof play.result.message,
                 "only the first %" PRIu32 " of %" PRIu32 " decisions were kept; they agree",
                 episode->kept, episode->steps);
    } else if (agrees) {
        play_finish(&play);
    }
    return play.result;
}

ReplayResult replay_bisect(Replayer *replayer, const LogReader *reader, const LogEpisode *episode,
                           void *state)
{
    memset(replayer->before, 0, sizeof replayer->before);
    ReplayResult result = replay_verify(replayer, reader, episode);
    memcpy(state, replayer->before, sizeof replayer->before);
    return result;
}

const char *replay_cause_name(TyCause cause)
{
    switch (cause) {
    case TY_CAUSE_RULES:
        return "rules";
    case TY_CAUSE_CAP:
        return "cap";
    case TY_CAUSE_STEPS:
        return "max_steps";
    case TY_CAUSE_CUT:
        return "cut";
    case TY_CAUSE_FORFEIT:
        return "forfeit";
    }
    return "?";
}
