/* Connections by their descriptors: which peer has which, so that ZeroMQ's reports of disconnects,
 * which name descriptors only, become peers that are gone. */
#pragma once

#include "base.h"

typedef struct Connection {
    bool open;
    bool used;     /* a peer has ever sent something */
    bool known;    /* and is not gone */
    uint64_t peer; /* who it is, or was last */
    uint32_t owed; /* disconnects of earlier peers that have not been reported yet */

    /* What it has sent, see connection_survey. */
    bool tcp;
    bool spoke;          /* a whole message came since the last survey */
    uint8_t strikes;     /* surveys that found too much, on tcp in a row */
    uint64_t since_ms;   /* accepted, or without a session since */
    uint64_t settled;    /* bytes up to the last whole message */
    uint64_t unfinished; /* bytes behind it */
} Connection;

typedef struct Connections {
    Connection *places; /* by descriptor */
    uint32_t place_count;
    uint32_t count; /* that are open */
    uint32_t max;
    uint32_t end;        /* above the highest descriptor that was ever open */
    uint64_t unfinished; /* bytes, of all that are open */
} Connections;

/* Room for as many descriptors as the system allows; clients get what is left of them, but no more
 * than `wanted`. */
TyStatus connections_init(Connections *connections, uint64_t wanted);
void connections_fini(Connections *connections);
void connections_accepted(Connections *connections, int fd, bool tcp, uint64_t now_ms);
/* A message of `peer` came in on `fd`. True if an earlier peer, `lost`, is gone. */
bool connections_note(Connections *connections, int fd, uint64_t peer, uint64_t *lost);
/* The descriptor was reported as disconnected. True if its peer, `lost`, is gone. */
bool connections_closed(Connections *connections, int fd, uint64_t *lost);
/* True if there are more than may be. */
bool connections_full(const Connections *connections);

enum { CONNECTION_STRIKES = 2 /* surveys that must find too much before a connection is closed */ };

/* The system has received `received` bytes on the connection so far. ZeroMQ keeps what is not a
 * whole message yet without a limit, and does not tell how much that is; but when a message has
 * come out, nothing before it is left inside. True if for some surveys in a row no message came out
 * and more than `budget` bytes went in. */
bool connection_survey(Connections *connections, Connection *connection, uint64_t received,
                       uint64_t budget);

/* The same for local connections, of which the system tells only the bytes that nobody has read
 * yet: true if in some surveys, since a message came out last, these were more than `budget`. */
bool connection_pours(Connection *connection, uint64_t unread, uint64_t budget);

/* ---- Peers ---- */

#define PEER_DELIMITER (UINT64_C(1) << 32)

enum { PEER_IDENTITY_SIZE = 5 /* of a routing id that ZeroMQ made: 0, then 4 bytes */ };

/* A peer's number: its listener, whether its messages have the empty frame of REQ sockets, and the
 * routing id that ZeroMQ gave it, which it counts up. */
uint64_t peer_number(uint32_t listener, bool delimiter, const uint8_t identity[PEER_IDENTITY_SIZE]);
void peer_identity(uint64_t peer, uint8_t identity[PEER_IDENTITY_SIZE]);
uint32_t peer_listener(uint64_t peer);
bool peer_has_delimiter(uint64_t peer);
