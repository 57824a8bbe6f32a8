/* Files of this repository as text that a test changes. Include cmocka.h before this. */
#pragma once

#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_TEXT_MAX = 65536 };

/* The content of a file; `path` begins at the top of the repository. The caller frees it. */
static inline char *file_text(const char *path)
{
    char whole[1024];
    snprintf(whole, sizeof whole, TY_SOURCE_DIR "/%s", path);
    FILE *file = fopen(whole, "rb");
    assert_non_null(file);
    char *text = calloc(1, FILE_TEXT_MAX);
    assert_non_null(text);
    assert_true(fread(text, 1, FILE_TEXT_MAX - 1, file) > 0);
    fclose(file);
    return text;
}

static inline void expect_ok(TyStatus status)
{
    assert_string_equal(status.message, "");
    assert_int_equal(status.code, TY_OK);
}

/* `text`, which is freed, with the first `from` replaced; the caller frees the result. */
static inline char *text_replace(char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL) {
        fail_msg("the file has no %s", from);
        return text;
    }
    size_t size = strlen(text) + strlen(to) + 1;
    char *changed = malloc(size);
    assert_non_null(changed);
    snprintf(changed, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return changed;
}
