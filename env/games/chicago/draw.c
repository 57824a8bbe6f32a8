/* Ligne de train, Chicago: the drawing. Both cars with their seats, doors and pawns, and a strip
 * for each player. */
#include "games/chicago/names.h"
#include "kit/svg.h"

enum {
    CAR_TOP = 190,
    CARS_BOTTOM = 700, /* at the lowest */
    CAR_LEFT = 40,
    STRIP_TOP = 776,
    STRIP_HEIGHT = 56,
    SLOTS = 8, /* cards of a hand that are drawn */
    SLOT_LEFT = 470,
    SLOT_WIDTH = 140,
};

const char chicago_style[] =
    ".car{fill:#dcd7c9;stroke:#5b6b78;stroke-width:4}.cell>rect{stroke:#8d99a3;stroke-width:2}."
    "seat>rect{fill:#cfe3d4}.aisle>rect{fill:#e9e6dc}"
    ".passenger>rect{fill:#b9b2a6}.bar{stroke:#2d3a44;stroke-width:8;stroke-linecap:round}"
    ".cell .on,.pawn .on{fill:#14191d;font-weight:700}"
    ".door circle{fill:none;stroke:#8d99a3;stroke-width:3;stroke-dasharray:7 5}"
    ".pawn.missed .own{opacity:.55}.pawn.boarding .own{stroke-width:5}"
    ".card rect{fill:#fff;stroke:#8d99a3;stroke-width:2}.card .on{fill:#22303c}"
    ".card.blue rect{fill:#d4e4f7}.card.red rect{fill:#f9d9d3}"
    ".card.back rect{fill:#7d8b97}.turn>rect{stroke:#d6006c;stroke-width:4}"
    "@media(prefers-color-scheme:dark){.car{fill:#252d34}.seat>rect{fill:#2c4a3a}.aisle>rect{fill:#"
    "343c43}"
    ".passenger>rect{fill:#57534c}.bar{stroke:#cfd8df}}";

/* A drawing, as this game has it. */
typedef struct Draw {
    TySvg *svg;
    const ChicagoTables *tables;
    const ChicagoState *state;
    int32_t size; /* of a cell */
} Draw;

static Draw draw_of(TySvg *svg)
{
    const ChicagoTables *tables = chicago_tables(svg->ruleset);
    int32_t wide = (TY_SVG_WIDTH - 2 * CAR_LEFT) / (CHICAGO_CARS * tables->width + 1);
    int32_t high = (CARS_BOTTOM - CAR_TOP) / tables->height;
    return (Draw){
        .svg = svg, .tables = tables, .state = svg->state, .size = wide < high ? wide : high};
}

typedef struct Point {
    int16_t x;
    int16_t y;
} Point;

/* The middle of a cell. The second car stands one cell further right, behind the coupling. */
static Point cell_point(const Draw *draw, uint32_t cell)
{
    uint32_t column = cell % CHICAGO_CAR % draw->tables->width;
    uint32_t row = cell % CHICAGO_CAR / draw->tables->width;
    column += cell >= CHICAGO_CAR ? draw->tables->width + 1u : 0;
    return (Point){.x = (int16_t)(CAR_LEFT + (int32_t)column * draw->size + draw->size / 2),
                   .y = (int16_t)(CAR_TOP + (int32_t)row * draw->size + draw->size / 2)};
}

/* The start spaces stand outside, before their doors. */
static Point start_point(const Draw *draw, uint32_t start)
{
    uint32_t car = start / CHICAGO_DOORS_MAX;
    uint32_t door = draw->tables->tiles[draw->state->tile[car]].door[start % CHICAGO_DOORS_MAX];
    Point point = cell_point(draw, car * CHICAGO_CAR + door);
    bool above = door / draw->tables->width < draw->tables->aisle_row;
    point.y = (int16_t)(above ? CAR_TOP - 42 : CAR_TOP + draw->tables->height * draw->size + 42);
    return point;
}

static TyActs acts(const Draw *draw, Form form, uint32_t item)
{
    return (TyActs){.first = (uint16_t)(draw->svg->ruleset->action_first[form] + item), .count = 1};
}

static const TyActs none = {.count = 0};

/* An action that is about something of `seat`, if that seat is asked. */
static TyActs own(const Draw *draw, uint32_t seat, Form form, uint32_t item)
{
    return draw->state->head.seat == (int8_t)seat ? acts(draw, form, item) : none;
}

/* A name as a string of its own. */
typedef struct Name {
    char text[TY_NAME_MAX];
} Name;

static Name name_of(const Draw *draw, const TyNames *names, uint32_t index)
{
    Name name;
    TyText text = ty_text_init(name.text, sizeof name.text);
    ty_names_write(names, draw->svg->ruleset, index, &text);
    return name;
}

static const char *const digits[] = {"0", "1", "2", "3"};

/* ---- The train ---------------------------------------------------------------------------------
 */

/* The outlines of the cars, and the way from one to the other. */
void chicago_draw_board(TySvg *svg)
{
    const Draw draw = draw_of(svg);
    int32_t wide = draw.size * draw.tables->width;
    int32_t high = draw.size * draw.tables->height;
    int32_t aisle = CAR_TOP + draw.size * draw.tables->aisle_row;
    for (int32_t car = 0; car < CHICAGO_CARS; car++) {
        ty_svg_put(svg, "<rect class=\"car\" x=\"%\" y=\"%\" width=\"%\" height=\"%\" rx=\"14\"/>",
                   CAR_LEFT - 6 + car * (wide + draw.size), CAR_TOP - 6, wide + 12, high + 12);
    }
    ty_svg_put(svg, "<rect class=\"car\" x=\"%\" y=\"%\" width=\"%\" height=\"%\"/>",
               CAR_LEFT + wide + 4, aisle + 6, draw.size - 8, draw.size - 12);
}

static void cell_shapes(TySvg *svg, uint32_t index)
{
    int32_t size = draw_of(svg).size;
    (void)index;
    ty_svg_put(svg, "<rect x=\"%\" y=\"%\" width=\"%\" height=\"%\" rx=\"8\"/>", 2 - size / 2,
               2 - size / 2, size - 4, size - 4);
    ty_svg_raw(svg, TY_SVG_SIGN);
}

static void draw_cell(const Draw *draw, uint32_t index)
{
    uint8_t cell = cell_sparse(draw->tables, index);
    uint8_t kind = draw->tables->kinds[draw->state->tile[cell / CHICAGO_CAR]][cell % CHICAGO_CAR];
    uint8_t owner = chicago_seated_owner(draw->tables, draw->state, cell);
    Point at = cell_point(draw, cell);
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "cell",
                          .names = &chicago_cells,
                          .index = index,
                          .title = true,
                          .shapes = cell_shapes,
                          .class = {chicago_kinds.words[kind], ty_svg_player(owner)},
                          .x = at.x,
                          .y = at.y,
                          .text_at = {0, 8},
                          .text = owner != CHICAGO_NONE ? digits[owner]
                                  : kind == 2           ? "\u00d7"
                                                        : "",
                          .acts = {acts(draw, FORM_TO, index), acts(draw, FORM_PAWN, index)}});
}

static void bar_shapes(TySvg *svg, uint32_t index)
{
    int32_t half = draw_of(svg).size / 2 - 6;
    (void)index;
    ty_svg_put(svg, "<path class=\"bar\" d=\"M-% 0H%\"/>", half, half);
}

/* The bars on the right and the lower side of the cells. With random tiles they depend on the
 * position, so each side of a cell is a part. */
static void draw_bar(const Draw *draw, uint32_t cell, bool below)
{
    uint32_t inside = cell % CHICAGO_CAR;
    uint32_t other = inside + (below ? draw->tables->width : 1u);
    const ChicagoTile *tile = &draw->tables->tiles[draw->state->tile[cell / CHICAGO_CAR]];
    bool bar = (tile->links[inside] >> other & 1) == 0;
    Point at = cell_point(draw, cell);
    ty_svg_part(draw->svg, &(TyPart){.kind = below ? "below" : "right",
                                     .names = &chicago_places,
                                     .index = cell,
                                     .shapes = bar_shapes,
                                     .class = {bar ? NULL : "gone"},
                                     .x = (int16_t)(at.x + (below ? 0 : draw->size / 2)),
                                     .y = (int16_t)(at.y + (below ? draw->size / 2 : 0)),
                                     .turn = below ? 0 : 90});
}

static void draw_bars(const Draw *draw)
{
    const ChicagoTables *tables = draw->tables;
    for (uint32_t index = 0; index < (uint32_t)CHICAGO_CARS * tables->cells; index++) {
        uint32_t cell = cell_sparse(tables, index);
        uint32_t column = cell % CHICAGO_CAR % tables->width;
        uint32_t row = cell % CHICAGO_CAR / tables->width;
        if (column + 1 < tables->width) {
            draw_bar(draw, cell, false);
        }
        if (row + 1 < tables->height) {
            draw_bar(draw, cell, true);
        }
    }
}

static void draw_start(const Draw *draw, uint32_t start)
{
    const ChicagoTile *tile = &draw->tables->tiles[draw->state->tile[start / CHICAGO_DOORS_MAX]];
    bool there = start % CHICAGO_DOORS_MAX < tile->start_count;
    Point at = start_point(draw, start);
    Name name = name_of(draw, &chicago_starts, start);
    ty_svg_part(draw->svg, &(TyPart){.kind = "door",
                                     .names = &chicago_starts,
                                     .index = start,
                                     .look = "<circle r=\"34\"/>",
                                     .class = {there ? NULL : "gone"},
                                     .x = at.x,
                                     .y = at.y,
                                     .text_at = {110, 8},
                                     .text = name.text,
                                     .acts = {acts(draw, FORM_PLACE, start)}});
}

/* The pawn of a player that is on its way: in the aisle, or at a start space. */
static void draw_pawn(const Draw *draw, uint32_t seat, bool aisle)
{
    const ChicagoState *state = draw->state;
    bool there = aisle ? state->aisle[seat] != 0 : state->wait[seat] != WAIT_NONE;
    Point at = {0, 0};
    if (there) {
        at = aisle ? cell_point(draw, state->aisle[seat] - 1u)
                   : start_point(draw, state->start[seat] - 1u);
        at.x = (int16_t)(at.x + (seat % 2 != 0 ? 20 : -20));
        at.y = (int16_t)(at.y + (seat / 2 != 0 ? 20 : -14));
    }
    ty_svg_part(draw->svg,
                &(TyPart){.kind = aisle ? "pawn" : "next",
                          .name = digits[seat],
                          .look = TY_SVG_SIGN,
                          .class = {"pawn", ty_svg_player(seat), there ? NULL : "gone",
                                    aisle ? NULL : chicago_waits.words[state->wait[seat]]},
                          .x = at.x,
                          .y = at.y,
                          .text_at = {0, 8},
                          .text = digits[seat],
                          .acts = {aisle ? none : own(draw, seat, FORM_FROM, 1)}});
}

/* ---- The players -------------------------------------------------------------------------------
 */

static int16_t strip_middle(uint32_t seat)
{
    return (int16_t)(STRIP_TOP + STRIP_HEIGHT / 2 + (int32_t)seat * STRIP_HEIGHT);
}

/* Card number `place` of a hand, number cards first; CHICAGO_NUMBERS + CARD_COUNT if it has fewer.
 */
static uint32_t hand_card(const ChicagoState *state, uint32_t seat, uint32_t place)
{
    uint32_t card = 0;
    for (; card < CHICAGO_NUMBERS + CARD_COUNT; card++) {
        uint32_t count = card < CHICAGO_NUMBERS ? state->numbers[seat][card]
                                                : state->actions[seat][card - CHICAGO_NUMBERS];
        if (place < count) {
            break;
        }
        place -= count;
    }
    return card;
}

/* How a card looks to whom the drawing is for. */
static const char *card_class(const Draw *draw, uint32_t seat, uint32_t card)
{
    if (card == CHICAGO_NUMBERS + CARD_COUNT) {
        return "gone";
    }
    if (!ty_svg_sees(draw->svg, seat)) {
        return "back";
    }
    return card < CHICAGO_VALUES ? "blue" : card < CHICAGO_NUMBERS ? "red" : NULL;
}

/* The actions that choose a card: its owner plays or swaps it, an opponent begs for one of its
 * pile. */
static void card_acts(const Draw *draw, uint32_t seat, uint32_t card, TyActs chosen[TY_PART_ACTS])
{
    bool number = card < CHICAGO_NUMBERS;
    if (draw->state->head.seat == (int8_t)seat) {
        chosen[0] =
            number ? acts(draw, FORM_LAY, card) : acts(draw, FORM_PLAY, card - CHICAGO_NUMBERS);
        chosen[1] = acts(draw, FORM_SWAP, card);
    } else if (draw->state->head.phase == PHASE_BEG) {
        uint32_t players = draw->tables->player_count;
        uint32_t steps = (seat + players - draw->state->active) % players;
        chosen[0] = acts(draw, FORM_BEG, 2 * (steps - 1) + (number ? PILE_NUMBERS : PILE_ACTIONS));
    }
}

static void draw_card(const Draw *draw, uint32_t seat, uint32_t place)
{
    uint32_t card = hand_card(draw->state, seat, place);
    bool there = card < CHICAGO_NUMBERS + CARD_COUNT;
    char name[16];
    TyText text = ty_text_init(name, sizeof name);
    ty_text_add(&text, "%u.%u", seat, place);
    TyPart part = {.kind = "card",
                   .name = name,
                   .look = "<rect x=\"-66\" y=\"-22\" width=\"132\" height=\"44\" rx=\"6\"/>",
                   .class = {card_class(draw, seat, card)},
                   .x = (int16_t)(SLOT_LEFT + SLOT_WIDTH / 2 + (int32_t)place * SLOT_WIDTH),
                   .y = strip_middle(seat),
                   .text_at = {0, 7},
                   .text = there && ty_svg_sees(draw->svg, seat) ? chicago_cards.words[card] : ""};
    if (there) {
        card_acts(draw, seat, card, part.acts);
    }
    ty_svg_part(draw->svg, &part);
}

/* What everybody knows of a player. */
static void draw_strip(const Draw *draw, uint32_t seat)
{
    const ChicagoState *state = draw->state;
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "%u/%u seated, %u token%s%s", cells_count(&state->seated[seat]),
                draw->tables->pawns, state->tokens[seat], state->tokens[seat] == 1 ? "" : "s",
                state->skip[seat] ? ", misses a turn" : "");
    if (state->blocked[seat] > 0) {
        ty_text_add(&text, ", blocked %u", state->blocked[seat]);
    }
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "player",
                          .name = digits[seat],
                          .look = "<rect class=\"panel\" x=\"-30\" y=\"-26\" width=\"440\" "
                                  "height=\"52\" rx=\"6\"/>",
                          .class = {state->active == seat ? "turn" : NULL},
                          .x = 46,
                          .y = strip_middle(seat),
                          .text_at = {200, 8},
                          .text = said,
                          .acts = {own(draw, seat, FORM_FROM, 0)}});
    ty_svg_part(draw->svg, &(TyPart){.kind = "sign",
                                     .name = digits[seat],
                                     .look = TY_SVG_SIGN,
                                     .class = {"pawn", ty_svg_player(seat)},
                                     .x = 46,
                                     .y = strip_middle(seat),
                                     .text_at = {0, 8},
                                     .text = digits[seat]});
    for (uint32_t place = 0; place < SLOTS; place++) {
        draw_card(draw, seat, place);
    }
}

/* ---- The table ---------------------------------------------------------------------------------
 */

/* Actions that are about nothing on the board. */
static void draw_button(const Draw *draw, const char *title, Form form, int32_t x)
{
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "do",
                          .name = title,
                          .look = "<rect class=\"panel\" x=\"-60\" y=\"-24\" width=\"120\" "
                                  "height=\"48\" rx=\"24\"/>",
                          .x = (int16_t)x,
                          .y = 52,
                          .text_at = {0, 8},
                          .text = title,
                          .acts = {acts(draw, form, 0)}});
}

/* What is being asked. */
static void draw_question(const Draw *draw)
{
    const ChicagoState *state = draw->state;
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    if (state->winner != 0) {
        ty_text_add(&text, "Seat %u wins", state->winner - 1u);
    } else if (state->head.over) {
        ty_text_add(&text, "Cut short by the cap of turns");
    } else {
        ty_text_add(&text, "Turn %u, %s; seat %d: %s", state->turns,
                    state->backward ? "anticlockwise" : "clockwise", state->head.seat,
                    chicago_phase_words[state->head.phase]);
    }
    if (state->card != 0) {
        ty_text_add(&text, ", %s", chicago_actions.words[state->card - 1]);
    }
    if (state->points > 0) {
        ty_text_add(&text, ", ");
        ty_text_put_count(&text, state->points, "space");
    }
    ty_svg_part(
        draw->svg,
        &(TyPart){
            .kind = "question", .look = "", .class = {"left"}, .x = 40, .y = 60, .text = said});
}

void chicago_draw(TySvg *svg)
{
    const Draw draw = draw_of(svg);
    draw_question(&draw);
    draw_button(&draw, "spin", FORM_SPIN, 1060);
    draw_button(&draw, "accept", FORM_ACCEPT, 1200);
    draw_button(&draw, "rebel", FORM_REBEL, 1340);
    draw_button(&draw, "end", FORM_END, 1480);
    for (uint32_t cell = 0; cell < (uint32_t)CHICAGO_CARS * draw.tables->cells; cell++) {
        draw_cell(&draw, cell);
    }
    draw_bars(&draw);
    for (uint32_t start = 0; start < CHICAGO_STARTS; start++) {
        draw_start(&draw, start);
    }
    for (uint32_t seat = 0; seat < draw.tables->player_count; seat++) {
        draw_strip(&draw, seat);
    }
    for (uint32_t seat = 0; seat < draw.tables->player_count; seat++) {
        draw_pawn(&draw, seat, true);
        draw_pawn(&draw, seat, false);
    }
}
