/* Replies to a client: nothing in them is believed before it was looked at. */
#include "proto/client_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { REPLY_ELEMENTS_MAX = 1 << 22 };

/* ---- Refusals ---- */

/* What the error codes of the protocol are for users. */
static const struct {
    TyClientError error;
    TyCode code;
} meanings[ERROR_COUNT] = {
    [ERROR_bad_message] = {TY_ERROR_BAD_MESSAGE, TY_BAD_ARGUMENT},
    [ERROR_bad_request] = {TY_ERROR_BAD_REQUEST, TY_BAD_ARGUMENT},
    [ERROR_unknown_op] = {TY_ERROR_UNKNOWN_OP, TY_BAD_ARGUMENT},
    [ERROR_bad_version] = {TY_ERROR_BAD_VERSION, TY_BAD_ARGUMENT},
    [ERROR_no_session] = {TY_ERROR_NO_SESSION, TY_BAD_ARGUMENT},
    [ERROR_denied] = {TY_ERROR_DENIED, TY_BAD_ARGUMENT},
    [ERROR_stale_id] = {TY_ERROR_STALE_ID, TY_BAD_ARGUMENT},
    [ERROR_busy] = {TY_ERROR_BUSY, TY_LIMIT},
    [ERROR_no_pool] = {TY_ERROR_NO_POOL, TY_BAD_ARGUMENT},
    [ERROR_closed] = {TY_ERROR_CLOSED, TY_IO},
    [ERROR_cancelled] = {TY_ERROR_CANCELLED, TY_IO},
    [ERROR_timeout] = {TY_ERROR_TIMEOUT, TY_IO},
    [ERROR_bad_argument] = {TY_ERROR_BAD_ARGUMENT, TY_BAD_ARGUMENT},
    [ERROR_bad_config] = {TY_ERROR_BAD_CONFIG, TY_BAD_CONFIG},
    [ERROR_bad_file] = {TY_ERROR_BAD_FILE, TY_BAD_FILE},
    [ERROR_illegal_action] = {TY_ERROR_ILLEGAL_ACTION, TY_ILLEGAL},
    [ERROR_not_given] = {TY_ERROR_NOT_GIVEN, TY_BAD_ARGUMENT},
    [ERROR_limit] = {TY_ERROR_LIMIT, TY_LIMIT},
    [ERROR_no_memory] = {TY_ERROR_NO_MEMORY, TY_NO_MEMORY},
    [ERROR_io] = {TY_ERROR_IO, TY_IO},
    [ERROR_unavailable] = {TY_ERROR_UNAVAILABLE, TY_BAD_ARGUMENT},
};

TyClientError map_error(Map map, TyCode *code)
{
    char name[TY_CLIENT_WORD_SIZE];
    map_copy(map, "code", name, sizeof name);
    for (uint32_t i = 0; i < ERROR_COUNT; i++) {
        if (strcmp(protocol_errors[i].name, name) == 0) {
            *code = meanings[i].code;
            return meanings[i].error;
        }
    }
    *code = TY_BAD_ARGUMENT;
    return TY_ERROR_OTHER;
}

TyStatus reply_status(TyClient *client)
{
    Map refusal;
    TyCode code = TY_OK;
    client->error = TY_ERROR_NONE;
    if (!map_inner(reply_map(client), "error", &refusal)) {
        return reply_sound(client);
    }
    TyClientError error = map_error(refusal, &code);
    const char *name = map_text(refusal, "code");
    const char *message = map_text(refusal, "message");
    if (name[0] == '\0' || message[0] == '\0') {
        reply_spoil(client);
    }
    TyStatus status = reply_sound(client);
    if (status.code != TY_OK) {
        return status;
    }
    client->error = error;
    return ty_status_fail(code, "%s: %s", name, message);
}

TyClientError ty_client_error(const TyClient *client)
{
    return client->error;
}

/* ---- Soundness ---- */

void reply_spoil(TyClient *client)
{
    client->spoiled = client->spoiled == TY_OK ? TY_IO : client->spoiled;
}

TyStatus reply_sound(TyClient *client)
{
    const char *op = protocol_operations[client->op].name;
    if (client->spoiled == TY_NO_MEMORY) {
        return ty_status_fail(TY_NO_MEMORY, "%s: no memory for the daemon's reply", op);
    }
    return client->spoiled == TY_OK
               ? ty_status_ok()
               : ty_status_fail(TY_IO, "%s: the daemon's reply makes no sense", op);
}

/* ---- Room ---- */

enum { ROOM_SIZE = 4096, ROOM_ALIGN = 16 };

/* A block of memory, of which the beginning is used. */
struct Room {
    _Alignas(ROOM_ALIGN) Room *next;
    size_t used;
    size_t size;
};

void *reply_room(TyClient *client, size_t count, size_t size)
{
    size_t wanted = (count * size + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
    Room *room = client->room;
    if (room == NULL || room->size - room->used < wanted) {
        size_t bytes = wanted > ROOM_SIZE ? wanted : ROOM_SIZE;
        room = calloc(1, sizeof *room + bytes);
        if (room == NULL) {
            client->spoiled = TY_NO_MEMORY;
            return NULL;
        }
        *room = (Room){.next = client->room, .size = bytes};
        client->room = room;
    }
    void *place = (uint8_t *)(room + 1) + room->used;
    room->used += wanted;
    return place;
}

void room_free(Room **room)
{
    while (*room != NULL) {
        Room *next = (*room)->next;
        free(*room);
        *room = next;
    }
}

/* ---- Maps ---- */

Map reply_map(TyClient *client)
{
    const uint8_t *data = zmq_msg_data(&client->reply);
    return (Map){.client = client, .at = data, .end = data + zmq_msg_size(&client->reply)};
}

/* The value of a key, which must be of this kind. */
static bool map_get(Map map, const char *key, WireKind kind, WireItem *item)
{
    const uint8_t *at = map.at;
    if (wire_item(&at, map.end, item) != WIRE_OK || item->kind != WIRE_MAP) {
        reply_spoil(map.client); /* an entry of a list that is no map */
        return false;
    }
    if (!wire_get(map.at, map.end, key, item)) {
        return false;
    }
    if (item->kind != kind) {
        reply_spoil(map.client);
        return false;
    }
    return true;
}

uint64_t map_uint(Map map, const char *key, uint64_t maximum)
{
    WireItem item;
    if (!map_get(map, key, WIRE_UINT, &item)) {
        return 0;
    }
    if (item.number > maximum) {
        reply_spoil(map.client);
        return 0;
    }
    return item.number;
}

int32_t map_int(Map map, const char *key, int32_t minimum, int32_t maximum)
{
    WireItem item;
    if (!wire_get(map.at, map.end, key, &item)) {
        return 0;
    }
    int64_t number = (int64_t)item.number;
    if ((item.kind != WIRE_INT && item.kind != WIRE_UINT) || number < minimum || number > maximum) {
        reply_spoil(map.client);
        return 0;
    }
    return (int32_t)number;
}

bool map_flag(Map map, const char *key)
{
    WireItem item;
    return map_get(map, key, WIRE_FLAG, &item) && item.number != 0;
}

TyClientBytes map_bytes(Map map, const char *key)
{
    WireItem item;
    return map_get(map, key, WIRE_BYTES, &item)
               ? (TyClientBytes){.bytes = item.bytes, .size = item.size}
               : (TyClientBytes){.size = 0};
}

static const char *text_copy(TyClient *client, const WireItem *item)
{
    char *text = reply_room(client, item->size + (size_t)1, 1);
    if (text == NULL) {
        return "";
    }
    memcpy(text, item->bytes, item->size);
    return text;
}

const char *item_text(TyClient *client, const uint8_t **at, const uint8_t *end)
{
    WireItem item;
    const uint8_t *here = *at;
    wire_skip(at, end);
    if (wire_item(&here, end, &item) != WIRE_OK || item.kind != WIRE_TEXT) {
        reply_spoil(client);
        return "";
    }
    return text_copy(client, &item);
}

const char *map_text(Map map, const char *key)
{
    WireItem item;
    return map_get(map, key, WIRE_TEXT, &item) ? text_copy(map.client, &item) : "";
}

void map_copy(Map map, const char *key, char *out, size_t size)
{
    WireItem item = {.size = 0};
    bool there = map_get(map, key, WIRE_TEXT, &item);
    out[0] = '\0';
    if (there && item.size >= size) {
        reply_spoil(map.client);
    } else if (there) {
        memcpy(out, item.bytes, item.size);
        out[item.size] = '\0';
    }
}

bool map_inner(Map map, const char *key, Map *inner)
{
    WireItem item;
    *inner = map;
    inner->at = wire_find(map.at, map.end, key);
    return map_get(map, key, WIRE_MAP, &item);
}

Map map_list(Map map, const char *key, uint32_t *count)
{
    WireItem item = {.count = 0};
    bool there = map_get(map, key, WIRE_LIST, &item);
    *count = there ? item.count : 0;
    return (Map){.client = map.client, .at = there ? item.bytes : map.end, .end = map.end};
}

void map_next(Map *map)
{
    wire_skip(&map->at, map->end);
}

const char *const *map_texts(Map map, const char *key, uint32_t *count)
{
    Map entry = map_list(map, key, count);
    const char **texts = reply_room(map.client, *count + (size_t)1, sizeof texts[0]);
    for (uint32_t i = 0; texts != NULL && i < *count; i++) {
        texts[i] = item_text(map.client, &entry.at, entry.end);
    }
    return texts;
}

/* ---- Receiving ---- */

static TyClientNews news_named(const char *word)
{
    static const char *const words[] = {[TY_NEWS_JOINED] = "joined",
                                        [TY_NEWS_LEFT] = "left",
                                        [TY_NEWS_LATE] = "late",
                                        [TY_NEWS_CLOSED] = "closed",
                                        [TY_NEWS_STOPPING] = "stopping"};
    for (uint32_t i = TY_NEWS_JOINED; i <= TY_NEWS_STOPPING; i++) {
        if (strcmp(words[i], word) == 0) {
            return (TyClientNews)i;
        }
    }
    return TY_NEWS_OTHER;
}

/* Keeps the notices of a reply; the oldest ones give way. */
static void notices_keep(TyClient *client)
{
    uint32_t count = 0;
    Map entry = map_list(reply_map(client), "notices", &count);
    for (uint32_t i = 0; i < count; i++, map_next(&entry)) {
        char word[TY_CLIENT_WORD_SIZE];
        TyClientNotice notice = {.pool = (uint32_t)map_uint(entry, "pool", UINT32_MAX),
                                 .seat = map_int(entry, "seat", -1, TY_SEATS_MAX - 1)};
        map_copy(entry, "what", word, sizeof word);
        map_copy(entry, "by", notice.by, sizeof notice.by);
        notice.news = news_named(word);
        uint32_t place = client->notice_first + client->notice_count;
        client->notices[place % CLIENT_NOTICES_MAX] = notice;
        if (client->notice_count < CLIENT_NOTICES_MAX) {
            client->notice_count++;
        } else {
            client->notice_first++;
        }
    }
}

bool ty_client_notice(TyClient *client, TyClientNotice *notice)
{
    if (client->notice_count == 0) {
        return false;
    }
    *notice = client->notices[client->notice_first++ % CLIENT_NOTICES_MAX];
    client->notice_count--;
    return true;
}

bool ty_client_notice_wait(TyClient *client, uint32_t timeout_ms, TyClientNotice *notice)
{
    uint64_t end = client_clock_ms() + timeout_ms;
    while (!ty_client_notice(client, notice)) {
        uint64_t now = client_clock_ms();
        bool got = false;
        if (client->asked_count > 0 || now >= end ||
            reply_receive(client, (int)(end - now), &got).code != TY_OK) {
            return false;
        }
    }
    return true;
}

/* Takes a message if there is one; otherwise the last reply stays. When it says that there is none,
 * the socket's descriptor tells of the next one. */
static bool message_take(TyClient *client)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, client->socket, ZMQ_DONTWAIT) < 0) {
        return false;
    }
    zmq_msg_move(&client->reply, &message);
    return true;
}

/* Waits for a message and takes it. zmq_poll would do the same with several times the system calls.
 */
static bool message_await(TyClient *client, int timeout_ms)
{
    struct pollfd item = {.fd = client->socket_fd, .events = POLLIN};
    return message_take(client) || (errno == EAGAIN && timeout_ms > 0 &&
                                    poll(&item, 1, timeout_ms) > 0 && message_take(client));
}

TyStatus reply_receive(TyClient *client, int timeout_ms, bool *got)
{
    *got = false;
    if (!message_await(client, timeout_ms)) {
        return errno == EAGAIN || errno == EINTR ? ty_status_ok() : zmq_failure("receive");
    }
    Map map = reply_map(client);
    if (wire_check(map.at, (size_t)(map.end - map.at), REPLY_ELEMENTS_MAX, NULL) != WIRE_OK) {
        zmq_msg_close(&client->reply);
        zmq_msg_init(&client->reply);
        return ty_status_fail(TY_IO, "the daemon's reply is not MessagePack");
    }
    client->traffic.replies++;
    client->traffic.reply_bytes += (size_t)(map.end - map.at);
    client->spoiled = TY_OK;
    room_free(&client->room);
    notices_keep(client);
    *got = true;
    return ty_status_ok();
}
