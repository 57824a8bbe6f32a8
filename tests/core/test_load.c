/* The JSON loader that every board, map and deck goes through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hash.h"
#include "load/load.h"
#include "tests/support/file_text.h"

static TyStatus load_text(const char *text)
{
    TyDoc doc;
    TyStatus status = load_json(text, strlen(text), &doc);
    load_free(&doc);
    return status;
}

static void expect_load_failure(const char *text, TyCode code, const char *message)
{
    TyStatus status = load_text(text);
    assert_int_equal(status.code, code);
    if (strstr(status.message, message) == NULL) {
        fail_msg("the message is \"%s\", expected \"%s\"", status.message, message);
    }
}

/* A list of lists, `depth` of them within each other. */
static void nest(char *out, size_t depth)
{
    memset(out, '[', depth);
    memset(out + depth, ']', depth);
    out[2 * depth] = '\0';
}

static void test_syntax_error_names_line_and_column(void **state)
{
    (void)state;
    expect_load_failure("{\n \"a\": 1,\n \"b\" 2\n}", TY_BAD_FILE, "line 3, column 6: ");
}

static void test_key_given_twice_is_refused(void **state)
{
    (void)state;
    expect_load_failure("{\"a\": 1,\n \"a\": 2}", TY_BAD_FILE, "line 2, column 4: ");
}

static void test_empty_file_is_refused(void **state)
{
    (void)state;
    expect_load_failure("", TY_BAD_FILE, "line 1, column 0: ");
}

static void test_zero_bytes_are_refused(void **state)
{
    (void)state;
    TyDoc doc;
    assert_int_equal(load_json("[\"a\0b\"]", 7, &doc).code, TY_BAD_FILE);
    assert_int_equal(load_json("[]\0", 3, &doc).code, TY_BAD_FILE);
    expect_load_failure("[\"\\u0000\"]", TY_BAD_FILE, "line 1, column 9: ");
}

static void test_text_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    expect_load_failure("[\"\xff\"]", TY_BAD_FILE, "line 1, column ");
}

static void test_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    char *text = malloc(LOAD_BYTES_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', LOAD_BYTES_MAX + 1);
    text[LOAD_BYTES_MAX + 1] = '\0';
    memcpy(text, "[]", 2);
    expect_load_failure(text, TY_LIMIT, "1048577 bytes are more than the 1048576");
    text[LOAD_BYTES_MAX] = '\0';
    expect_ok(load_text(text));
    free(text);
}

static void test_file_that_is_too_deep_is_refused(void **state)
{
    (void)state;
    static char text[10001];
    nest(text, LOAD_DEPTH_MAX);
    expect_ok(load_text(text));
    nest(text, LOAD_DEPTH_MAX + 1);
    expect_load_failure(text, TY_LIMIT, "nested more than 16 levels deep");
    nest(text, 5000);
    expect_load_failure(text, TY_LIMIT, "");
}

static void test_file_of_too_many_values_is_refused(void **state)
{
    (void)state;
    size_t count = LOAD_NODES_MAX - 1; /* and the list itself */
    char *text = malloc(2 * count + 4);
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 1 + 2 * i, "0,", 2);
    }
    strcpy(text + 2 * count, "]");
    expect_ok(load_text(text));
    strcpy(text + 2 * count, ",0]");
    expect_load_failure(text, TY_LIMIT, "more than 65536 values");
    free(text);
}

static void test_reals_become_thousandths(void **state)
{
    (void)state;
    const char *text = "[2.35, 0.0625, -0.0625, 1.0]";
    const int64_t expected[] = {2350, 63, -63, 1000};
    TyDoc doc;
    expect_ok(load_json(text, strlen(text), &doc));
    const TyDocNode *node = ty_doc_first(&doc, doc.nodes);
    for (int i = 0; i < 4; i++, node = ty_doc_next(&doc, node)) {
        assert_int_equal(node->kind, TY_DOC_REAL);
        assert_int_equal(node->number, expected[i]);
    }
    assert_null(node);
    load_free(&doc);
}

static void test_numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    expect_load_failure("[1e10]", TY_LIMIT, "the number 1e+10 is beyond 1000000000");
    expect_load_failure("[1e999]", TY_BAD_FILE, "line 1, column ");
    expect_load_failure("[99999999999999999999]", TY_BAD_FILE, "line 1, column ");
}

static void test_every_kind_of_value_is_read(void **state)
{
    (void)state;
    const char *text = "{\"a\": null, \"b\": true, \"c\": -7, \"d\": \"x\", \"e\": [], \"f\": {}}";
    const TyDocKind kinds[] = {TY_DOC_NULL, TY_DOC_FLAG, TY_DOC_INT,
                               TY_DOC_TEXT, TY_DOC_LIST, TY_DOC_MAP};
    TyDoc doc;
    expect_ok(load_json(text, strlen(text), &doc));
    assert_int_equal(doc.count, 7);
    assert_int_equal(doc.nodes[0].child_count, 6);
    assert_true(doc.hash == hash_bytes(0, (const uint8_t *)text, strlen(text)));
    const TyDocNode *node = ty_doc_first(&doc, doc.nodes);
    for (uint32_t i = 0; i < 6; i++, node = ty_doc_next(&doc, node)) {
        assert_int_equal(node->kind, kinds[i]);
        assert_int_equal(node->index, i);
        assert_int_equal(node->key[0], 'a' + (int)i);
    }
    assert_int_equal(ty_doc_get(&doc, doc.nodes, "c")->number, -7);
    assert_string_equal(ty_doc_get(&doc, doc.nodes, "d")->text, "x");
    load_free(&doc);
}

static void test_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    char text[1024] = "[\"";
    for (int i = 0; i < 300; i++) {
        strcat(text, "é");
    }
    strcat(text, "\"]");
    for (int shift = 0; shift < 2; shift++) {
        TyDoc doc;
        TyStatus status = {.code = TY_OK};
        expect_ok(load_json(text, strlen(text), &doc));
        ty_doc_fail(&doc, doc.nodes, &status, "%s%s", shift == 0 ? "" : "x",
                    ty_doc_first(&doc, doc.nodes)->text);
        size_t length = strlen(status.message);
        assert_true(length >= TY_MESSAGE_MAX - 4 && length < TY_MESSAGE_MAX);
        assert_int_equal(length % 2, shift);
        load_free(&doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syntax_error_names_line_and_column),
        cmocka_unit_test(test_key_given_twice_is_refused),
        cmocka_unit_test(test_empty_file_is_refused),
        cmocka_unit_test(test_zero_bytes_are_refused),
        cmocka_unit_test(test_text_that_is_not_utf8_is_refused),
        cmocka_unit_test(test_file_that_is_too_large_is_refused),
        cmocka_unit_test(test_file_that_is_too_deep_is_refused),
        cmocka_unit_test(test_file_of_too_many_values_is_refused),
        cmocka_unit_test(test_reals_become_thousandths),
        cmocka_unit_test(test_numbers_out_of_range_are_refused),
        cmocka_unit_test(test_every_kind_of_value_is_read),
        cmocka_unit_test(test_long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
