/* An action counts only for a row that its member was given, whatever door it plays through; and
 * sending and receiving cost as much as the rows are many, however large the pool is. */
#include "daemon/dispatch_internal.h"
#include "tests/daemon/daemon_process.h"
#include "tests/daemon/dispatch_requests.h"

enum { SLOTS = 24, ROUNDS = 300, WAIT_MS = 20000 };

/* ---- Fillers ---- */

/* A member that counts the rows for which it has chosen an action, each once. */
typedef struct Player {
    TyClient *client;
    TyClientPool pool;
    TyShmClient *shm; /* NULL: by messages */
    uint64_t last[SLOTS];
    uint64_t chosen;
    uint64_t ignored;
    bool wanted[SLOTS]; /* rows of the last reply that ask */
    int32_t actions[SLOTS];
} Player;

/* Chooses for a row that asks. One that shows before it is published is chosen for once more. */
static void player_choose(Player *player, uint32_t slot, uint32_t episode, uint32_t step,
                          const uint8_t *mask)
{
    uint64_t row = ((uint64_t)episode << 32 | step) + 1;
    const uint8_t *legal = memchr(mask, 1, player->pool.action_count);
    player->wanted[slot] = true;
    player->actions[slot] = legal != NULL ? (int32_t)(legal - mask) : 0;
    player->chosen += player->last[slot] != row;
    player->last[slot] = row;
}

static void rows_choose(Player *player, const TyClientRows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t slot = rows->slots != NULL ? rows->slots[i] : i;
        uint32_t episode;
        uint32_t step;
        memcpy(&episode, rows->column[TY_COLUMN_EPISODE] + (size_t)i * 4, sizeof episode);
        memcpy(&step, rows->column[TY_COLUMN_STEP] + (size_t)i * 4, sizeof step);
        if (rows->column[TY_COLUMN_READY][i]) {
            player_choose(player, slot, episode, step,
                          rows->column[TY_COLUMN_MASK] + (size_t)i * player->pool.action_count);
        }
    }
}

/* Receives what there is, and answers it. */
static void honest_turn(Player *player)
{
    TyClientRows rows;
    uint32_t slots[SLOTS];
    int32_t actions[SLOTS];
    uint32_t count = 0;
    uint32_t accepted = 0;
    TyStatus status =
        ty_client_recv(player->client, &player->pool, &(TyClientWait){.at_once = true}, &rows);
    assert_string_equal(status.message, "");
    rows_choose(player, &rows);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (player->wanted[slot]) {
            slots[count] = slot;
            actions[count++] = player->actions[slot];
            player->wanted[slot] = false;
        }
    }
    status = ty_client_send(player->client, &player->pool, slots, actions, count, &accepted);
    assert_string_equal(status.message, "");
    assert_int_equal(accepted, count);
}

/* What it has chosen for rows that it knows, and a filler for every other. */
static void fill(Player *player, int32_t *actions)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        actions[slot] = player->wanted[slot] ? player->actions[slot] : 3;
        player->wanted[slot] = false;
    }
}

static void filler_turn_by_messages(Player *player)
{
    TyClientRows rows;
    int32_t actions[SLOTS];
    uint32_t slots[SLOTS];
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        slots[slot] = slot;
    }
    fill(player, actions);
    TyStatus status = ty_client_step_some(player->client, &player->pool, slots, actions, SLOTS,
                                          &(TyClientWait){.at_once = true}, &rows);
    assert_string_equal(status.message, "");
    player->ignored += rows.ignored;
    rows_choose(player, &rows);
}

static void filler_look(Player *player)
{
    const TySlab *slab = ty_shm_slab(player->shm);
    const uint8_t *ready = ty_slab_column(slab, 0, TY_COLUMN_READY);
    const uint32_t *episode = ty_slab_column(slab, 0, TY_COLUMN_EPISODE);
    const uint32_t *step = ty_slab_column(slab, 0, TY_COLUMN_STEP);
    const uint8_t *mask = ty_slab_column(slab, 0, TY_COLUMN_MASK);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (__atomic_load_n(ready + slot, __ATOMIC_ACQUIRE)) {
            player_choose(player, slot, episode[slot], step[slot],
                          mask + (size_t)slot * player->pool.action_count);
        }
    }
}

/* It looked at the rows before the others had their turn. */
static void filler_turn_by_memory(Player *player)
{
    fill(player, ty_slab_column(ty_shm_slab(player->shm), 0, TY_COLUMN_ACTION));
    assert_true(ty_shm_submit(player->shm, 0, NULL));
    assert_int_equal(ty_shm_wait(player->shm, 0, WAIT_MS), TY_SHM_READY);
    player->ignored += ty_shm_news(player->shm, 0).ignored;
    filler_look(player);
}

static void players_sit(const BenchDaemon *daemon, Player players[3], bool shm)
{
    const TyClientOpen open = {.ruleset = "convoi:board=tiny,players=3",
                               .slots = SLOTS,
                               .seats = {"me", "open", "open"},
                               .max_steps = 60,
                               .illegal = "random_legal"};
    for (uint32_t i = 0; i < 3; i++) {
        const TyClientConfig where = {.endpoint = daemon->ipc};
        players[i] = (Player){.chosen = 0};
        assert_int_equal(ty_client_connect(&where, &players[i].client).code, TY_OK);
    }
    TyStatus status = ty_client_open_pool(players[0].client, &open, &players[0].pool);
    assert_string_equal(status.message, "");
    for (uint32_t i = 1; i < 3; i++) {
        const uint8_t seat = (uint8_t)i;
        const TyClientJoin join = {.pool = players[0].pool.id,
                                   .invite = players[0].pool.invite,
                                   .seats = &seat,
                                   .seat_count = 1,
                                   .shm = shm && i == 1};
        status = ty_client_join(players[i].client, &join, &players[i].pool);
        assert_string_equal(status.message, "");
    }
    if (shm) {
        status = ty_client_attach(players[1].client, &players[1].pool, &players[1].shm);
        assert_string_equal(status.message, "");
    }
}

/* Three members, of which the second fills in actions for rows that it was never shown. No decision
 * is taken that nobody chose. */
static void check_fillers(bool shm)
{
    BenchDaemon daemon;
    Player players[3];
    TyClientStats stats;
    daemon_start(&daemon, NULL);
    players_sit(&daemon, players, shm);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        honest_turn(&players[0]);
        honest_turn(&players[2]);
        if (shm) {
            filler_turn_by_memory(&players[1]);
        } else {
            filler_turn_by_messages(&players[1]);
        }
    }
    assert_int_equal(ty_client_stats(players[0].client, &stats).code, TY_OK);
    assert_int_equal(stats.pool_count, 1);
    uint64_t chosen = players[0].chosen + players[1].chosen + players[2].chosen;
    /* What was chosen last was not sent. */
    assert_in_range(chosen - stats.pools[0].decisions, 0, SLOTS);
    assert_true(players[1].chosen > 10 * SLOTS);
    assert_true(players[1].ignored > SLOTS);
    ty_shm_close(players[1].shm);
    for (uint32_t i = 3; i-- > 0;) {
        ty_client_close(players[i].client);
    }
    daemon_stop(&daemon);
}

static void test_fillers_by_messages_decide_nothing(void **unused)
{
    (void)unused;
    check_fillers(false);
}

static void test_fillers_by_shared_memory_decide_nothing(void **unused)
{
    (void)unused;
    check_fillers(true);
}

/* ---- What counts as given ---- */

static void send_actions(Table *table, const char *op, uint32_t pool, const uint32_t *slots,
                         const int32_t *actions, uint32_t count)
{
    begin(op);
    add_uint("pool", pool);
    if (slots != NULL) {
        add_bytes("slots", slots, count * sizeof slots[0]);
    }
    add_bytes("actions", actions, count * sizeof actions[0]);
    send(table, 1);
}

/* The rows of a reset are given by its reply; those of an open are not. */
static void test_rows_of_a_reset_count_as_given(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[4] = {0};
    const uint32_t slots[4] = {3, 0, 1, 2};
    table_open(&table, NULL);
    hello(&table, 1);
    uint32_t pool = open_pool(&table, 1, 4);
    send_actions(&table, "send", pool, slots, actions, 4);
    assert_int_equal(get_uint(good(&table, 1), "accepted"), 0);
    assert_int_equal(get_uint(reply(&table, 1), "ignored"), 4);
    send_actions(&table, "step", pool, NULL, actions, 4);
    assert_int_equal(get_uint(good(&table, 1), "ignored"), 4);
    simple(&table, 1, "reset", pool);
    first_actions(good(&table, 1), actions);
    send_actions(&table, "send", pool, slots, actions, 4);
    assert_int_equal(get_uint(good(&table, 1), "accepted"), 4);
    /* Answered rows are new ones. */
    send_actions(&table, "send", pool, slots, actions, 4);
    assert_int_equal(get_uint(good(&table, 1), "accepted"), 0);
    /* What a step with slots replies is given, and nothing else is. */
    send_actions(&table, "step", pool, slots, actions, 1);
    const uint8_t *map = good(&table, 1);
    assert_int_equal(get_uint(map, "ignored"), 1);
    assert_int_equal(get_uint(map, "count"), 1);
    assert_int_equal(get_uint(map, "ready_count"), 4);
    first_actions(map, actions);
    send_actions(&table, "send", pool, slots, actions, 2);
    map = good(&table, 1);
    assert_int_equal(get_uint(map, "accepted"), 1);
    WireItem errors;
    WireItem code;
    assert_true(get(map, "errors", &errors));
    assert_true(wire_get(errors.bytes, reply_end, "code", &code));
    assert_memory_equal(code.bytes, "not_given", code.size);
    table_close(&table);
}

/* Rows come in the order in which they became ready. */
static void test_rows_come_in_their_order(void **unused)
{
    (void)unused;
    Table table;
    int32_t actions[4] = {0};
    table_open(&table, NULL);
    hello(&table, 1);
    uint32_t pool = open_pool(&table, 1, 4);
    simple(&table, 1, "reset", pool);
    first_actions(good(&table, 1), actions);
    static const uint32_t order[] = {2, 0, 3, 1};
    for (uint32_t i = 0; i < 4; i++) {
        send_actions(&table, "send", pool, &order[i], &actions[order[i]], 1);
        assert_int_equal(get_uint(good(&table, 1), "accepted"), 1);
    }
    simple(&table, 1, "recv", pool);
    assert_memory_equal(get_run(good(&table, 1), "slots").bytes, order, sizeof order);
    table_close(&table);
}

/* ---- What it costs ---- */

static uint64_t rows_looked_at(const Table *table)
{
    WorkerStats stats;
    worker_stats(table->dispatch->rooms[0].worker, &stats);
    return stats.looks;
}

/* Rows that are looked at to send one action and receive one row, 100 times. */
static uint64_t cost_of_a_row(uint32_t slots)
{
    Table table;
    table_open(&table, NULL);
    hello(&table, 1);
    uint32_t pool = open_pool(&table, 1, slots);
    begin("recv");
    add_uint("pool", pool);
    add_uint("max_rows", 1);
    send(&table, 1);
    uint64_t before = rows_looked_at(&table);
    for (uint32_t i = 0; i < 100; i++) {
        int32_t action = 0;
        uint32_t slot;
        const uint8_t *map = good(&table, 1);
        assert_int_equal(first_actions(map, &action), 1);
        memcpy(&slot, get_run(map, "slots").bytes, sizeof slot);
        send_actions(&table, "send", pool, &slot, &action, 1);
        assert_int_equal(get_uint(good(&table, 1), "accepted"), 1);
        begin("recv");
        add_uint("pool", pool);
        add_uint("max_rows", 1);
        send(&table, 1);
    }
    uint64_t cost = rows_looked_at(&table) - before;
    table_close(&table);
    return cost;
}

static void test_a_row_costs_the_same_in_a_large_pool(void **unused)
{
    (void)unused;
    uint64_t small = cost_of_a_row(10);
    assert_true(small >= 200);
    assert_true(small < 1000);
    assert_int_equal(cost_of_a_row(20000), small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fillers_by_messages_decide_nothing),
        cmocka_unit_test(test_fillers_by_shared_memory_decide_nothing),
        cmocka_unit_test(test_rows_of_a_reset_count_as_given),
        cmocka_unit_test(test_rows_come_in_their_order),
        cmocka_unit_test(test_a_row_costs_the_same_in_a_large_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
