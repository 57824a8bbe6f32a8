/* Text and JSON into a buffer of fixed size; what does not fit is counted, not written. */
#include "core/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

TyText ty_text_init(char *data, size_t size)
{
    data[0] = '\0';
    return (TyText){.data = data, .size = size};
}

void ty_text_put(TyText *text, const char *bytes, size_t length)
{
    size_t used = text->length < text->size ? text->length : text->size - 1;
    size_t room = text->size - 1 - used;
    size_t taken = length < room ? length : room;
    memcpy(text->data + used, bytes, taken);
    text->data[used + taken] = '\0';
    text->length += length;
}

void ty_text_put_int(TyText *text, int64_t value)
{
    char digits[20];
    uint32_t at = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    ty_text_put(text, digits + at, sizeof digits - at);
}

void ty_text_put_count(TyText *text, uint32_t count, const char *noun)
{
    ty_text_put_int(text, count);
    ty_text_put(text, " ", 1);
    ty_text_put(text, noun, strlen(noun));
    ty_text_put(text, "s", count == 1 ? 0 : 1);
}

static void text_put_string(TyText *text, const char *string)
{
    const char *shown = string != NULL ? string : "(null)";
    ty_text_put(text, shown, strlen(shown));
}

/* Appends the conversion that begins behind a '%' at `format` and returns what follows it; NULL,
 * and nothing appended, if it is not one of the plain ones. */
static const char *text_convert(TyText *text, const char *format, va_list *args)
{
    switch (format[0]) {
    case 's':
        text_put_string(text, va_arg(*args, const char *));
        return format + 1;
    case 'd':
        ty_text_put_int(text, va_arg(*args, int));
        return format + 1;
    case 'u':
        ty_text_put_int(text, (int64_t)va_arg(*args, unsigned));
        return format + 1;
    case 'c':
        ty_text_put(text, &(char){(char)va_arg(*args, int)}, 1);
        return format + 1;
    case '%':
        ty_text_put(text, "%", 1);
        return format + 1;
    default:
        return NULL;
    }
}

/* As vsnprintf does. It gets what is not plain; the rest is done here, since it costs most of the
 * time of a long text: the more so where a library has added conversions of its own to printf, as
 * the Fortran runtime below NumPy does. */
static void text_format(TyText *text, const char *format, va_list *args)
{
    while (format[0] != '\0') {
        const char *sign = strchr(format, '%');
        if (sign == NULL) {
            text_put_string(text, format);
            return;
        }
        ty_text_put(text, format, (size_t)(sign - format));
        format = text_convert(text, sign + 1, args);
        if (format == NULL) {
            size_t used = text->length < text->size ? text->length : text->size - 1;
            int length = vsnprintf(text->data + used, text->size - used, sign, *args);
            text->length += length > 0 ? (size_t)length : 0;
            return;
        }
    }
}

void ty_text_add(TyText *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_format(text, format, &args);
    va_end(args);
}

TyJson ty_json_init(char *data, size_t size)
{
    return (TyJson){.text = ty_text_init(data, size)};
}

/* True for a character that JSON strings hold as it is. */
static bool json_plain(unsigned char character)
{
    return character >= 0x20 && character != '"' && character != '\\';
}

static void json_quote(TyText *text, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    ty_text_add(text, "\"");
    while (*at != '\0') {
        int run = 0;
        while (json_plain(at[run])) {
            run++;
        }
        ty_text_add(text, "%.*s", run, (const char *)at);
        at += run;
        if (*at == '"' || *at == '\\') {
            ty_text_add(text, "\\%c", *at++);
        } else if (*at != '\0') {
            ty_text_add(text, "\\u%04x", *at++);
        }
    }
    ty_text_add(text, "\"");
}

static void json_begin(TyJson *json, const char *key)
{
    if (json->comma) {
        ty_text_add(&json->text, ",");
    }
    json->comma = true;
    if (key != NULL) {
        json_quote(&json->text, key);
        ty_text_add(&json->text, ":");
    }
}

void ty_json_open(TyJson *json, const char *key, char bracket)
{
    json_begin(json, key);
    ty_text_add(&json->text, "%c", bracket);
    json->comma = false;
}

void ty_json_close(TyJson *json, char bracket)
{
    ty_text_add(&json->text, "%c", bracket);
    json->comma = true;
}

void ty_json_put_string(TyJson *json, const char *key, const char *value)
{
    json_begin(json, key);
    json_quote(&json->text, value);
}

void ty_json_put_int(TyJson *json, const char *key, int64_t value)
{
    json_begin(json, key);
    ty_text_add(&json->text, "%" PRId64, value);
}

void ty_json_put_bool(TyJson *json, const char *key, bool value)
{
    ty_json_put_raw(json, key, value ? "true" : "false");
}

void ty_json_put_null(TyJson *json, const char *key)
{
    ty_json_put_raw(json, key, "null");
}

void ty_json_put_hex(TyJson *json, const char *key, uint64_t value)
{
    json_begin(json, key);
    ty_text_add(&json->text, "\"%016" PRIx64 "\"", value);
}

void ty_json_put_raw(TyJson *json, const char *key, const char *value)
{
    json_begin(json, key);
    ty_text_add(&json->text, "%s", value);
}
