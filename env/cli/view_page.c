/* The page of an episode: what is drawn, for each pair of eyes, as JSON inside the page's template.
 */
#include "cli/output.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char view_page[]; /* page.html */

enum { NOTES_SHOWN = 12 /* of what an agent tells of one decision */ };

static const char mark[] = "@EPISODE@";

/* The episode being played again for one pair of eyes. */
typedef struct Film {
    const Reel *reel;
    uint32_t eyes; /* a seat, or TY_EVERYTHING */
    TyJson *json;
    char *text; /* of a drawing or an event, TY_SVG_MAX bytes */
    _Alignas(8) uint8_t state[TY_STATE_MAX];
} Film;

/* What was visited most, is likeliest or best comes first. */
static int note_order(const void *left, const void *right)
{
    const TyNote *a = left;
    const TyNote *b = right;
    const float ahead[3][2] = {
        {a->visits, b->visits}, {a->probability, b->probability}, {a->value, b->value}};
    for (uint32_t i = 0; i < 3; i++) {
        if (ahead[i][0] > ahead[i][1] || ahead[i][0] < ahead[i][1]) {
            return ahead[i][0] > ahead[i][1] ? -1 : 1;
        }
    }
    return a->action < b->action ? -1 : 1;
}

/* The best of them; and the one that was taken, if there is room for few. */
static void reel_add_notes(Reel *reel, uint32_t action, const TyNotes *notes)
{
    uint32_t count = notes->count < NOTES_SHOWN ? notes->count : NOTES_SHOWN;
    TyNotes sorted = *notes;
    qsort(sorted.list, notes->count, sizeof sorted.list[0], note_order);
    for (uint32_t i = count; i < notes->count; i++) {
        if (sorted.list[i].action == action) {
            sorted.list[count - 1] = sorted.list[i];
        }
    }
    reel->notes =
        cli_memory(realloc(reel->notes, (reel->note_count + count) * sizeof *reel->notes));
    memcpy(reel->notes + reel->note_count, sorted.list, count * sizeof *reel->notes);
    reel->note_count += count;
}

void reel_add(Reel *reel, uint32_t action, const TyNotes *notes)
{
    if (reel->count == reel->capacity) {
        reel->capacity = reel->capacity > 0 ? 2 * reel->capacity : 1024;
        reel->actions = cli_memory(realloc(reel->actions, reel->capacity * sizeof *reel->actions));
        reel->note_first =
            cli_memory(realloc(reel->note_first, (reel->capacity + 1u) * sizeof *reel->note_first));
    }
    reel->note_first[reel->count] = reel->note_count;
    reel->actions[reel->count++] = action;
    if (notes != NULL && notes->count > 0) {
        reel_add_notes(reel, action, notes);
    }
    reel->note_first[reel->count] = reel->note_count;
}

void reel_close(Reel *reel)
{
    free(reel->actions);
    free(reel->notes);
    free(reel->note_first);
}

/* An event as these eyes may know it; everything together is what its own seat knows. */
static void add_event(void *user, const TyEvent *event)
{
    Film *film = user;
    uint32_t seat = film->eyes != TY_EVERYTHING ? film->eyes
                    : event->seat >= 0          ? (uint32_t)event->seat
                                                : 0;
    ty_event_text(film->reel->ruleset, event, seat, film->text, TY_SVG_MAX);
    if (film->text[0] != '\0') {
        ty_json_put_string(film->json, NULL, film->text);
    }
}

static void film_begin(Film *film, TyTape *tape)
{
    ty_reset(film->reel->ruleset, film->state, film->reel->seed, tape);
}

static void film_step(Film *film, uint32_t index, TyTape *tape)
{
    int32_t reward[TY_SEATS_MAX] = {0};
    ty_step(film->reel->ruleset, film->state, film->reel->actions[index], reward, tape);
}

/* What happened: of the set-up, then of each decision. */
static void add_events(Film *film)
{
    TyTape tape = {.user = film, .event = add_event};
    ty_json_open(film->json, "before", '[');
    film_begin(film, &tape);
    ty_json_close(film->json, ']');
    ty_json_open(film->json, "events", '[');
    for (uint32_t i = 0; i < film->reel->count; i++) {
        ty_json_open(film->json, NULL, '[');
        film_step(film, i, &tape);
        ty_json_close(film->json, ']');
    }
    ty_json_close(film->json, ']');
}

/* The first drawing, then what each decision changes. */
static void add_drawings(Film *film)
{
    TySketch sketch = {.count = 0};
    const TyRuleset *ruleset = film->reel->ruleset;
    film_begin(film, NULL);
    ty_svg(ruleset, film->state, film->eyes, &sketch, film->text, TY_SVG_MAX);
    ty_json_put_string(film->json, "svg", film->text);
    ty_json_open(film->json, "steps", '[');
    for (uint32_t i = 0; i < film->reel->count; i++) {
        film_step(film, i, NULL);
        ty_svg_changes(ruleset, film->state, film->eyes, &sketch, film->text, TY_SVG_MAX);
        ty_json_put_raw(film->json, NULL, film->text);
    }
    ty_json_close(film->json, ']');
}

/* A number that an agent told, or null. */
static void add_told(Film *film, float value)
{
    char number[32];
    snprintf(number, sizeof number, "%.4g", (double)value);
    ty_json_put_raw(film->json, NULL, isnan(value) ? "null" : number);
}

/* What the agent thought of its choices: [action, probability, value, visits] of each. */
static void add_notes(Film *film, uint32_t index)
{
    const Reel *reel = film->reel;
    char name[TY_NAME_MAX];
    ty_json_open(film->json, "notes", '[');
    for (uint32_t i = reel->note_first[index]; i < reel->note_first[index + 1]; i++) {
        ty_action_name(reel->ruleset, reel->notes[i].action, name);
        ty_json_open(film->json, NULL, '[');
        ty_json_put_string(film->json, NULL, name);
        add_told(film, reel->notes[i].probability);
        add_told(film, reel->notes[i].value);
        add_told(film, reel->notes[i].visits);
        ty_json_close(film->json, ']');
    }
    ty_json_close(film->json, ']');
}

/* Who decided, and what, as far as these eyes may know: what others choose may be hidden. */
static void add_decision(Film *film, uint32_t index)
{
    const Reel *reel = film->reel;
    int8_t seat = ty_head(film->state)->seat;
    bool own = film->eyes == TY_EVERYTHING || film->eyes == (uint32_t)seat;
    char name[TY_NAME_MAX];
    ty_json_open(film->json, NULL, '{');
    ty_json_put_int(film->json, "seat", seat);
    if (own) {
        ty_action_name(reel->ruleset, reel->actions[index], name);
        ty_action_text(reel->ruleset, NULL, reel->actions[index], film->text, TY_SVG_MAX);
        ty_json_put_string(film->json, "action", name);
        ty_json_put_string(film->json, "text", film->text);
    }
    if (own && reel->note_first[index] < reel->note_first[index + 1]) {
        add_notes(film, index);
    }
    ty_json_close(film->json, '}');
}

static void add_decisions(Film *film)
{
    film_begin(film, NULL);
    ty_json_open(film->json, "decisions", '[');
    for (uint32_t i = 0; i < film->reel->count; i++) {
        add_decision(film, i);
        film_step(film, i, NULL);
    }
    ty_json_close(film->json, ']');
}

static void add_eyes(Film *film, uint32_t eyes)
{
    char name[LOG_NAME_MAX + 32];
    film->eyes = eyes;
    if (eyes == TY_EVERYTHING) {
        snprintf(name, sizeof name, "everything");
    } else {
        snprintf(name, sizeof name, "seat %" PRIu32 " (%s)", eyes, film->reel->who[eyes]);
    }
    ty_json_open(film->json, NULL, '{');
    ty_json_put_string(film->json, "name", name);
    add_decisions(film);
    add_events(film);
    add_drawings(film);
    ty_json_close(film->json, '}');
}

/* The last position. */
static void film_end(Film *film)
{
    film_begin(film, NULL);
    for (uint32_t i = 0; i < film->reel->count; i++) {
        film_step(film, i, NULL);
    }
}

/* The score sheet; before the end of the game it may say what one seat does not know. */
static void add_scores(Film *film)
{
    const TyShape *shape = ty_shape(film->reel->ruleset);
    const TyHead *head = ty_head(film->state);
    int32_t metrics[TY_METRICS_MAX];
    film_end(film);
    ty_metrics(film->reel->ruleset, film->state, metrics);
    bool told = film->eyes == TY_EVERYTHING || (head->over && !head->truncated);
    for (uint32_t i = 0; told && i < shape->metric_count; i++) {
        ty_json_put_int(film->json, shape->metrics[i], metrics[i]);
    }
}

/* What the page says beside the board: who played what, and the score sheet. With the seed all
 * hidden cards could be dealt again: it is for those who may see everything. */
static void add_about(Film *film)
{
    const Reel *reel = film->reel;
    const TyShape *shape = ty_shape(reel->ruleset);
    char key[32];
    ty_json_open(film->json, "about", '{');
    ty_json_put_string(film->json, "game", ty_game_name(ty_ruleset_game(reel->ruleset)));
    ty_json_put_string(film->json, "ruleset", shape->spec);
    if (film->eyes == TY_EVERYTHING) {
        output_unsigned(film->json, "seed", reel->seed);
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        snprintf(key, sizeof key, "seat %" PRIu32, seat);
        ty_json_put_string(film->json, key, reel->who[seat]);
    }
    if (reel->end != NULL) {
        ty_json_put_string(film->json, "cut short", reel->end);
    }
    add_scores(film);
    if (shape->note[0] != '\0') {
        ty_json_put_string(film->json, "note", shape->note);
    }
    ty_json_close(film->json, '}');
}

static void add_episode(Film *film)
{
    const TyShape *shape = ty_shape(film->reel->ruleset);
    uint32_t only = film->eyes;
    ty_json_open(film->json, NULL, '{');
    ty_json_put_string(film->json, "title", ty_game_title(ty_ruleset_game(film->reel->ruleset)));
    add_about(film);
    ty_json_open(film->json, "eyes", '[');
    add_eyes(film, only);
    for (uint32_t seat = 0; only == TY_EVERYTHING && seat < shape->players; seat++) {
        add_eyes(film, seat);
    }
    ty_json_close(film->json, ']');
    ty_json_close(film->json, '}');
}

/* ---- Files -------------------------------------------------------------------------------------
 */

/* Writes the JSON so that nothing in it ends the script element that it stands in. */
static void put_inside_script(FILE *out, const char *json)
{
    for (; *json != '\0'; json++) {
        if (*json == '<') {
            fputs("\\u003c", out);
        } else {
            putc(*json, out);
        }
    }
}

static void put_page(FILE *out, const char *json)
{
    const char *at = strstr(view_page, mark);
    fwrite(view_page, 1, (size_t)(at - view_page), out);
    put_inside_script(out, json);
    fputs(at + sizeof mark - 1, out);
}

static void put_svg(FILE *out, const char *svg)
{
    fputs(svg, out);
}

static int file_save(const Reel *reel, const char *path, void (*put)(FILE *out, const char *text),
                     const char *text)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return cli_failure(reel->settings, "%s: %s", path, strerror(errno));
    }
    put(out, text);
    bool whole = ferror(out) == 0;
    if (fclose(out) != 0 || !whole) {
        return cli_failure(reel->settings, "%s: %s", path, strerror(errno));
    }
    printf("%s: %" PRIu32 " decisions\n", path, reel->count);
    return CLI_OK;
}

static int write_page(Film *film, const char *path)
{
    TyJson json = output_open();
    film->json = &json;
    add_episode(film);
    int status =
        json.text.length < json.text.size
            ? file_save(film->reel, path, put_page, json.text.data)
            : cli_failure(film->reel->settings, "the page is longer than %d bytes", CLI_JSON_MAX);
    free(json.text.data);
    return status;
}

static int write_drawing(Film *film, const char *path)
{
    uint64_t step = film->reel->settings->step;
    if (step > film->reel->count) {
        return cli_failure(film->reel->settings, "--step: the episode has %" PRIu32 " decisions",
                           film->reel->count);
    }
    film_begin(film, NULL);
    for (uint32_t i = 0; i < step; i++) {
        film_step(film, i, NULL);
    }
    ty_svg(film->reel->ruleset, film->state, film->eyes, NULL, film->text, TY_SVG_MAX);
    return file_save(film->reel, path, put_svg, film->text);
}

int reel_write(const Reel *reel)
{
    char standard[TY_NAME_MAX];
    uint32_t players = ty_shape(reel->ruleset)->players;
    if (reel->settings->seat >= players) {
        return cli_usage_error(reel->settings,
                               "--seat: %" PRIu64 " is out of range; allowed is 0..%u",
                               reel->settings->seat, players - 1);
    }
    snprintf(standard, sizeof standard, "%s.html", ty_game_name(ty_ruleset_game(reel->ruleset)));
    const char *path = reel->settings->out != NULL ? reel->settings->out : standard;
    size_t length = strlen(path);
    bool drawing = length > 4 && strcmp(path + length - 4, ".svg") == 0;
    Film *film = cli_memory(calloc(1, sizeof *film));
    film->reel = reel;
    film->eyes =
        settings_given(reel->settings, "seat") ? (uint32_t)reel->settings->seat : TY_EVERYTHING;
    film->text = cli_memory(malloc(TY_SVG_MAX));
    int status = drawing ? write_drawing(film, path) : write_page(film, path);
    free(film->text);
    free(film);
    return status;
}
