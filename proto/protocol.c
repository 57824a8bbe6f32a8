/* The tables of the protocol, made from its one list. */
#include "proto/protocol.h"

#include <string.h>

const FieldInfo protocol_fields[FIELD_COUNT] = {
#define FIELD(NAME, WORD, TYPE, MINIMUM, MAXIMUM, STANDARD, HELP)                                  \
    [FIELD_OF_##NAME] = {#WORD,                                                                    \
                         FIELD_##TYPE,                                                             \
                         (uint64_t)(MINIMUM),                                                      \
                         (uint64_t)(MAXIMUM),                                                      \
                         (uint64_t)(STANDARD),                                                     \
                         HELP},
#include "proto/operations.def"
};

const ReplyInfo protocol_replies[REPLY_FIELD_COUNT] = {
#define REPLY(NAME, WORD, TYPE, HELP) [REPLY_##NAME] = {#WORD, TYPE, HELP},
#include "proto/operations.def"
};

const ErrorInfo protocol_errors[ERROR_COUNT] = {
#define ERROR(NAME, HELP) [ERROR_##NAME] = {#NAME, HELP},
#include "proto/operations.def"
};

const OperationInfo protocol_operations[OP_COUNT] = {
#define OPERATION(NAME, WORD, WHO, WHERE, HELP)                                                    \
    [OP_##NAME] = {#WORD, WHO_##WHO, RUNS_IN_##WHERE, HELP},
#include "proto/operations.def"
};

/* Every OPERATION begins an entry, and each line below it adds a bit. */
#define BIT(INDEX) | UINT64_C(1) << (INDEX)

const uint64_t protocol_needs[OP_COUNT + 1] = {[OP_COUNT] = 0
#define OPERATION(NAME, WORD, WHO, WHERE, HELP) , [OP_##NAME] = 0 BIT(FIELD_OF_OP) BIT(FIELD_OF_ID)
#define NEEDS(OP, NAME) BIT(FIELD_OF_##NAME)
#include "proto/operations.def"
};

const uint64_t protocol_takes[OP_COUNT + 1] = {[OP_COUNT] = 0
#define OPERATION(NAME, WORD, WHO, WHERE, HELP) , [OP_##NAME] = 0
#define TAKES(OP, NAME) BIT(FIELD_OF_##NAME)
#include "proto/operations.def"
};

/* The bit of reply field `INDEX` in word `WORD` of its set. */
#define REPLY_BIT(INDEX, WORD) | ((INDEX) / 64 == (WORD) ? UINT64_C(1) << (INDEX) % 64 : 0)

const uint64_t protocol_gives[2][OP_COUNT + 1] = {
    {[OP_COUNT] = 0
#define OPERATION(NAME, WORD, WHO, WHERE, HELP) , [OP_##NAME] = 0
#define GIVES(OP, NAME) REPLY_BIT(REPLY_##NAME, 0)
#include "proto/operations.def"
    },
    {[OP_COUNT] = 0
#define OPERATION(NAME, WORD, WHO, WHERE, HELP) , [OP_##NAME] = 0
#define GIVES(OP, NAME) REPLY_BIT(REPLY_##NAME, 1)
#include "proto/operations.def"
    },
};

const char *field_type_name(FieldType type)
{
    switch (type) {
    case FIELD_UINT:
        return "uint";
    case FIELD_INT:
        return "int";
    case FIELD_FLAG:
        return "flag";
    case FIELD_TEXT:
        return "text";
    case FIELD_BYTES:
        return "bytes";
    case FIELD_TEXTS:
        return "list of texts";
    case FIELD_FILES:
        return "map of bytes";
    }
    return "";
}

bool operation_gives(Operation operation, ReplyField field)
{
    return field <= REPLY_NOTICES ||
           (protocol_gives[field / 64][operation] >> (field % 64) & 1) != 0;
}

static bool same_name(const char *name, const char *other, size_t size)
{
    return strlen(name) == size && memcmp(name, other, size) == 0;
}

bool operation_find(const char *name, size_t size, Operation *operation)
{
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        if (same_name(protocol_operations[i].name, name, size)) {
            *operation = (Operation)i;
            return true;
        }
    }
    return false;
}

/* The field of this name among those that the operation has. */
bool field_find(Operation operation, const char *name, size_t size, Field *field)
{
    uint64_t allowed = protocol_needs[operation] | protocol_takes[operation];
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if ((allowed >> i & 1) != 0 && same_name(protocol_fields[i].name, name, size)) {
            *field = (Field)i;
            return true;
        }
    }
    return false;
}
