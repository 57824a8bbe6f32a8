/* Settings of games and agents: reading and writing "key=value,key=value". */
#include "fields.h"

#include "core/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_MAX = 40,   /* letters of a word that is compared with a misspelt one */
    THOUSAND = 1000, /* a fraction is kept in thousandths */
    FILE_VALUE_MAX = 4 * TY_NAME_MAX,
};

uint32_t fields_count(const TyField *fields)
{
    uint32_t count = 0;
    while (fields[count].key != NULL) {
        count++;
    }
    return count;
}

uint32_t fields_find(const TyField *fields, const char *key)
{
    uint32_t index = 0;
    while (fields[index].key != NULL && strcmp(fields[index].key, key) != 0) {
        index++;
    }
    return index;
}

/* The index of `value` among the choices, or -1. */
static int32_t choice_find(const char *const *choices, const char *value)
{
    for (int32_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], value) == 0) {
            return i;
        }
    }
    return -1;
}

/* How many letters have to be added, taken away or exchanged to make `b` of `a`; both are short. */
static uint32_t letters_apart(const char *a, const char *b)
{
    uint32_t row[WORD_MAX + 1];
    uint32_t length = (uint32_t)strlen(b);
    for (uint32_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (uint32_t i = 0; a[i] != '\0'; i++) {
        uint32_t corner = row[0]++;
        for (uint32_t j = 0; j < length; j++) {
            uint32_t exchanged = corner + (a[i] != b[j]);
            uint32_t moved = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            corner = row[j + 1];
            row[j + 1] = exchanged < moved ? exchanged : moved;
        }
    }
    return row[length];
}

/* The word that `value` is most likely meant to be: at most a third of it is wrong. NULL if there
 * is none. */
static const char *nearest(const char *const *words, const char *value)
{
    const char *best = NULL;
    uint32_t least = (uint32_t)strlen(value) / 3 + 1;
    for (uint32_t i = 0; strlen(value) <= WORD_MAX && words[i] != NULL; i++) {
        uint32_t apart = strlen(words[i]) <= WORD_MAX ? letters_apart(value, words[i]) : least;
        if (apart < least) {
            least = apart;
            best = words[i];
        }
    }
    return best;
}

void fields_words_list(const char *const *words, const char *value, char *out, size_t size)
{
    TyText text = ty_text_init(out, size);
    const char *near = nearest(words, value);
    for (uint32_t i = 0; words[i] != NULL; i++) {
        ty_text_add(&text, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    if (near != NULL) {
        ty_text_add(&text, "; did you mean %s?", near);
    }
}

static TyStatus int_parse(const TyField *field, const char *value, int32_t *out)
{
    char *end = NULL;
    long number = strtol(value, &end, 10); /* the largest or smallest if it is beyond them */
    if (end == value || *end != '\0') {
        return ty_status_fail(TY_BAD_CONFIG, "%s=%s: not a whole number; allowed is %d..%d",
                              field->key, value, field->minimum, field->maximum);
    }
    if (number < field->minimum || number > field->maximum) {
        return ty_status_fail(TY_BAD_CONFIG, "%s=%s: out of range; allowed is %d..%d", field->key,
                              value, field->minimum, field->maximum);
    }
    *out = (int32_t)number;
    return ty_status_ok();
}

static TyStatus flag_parse(const TyField *field, const char *value, int32_t *out)
{
    static const char *const words[] = {"false", "true", "0", "1", NULL};
    int32_t index = choice_find(words, value);
    if (index < 0) {
        return ty_status_fail(TY_BAD_CONFIG, "%s=%s: not a flag; allowed are false and true",
                              field->key, value);
    }
    *out = index & 1;
    return ty_status_ok();
}

static TyStatus choice_parse(const TyField *field, const char *value, int32_t *out)
{
    *out = choice_find(field->choices, value);
    if (*out < 0) {
        char list[TY_MESSAGE_MAX / 2];
        fields_words_list(field->choices, value, list, sizeof list);
        return ty_status_fail(TY_BAD_CONFIG, "%s=%.60s: unknown value; allowed are %s", field->key,
                              value, list);
    }
    return ty_status_ok();
}

/* "0", "1" or "0.25", with up to three digits behind the point. */
static bool thousandths_parse(const char *text, int32_t *out)
{
    int32_t scale = THOUSAND;
    size_t whole = strspn(text, "0123456789");
    if (whole == 0 || whole > 4 || (text[whole] != '.' && text[whole] != '\0')) {
        return false;
    }
    *out = (int32_t)strtol(text, NULL, 10) * THOUSAND;
    for (const char *digit = text + whole + (text[whole] == '.'); *digit != '\0'; digit++) {
        scale /= 10;
        if (*digit < '0' || *digit > '9' || scale == 0) {
            return false;
        }
        *out += (*digit - '0') * scale;
    }
    return true;
}

void fields_fraction(int32_t thousandths, char out[FIELDS_FRACTION_MAX])
{
    TyText text = ty_text_init(out, FIELDS_FRACTION_MAX);
    ty_text_add(&text, "%d.%03d", thousandths / THOUSAND, thousandths % THOUSAND);
    while (out[text.length - 1] == '0') {
        out[--text.length] = '\0';
    }
    if (out[text.length - 1] == '.') {
        out[text.length - 1] = '\0';
    }
}

static TyStatus fraction_parse(const TyField *field, const char *value, int32_t *out)
{
    if (thousandths_parse(value, out) && *out >= field->minimum && *out <= field->maximum) {
        return ty_status_ok();
    }
    char least[FIELDS_FRACTION_MAX];
    char most[FIELDS_FRACTION_MAX];
    fields_fraction(field->minimum, least);
    fields_fraction(field->maximum, most);
    return ty_status_fail(TY_BAD_CONFIG,
                          "%s=%.60s: allowed is %s..%s, with up to three digits behind the point",
                          field->key, value, least, most);
}

/* A built-in file, or what the caller is to open. */
static TyStatus file_parse(Fields *settings, uint32_t index, char *value)
{
    const TyField *field = &settings->fields[index];
    settings->values[index] = field->choices != NULL ? choice_find(field->choices, value) : -1;
    if (settings->values[index] < 0) {
        settings->files[index] = value;
        if (strlen(value) >= FILE_VALUE_MAX) {
            return ty_status_fail(TY_LIMIT, "%s: the value is longer than %d characters",
                                  field->key, FILE_VALUE_MAX - 1);
        }
    }
    return ty_status_ok();
}

static TyStatus value_parse(Fields *settings, uint32_t index, char *value)
{
    const TyField *field = &settings->fields[index];
    int32_t *out = &settings->values[index];
    switch (field->kind) {
    case TY_FIELD_INT:
        return int_parse(field, value, out);
    case TY_FIELD_FLAG:
        return flag_parse(field, value, out);
    case TY_FIELD_CHOICE:
        return choice_parse(field, value, out);
    case TY_FIELD_FILE:
        return file_parse(settings, index, value);
    case TY_FIELD_FRACTION:
        return fraction_parse(field, value, out);
    }
    return ty_status_ok();
}

static TyStatus unknown_key(const Fields *settings, const char *key)
{
    char list[TY_MESSAGE_MAX * 2 / 3];
    const char *keys[TY_FIELDS_MAX + 1] = {NULL};
    for (uint32_t i = 0; settings->fields[i].key != NULL; i++) {
        keys[i] = settings->fields[i].key;
    }
    fields_words_list(keys, key, list, sizeof list);
    return ty_status_fail(TY_BAD_CONFIG, "%s has no key '%.40s'; it has %s", settings->owner, key,
                          list);
}

/* Takes one "key=value" into the settings. */
static TyStatus pair_parse(Fields *settings, char *pair, bool seen[TY_FIELDS_MAX])
{
    char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair) {
        return ty_status_fail(TY_BAD_CONFIG, "'%.60s': expected key=value", pair);
    }
    *equals = '\0';
    uint32_t index = fields_find(settings->fields, pair);
    if (settings->fields[index].key == NULL) {
        return unknown_key(settings, pair);
    }
    if (seen[index]) {
        return ty_status_fail(TY_BAD_CONFIG, "%s is given twice", pair);
    }
    seen[index] = true;
    return value_parse(settings, index, equals + 1);
}

TyStatus fields_parse(Fields *settings, char *list)
{
    TyStatus status = ty_status_ok();
    bool seen[TY_FIELDS_MAX] = {false};
    for (uint32_t i = 0; settings->fields[i].key != NULL; i++) {
        settings->values[i] = settings->fields[i].standard;
        settings->files[i] = NULL;
    }
    while (list != NULL && *list != '\0' && status.code == TY_OK) {
        char *pair = list;
        list = strchr(list, ',');
        if (list != NULL) {
            *list++ = '\0';
        }
        status = pair_parse(settings, pair, seen);
    }
    return status;
}

void fields_write_value(const TyField *field, int32_t value, const char *file_name, TyText *out)
{
    char fraction[FIELDS_FRACTION_MAX];
    switch (field->kind) {
    case TY_FIELD_INT:
        ty_text_add(out, "%d", value);
        break;
    case TY_FIELD_FLAG:
        ty_text_add(out, "%s", value ? "true" : "false");
        break;
    case TY_FIELD_CHOICE:
        ty_text_add(out, "%s", field->choices[value]);
        break;
    case TY_FIELD_FILE:
        ty_text_add(out, "%s", value >= 0 ? field->choices[value] : file_name);
        break;
    case TY_FIELD_FRACTION:
        fields_fraction(value, fraction);
        ty_text_add(out, "%s", fraction);
        break;
    }
}

void fields_write(const TyField *fields, const int32_t *values, const char *const *file_names,
                  TyText *out)
{
    const char *separator = ":";
    for (uint32_t i = 0; fields[i].key != NULL; i++) {
        const TyField *field = &fields[i];
        bool own_file = field->kind == TY_FIELD_FILE && values[i] < 0;
        if (!field->shown && !own_file && values[i] == field->standard) {
            continue;
        }
        ty_text_add(out, "%s%s=", separator, field->key);
        fields_write_value(field, values[i], file_names[i], out);
        separator = ",";
    }
}
