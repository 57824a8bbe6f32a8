/* libFuzzer: dispatch without sockets and threads, fed with conversations.
 *
 * The input is a list of events: a byte that says what happens (a message of one of three peers, a
 * disconnect, time passing), and for a message a length and its bytes. Three sessions and a pool
 * are there at the beginning: peer 2 directs it, peer 3 plays in it. Every message gets exactly one
 * reply, at the latest when the pools are closed. At the end the peers that have changed
 * something go, and nothing of it may be left: peer 1 alone, or all. What was gone is made again.
 */
#include "daemon/dispatch_internal.h"
#include "tests/daemon/dispatch_table.h"
#include "tests/fuzz/fuzz_options.h"
#include "tests/proto/wire_samples.h"

#include <stdio.h>

int LLVMFuzzerInitialize(int *argument_count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 3, RULESETS_KEPT = 64 };

#define RULESET "convoi:board=tiny"

static Table table;

/* ---- Rulesets ---- */

/* Built-in rulesets are opened once (see tests/CMakeLists.txt): they never change, and opening them
 * again for every input would take most of the time. Those with files from the peer are not kept.
 */
static struct {
    char spec[TY_SPEC_MAX];
    TyRuleset *ruleset;
} rulesets[RULESETS_KEPT];
static uint32_t ruleset_count;

TyStatus __real_ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset);
void __real_ty_ruleset_close(TyRuleset *ruleset);
TyStatus __wrap_ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset);
void __wrap_ty_ruleset_close(TyRuleset *ruleset);

TyStatus __wrap_ty_ruleset_open(const char *spec, const TyFiles *files, TyRuleset **ruleset)
{
    for (uint32_t i = 0; i < ruleset_count; i++) {
        if (strcmp(rulesets[i].spec, spec) == 0) {
            *ruleset = rulesets[i].ruleset;
            return (TyStatus){.code = TY_OK};
        }
    }
    return __real_ty_ruleset_open(spec, files, ruleset);
}

void __wrap_ty_ruleset_close(TyRuleset *ruleset)
{
    for (uint32_t i = 0; i < ruleset_count; i++) {
        if (ruleset == rulesets[i].ruleset) {
            return;
        }
    }
    __real_ty_ruleset_close(ruleset);
}

static void ruleset_keep(const char *spec)
{
    TyRuleset *ruleset = NULL;
    if (__real_ty_ruleset_open(spec, NULL, &ruleset).code != TY_OK) {
        abort();
    }
    snprintf(rulesets[ruleset_count].spec, TY_SPEC_MAX, "%s", spec);
    rulesets[ruleset_count++].ruleset = ruleset;
}

/* ---- The scene ---- */

static void say(uint64_t peer, Writer *writer)
{
    message_end(writer);
    table_receive(&table, peer, writer->data, writer->size, false);
}

static void begin(Writer *writer, uint8_t *bytes, const char *op, uint64_t id)
{
    message_begin(writer, bytes, SAMPLE_MAX);
    message_key(writer, "op");
    put_text(writer, op);
    message_key(writer, "id");
    put_uint(writer, id);
}

static void pool_set_up(void)
{
    uint8_t bytes[SAMPLE_MAX];
    Writer writer;
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
    say(2, &writer);
    WireItem invite;
    WireItem pool;
    const Buffer *reply = table.replies[table.reply_count - 1].buffer;
    if (!wire_get(reply->data, reply->data + reply->size, "invite", &invite) ||
        !wire_get(reply->data, reply->data + reply->size, "pool", &pool)) {
        abort();
    }
    begin(&writer, bytes, "join", 1);
    message_key(&writer, "pool");
    put_uint(&writer, pool.number);
    message_key(&writer, "invite");
    put_text_run(&writer, (const char *)invite.bytes, invite.size);
    say(3, &writer);
    table_forget(&table);
}

/* What a session remembers of its requests, as it was when the scene was set. */
static Session books[PEERS];
static uint64_t random_then;

static void books_save(void)
{
    random_then = table.random;
    for (uint32_t i = 0; i < PEERS; i++) {
        Session *session = session_find(table.dispatch, i + 1);
        session_forget(table.dispatch, session, UINT64_MAX);
        books[i] = *session;
    }
}

/* Numbers begin again (a pool that could not be opened has one), and notices are told again. */
static void books_restore(void)
{
    table.random = random_then;
    table.dispatch->room_serial = 1;
    for (uint32_t i = 0; i < PEERS; i++) {
        Session *session = session_find(table.dispatch, i + 1);
        session_forget(table.dispatch, session, UINT64_MAX);
        session->last_id = books[i].last_id;
        session->notice_count = books[i].notice_count;
        memcpy(session->notices, books[i].notices, sizeof session->notices);
    }
}

static void session_set_up(uint64_t peer)
{
    Session *session = NULL;
    if (session_begin(table.dispatch, peer, "", &session).code != TY_OK) {
        abort();
    }
}

static void scene_set_up(void)
{
    table.now_ms = 1000;
    table.random = 1;
    /* Pools have the same numbers in every input. */
    table.dispatch->room_serial = 0;
    for (uint64_t peer = 1; peer <= PEERS; peer++) {
        session_set_up(peer);
    }
    pool_set_up();
    books_save();
}

/* Everybody goes; nothing may be left. */
static void scene_end(void)
{
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
}

/* Peer 1 goes, and comes again as it was. */
static void loner_renew(void)
{
    session_end(table.dispatch, session_find(table.dispatch, 1), "fuzzed");
    dispatch_collect(table.dispatch, table.now_ms);
    table.random = 1;
    session_set_up(1);
    books[0].id = session_find(table.dispatch, 1)->id;
}

/* The scene is as it was set. */
static void scene_check(void)
{
    const Dispatch *dispatch = table.dispatch;
    if (table.frames_out != 0 || dispatch_session_count(dispatch) != PEERS ||
        dispatch_pool_count(dispatch) != 1 || dispatch->jobs_out != 0) {
        abort();
    }
    for (uint32_t i = 0; i < PEERS; i++) {
        const Session *session = session_find(dispatch, i + 1);
        if (session->id.serial != books[i].id.serial ||
            session->pool_count != books[i].pool_count || session->pending_count != 0 ||
            !session->connected || session->dropped) {
            abort();
        }
    }
}

int LLVMFuzzerInitialize(int *argument_count, char ***arguments)
{
    (void)argument_count;
    (void)arguments;
    Limits limits = limits_standard();
    limits.slots = 16;
    limits.threads = 1;
    limits.snapshots = 64;
    limits.rollout_copies = 4;
    limits.memory_bytes = 4 << 20;
    limits.pools = 4;
    limits.board_bytes = 4096;
    table_open(&table, &limits);
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        ruleset_keep(ty_game_name(ty_game_at(i)));
    }
    ruleset_keep(RULESET);
    scene_set_up();
    return 0;
}

/* ---- An input ---- */

static void check_replies(void)
{
    for (uint32_t i = 0; i < table.reply_count; i++) {
        const Buffer *reply = table.replies[i].buffer;
        if (wire_check(reply->data, reply->size, 1 << 20, NULL) != WIRE_OK) {
            abort();
        }
    }
    table_forget(&table);
}

/* How much of the scene an input may have changed. */
typedef enum Reach { REACH_NOTHING, REACH_LONER, REACH_ALL } Reach;

/* What an input has done. */
typedef struct Talk {
    uint32_t messages;
    bool all_stay; /* nobody has gone, no time has passed */
    Reach reach;
} Talk;

/* Closes the pools that may have changed, so that waiting requests are answered. The scene's is the
 * first. */
static void close_pools(Reach reach)
{
    Dispatch *dispatch = table.dispatch;
    for (uint32_t i = reach == REACH_ALL ? 0 : 1; i < dispatch->config.limits.pools; i++) {
        if (dispatch->rooms[i].id != 0 && !dispatch->rooms[i].closing) {
            room_close(dispatch, &dispatch->rooms[i], NULL);
        }
    }
    dispatch_collect(dispatch, table.now_ms);
}

/* What a message that was not refused may have changed. */
static Reach message_reach(uint64_t peer, const uint8_t *bytes, size_t size)
{
    static Request request;
    WireError error;
    if (!wire_decode(bytes, size, (uint32_t)table.dispatch->config.limits.message_elements,
                     &request, &error)) {
        return REACH_NOTHING;
    }
    switch ((int)request.op) {
    case OP_PING:
    case OP_STATS:
    case OP_HEALTH:
    case OP_SESSIONS:
    case OP_DESCRIBE:
    case OP_RULES:
    case OP_OBSERVE:
    case OP_LEGAL:
    case OP_TEXT:
    case OP_EVENTS:
    case OP_SVG:
    case OP_STATE:
        return REACH_NOTHING;
    case OP_HELLO:
    case OP_JOIN:
        return REACH_ALL;
    default:
        return peer == 1 ? REACH_LONER : REACH_ALL;
    }
}

static void message_play(uint64_t peer, const uint8_t *bytes, size_t size, Talk *talk)
{
    uint64_t refused = table.dispatch->refused;
    table_receive(&table, peer, bytes, size, false);
    talk->messages++;
    if (talk->reach != REACH_ALL && table.dispatch->refused == refused) {
        Reach reach = message_reach(peer, bytes, size);
        talk->reach = reach > talk->reach ? reach : talk->reach;
    }
}

/* One event; returns its size. */
static size_t event_play(const uint8_t *data, size_t size, Talk *talk)
{
    uint8_t what = data[0];
    uint64_t peer = 1 + what % (PEERS + 1);
    size_t length = data[1];
    if (what < 245) {
        length = length < size - 2 ? length : size - 2;
        message_play(peer, data + 2, length, talk);
        return 2 + length;
    }
    if (what >= 250) {
        table.now_ms += (uint64_t)length * 10;
        dispatch_tick(table.dispatch, table.now_ms);
    } else {
        dispatch_disconnected(table.dispatch, peer, table.now_ms);
    }
    talk->all_stay = false;
    talk->reach = REACH_ALL;
    return 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Talk talk = {.all_stay = true};
    table.sent = 0;
    table.pushed = 0;
    for (size_t at = 0; at + 2 <= size;) {
        at += event_play(data + at, size - at, &talk);
        check_replies();
    }
    denied_serve(table.dispatch, true); /* refusals that take their time come now */
    if (talk.reach > REACH_NOTHING) {
        close_pools(talk.reach);
    }
    check_replies();
    if (talk.all_stay && table.sent - table.pushed != talk.messages) {
        abort();
    }
    if (talk.reach == REACH_ALL) {
        scene_end();
        scene_set_up();
        return 0;
    }
    if (talk.reach == REACH_LONER) {
        loner_renew();
    }
    scene_check();
    books_restore();
    return 0;
}
