/* Clients whose daemon is silent or goes away, and whose system refuses: an error with a sentence.
 */
#define _GNU_SOURCE
#include "tests/proto/client_of_liar.h"

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
    TyClientStats stats;
    liar_start(&liar);
    TyClient *client = client_of(&liar, SHORT_MS);
    while (ty_client_submit(client, &two_rows, 0, two_actions).code == TY_OK) {
    }
    assert_int_equal(ty_client_traffic(client).requests, 64);
    const char *word = "64 requests";
    assert_fails(ty_client_submit(client, &two_rows, 0, two_actions), TY_LIMIT, word);
    assert_fails(ty_client_step(client, &two_rows, 0, two_actions, &rows), TY_LIMIT, word);
    assert_fails(ty_client_send(client, &two_rows, NULL, two_actions, 2, NULL), TY_LIMIT, word);
    assert_fails(ty_client_recv(client, &two_rows, &soon, &rows), TY_LIMIT, word);
    assert_fails(ty_client_reset(client, &two_rows, NULL, NULL, &rows), TY_LIMIT, word);
    assert_fails(ty_client_leave(client, &two_rows), TY_LIMIT, word);
    assert_fails(ty_client_open_pool(client, &(TyClientOpen){.slots = 1}, &pool), TY_LIMIT, word);
    assert_fails(ty_client_join(client, &(TyClientJoin){.pool = 1}, &pool), TY_LIMIT, word);
    assert_fails(ty_client_ping(client), TY_LIMIT, word);
    assert_fails(ty_client_stats(client, &stats), TY_LIMIT, word);
    assert_int_equal(ty_client_error(client), TY_ERROR_NONE); /* it was not the daemon */
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_requests_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    Liar liar = {0};
    TyClientRows rows;
    TyShmClient *shm = NULL;
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    assert_fails(ty_client_step(client, &two_rows, 1, two_actions, &rows), TY_BAD_ARGUMENT,
                 "group 1");
    assert_fails(ty_client_submit(client, &two_rows, 1, two_actions), TY_BAD_ARGUMENT, "group 1");
    assert_fails(ty_client_wait(client, &two_rows, &rows), TY_BAD_ARGUMENT, "no group");
    assert_fails(ty_client_attach(client, &two_rows, &shm), TY_BAD_ARGUMENT, "without shm");
    assert_int_equal(ty_client_traffic(client).requests, 0);
    /* A step of another pool is not what this one waits for. */
    TyClientPool other = two_rows;
    other.id = 2;
    assert_int_equal(ty_client_submit(client, &other, 0, two_actions).code, TY_OK);
    assert_fails(ty_client_wait(client, &two_rows, &rows), TY_BAD_ARGUMENT, "no group of pool 1");
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
    liar_start(&liar);
    TyClient *client = client_of(&liar, SHORT_MS);
    for (uint32_t i = 0; i < 2; i++) {
        fault_set(calls[i], 1, ENOMEM);
        assert_fails(ty_client_submit(client, &two_rows, 0, two_actions), TY_IO, "");
        fault_clear();
        assert_fails(ty_client_wait(client, &two_rows, &rows), TY_BAD_ARGUMENT, "no group");
    }
    ty_client_close(client);
    liar_stop(&liar);
}

/* ---- Waiting ---- */

static void test_a_daemon_that_does_not_answer_is_not_waited_for(void **unused)
{
    (void)unused;
    Liar liar = {.twice = true};
    TyClientRows rows;
    liar_start(&liar);
    TyClient *client = client_of(&liar, SHORT_MS);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "did not answer within 400 ms");
    assert_int_equal(ty_client_submit(client, &two_rows, 0, two_actions).code, TY_OK);
    assert_fails(ty_client_wait(client, &two_rows, &rows), TY_IO, "did not answer");
    /* The time that the daemon is asked to wait comes on top. */
    const TyClientWait longer = {.timeout_ms = 2 * SHORT_MS};
    assert_fails(ty_client_recv(client, &two_rows, &longer, &rows), TY_IO, "within 1200 ms");
    ty_client_close(client);
    liar_stop(&liar);
}

static void test_errors_of_waiting_are_told(void **unused)
{
    (void)unused;
    Liar liar = {.answers = {say_ok, say_nothing, say_ok}};
    liar_start(&liar);
    TyClient *client = client_of(&liar, WAIT_MS);
    fault_set(FAULT_poll, 1, EINTR);
    assert_int_equal(ty_client_leave(client, &two_rows).code, TY_OK); /* an interruption is none */
    fault_set(FAULT_poll, 1, EFAULT);
    assert_fails(ty_client_leave(client, &two_rows), TY_IO, "receive");
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
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
