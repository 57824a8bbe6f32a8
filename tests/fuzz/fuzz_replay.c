/* Fuzzes the log reader and the replay of what it reads (libFuzzer). Inputs that begin with an even
 * byte are read as a whole file; of others a file with right hashes is made, so that the fuzzer
 * reaches what lies behind them: each record has a kind (u8), a size (u16) and a payload. */
#include "replay/replay.h"
#include "tests/fuzz/fuzz_options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_FILE_ID = 42, FUZZ_FILE_MAX = 1 << 16 };

static size_t put_head(uint8_t *out)
{
    memset(out, 0, LOG_FILE_HEAD);
    memcpy(out, LOG_MAGIC, LOG_MAGIC_SIZE);
    store_le16(out + 8, LOG_VERSION);
    store_le64(out + 16, FUZZ_FILE_ID);
    store_le64(out + 24, log_hash(FUZZ_FILE_ID, out, 24));
    return LOG_FILE_HEAD;
}

static size_t put_record(uint8_t *out, uint8_t kind, const uint8_t *payload, uint32_t size)
{
    size_t hashed = LOG_RECORD_HEAD + (size_t)size;
    store_le32(out, LOG_RECORD_MARK);
    store_le32(out + 4, kind);
    store_le32(out + 8, size);
    store_le32(out + 12, 0);
    store_le64(out + 16, log_hash(FUZZ_FILE_ID, out, 16));
    memcpy(out + LOG_RECORD_HEAD, payload, size);
    if (kind == LOG_CONTENT && size >= LOG_CONTENT_FIXED) {
        uint8_t *content = out + LOG_RECORD_HEAD;
        store_le32(content + 8, size - LOG_CONTENT_FIXED);
        store_le64(content, hash_bytes(0, content + LOG_CONTENT_FIXED, size - LOG_CONTENT_FIXED));
    }
    store_le64(out + hashed, log_hash(FUZZ_FILE_ID, out, hashed));
    return hashed + LOG_RECORD_TAIL;
}

/* A file of the records that the input lists. */
static size_t file_make(const uint8_t *data, size_t size, uint8_t *out)
{
    size_t at = put_head(out);
    while (size >= 3) {
        uint32_t payload = load_le16(data + 1);
        payload = payload > size - 3 ? (uint32_t)(size - 3) : payload;
        if (at + payload + LOG_RECORD_EXTRA > FUZZ_FILE_MAX) {
            break;
        }
        at += put_record(out + at, data[0] % 5, data + 3, payload);
        data += 3 + payload;
        size -= 3 + payload;
    }
    return at;
}

static void file_replay(const uint8_t *bytes, size_t size)
{
    static LogReader reader;
    static Replayer *replayer; /* kept: most of the time would go into opening rulesets */
    static uint64_t state[TY_STATE_MAX / 8];
    LogEpisode episode;
    if (log_reader_init(&reader, bytes, size).code != TY_OK) {
        return;
    }
    if (replayer == NULL) {
        replayer = replayer_open();
    }
    while (log_next_episode(&reader, &episode)) {
        ReplayResult result = replay_bisect(replayer, &reader, &episode, state);
        if (result.verdict != REPLAY_AGREES && result.message[0] == '\0') {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[FUZZ_FILE_MAX];
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        file_replay(data + 1, size - 1);
    } else {
        uint8_t *copy = malloc(FUZZ_FILE_MAX);
        size_t made = file_make(data + 1, size - 1, file);
        memcpy(copy, file, made);
        file_replay(copy, made);
        free(copy);
    }
    return 0;
}
