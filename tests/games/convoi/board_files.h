/* Board and deck files of Convoi Express as texts that a test changes: helpers of the tests that
 * read them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "games/convoi/convoi.h"
#include "load/load.h"
#include "tests/support/file_text.h"

static ConvoiTables tables;

typedef TyStatus (*ReadFn)(const TyDoc *doc, ConvoiTables *tables);

/* The content of a built-in file; the caller frees it. */
static inline char *data_text(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "env/games/convoi/data/%s.json", name);
    return file_text(path);
}

/* Checks `text`, which is freed, and reads it into empty tables. */
static inline TyStatus text_read(char *text, ReadFn read)
{
    TyDoc doc;
    char name[TY_NAME_MAX];
    const char *kind = NULL;
    memset(&tables, 0, sizeof tables);
    TyStatus status = ty_file_check(text, strlen(text), &kind, name);
    if (status.code == TY_OK) {
        assert_int_equal(load_json(text, strlen(text), &doc).code, TY_OK);
        status = read(&doc, &tables);
        load_free(&doc);
    }
    free(text);
    return status;
}

static inline void expect_failure(TyStatus status, const char *message)
{
    assert_int_equal(status.code, TY_BAD_FILE);
    if (strstr(status.message, message) == NULL) {
        fail_msg("the message is \"%s\", expected \"%s\"", status.message, message);
    }
}

/* Expects that no ruleset takes `text`, which is freed, for its file "mine". */
static inline void expect_ruleset_failure(const char *spec, char *text, const char *message)
{
    TyRuleset *ruleset = NULL;
    const TyFileBytes file = {"mine", "mine", text, strlen(text)};
    expect_failure(ty_ruleset_open_bytes(spec, &file, 1, &ruleset), message);
    assert_null(ruleset);
    free(text);
}
