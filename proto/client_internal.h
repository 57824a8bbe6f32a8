/* What the files of the client share: a request is a list of fields, a reply is read key by key. */
#pragma once

#include "core/status.h"
#include "proto/client.h"
#include "proto/protocol.h"
#include "proto/wire_decode.h"

#include <stdatomic.h>
#include <zmq.h>

enum {
    CLIENT_PENDING_MAX = 64, /* requests under way */
    CLIENT_NOTICES_MAX = 32, /* that are kept until they are asked for */
};

/* A group of a pool that is stepped; pool 0: none. */
typedef struct Step {
    uint32_t pool;
    uint32_t group;
} Step;

/* A request that is not answered yet, kept so that it can be repeated. */
typedef struct Asked {
    uint64_t id;
    Step step; /* that was submitted */
    zmq_msg_t message;
} Asked;

/* Memory for what a reply says, given back as a whole. */
typedef struct Room Room;

struct TyClient {
    void *context;
    void *socket;
    int socket_fd; /* readable when something has happened to the socket */
    void *monitor;
    uint32_t timeout_ms;
    uint64_t next_id;
    bool admin;
    char name[64];
    char access_token[256];
    char session[TY_CLIENT_TOKEN_SIZE];
    TyClientDaemon daemon;
    Room *daemon_room;
    uint32_t asked_count;
    Asked asked[CLIENT_PENDING_MAX];
    atomic_bool cancel; /* what is under way is to be cancelled */
    Operation op;       /* of the last request that is waited for */
    zmq_msg_t reply;    /* the last one */
    TyClientError error;
    TyCode spoiled;            /* TY_OK, or why the reply cannot be used */
    Room *room;                /* of the last reply */
    const TyClientNote *notes; /* to be told with the next actions; NULL: none */
    uint32_t note_count;
    uint32_t *numbers; /* of the last rows: slots and endings, aligned */
    size_t numbers_size;
    uint32_t notice_first;
    uint32_t notice_count;
    TyClientNotice notices[CLIENT_NOTICES_MAX];
    TyClientTraffic traffic;
};

/* ---- Requests ---- */

/* A field of a request. Its type is that of the protocol's list. */
typedef struct Given {
    enum { GIVEN_LAST, GIVEN_NOT, GIVEN_YES } state;
    Field field;
    uint64_t number;
    const void *values; /* text, bytes, texts (const char *const *), files (TyFileBytes) */
    size_t size;        /* bytes; of texts and files their number */
} Given;

/* A field that is always there: a number, an integer or a flag. */
static inline Given given_number(Field field, uint64_t number)
{
    return (Given){.state = GIVEN_YES, .field = field, .number = number};
}

/* The same, left out if it is 0. */
static inline Given given_unless_zero(Field field, uint64_t number)
{
    return (Given){.state = number != 0 ? GIVEN_YES : GIVEN_NOT, .field = field, .number = number};
}

/* Text, left out if it is NULL. */
static inline Given given_text(Field field, const char *text)
{
    return (Given){.state = text != NULL ? GIVEN_YES : GIVEN_NOT, .field = field, .values = text};
}

/* Bytes, texts or files, left out if they are NULL. */
static inline Given given_values(Field field, const void *values, size_t size)
{
    return (Given){.state = values != NULL ? GIVEN_YES : GIVEN_NOT,
                   .field = field,
                   .values = values,
                   .size = size};
}

/* `count` numbers of 4 or 8 bytes, left out if they are NULL. */
#define given_array(FIELD, VALUES, COUNT)                                                          \
    given_values((FIELD), (VALUES), (size_t)(COUNT) * sizeof *(VALUES))

/* What marks the end of a list of fields. */
#define GIVEN_END ((Given){.state = GIVEN_LAST})

/* Sends a request with the fields up to GIVEN_END. It is then under way; `step` is NULL unless it
 * is a step that is waited for later. */
TyStatus request_send(TyClient *client, Operation op, const Given *given, const Step *step);
/* Sends a request, waits for its reply and gives the daemon's refusal, if it is one. */
TyStatus request_ask(TyClient *client, Operation op, const Given *given);
/* Waits for the reply to a step of `pool` that is under way, and says of which group. */
TyStatus request_await_step(TyClient *client, uint32_t pool, uint32_t *group);
/* Every reply up to this number has arrived, or is not wanted any more. */
uint64_t requests_got(const TyClient *client);
/* Sends a request that is under way once more; false if ZeroMQ refuses. */
bool asked_send(TyClient *client, Asked *asked);
/* Forgets all that is under way. */
void asked_forget(TyClient *client);
/* Writes a whole request and returns its size; what does not fit is only counted. */
size_t request_write(uint8_t *data, size_t capacity, Operation op, uint64_t id, const Given *given);

/* ---- Sessions ---- */

uint64_t client_clock_ms(void);
TyStatus zmq_failure(const char *what);
/* Opens the sockets and connects them; the client is closed by ty_client_close, whatever happens.
 */
TyStatus client_begin(const TyClientConfig *config, TyClient **client);
/* Waits for the reply to request `id`, and gives the daemon's refusal, if it is one. Replies to
 * others that come first are too late. */
TyStatus client_await(TyClient *client, uint64_t id);
/* Says hello, which begins a session or takes it up again, and waits for the answer. */
TyStatus client_hello(TyClient *client);
/* True if the connection was lost since the last look. */
bool client_was_cut(TyClient *client);
/* Takes the session up on a new connection and repeats what was not answered. */
TyStatus client_resume(TyClient *client);
/* Notes what the daemon says of itself in its reply to hello. */
TyStatus daemon_read(TyClient *client);

/* ---- Replies ---- */

/* Takes the next reply, to whatever request, within `timeout_ms`. */
TyStatus reply_receive(TyClient *client, int timeout_ms, bool *got);
/* The error of the last reply, which sets the client's. */
TyStatus reply_status(TyClient *client);
/* After all was read: whether it made sense, and there was memory for it. */
TyStatus reply_sound(TyClient *client);
/* The reply makes no sense. */
void reply_spoil(TyClient *client);
/* Zeroed memory for `count` things of `size` bytes, until the next request. NULL, and the reply is
 * spoilt, if there is none. */
void *reply_room(TyClient *client, size_t count, size_t size);
void room_free(Room **room);

/* A map of the last reply, or the first of the maps in a list. */
typedef struct Map {
    TyClient *client;
    const uint8_t *at;
    const uint8_t *end;
} Map;

Map reply_map(TyClient *client);
/* Each of these gives nothing (0, "", no entries) if the key is not there, and spoils the reply if
 * its value is of another type or out of range. */
uint64_t map_uint(Map map, const char *key, uint64_t maximum);
int32_t map_int(Map map, const char *key, int32_t minimum, int32_t maximum);
bool map_flag(Map map, const char *key);
TyClientBytes map_bytes(Map map, const char *key);
const char *map_text(Map map, const char *key);
void map_copy(Map map, const char *key, char *out, size_t size);
const char *const *map_texts(Map map, const char *key, uint32_t *count);
/* The map in the map. False if there is none. */
bool map_inner(Map map, const char *key, Map *inner);
/* The list of maps: its first entry, and how many there are. */
Map map_list(Map map, const char *key, uint32_t *count);
void map_next(Map *map);
/* The text at `*at`, which moves behind it. */
const char *item_text(TyClient *client, const uint8_t **at, const uint8_t *end);
/* The `code` of a refusal, and what it is as a code of the library. */
TyClientError map_error(Map map, TyCode *code);

/* ---- Rows ---- */

/* Reads a reply with rows of the pool. */
TyStatus rows_read(TyClient *client, const TyClientPool *pool, TyClientRows *rows);
/* The same for `count` slots that were named in the request. */
TyStatus rows_read_of(TyClient *client, const TyClientPool *pool, uint32_t count,
                      TyClientRows *rows);
