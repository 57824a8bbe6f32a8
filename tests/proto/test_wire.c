/* Messages: what the check and the decoder accept, what they refuse, and what the refusal says. */
#include "tests/proto/wire_samples.h"

#include <dirent.h>
#include <msgpack.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 4096 };

static WireFault check(const void *bytes, size_t size)
{
    return wire_check(bytes, size, ELEMENTS, NULL);
}

#define CHECK(BYTES) check(BYTES, sizeof BYTES - 1)

/* ---- The check ---- */

static void test_size_bombs_are_refused_at_once(void **unused)
{
    (void)unused;
    assert_int_equal(CHECK("\xdd\x0f\x00\x00\x00"), WIRE_NOT_A_MAP);
    assert_int_equal(CHECK("\x81\xa1x\xdd\x0f\x00\x00\x00"), WIRE_TOO_MANY);
    assert_int_equal(CHECK("\xdf\xff\xff\xff\xff"), WIRE_TOO_MANY);
    assert_int_equal(CHECK("\x81\xa1x\xc6\xff\xff\xff\xff"), WIRE_TRUNCATED);
    assert_int_equal(CHECK("\x81\xa1x\xdb\xff\xff\xff\xff"), WIRE_TRUNCATED);
}

static void test_the_budget_of_values_is_for_the_whole_message(void **unused)
{
    (void)unused;
    uint8_t message[4 + 40 * 3];
    size_t size = 0;
    memcpy(message, "\x81\xa1x\xdc", 4);
    size = 4;
    message[size++] = 0;
    message[size++] = 30;
    for (uint32_t i = 0; i < 30; i++) {
        message[size++] = 0x92; /* two each: 2 + 30 + 60 values */
        message[size++] = 1;
        message[size++] = 1;
    }
    assert_int_equal(wire_check(message, size, 92, NULL), WIRE_OK);
    assert_int_equal(wire_check(message, size, 91, NULL), WIRE_TOO_MANY);
}

static void test_deep_nesting_is_refused(void **unused)
{
    (void)unused;
    uint8_t message[200] = {0x81, 0xa1, 'x'};
    memset(message + 3, 0x91, sizeof message - 3);
    assert_int_equal(check(message, sizeof message), WIRE_TOO_DEEP);
    for (uint32_t depth = 1; depth <= WIRE_DEPTH_MAX; depth++) {
        message[2 + depth] = 1; /* the innermost value */
        assert_int_equal(check(message, 3 + depth),
                         depth <= WIRE_DEPTH_MAX ? WIRE_OK : WIRE_TOO_DEEP);
        message[2 + depth] = 0x91;
    }
}

static void test_what_messages_may_not_have(void **unused)
{
    (void)unused;
    assert_int_equal(CHECK(""), WIRE_TRUNCATED);
    assert_int_equal(CHECK("\x01"), WIRE_NOT_A_MAP);
    assert_int_equal(CHECK("\x80\x01"), WIRE_TRAILING);
    assert_int_equal(CHECK("\x81\xa1x\xc1"), WIRE_INVALID);
    assert_int_equal(CHECK("\x81\xa1x\xd4\x01\x02"), WIRE_EXTENSION);
    assert_int_equal(CHECK("\x81\xa1x\xc7\x01\x01\x02"), WIRE_EXTENSION);
    assert_int_equal(CHECK("\x81\x01\x01"), WIRE_BAD_KEY);
    assert_int_equal(CHECK("\x82\xa1x\x01\xa1x\x02"), WIRE_DUPLICATE_KEY);
    assert_int_equal(CHECK("\x82\xa1x\x01\xd9\x01x\x02"), WIRE_DUPLICATE_KEY);
    assert_int_equal(CHECK("\x81\xa1x\x82\xa1y\x01\xa1z\x02"), WIRE_OK);
    assert_int_equal(CHECK("\x81\xa1x\x81\x01\x01"), WIRE_BAD_KEY);
    assert_int_equal(CHECK("\x80"), WIRE_OK);
}

static void test_keys_of_a_message_are_bounded(void **unused)
{
    (void)unused;
    uint8_t message[3 + 3 * (WIRE_KEYS_MAX + 1)] = {0xde, 0, WIRE_KEYS_MAX};
    for (uint32_t i = 0; i <= WIRE_KEYS_MAX; i++) {
        const uint8_t entry[3] = {0xa1, (uint8_t)('0' + i), 1};
        memcpy(message + 3 + 3 * (size_t)i, entry, sizeof entry);
    }
    assert_int_equal(check(message, sizeof message - 3), WIRE_OK);
    message[2]++;
    assert_int_equal(check(message, sizeof message), WIRE_TOO_MANY);
}

static WireItem item_of(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    WireItem item;
    assert_int_equal(wire_item(&at, at + size, &item), WIRE_OK);
    assert_ptr_equal(at, (const uint8_t *)bytes + size);
    return item;
}

#define ITEM(BYTES) item_of(BYTES, sizeof BYTES - 1)

static void test_numbers_are_the_same_in_every_width(void **unused)
{
    (void)unused;
    assert_true((int64_t)ITEM("\xfe").number == -2 && ITEM("\xfe").kind == WIRE_INT);
    assert_true((int64_t)ITEM("\xd0\xfe").number == -2);
    assert_true((int64_t)ITEM("\xd1\xff\xfe").number == -2);
    assert_true((int64_t)ITEM("\xd2\xff\xff\xff\xfe").number == -2);
    assert_true((int64_t)ITEM("\xd3\xff\xff\xff\xff\xff\xff\xff\xfe").number == -2);
    assert_true(ITEM("\xd3\x00\x00\x00\x00\x00\x00\x00\x07").kind == WIRE_UINT);
    assert_true(ITEM("\xd1\x00\x07").number == 7 && ITEM("\xcd\x00\x07").number == 7);
    assert_true(ITEM("\xca\x3f\xc0\x00\x00").kind == WIRE_FLOAT);
    assert_true(ITEM("\xca\x3f\xc0\x00\x00").number ==
                ITEM("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00").number);
}

static void test_a_value_of_any_head_is_read_whole_or_not_at_all(void **unused)
{
    (void)unused;
    for (uint32_t head = 0; head < 256; head++) {
        uint8_t bytes[64] = {(uint8_t)head};
        const uint8_t *end = bytes;
        WireItem item;
        WireFault fault = wire_item(&end, bytes + sizeof bytes, &item);
        bool known = head != 0xc1 && (head < 0xc7 || head > 0xc9) && (head < 0xd4 || head > 0xd8);
        assert_int_equal(fault, known ? WIRE_OK : head == 0xc1 ? WIRE_INVALID : WIRE_EXTENSION);
        for (const uint8_t *cut = bytes; known && cut < end; cut++) {
            const uint8_t *at = bytes;
            assert_int_equal(wire_item(&at, cut, &item), WIRE_TRUNCATED);
        }
    }
}

static void test_every_fault_has_a_sentence_of_its_own(void **unused)
{
    (void)unused;
    for (uint32_t i = WIRE_OK; i <= WIRE_DUPLICATE_KEY; i++) {
        assert_true(strlen(wire_fault_text((WireFault)i)) > 10);
        for (uint32_t other = WIRE_OK; other < i; other++) {
            assert_string_not_equal(wire_fault_text((WireFault)i),
                                    wire_fault_text((WireFault)other));
        }
    }
    assert_string_equal(wire_fault_text((WireFault)(WIRE_DUPLICATE_KEY + 1)), "");
}

/* ---- The decoder ---- */

static bool decode(const uint8_t *bytes, size_t size, Request *request, WireError *error)
{
    return wire_decode(bytes, size, ELEMENTS, request, error);
}

static void test_every_operation_is_decoded(void **unused)
{
    (void)unused;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        uint8_t message[SAMPLE_MAX];
        Request request;
        WireError error;
        size_t size = sample_message((Operation)op, 7, message);
        if (!decode(message, size, &request, &error)) {
            fail_msg("%s: %s", protocol_operations[op].name, error.message);
        }
        assert_int_equal(request.op, op);
        assert_true(request.id == 7);
        assert_true(request.given == (protocol_needs[op] | protocol_takes[op]));
    }
}

static void test_a_message_cut_at_any_byte_is_refused(void **unused)
{
    (void)unused;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        uint8_t message[SAMPLE_MAX];
        Request request;
        WireError error;
        size_t size = sample_message((Operation)op, 7, message);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *exact = malloc(cut + 1);
            memcpy(exact, message, cut);
            assert_false(decode(exact, cut, &request, &error));
            assert_int_equal(error.code, ERROR_bad_message);
            free(exact);
        }
        message[size] = 0;
        assert_false(decode(message, size + 1, &request, &error));
    }
}

/* A value that no message of ours has: nil, or the float 1.0. */
static void put_foreign(Writer *writer, WireKind kind)
{
    static const uint8_t nil[] = {0xc0};
    static const uint8_t one[] = {0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0};
    size_t size = kind == WIRE_NIL ? sizeof nil : sizeof one;
    assert_true(writer->size + size <= writer->capacity);
    memcpy(writer->data + writer->size, kind == WIRE_NIL ? nil : one, size);
    writer->size += size;
}

/* Writes a message of `op` in which `swapped` has a value of kind `kind`. */
static size_t swapped_message(Operation op, Field swapped, WireKind kind, uint8_t *out)
{
    Writer writer;
    uint64_t all = protocol_needs[op] | protocol_takes[op];
    message_begin(&writer, out, SAMPLE_MAX);
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if ((all >> i & 1) == 0) {
            continue;
        }
        message_key(&writer, protocol_fields[i].name);
        if (i != swapped) {
            if (i == FIELD_OF_OP) {
                put_text(&writer, protocol_operations[op].name);
            } else {
                sample_value(&writer, (Field)i);
            }
            continue;
        }
        switch (kind) {
        case WIRE_NIL:
        case WIRE_FLOAT:
            put_foreign(&writer, kind);
            break;
        case WIRE_FLAG:
            put_flag(&writer, true);
            break;
        case WIRE_UINT:
            put_uint(&writer, 1);
            break;
        case WIRE_INT:
            put_int(&writer, -2);
            break;
        case WIRE_TEXT:
            put_text(&writer, "open");
            break;
        case WIRE_BYTES:
            put_bytes(&writer, "12345678", 8);
            break;
        case WIRE_LIST:
            put_list(&writer, 1);
            put_foreign(&writer, WIRE_NIL);
            break;
        case WIRE_MAP:
            put_map(&writer, 1);
            put_key_uint(&writer, "x", 1);
            break;
        }
    }
    message_end(&writer);
    return writer.size;
}

static void test_a_field_of_another_type_is_refused(void **unused)
{
    (void)unused;
    static const WireKind kinds[] = {
        [FIELD_UINT] = WIRE_UINT, [FIELD_INT] = WIRE_UINT,    [FIELD_FLAG] = WIRE_FLAG,
        [FIELD_TEXT] = WIRE_TEXT, [FIELD_BYTES] = WIRE_BYTES, [FIELD_TEXTS] = WIRE_NIL,
        [FIELD_FILES] = WIRE_NIL};
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        for (uint32_t field = FIELD_OF_ID; field < FIELD_COUNT; field++) {
            if (((protocol_needs[op] | protocol_takes[op]) >> field & 1) == 0) {
                continue;
            }
            for (uint32_t kind = WIRE_NIL; kind <= WIRE_MAP; kind++) {
                uint8_t message[SAMPLE_MAX];
                Request request;
                WireError error;
                size_t size = swapped_message((Operation)op, (Field)field, (WireKind)kind, message);
                bool fits = kinds[protocol_fields[field].type] == (WireKind)kind;
                if (!fits) {
                    assert_false(decode(message, size, &request, &error));
                    assert_int_equal(error.code, ERROR_bad_request);
                    assert_non_null(strstr(error.message, protocol_fields[field].name));
                }
            }
        }
    }
}

static void refused_with(const void *bytes, size_t size, ErrorCode code, uint64_t id,
                         const char *word)
{
    Request request;
    WireError error;
    assert_false(decode(bytes, size, &request, &error));
    assert_int_equal(error.code, code);
    assert_true(request.id == id);
    assert_non_null(strstr(error.message, word));
}

#define REFUSED(BYTES, CODE, ID, WORD) refused_with(BYTES, sizeof BYTES - 1, CODE, ID, WORD)

static void test_refusals_name_what_is_wrong(void **unused)
{
    (void)unused;
    REFUSED("\x81\xa2op\xa4ping", ERROR_bad_request, 0, "id");
    REFUSED("\x81\xa2id\x05", ERROR_bad_request, 5, "op");
    REFUSED("\x82\xa2id\x05\xa2op\xa4pong", ERROR_unknown_op, 5, "pong");
    REFUSED("\x83\xa2id\x05\xa2op\xa4ping\xa4what\x01", ERROR_bad_request, 5, "what");
    REFUSED("\x82\xa2id\x05\xa2op\xa5hello", ERROR_bad_request, 5, "protocol");
    REFUSED("\x82\xa2id\x00\xa2op\xa4ping", ERROR_bad_request, 0, "id");
    REFUSED("\x82\xa2id\xff\xa2op\xa4ping", ERROR_bad_request, 0, "-1");
    REFUSED("\x83\xa2id\x05\xa2op\xa4step\xa2id\x06", ERROR_bad_message, 0, "twice");
    REFUSED("\x83\xa2id\x05\xa2op\xa8"
            "describe\xa7ruleset\xa3"
            "a\0b",
            ERROR_bad_request, 5, "NUL");
    REFUSED("\x84\xa2id\x05\xa2op\xa4text\xa4pool\x01\xa4slot\xce\x7f\xff\xff\xff",
            ERROR_bad_request, 5, "2147483647");
    REFUSED("\x85\xa2id\x05\xa2op\xa4text\xa4pool\x01\xa4slot\x01\xa4seat\xfe", ERROR_bad_request,
            5, "seat=-2");
}

/* An `open` with one more field: its name and its bytes. */
static void open_refused_with(const char *field, const void *bytes, size_t size, const char *word)
{
    uint8_t message[2048];
    Writer writer;
    message_begin(&writer, message, sizeof message);
    message_key(&writer, "op");
    put_text(&writer, "open");
    message_key(&writer, "id");
    put_uint(&writer, 5);
    message_key(&writer, field);
    memcpy(message + writer.size, bytes, size);
    writer.size += size;
    assert_true(message_end(&writer));
    refused_with(message, writer.size, ERROR_bad_request, 5, word);
}

static void test_entries_of_lists_and_maps_are_checked(void **unused)
{
    (void)unused;
    uint8_t text[4 + 600] = {0x91, 0xda, 600 >> 8, 600 & 255};
    memset(text + 4, 'x', 600);
    open_refused_with("seats", "\x91\x01", 2, "seats: must be of type list of texts");
    open_refused_with("seats", text, sizeof text, "seats: must be of type");
    open_refused_with("seats", "\x91\xa2m\0", 4, "seats: must be of type");
    open_refused_with("seats", "\x96\xa1m\xa1m\xa1m\xa1m\xa1m\xa1m", 13, "6 entries");
    open_refused_with("files", "\x81\xa1x\x01", 4, "files: must be of type map of bytes");
    text[0] = 0x81;
    uint8_t file[sizeof text + 1];
    memcpy(file, text, sizeof text);
    file[sizeof text] = 0xc0;
    open_refused_with("files", file, sizeof file, "files: must be of type");
    open_refused_with("ruleset", text + 1, sizeof text - 1, "600 bytes");
}

static void test_numbers_beyond_their_range_are_told_with_their_sign(void **unused)
{
    (void)unused;
    REFUSED("\x85\xa2id\x05\xa2op\xa4text\xa4pool\x01\xa4slot\x01\xa4seat\x05", ERROR_bad_request,
            5, "seat=+5");
    REFUSED(
        "\x85\xa2id\x05\xa2op\xa4text\xa4pool\x01\xa4slot\x01\xa4seat\xcf\xff\xff\xff\xff\xff\xff"
        "\xff\xff",
        ERROR_bad_request, 5, "seat=");
}

static void test_what_is_no_map_has_no_fields(void **unused)
{
    (void)unused;
    static const uint8_t bytes[] = {0x82, 0xa1, 'x', 0x92, 1};
    const uint8_t *at = bytes;
    WireItem item;
    assert_false(wire_get(bytes, bytes, "x", &item));
    assert_false(wire_get(bytes + 4, bytes + 5, "x", &item));
    assert_false(wire_get(bytes, bytes + 1, "x", &item));
    assert_false(wire_get(bytes, bytes + 3, "x", &item));
    assert_false(wire_get(bytes, bytes + 5, "y", &item));
    wire_skip(&at, bytes + sizeof bytes);
    assert_ptr_equal(at, bytes + sizeof bytes); /* and not behind them */
    assert_string_equal(field_type_name((FieldType)(FIELD_FILES + 1)), "");
}

/* ---- The encoder ---- */

/* msgpack-c unpacks what the encoder writes, and sees the same values. */
static void test_another_implementation_reads_what_is_written(void **unused)
{
    (void)unused;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        uint8_t message[SAMPLE_MAX];
        msgpack_unpacked result;
        size_t offset = 0;
        size_t size = sample_message((Operation)op, UINT64_MAX, message);
        msgpack_unpacked_init(&result);
        assert_int_equal(msgpack_unpack_next(&result, (const char *)message, size, &offset),
                         MSGPACK_UNPACK_SUCCESS);
        assert_true(offset == size);
        assert_int_equal(result.data.type, MSGPACK_OBJECT_MAP);
        const msgpack_object_kv *second = &result.data.via.map.ptr[1];
        assert_int_equal(second->val.type, MSGPACK_OBJECT_POSITIVE_INTEGER);
        assert_true(second->val.via.u64 == UINT64_MAX);
        msgpack_unpacked_destroy(&result);
    }
}

static void test_text_in_replies_is_valid_utf8(void **unused)
{
    (void)unused;
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"Bruxelles \xc3\xa9", "Bruxelles \xc3\xa9"},
        {"\xff\xfe", "??"},
        {"\xc3", "?"},
        {"\xed\xa0\x80", "???"},
        {"\xf0\x9f\x9a\x82", "\xf0\x9f\x9a\x82"},
        {"\xc0\x80", "??"},
        {"\xf4\x90\x80\x80", "????"},
        {"a\x80z", "a?z"},
        {"\xc3(", "?("},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t data[64];
        Writer writer = {.data = data, .capacity = sizeof data};
        put_text(&writer, cases[i].in);
        assert_int_equal(writer.size, strlen(cases[i].out) + 1);
        assert_memory_equal(data + 1, cases[i].out, strlen(cases[i].out));
    }
}

static void test_a_writer_without_room_counts_on(void **unused)
{
    (void)unused;
    uint8_t data[8];
    Writer writer;
    message_begin(&writer, data, sizeof data);
    message_key(&writer, "a key that is long");
    assert_null(put_bytes_place(&writer, 100));
    assert_false(message_end(&writer));
    assert_int_equal(writer.size, 3 + 19 + 2 + 100);
}

/* ---- Vectors ---- */

/* Reads tests/vectors/NAME: at most SAMPLE_MAX bytes. */
static size_t vector_read(const char *name, uint8_t bytes[SAMPLE_MAX])
{
    char path[512];
    snprintf(path, sizeof path, TY_SOURCE_DIR "/tests/vectors/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, SAMPLE_MAX, file);
    fclose(file);
    return size;
}

/* The requests among the vectors are what the encoder writes, byte for byte. */
static void test_vectors_are_pinned(void **unused)
{
    (void)unused;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        uint8_t message[SAMPLE_MAX];
        uint8_t pinned[SAMPLE_MAX];
        char name[80];
        snprintf(name, sizeof name, "request_%s.msgpack", protocol_operations[op].name);
        size_t size = sample_message((Operation)op, 7, message);
        assert_int_equal(vector_read(name, pinned), size);
        assert_memory_equal(pinned, message, size);
    }
}

static void write_vectors(const char *directory)
{
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        uint8_t message[SAMPLE_MAX];
        char path[512];
        snprintf(path, sizeof path, "%s/request_%s.msgpack", directory,
                 protocol_operations[op].name);
        size_t size = sample_message((Operation)op, 7, message);
        FILE *file = fopen(path, "wb");
        fwrite(message, 1, size, file);
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write-vectors") == 0) {
        write_vectors(argv[2]);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_bombs_are_refused_at_once),
        cmocka_unit_test(test_the_budget_of_values_is_for_the_whole_message),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_what_messages_may_not_have),
        cmocka_unit_test(test_keys_of_a_message_are_bounded),
        cmocka_unit_test(test_numbers_are_the_same_in_every_width),
        cmocka_unit_test(test_a_value_of_any_head_is_read_whole_or_not_at_all),
        cmocka_unit_test(test_every_fault_has_a_sentence_of_its_own),
        cmocka_unit_test(test_every_operation_is_decoded),
        cmocka_unit_test(test_a_message_cut_at_any_byte_is_refused),
        cmocka_unit_test(test_a_field_of_another_type_is_refused),
        cmocka_unit_test(test_refusals_name_what_is_wrong),
        cmocka_unit_test(test_entries_of_lists_and_maps_are_checked),
        cmocka_unit_test(test_numbers_beyond_their_range_are_told_with_their_sign),
        cmocka_unit_test(test_what_is_no_map_has_no_fields),
        cmocka_unit_test(test_another_implementation_reads_what_is_written),
        cmocka_unit_test(test_text_in_replies_is_valid_utf8),
        cmocka_unit_test(test_a_writer_without_room_counts_on),
        cmocka_unit_test(test_vectors_are_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
