/* One good message of every operation, written by the encoder: for tests and fuzzers. */
#pragma once

#include "proto/wire_encode.h"

enum { SAMPLE_MAX = 4096 };

static inline const char *sample_text(Field field)
{
    static const char *const texts[FIELD_COUNT] = {
        [FIELD_OF_RULESET] = "convoi",   [FIELD_OF_AUTORESET] = "same_step",
        [FIELD_OF_WATCH] = "public",     [FIELD_OF_ILLEGAL] = "noop",
        [FIELD_OF_ON_VANISH] = "random", [FIELD_OF_AGENT] = "random",
        [FIELD_OF_NAME] = "sample",      [FIELD_OF_ACCESS] = "the secret word of the daemon",
    };
    return texts[field] != NULL ? texts[field] : "0123456789abcdef0123456789abcdef";
}

static inline void sample_value(Writer *writer, Field field)
{
    const FieldInfo *info = &protocol_fields[field];
    static const uint8_t zeros[64] = {0};
    switch (info->type) {
    case FIELD_UINT:
        put_uint(writer, info->minimum > 1 ? info->minimum : 1);
        return;
    case FIELD_INT:
        put_int(writer, 0);
        return;
    case FIELD_FLAG:
        put_flag(writer, true);
        return;
    case FIELD_TEXT:
        put_text(writer, sample_text(field));
        return;
    case FIELD_BYTES:
        put_bytes(writer, zeros,
                  field == FIELD_OF_JOIN_SEATS ? 1
                  : field == FIELD_OF_NOTES    ? 20
                  : info->minimum > 8          ? (uint32_t)info->minimum
                                               : 8);
        return;
    case FIELD_TEXTS:
        put_list(writer, 2);
        put_text(writer, field == FIELD_OF_SEATS ? "me" : "obs");
        put_text(writer, field == FIELD_OF_SEATS ? "open" : "mask");
        return;
    case FIELD_FILES:
        put_map(writer, 1);
        put_text(writer, "mybox");
        put_bytes(writer, zeros, 16);
        return;
    }
}

/* Every field that the operation has. Returns the size. */
static inline size_t sample_message(Operation op, uint64_t id, uint8_t out[SAMPLE_MAX])
{
    Writer writer;
    uint64_t all = protocol_needs[op] | protocol_takes[op];
    message_begin(&writer, out, SAMPLE_MAX);
    message_key(&writer, "op");
    put_text(&writer, protocol_operations[op].name);
    message_key(&writer, "id");
    put_uint(&writer, id);
    for (uint32_t i = FIELD_OF_ID + 1; i < FIELD_COUNT; i++) {
        if ((all >> i & 1) != 0) {
            message_key(&writer, protocol_fields[i].name);
            sample_value(&writer, (Field)i);
        }
    }
    message_end(&writer);
    return writer.size;
}
