/* trainyard view: an episode as one page to look at, from a log or played by agents. */
#include "cli/view.h"
#include "cli/match.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Played by agents --------------------------------------------------------------------------
 */

static int play_agents(const Settings *settings, const TyRuleset *ruleset)
{
    Seating seating;
    Reel reel = {.settings = settings, .ruleset = ruleset, .seed = settings->seed};
    int status = seating_parse(settings, ruleset, &seating);
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->seats && status == CLI_OK; seat++) {
        if (seating.agents[seat] == &open_seat) {
            status = cli_usage_error(settings, "an open seat cannot be shown: record the episode "
                                               "with 'trainyard sim --log' and view the log");
        }
        snprintf(reel.who[seat], LOG_NAME_MAX, "%s", agent_name(seating.agents[seat]));
    }
    if (status != CLI_OK) {
        return status;
    }
    Match *match = match_open(ruleset, &seating);
    match_ask_notes(match);
    match_start(match, settings->seed, NULL);
    while (!match_over(match)) {
        uint32_t action = match_choose(match);
        reel_add(&reel, action, &match->notes);
        match_step(match, action, NULL);
    }
    free(match);
    status = reel_write(&reel);
    reel_close(&reel);
    return status;
}

/* ---- From a log --------------------------------------------------------------------------------
 */

static int show_episode(const Settings *settings, const LogReader *reader, Replayer *replayer,
                        const LogEpisode *episode)
{
    Reel reel = {.settings = settings, .seed = episode->seed};
    TyStatus opened = replayer_ruleset(replayer, reader, episode, &reel.ruleset);
    if (opened.code != TY_OK) {
        return cli_failure(settings, "episode %" PRIu32 ": %s", episode->index, opened.message);
    }
    ReplayResult result = replay_verify(replayer, reader, episode);
    if (result.verdict == REPLAY_DIVERGES || result.verdict == REPLAY_REFUSED) {
        return cli_failure(settings, "episode %" PRIu32 ": %s", episode->index, result.message);
    }
    reel.end = episode->cause == TY_CAUSE_RULES ? NULL : replay_cause_name(episode->cause);
    for (uint32_t seat = 0; seat < episode->seat_count; seat++) {
        snprintf(reel.who[seat], LOG_NAME_MAX, "%s", episode->seats[seat]);
    }
    TyNotes notes;
    uint32_t note = 0;
    for (uint32_t i = 0; i < episode->kept; i++) {
        notes.count = 0;
        for (; note < episode->note_count && notes.count < TY_ACTIONS_MAX; note++) {
            LogNote told = log_episode_note(episode, note);
            if (told.decision != i) {
                break;
            }
            notes.list[notes.count++] = told.note;
        }
        reel_add(&reel, log_episode_action(episode, i), &notes);
    }
    int status = reel_write(&reel);
    reel_close(&reel);
    return status;
}

/* The episode that --episode asks for, by default the first. */
static bool episode_find(const Settings *settings, LogReader *reader, LogEpisode *episode)
{
    while (log_next_episode(reader, episode)) {
        if (episode->index == settings->episode) {
            return true;
        }
    }
    return false;
}

static int show_log(const Settings *settings, const char *path)
{
    LogFile file;
    LogReader reader;
    LogEpisode episode;
    TyStatus status = log_file_open(path, &file);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    int result = CLI_OK;
    status = log_reader_init(&reader, file.bytes, file.size);
    if (status.code != TY_OK) {
        result = cli_failure(settings, "%s: %s", path, status.message);
    } else if (!episode_find(settings, &reader, &episode)) {
        result = cli_failure(settings, "%s has no episode %" PRIu64 "; it has %" PRIu32, path,
                             settings->episode, reader.episodes);
    } else {
        Replayer *replayer = cli_memory(replayer_open());
        result = show_episode(settings, &reader, replayer, &episode);
        replayer_close(replayer);
    }
    log_file_close(&file);
    return result;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int view_run(const Settings *settings)
{
    const char *what = settings->arguments[0];
    size_t length = strlen(what);
    if (length > 6 && strcmp(what + length - 6, ".tylog") == 0) {
        return show_log(settings, what);
    }
    TyRuleset *ruleset;
    int status = ruleset_open(settings, what, &ruleset);
    if (status == CLI_OK) {
        status = play_agents(settings, ruleset);
        ty_ruleset_close(ruleset);
    }
    return status;
}

static const Option view_options[] = {
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, out),
     .standard = "GAME.html",
     .help = "Where the page goes. FILE.svg: only the drawing of one position."},
    {.name = "step",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, step),
     .maximum = UINT32_MAX,
     .standard = "0",
     .help = "The position of FILE.svg: after so many decisions."},
    {.name = "episode",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, episode),
     .maximum = UINT32_MAX,
     .standard = "0",
     .help = "Which episode of the log, counted from 0."},
    {.name = "seat",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, seat),
     .maximum = TY_PLAYERS_MAX - 1,
     .help = "Only what this seat may know goes into the file."},
    OPTION_SEED,
    OPTION_AGENT,
    OPTION_AGENTS,
    {.name = NULL},
};

const Command command_view = {
    .name = "view",
    .arguments = "RULESET|FILE.tylog",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "an episode as a page to look at",
    .details =
        "Writes one HTML file with an episode drawn step by step, played by agents or read\n"
        "from a log. It opens by a double click and needs neither a server nor a network.\n"
        "It shows what everybody together, or one seat, may know; the file holds all of\n"
        "that, unless --seat says whose eyes it is for. Agents that tell what they think of\n"
        "their choices, as search does, are shown with bars.",
    .example = "  trainyard view GAME --seed 7 -o game.html\n"
               "  trainyard view GAME --seed 7 --seat 0 -o mine.html\n"
               "  trainyard view GAME --seed 7 --step 40 -o position.svg\n"
               "  trainyard view log/episodes-000001.tylog --episode 3 -o game.html",
    .options = view_options,
    .run = view_run,
};
