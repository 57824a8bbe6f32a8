/* Text and JSON into a buffer of fixed size; what does not fit is counted, not written. */
#include "core/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

Text text_init(char *data, size_t size)
{
    data[0] = '\0';
    return (Text){.data = data, .size = size};
}

void text_add(Text *text, const char *format, ...)
{
    size_t used = text->length < text->size ? text->length : text->size - 1;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->data + used, text->size - used, format, args);
    va_end(args);
    text->length += length > 0 ? (size_t)length : 0;
}

Json json_init(char *data, size_t size)
{
    return (Json){.text = text_init(data, size)};
}

/* True for a character that JSON strings hold as it is. */
static bool json_plain(unsigned char character)
{
    return character >= 0x20 && character != '"' && character != '\\';
}

static void json_quote(Text *text, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    text_add(text, "\"");
    while (*at != '\0') {
        int run = 0;
        while (json_plain(at[run])) {
            run++;
        }
        text_add(text, "%.*s", run, (const char *)at);
        at += run;
        if (*at == '"' || *at == '\\') {
            text_add(text, "\\%c", *at++);
        } else if (*at != '\0') {
            text_add(text, "\\u%04x", *at++);
        }
    }
    text_add(text, "\"");
}

static void json_begin(Json *json, const char *key)
{
    if (json->comma) {
        text_add(&json->text, ",");
    }
    json->comma = true;
    if (key != NULL) {
        json_quote(&json->text, key);
        text_add(&json->text, ":");
    }
}

void json_open(Json *json, const char *key, char bracket)
{
    json_begin(json, key);
    text_add(&json->text, "%c", bracket);
    json->comma = false;
}

void json_close(Json *json, char bracket)
{
    text_add(&json->text, "%c", bracket);
    json->comma = true;
}

void json_put_string(Json *json, const char *key, const char *value)
{
    json_begin(json, key);
    json_quote(&json->text, value);
}

void json_put_int(Json *json, const char *key, int64_t value)
{
    json_begin(json, key);
    text_add(&json->text, "%" PRId64, value);
}

void json_put_bool(Json *json, const char *key, bool value)
{
    json_put_raw(json, key, value ? "true" : "false");
}

void json_put_null(Json *json, const char *key)
{
    json_put_raw(json, key, "null");
}

void json_put_hex(Json *json, const char *key, uint64_t value)
{
    json_begin(json, key);
    text_add(&json->text, "\"%016" PRIx64 "\"", value);
}

void json_put_raw(Json *json, const char *key, const char *value)
{
    json_begin(json, key);
    text_add(&json->text, "%s", value);
}
