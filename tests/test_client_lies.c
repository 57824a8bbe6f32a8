/* Clients whose daemon lies, is silent or goes away, and whose system refuses: an error with a
 * sentence, and nothing is believed that does not fit. */
#define _GNU_SOURCE
#include <zmq.h>

#define FAULT_MORE_CALLS(X)                                                                        \
    X(void *, zmq_ctx_new, NULL, (void), ())                                                       \
    X(void *, zmq_socket, NULL, (void *context, int type), (context, type))                        \
    X(int, zmq_connect, -1, (void *socket, const char *name), (socket, name))                      \
    X(int, zmq_socket_monitor, -1, (void *socket, const char *name, int events),                   \
      (socket, name, events))                                                                      \
    X(int, zmq_msg_init_size, -1, (zmq_msg_t * message, size_t size), (message, size))             \
    X(int, zmq_msg_send, -1, (zmq_msg_t * message, void *socket, int flags),                       \
      (message, socket, flags))                                                                    \
    X(int, zmq_msg_recv, -1, (zmq_msg_t * message, void *socket, int flags),                       \
      (message, socket, flags))                                                                    \
    X(int, zmq_send, -1, (void *socket, const void *bytes, size_t size, int flags),                \
      (socket, bytes, size, flags))                                                                \
    X(int, zmq_poll, -1, (zmq_pollitem_t * items, int count, long timeout),                        \
      (items, count, timeout))                                                                     \
    X(int, zmq_curve_keypair, -1, (char *public_key, char *secret_key), (public_key, secret_key))

#include "faults.h"
#include "lying_daemon.h"

enum { SHORT_MS = 400, WAIT_MS = 20000 };

/* Two rows in one group. */
static const TyClientPool two_rows = {
    .id = 1, .groups = 1, .group = {{0, 2}}, .row_size = 3, .action_count = 2, .shm = false};
static const int32_t two_actions[2] = {0, 1};

static TyClient *client_of(const Liar *liar, uint32_t timeout_ms)
{
    TyClient *client = NULL;
    const TyClientConfig config = {.endpoint = liar->endpoint, .timeout_ms = timeout_ms};
    TyStatus status = ty_client_connect(&config, &client);
    if (status.code != TY_OK) {
        fail_msg("%s", status.message);
    }
    return client;
}

static void assert_fails(TyStatus status, TyCode code, const char *word)
{
    assert_int_equal(status.code, code);
    if (strstr(status.message, word) == NULL) {
        fail_msg("%s", status.message);
    }
}

/* ---- Connecting ---- */

static void test_an_error_at_any_call_of_connecting_is_clean(void **unused)
{
    (void)unused;
    Liar liar = {.twice = true};
    uint32_t refused = 0;
    bool reached = true;
    liar_start(&liar);
    for (uint32_t nth = 1; reached; nth++) {
        TyClient *client = NULL;
        const TyClientConfig config = {.endpoint = liar.endpoint, .timeout_ms = WAIT_MS};
        fault_set(FAULT_ANY, nth, EFAULT);
        TyStatus status = ty_client_connect(&config, &client);
        reached = fault_was(FAULT_ANY);
        fault_clear();
        assert_int_equal(client == NULL, status.code != TY_OK);
        assert_int_equal(status.message[0] == '\0', status.code == TY_OK);
        refused += status.code != TY_OK;
        ty_client_close(client);
    }
    assert_true(refused >= 8);
    liar_stop(&liar);
}

static void test_a_silent_place_is_no_daemon(void **unused)
{
    (void)unused;
    Liar liar = {.hellos = {say_nothing}};
    TyClient *client = NULL;
    TyClientConfig config = {.endpoint = liar.endpoint, .timeout_ms = SHORT_MS};
    liar_start(&liar);
    assert_fails(ty_client_connect(&config, &client), TY_IO, "no daemon answers");
    liar_stop(&liar);
    config.endpoint = "nonsense://here";
    assert_fails(ty_client_connect(&config, &client), TY_IO, "nonsense");
    config.timeout_ms = 1;
    config.endpoint = NULL; /* the standard one, which depends on the environment */
    static const char *const places[] = {"/nonexistent", "relative"};
    for (uint32_t i = 0; i < 2; i++) {
        setenv("XDG_RUNTIME_DIR", places[i], 1);
        TyStatus status = ty_client_connect(&config, &client);
        assert_true(i == 1 || status.code == TY_IO); /* a daemon may run in /tmp */
        ty_client_close(client);
        client = NULL;
    }
    unsetenv("XDG_RUNTIME_DIR");
}

static bool refuse_hello(Writer *writer, uint64_t id)
{
    return say_error(writer, id, "limit", "no more clients");
}

static void test_a_refused_hello_is_an_error(void **unused)
{
    (void)unused;
    Liar liar = {.hellos = {refuse_hello}};
    TyClient *client = NULL;
    const TyClientConfig config = {.endpoint = liar.endpoint, .timeout_ms = WAIT_MS};
    liar_start(&liar);
    assert_fails(ty_client_connect(&config, &client), TY_LIMIT, "no more clients");
    assert_null(client);
    liar_stop(&liar);
}

static void test_keys_are_checked(void **unused)
{
    (void)unused;
    char public_key[TY_CLIENT_KEY_SIZE];
    char secret_key[TY_CLIENT_KEY_SIZE];
    TyClient *client = NULL;
    assert_int_equal(ty_client_keygen(public_key, secret_key).code, TY_OK);
    fault_set(FAULT_zmq_curve_keypair, 1, ENOTSUP);
    assert_fails(ty_client_keygen(public_key, secret_key), TY_IO, "CURVE");
    fault_clear();
    const TyClientConfig wrong[] = {
        {.server_key = public_key, .secret_key = secret_key},
        {.server_key = public_key, .public_key = public_key},
        {.server_key = "x", .public_key = public_key, .secret_key = secret_key},
        {.server_key = public_key, .public_key = "x", .secret_key = secret_key},
        {.server_key = public_key, .public_key = public_key, .secret_key = "x"},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(ty_client_connect(&wrong[i], &client), i < 2 ? TY_BAD_ARGUMENT : TY_IO, "key");
        assert_null(client);
    }
}

/* ---- Requests ---- */

static void test_requests_under_way_are_bounded(void **unused)
{
    (void)unused;
    Liar liar = {0};
    TyClientPool pool;
    TyClientRows rows;
    const uint8_t *reply = NULL;
    size_t size = 0;
    liar_start(&liar);
    TyClient *client = client_of(&liar, SHORT_MS);
    while (ty_client_submit(client, &two_rows, 0, two_actions).code == TY_OK) {
    }
    assert_int_equal(ty_client_traffic(client).requests, 64);
    const char *word = "64 requests";
    assert_fails(ty_client_submit(client, &two_rows, 0, two_actions), TY_LIMIT, word);
    assert_fails(ty_client_step(client, &two_rows, 0, two_actions, &rows), TY_LIMIT, word);
    assert_fails(ty_client_send(client, &two_rows, NULL, two_actions, 2), TY_LIMIT, word);
    assert_fails(ty_client_recv(client, &two_rows, 1, 1, &rows), TY_LIMIT, word);
    assert_fails(ty_client_reset(client, &two_rows, &rows), TY_LIMIT, word);
    assert_fails(ty_client_leave(client, &two_rows), TY_LIMIT, word);
    assert_fails(ty_client_open_pool(client, &(TyClientOpen){.slots = 1}, &pool), TY_LIMIT, word);
    assert_fails(ty_client_join(client, 1, "x", NULL, 0, false, &pool), TY_LIMIT, word);
    assert_fails(ty_client_ask(client, "ping", NULL, 0, &reply, &size), TY_LIMIT, word);
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_requests_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    static char longer[4000];
    Liar liar = {.answers = {say_ok}};
    TyClientPool pool;
    TyClientRows rows;
    TyShmClient *shm = NULL;
    const uint8_t *reply = NULL;
    size_t size = 0;
    uint32_t group = 0;
    memset(longer, 'x', sizeof longer - 1);
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_fails(ty_client_open_pool(client, &(TyClientOpen){.ruleset = longer}, &pool), TY_LIMIT,
                 "larger");
    assert_fails(ty_client_step(client, &two_rows, 1, two_actions, &rows), TY_BAD_ARGUMENT,
                 "group 1");
    assert_fails(ty_client_submit(client, &two_rows, 1, two_actions), TY_BAD_ARGUMENT, "group 1");
    assert_fails(ty_client_wait(client, &two_rows, &group, &rows), TY_BAD_ARGUMENT, "no group");
    assert_fails(ty_client_attach(client, &two_rows, &shm), TY_BAD_ARGUMENT, "without shm");
    assert_fails(ty_client_ask(client, "x", (const uint8_t *)"\x01", 1, &reply, &size),
                 TY_BAD_ARGUMENT, "map");
    assert_int_equal(ty_client_traffic(client).requests, 0);
    /* A long name of an operation has its room, with fields behind it. */
    longer[300] = '\0';
    assert_int_equal(
        ty_client_ask(client, longer, (const uint8_t *)"\x81\xa1x\x01", 4, &reply, &size).code,
        TY_OK);
    ty_client_close(client);
    liar_stop(&liar);
}

/* A request that could not be sent is not under way: it is not repeated later. */
static void test_a_request_that_cannot_be_sent_is_forgotten(void **unused)
{
    (void)unused;
    static const FaultCall calls[] = {FAULT_zmq_msg_init_size, FAULT_zmq_msg_send};
    Liar liar = {0};
    TyClientRows rows;
    uint32_t group = 0;
    liar_start(&liar);
    TyClient *client = client_of(&liar, SHORT_MS);
    for (uint32_t i = 0; i < 2; i++) {
        fault_set(calls[i], 1, ENOMEM);
        assert_fails(ty_client_submit(client, &two_rows, 0, two_actions), TY_IO, "");
        fault_clear();
        assert_fails(ty_client_wait(client, &two_rows, &group, &rows), TY_BAD_ARGUMENT, "no group");
    }
    fault_set(FAULT_zmq_msg_init_size, 2, ENOMEM); /* when it is cut to its length */
    assert_fails(ty_client_leave(client, &two_rows), TY_LIMIT, "larger");
    fault_clear();
    ty_client_close(client);
    liar_stop(&liar);
}

/* ---- Waiting ---- */

static void test_a_daemon_that_does_not_answer_is_not_waited_for(void **unused)
{
    (void)unused;
    Liar liar = {.twice = true};
    TyClientRows rows;
    uint32_t group = 0;
    liar_start(&liar);
    TyClient *client = client_of(&liar, SHORT_MS);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "did not answer within 400 ms");
    assert_fails(ty_client_wait(client, &two_rows, &group, &rows), TY_IO, "did not answer");
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_errors_of_waiting_are_told(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_ok, say_ok, say_ok}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    fault_set(FAULT_zmq_poll, 1, EINTR);
    assert_int_equal(ty_client_leave(client, &two_rows).code, TY_OK); /* an interruption is none */
    fault_set(FAULT_zmq_poll, 1, EFAULT);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "poll");
    fault_set(FAULT_zmq_msg_recv, 1, EFAULT);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "receive");
    fault_clear();
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_replies_to_other_requests_are_passed_over(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_ok, say_ok, say_ok}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_int_equal(ty_client_submit(client, &two_rows, 0, two_actions).code, TY_OK);
    assert_int_equal(ty_client_submit(client, &two_rows, 0, two_actions).code, TY_OK);
    assert_int_equal(ty_client_leave(client, &two_rows).code, TY_OK);
    assert_int_equal(ty_client_traffic(client).replies, 4); /* with that to the hello */
    ty_client_close(client);
    liar_stop(&liar);
}

/* ---- Sessions ---- */

static bool lose_session(Writer *writer, uint64_t id)
{
    return say_error(writer, id, "no_session", "say hello first");
}

static void test_a_lost_session_is_taken_up_again(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {lose_session, say_ok}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_int_equal(ty_client_leave(client, &two_rows).code, TY_OK);
    assert_int_equal(ty_client_traffic(client).requests, 2); /* it was repeated */
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_a_session_that_cannot_be_taken_up_is_an_error(void **unused)
{
    (void)unused;
    Liar liar = {.hellos = {NULL, refuse_hello}, .answers = {lose_session, lose_session}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_fails(ty_client_leave(client, &two_rows), TY_LIMIT, "no more clients");
    fault_set(FAULT_zmq_send, 1, EFAULT);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "hello");
    fault_clear();
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_what_cannot_be_repeated_is_an_error(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {lose_session}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    fault_set(FAULT_zmq_msg_send, 2, EFAULT);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "send");
    fault_clear();
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_a_connection_that_breaks_is_mended(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {NULL, say_ok}, .drops_at = 1};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_int_equal(ty_client_leave(client, &two_rows).code, TY_OK);
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_a_connection_that_cannot_be_mended_is_an_error(void **unused)
{
    (void)unused;
    Liar liar = {.hellos = {NULL, refuse_hello}, .drops_at = 1};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_fails(ty_client_leave(client, &two_rows), TY_LIMIT, "no more clients");
    ty_client_close(client);
    liar_stop(&liar);
}

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
    assert_fails(status_of(say_error_without_code), TY_IO, "refusal");
    assert_fails(status_of(say_error_without_message), TY_IO, "refusal");
    assert_fails(status_of(say_error_as_number), TY_IO, "refusal");
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
} pool_lie;

static const struct PoolLie pool_truth = {.groups = 2, .rows = 1, .seats = 1, .token_size = 16};

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
    message_key(writer, "ruleset");
    put_uint(writer, 3); /* is no text: then there is none */
    message_key(writer, "member");
    put_text(writer, "zero"); /* is no number: then it is 0 */
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
    const TyClientOpen open = {.ruleset = "convoi", .seats = {"me", "me", "me", "me", "open"}};
    pool_lie = lie;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    TyStatus status = ty_client_open_pool(client, &open, pool);
    TyClientPool joined;
    assert_int_equal(ty_client_join(client, 1, "x", NULL, 0, true, &joined).code, status.code);
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
    assert_int_equal(pool.member, 0);
    assert_string_equal(pool.ruleset, "");
    assert_true(pool.shm);
    struct PoolLie lies[10];
    for (uint32_t i = 0; i < 10; i++) {
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
    for (uint32_t i = 0; i < 10; i++) {
        assert_fails(open_with(lies[i], &pool), TY_IO, "cannot be read");
    }
    struct PoolLie other = pool_truth;
    other.token_size = 15;
    assert_int_equal(open_with(other, &pool).code, TY_OK);
    assert_false(pool.shm);
}

/* ---- Rows ---- */

static const char *const row_columns[] = {"obs",       "mask",    "seat",    "ready", "terminated",
                                          "truncated", "illegal", "episode", "step",  "slots"};
static const uint32_t row_sizes[] = {6, 4, 2, 2, 2, 2, 2, 8, 8, 8};

enum { ROW_COLUMNS = sizeof row_sizes / sizeof row_sizes[0] };

/* What a reply with rows says; a test changes one thing of it. */
static struct RowLie {
    uint32_t count;
    uint32_t slot;   /* of the first row */
    uint32_t column; /* whose size is `size` */
    uint32_t size;
    bool refused;
} row_lie;

static bool say_rows(Writer *writer, uint64_t id)
{
    uint8_t bytes[16] = {0};
    say_begin(writer, id);
    message_key(writer, "count");
    put_uint(writer, row_lie.count);
    message_key(writer, "ready_count");
    put_uint(writer, 1);
    message_key(writer, "a key that is longer than any that is known");
    put_uint(writer, 1);
    if (row_lie.refused) {
        message_key(writer, "errors");
        put_list(writer, 1);
        put_uint(writer, 1);
    }
    for (uint32_t i = 0; i < ROW_COLUMNS; i++) {
        memset(bytes, 0, sizeof bytes);
        bytes[1] = i == 1 || i == 3; /* the mask, and that the second row is ready */
        bytes[3] = i == 1;
        memcpy(bytes, &row_lie.slot, i == ROW_COLUMNS - 1 ? 4 : 0);
        message_key(writer, row_columns[i]);
        put_bytes(writer, bytes, i == row_lie.column ? row_lie.size : row_sizes[i]);
    }
    return message_end(writer);
}

static const struct RowLie row_truth = {.count = 2, .column = UINT32_MAX};

static TyStatus rows_with(struct RowLie lie)
{
    Liar liar = {.answers = {say_rows}};
    TyClientRows rows;
    row_lie = lie;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    TyStatus status = ty_client_recv(client, &two_rows, 1, 1, &rows);
    ty_client_close(client);
    liar_stop(&liar);
    return status;
}

static void test_rows_are_read(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_rows, say_rows}};
    TyClientRows rows;
    uint32_t group = 9;
    int32_t actions[2] = {7, 7};
    row_lie = row_truth;
    row_lie.refused = true;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_int_equal(ty_client_submit(client, &two_rows, 0, two_actions).code, TY_OK);
    assert_int_equal(ty_client_wait(client, &two_rows, &group, &rows).code, TY_OK);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.refused, 1);
    ty_client_sample(&two_rows, 0, &rows, 1, actions);
    assert_int_equal(actions[0], 0); /* it is not ready */
    assert_int_equal(actions[1], 1); /* the only one that is legal */
    assert_int_equal(ty_client_step(client, &two_rows, 0, two_actions, &rows).code, TY_OK);
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_rows_that_do_not_fit_are_not_believed(void **unused)
{
    (void)unused;
    struct RowLie lie;
    assert_int_equal(rows_with(row_truth).code, TY_OK);
    for (uint32_t i = 0; i < ROW_COLUMNS; i++) {
        lie = row_truth;
        lie.column = i;
        lie.size = row_sizes[i] - 1;
        assert_fails(rows_with(lie), TY_IO, "make no sense");
    }
    lie = row_truth;
    lie.count = 1000000;
    assert_fails(rows_with(lie), TY_IO, "make no sense");
    lie = row_truth;
    lie.slot = 2;
    assert_fails(rows_with(lie), TY_IO, "make no sense");
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
    assert_int_equal(ty_client_recv(client, &two_rows, 1, 1, &rows).code, TY_OK);
    row_lie.column = ROW_COLUMNS - 1;
    row_lie.size = 11;
    assert_fails(ty_client_recv(client, &two_rows, 1, 1, &rows), TY_IO, "make no sense");
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
    assert_fails(ty_client_recv(client, &two_rows, 1, 1, &rows), TY_NO_MEMORY, "slots");
    fault_clear();
    ty_client_close(client);
    liar_stop(&liar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_at_any_call_of_connecting_is_clean),
        cmocka_unit_test(test_a_silent_place_is_no_daemon),
        cmocka_unit_test(test_a_refused_hello_is_an_error),
        cmocka_unit_test(test_keys_are_checked),
        cmocka_unit_test(test_requests_under_way_are_bounded),
        cmocka_unit_test(test_requests_that_cannot_be_are_refused),
        cmocka_unit_test(test_a_request_that_cannot_be_sent_is_forgotten),
        cmocka_unit_test(test_a_daemon_that_does_not_answer_is_not_waited_for),
        cmocka_unit_test(test_errors_of_waiting_are_told),
        cmocka_unit_test(test_replies_to_other_requests_are_passed_over),
        cmocka_unit_test(test_a_lost_session_is_taken_up_again),
        cmocka_unit_test(test_a_session_that_cannot_be_taken_up_is_an_error),
        cmocka_unit_test(test_what_cannot_be_repeated_is_an_error),
        cmocka_unit_test(test_a_connection_that_breaks_is_mended),
        cmocka_unit_test(test_a_connection_that_cannot_be_mended_is_an_error),
        cmocka_unit_test(test_refusals_become_statuses),
        cmocka_unit_test(test_replies_that_cannot_be_read_are_errors),
        cmocka_unit_test(test_pools_that_make_no_sense_are_not_believed),
        cmocka_unit_test(test_rows_are_read),
        cmocka_unit_test(test_rows_that_do_not_fit_are_not_believed),
        cmocka_unit_test(test_slots_that_are_no_whole_number_are_not_believed),
        cmocka_unit_test(test_no_memory_for_slots_is_an_error),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
