/* The names of the protocol: operations, fields and error codes as C knows them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The versions that this program speaks. */
enum { PROTOCOL_VERSION_MIN = 1, PROTOCOL_VERSION = 1 };

typedef enum ErrorCode {
#define ERROR(NAME, HELP) ERROR_##NAME,
#include "proto/operations.def"
    ERROR_COUNT,
} ErrorCode;

typedef enum FieldType {
    FIELD_UINT,
    FIELD_INT,
    FIELD_FLAG,
    FIELD_TEXT,
    FIELD_BYTES,
    FIELD_TEXTS, /* a list of texts */
    FIELD_FILES, /* a map from names to bytes */
} FieldType;

/* Fields of requests. */
typedef enum Field {
#define FIELD(NAME, WORD, TYPE, MINIMUM, MAXIMUM, STANDARD, HELP) FIELD_OF_##NAME,
#include "proto/operations.def"
    FIELD_COUNT,
} Field;

/* Fields of replies. */
typedef enum ReplyField {
#define REPLY(NAME, WORD, TYPE, HELP) REPLY_##NAME,
#include "proto/operations.def"
    REPLY_FIELD_COUNT,
} ReplyField;

typedef enum Operation {
#define OPERATION(NAME, WORD, WHO, WHERE, HELP) OP_##NAME,
#include "proto/operations.def"
    OP_COUNT,
} Operation;

/* For INT, `minimum` and `maximum` hold two's complement. */
typedef struct FieldInfo {
    const char *name;
    FieldType type;
    uint64_t minimum;
    uint64_t maximum;
    uint64_t standard;
    const char *help;
} FieldInfo;

typedef struct ReplyInfo {
    const char *name;
    const char *type;
    const char *help;
} ReplyInfo;

/* Who may ask for an operation. */
typedef enum OperationWho {
    WHO_ANYONE,   /* also a connection without a session */
    WHO_SESSION,  /* every session */
    WHO_MEMBER,   /* the members of the pool that the request names */
    WHO_DIRECTOR, /* only its director */
    WHO_ADMINISTRATOR,
} OperationWho;

/* Which thread of the daemon works on an operation. */
typedef enum OperationWhere {
    RUNS_IN_DISPATCH, /* the one that dispatches, which may pass it on to a pool's */
    RUNS_IN_COMMON,   /* the one for work without a pool */
    RUNS_IN_POOL,     /* the pool's own */
} OperationWhere;

typedef struct OperationInfo {
    const char *name;
    OperationWho who;
    OperationWhere where;
    const char *help;
} OperationInfo;

typedef struct ErrorInfo {
    const char *name;
    const char *help;
} ErrorInfo;

_Static_assert(FIELD_COUNT <= 64, "fields of requests are kept in 64 bits");
_Static_assert(REPLY_FIELD_COUNT <= 128, "fields of replies are kept in 128 bits");

extern const FieldInfo protocol_fields[FIELD_COUNT];
extern const ReplyInfo protocol_replies[REPLY_FIELD_COUNT];
extern const ErrorInfo protocol_errors[ERROR_COUNT];
extern const OperationInfo protocol_operations[OP_COUNT];
/* Bit per Field: what an operation needs, and what it may have besides. All need op and id. */
extern const uint64_t protocol_needs[OP_COUNT + 1];
extern const uint64_t protocol_takes[OP_COUNT + 1];
/* Bit per ReplyField, in two words. */
extern const uint64_t protocol_gives[2][OP_COUNT + 1];

const char *field_type_name(FieldType type);
/* True if replies of `operation` may have `field`; id, ok, error and notices are in all. */
bool operation_gives(Operation operation, ReplyField field);
/* False if no operation, or no field of requests, has this name. */
bool operation_find(const char *name, size_t size, Operation *operation);
bool field_find(Operation operation, const char *name, size_t size, Field *field);
