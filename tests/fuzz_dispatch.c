/* libFuzzer: dispatch without sockets and threads, fed with conversations.
 *
 * The input is a list of events: a byte that says what happens (a message of one of three peers, a
 * disconnect, time passing), and for a message a length and its bytes. Three sessions and a pool
 * are there at the beginning: peer 2 directs it, peer 3 plays in it. Every message gets exactly one
 * reply, at the latest when the pools are closed. */
#include "daemon/dispatch_internal.h"
#include "dispatch_table.h"
#include "wire_samples.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 3 };

#define RULESET "convoi:board=tiny"

/* The ruleset of the set-up is opened once (see tests/CMakeLists.txt): rulesets never change, and
 * opening them again for every input would take most of the time. */
static TyRuleset *shared_ruleset;

TyStatus __real_ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset);
void __real_ty_ruleset_close(TyRuleset *ruleset);
TyStatus __wrap_ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset);
void __wrap_ty_ruleset_close(TyRuleset *ruleset);

TyStatus __wrap_ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset)
{
    if (strcmp(spec, RULESET) != 0) {
        return __real_ty_ruleset_open(spec, files, ruleset);
    }
    TyStatus status = {.code = TY_OK};
    if (shared_ruleset == NULL) {
        status = __real_ty_ruleset_open(spec, NULL, &shared_ruleset);
    }
    *ruleset = shared_ruleset;
    return status;
}

void __wrap_ty_ruleset_close(TyRuleset *ruleset)
{
    if (ruleset != shared_ruleset) {
        __real_ty_ruleset_close(ruleset);
    }
}

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
    /* Pools have the same numbers in every input. */
    table->dispatch->pool_serial = 0;
    for (uint64_t peer = 1; peer <= PEERS; peer++) {
        if (session_begin(table->dispatch, peer) == NULL) {
            abort();
        }
    }
    begin(&writer, bytes, "open", 1);
    message_key(&writer, "ruleset");
    put_text(&writer, RULESET);
    message_key(&writer, "slots");
    put_uint(&writer, 2);
    message_key(&writer, "seats");
    put_list(&writer, 2);
    put_text(&writer, "me");
    put_text(&writer, "open");
    message_key(&writer, "seat_timeout_ms");
    put_uint(&writer, 500);
    say(table, 2, &writer);
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

static void check_replies(Table *table)
{
    for (uint32_t i = 0; i < table->reply_count; i++) {
        const Buffer *reply = table->replies[i].buffer;
        if (wire_check(reply->data, reply->size, 1 << 20, NULL) != WIRE_OK) {
            abort();
        }
    }
    table_forget(table);
}

/* Closes every pool, so that whoever waits is answered. */
static void close_pools(Table *table)
{
    Dispatch *dispatch = table->dispatch;
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        if (dispatch->pools[i].id != 0 && !dispatch->pools[i].closing) {
            pool_close(dispatch, &dispatch->pools[i], NULL);
        }
    }
    dispatch_collect(dispatch, table->now_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Table table;
    uint32_t messages = 0;
    bool all_stay = true; /* until somebody goes, or time passes */
    set_up(&table);
    table.sent = 0;
    for (size_t at = 0; at + 2 <= size;) {
        uint8_t what = data[at];
        uint64_t peer = 1 + what % (PEERS + 1);
        size_t length = data[at + 1];
        at += 2;
        if (what >= 250) {
            table.now_ms += (uint64_t)length * 10;
            dispatch_tick(table.dispatch, table.now_ms);
            all_stay = false;
        } else if (what >= 245) {
            dispatch_disconnected(table.dispatch, peer, table.now_ms);
            all_stay = false;
        } else {
            length = length < size - at ? length : size - at;
            table_receive(&table, peer, data + at, length, false);
            messages++;
            at += length;
        }
        check_replies(&table);
    }
    close_pools(&table);
    if (all_stay && table.sent != messages) {
        abort();
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
