/* Looking for mistakes in the tables of a game, so that its author is told by a sentence. */
#include "kit/kit.h"

#include "core/status.h"

#include <string.h>

/* A game being looked at: the first mistake is kept. */
typedef struct Inspection {
    const TyGame *game;
    TyStatus status;
} Inspection;

/* Notes that entry `entry` of table `table` is wrong, unless something was wrong before. */
static void mistake(Inspection *look, const char *table, const char *entry, const char *what)
{
    if (look->status.code == TY_OK) {
        look->status =
            ty_status_fail(TY_BAD_ARGUMENT, "game %.40s: %s%s%.60s%s: %s", look->game->name, table,
                           entry[0] == '\0' ? "" : " `", entry, entry[0] == '\0' ? "" : "`", what);
    }
}

static void expect(Inspection *look, bool holds, const char *table, const char *entry,
                   const char *what)
{
    if (!holds) {
        mistake(look, table, entry, what);
    }
}

static bool is_word(const char *text, const char *more)
{
    char allowed[64] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    strncat(allowed, more, sizeof allowed - strlen(allowed) - 1);
    return text[0] != '\0' && strspn(text, allowed) == strlen(text);
}

/* Whether a list can be counted and its items written. */
static bool names_whole(const TyNames *names)
{
    return names == NULL || names->words != NULL || names->kept ||
           (names->count != NULL && names->write != NULL);
}

static void check_fields(Inspection *look)
{
    const TyField *fields = look->game->fields;
    uint32_t count = 0;
    for (; fields != NULL && fields[count].key != NULL; count++) {
        const TyField *field = &fields[count];
        bool listed = field->kind == TY_FIELD_CHOICE || field->kind == TY_FIELD_FILE;
        expect(look, is_word(field->key, ""), "fields", field->key, "a key has a-z 0-9 _ only");
        expect(look, !listed || field->choices != NULL, "fields", field->key,
               "choices and files need `choices`");
        expect(look,
               (field->kind != TY_FIELD_INT && field->kind != TY_FIELD_FRACTION) ||
                   (field->standard >= field->minimum && field->standard <= field->maximum),
               "fields", field->key, "the standard value is out of range");
        expect(look, strcmp(field->key, "chance") != 0 && strcmp(field->key, "ask_forced") != 0,
               "fields", field->key, "every game has this one already");
        expect(look, field->help != NULL, "fields", field->key, "it has no help");
    }
    expect(look, count + 2 <= TY_FIELDS_MAX, "fields", "", "there are too many");
    expect(look, look->game->file_count <= TY_FILES_MAX, "files", "", "there are too many");
    expect(look, look->game->file_count == 0 || look->game->read != NULL, "files", "",
           "there is no `read` for them");
}

static void check_actions(Inspection *look)
{
    const TyActionForm *forms = look->game->actions;
    if (forms == NULL || forms[0].verb == NULL || strcmp(forms[0].verb, "wait") != 0) {
        mistake(look, "actions", "", "the first is {\"wait\"}");
        return;
    }
    uint32_t count = 0;
    for (; forms[count].verb != NULL; count++) {
        expect(look, is_word(forms[count].verb, "."), "actions", forms[count].verb,
               "a verb has a-z 0-9 _ . only");
        expect(look, names_whole(forms[count].items), "actions", forms[count].verb,
               "its items can be neither counted nor named");
        for (uint32_t i = 0; i < count; i++) {
            expect(look, strcmp(forms[i].verb, forms[count].verb) != 0, "actions",
                   forms[count].verb, "it is there twice");
        }
    }
    expect(look, count <= TY_FORMS_MAX, "actions", "", "there are too many forms");
    expect(look, look->game->answer_words > 0 && look->game->answer_words <= TY_ANSWERS_MAX,
           "answer_words", "", "must be from 1 to 16");
}

static void check_block(Inspection *look, const TyBlockForm *form, bool after_full)
{
    const char *name = form->name;
    expect(look, is_word(name, ""), "blocks", name, "a name has a-z 0-9 _ only");
    expect(look, form->help != NULL, "blocks", name, "it has no help");
    expect(look, names_whole(form->rows) && names_whole(form->columns) && names_whole(form->values),
           "blocks", name, "its rows, columns or values can be neither counted nor named");
    expect(look, (form->kind == TY_BLOCK_CATEGORY) == (form->values != NULL), "blocks", name,
           "categories have `values`, and nothing else has");
    expect(look,
           form->kind == TY_BLOCK_CATEGORY || form->kind == TY_BLOCK_FLAG || form->maximum > 0 ||
               form->maximum_of != NULL,
           "blocks", name, "counts and fractions need a maximum");
    expect(look, form->full || !after_full, "blocks", name,
           "blocks of the privileged row come last");
    expect(look, look->game->observe != NULL || form->show != TY_SHOW_BY_GAME, "blocks", name,
           "nobody fills it: there is neither `show` nor an `observe`");
}

static void check_blocks(Inspection *look)
{
    const TyBlockForm *forms = look->game->blocks;
    uint32_t count = 0;
    for (; forms != NULL && forms[count].name != NULL; count++) {
        check_block(look, &forms[count], count > 0 && forms[count - 1].full);
    }
    expect(look, count > 0 && count + 2 <= TY_BLOCKS_MAX, "blocks", "",
           "there are none, or too many");
}

static bool key_is(const char *key, size_t length, const char *word)
{
    return strncmp(key, word, length) == 0 && word[length] == '\0';
}

/* Whether "key}" of a sentence is an argument of the form, who acts, its path or the path's end;
 * "key:noun}" has to be a number. */
static bool key_known(const TyEventForm *form, const char *key)
{
    size_t length = strcspn(key, ":}");
    bool counts = key[length] == ':';
    bool path = form->path != NULL;
    if (!counts && (key_is(key, length, "who") ||
                    (path && (key_is(key, length, "path") || key_is(key, length, "end"))))) {
        return true;
    }
    for (uint32_t i = 0; i < TY_EVENT_ARGS_MAX && form->args[i].kind != TY_ARG_NONE; i++) {
        if (key_is(key, length, form->args[i].key)) {
            return !counts || form->args[i].kind == TY_ARG_NUMBER;
        }
    }
    return false;
}

static bool sentence_whole(const TyEventForm *form, const char *sentence)
{
    if (sentence == NULL) {
        return false;
    }
    for (const char *at = strchr(sentence, '{'); at != NULL; at = strchr(at + 1, '{')) {
        if (strchr(at, '}') == NULL || !key_known(form, at + 1)) {
            return false;
        }
    }
    return true;
}

static void check_event(Inspection *look, const TyEventForm *form)
{
    expect(look, is_word(form->name, ""), "events", form->name, "a name has a-z 0-9 _ only");
    expect(look, sentence_whole(form, form->sentence), "events", form->name,
           "its sentence is missing or has a {key} that is no argument");
    expect(look, form->secret == NULL || sentence_whole(form, form->hidden), "events", form->name,
           "a secret event needs a `hidden` sentence");
    for (uint32_t i = 0; i < TY_EVENT_ARGS_MAX && form->args[i].kind != TY_ARG_NONE; i++) {
        const TyArg *arg = &form->args[i];
        bool named = arg->kind == TY_ARG_NAME || arg->kind == TY_ARG_NAME_OR_NONE;
        expect(look, arg->key != NULL && is_word(arg->key, ""), "events", form->name,
               "an argument has no key of a-z 0-9 _");
        bool fits = arg->kind == TY_ARG_FLAG ? arg->names == NULL || arg->names->words != NULL
                                             : named == (arg->names != NULL);
        expect(look, fits && names_whole(arg->names), "events", form->name,
               "an argument that is a name needs `names`; a flag may have two words there, no "
               "other has them");
    }
}

static void check_events(Inspection *look)
{
    const TyEventForm *forms = look->game->events;
    uint32_t count = 0;
    for (; forms != NULL && forms[count].name != NULL; count++) {
        check_event(look, &forms[count]);
    }
    expect(look, count > 0 && strcmp(forms[0].name, "end") == 0, "events", "",
           "the first is `end`");
}

static void check_streams(Inspection *look)
{
    const TyStream *streams = look->game->streams;
    uint32_t count = 0;
    for (; streams != NULL && streams[count].name != NULL; count++) {
        expect(look, is_word(streams[count].name, ""), "streams", streams[count].name,
               "a name has a-z 0-9 _ only");
        expect(look, streams[count].outcomes != NULL && names_whole(streams[count].outcomes),
               "streams", streams[count].name, "its outcomes have no names");
    }
    expect(look, count <= TY_STREAMS_MAX, "streams", "", "there are too many");
}

/* The fields cover every byte of the state behind head and answers, and none twice. */
static void check_state(Inspection *look)
{
    const TyGame *game = look->game;
    uint8_t covered[TY_STATE_MAX] = {0};
    size_t first = sizeof(TyHead) + game->answer_words * sizeof(uint64_t);
    if (game->state_fields == NULL || game->state_size % 8 != 0 || game->state_size < first ||
        game->state_size > TY_STATE_MAX) {
        mistake(look, "state_fields", "",
                "the state's size or its fields are missing or too large");
        return;
    }
    memset(covered, 1, first);
    for (const TyStateField *field = game->state_fields; field->size != 0; field++) {
        for (size_t i = 0; i < (size_t)field->size * field->count; i++) {
            size_t at = field->at + i;
            expect(look, at < game->state_size && !covered[at], "state_fields", "",
                   "two fields overlap, or one lies outside");
            covered[at < game->state_size ? at : 0] = 1;
        }
    }
    expect(look, memchr(covered, 0, game->state_size) == NULL, "state_fields", "",
           "a byte of the state is in no field");
}

static void check_functions(Inspection *look)
{
    const TyGame *game = look->game;
    uint32_t metrics = 0;
    while (game->metrics != NULL && game->metrics[metrics] != NULL) {
        metrics++;
    }
    expect(look, game->apply != NULL && game->answers != NULL, "functions", "",
           "`apply` and `answers` are needed");
    expect(look, metrics == 0 || game->measure != NULL, "metrics", "",
           "there is no `measure` for them");
    expect(look, metrics <= TY_METRICS_MAX, "metrics", "", "there are too many");
}

TyStatus ty_game_check(const TyGame *game)
{
    Inspection look = {.game = game};
    if (game->api != TY_GAME_API) {
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "a game made for version %u of game.h; this library has version %u",
                              game->api, (unsigned)TY_GAME_API);
    }
    expect(&look, game->name != NULL && is_word(game->name, "") && game->title != NULL, "name", "",
           "a game has a name of a-z 0-9 _ and a title");
    check_fields(&look);
    check_actions(&look);
    check_blocks(&look);
    check_events(&look);
    check_streams(&look);
    check_state(&look);
    check_functions(&look);
    return look.status;
}
