/* libFuzzer: dispatch without sockets and threads, fed with conversations.
 *
 * The input is a list of events: a byte that says what happens (a message of one of three peers, a
 * disconnect, time passing), and for a message a length and its bytes. Three sessions and two pools
 * are there at the beginning. After every message there is exactly one reply, or the request waits.
 */
#include "daemon/dispatch_internal.h"
#include "dispatch_table.h"
#include "wire_samples.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 3 };

static void say(Table *table, uint64_t peer, Writer *writer)
{
    message_end(writer);
    table_receive(table, peer, writer->data, writer->size, false);
}

static void begin(Writer *writer, uint8_t *bytes, const char *op, uint64_t id)
{
    message_begin(writer, bytes, SAMPLE_MAX);
    message_key(writer, "op");
    put_text(writer, op);
    message_key(writer, "id");
    put_uint(writer, id);
}

/* The dispatch stays from one input to the next; its sessions and pools do not. */
static void open_table(Table *table)
{
    Limits limits = limits_standard();
    limits.slots = 16;
    limits.threads = 1;
    limits.snapshots = 64;
    limits.rollout_copies = 4;
    limits.memory_bytes = 4 << 20;
    limits.pools = 4;
    limits.board_bytes = 4096;
    table_open(table, &limits);
}

static void set_up(Table *table)
{
    uint8_t bytes[SAMPLE_MAX];
    Writer writer;
    if (table->dispatch == NULL) {
        open_table(table);
    }
    /* The pools have the numbers 1 and 6 in every input. */
    table->dispatch->pool_serial = 0;
    for (uint64_t peer = 1; peer <= PEERS; peer++) {
        begin(&writer, bytes, "hello", 1);
        message_key(&writer, "protocol");
        put_uint(&writer, PROTOCOL_VERSION);
        say(table, peer, &writer);
    }
    for (uint32_t i = 0; i < 2; i++) {
        begin(&writer, bytes, "open", 1);
        message_key(&writer, "ruleset");
        put_text(&writer, "convoi:board=tiny");
        message_key(&writer, "slots");
        put_uint(&writer, 4);
        message_key(&writer, "seats");
        put_list(&writer, 2);
        put_text(&writer, "me");
        put_text(&writer, i == 0 ? "me" : "open");
        message_key(&writer, "seat_timeout_ms");
        put_uint(&writer, 500);
        say(table, i + 1, &writer);
    }
    WireItem invite;
    WireItem pool;
    const Buffer *reply = table->replies[table->reply_count - 1].buffer;
    if (!wire_get(reply->data, reply->data + reply->size, "invite", &invite) ||
        !wire_get(reply->data, reply->data + reply->size, "pool", &pool)) {
        abort();
    }
    begin(&writer, bytes, "join", 1);
    message_key(&writer, "pool");
    put_uint(&writer, pool.number);
    message_key(&writer, "invite");
    put_text_run(&writer, (const char *)invite.bytes, invite.size);
    say(table, 3, &writer);
    table_forget(table);
}

static void check_replies(Table *table, uint32_t before)
{
    /* One reply to the request, and perhaps others for whom it made rows ready. */
    for (uint32_t i = before; i < table->reply_count; i++) {
        const Buffer *reply = table->replies[i].buffer;
        if (wire_check(reply->data, reply->size, 1 << 20, NULL) != WIRE_OK) {
            abort();
        }
    }
    table_forget(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Table table;
    set_up(&table);
    for (size_t at = 0; at + 2 <= size;) {
        uint8_t what = data[at];
        uint64_t peer = 1 + what % (PEERS + 1);
        size_t length = data[at + 1];
        at += 2;
        if (what >= 250) {
            table.now_ms += (uint64_t)length * 10;
            dispatch_tick(table.dispatch, table.now_ms);
        } else if (what >= 245) {
            dispatch_disconnected(table.dispatch, peer, table.now_ms);
        } else {
            length = length < size - at ? length : size - at;
            table_receive(&table, peer, data + at, length, false);
            at += length;
        }
        check_replies(&table, 0);
    }
    /* Everybody goes; nothing may be left. */
    for (uint64_t peer = 1; peer <= PEERS + 1; peer++) {
        dispatch_disconnected(table.dispatch, peer, table.now_ms);
    }
    table.now_ms += 1000000;
    dispatch_tick(table.dispatch, table.now_ms);
    table_forget(&table);
    if (table.frames_out != 0 || dispatch_session_count(table.dispatch) != 0 ||
        dispatch_pool_count(table.dispatch) != 0) {
        abort();
    }
    return 0;
}
