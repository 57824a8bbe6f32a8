/* Peers that repeat a request while it waits, and peers that are gone when they are answered. */
#include "tests/daemon/talk.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PEER = 1, SLOTS = 16 };

static Talk talk;

/* In some of its slots it is the turn of a seat that nobody has taken. */
static uint32_t pool_begin(void)
{
    WireItem item;
    table_open(&talk.table, NULL);
    talk_hello(&talk, PEER);
    talk_begin(&talk, "open");
    talk_text(&talk, "ruleset", "convoi:board=tiny");
    talk_uint(&talk, "slots", SLOTS);
    message_key(&talk.writer, "seats");
    put_list(&talk.writer, 2);
    put_text(&talk.writer, "open");
    put_text(&talk.writer, "me");
    talk_say(&talk, PEER);
    assert_true(talk_is_good(&talk) && talk_get(&talk, "pool", &item));
    table_forget(&talk.table);
    return (uint32_t)item.number;
}

/* Every copy of a request gets the one answer, whenever that comes. */
static void test_a_request_repeated_while_it_waits_is_answered_as_often(void **unused)
{
    (void)unused;
    uint32_t pool = pool_begin();
    talk_begin(&talk, "recv");
    talk_uint(&talk, "pool", pool);
    talk_uint(&talk, "min_rows", SLOTS);
    talk_uint(&talk, "timeout_ms", 50);
    for (uint32_t i = 0; i < 3; i++) {
        talk_say(&talk, PEER);
    }
    assert_int_equal(talk.table.reply_count, 0);
    talk.table.now_ms += 100;
    dispatch_tick(talk.table.dispatch, talk.table.now_ms);
    dispatch_collect(talk.table.dispatch, talk.table.now_ms);
    assert_int_equal(talk.table.reply_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_ptr_equal(talk.table.replies[i].buffer, talk.table.replies[0].buffer);
    }
    assert_true(talk_is_good(&talk));
    table_close(&talk.table);
}

/* Nothing more is sent to a peer that ZeroMQ no longer knows, until a client says hello there. */
static void test_a_peer_that_cannot_be_answered_is_left_alone(void **unused)
{
    (void)unused;
    pool_begin();
    talk.table.answer = DISPATCH_GONE;
    talk_begin(&talk, "ping");
    talk_say(&talk, PEER);
    uint32_t sent = talk.table.sent;
    talk_begin(&talk, "ping");
    talk_say(&talk, PEER);
    assert_int_equal(talk.table.sent, sent);
    talk.table.answer = DISPATCH_SENT;
    talk_hello(&talk, PEER);
    assert_int_equal(talk.table.sent, sent + 1);
    assert_true(talk_is_good(&talk));
    table_close(&talk.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_repeated_while_it_waits_is_answered_as_often),
        cmocka_unit_test(test_a_peer_that_cannot_be_answered_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
