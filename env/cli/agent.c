/* trainyard agent: a built-in agent joins seats of a pool of a running daemon. */
#include "cli/remote.h"
#include "core/status.h"

#include <stdio.h>

/* Plays the pool that was joined, with the built-in agent of the command line. */
static TyStatus pool_play(const Settings *settings, TyClient *client, TyClientPool *pool,
                          TyClientPlay *play)
{
    TyStatus status = agent_take(play->ruleset, settings->arguments[0], &play->agent);
    if (status.code != TY_OK) {
        return status;
    }
    fprintf(stderr, "%s plays %u seats of %s\n", play->agent->name, pool->seat_count,
            pool->ruleset);
    return ty_client_play(client, pool, play);
}

/* Joins with the seats of the command line and plays. */
static TyStatus agent_play(const Settings *settings, TyClient *client, TyClientPlay *play)
{
    TyClientPool pool;
    TyRuleset *own = NULL;
    uint8_t seats[TY_SEATS_MAX];
    uint32_t seat_count = 0;
    TyStatus status = ty_client_seats(settings->seats, seats, &seat_count);
    if (status.code == TY_OK) {
        const TyClientJoin join = {.pool = (uint32_t)settings->pool,
                                   .invite = settings->invite,
                                   .seats = seats,
                                   .seat_count = seat_count};
        status = ty_client_join(client, &join, &pool);
    }
    if (status.code == TY_OK && play->ruleset == NULL) {
        status = ty_ruleset_open(pool.ruleset, NULL, &own);
        play->ruleset = own;
    }
    if (status.code == TY_OK) {
        status = pool_play(settings, client, &pool, play);
    }
    ty_ruleset_close(own);
    return status;
}

static int agent_run(const Settings *settings)
{
    TyClient *client = NULL;
    TyRuleset *ruleset = NULL;
    if (!settings_given(settings, "pool") || settings->invite == NULL) {
        return cli_usage_error(settings, "--pool and --invite are needed");
    }
    int result =
        settings->ruleset != NULL ? ruleset_open(settings, settings->ruleset, &ruleset) : CLI_OK;
    if (result == CLI_OK) {
        result = remote_connect(settings, &client);
    }
    if (result == CLI_OK) {
        TyClientPlay play = {.ruleset = ruleset,
                             .seed = settings->seed,
                             .episodes = settings->episodes,
                             .notes = settings->notes};
        TyStatus status = agent_play(settings, client, &play);
        if (status.code != TY_OK) {
            result = cli_failure(settings, "%s", status.message);
        } else {
            printf("%llu decisions, %llu episodes\n", (unsigned long long)play.decisions,
                   (unsigned long long)play.ended);
        }
        ty_client_close(client);
    }
    ty_ruleset_close(ruleset);
    return result;
}

static const Option agent_options[] = {
    OPTIONS_CONNECT,
    {.name = "pool",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, pool),
     .minimum = 1,
     .maximum = UINT32_MAX,
     .help = "The number of the pool, which the program that opened it knows."},
    {.name = "invite",
     .value = "TOKEN",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, invite),
     .help = "The pool's invitation, which the program that opened it has, too."},
    {.name = "seats",
     .value = "A,B",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, seats),
     .standard = "every open seat",
     .help = "Which seats to take, counted from 0."},
    {.name = "episodes",
     .value = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(Settings, episodes),
     .maximum = UINT64_MAX,
     .standard = "0",
     .help = "Stop after this many episodes; 0: when the pool is closed."},
    {.name = "ruleset",
     .value = "RULESET",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, ruleset),
     .standard = "the pool's",
     .help = "The ruleset that is played; needed if it has your own board or deck."},
    {.name = "notes",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, notes),
     .help = "Tell the daemon what the agent thinks of its choices, for its log."},
    OPTION_SEED,
    {.name = NULL},
};

const Command command_agent = {
    .name = "agent",
    .arguments = "NAME",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "let a built-in agent play open seats of a pool on a daemon",
    .details =
        "Connects to a daemon, takes open seats of a pool, and lets the built-in agent NAME play\n"
        "them until the pool is closed. A program that opens a pool with open seats is told\n"
        "the pool's number and its invitation; 'trainyard sim --agents expert,open' shows the\n"
        "whole command. How to write your own agent: examples/own_agent.c.",
    .example = "  trainyard agent expert --pool 1 --invite 0123456789abcdef --seats 1",
    .options = agent_options,
    .run = agent_run,
};
