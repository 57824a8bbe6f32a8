/* Sixty-four episodes at a time over ZeroMQ, with random legal actions.
 *
 *   zmq_client [ENDPOINT]        the daemon must be running: trainyardd */
#include <proto/client.h>

#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 64, EPISODES = 1000, SEED = 7 };

static void must(TyStatus status)
{
    if (status.code != TY_OK) {
        fprintf(stderr, "zmq_client: %s\n", status.message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    TyClient *client;
    TyClientPool pool;
    TyClientRows rows;
    const TyClientConfig where = {.endpoint = argc > 1 ? argv[1] : NULL};
    const TyClientOpen what = {.ruleset = "convoi:board=tiny", .slots = SLOTS, .seed = SEED};
    must(ty_client_connect(&where, &client));
    must(ty_client_open_pool(client, &what, &pool));
    must(ty_client_reset(client, &pool, NULL, NULL, &rows));
    uint32_t ended = 0;
    uint32_t steps = 0;
    for (; ended < EPISODES; steps++) {
        int32_t actions[SLOTS]; /* here a network would look at rows.column[TY_COLUMN_OBS] */
        ty_client_sample(&pool, &rows, SEED, actions);
        must(ty_client_step(client, &pool, 0, actions, &rows));
        ended += rows.ended_count;
    }
    printf("over ZeroMQ: %u decisions, %u episodes\n", steps * SLOTS, ended);
    ty_client_close(client); /* the daemon closes what this client opened */
    return 0;
}
