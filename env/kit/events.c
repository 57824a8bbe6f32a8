/* Events: told by the rules, written as JSON and as sentences from the game's forms. */
#include "kit/kit.h"

#include <string.h>

void ty_tell(TyPlay *play, TyEvent event)
{
    const TyGame *game = play->ruleset->game;
    const TyEventForm *form = &game->events[event.kind];
    if (form->owner != 0) {
        event.seat = (int8_t)event.args[form->owner - 1];
    } else if (game->active_at != 0) {
        event.seat = (int8_t)*((const uint8_t *)play->state + game->active_at);
    } else {
        event.seat = ty_head(play->state)->seat;
    }
    event.also = form->also != 0 ? (int8_t)event.args[form->also - 1] : event.seat;
    event.secret = form->secret != NULL && form->secret(play->ruleset);
    if (form->path != NULL) {
        event.path_count = play->path_count;
        memcpy(event.path, play->path, play->path_count);
    }
    play->tape->event(play->tape->user, &event);
}

/* A name as a string of its own. */
typedef struct Name {
    char text[TY_NAME_MAX];
} Name;

static Name name_of(const TyNames *names, const TyRuleset *ruleset, uint32_t index)
{
    Name name = {.text = ""};
    TyText text = ty_text_init(name.text, sizeof name.text);
    ty_names_write(names, ruleset, index, &text);
    return name;
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void json_seats(TyJson *out, const char *key, uint32_t bits)
{
    ty_json_open(out, key, '[');
    for (; bits != 0; bits &= bits - 1) {
        ty_json_put_int(out, NULL, __builtin_ctz(bits));
    }
    ty_json_close(out, ']');
}

static void json_item(TyJson *out, const TyRuleset *ruleset, const TyArg *arg, uint32_t index)
{
    if (arg->names->json != NULL) {
        arg->names->json(ruleset, index, arg->key, out);
    } else {
        ty_json_put_string(out, arg->key, name_of(arg->names, ruleset, index).text);
    }
}

/* Writes one argument whose number is `value`. */
static void json_arg(TyJson *out, const TyRuleset *ruleset, const TyArg *arg, const TyEvent *event,
                     int16_t value)
{
    bool none = value == 0;
    switch (arg->kind) {
    case TY_ARG_NONE:
        break;
    case TY_ARG_OWNER:
        ty_json_put_int(out, arg->key, event->seat);
        break;
    case TY_ARG_NUMBER:
        ty_json_put_int(out, arg->key, value);
        break;
    case TY_ARG_FLAG:
        ty_json_put_bool(out, arg->key, value != 0);
        break;
    case TY_ARG_SEATS:
        json_seats(out, arg->key, (uint16_t)value);
        break;
    case TY_ARG_NAME:
        json_item(out, ruleset, arg, (uint16_t)value);
        break;
    case TY_ARG_SEAT_OR_NONE:
    case TY_ARG_NAME_OR_NONE:
        if (none) {
            ty_json_put_null(out, arg->key);
        } else if (arg->kind == TY_ARG_SEAT_OR_NONE) {
            ty_json_put_int(out, arg->key, value - 1);
        } else {
            json_item(out, ruleset, arg, (uint16_t)(value - 1));
        }
        break;
    }
}

/* Whether the sentence that others are told names the argument. */
static bool arg_public(const TyEventForm *form, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = strchr(form->hidden, '{'); at != NULL; at = strchr(at + 1, '{')) {
        if (strcspn(at + 1, ":}") == length && strncmp(at + 1, key, length) == 0) {
            return true;
        }
    }
    return false;
}

bool kit_event_hidden(const TyEvent *event, uint32_t seat)
{
    return event->secret && (int8_t)seat != event->seat && (int8_t)seat != event->also;
}

void kit_event_json(const TyRuleset *ruleset, const TyEvent *event, bool open, TyJson *out)
{
    const TyEventForm *form = &ruleset->game->events[event->kind];
    uint32_t number = 0;
    ty_json_put_string(out, "event", form->name);
    for (uint32_t i = 0; i < TY_EVENT_ARGS_MAX && form->args[i].kind != TY_ARG_NONE; i++) {
        const TyArg *arg = &form->args[i];
        bool takes = arg->kind != TY_ARG_OWNER;
        if (open || arg_public(form, arg->key)) {
            json_arg(out, ruleset, arg, event, takes ? event->args[number] : (int16_t)0);
        }
        number += takes;
    }
    if (form->path != NULL && open) {
        ty_json_open(out, "path", '[');
        for (uint32_t i = 0; i < event->path_count; i++) {
            ty_json_put_string(out, NULL, name_of(form->path, ruleset, event->path[i]).text);
        }
        ty_json_close(out, ']');
    }
}

/* ---- Sentences ---------------------------------------------------------------------------------
 */

static void text_seats(TyText *out, uint32_t bits)
{
    const char *separator = "";
    for (; bits != 0; bits &= bits - 1) {
        ty_text_add(out, "%sseat %d", separator, __builtin_ctz(bits));
        separator = ", ";
    }
    ty_text_add(out, "%s", separator[0] == '\0' ? "nobody" : "");
}

static void text_arg(TyText *out, const TyRuleset *ruleset, const TyArg *arg, const TyEvent *event,
                     int16_t value)
{
    switch (arg->kind) {
    case TY_ARG_NONE:
        break;
    case TY_ARG_OWNER:
        ty_text_add(out, "seat %d", event->seat);
        break;
    case TY_ARG_NUMBER:
        ty_text_add(out, "%d", value);
        break;
    case TY_ARG_FLAG:
        ty_text_add(out, "%s",
                    arg->names != NULL ? arg->names->words[value != 0]
                    : value != 0       ? "yes"
                                       : "no");
        break;
    case TY_ARG_SEATS:
        text_seats(out, (uint16_t)value);
        break;
    case TY_ARG_NAME:
        ty_names_title(arg->names, ruleset, (uint16_t)value, out);
        break;
    case TY_ARG_SEAT_OR_NONE:
        text_seats(out, value == 0 ? 0 : 1u << (value - 1));
        break;
    case TY_ARG_NAME_OR_NONE:
        if (value == 0) {
            ty_text_add(out, "%s", arg->names->none != NULL ? arg->names->none : "none");
        } else {
            ty_names_title(arg->names, ruleset, (uint16_t)(value - 1), out);
        }
        break;
    }
}

static bool key_is(const char *key, size_t length, const char *word)
{
    return strncmp(key, word, length) == 0 && word[length] == '\0';
}

/* Writes the noun behind a number, ":token}", if there is one. */
static void text_counted(TyText *out, const char *noun, int16_t value)
{
    if (*noun == ':') {
        ty_text_add(out, " %.*s%s", (int)strcspn(noun + 1, "}"), noun + 1, value == 1 ? "" : "s");
    }
}

/* Writes what a key, "points}" or "points:point}", names: an argument, `who` acts, the `path`, its
 * `end`. */
static void text_key(TyText *out, const TyRuleset *ruleset, const TyEvent *event, const char *key)
{
    const TyEventForm *form = &ruleset->game->events[event->kind];
    size_t length = strcspn(key, ":}");
    uint32_t number = 0;
    for (uint32_t i = 0; i < TY_EVENT_ARGS_MAX && form->args[i].kind != TY_ARG_NONE; i++) {
        const TyArg *arg = &form->args[i];
        bool takes = arg->kind != TY_ARG_OWNER;
        if (key_is(key, length, arg->key)) {
            text_arg(out, ruleset, arg, event, takes ? event->args[number] : (int16_t)0);
            text_counted(out, key + length, takes ? event->args[number] : (int16_t)0);
        }
        number += takes;
    }
    if (key_is(key, length, "who")) {
        ty_text_add(out, "seat %d", event->seat);
    }
    bool whole = key_is(key, length, "path");
    bool last = key_is(key, length, "end");
    for (uint32_t i = 0; form->path != NULL && i < event->path_count; i++) {
        if (whole || (last && i + 1u == event->path_count)) {
            ty_text_add(out, "%s", whole && i > 0 ? ", " : "");
            ty_names_title(form->path, ruleset, event->path[i], out);
        }
    }
}

void kit_event_text(const TyRuleset *ruleset, const TyEvent *event, uint32_t seat, TyText *out)
{
    const TyEventForm *form = &ruleset->game->events[event->kind];
    const char *at = kit_event_hidden(event, seat) ? form->hidden : form->sentence;
    while (*at != '\0') {
        size_t plain = strcspn(at, "{");
        ty_text_put(out, at, plain);
        at += plain;
        if (*at == '{') {
            at++;
            text_key(out, ruleset, event, at);
            at += strcspn(at, "}") + 1;
        }
    }
}
