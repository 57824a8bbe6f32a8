/* Connections by their descriptors, and the numbers of the peers that have them. */
#define _GNU_SOURCE
#include "daemon/connections.h"
#include "core/status.h"

#include <stdlib.h>
#include <sys/resource.h>

enum {
    FDS_SPARE = 256, /* descriptors that clients may not use up */
    FDS_MAX = 1 << 17,
    SIGNS_OF_LIFE = 64, /* bytes of heartbeats that a survey forgives */
};

/* ---- Peers ---- */

uint64_t peer_number(uint32_t listener, bool delimiter, const uint8_t identity[PEER_IDENTITY_SIZE])
{
    uint32_t id = (uint32_t)identity[1] << 24 | (uint32_t)identity[2] << 16 |
                  (uint32_t)identity[3] << 8 | identity[4];
    return (uint64_t)listener << 33 | (delimiter ? PEER_DELIMITER : 0) | id;
}

void peer_identity(uint64_t peer, uint8_t identity[PEER_IDENTITY_SIZE])
{
    identity[0] = 0;
    for (uint32_t i = 1; i < PEER_IDENTITY_SIZE; i++) {
        identity[i] = (uint8_t)(peer >> 8 * (PEER_IDENTITY_SIZE - 1 - i));
    }
}

uint32_t peer_listener(uint64_t peer)
{
    return (uint32_t)(peer >> 33);
}

bool peer_has_delimiter(uint64_t peer)
{
    return (peer & PEER_DELIMITER) != 0;
}

/* True if `peer` came after `other`; of peers of different listeners nobody knows. */
static bool peer_is_newer(uint64_t peer, uint64_t other)
{
    return peer_listener(peer) != peer_listener(other) ||
           (int32_t)((uint32_t)peer - (uint32_t)other) > 0;
}

/* ---- Connections ---- */

TyStatus connections_init(Connections *connections, uint64_t wanted)
{
    struct rlimit limit = {.rlim_cur = 1024, .rlim_max = 1024};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    uint64_t places = limit.rlim_cur < FDS_MAX ? limit.rlim_cur : FDS_MAX;
    uint64_t room = places > 2 * FDS_SPARE ? places - FDS_SPARE : places / 2;
    *connections = (Connections){.place_count = (uint32_t)places,
                                 .max = (uint32_t)(wanted < room ? wanted : room),
                                 .places = calloc(places, sizeof(Connection))};
    return connections->places != NULL ? ty_status_ok()
                                       : ty_status_fail(TY_NO_MEMORY, "no memory for connections");
}

void connections_fini(Connections *connections)
{
    free(connections->places);
}

static Connection *connection_at(const Connections *connections, int fd)
{
    bool known = fd >= 0 && (uint32_t)fd < connections->place_count;
    return known ? &connections->places[fd] : NULL;
}

void connections_accepted(Connections *connections, int fd, bool tcp, uint64_t now_ms)
{
    Connection *connection = connection_at(connections, fd);
    if (connection != NULL) {
        connections->count += !connection->open;
        connections->end = (uint32_t)fd < connections->end ? connections->end : (uint32_t)fd + 1;
        connections->unfinished -= connection->unfinished;
        connection->open = true;
        connection->tcp = tcp;
        connection->spoke = false;
        connection->strikes = 0;
        connection->since_ms = now_ms;
        connection->settled = connection->unfinished = 0;
    }
}

/* The descriptor was perhaps an earlier peer's: then that one is gone, and ZeroMQ has yet to say
 * so. What an earlier one has sent may be read after it is gone, and tells nothing. */
bool connections_note(Connections *connections, int fd, uint64_t peer, uint64_t *lost)
{
    Connection *connection = connection_at(connections, fd);
    if (connection == NULL || (connection->used && !peer_is_newer(peer, connection->peer))) {
        if (connection != NULL) {
            connection->spoke = connection->spoke || peer == connection->peer;
        }
        return false;
    }
    bool replaced = connection->known;
    connection->spoke = true;
    *lost = connection->peer;
    connection->owed += replaced;
    connection->used = true;
    connection->known = true;
    connection->peer = peer;
    return replaced;
}

bool connections_closed(Connections *connections, int fd, uint64_t *lost)
{
    Connection *connection = connection_at(connections, fd);
    if (connection == NULL) {
        return false;
    }
    if (connection->owed > 0) {
        connection->owed--;
        return false;
    }
    bool known = connection->known;
    connections->count -= connection->open;
    connections->unfinished -= connection->unfinished;
    connection->unfinished = 0;
    connection->open = false;
    connection->known = false;
    *lost = connection->peer;
    return known;
}

bool connections_full(const Connections *connections)
{
    return connections->count > connections->max;
}

bool connection_survey(Connections *connections, Connection *connection, uint64_t received,
                       uint64_t budget)
{
    uint64_t before = connection->unfinished;
    if (connection->spoke) {
        connection->settled = received;
    }
    /* Signs of life between messages are no messages: they must not add up to one. */
    connection->settled += SIGNS_OF_LIFE;
    connection->settled = connection->settled < received ? connection->settled : received;
    connection->unfinished = received - connection->settled;
    connection->spoke = false;
    connections->unfinished += connection->unfinished - before;
    connection->strikes = connection->unfinished > budget ? (uint8_t)(connection->strikes + 1) : 0;
    return connection->strikes >= CONNECTION_STRIKES;
}

bool connection_pours(Connection *connection, uint64_t unread, uint64_t budget)
{
    connection->strikes = connection->spoke ? 0 : connection->strikes;
    connection->strikes = (uint8_t)(connection->strikes + (unread > budget));
    connection->spoke = false;
    return connection->strikes >= CONNECTION_STRIKES;
}
