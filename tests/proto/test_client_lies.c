/* Clients whose daemon lies: an error with a sentence, and nothing is believed that does not fit.
 */
#define _GNU_SOURCE
#include "tests/proto/client_of_liar.h"

/* ---- Refusals ---- */

static const char *refusal_code;
static const char *refusal_message;

static bool say_refusal(Writer *writer, uint64_t id)
{
    return say_error(writer, id, refusal_code, refusal_message);
}

/* What the client makes of one reply to one request. */
static TyStatus status_of(Answer answer)
{
    Liar liar = {.answers = {answer}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    TyStatus status = ty_client_leave(client, &two_rows);
    ty_client_close(client);
    liar_stop(&liar);
    return status;
}

static void test_refusals_become_statuses(void **unused)
{
    (void)unused;
    static const struct {
        const char *code;
        TyCode expected;
    } cases[] = {{"bad_config", TY_BAD_CONFIG},
                 {"limit", TY_LIMIT},
                 {"no_memory", TY_NO_MEMORY},
                 {"illegal_action", TY_ILLEGAL},
                 {"something_new_that_has_a_name_longer_than_forty_letters", TY_BAD_ARGUMENT}};
    static char longer[400];
    memset(longer, 'x', sizeof longer - 1);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refusal_code = cases[i].code;
        refusal_message = i == 4 ? longer : "a sentence";
        assert_fails(status_of(say_refusal), cases[i].expected, i == 4 ? "xxx" : "a sentence");
    }
}

/* Every code of the protocol's list is told as one of its own. */
static void test_refusals_are_told_by_code(void **unused)
{
    (void)unused;
    uint64_t told = 0;
    for (uint32_t i = 0; i <= ERROR_COUNT; i++) {
        Liar liar = {.answers = {say_refusal, say_ok}};
        refusal_code = i < ERROR_COUNT ? protocol_errors[i].name : "something_new";
        refusal_message = "a sentence";
        liar_start(&liar);
        TyClient *client = client_of(&liar, WAIT_MS);
        TyStatus status = ty_client_leave(client, &two_rows);
        TyClientError error = ty_client_error(client);
        if (i == ERROR_no_session) { /* for which the client says hello, and asks again */
            assert_int_equal(status.code, TY_OK);
            error = TY_ERROR_NO_SESSION;
        } else {
            assert_int_not_equal(status.code, TY_OK);
            assert_int_equal(ty_client_leave(client, &two_rows).code, TY_OK);
        }
        assert_int_equal(ty_client_error(client), TY_ERROR_NONE);
        assert_int_equal(error == TY_ERROR_OTHER, i == ERROR_COUNT);
        assert_in_range(error, TY_ERROR_NONE + 1, TY_ERROR_OTHER);
        told |= UINT64_C(1) << error;
        ty_client_close(client);
        liar_stop(&liar);
    }
    assert_int_equal(__builtin_popcountll(told), ERROR_COUNT + 1);
}

static bool say_garbage(Writer *writer, uint64_t id)
{
    (void)id;
    writer->data[0] = 0xc1;
    writer->size = 1;
    return true;
}

static bool say_error_without_code(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    message_key(writer, "error");
    put_map(writer, 1);
    put_key_text(writer, "message", "x");
    return message_end(writer);
}

static bool say_error_without_message(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    message_key(writer, "error");
    put_map(writer, 1);
    put_key_text(writer, "code", "limit");
    return message_end(writer);
}

static bool say_error_as_number(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    message_key(writer, "error");
    put_uint(writer, 7);
    return message_end(writer);
}

static void test_replies_that_cannot_be_read_are_errors(void **unused)
{
    (void)unused;
    assert_fails(status_of(say_garbage), TY_IO, "not MessagePack");
    assert_fails(status_of(say_error_without_code), TY_IO,
                 "leave: the daemon's reply makes no sense");
    assert_fails(status_of(say_error_without_message), TY_IO,
                 "leave: the daemon's reply makes no sense");
    assert_fails(status_of(say_error_as_number), TY_IO, "leave: the daemon's reply makes no sense");
}

/* ---- Pools ---- */

/* What a reply to `open` says; a test changes one thing of it. */
static struct PoolLie {
    uint32_t groups; /* in the list */
    uint64_t first;
    uint64_t rows;
    bool no_first;
    bool no_rows;
    bool no_list;
    uint8_t seat;
    uint32_t seats;
    uint32_t token_size;
    uint32_t width; /* of the column obs */
    uint32_t one;   /* width of the column ready */
    const char *column;
} pool_lie;

static const struct PoolLie pool_truth = {.groups = 2,
                                          .rows = 1,
                                          .seats = 1,
                                          .token_size = 16,
                                          .width = 3,
                                          .one = 1,
                                          .column = "one that is not known"};

static void say_columns(Writer *writer)
{
    message_key(writer, "columns");
    put_list(writer, 3);
    put_map(writer, 2);
    put_key_text(writer, "name", "obs");
    put_key_uint(writer, "width", pool_lie.width);
    put_map(writer, 2);
    put_key_text(writer, "name", "ready");
    put_key_uint(writer, "width", pool_lie.one);
    put_map(writer, 2);
    put_key_text(writer, "name", pool_lie.column);
    put_key_uint(writer, "width", 7);
}

static void say_group(Writer *writer, uint32_t index)
{
    put_map(writer, 2u - pool_lie.no_first - pool_lie.no_rows);
    if (!pool_lie.no_first) {
        put_key_uint(writer, "first", pool_lie.first + index);
    }
    if (!pool_lie.no_rows) {
        put_key_uint(writer, "rows", pool_lie.rows);
    }
}

static bool say_pool(Writer *writer, uint64_t id)
{
    uint8_t bytes[32] = {0};
    say_begin(writer, id);
    message_key(writer, "pool");
    put_uint(writer, 5);
    message_key(writer, "row_size");
    put_uint(writer, 3);
    say_columns(writer);
    message_key(writer, "shm_token");
    put_bytes(writer, bytes, pool_lie.token_size);
    memset(bytes, pool_lie.seat, sizeof bytes);
    message_key(writer, "own_seats");
    put_bytes(writer, bytes, pool_lie.seats);
    if (pool_lie.no_list) {
        return message_end(writer);
    }
    message_key(writer, "groups");
    if (pool_lie.groups == UINT32_MAX) {
        put_uint(writer, 1);
        return message_end(writer);
    }
    put_list(writer, pool_lie.groups);
    for (uint32_t i = 0; i < pool_lie.groups; i++) {
        say_group(writer, i);
    }
    return message_end(writer);
}

static TyStatus open_with(struct PoolLie lie, TyClientPool *pool)
{
    Liar liar = {.answers = {say_pool, say_pool}};
    const TyClientOpen open = {
        .ruleset = "convoi", .slots = 2, .groups = 2, .seats = {"me", "me", "me", "me", "open"}};
    pool_lie = lie;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    TyStatus status = ty_client_open_pool(client, &open, pool);
    TyClientPool joined;
    assert_int_equal(ty_client_join(client, &(TyClientJoin){.pool = 1}, &joined).code, status.code);
    ty_client_close(client);
    liar_stop(&liar);
    return status;
}

static void test_pools_that_make_no_sense_are_not_believed(void **unused)
{
    (void)unused;
    TyClientPool pool;
    assert_int_equal(open_with(pool_truth, &pool).code, TY_OK);
    assert_int_equal(pool.id, 5);
    assert_int_equal(pool.groups, 2);
    assert_int_equal(pool.slots, 2);
    assert_int_equal(pool.width[TY_COLUMN_OBS], 3);
    assert_true(pool.shm);
    enum { LIES = 12 };
    struct PoolLie lies[LIES];
    for (uint32_t i = 0; i < LIES; i++) {
        lies[i] = pool_truth;
    }
    lies[0].groups = 0;
    lies[1].groups = TY_GROUPS_MAX + 1;
    lies[2].groups = UINT32_MAX;
    lies[3].no_list = true;
    lies[4].no_first = true;
    lies[5].no_rows = true;
    lies[6].first = UINT32_MAX;
    lies[7].rows = TY_SLOTS_MAX + 1;
    lies[8].seats = TY_SEATS_MAX + 1;
    lies[9].seat = TY_SEATS_MAX;
    lies[10].width = 4;
    lies[11].one = 2;
    for (uint32_t i = 0; i < LIES; i++) {
        assert_fails(open_with(lies[i], &pool), TY_IO, "open: the daemon's reply makes no sense");
    }
    struct PoolLie other = pool_truth;
    other.token_size = 15;
    assert_int_equal(open_with(other, &pool).code, TY_OK);
    assert_false(pool.shm);
}

/* Arrays of the caller are as long as the pool that it asked for: it gets no other. */
static void test_a_pool_of_another_size_is_not_believed(void **unused)
{
    (void)unused;
    static const TyClientOpen asked[] = {
        {.slots = 3, .groups = 2}, {.slots = 2}, {.slots = 1, .groups = 2}};
    TyClientPool pool;
    Liar liar = {.answers = {say_pool, say_pool, say_pool}};
    pool_lie = pool_truth;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    for (uint32_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        assert_fails(ty_client_open_pool(client, &asked[i], &pool), TY_IO, "makes no sense");
    }
    ty_client_close(client);
    liar_stop(&liar);
}

/* ---- Rows ---- */

static const char *const row_columns[] = {"obs",     "mask",    "earned",     "seat",
                                          "ready",   "metrics", "terminated", "truncated",
                                          "illegal", "episode", "step",       "slots"};
static const uint32_t row_sizes[] = {6, 4, 16, 2, 2, 12, 2, 2, 2, 8, 8, 8};

/* Positions in these lists. */
enum { ROW_MASK = 1, ROW_READY = 4 };

enum { ROW_COLUMNS = sizeof row_sizes / sizeof row_sizes[0] };

/* What a reply with rows says; a test changes one thing of it. */
static struct RowLie {
    uint32_t count;
    uint32_t slot;   /* of the first row */
    uint32_t column; /* whose size is `size` */
    uint32_t size;
    uint32_t ended;      /* the row whose episode ended */
    uint32_t ended_size; /* bytes of the list of endings */
    uint32_t group;
    bool no_group;
    bool no_slots;
    bool refused;
} row_lie;

/* The second refusal is none. */
static void say_refused(Writer *writer)
{
    if (row_lie.refused) {
        message_key(writer, "errors");
        put_list(writer, 2);
        put_map(writer, 4);
        put_key_uint(writer, "row", 1);
        put_key_uint(writer, "slot", 0);
        put_key_text(writer, "code", "illegal_action");
        put_key_text(writer, "message", "not legal");
        put_uint(writer, 1);
    }
}

static bool say_rows(Writer *writer, uint64_t id)
{
    uint8_t bytes[16] = {0};
    say_begin(writer, id);
    message_key(writer, "count");
    put_uint(writer, row_lie.count);
    message_key(writer, "ready_count");
    put_uint(writer, 1);
    if (!row_lie.no_group) {
        message_key(writer, "group");
        put_uint(writer, row_lie.group);
    }
    message_key(writer, "ended");
    memcpy(bytes, &row_lie.ended, sizeof row_lie.ended);
    put_bytes(writer, bytes, row_lie.ended_size);
    message_key(writer, "a key that is longer than any that is known");
    put_uint(writer, 1);
    say_refused(writer);
    for (uint32_t i = 0; i < (uint32_t)ROW_COLUMNS - row_lie.no_slots; i++) {
        memset(bytes, 0, sizeof bytes);
        bytes[1] = i == ROW_MASK || i == ROW_READY; /* the second row is ready */
        bytes[3] = i == ROW_MASK;
        memcpy(bytes, &row_lie.slot, i == ROW_COLUMNS - 1 ? 4 : 0);
        message_key(writer, row_columns[i]);
        put_bytes(writer, bytes, i == row_lie.column ? row_lie.size : row_sizes[i]);
    }
    return message_end(writer);
}

static const struct RowLie row_truth = {
    .count = 2, .column = UINT32_MAX, .ended = 1, .ended_size = 4};

static TyStatus rows_with(struct RowLie lie)
{
    Liar liar = {.answers = {say_rows}};
    TyClientRows rows;
    row_lie = lie;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    TyStatus status = ty_client_recv(client, &two_rows, &soon, &rows);
    ty_client_close(client);
    liar_stop(&liar);
    return status;
}

static void test_rows_are_read(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_rows, say_rows}};
    TyClientRows rows;
    TyClientRefusal refusal;
    int32_t actions[2] = {7, 7};
    row_lie = row_truth;
    row_lie.refused = true;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_false(ty_client_refusal(client, 0, &refusal));
    assert_int_equal(ty_client_submit(client, &two_rows, 0, two_actions).code, TY_OK);
    assert_int_equal(ty_client_wait(client, &two_rows, &rows).code, TY_OK);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.group, 0);
    assert_int_equal(rows.ended_count, 1);
    assert_int_equal(rows.ended[0], 1);
    assert_int_equal(rows.refused, 2);
    assert_true(ty_client_refusal(client, 0, &refusal));
    assert_int_equal(refusal.row, 1);
    assert_int_equal(refusal.error, TY_ERROR_ILLEGAL_ACTION);
    assert_string_equal(refusal.message, "not legal");
    assert_false(ty_client_refusal(client, 1, &refusal)); /* is no map */
    assert_false(ty_client_refusal(client, 2, &refusal));
    assert_true(ty_client_sample(&two_rows, &rows, 1, actions));
    assert_int_equal(actions[0], 0); /* it is not ready */
    assert_int_equal(actions[1], 1); /* the only one that is legal */
    assert_int_equal(ty_client_step(client, &two_rows, 0, two_actions, &rows).code, TY_OK);
    ty_client_close(client);
    liar_stop(&liar);
}

/* Without the columns that it needs, sampling says so. */
static void test_rows_without_columns_are_not_sampled(void **unused)
{
    (void)unused;
    static const uint8_t bytes[8];
    static const TyColumn needed[] = {TY_COLUMN_MASK, TY_COLUMN_READY, TY_COLUMN_EPISODE,
                                      TY_COLUMN_STEP};
    int32_t actions[2] = {7, 7};
    for (uint32_t i = 0; i < 4; i++) {
        TyClientRows rows = {.count = 2, .group = -1};
        for (uint32_t k = 0; k < 4; k++) {
            rows.column[needed[k]] = k != i ? bytes : NULL;
        }
        assert_false(ty_client_sample(&two_rows, &rows, 1, actions));
        assert_int_equal(actions[0], 7);
    }
}

static void test_rows_that_do_not_fit_are_not_believed(void **unused)
{
    (void)unused;
    assert_int_equal(rows_with(row_truth).code, TY_OK);
    for (uint32_t i = 0; i < ROW_COLUMNS; i++) {
        struct RowLie lie = row_truth;
        lie.column = i;
        lie.size = row_sizes[i] - 1;
        assert_fails(rows_with(lie), TY_IO, "makes no sense");
        lie.size = 0; /* as if it were not there */
        assert_fails(rows_with(lie), TY_IO, "makes no sense");
    }
    enum { LIES = 7 };
    struct RowLie lies[LIES];
    for (uint32_t i = 0; i < LIES; i++) {
        lies[i] = row_truth;
    }
    lies[0].count = 1000000;
    lies[1].slot = 2;
    lies[2].ended = 2;
    lies[3].ended_size = 3;
    lies[4].ended_size = 0; /* but there are metrics of one */
    lies[5].group = 1;
    lies[6].count = 1;
    for (uint32_t i = 0; i < LIES; i++) {
        assert_fails(rows_with(lies[i]), TY_IO, "recv: the daemon's reply makes no sense");
    }
}

/* Rows of one group where another was stepped, which may be longer than the caller's arrays. */
static void test_rows_of_another_group_are_not_believed(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_rows, say_rows, say_rows}};
    TyClientPool pool = two_rows;
    TyClientRows rows;
    pool.slots = 4;
    pool.groups = 2;
    pool.group[1].first = 2;
    pool.group[1].rows = 2;
    row_lie = row_truth;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_int_equal(ty_client_step(client, &pool, 0, two_actions, &rows).code, TY_OK);
    assert_fails(ty_client_step(client, &pool, 1, two_actions, &rows), TY_IO, "makes no sense");
    row_lie.no_group = row_lie.no_slots = true; /* as if they were the whole pool's */
    assert_fails(ty_client_reset(client, &pool, NULL, NULL, &rows), TY_IO, "makes no sense");
    ty_client_close(client);
    liar_stop(&liar);
}

/* More bytes than whole slots, into memory for just those: nothing is written behind it. */
static void test_slots_that_are_no_whole_number_are_not_believed(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_rows, say_rows}};
    TyClientRows rows;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    row_lie = row_truth;
    assert_int_equal(ty_client_recv(client, &two_rows, &soon, &rows).code, TY_OK);
    row_lie.column = ROW_COLUMNS - 1;
    row_lie.size = 11;
    assert_fails(ty_client_recv(client, &two_rows, &soon, &rows), TY_IO, "makes no sense");
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_no_memory_for_slots_is_an_error(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_rows}};
    TyClientRows rows;
    row_lie = row_truth;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    fault_set(FAULT_realloc, 1, ENOMEM);
    assert_fails(ty_client_recv(client, &two_rows, &soon, &rows), TY_NO_MEMORY, "no memory");
    fault_clear();
    ty_client_close(client);
    liar_stop(&liar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals_become_statuses),
        cmocka_unit_test(test_refusals_are_told_by_code),
        cmocka_unit_test(test_replies_that_cannot_be_read_are_errors),
        cmocka_unit_test(test_pools_that_make_no_sense_are_not_believed),
        cmocka_unit_test(test_a_pool_of_another_size_is_not_believed),
        cmocka_unit_test(test_rows_are_read),
        cmocka_unit_test(test_rows_without_columns_are_not_sampled),
        cmocka_unit_test(test_rows_of_another_group_are_not_believed),
        cmocka_unit_test(test_rows_that_do_not_fit_are_not_believed),
        cmocka_unit_test(test_slots_that_are_no_whole_number_are_not_believed),
        cmocka_unit_test(test_no_memory_for_slots_is_an_error),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
