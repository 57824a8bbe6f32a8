/* libFuzzer: the check, the decoder and the readers of replies, on any bytes. */
#include "tests/fuzz/fuzz_options.h"
#include "tests/proto/wire_samples.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at every field of a request that was accepted. */
static void request_read(const Request *request)
{
    char text[WIRE_TEXT_MAX];
    const uint8_t *bytes = NULL;
    uint32_t size = 0;
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if (!request_has(request, (Field)i)) {
            continue;
        }
        const WireValue *value = &request->values[i];
        switch (protocol_fields[i].type) {
        case FIELD_UINT:
        case FIELD_INT:
        case FIELD_FLAG:
            break;
        case FIELD_TEXT:
            request_text(request, (Field)i, text);
            break;
        case FIELD_BYTES:
            for (uint32_t k = 0; k < value->size; k++) {
                text[0] ^= (char)value->bytes[k];
            }
            break;
        case FIELD_TEXTS:
            for (uint32_t k = 0; k < value->count; k++) {
                request_text_at(request, (Field)i, k, text);
            }
            break;
        case FIELD_FILES:
            for (uint32_t k = 0; k < value->count; k++) {
                request_file_at(request, (Field)i, k, text, &bytes, &size);
            }
            break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Request request;
    WireError error;
    WireItem item;
    uint8_t reply[2048];
    Writer writer;
    if (wire_decode(data, size, 4096, &request, &error)) {
        request_read(&request);
    } else {
        reply_error(&writer, reply, sizeof reply, request.id, &error);
        if (wire_check(reply, writer.size, 4096, NULL) != WIRE_OK) {
            abort();
        }
    }
    if (wire_check(data, size, 4096, NULL) == WIRE_OK) {
        wire_get(data, data + size, "error", &item);
    }
    return 0;
}
