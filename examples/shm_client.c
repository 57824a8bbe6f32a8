/* Two groups of episodes in flight through shared memory: while the daemon steps one, this process
 * chooses for the other. Nothing is copied, and nothing sleeps while both are busy.
 *
 *   shm_client [ENDPOINT]        the daemon must be running: trainyardd */
#include <proto/client.h>

#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 256, GROUPS = 2, EPISODES = 20000, SEED = 7 };

static void must(TyStatus status)
{
    if (status.code != TY_OK) {
        fprintf(stderr, "shm_client: %s\n", status.message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    TyClient *client;
    TyShmClient *shm;
    TyClientPool pool;
    const TyClientConfig where = {.endpoint = argc > 1 ? argv[1] : NULL};
    const TyClientOpen what = {.ruleset = "convoi:board=tiny",
                               .slots = SLOTS,
                               .groups = GROUPS,
                               .seed = SEED,
                               .shm = true};
    must(ty_client_connect(&where, &client));
    must(ty_client_open_pool(client, &what, &pool));
    must(ty_client_attach(client, &pool, &shm));
    const TySlab *slab = ty_shm_slab(shm);
    uint32_t ended = 0;
    uint32_t submitted = 0;
    for (uint32_t group = 0; ended < EPISODES; submitted++) {
        if (submitted < GROUPS) {
            group = submitted;
        } else if (ty_shm_wait_any(shm, &group, -1) != TY_SHM_READY) {
            break; /* the daemon is gone */
        }
        const uint8_t *terminated = ty_slab_column(slab, group, TY_COLUMN_TERMINATED);
        for (uint32_t row = 0; row < slab->group[group].rows; row++) {
            ended += terminated[row];
        }
        ty_sample_rows(slab, group, SEED); /* here a network would look at TY_COLUMN_OBS */
        ty_shm_submit(shm, group, NULL);
    }
    printf("through shared memory: %u decisions, %u episodes\n", submitted * SLOTS / GROUPS, ended);
    ty_shm_close(shm);
    ty_client_close(client);
    return ended < EPISODES;
}
