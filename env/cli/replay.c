/* trainyard replay: verifies, shows and bisects the episodes of a log. */
#define _GNU_SOURCE
#include "replay/replay.h"
#include "cli/output.h"
#include "cli/progress.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS_MAX = 1000 /* problems that a JSON report lists */ };

/* A log being read, and what was found in it so far. */
typedef struct LogView {
    const Settings *settings;
    const char *path;
    LogFile file;
    LogReader reader;
    Replayer *replayer;
    Progress progress;
    uint64_t verdicts[REPLAY_DIVERGES + 1];
    uint64_t decisions;
    uint64_t damaged; /* bytes */
    uint64_t torn;    /* bytes */
    TyJson json;      /* the report, with --json */
    uint32_t problems;
} LogView;

static const char *verdict_name(ReplayVerdict verdict)
{
    switch (verdict) {
    case REPLAY_AGREES:
        return "agrees";
    case REPLAY_INCOMPLETE:
        return "incomplete";
    case REPLAY_REFUSED:
        return "refused";
    case REPLAY_DIVERGES:
        return "diverges";
    }
    return "?";
}

static void note_gap(void *user, const LogGap *gap)
{
    LogView *view = user;
    progress_close(&view->progress);
    if (gap->torn) {
        view->torn += gap->size;
        fprintf(stderr,
                "trainyard replay: %s: the last %" PRIu64
                " bytes are an unfinished record and are left out\n",
                view->path, gap->size);
    } else {
        view->damaged += gap->size;
        fprintf(stderr,
                "trainyard replay: %s: %" PRIu64 " bytes at offset %" PRIu64
                " are damaged and are skipped\n",
                view->path, gap->size, gap->offset);
    }
}

/* On failure it has complained, and returns the exit status. */
static int view_open(LogView *view, const Settings *settings, const char *path)
{
    *view = (LogView){.settings = settings, .path = path};
    TyStatus status = log_file_open(view->path, &view->file);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    status = log_reader_init(&view->reader, view->file.bytes, view->file.size);
    if (status.code != TY_OK) {
        log_file_close(&view->file);
        return cli_failure(settings, "%s: %s", view->path, status.message);
    }
    view->reader.user = view;
    view->reader.gap = note_gap;
    view->replayer = cli_memory(replayer_open());
    view->progress = progress_open("KiB", view->file.size / 1024);
    return CLI_OK;
}

static void view_close(LogView *view)
{
    progress_close(&view->progress);
    replayer_close(view->replayer);
    log_file_close(&view->file);
}

/* The next episode that the command line asks for; false at the end. */
static bool view_next(LogView *view, LogEpisode *episode)
{
    bool one = settings_given(view->settings, "episode");
    while (log_next_episode(&view->reader, episode)) {
        if (episode->index % 64 == 0) {
            progress_show(&view->progress, view->reader.at / 1024);
        }
        if (!one || episode->index == view->settings->episode) {
            return true;
        }
    }
    progress_close(&view->progress);
    return false;
}

static int no_such_episode(const LogView *view)
{
    return cli_failure(view->settings, "%s has no episode %" PRIu64 "; it has %" PRIu32, view->path,
                       view->settings->episode, view->reader.episodes);
}

static void tell_problem(LogView *view, const LogEpisode *episode, const ReplayResult *result)
{
    if (!view->settings->json) {
        progress_close(&view->progress);
        printf("episode %" PRIu32 ", seed %" PRIu64 ": %s: %s\n", episode->index, episode->seed,
               verdict_name(result->verdict), result->message);
        return;
    }
    if (view->problems++ < PROBLEMS_MAX) {
        ty_json_open(&view->json, NULL, '{');
        ty_json_put_int(&view->json, "episode", episode->index);
        output_unsigned(&view->json, "seed", episode->seed);
        ty_json_put_string(&view->json, "verdict", verdict_name(result->verdict));
        if (result->verdict == REPLAY_DIVERGES) {
            ty_json_put_int(&view->json, "step", result->step);
            ty_json_put_int(&view->json, "agreed", result->agreed);
        }
        ty_json_put_string(&view->json, "message", result->message);
        ty_json_close(&view->json, '}');
    }
}

static int print_summary(LogView *view, uint64_t episodes)
{
    if (!view->settings->json) {
        printf("%s: %" PRIu64 " episodes, %" PRIu64 " decisions; %" PRIu64 " agree", view->path,
               episodes, view->decisions, view->verdicts[REPLAY_AGREES]);
        for (uint32_t i = REPLAY_INCOMPLETE; i <= REPLAY_DIVERGES; i++) {
            if (view->verdicts[i] > 0) {
                printf(", %" PRIu64 " %s", view->verdicts[i], verdict_name((ReplayVerdict)i));
            }
        }
        printf("\n");
        return CLI_OK;
    }
    ty_json_close(&view->json, ']');
    ty_json_put_string(&view->json, "file", view->path);
    output_unsigned(&view->json, "episodes", episodes);
    output_unsigned(&view->json, "decisions", view->decisions);
    for (uint32_t i = 0; i <= REPLAY_DIVERGES; i++) {
        output_unsigned(&view->json, verdict_name((ReplayVerdict)i), view->verdicts[i]);
    }
    output_unsigned(&view->json, "damaged_bytes", view->damaged);
    output_unsigned(&view->json, "unfinished_bytes", view->torn);
    ty_json_close(&view->json, '}');
    return output_print(view->settings, &view->json);
}

static int replay_run_verify(LogView *view)
{
    LogEpisode episode;
    uint64_t episodes = 0;
    if (view->settings->json) {
        view->json = output_open();
        ty_json_open(&view->json, NULL, '{');
        ty_json_open(&view->json, "problems", '[');
    }
    for (; view_next(view, &episode); episodes++) {
        ReplayResult result = replay_verify(view->replayer, &view->reader, &episode);
        view->verdicts[result.verdict]++;
        view->decisions += episode.steps;
        if (result.verdict != REPLAY_AGREES) {
            tell_problem(view, &episode, &result);
        }
    }
    int status = print_summary(view, episodes);
    if (episodes == 0 && settings_given(view->settings, "episode")) {
        return no_such_episode(view);
    }
    bool sound = view->verdicts[REPLAY_REFUSED] + view->verdicts[REPLAY_DIVERGES] == 0;
    return status != CLI_OK ? status : sound && view->damaged == 0 ? CLI_OK : CLI_FAILED;
}

static void json_episode(TyJson *json, const LogEpisode *episode)
{
    ty_json_put_int(json, "episode", episode->index);
    ty_json_put_string(json, "ruleset", episode->spec);
    ty_json_put_int(json, "rules_version", episode->rules_version);
    output_unsigned(json, "seed", episode->seed);
    ty_json_open(json, "seats", '[');
    for (uint32_t i = 0; i < episode->seat_count; i++) {
        ty_json_put_string(json, NULL, episode->seats[i]);
    }
    ty_json_close(json, ']');
    ty_json_put_int(json, "decisions", episode->steps);
    ty_json_put_string(json, "end", replay_cause_name(episode->cause));
    ty_json_open(json, "returns", '[');
    for (uint32_t i = 0; i < episode->player_count; i++) {
        output_reward(json, NULL, episode->returns[i]);
    }
    ty_json_close(json, ']');
    ty_json_put_hex(json, "hash", episode->final_hash);
}

static void print_line(const LogEpisode *episode)
{
    printf("%7" PRIu32 "  seed %-20" PRIu64 " %5" PRIu32 " decisions  %-9s returns", episode->index,
           episode->seed, episode->steps, replay_cause_name(episode->cause));
    for (uint32_t i = 0; i < episode->player_count; i++) {
        printf(" %g", (double)episode->returns[i] / TY_REWARD_ONE);
    }
    printf("  %s  ", episode->spec);
    for (uint32_t i = 0; i < episode->seat_count; i++) {
        printf("%s%s", i > 0 ? "," : "", episode->seats[i]);
    }
    printf("\n");
}

static int show_list(LogView *view)
{
    LogEpisode episode;
    while (view_next(view, &episode)) {
        if (!view->settings->json) {
            print_line(&episode);
            continue;
        }
        TyJson json = output_open();
        ty_json_open(&json, NULL, '{');
        json_episode(&json, &episode);
        ty_json_close(&json, '}');
        int status = output_print(view->settings, &json);
        if (status != CLI_OK) {
            return status;
        }
    }
    return view->damaged == 0 ? CLI_OK : CLI_FAILED;
}

static void show_decision(TyJson *json, const TyRuleset *ruleset, const LogEpisode *episode,
                          const void *state, uint32_t action)
{
    char name[TY_NAME_MAX] = "?";
    const TyHead *head = ty_head(state);
    const char *who = head->seat >= 0 ? episode->seats[head->seat] : "?";
    if (action < ty_shape(ruleset)->action_count) {
        ty_action_name(ruleset, action, name);
    }
    if (json == NULL) {
        printf("%6" PRIu32 "  seat %d  %-12s  %-10s  %s\n", head->steps + 1, head->seat, who,
               ty_phase_name(ruleset, state), name);
        return;
    }
    ty_json_open(json, NULL, '{');
    ty_json_put_int(json, "step", (int64_t)head->steps + 1);
    ty_json_put_int(json, "seat", head->seat);
    ty_json_put_string(json, "agent", who);
    ty_json_put_string(json, "phase", ty_phase_name(ruleset, state));
    ty_json_put_string(json, "action", name);
    ty_json_put_int(json, "id", action);
    ty_json_close(json, '}');
}

/* Every decision up to the end, or up to the first that is not legal. */
static void show_decisions(TyJson *json, const TyRuleset *ruleset, const LogEpisode *episode)
{
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    ty_reset(ruleset, state, episode->seed, NULL);
    for (uint32_t i = 0; i < episode->kept && !ty_head(state)->over; i++) {
        uint32_t action = log_episode_action(episode, i);
        show_decision(json, ruleset, episode, state, action);
        if (!ty_step(ruleset, state, action, reward, NULL)) {
            break;
        }
    }
}

static void print_result(const TyShape *shape, const LogEpisode *episode)
{
    for (uint32_t i = 0; i < episode->metric_count && i < shape->metric_count; i++) {
        printf("%s%s %" PRId32, i > 0 ? ", " : "", shape->metrics[i], episode->metrics[i]);
    }
    printf("\n");
}

static void json_result(TyJson *json, const TyShape *shape, const LogEpisode *episode)
{
    ty_json_open(json, "metrics", '{');
    for (uint32_t i = 0; i < episode->metric_count && i < shape->metric_count; i++) {
        ty_json_put_int(json, shape->metrics[i], episode->metrics[i]);
    }
    ty_json_close(json, '}');
}

static int show_one(LogView *view)
{
    LogEpisode episode;
    const TyRuleset *ruleset = NULL;
    if (!view_next(view, &episode)) {
        return no_such_episode(view);
    }
    TyStatus opened = replayer_ruleset(view->replayer, &view->reader, &episode, &ruleset);
    if (opened.code != TY_OK) {
        return cli_failure(view->settings, "episode %" PRIu32 ": %s", episode.index,
                           opened.message);
    }
    ReplayResult result = replay_verify(view->replayer, &view->reader, &episode);
    int status = CLI_OK;
    if (view->settings->json) {
        TyJson json = output_open();
        ty_json_open(&json, NULL, '{');
        json_episode(&json, &episode);
        json_result(&json, ty_shape(ruleset), &episode);
        ty_json_put_string(&json, "verdict", verdict_name(result.verdict));
        ty_json_open(&json, "steps", '[');
        show_decisions(&json, ruleset, &episode);
        ty_json_close(&json, ']');
        ty_json_close(&json, '}');
        status = output_print(view->settings, &json);
    } else {
        print_line(&episode);
        show_decisions(NULL, ruleset, &episode);
        print_result(ty_shape(ruleset), &episode);
    }
    if (result.verdict == REPLAY_DIVERGES) {
        return cli_failure(view->settings, "episode %" PRIu32 ": %s", episode.index,
                           result.message);
    }
    return status;
}

static int replay_run_show(LogView *view)
{
    return settings_given(view->settings, "episode") ? show_one(view) : show_list(view);
}

static void print_position(const TyRuleset *ruleset, const LogEpisode *episode,
                           const ReplayResult *result, const void *state)
{
    uint32_t action = log_episode_action(episode, result->step - 1);
    uint8_t mask[TY_ACTIONS_MAX];
    ty_legal(ruleset, state, mask);
    bool legal = action < ty_shape(ruleset)->action_count && mask[action];
    printf("the record says, %s:\n", legal ? "which is legal" : "which is not legal");
    show_decision(NULL, ruleset, episode, state, action);
    char *text = cli_memory(malloc(CLI_TEXT_MAX));
    int8_t seat = ty_head(state)->seat;
    uint32_t players = ty_shape(ruleset)->players;
    bool player = seat >= 0 && (uint32_t)seat < players;
    ty_text(ruleset, state, player ? (uint32_t)seat : 0, text, CLI_TEXT_MAX);
    printf("in this position:\n%s\n", text);
    free(text);
}

static int bisect_json(const LogView *view, const LogEpisode *episode, const ReplayResult *result)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    json_episode(&json, episode);
    ty_json_put_string(&json, "verdict", verdict_name(result->verdict));
    ty_json_put_int(&json, "step", result->step);
    ty_json_put_int(&json, "agreed", result->agreed);
    ty_json_put_string(&json, "message", result->message);
    ty_json_close(&json, '}');
    return output_print(view->settings, &json);
}

/* The first episode that does not agree, and where. */
static int replay_run_bisect(LogView *view)
{
    static uint64_t state[TY_STATE_MAX / 8];
    LogEpisode episode;
    ReplayResult result;
    uint64_t episodes = 0;
    do {
        if (!view_next(view, &episode)) {
            if (episodes == 0 && settings_given(view->settings, "episode")) {
                return no_such_episode(view);
            }
            printf(view->settings->json ? "{\"episodes\":%" PRIu64 ",\"verdict\":\"agrees\"}\n"
                                        : "%" PRIu64 " episodes agree from end to end\n",
                   episodes);
            return view->damaged == 0 ? CLI_OK : CLI_FAILED;
        }
        episodes++;
        result = replay_bisect(view->replayer, &view->reader, &episode, state);
    } while (result.verdict == REPLAY_AGREES || result.verdict == REPLAY_INCOMPLETE);
    if (view->settings->json) {
        int status = bisect_json(view, &episode, &result);
        return status != CLI_OK ? status : CLI_FAILED;
    }
    tell_problem(view, &episode, &result);
    const TyRuleset *ruleset = NULL;
    TyStatus opened = replayer_ruleset(view->replayer, &view->reader, &episode, &ruleset);
    if (opened.code == TY_OK && result.step > 0 && result.step <= episode.kept) {
        print_position(ruleset, &episode, &result, state);
    }
    return CLI_FAILED;
}

typedef int ReplayAction(LogView *view);

static int file_run(const Settings *settings, ReplayAction *action, const char *path)
{
    LogView *view = cli_memory(malloc(sizeof *view));
    int status = view_open(view, settings, path);
    if (status == CLI_OK) {
        status = action(view);
        view_close(view);
    }
    free(view);
    return status;
}

static int is_log_name(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".tylog") == 0;
}

/* All logs of a directory, in the order in which they were written. The status is that of the first
 * that has anything wrong. */
static int directory_run(const Settings *settings, ReplayAction *action, const char *directory,
                         struct dirent **entries, int count)
{
    int status = CLI_OK;
    if (count == 0) {
        return cli_failure(settings, "%s: there is no log in this directory", directory);
    }
    if (settings_given(settings, "episode")) {
        return cli_usage_error(settings, "--episode counts in one file; %s is a directory",
                               directory);
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        int one = file_run(settings, action, path);
        status = status == CLI_OK ? one : status;
    }
    return status;
}

static int path_run(const Settings *settings, ReplayAction *action, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_log_name, alphasort);
    if (count < 0) {
        return file_run(settings, action, path);
    }
    int status = directory_run(settings, action, path, entries, count);
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int replay_run(const Settings *settings)
{
    static const struct {
        const char *name;
        ReplayAction *run;
    } actions[] = {
        {"verify", replay_run_verify},
        {"show", replay_run_show},
        {"bisect", replay_run_bisect},
    };
    for (uint32_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(settings->arguments[0], actions[i].name) == 0) {
            return path_run(settings, actions[i].run, settings->arguments[1]);
        }
    }
    return cli_usage_error(settings, "'%s' is unknown; allowed are verify, show and bisect",
                           settings->arguments[0]);
}

static const Option replay_options[] = {
    {.name = "episode",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, episode),
     .maximum = UINT32_MAX,
     .help = "Only this episode, counted from 0 in the file."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_replay = {
    .name = "replay",
    .arguments = "verify|show|bisect FILE|DIR",
    .arguments_min = 2,
    .arguments_max = 2,
    .summary = "check or list the episodes of a log",
    .details =
        "Plays the episodes of a log again, from their seeds and actions. A log is one file, or\n"
        "all the files of a directory, as 'trainyard sim --log DIR' and the daemon write them.\n"
        "  verify  compares every step and the result, and says where an episode differs\n"
        "  show    lists the episodes; with --episode, every decision of one by its name\n"
        "  bisect  finds the first episode that differs, and shows the position where it does\n"
        "The exit status is 1 if an episode differs, was played by another version of the rules,\n"
        "or is damaged. With --json, show prints one object per line. The format of logs is\n"
        "described in env/replay/FORMAT.md.",
    .example = "  trainyard replay verify log\n"
               "  trainyard replay show log/episodes-000001.tylog --episode 0",
    .options = replay_options,
    .run = replay_run,
};
