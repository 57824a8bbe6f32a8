/* Sixty-four episodes at a time over ZeroMQ, with random legal actions.
 *
 *   zmq_client [ENDPOINT]        the daemon must be running: trainyardd */
#include <proto/client.h>

#include <stdio.h>
#include <string.h>

enum { SLOTS = 64, EPISODES = 1000, SEED = 7 };

int main(int argc, char **argv)
{
    TyClient *client = NULL;
    TyClientPool pool;
    TyClientRows rows;
    const TyClientConfig where = {.endpoint = argc > 1 ? argv[1] : NULL};
    const TyClientOpen what = {
        .ruleset = "convoi:board=tiny,reward=delivery", .slots = SLOTS, .seed = SEED};
    TyStatus status = ty_client_connect(&where, &client);
    if (status.code == TY_OK) {
        status = ty_client_open_pool(client, &what, &pool);
    }
    if (status.code == TY_OK) {
        status = ty_client_reset(client, &pool, &rows);
    }
    uint32_t ended = 0;
    uint64_t decisions = 0;
    double total = 0; /* what seat 0 has earned; the game is cooperative */
    while (status.code == TY_OK && ended < EPISODES) {
        int32_t actions[SLOTS];
        for (uint32_t i = 0; i < SLOTS; i++) { /* here a network would look at TY_COLUMN_OBS */
            const uint8_t *mask = rows.column[TY_COLUMN_MASK] + (size_t)i * pool.action_count;
            actions[i] = (int32_t)ty_sample(mask, pool.action_count, SEED, decisions++);
        }
        status = ty_client_step(client, &pool, 0, actions, &rows);
        for (uint32_t i = 0; status.code == TY_OK && i < SLOTS; i++) {
            float earned;
            size_t at = (size_t)i * pool.seat_count * sizeof earned;
            memcpy(&earned, rows.column[TY_COLUMN_EARNED] + at, sizeof earned); /* unaligned */
            total += (double)earned;
        }
        ended += status.code == TY_OK ? rows.ended_count : 0;
    }
    ty_client_close(client); /* the daemon closes what this client opened */
    if (status.code != TY_OK) {
        fprintf(stderr, "zmq_client: %s\n", status.message);
        return 1;
    }
    printf("over ZeroMQ: %llu decisions, %u episodes, mean return %+.3f\n",
           (unsigned long long)decisions, ended, total / ended);
    return 0;
}
