/* Drawings: the document around a game's board and parts, and what changed since the last one. */
#include "kit/svg.h"

#include "core/hash.h"
#include "kit/kit.h"

#include <string.h>

/* ---- Markup ------------------------------------------------------------------------------------
 */

/* ty_text_put without the NUL, while there is room: a drawing is made of thousands of short pieces.
 * Whoever opens a text closes it with text_end. */
static inline void put_bytes(TySvg *svg, const char *bytes, size_t length)
{
    TyText *text = &svg->text;
    if (text->length + length < text->size) {
        memcpy(text->data + text->length, bytes, length);
        text->length += length;
    } else {
        ty_text_put(text, bytes, length);
    }
}

static void text_end(TySvg *svg)
{
    ty_text_put(&svg->text, "", 0);
}

static inline void put(TySvg *svg, const char *text)
{
    put_bytes(svg, text, strlen(text));
}

static void put_int(TySvg *svg, int32_t value)
{
    char digits[12];
    uint32_t at = sizeof digits;
    uint32_t rest = value < 0 ? -(uint32_t)value : (uint32_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    put_bytes(svg, digits + at, sizeof digits - at);
}

/* Whether markup has the letter as it is. */
static bool is_plain(char letter)
{
    return letter != '\0' && letter != '&' && letter != '<' && letter != '>' && letter != '"';
}

/* A text inside markup. */
static void put_escaped(TySvg *svg, const char *text)
{
    for (size_t run; *text != '\0'; text += run) {
        for (run = 0; is_plain(text[run]); run++) {
        }
        put_bytes(svg, text, run);
        if (text[run] != '\0') {
            put(svg, text[run] == '&'   ? "&amp;"
                     : text[run] == '<' ? "&lt;"
                     : text[run] == '>' ? "&gt;"
                                        : "&quot;");
            run++;
        }
    }
}

/* A text inside a JSON string; games write no control characters. */
static void put_quoted(TySvg *svg, const char *text)
{
    put(svg, "\"");
    for (size_t run; *text != '\0'; text += run) {
        run = strcspn(text, "\\\"");
        put_bytes(svg, text, run);
        if (text[run] != '\0') {
            put(svg, text[run] == '"' ? "\\\"" : "\\\\");
            run++;
        }
    }
    put(svg, "\"");
}

void ty_svg_raw(TySvg *svg, const char *markup)
{
    put(svg, markup);
}

void ty_svg_shape(TySvg *svg, const char *markup, const int32_t *numbers)
{
    for (const char *mark = strchr(markup, '%'); mark != NULL; mark = strchr(markup, '%')) {
        put_bytes(svg, markup, (size_t)(mark - markup));
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): there are as many as marks */
        put_int(svg, *numbers++);
        markup = mark + 1;
    }
    put(svg, markup);
}

void ty_svg_label(TySvg *svg, const char *class, int32_t x, int32_t y, const char *text)
{
    put(svg, "<text class=\"");
    put(svg, class);
    ty_svg_put(svg, "\" x=\"%\" y=\"%\">", x, y);
    put_escaped(svg, text);
    put(svg, "</text>");
}

const char *ty_svg_player(uint32_t seat)
{
    static const char *const classes[TY_PLAYERS_MAX] = {"p0", "p1", "p2", "p3"};
    return seat < TY_PLAYERS_MAX ? classes[seat] : NULL;
}

int32_t ty_svg_text_width(const char *text, int32_t size)
{
    int32_t sum = 0; /* in hundredths of the size */
    for (; *text != '\0'; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter >= 0x80 && letter < 0xc0) {
            continue; /* inside a letter of several bytes */
        }
        bool wide = strchr("mwMW@%", letter) != NULL || (letter >= 'A' && letter <= 'Z');
        sum += strchr("fijlt.,:;|!'() -", letter) != NULL ? 36 : wide ? 74 : 59;
    }
    return sum * size / 100;
}

/* ---- Parts -------------------------------------------------------------------------------------
 */

/* Which of a run of actions are legal, as bits. */
static uint64_t acts_legal(const TySvg *svg, TyActs acts)
{
    uint64_t legal = 0;
    for (uint32_t i = 0; i < acts.count; i++) {
        legal |= (uint64_t)ty_answers_have(ty_answers_of(svg->state), acts.first + i) << i;
    }
    return legal;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text == NULL ? hash_add(hash, 0) : hash_bytes(hash, (const uint8_t *)text, strlen(text));
}

/* Of everything about a part that can change but its choices. */
static uint64_t look_hash(const TyPart *part)
{
    uint64_t hash =
        hash_add(0, (uint64_t)(uint16_t)part->x << 32 | (uint64_t)(uint16_t)part->y << 16 |
                        (uint64_t)(uint16_t)part->turn);
    for (uint32_t i = 0; i < TY_PART_CLASSES; i++) {
        hash = hash_text(hash, part->class[i]);
    }
    return hash_text(hash, part->text);
}

/* Which actions choose it. */
static uint64_t choices_hash(const TyPart *part, const uint64_t legal[TY_PART_ACTS])
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < TY_PART_ACTS; i++) {
        hash = legal[i] != 0 ? hash_add(hash_add(hash, legal[i]), part->acts[i].first) : hash;
    }
    return hash;
}

static void put_class(TySvg *svg, const TyPart *part)
{
    put(svg, part->kind);
    for (uint32_t i = 0; i < TY_PART_CLASSES; i++) {
        if (part->class[i] != NULL) {
            put(svg, " ");
            put(svg, part->class[i]);
        }
    }
}

static void put_transform(TySvg *svg, const TyPart *part)
{
    ty_svg_put(svg, "translate(% %)", part->x, part->y);
    if (part->turn != 0) {
        ty_svg_put(svg, " rotate(%)", part->turn);
    }
}

static void put_acts(TySvg *svg, const TyPart *part, const uint64_t legal[TY_PART_ACTS])
{
    const char *space = "";
    for (uint32_t i = 0; i < TY_PART_ACTS; i++) {
        for (uint64_t left = legal[i]; left != 0; left &= left - 1) {
            put(svg, space);
            put_int(svg, part->acts[i].first + (int32_t)__builtin_ctzll(left));
            space = " ";
        }
    }
}

static void put_name(TySvg *svg, const TyPart *part)
{
    if (part->name != NULL) {
        put(svg, part->name);
    } else if (part->names != NULL) {
        ty_names_write(part->names, svg->ruleset, part->index, &svg->text);
    }
}

static void put_id(TySvg *svg, const TyPart *part)
{
    put(svg, part->kind);
    put(svg, part->name != NULL || part->names != NULL ? "-" : "");
    put_name(svg, part);
}

static void part_write(TySvg *svg, const TyPart *part, const uint64_t legal[TY_PART_ACTS])
{
    put(svg, "<g id=\"");
    put_id(svg, part);
    put(svg, "\" class=\"");
    put_class(svg, part);
    put(svg, "\" transform=\"");
    put_transform(svg, part);
    if ((legal[0] | legal[1] | legal[2]) != 0) {
        put(svg, "\" data-act=\"");
        put_acts(svg, part, legal);
    }
    put(svg, part->title ? "\"><title>" : "\">");
    if (part->title) {
        put_name(svg, part);
        put(svg, "</title>");
    }
    if (part->shapes != NULL) {
        part->shapes(svg, part->index);
    } else if (part->look != NULL) {
        put(svg, part->look);
    }
    if (part->text != NULL) {
        ty_svg_label(svg, "on", part->text_at[0], part->text_at[1], part->text);
    }
    put(svg, "</g>\n");
}

/* What changed of a part: all of it, or only its choices. */
static void change_write(TySvg *svg, const TyPart *part, const uint64_t legal[TY_PART_ACTS],
                         bool looks)
{
    put(svg, svg->text.length > 1 ? ",[\"" : "[\"");
    put_id(svg, part);
    put(svg, "\",\"");
    put_acts(svg, part, legal);
    if (looks) {
        put(svg, "\",\"");
        put_class(svg, part);
        put(svg, "\",\"");
        put_transform(svg, part);
        put(svg, "\",");
        put_quoted(svg, part->text != NULL ? part->text : "");
        put(svg, "]");
    } else {
        put(svg, "\"]");
    }
}

void ty_svg_part(TySvg *svg, const TyPart *part)
{
    uint64_t legal[TY_PART_ACTS] = {0};
    for (uint32_t i = 0; i < TY_PART_ACTS && part->acts[i].count != 0 && svg->offers; i++) {
        legal[i] = acts_legal(svg, part->acts[i]);
    }
    uint32_t index = svg->part++;
    bool looks = true;
    bool choices = true;
    if (svg->sketch != NULL && index < TY_PARTS_MAX) {
        TySketch *sketch = svg->sketch;
        uint64_t look = look_hash(part);
        uint64_t choice = choices_hash(part, legal);
        looks = index >= sketch->count || sketch->looks[index] != look;
        choices = index >= sketch->count || sketch->choices[index] != choice;
        sketch->looks[index] = look;
        sketch->choices[index] = choice;
    }
    if (!svg->changes) {
        part_write(svg, part, legal);
    } else if (looks || choices) {
        change_write(svg, part, legal, looks);
    }
}

/* ---- Documents ---------------------------------------------------------------------------------
 */

/* What all games look like. */
static const char common_style[] =
    "text{font-family:'DejaVu "
    "Sans',Verdana,sans-serif;font-size:22px;fill:#22303c;text-anchor:middle}"
    ".start{text-anchor:start}.end{text-anchor:end}.small{font-size:18px}.big{font-size:30px;font-"
    "weight:700}"
    ".name{font-size:20px;paint-order:stroke;stroke:#f6f3ea;stroke-width:4px}.soft{fill:#5b6b78}"
    ".paper{fill:#f6f3ea}.panel{fill:#fffdf7;stroke:#c9c2b0;stroke-width:2}"
    ".left .on{text-anchor:start}"
    ".own{display:none;stroke:#1d252b;stroke-width:2}"
    ".p0 .o0,.p1 .o1,.p2 .o2,.p3 .o3{display:inline}.p0 .own{fill:#f0b429}.p1 .own{fill:#4a90d9}"
    ".p2 .own{fill:#e07a5f}.p3 .own{fill:#8fd0bd}"
    "@media(prefers-color-scheme:dark){text{fill:#e8edf1}.soft{fill:#a7b4bf}.paper{fill:#161b20}."
    "name{stroke:#161b20}"
    ".panel{fill:#1f262d;stroke:#44505b}}";

/* Behind the game's own rules. */
static const char choice_style[] =
    ".gone{display:none}[data-act]{cursor:pointer}"
    "[data-act]>rect,[data-act]>circle,[data-act]>path{stroke:#d6006c;stroke-width:5}"
    "@media(prefers-color-scheme:dark){[data-act]>rect,[data-act]>circle,[data-act]>path{stroke:#"
    "ff5fae}}";

static void document_open(TySvg *svg)
{
    const TyGame *game = svg->ruleset->game;
    put(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    ty_svg_put(svg, "% %\" class=\"ty-", TY_SVG_WIDTH, TY_SVG_HEIGHT);
    put(svg, game->name);
    put(svg, "\"><title>");
    put_escaped(svg, game->title);
    put(svg, "</title><style>");
    put(svg, common_style);
    put(svg, game->style != NULL ? game->style : "");
    put(svg, choice_style);
    ty_svg_put(svg, "</style>\n<rect class=\"paper\" width=\"%\" height=\"%\"/>\n<g>", TY_SVG_WIDTH,
               TY_SVG_HEIGHT);
}

/* ---- Games without a drawing of their own: the blocks of the row as a table --------------------
 */

enum {
    BOX_WIDTH = 128,
    BOX_HEIGHT = 66,
    BOX_COLUMNS = 12,
};

/* A value of the row and where it stands. */
typedef struct Box {
    const TyBlock *block;
    uint32_t block_index;
    uint32_t item;
    int32_t x;
    int32_t y;
    bool first; /* of its block */
} Box;

/* Goes to the next value, in a new line where a block begins; false behind the last. */
static bool box_next(const TyRuleset *ruleset, Box *box)
{
    bool begun = box->block != NULL;
    box->item = begun ? box->item + 1 : 0;
    box->first = !begun || box->item == (uint32_t)box->block->rows * box->block->columns;
    if (box->first) {
        box->block_index = begun ? box->block_index + 1 : 0;
        box->item = 0;
    }
    if (box->block_index == ruleset->game_block_count) {
        return false;
    }
    box->block = &ruleset->row_blocks[box->block_index];
    uint32_t line = box->block->rows > 1 ? box->block->columns : BOX_COLUMNS;
    bool wrap = box->item % (line < BOX_COLUMNS ? line : BOX_COLUMNS) == 0;
    box->y += !begun ? 130 : box->first ? BOX_HEIGHT + 46 : wrap ? BOX_HEIGHT : 0;
    box->x = box->first || wrap ? 20 : box->x + BOX_WIDTH;
    return box->y + BOX_HEIGHT < TY_SVG_HEIGHT;
}

static void table_board(TySvg *svg)
{
    char label[TY_NAME_MAX];
    for (Box box = {0}; box_next(svg->ruleset, &box);) {
        if (box.first) {
            ty_svg_label(svg, "start big", box.x, box.y - 12, box.block->name);
        }
        TyText text = ty_text_init(label, sizeof label);
        kit_block_label(svg->ruleset, box.block, box.item / box.block->columns,
                        box.item % box.block->columns, &text);
        ty_svg_label(svg, "small soft", box.x + BOX_WIDTH / 2 - 4, box.y + BOX_HEIGHT - 10, label);
    }
}

/* The actions that choose an item of a block: those of a form over the same names. */
static TyActs box_acts(const TySvg *svg, const Box *box)
{
    const TyGame *game = svg->ruleset->game;
    const TyBlockForm *form = &game->blocks[svg->ruleset->block_form[box->block_index]];
    for (uint32_t i = 0; form->rows == NULL && game->actions[i].verb != NULL; i++) {
        if (form->columns != NULL && game->actions[i].items == form->columns) {
            uint32_t first = svg->ruleset->action_first[i] + box->item;
            return (TyActs){.first = (uint16_t)first, .count = 1};
        }
    }
    return (TyActs){.count = 0};
}

static const char table_look[] = "<rect class=\"panel\" width=\"120\" height=\"60\" rx=\"6\"/>";

static void table_parts(TySvg *svg)
{
    uint8_t row[TY_ROW_MAX];
    char name[2 * TY_NAME_MAX];
    char value[TY_NAME_MAX] = "";
    bool known = svg->seat != TY_PUBLIC; /* a row does not say what of it everybody knows */
    if (known) {
        ty_observe(svg->ruleset, svg->state, svg->all ? 0 : svg->seat, row);
    }
    for (Box box = {0}; box_next(svg->ruleset, &box);) {
        TyText text = ty_text_init(name, sizeof name);
        ty_text_add(&text, "%s.%u", box.block->name, box.item);
        if (known) {
            text = ty_text_init(value, sizeof value);
            kit_value_write(svg->ruleset, box.block, row, box.item, &text);
        }
        ty_svg_part(svg, &(TyPart){.kind = "value",
                                   .name = name,
                                   .look = table_look,
                                   .x = (int16_t)box.x,
                                   .y = (int16_t)box.y,
                                   .text_at = {60, 28},
                                   .text = value,
                                   .acts = {box_acts(svg, &box)}});
    }
}

/* What the table does not offer: a box for each form of actions, or for each 64 of them. */
static void table_forms(TySvg *svg)
{
    const TyRuleset *ruleset = svg->ruleset;
    char name[TY_NAME_MAX];
    int32_t x = 20;
    for (uint32_t form = 0; ruleset->game->actions[form].verb != NULL; form++) {
        uint32_t end = ruleset->action_first[form + 1];
        for (uint32_t first = ruleset->action_first[form]; first < end; first += 64) {
            TyText text = ty_text_init(name, sizeof name);
            ty_text_add(&text, "%s.%u", ruleset->game->actions[form].verb, first);
            uint32_t count = end - first < 64 ? end - first : 64;
            ty_svg_part(svg,
                        &(TyPart){.kind = "do",
                                  .name = name,
                                  .look = table_look,
                                  .x = (int16_t)x,
                                  .y = 8,
                                  .text_at = {60, 28},
                                  .text = ruleset->game->actions[form].verb,
                                  .acts = {{.first = (uint16_t)first, .count = (uint16_t)count}}});
            x += x + 2 * BOX_WIDTH < TY_SVG_WIDTH ? BOX_WIDTH : 0;
        }
    }
}

/* ---- Drawing -----------------------------------------------------------------------------------
 */

static TySvg drawing(const TyRuleset *ruleset, const void *state, uint32_t seat, TySketch *sketch,
                     char *out, size_t size)
{
    const TyHead *head = ty_head(state);
    bool player = !head->over && (uint32_t)head->seat < ruleset->shape.players;
    bool all = seat == TY_EVERYTHING;
    return (TySvg){.ruleset = ruleset,
                   .state = state,
                   .seat = seat,
                   .all = all,
                   .offers = player && (all || seat == (uint32_t)head->seat),
                   .text = ty_text_init(out, size),
                   .sketch = sketch};
}

static void parts_draw(TySvg *svg)
{
    const TyGame *game = svg->ruleset->game;
    if (game->draw != NULL) {
        game->draw(svg);
    } else {
        table_parts(svg);
        table_forms(svg);
    }
    if (svg->sketch != NULL) {
        svg->sketch->count = svg->part < TY_PARTS_MAX ? svg->part : TY_PARTS_MAX;
    }
}

size_t ty_svg(const TyRuleset *ruleset, const void *state, uint32_t seat, TySketch *sketch,
              char *out, size_t size)
{
    TySvg svg = drawing(ruleset, state, seat, sketch, out, size);
    document_open(&svg);
    if (ruleset->game->draw == NULL) {
        table_board(&svg);
    } else if (ruleset->game->draw_board != NULL) {
        ruleset->game->draw_board(&svg);
    }
    put(&svg, "</g>\n");
    parts_draw(&svg);
    put(&svg, "</svg>\n");
    text_end(&svg);
    return svg.text.length;
}

size_t ty_svg_changes(const TyRuleset *ruleset, const void *state, uint32_t seat, TySketch *sketch,
                      char *out, size_t size)
{
    TySvg svg = drawing(ruleset, state, seat, sketch, out, size);
    svg.changes = true;
    put(&svg, "[");
    parts_draw(&svg);
    put(&svg, "]");
    text_end(&svg);
    return svg.text.length;
}
