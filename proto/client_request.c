/* Requests of a client: written in one piece, sent, kept until they are answered. */
#define _GNU_SOURCE
#include "proto/client_internal.h"
#include "proto/wire_encode.h"

#include <assert.h>
#include <string.h>

enum {
    CLIENT_POLL_MS = 50, /* how often a silent connection is looked at */
    CANCEL_SIZE = 64,
};

/* ---- Writing ---- */

static void put_files(Writer *writer, const TyFileBytes *files, size_t count)
{
    put_map(writer, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        put_text(writer, files[i].value);
        put_bytes(writer, files[i].bytes, files[i].size);
    }
}

static void put_texts(Writer *writer, const char *const *texts, size_t count)
{
    put_list(writer, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        put_text(writer, texts[i]);
    }
}

static void put_given(Writer *writer, const Given *given)
{
    message_key(writer, protocol_fields[given->field].name);
    switch (protocol_fields[given->field].type) {
    case FIELD_UINT:
        put_uint(writer, given->number);
        break;
    case FIELD_INT:
        put_int(writer, (int64_t)given->number);
        break;
    case FIELD_FLAG:
        put_flag(writer, given->number != 0);
        break;
    case FIELD_TEXT:
        put_text(writer, given->values);
        break;
    case FIELD_BYTES:
        put_bytes(writer, given->values, given->size);
        break;
    case FIELD_TEXTS:
        put_texts(writer, given->values, given->size);
        break;
    case FIELD_FILES:
        put_files(writer, given->values, given->size);
        break;
    }
}

size_t request_write(uint8_t *data, size_t capacity, Operation op, uint64_t id, const Given *given)
{
    Writer writer;
    message_begin(&writer, data, capacity);
    message_key(&writer, "op");
    put_text(&writer, protocol_operations[op].name);
    message_key(&writer, "id");
    put_uint(&writer, id);
    for (; given->state != GIVEN_LAST; given++) {
        if (given->state == GIVEN_YES) {
            put_given(&writer, given);
        }
    }
    message_end(&writer);
    return writer.size;
}

/* ---- Sending ---- */

bool asked_send(TyClient *client, Asked *asked)
{
    zmq_msg_t copy; /* by reference, so that the message is still there if it has to be repeated */
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

/* Writes a request into a message of its own. It is measured first, so that large fields are copied
 * once. */
static TyStatus asked_write(TyClient *client, Operation op, const Given *given, Asked *asked)
{
    uint8_t head[WIRE_HEAD_SIZE];
    asked->id = client->next_id;
    size_t size = request_write(head, sizeof head, op, asked->id, given);
    if (zmq_msg_init_size(&asked->message, size) != 0) {
        return zmq_failure("request");
    }
    client->next_id++;
    request_write(zmq_msg_data(&asked->message), size, op, asked->id, given);
    return ty_status_ok();
}

TyStatus request_send(TyClient *client, Operation op, const Given *given, const Step *step)
{
    client->error = TY_ERROR_NONE;
    client->op = op;
    room_free(&client->room);
    if (client->asked_count == CLIENT_PENDING_MAX) {
        return ty_status_fail(TY_LIMIT, "%d requests are not answered yet", CLIENT_PENDING_MAX);
    }
    Asked *asked = &client->asked[client->asked_count];
    TyStatus status = asked_write(client, op, given, asked);
    if (status.code != TY_OK) {
        return status;
    }
    if (!asked_send(client, asked)) {
        status = zmq_failure("send");
        zmq_msg_close(&asked->message);
        return status;
    }
    asked->step = step != NULL ? *step : (Step){.pool = 0};
    client->asked_count++;
    return status;
}

static void asked_remove(TyClient *client, uint32_t index)
{
    Asked *last = &client->asked[--client->asked_count];
    Asked *gone = &client->asked[index];
    if (gone != last) {
        gone->id = last->id;
        gone->step = last->step;
        zmq_msg_move(&gone->message, &last->message);
    }
    zmq_msg_close(&last->message);
}

void asked_forget(TyClient *client)
{
    while (client->asked_count > 0) {
        asked_remove(client, client->asked_count - 1);
    }
}

uint64_t requests_got(const TyClient *client)
{
    uint64_t oldest = client->next_id;
    for (uint32_t i = 0; i < client->asked_count; i++) {
        oldest = client->asked[i].id < oldest ? client->asked[i].id : oldest;
    }
    return oldest - 1;
}

/* ---- Waiting ---- */

/* Takes a reply if there is one soon. `index` is the request under way that it answers, or
 * `asked_count` if it answers none. */
static TyStatus reply_look(TyClient *client, uint32_t *index)
{
    bool got = false;
    *index = client->asked_count;
    TyStatus status = reply_receive(client, 0, &got);
    if (status.code == TY_OK && !got && client_was_cut(client)) {
        status = client_resume(client);
    }
    if (status.code == TY_OK && !got) {
        status = reply_receive(client, CLIENT_POLL_MS, &got);
    }
    if (status.code != TY_OK || !got) {
        return status;
    }
    reply_status(client);
    if (client->error == TY_ERROR_NO_SESSION) {
        return client_resume(client);
    }
    uint64_t id = map_uint(reply_map(client), "id", UINT64_MAX);
    for (uint32_t i = 0; i < client->asked_count; i++) {
        if (client->asked[i].id == id) {
            *index = i;
        }
    }
    return status;
}

/* Asks the daemon to stop what is under way. Nobody waits for the answers. */
static void asked_cancel(TyClient *client)
{
    for (uint32_t i = 0; i < client->asked_count; i++) {
        uint8_t bytes[CANCEL_SIZE];
        const Given given[] = {given_number(FIELD_OF_REQUEST, client->asked[i].id), GIVEN_END};
        size_t size = request_write(bytes, sizeof bytes, OP_CANCEL, client->next_id++, given);
        assert(size <= sizeof bytes);
        zmq_send(client->socket, bytes, size, ZMQ_DONTWAIT);
        client->traffic.requests++;
        client->traffic.request_bytes += size;
    }
}

void ty_client_cancel(TyClient *client)
{
    atomic_store(&client->cancel, true);
}

/* Waits for the reply to any request under way, which is then no longer; `answered` is what it
 * was. */
static TyStatus reply_await(TyClient *client, uint64_t patience_ms, Asked *answered)
{
    uint64_t end = client_clock_ms() + patience_ms;
    for (;;) {
        uint32_t index;
        TyStatus status = reply_look(client, &index);
        if (status.code != TY_OK) {
            return status;
        }
        if (index < client->asked_count) {
            answered->id = client->asked[index].id;
            answered->step = client->asked[index].step;
            asked_remove(client, index);
            return status;
        }
        if (atomic_exchange(&client->cancel, false)) {
            asked_cancel(client);
        }
        if (client_clock_ms() >= end) {
            client->error = TY_ERROR_NONE;
            asked_cancel(client);
            return ty_status_fail(TY_IO, "the daemon did not answer within %llu ms",
                                  (unsigned long long)patience_ms);
        }
    }
}

/* How long a reply may take: the time that the daemon is asked to wait comes on top. */
static uint64_t patience_of(const TyClient *client, const Given *given)
{
    uint64_t patience_ms = client->timeout_ms;
    for (; given->state != GIVEN_LAST; given++) {
        bool waits = given->field == FIELD_OF_TIMEOUT || given->field == FIELD_OF_DEADLINE;
        patience_ms += waits ? given->number : 0;
    }
    return patience_ms;
}

TyStatus request_ask(TyClient *client, Operation op, const Given *given)
{
    atomic_store(&client->cancel, false);
    TyStatus status = request_send(client, op, given, NULL);
    uint64_t id = client->next_id - 1;
    Asked answered = {.id = 0};
    while (status.code == TY_OK && answered.id != id) {
        status = reply_await(client, patience_of(client, given), &answered);
    }
    return status.code == TY_OK ? reply_status(client) : status;
}

TyStatus request_await_step(TyClient *client, uint32_t pool, uint32_t *group)
{
    client->op = OP_STEP;
    for (;;) {
        uint32_t steps = 0;
        Asked answered = {.id = 0};
        for (uint32_t i = 0; i < client->asked_count; i++) {
            steps += client->asked[i].step.pool == pool;
        }
        if (steps == 0) {
            return ty_status_fail(TY_BAD_ARGUMENT, "no group of pool %u was submitted", pool);
        }
        TyStatus status = reply_await(client, client->timeout_ms, &answered);
        if (status.code != TY_OK) {
            return status;
        }
        if (answered.step.pool == pool) {
            *group = answered.step.group;
            return reply_status(client);
        }
    }
}
