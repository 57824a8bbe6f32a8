/* Two groups of episodes in flight through shared memory: while the daemon steps one, this process
 * chooses for the other. Nothing is copied, and nothing sleeps while both are busy.
 *
 *   shm_client [ENDPOINT]        the daemon must be running: trainyardd */
#include <proto/client.h>

#include <stdio.h>

enum { SLOTS = 256, EPISODES = 20000, SEED = 7 };

int main(int argc, char **argv)
{
    TyClient *client = NULL;
    TyShmClient *shm = NULL;
    TyClientPool pool;
    const TyClientConfig where = {.endpoint = argc > 1 ? argv[1] : NULL};
    const TyClientOpen what = {.ruleset = "convoi:board=tiny,reward=delivery",
                               .slots = SLOTS,
                               .groups = 2,
                               .seed = SEED,
                               .shm = true};
    TyStatus status = ty_client_connect(&where, &client);
    if (status.code == TY_OK) {
        status = ty_client_open_pool(client, &what, &pool);
    }
    if (status.code == TY_OK) {
        status = ty_client_attach(client, &pool, &shm);
    }
    if (status.code != TY_OK) {
        fprintf(stderr, "shm_client: %s\n", status.message);
        ty_client_close(client);
        return 1;
    }
    const TySlab *slab = ty_shm_slab(shm);
    uint64_t decisions = 0;
    uint32_t ended = 0;
    double total = 0; /* what seat 0 has earned; the game is cooperative */
    uint32_t group = 0;
    for (uint32_t i = 0; i < slab->groups; i++) {
        ty_sample_rows(slab, i, SEED); /* here a network would look at TY_COLUMN_OBS */
        ty_shm_submit(shm, i, NULL);
    }
    while (ended < EPISODES && ty_shm_wait_any(shm, &group, -1) == TY_SHM_READY) {
        const uint8_t *terminated = ty_slab_column(slab, group, TY_COLUMN_TERMINATED);
        const float *earned = ty_slab_column(slab, group, TY_COLUMN_EARNED);
        for (uint32_t row = 0; row < slab->group[group].rows; row++) {
            ended += terminated[row];
            total += (double)earned[row * slab->seat_count];
        }
        decisions += slab->group[group].rows;
        ty_sample_rows(slab, group, SEED);
        ty_shm_submit(shm, group, NULL);
    }
    ty_shm_close(shm);
    ty_client_close(client);
    printf("through shared memory: %llu decisions, %u episodes, mean return %+.3f\n",
           (unsigned long long)decisions, ended, total / ended);
    return ended < EPISODES;
}
