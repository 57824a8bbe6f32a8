/* A client of the daemon over ZeroMQ. */
#define _GNU_SOURCE
#include "proto/client.h"
#include "core/bytes.h"
#include "core/status.h"
#include "proto/wire_encode.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum {
    CLIENT_ELEMENTS_MAX = 1 << 22,
    CLIENT_TIMEOUT_MS = 30000,
    CLIENT_POLL_MS = 250,   /* how often a silent connection is looked at */
    CLIENT_PENDING_MAX = 64 /* requests under way */
};

/* A request that is not answered yet, kept so that it can be repeated. */
typedef struct Asked {
    uint64_t id;
    zmq_msg_t message;
} Asked;

struct TyClient {
    void *context;
    void *socket;
    void *monitor;
    uint32_t timeout_ms;
    uint64_t next_id;
    char name[64];
    char access_token[256];
    char session[TY_CLIENT_TOKEN_SIZE];
    char shm_path[256];
    uint32_t asked_count;
    Asked asked[CLIENT_PENDING_MAX];
    zmq_msg_t reply; /* the last one */
    Writer writer;
    uint32_t *slots; /* of the last rows, aligned */
    uint32_t slots_capacity;
    TyClientTraffic traffic;
};

static uint64_t clock_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static TyStatus zmq_failure(const char *what)
{
    return status_fail(TY_IO, "%s: %s", what, zmq_strerror(errno));
}

/* ---- Requests ---- */

static void put_optional_uint(Writer *writer, const char *key, uint64_t value)
{
    if (value != 0) {
        message_key(writer, key);
        put_uint(writer, value);
    }
}

static void put_request_head(Writer *writer, const char *op, uint64_t id)
{
    message_key(writer, "op");
    put_text(writer, op);
    message_key(writer, "id");
    put_uint(writer, id);
}

/* Begins a request of at most `size` bytes in a message of its own. */
static TyStatus request_begin_sized(TyClient *client, const char *op, size_t size)
{
    if (client->asked_count == CLIENT_PENDING_MAX) {
        return status_fail(TY_LIMIT, "%d requests are not answered yet", CLIENT_PENDING_MAX);
    }
    Asked *asked = &client->asked[client->asked_count];
    if (zmq_msg_init_size(&asked->message, size) != 0) {
        return zmq_failure("request");
    }
    asked->id = client->next_id++;
    message_begin(&client->writer, zmq_msg_data(&asked->message), size);
    put_request_head(&client->writer, op, asked->id);
    return status_ok();
}

/* The same with `room` for the fields. */
static TyStatus request_begin(TyClient *client, const char *op, size_t room)
{
    return request_begin_sized(client, op, room + 128);
}

/* Actions for a pool, and the slots that they are for if not all of a group. */
typedef struct BatchFields {
    uint32_t pool;
    uint32_t group;
    uint64_t got; /* 0: not said */
    const uint32_t *slots;
    const int32_t *actions;
    uint32_t count;
} BatchFields;

static void put_batch(Writer *writer, const BatchFields *batch)
{
    put_optional_uint(writer, "pool", batch->pool);
    put_optional_uint(writer, "group", batch->group);
    put_optional_uint(writer, "got", batch->got);
    if (batch->slots != NULL) {
        message_key(writer, "slots");
        put_bytes(writer, batch->slots, (size_t)batch->count * sizeof batch->slots[0]);
    }
    message_key(writer, "actions");
    put_bytes(writer, batch->actions, (size_t)batch->count * sizeof batch->actions[0]);
}

/* Begins and fills a request with actions. It is measured first, so that they are copied once. */
static TyStatus batch_begin(TyClient *client, const char *op, const BatchFields *batch)
{
    uint8_t head[WIRE_HEAD_SIZE];
    Writer measure;
    message_begin(&measure, head, sizeof head);
    put_request_head(&measure, op, client->next_id);
    put_batch(&measure, batch);
    TyStatus status = request_begin_sized(client, op, measure.size);
    if (status.code == TY_OK) {
        put_batch(&client->writer, batch);
    }
    return status;
}

/* The replies that the daemon need not keep: all before the oldest that is still wanted. */
static uint64_t replies_got(const TyClient *client)
{
    uint64_t oldest = client->next_id;
    for (uint32_t i = 0; i < client->asked_count; i++) {
        oldest = client->asked[i].id < oldest ? client->asked[i].id : oldest;
    }
    return oldest - 1;
}

/* Sends a copy by reference, so that the message is still there if it has to be repeated. */
static bool asked_send(TyClient *client, Asked *asked)
{
    zmq_msg_t copy;
    zmq_msg_init(&copy);
    zmq_msg_copy(&copy, &asked->message);
    client->traffic.requests++;
    client->traffic.request_bytes += zmq_msg_size(&copy);
    if (zmq_msg_send(&copy, client->socket, 0) < 0) {
        zmq_msg_close(&copy);
        return false;
    }
    return true;
}

/* Makes a message as long as what was written into it. False if there is no memory. */
static bool asked_trim(Asked *asked, size_t size)
{
    zmq_msg_t exact;
    if (zmq_msg_size(&asked->message) == size) {
        return true;
    }
    if (zmq_msg_init_size(&exact, size) != 0) {
        return false;
    }
    memcpy(zmq_msg_data(&exact), zmq_msg_data(&asked->message), size);
    zmq_msg_move(&asked->message, &exact);
    zmq_msg_close(&exact);
    return true;
}

static TyStatus request_end(TyClient *client)
{
    Asked *asked = &client->asked[client->asked_count];
    bool fits = message_end(&client->writer);
    if (!fits || !asked_trim(asked, client->writer.size)) {
        zmq_msg_close(&asked->message);
        return status_fail(TY_LIMIT, "the request is larger than planned");
    }
    if (!asked_send(client, asked)) {
        TyStatus status = zmq_failure("send");
        zmq_msg_close(&asked->message);
        return status;
    }
    client->asked_count++;
    return status_ok();
}

static void asked_remove(TyClient *client, uint32_t index)
{
    Asked *last = &client->asked[--client->asked_count];
    if (&client->asked[index] != last) {
        client->asked[index].id = last->id;
        zmq_msg_move(&client->asked[index].message, &last->message);
    }
    zmq_msg_close(&last->message);
}

static void asked_forget(TyClient *client)
{
    while (client->asked_count > 0) {
        asked_remove(client, client->asked_count - 1);
    }
}

/* ---- Replies ---- */

static const uint8_t *reply_data(TyClient *client)
{
    return zmq_msg_data(&client->reply);
}

static const uint8_t *reply_end(TyClient *client)
{
    return reply_data(client) + zmq_msg_size(&client->reply);
}

static bool reply_get(TyClient *client, const char *key, WireItem *item)
{
    return wire_get(reply_data(client), reply_end(client), key, item);
}

static uint64_t reply_number(TyClient *client, const char *key)
{
    WireItem item;
    return reply_get(client, key, &item) && item.kind == WIRE_UINT ? item.number : 0;
}

static void reply_copy(TyClient *client, const char *key, char *out, size_t size)
{
    WireItem item;
    bool there = reply_get(client, key, &item) && item.kind == WIRE_TEXT;
    snprintf(out, size, "%.*s", there ? (int)item.size : 0, there ? (const char *)item.bytes : "");
}

/* The code of the library that fits an error code of the protocol. */
static TyCode code_of(const WireItem *name)
{
    static const struct {
        ErrorCode error;
        TyCode code;
    } codes[] = {
        {ERROR_bad_config, TY_BAD_CONFIG},
        {ERROR_bad_file, TY_BAD_FILE},
        {ERROR_limit, TY_LIMIT},
        {ERROR_busy, TY_LIMIT},
        {ERROR_no_memory, TY_NO_MEMORY},
        {ERROR_io, TY_IO},
        {ERROR_closed, TY_IO},
        {ERROR_illegal_action, TY_ILLEGAL},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        const char *word = protocol_errors[codes[i].error].name;
        if (strlen(word) == name->size && memcmp(word, name->bytes, name->size) == 0) {
            return codes[i].code;
        }
    }
    return TY_BAD_ARGUMENT;
}

/* The error of the last reply, as a status. */
static TyStatus reply_status(TyClient *client)
{
    WireItem error;
    WireItem code;
    WireItem text;
    if (!reply_get(client, "error", &error)) {
        return status_ok();
    }
    const uint8_t *end = reply_end(client);
    /* `bytes` is behind the head of the map, which for so few entries is one byte. */
    if (!wire_get(error.bytes - 1, end, "code", &code) ||
        !wire_get(error.bytes - 1, end, "message", &text)) {
        return status_fail(TY_IO, "the daemon's refusal cannot be read");
    }
    return status_fail(code_of(&code), "%.*s: %.*s", (int)(code.size < 40 ? code.size : 40),
                       (const char *)code.bytes, (int)(text.size < 250 ? text.size : 250),
                       (const char *)text.bytes);
}

static bool error_is(TyClient *client, ErrorCode code)
{
    TyStatus status = reply_status(client);
    size_t length = strlen(protocol_errors[code].name);
    return status.code != TY_OK && strncmp(status.message, protocol_errors[code].name, length) == 0;
}

/* Takes the next reply, whatever it is, within `timeout_ms`. */
static TyStatus reply_receive(TyClient *client, int timeout_ms, bool *got)
{
    zmq_pollitem_t item = {.socket = client->socket, .events = ZMQ_POLLIN};
    *got = false;
    if (zmq_poll(&item, 1, timeout_ms) < 0) {
        return errno == EINTR ? status_ok() : zmq_failure("poll");
    }
    if (item.revents == 0) {
        return status_ok();
    }
    if (zmq_msg_recv(&client->reply, client->socket, 0) < 0) {
        return zmq_failure("receive");
    }
    if (wire_check(reply_data(client), zmq_msg_size(&client->reply), CLIENT_ELEMENTS_MAX, NULL) !=
        WIRE_OK) {
        return status_fail(TY_IO, "the daemon's reply is not MessagePack");
    }
    client->traffic.replies++;
    client->traffic.reply_bytes += zmq_msg_size(&client->reply);
    *got = true;
    return status_ok();
}

/* ---- Sessions ---- */

static TyStatus hello_send(TyClient *client)
{
    uint8_t bytes[1024];
    Writer writer;
    message_begin(&writer, bytes, sizeof bytes);
    message_key(&writer, "op");
    put_text(&writer, "hello");
    message_key(&writer, "id");
    put_uint(&writer, client->next_id++);
    message_key(&writer, "protocol");
    put_uint(&writer, PROTOCOL_VERSION);
    if (client->session[0] != '\0') {
        message_key(&writer, "session");
        put_text(&writer, client->session);
    }
    if (client->access_token[0] != '\0') {
        message_key(&writer, "access");
        put_text(&writer, client->access_token);
    }
    message_key(&writer, "name");
    put_text(&writer, client->name);
    bool fits = message_end(&writer);
    assert(fits);
    (void)fits;
    return zmq_send(client->socket, bytes, writer.size, 0) < 0 ? zmq_failure("hello") : status_ok();
}

/* Says hello and waits for the answer to it; other replies that come first are too late. */
static TyStatus session_begin(TyClient *client)
{
    uint64_t end = clock_ms() + client->timeout_ms;
    uint64_t id = client->next_id;
    TyStatus status = hello_send(client);
    for (bool got = false; status.code == TY_OK;) {
        uint64_t now = clock_ms();
        if (now >= end) {
            return status_fail(TY_IO, "no daemon answers there");
        }
        status = reply_receive(client, (int)(end - now), &got);
        if (status.code == TY_OK && got && reply_number(client, "id") == id) {
            break;
        }
    }
    if (status.code == TY_OK) {
        status = reply_status(client);
    }
    if (status.code == TY_OK) {
        reply_copy(client, "session", client->session, sizeof client->session);
        reply_copy(client, "shm", client->shm_path, sizeof client->shm_path);
    }
    return status;
}

/* The connection is new: takes the session up and repeats what was not answered. */
static TyStatus session_resume(TyClient *client)
{
    TyStatus status = session_begin(client);
    for (uint32_t i = 0; status.code == TY_OK && i < client->asked_count; i++) {
        status = asked_send(client, &client->asked[i]) ? status : zmq_failure("send");
    }
    return status;
}

/* True if the connection was lost since the last look. */
static bool was_disconnected(TyClient *client)
{
    uint8_t event[6];
    bool lost = false;
    while (zmq_recv(client->monitor, event, sizeof event, ZMQ_DONTWAIT) == sizeof event) {
        zmq_recv(client->monitor, NULL, 0, ZMQ_DONTWAIT);
        lost = true;
    }
    return lost;
}

/* Waits for the reply to any request under way; `index` says which of them. */
static TyStatus wait_for_any(TyClient *client, uint32_t *index)
{
    uint64_t end = clock_ms() + client->timeout_ms;
    for (;;) {
        bool got = false;
        if (was_disconnected(client)) {
            TyStatus status = session_resume(client);
            if (status.code != TY_OK) {
                return status;
            }
        }
        TyStatus status = reply_receive(client, CLIENT_POLL_MS, &got);
        if (status.code != TY_OK) {
            return status;
        }
        if (got && error_is(client, ERROR_no_session)) {
            status = session_resume(client);
            if (status.code != TY_OK) {
                return status;
            }
            got = false;
        }
        uint64_t id = got ? reply_number(client, "id") : 0;
        for (uint32_t i = 0; got && i < client->asked_count; i++) {
            if (client->asked[i].id == id) {
                *index = i;
                return status_ok();
            }
        }
        if (clock_ms() >= end) {
            return status_fail(TY_IO, "the daemon did not answer within %u ms", client->timeout_ms);
        }
    }
}

/* Sends the request that was begun and waits for its reply. */
static TyStatus request_finish(TyClient *client)
{
    TyStatus status = request_end(client);
    uint64_t id = client->next_id - 1;
    while (status.code == TY_OK) {
        uint32_t index = 0;
        status = wait_for_any(client, &index);
        if (status.code == TY_OK) {
            bool mine = client->asked[index].id == id;
            asked_remove(client, index);
            if (mine) {
                return reply_status(client);
            }
        }
    }
    return status;
}

/* ---- Connecting ---- */

static bool set_text(void *socket, int option, const char *text)
{
    return zmq_setsockopt(socket, option, text, strlen(text)) == 0;
}

static TyStatus keys_set(TyClient *client, const TyClientConfig *config)
{
    if (config->server_key == NULL) {
        return status_ok();
    }
    if (config->public_key == NULL || config->secret_key == NULL) {
        return status_fail(TY_BAD_ARGUMENT, "a key pair of the client's own is missing");
    }
    if (!set_text(client->socket, ZMQ_CURVE_SERVERKEY, config->server_key) ||
        !set_text(client->socket, ZMQ_CURVE_PUBLICKEY, config->public_key) ||
        !set_text(client->socket, ZMQ_CURVE_SECRETKEY, config->secret_key)) {
        return zmq_failure("CURVE keys");
    }
    return status_ok();
}

static TyStatus socket_open(TyClient *client, const TyClientConfig *config)
{
    char standard[256];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const int zero = 0;
    if (runtime != NULL && runtime[0] == '/') {
        snprintf(standard, sizeof standard, "ipc://%s/trainyard/trainyardd", runtime);
    } else {
        snprintf(standard, sizeof standard, "ipc:///tmp/trainyard-%u/trainyardd",
                 (unsigned)getuid());
    }
    client->context = zmq_ctx_new();
    client->socket = client->context != NULL ? zmq_socket(client->context, ZMQ_DEALER) : NULL;
    client->monitor = client->context != NULL ? zmq_socket(client->context, ZMQ_PAIR) : NULL;
    if (client->socket == NULL || client->monitor == NULL) {
        return zmq_failure("socket");
    }
    zmq_setsockopt(client->socket, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(client->monitor, ZMQ_LINGER, &zero, sizeof zero);
    TyStatus status = keys_set(client, config);
    if (status.code != TY_OK) {
        return status;
    }
    const char *endpoint = config->endpoint != NULL ? config->endpoint : standard;
    if (zmq_socket_monitor(client->socket, "inproc://monitor", ZMQ_EVENT_DISCONNECTED) != 0 ||
        zmq_connect(client->monitor, "inproc://monitor") != 0 ||
        zmq_connect(client->socket, endpoint) != 0) {
        return zmq_failure(endpoint);
    }
    return status_ok();
}

TyStatus ty_client_connect(const TyClientConfig *config, TyClient **out)
{
    *out = NULL;
    TyClient *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return status_fail(TY_NO_MEMORY, "no memory for a client");
    }
    client->next_id = 1;
    client->timeout_ms = config->timeout_ms != 0 ? config->timeout_ms : CLIENT_TIMEOUT_MS;
    zmq_msg_init(&client->reply);
    snprintf(client->name, sizeof client->name, "%s", config->name != NULL ? config->name : "");
    snprintf(client->access_token, sizeof client->access_token, "%s",
             config->access_token != NULL ? config->access_token : "");
    TyStatus status = socket_open(client, config);
    if (status.code == TY_OK) {
        status = session_begin(client);
    }
    if (status.code != TY_OK) {
        ty_client_close(client);
        return status;
    }
    *out = client;
    return status;
}

void ty_client_close(TyClient *client)
{
    if (client == NULL) {
        return;
    }
    asked_forget(client);
    zmq_msg_close(&client->reply);
    if (client->socket != NULL) {
        zmq_socket_monitor(client->socket, NULL, 0);
        zmq_close(client->socket);
    }
    if (client->monitor != NULL) {
        zmq_close(client->monitor);
    }
    if (client->context != NULL) {
        zmq_ctx_term(client->context);
    }
    free(client->slots);
    free(client);
}

const char *ty_client_shm_path(const TyClient *client)
{
    return client->shm_path;
}

/* ---- Pools ---- */

static void put_optional_text(Writer *writer, const char *key, const char *text)
{
    if (text != NULL) {
        message_key(writer, key);
        put_text(writer, text);
    }
}

static void put_optional_flag(Writer *writer, const char *key, bool value)
{
    if (value) {
        message_key(writer, key);
        put_flag(writer, true);
    }
}

static void put_seats(Writer *writer, const char *const seats[TY_SEATS_MAX])
{
    uint32_t count = 0;
    while (count < TY_SEATS_MAX && seats[count] != NULL) {
        count++;
    }
    if (count > 0) {
        message_key(writer, "seats");
        put_list(writer, count);
        for (uint32_t i = 0; i < count; i++) {
            put_text(writer, seats[i]);
        }
    }
}

/* Reads the list of groups: [{first, rows}, ...]. */
static bool groups_read(TyClient *client, TyClientPool *pool)
{
    WireItem list;
    if (!reply_get(client, "groups", &list) || list.kind != WIRE_LIST || list.count == 0 ||
        list.count > TY_GROUPS_MAX) {
        return false;
    }
    const uint8_t *at = list.bytes;
    const uint8_t *end = reply_end(client);
    pool->groups = list.count;
    for (uint32_t i = 0; i < list.count; i++) {
        WireItem first;
        WireItem rows;
        if (!wire_get(at, end, "first", &first) || !wire_get(at, end, "rows", &rows) ||
            first.number > TY_SLOTS_MAX || rows.number > TY_SLOTS_MAX) {
            return false;
        }
        pool->group[i].first = (uint32_t)first.number;
        pool->group[i].rows = (uint32_t)rows.number;
        wire_skip(&at, end);
    }
    return true;
}

/* Reads the seats that are ours. */
static bool seats_read(TyClient *client, TyClientPool *pool)
{
    WireItem list;
    bool good = reply_get(client, "own_seats", &list) && list.size <= TY_SEATS_MAX;
    for (uint32_t i = 0; good && i < list.size; i++) {
        good = list.bytes[i] < TY_SEATS_MAX;
        pool->seats[pool->seat_count++] = list.bytes[i];
    }
    return good;
}

static TyStatus pool_read(TyClient *client, TyClientPool *pool)
{
    WireItem item;
    *pool = (TyClientPool){.id = (uint32_t)reply_number(client, "pool"),
                           .member = (uint32_t)reply_number(client, "member"),
                           .schema_hash = reply_number(client, "schema_hash"),
                           .row_size = (uint32_t)reply_number(client, "row_size"),
                           .action_count = (uint32_t)reply_number(client, "action_count")};
    reply_copy(client, "invite", pool->invite, sizeof pool->invite);
    reply_copy(client, "ruleset", pool->ruleset, sizeof pool->ruleset);
    if (reply_get(client, "shm_token", &item) && item.size == sizeof pool->shm_token) {
        memcpy(pool->shm_token, item.bytes, item.size);
        pool->shm = true;
    }
    return seats_read(client, pool) && groups_read(client, pool)
               ? status_ok()
               : status_fail(TY_IO, "the daemon's reply cannot be read");
}

TyStatus ty_client_open_pool(TyClient *client, const TyClientOpen *open, TyClientPool *pool)
{
    TyStatus status = request_begin(client, "open", 2048);
    if (status.code != TY_OK) {
        return status;
    }
    Writer *writer = &client->writer;
    put_optional_text(writer, "ruleset", open->ruleset);
    put_optional_uint(writer, "slots", open->slots);
    put_optional_uint(writer, "groups", open->groups);
    put_optional_uint(writer, "threads", open->threads);
    put_optional_uint(writer, "seed", open->seed);
    put_optional_text(writer, "autoreset", open->autoreset);
    put_optional_text(writer, "illegal", open->illegal);
    put_optional_uint(writer, "max_steps", open->max_steps);
    put_seats(writer, open->seats);
    put_optional_flag(writer, "full", open->full);
    put_optional_flag(writer, "hash", open->hash);
    put_optional_flag(writer, "shm", open->shm);
    put_optional_uint(writer, "seat_timeout_ms", open->seat_timeout_ms);
    put_optional_text(writer, "on_vanish", open->on_vanish);
    status = request_finish(client);
    return status.code == TY_OK ? pool_read(client, pool) : status;
}

TyStatus ty_client_join(TyClient *client, uint32_t pool_id, const char *invite,
                        const uint8_t *seats, uint32_t seat_count, bool shm, TyClientPool *pool)
{
    TyStatus status = request_begin(client, "join", 512);
    if (status.code != TY_OK) {
        return status;
    }
    Writer *writer = &client->writer;
    put_optional_uint(writer, "pool", pool_id);
    put_optional_text(writer, "invite", invite);
    if (seat_count > 0) {
        message_key(writer, "seats");
        put_bytes(writer, seats, seat_count);
    }
    put_optional_flag(writer, "shm", shm);
    status = request_finish(client);
    return status.code == TY_OK ? pool_read(client, pool) : status;
}

TyStatus ty_client_attach(TyClient *client, const TyClientPool *pool, TyShmClient **shm)
{
    *shm = NULL;
    if (!pool->shm) {
        return status_fail(TY_BAD_ARGUMENT, "pool %u was opened or joined without shm", pool->id);
    }
    TyShmAddress address = {.path = client->shm_path,
                            .pool = pool->id,
                            .member = pool->member,
                            .timeout_ms = client->timeout_ms};
    memcpy(address.token, pool->shm_token, sizeof address.token);
    return ty_shm_connect(&address, shm);
}

/* A request whose only field is the pool. */
static TyStatus pool_ask(TyClient *client, const char *op, const TyClientPool *pool)
{
    TyStatus status = request_begin(client, op, 64);
    if (status.code == TY_OK) {
        put_optional_uint(&client->writer, "pool", pool->id);
        status = request_finish(client);
    }
    return status;
}

TyStatus ty_client_leave(TyClient *client, const TyClientPool *pool)
{
    return pool_ask(client, "leave", pool);
}

TyStatus ty_client_close_pool(TyClient *client, const TyClientPool *pool)
{
    return pool_ask(client, "close", pool);
}

/* ---- Rows ---- */

static const char *const column_names[TY_COLUMN_COUNT] = {
    [TY_COLUMN_OBS] = "obs",
    [TY_COLUMN_MASK] = "mask",
    [TY_COLUMN_REWARD] = "reward",
    [TY_COLUMN_EARNED] = "earned",
    [TY_COLUMN_SEAT] = "seat",
    [TY_COLUMN_READY] = "ready",
    [TY_COLUMN_TERMINATED] = "terminated",
    [TY_COLUMN_TRUNCATED] = "truncated",
    [TY_COLUMN_ILLEGAL] = "illegal",
    [TY_COLUMN_EPISODE] = "episode",
    [TY_COLUMN_STEP] = "step",
    [TY_COLUMN_SEED] = "seed",
    [TY_COLUMN_METRICS] = "metrics",
    [TY_COLUMN_FINAL_OBS] = "final_obs",
    [TY_COLUMN_FINAL_REWARD] = "final_reward",
    [TY_COLUMN_FULL] = "full",
    [TY_COLUMN_HASH] = "hash",
    [TY_COLUMN_ACTION] = "",
};

static bool slots_copy(TyClient *client, const WireItem *item)
{
    uint32_t count = item->size / 4;
    if (count > client->slots_capacity) {
        uint32_t *larger = realloc(client->slots, item->size);
        if (larger == NULL) {
            return false;
        }
        client->slots = larger;
        client->slots_capacity = count;
    }
    if (count > 0) {
        memcpy(client->slots, item->bytes, (size_t)count * sizeof client->slots[0]);
    }
    return true;
}

/* Bytes of the entries of a reply with rows. */
typedef struct RowSizes {
    uint32_t slots;
    uint32_t column[TY_COLUMN_COUNT];
} RowSizes;

/* Notes an entry of a reply with rows. */
static bool rows_note(TyClient *client, const WireItem *key, const WireItem *value,
                      TyClientRows *rows, RowSizes *sizes)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(key->size < 31 ? key->size : 31),
             (const char *)key->bytes);
    for (uint32_t i = 0; i < TY_COLUMN_ACTION; i++) {
        if (value->kind == WIRE_BYTES && strcmp(column_names[i], name) == 0) {
            rows->column[i] = value->bytes;
            sizes->column[i] = value->size;
            return true;
        }
    }
    if (strcmp(name, "count") == 0) {
        rows->count = (uint32_t)value->number;
    } else if (strcmp(name, "ready_count") == 0) {
        rows->ready = (uint32_t)value->number;
    } else if (strcmp(name, "ended") == 0) {
        rows->ended = value->bytes;
        rows->ended_count = value->size / 4;
    } else if (strcmp(name, "errors") == 0) {
        rows->refused = value->count;
    } else if (strcmp(name, "slots") == 0) {
        bool copied = slots_copy(client, value);
        sizes->slots = value->size;
        rows->slots = client->slots;
        return copied;
    }
    return true;
}

/* True if the columns of which we know how wide they are have as many rows as the reply says, and
 * the slots are the pool's. */
static bool rows_fit(const TyClientPool *pool, const TyClientRows *rows, const RowSizes *sizes)
{
    const struct {
        TyColumn column;
        uint32_t width;
    } known[] = {{TY_COLUMN_OBS, pool->row_size},
                 {TY_COLUMN_MASK, pool->action_count},
                 {TY_COLUMN_SEAT, 1},
                 {TY_COLUMN_READY, 1},
                 {TY_COLUMN_TERMINATED, 1},
                 {TY_COLUMN_TRUNCATED, 1},
                 {TY_COLUMN_ILLEGAL, 1},
                 {TY_COLUMN_EPISODE, 1},
                 {TY_COLUMN_STEP, 1}};
    bool fit = rows->slots == NULL || sizes->slots == (uint64_t)rows->count * sizeof rows->slots[0];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint64_t row = (uint64_t)known[i].width * ty_type_size(ty_column_type(known[i].column));
        fit = fit && (rows->column[known[i].column] == NULL ||
                      sizes->column[known[i].column] == rows->count * row);
    }
    const uint32_t slots = pool->group[pool->groups - 1].first + pool->group[pool->groups - 1].rows;
    fit = fit && rows->count <= slots;
    for (uint32_t i = 0; fit && rows->slots != NULL && i < rows->count; i++) {
        fit = rows->slots[i] < slots;
    }
    return fit;
}

static TyStatus rows_read(TyClient *client, const TyClientPool *pool, TyClientRows *rows)
{
    const uint8_t *at = reply_data(client);
    const uint8_t *end = reply_end(client);
    WireItem map;
    RowSizes sizes = {.slots = 0};
    *rows = (TyClientRows){.count = 0};
    wire_item(&at, end, &map);
    for (uint32_t i = 0; i < map.count; i++) {
        WireItem key;
        WireItem value;
        wire_item(&at, end, &key);
        const uint8_t *before = at;
        wire_item(&at, end, &value);
        if (!rows_note(client, &key, &value, rows, &sizes)) {
            return status_fail(TY_NO_MEMORY, "no memory for the slots of the reply");
        }
        at = before;
        wire_skip(&at, end);
    }
    return rows_fit(pool, rows, &sizes) ? status_ok()
                                        : status_fail(TY_IO, "the daemon's rows make no sense");
}

TyStatus ty_client_reset(TyClient *client, const TyClientPool *pool, TyClientRows *rows)
{
    TyStatus status = pool_ask(client, "reset", pool);
    return status.code == TY_OK ? rows_read(client, pool, rows) : status;
}

static TyStatus step_begin(TyClient *client, const TyClientPool *pool, uint32_t group,
                           const int32_t *actions)
{
    if (group >= pool->groups) {
        return status_fail(TY_BAD_ARGUMENT, "group %u: the pool has %u", group, pool->groups);
    }
    const BatchFields batch = {.pool = pool->id,
                               .group = group,
                               .got = replies_got(client),
                               .actions = actions,
                               .count = pool->group[group].rows};
    return batch_begin(client, "step", &batch);
}

TyStatus ty_client_step(TyClient *client, const TyClientPool *pool, uint32_t group,
                        const int32_t *actions, TyClientRows *rows)
{
    TyStatus status = step_begin(client, pool, group, actions);
    if (status.code == TY_OK) {
        status = request_finish(client);
    }
    return status.code == TY_OK ? rows_read(client, pool, rows) : status;
}

TyStatus ty_client_submit(TyClient *client, const TyClientPool *pool, uint32_t group,
                          const int32_t *actions)
{
    TyStatus status = step_begin(client, pool, group, actions);
    return status.code == TY_OK ? request_end(client) : status;
}

TyStatus ty_client_wait(TyClient *client, const TyClientPool *pool, uint32_t *group,
                        TyClientRows *rows)
{
    uint32_t index = 0;
    if (client->asked_count == 0) {
        return status_fail(TY_BAD_ARGUMENT, "no group was submitted");
    }
    TyStatus status = wait_for_any(client, &index);
    if (status.code != TY_OK) {
        return status;
    }
    asked_remove(client, index);
    status = reply_status(client);
    *group = (uint32_t)reply_number(client, "group");
    return status.code == TY_OK ? rows_read(client, pool, rows) : status;
}

TyStatus ty_client_send(TyClient *client, const TyClientPool *pool, const uint32_t *slots,
                        const int32_t *actions, uint32_t count)
{
    const BatchFields batch = {
        .pool = pool->id, .slots = slots, .actions = actions, .count = count};
    TyStatus status = batch_begin(client, "send", &batch);
    return status.code == TY_OK ? request_finish(client) : status;
}

TyStatus ty_client_recv(TyClient *client, const TyClientPool *pool, uint32_t min_rows,
                        uint32_t timeout_ms, TyClientRows *rows)
{
    uint64_t got = replies_got(client);
    TyStatus status = request_begin(client, "recv", 64);
    if (status.code == TY_OK) {
        put_optional_uint(&client->writer, "pool", pool->id);
        put_optional_uint(&client->writer, "min_rows", min_rows);
        put_optional_uint(&client->writer, "timeout_ms", timeout_ms);
        put_optional_uint(&client->writer, "got", got);
        status = request_finish(client);
    }
    return status.code == TY_OK ? rows_read(client, pool, rows) : status;
}

void ty_client_sample(const TyClientPool *pool, int32_t group, const TyClientRows *rows,
                      uint64_t seed, int32_t *actions)
{
    uint32_t first = group >= 0 ? pool->group[group].first : 0;
    for (uint32_t row = 0; row < rows->count; row++) {
        const TyRowKey key = {rows->slots != NULL ? rows->slots[row] : first + row,
                              load_le32(rows->column[TY_COLUMN_EPISODE] + (size_t)row * 4),
                              load_le32(rows->column[TY_COLUMN_STEP] + (size_t)row * 4)};
        const uint8_t *mask = rows->column[TY_COLUMN_MASK] + (size_t)row * pool->action_count;
        actions[row] = rows->column[TY_COLUMN_READY][row]
                           ? ty_sample_row(mask, pool->action_count, seed, key)
                           : 0;
    }
}

TyClientTraffic ty_client_traffic(const TyClient *client)
{
    return client->traffic;
}

/* ---- Any request ---- */

TyStatus ty_client_ask(TyClient *client, const char *op, const uint8_t *fields, size_t size,
                       const uint8_t **reply, size_t *reply_size)
{
    const uint8_t *at = fields;
    WireItem map = {.kind = WIRE_MAP};
    if (fields != NULL && wire_check(fields, size, CLIENT_ELEMENTS_MAX, NULL) != WIRE_OK) {
        return status_fail(TY_BAD_ARGUMENT, "the fields are not a MessagePack map");
    }
    TyStatus status = request_begin(client, op, size + strlen(op) + 64);
    if (status.code != TY_OK) {
        return status;
    }
    Writer *writer = &client->writer;
    if (fields != NULL) {
        wire_item(&at, fields + size, &map);
        size_t rest = size - (size_t)(at - fields);
        memcpy(writer->data + writer->size, at, rest);
        writer->size += rest;
        writer->entries += map.count;
    }
    status = request_finish(client);
    *reply = reply_data(client);
    *reply_size = zmq_msg_size(&client->reply);
    return status;
}

TyStatus ty_client_keygen(char public_key[TY_CLIENT_KEY_SIZE], char secret_key[TY_CLIENT_KEY_SIZE])
{
    return zmq_curve_keypair(public_key, secret_key) == 0
               ? status_ok()
               : status_fail(TY_IO, "this ZeroMQ has no CURVE");
}
