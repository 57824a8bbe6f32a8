/* The list of operations, PROTOCOL.md and the fuzzers' dictionary say the same; key files are read.
 *
 * With --tables or --dictionary the program prints what the document and the dictionary must hold.
 */
#define _POSIX_C_SOURCE 200809L
#include "daemon/limits.h"
#include "proto/keys.h"
#include "proto/protocol.h"
#include "trainyard.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_MAX = 1 << 17 };

static void print_field(FILE *out, uint32_t field, bool needed)
{
    const FieldInfo *info = &protocol_fields[field];
    fprintf(out, "| `%s` | %s | %s | ", info->name, field_type_name(info->type),
            needed ? "yes" : "");
    if (info->type == FIELD_INT) {
        fprintf(out, "%" PRId64 "..%" PRId64, (int64_t)info->minimum, (int64_t)info->maximum);
    } else if (info->type != FIELD_FLAG) {
        fprintf(out, "%" PRIu64 "..%" PRIu64, info->minimum, info->maximum);
    }
    if (info->type == FIELD_INT) {
        fprintf(out, " | %s%" PRId64, "", (int64_t)info->standard);
    } else if (!needed && (info->type == FIELD_UINT || info->type == FIELD_FLAG)) {
        fprintf(out, " | %" PRIu64, info->standard);
    } else {
        fprintf(out, " | ");
    }
    fprintf(out, " | %s |\n", info->help);
}

static void print_fields(FILE *out, Operation op)
{
    uint64_t head = UINT64_C(1) << FIELD_OF_OP | UINT64_C(1) << FIELD_OF_ID;
    uint64_t needs = protocol_needs[op] & ~head;
    uint64_t all = needs | protocol_takes[op];
    if (all == 0) {
        fprintf(out, "No fields.\n\n");
        return;
    }
    fprintf(out, "| field | type | needed | range | default | |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if ((all >> i & 1) != 0) {
            print_field(out, i, (needs >> i & 1) != 0);
        }
    }
    fprintf(out, "\n");
}

static void print_replies(FILE *out, Operation op)
{
    bool any = false;
    for (uint32_t i = REPLY_NOTICES + 1; i < REPLY_FIELD_COUNT; i++) {
        if (operation_gives(op, (ReplyField)i)) {
            const ReplyInfo *info = &protocol_replies[i];
            fprintf(out, "%s| `%s` | %s | %s |\n", any ? "" : "| reply | type | |\n|---|---|---|\n",
                    info->name, info->type, info->help);
            any = true;
        }
    }
    fprintf(out, "%s\n", any ? "" : "The reply has no fields of its own.\n");
}

/* Limits with their defaults: --limit NAME=VALUE changes them. */
static void print_limits(FILE *out)
{
    fprintf(out, "### Limits\n\n| limit | default | range | |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        const LimitInfo *info = &limit_infos[i];
        fprintf(out, "| `%s` | %" PRIu64 " | %" PRIu64 "..%" PRIu64 " | %s |\n", info->name,
                info->standard, info->minimum, info->maximum, info->help);
    }
    fprintf(out, "\n");
}

static void print_tables(FILE *out)
{
    print_limits(out);
    fprintf(out, "### Error codes\n\n| code | meaning |\n|---|---|\n");
    for (uint32_t i = 0; i < ERROR_COUNT; i++) {
        fprintf(out, "| `%s` | %s |\n", protocol_errors[i].name, protocol_errors[i].help);
    }
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        fprintf(out, "\n### `%s`\n\n%s\n\n", protocol_operations[i].name,
                protocol_operations[i].help);
        print_fields(out, (Operation)i);
        print_replies(out, (Operation)i);
    }
}

static void print_dictionary(FILE *out)
{
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        const char *name = protocol_operations[i].name;
        fprintf(out, "\"\\x%02x%s\"\n", 0xa0 | (unsigned)strlen(name), name);
    }
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        const char *name = protocol_fields[i].name;
        fprintf(out, "\"\\x%02x%s\"\n", 0xa0 | (unsigned)strlen(name), name);
    }
}

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, TEXT_MAX);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, TEXT_MAX - 1, file) > 0);
    fclose(file);
    return text;
}

static char *printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out);
    fclose(out);
    return text;
}

static void test_document_has_the_tables_of_the_list(void **unused)
{
    (void)unused;
    char *document = file_read(TY_SOURCE_DIR "/proto/PROTOCOL.md");
    char *tables = printed(print_tables);
    assert_non_null(strstr(document, tables));
    free(document);
    free(tables);
}

/* The session by hand has the sizes of the standard ruleset. */
static void test_the_example_has_the_sizes_of_the_game(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    char sizes[120];
    char *document = file_read(TY_SOURCE_DIR "/proto/PROTOCOL.md");
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    const TyShape *shape = ty_shape(ruleset);
    snprintf(sizes, sizeof sizes, "\"action_count\": %u, \"row_size\": %u", shape->action_count,
             shape->row_size);
    assert_non_null(strstr(document, sizes));
    snprintf(sizes, sizeof sizes, "\"obs\": <64 x %u bytes>, \"mask\": <64 x %u bytes>",
             shape->row_size, shape->action_count);
    assert_non_null(strstr(document, sizes));
    ty_ruleset_close(ruleset);
    free(document);
}

static void test_dictionary_has_the_names_of_the_list(void **unused)
{
    (void)unused;
    char *dictionary = file_read(TY_SOURCE_DIR "/tests/fuzz/fuzz.dict");
    char *names = printed(print_dictionary);
    assert_non_null(strstr(dictionary, names));
    free(dictionary);
    free(names);
}

static void test_no_operation_has_two_fields_of_one_name(void **unused)
{
    (void)unused;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        uint64_t all = protocol_needs[op] | protocol_takes[op];
        for (uint32_t i = 0; i < FIELD_COUNT; i++) {
            for (uint32_t k = 0; k < i; k++) {
                bool both = (all >> i & 1) != 0 && (all >> k & 1) != 0;
                assert_false(both && strcmp(protocol_fields[i].name, protocol_fields[k].name) == 0);
            }
        }
    }
}

static void test_keys_are_found_whatever_they_begin_with(void **unused)
{
    static const char key[] = "=23456789abcdefghijklmnopqrstuvwxyzABCD#";
    char text[200];
    char found[KEY_TEXT_SIZE];
    (void)unused;
    snprintf(text, sizeof text, "# public is for others\npublic %.39s\r\npublic \t%s\nsecret %s",
             key, key, key);
    const char *rest = key_find(text, "public", found);
    assert_non_null(rest);
    assert_string_equal(found, key);
    assert_null(key_find(rest, "public", found));
    assert_non_null(key_find(rest, "secret", found));
    snprintf(text, sizeof text, "public%s\nrepublic %s\npublic %s1\n", key, key, key);
    assert_null(key_find(text, "public", found));
}

/* Who may ask for an operation is what its help says, and is known only where a pool is named. */
static void test_members_and_directors_name_their_pool(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        const OperationInfo *info = &protocol_operations[i];
        bool names_pool = (protocol_needs[i] >> FIELD_OF_POOL & 1) != 0;
        bool of_member = info->who == WHO_MEMBER || info->who == WHO_DIRECTOR;
        bool said = strstr(info->help, "director only") != NULL;
        if (said != (info->who == WHO_DIRECTOR)) {
            fail_msg("%s: its help says something else than its list", info->name);
        }
        if ((of_member && !names_pool) || (info->where == RUNS_IN_POOL && !of_member)) {
            fail_msg("%s: names no pool", info->name);
        }
        assert_true((info->who == WHO_ANYONE) == (i == OP_HELLO || i == OP_HEALTH));
        bool administrators = strstr(info->help, "administrators only") != NULL;
        assert_true((info->who == WHO_ADMINISTRATOR) == administrators);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--tables") == 0) {
        print_tables(stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--dictionary") == 0) {
        print_dictionary(stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_found_whatever_they_begin_with),
        cmocka_unit_test(test_document_has_the_tables_of_the_list),
        cmocka_unit_test(test_the_example_has_the_sizes_of_the_game),
        cmocka_unit_test(test_dictionary_has_the_names_of_the_list),
        cmocka_unit_test(test_no_operation_has_two_fields_of_one_name),
        cmocka_unit_test(test_members_and_directors_name_their_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
