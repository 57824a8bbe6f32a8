/* The ticket games: the drawing. The map with routes as wagons on the left, cards, players and the
 * tickets of whom it is for on the right. */
#include "games/tickets/state.h"
#include "kit/svg.h"

enum {
    CITY_RADIUS = 10,
    CITY_SIZE = 22, /* of its label */
    WAGON_HEIGHT = 16,
    WAGON_MIN = 26,
    TWIN_GAP = 10, /* from the middle to each half of a double route */
    LETTERS_MAX = 3,

    PANEL_LEFT = 1170,
    PANEL_WIDTH = 410,
    ROW_TOP = 130,
    DECK_TOP = 200,
    BUTTON_TOP = 262,
    HAND_TOP = 330,
    SEATS_TOP = 410,
    SEAT_HEIGHT = 58,
    TICKETS_TOP = 668,
    TICKET_LINES = 12,
    TICKET_HEIGHT = 26,
};

static const TyArea map_area = {.left = 70, .top = 50, .right = 1080, .bottom = 950};
static const TyArea canvas = {.left = 8, .top = 8, .right = PANEL_LEFT - 20, .bottom = 992};

const char tickets_style[] =
    ".city{fill:#fffdf7;stroke:#22303c;stroke-width:4}"
    ".route rect{stroke:#3a4650;stroke-width:2}.route.tunnel rect{stroke-dasharray:6 "
    "4;stroke-width:4}"
    ".route.ferry circle{fill:#fffdf7;stroke:#22303c;stroke-width:2}.route "
    ".on{font-size:15px;font-weight:700}"
    ".route.p0 rect,.route.p1 rect,.route.p2 rect,.route.p3 rect{stroke:#111;stroke-width:4}"
    ".route.p0 rect{fill:#f0b429}.route.p1 rect{fill:#4a90d9}.route.p2 rect{fill:#e07a5f}"
    ".route.p3 rect{fill:#8fd0bd}.route.shut rect{opacity:.25}.route .on{fill:#111}"
    ".black rect{fill:#5b5f66}.blue rect{fill:#7fb2e5}.green rect{fill:#7cc08a}"
    ".orange rect{fill:#f0a860}.purple rect,.violet rect,.pink rect{fill:#c89bd8}"
    ".red rect{fill:#e5746b}.white rect{fill:#fff}.yellow rect{fill:#f3d75c}"
    ".brown rect{fill:#b98b5e}.gray rect{fill:#b9bec3}.locomotive rect{fill:#d9cfa8}"
    ".card.black .on,.route.black .on{fill:#fff}.card.empty rect{opacity:.35}"
    ".card rect{stroke:#3a4650;stroke-width:2}.card .on{fill:#111;font-weight:700}"
    ".ticket .on{font-size:18px;text-anchor:start}.ticket.complete .on{font-weight:700}"
    ".ticket.refused .on{opacity:.5}.ticket.offered rect,.ticket.chosen rect{fill:none}"
    ".ticket "
    "rect{fill:none;stroke:none}.turn>rect{stroke:#d6006c;stroke-width:4}.won>rect{stroke:#2fb45c;"
    "stroke-width:6}.seat "
    ".on{font-weight:400}"
    "@media(prefers-color-scheme:dark){.city{fill:#161b20;stroke:#e8edf1}}";

/* A drawing, as these games have it. `viewer` is the seat whose hand and tickets are shown. */
typedef struct Draw {
    TySvg *svg;
    const TicketsTables *tables;
    const TicketsState *state;
    uint32_t viewer;
} Draw;

static Draw draw_of(TySvg *svg)
{
    const TicketsState *state = svg->state;
    return (Draw){.svg = svg,
                  .tables = tickets_tables(svg->ruleset),
                  .state = state,
                  .viewer = svg->all ? state->active : svg->seat};
}

/* How many first tickets others keep is told when all have chosen (rulings E8 and N9). */
static bool choices_hidden(const Draw *draw)
{
    return draw->state->head.phase == PHASE_KEEP_FIRST && !draw->svg->all;
}

static TyActs acts(const Draw *draw, ActionForm form, uint32_t item)
{
    return (TyActs){.first = (uint16_t)(draw->svg->ruleset->action_first[form] + item), .count = 1};
}

/* Colours have a letter too: the first of their name, with the last one where others begin alike.
 */
typedef struct Letters {
    char text[LETTERS_MAX];
} Letters;

static Letters type_letters(const TicketsTables *tables, uint32_t type)
{
    const char *name = tickets_name_type(tables, type);
    Letters letters = {.text = {(char)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 32 : name[0])}};
    for (uint32_t i = 0; i < tables->type_count; i++) {
        if (i != type && tickets_name_type(tables, i)[0] == name[0]) {
            letters.text[1] = name[strlen(name) - 1];
        }
    }
    return letters;
}

/* ---- The map -----------------------------------------------------------------------------------
 */

/* The ends of a route from left to right, so that what is written on it can be read. */
static void route_ends(const TicketsTables *tables, const Route *route, TySpot ends[2])
{
    TySpot a = tables->city_at[route->city[0]];
    TySpot b = tables->city_at[route->city[1]];
    bool turned = a.x > b.x || (a.x == b.x && a.y > b.y);
    ends[0] = turned ? b : a;
    ends[1] = turned ? a : b;
}

/* How far beside the straight line a route lies: the halves of a double one on either side. */
static int32_t route_side(const TicketsTables *tables, uint32_t index)
{
    uint8_t twin = tables->route[index].twin;
    return twin == TICKETS_NONE ? 0 : index < twin ? -TWIN_GAP : TWIN_GAP;
}

/* Cities where the map has them, with room for a letter on every wagon between them. */
static void cities_place(TicketsTables *tables)
{
    TyLine lines[TICKETS_ROUTES_MAX];
    for (uint32_t i = 0; i < tables->route_count; i++) {
        const Route *route = &tables->route[i];
        int32_t length = 2 * CITY_RADIUS + 6 + route->length * WAGON_MIN;
        lines[i] = (TyLine){.a = route->city[0],
                            .b = route->city[1],
                            .length = (uint16_t)(length < 50 ? 50 : length)};
    }
    TyNet net = {.points = (const int32_t(*)[2])tables->city_xy,
                 .count = tables->city_count,
                 .lines = lines,
                 .line_count = tables->route_count};
    ty_layout_place(&net, 56, map_area, tables->city_at);
}

void tickets_layout(TicketsTables *tables)
{
    TyTakenArea areas[2048];
    TyTaken taken = {.areas = areas, .room = sizeof areas / sizeof areas[0]};
    cities_place(tables);
    for (uint32_t i = 0; i < tables->city_count; i++) {
        ty_layout_take(&taken, tables->city_at[i], CITY_RADIUS + 2, TY_WEIGHT_SYMBOL);
    }
    for (uint32_t i = 0; i < tables->route_count; i++) {
        TySpot ends[2];
        route_ends(tables, &tables->route[i], ends);
        tables->route_at[i] = ty_layout_between(ends[0], ends[1], 1, 2);
        tables->route_turn[i] = ty_layout_turn(ends[0], ends[1]);
        ty_layout_take_line(&taken, ends[0], ends[1],
                            tables->route[i].twin == TICKETS_NONE ? WAGON_HEIGHT / 2 + 1
                                                                  : TWIN_GAP + WAGON_HEIGHT / 2,
                            TY_WEIGHT_SYMBOL);
    }
    for (uint32_t i = 0; i < tables->city_count; i++) {
        tables->city_label[i] =
            ty_layout_label(&taken, tables->city_at[i], CITY_RADIUS,
                            tables->names.bytes + tables->city_title[i], CITY_SIZE, canvas);
    }
}

void tickets_draw_board(TySvg *svg)
{
    const TicketsTables *tables = tickets_tables(svg->ruleset);
    ty_svg_put(svg, "<rect class=\"panel\" x=\"%\" y=\"8\" width=\"%\" height=\"984\" rx=\"10\"/>",
               PANEL_LEFT - 10, PANEL_WIDTH + 20);
    for (uint32_t i = 0; i < tables->city_count; i++) {
        ty_svg_put(svg, "<circle class=\"city\" cx=\"%\" cy=\"%\" r=\"%\"/>", tables->city_at[i].x,
                   tables->city_at[i].y, CITY_RADIUS);
        ty_svg_label(svg, "name", tables->city_label[i].x, tables->city_label[i].y,
                     tables->names.bytes + tables->city_title[i]);
    }
}

/* The wagons of a route along its own axis, and a ring on those that want a locomotive. */
static void route_shapes(TySvg *svg, uint32_t index)
{
    const TicketsTables *tables = tickets_tables(svg->ruleset);
    const Route *route = &tables->route[index];
    TySpot ends[2];
    route_ends(tables, route, ends);
    int32_t span = ty_layout_distance(ends[0], ends[1]) - 2 * CITY_RADIUS - 6;
    int32_t wagon = span / route->length;
    int32_t side = route_side(tables, index);
    for (int32_t i = 0; i < route->length; i++) {
        int32_t left = -span / 2 + i * wagon;
        ty_svg_put(svg, "<rect x=\"%\" y=\"%\" width=\"%\" height=\"%\" rx=\"3\"/>", left + 2,
                   side - WAGON_HEIGHT / 2, wagon - 4, WAGON_HEIGHT);
        if (i >= route->matched && route->kind == ROUTE_FERRY) {
            ty_svg_put(svg, "<circle cx=\"%\" cy=\"%\" r=\"5\"/>", left + wagon / 2, side);
        }
    }
}

/* What is written on a route: whose it is, or its colour. */
static Letters route_text(const Draw *draw, uint32_t index)
{
    uint8_t owner = draw->state->owner[index];
    uint8_t colour = draw->tables->route[index].colour;
    if (owner != 0) {
        return (Letters){.text = {(char)('0' + owner - 1)}};
    }
    return colour == draw->tables->colour_count ? (Letters){.text = ""}
                                                : type_letters(draw->tables, colour);
}

static void draw_route(const Draw *draw, uint32_t index)
{
    static const char *const kinds[] = {NULL, "tunnel", "ferry", "four"};
    const TicketsTables *tables = draw->tables;
    const Route *route = &tables->route[index];
    uint8_t owner = draw->state->owner[index];
    bool shut = owner == 0 && draw->viewer < tables->player_count &&
                routes_have(&draw->state->closed[draw->viewer], index);
    Letters letters = route_text(draw, index);
    ty_svg_part(draw->svg, &(TyPart){.kind = "route",
                                     .name = tickets_name_route(tables, index),
                                     .title = true,
                                     .index = index,
                                     .shapes = route_shapes,
                                     .class = {route->colour == tables->colour_count
                                                   ? "gray"
                                                   : tickets_name_type(tables, route->colour),
                                               kinds[route->kind], ty_svg_player(owner - 1u),
                                               shut ? "shut" : NULL},
                                     .x = tables->route_at[index].x,
                                     .y = tables->route_at[index].y,
                                     .turn = tables->route_turn[index],
                                     .text_at = {0, (int16_t)(route_side(tables, index) + 6)},
                                     .text = letters.text,
                                     .acts = {acts(draw, FORM_CLAIM, index)}});
}

/* ---- Cards -------------------------------------------------------------------------------------
 */

#define CARD_LOOK "<rect x=\"-36\" y=\"-26\" width=\"72\" height=\"52\" rx=\"6\"/>"

/* The cards that lie face up, by type. */
static void draw_row(const Draw *draw)
{
    static const char *const names[TICKETS_ROW_SIZE] = {"0", "1", "2", "3", "4"};
    uint32_t type = 0;
    uint32_t left = draw->state->row[0];
    for (uint32_t place = 0; place < TICKETS_ROW_SIZE; place++) {
        while (left == 0 && type + 1 < draw->tables->type_count) {
            left = draw->state->row[++type];
        }
        bool there = left > 0;
        left -= there;
        Letters letters = there ? type_letters(draw->tables, type) : (Letters){.text = ""};
        TyPart part = {.kind = "up",
                       .name = names[place],
                       .look = CARD_LOOK,
                       .class = {"card", there ? tickets_name_type(draw->tables, type) : "gone"},
                       .x = (int16_t)(PANEL_LEFT + 42 + (int32_t)place * 81),
                       .y = ROW_TOP,
                       .text_at = {0, 8},
                       .text = letters.text};
        if (there) {
            part.acts[0] = acts(draw, FORM_TAKE, type);
        }
        ty_svg_part(draw->svg, &part);
    }
}

/* A box with a word and, where it counts something, how many there are. */
static void draw_box(const Draw *draw, const char *name, const char *said, ActionForm form,
                     int32_t x, int32_t y)
{
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "do",
                          .name = name,
                          .look = "<rect class=\"panel\" x=\"-65\" y=\"-24\" width=\"130\" "
                                  "height=\"48\" rx=\"10\"/>",
                          .class = {said[0] == '\0' ? "gone" : NULL},
                          .x = (int16_t)(PANEL_LEFT + x),
                          .y = (int16_t)y,
                          .text_at = {0, 7},
                          .text = said,
                          .acts = {acts(draw, form, 0), form == FORM_KEEP_DONE
                                                            ? acts(draw, FORM_PAY_DONE, 0)
                                                            : (TyActs){.count = 0}}});
}

static void draw_decks(const Draw *draw)
{
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "deck %u", cards_total(draw->state->deck));
    draw_box(draw, "deck", said, FORM_BLIND, 67, DECK_TOP);
    text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "tickets");
    if (!choices_hidden(draw)) {
        ty_text_add(&text, " %u", tickets_left(draw->state));
    }
    draw_box(draw, "tickets", said, FORM_TICKETS, 205, DECK_TOP);
    text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "locos %u", draw->state->stack);
    draw_box(draw, "locomotive", draw->tables->rules.locomotives_apart ? said : "", FORM_LOCOMOTIVE,
             343, DECK_TOP);
    draw_box(draw, "pass", "pass", FORM_PASS, 67, BUTTON_TOP);
    draw_box(draw, "done", "done", FORM_KEEP_DONE, 205, BUTTON_TOP);
    draw_box(draw, "withdraw", "withdraw", FORM_WITHDRAW, 343, BUTTON_TOP);
}

static void hand_shapes(TySvg *svg, uint32_t index)
{
    int32_t width = PANEL_WIDTH / tickets_tables(svg->ruleset)->type_count;
    (void)index;
    ty_svg_put(svg, "<rect x=\"%\" y=\"-27\" width=\"%\" height=\"54\" rx=\"6\"/>", -width / 2 + 1,
               width - 2);
}

/* The hand of the viewer: a box for each type. */
static void draw_hand(const Draw *draw)
{
    const TicketsTables *tables = draw->tables;
    int32_t width = PANEL_WIDTH / (int32_t)tables->type_count;
    for (uint32_t type = 0; type < tables->type_count; type++) {
        char said[16];
        bool known = draw->viewer < tables->player_count;
        uint8_t count = known ? draw->state->hand[draw->viewer][type] : 0;
        Letters letters = type_letters(tables, type);
        TyText text = ty_text_init(said, sizeof said);
        ty_text_add(&text, "%s%u", letters.text, count);
        ty_svg_part(draw->svg,
                    &(TyPart){.kind = "hand",
                              .name = tickets_name_type(tables, type),
                              .title = true,
                              .shapes = hand_shapes,
                              .class = {"card", tickets_name_type(tables, type),
                                        !known       ? "gone"
                                        : count == 0 ? "empty"
                                                     : NULL},
                              .x = (int16_t)(PANEL_LEFT + width / 2 + (int32_t)type * width),
                              .y = HAND_TOP,
                              .text_at = {0, 8},
                              .text = said,
                              .acts = {acts(draw, FORM_PAY, type)}});
    }
}

/* ---- Players and tickets -----------------------------------------------------------------------
 */

/* The cards of a hand by their letters, or how many there are. */
static void hand_write(const Draw *draw, uint32_t seat, TyText *out)
{
    const uint8_t *hand = draw->state->hand[seat];
    if (!ty_svg_sees(draw->svg, seat)) {
        ty_text_put_count(out, cards_total(hand), "card");
        return;
    }
    const char *space = "";
    for (uint32_t type = 0; type < draw->tables->type_count; type++) {
        if (hand[type] > 0) {
            Letters letters = type_letters(draw->tables, type);
            ty_text_add(out, "%s%s%u", space, letters.text, hand[type]);
            space = " ";
        }
    }
    ty_text_add(out, "%s", space[0] == '\0' ? "no cards" : "");
}

/* What the drawing may tell of a player, in two lines. */
static void draw_seat(const Draw *draw, uint32_t seat)
{
    static const char *const digits[] = {"0", "1", "2", "3"};
    const TicketsState *state = draw->state;
    char said[TY_NAME_MAX];
    int16_t y = (int16_t)(SEATS_TOP + 27 + (int32_t)seat * SEAT_HEIGHT);
    TyText text = ty_text_init(said, sizeof said);
    ty_text_put_count(&text, state->points[seat], "point");
    ty_text_add(&text, ", ");
    ty_text_put_count(&text, state->wagons[seat], "wagon");
    ty_text_add(&text, " left");
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "seat",
                          .name = digits[seat],
                          .look = "<rect class=\"panel\" x=\"0\" y=\"-27\" width=\"410\" "
                                  "height=\"54\" rx=\"6\"/>",
                          .class = {"left", state->active == seat ? "turn" : NULL,
                                    state->winners >> seat & 1 ? "won" : NULL},
                          .x = PANEL_LEFT,
                          .y = y,
                          .text_at = {62, -4},
                          .text = said});
    text = ty_text_init(said, sizeof said);
    hand_write(draw, seat, &text);
    if (choices_hidden(draw) && !ty_svg_sees(draw->svg, seat)) {
        ty_text_add(&text, ", first tickets");
    } else {
        ty_text_add(&text, ", %d tickets", __builtin_popcountll(state->tickets[seat]));
    }
    ty_svg_part(draw->svg, &(TyPart){.kind = "held",
                                     .name = digits[seat],
                                     .class = {"left", "seat"},
                                     .x = PANEL_LEFT,
                                     .y = y,
                                     .text_at = {62, 19},
                                     .text = said});
    ty_svg_part(draw->svg, &(TyPart){.kind = "sign",
                                     .name = digits[seat],
                                     .look = TY_SVG_SIGN,
                                     .class = {ty_svg_player(seat)},
                                     .x = PANEL_LEFT + 30,
                                     .y = y,
                                     .text_at = {0, 8},
                                     .text = digits[seat]});
}

/* What the viewer may know of a ticket, as a class; "gone" if nothing. */
static const char *ticket_class(const Draw *draw, uint32_t ticket)
{
    const TicketsState *state = draw->state;
    uint64_t bit = UINT64_C(1) << ticket;
    uint32_t viewer = draw->viewer;
    if (viewer >= draw->tables->player_count) {
        return "gone";
    }
    if (state->active == viewer && (state->offered & bit) != 0) {
        return (state->chosen & bit) != 0 ? "chosen" : "offered";
    }
    if ((state->tickets[viewer] & bit) != 0) {
        return (state->complete[viewer] & bit) != 0 ? "complete" : "open";
    }
    return "gone";
}

static void draw_tickets(const Draw *draw)
{
    static const char *const marks[] = {"\u2713 ", "? ", "+ ", ""};
    uint32_t line = 0;
    for (uint32_t i = 0; i < draw->tables->ticket_count; i++) {
        const char *class = ticket_class(draw, i);
        bool there = strcmp(class, "gone") != 0;
        uint32_t mark = class[0] == 'c' && class[1] == 'o' ? 0
                        : class[1] == 'f'                  ? 1
                        : class[1] == 'h'                  ? 2
                                                           : 3;
        char said[TY_NAME_MAX];
        TyText text = ty_text_init(said, sizeof said);
        if (there) {
            ty_text_add(&text, "%s%s %u", marks[mark], tickets_name_ticket(draw->tables, i),
                        draw->tables->ticket[i].points);
        }
        ty_svg_part(
            draw->svg,
            &(TyPart){.kind = "ticket",
                      .name = tickets_name_ticket(draw->tables, i),
                      .look = "<rect x=\"-2\" y=\"-19\" width=\"200\" height=\"25\"/>",
                      .class = {class},
                      .x = (int16_t)(PANEL_LEFT + 4 + (int32_t)(line / TICKET_LINES) * 205),
                      .y = (int16_t)(TICKETS_TOP + (int32_t)(line % TICKET_LINES) * TICKET_HEIGHT),
                      .text = said,
                      .acts = {acts(draw, FORM_KEEP, i)}});
        line += there;
    }
}

/* ---- The table ---------------------------------------------------------------------------------
 */

static void draw_line(const Draw *draw, const char *name, int32_t y, const char *said)
{
    ty_svg_part(draw->svg, &(TyPart){.kind = "says",
                                     .name = name,
                                     .look = "",
                                     .class = {"left"},
                                     .x = PANEL_LEFT,
                                     .y = (int16_t)y,
                                     .text = said});
}

static void draw_question(const Draw *draw)
{
    const TicketsState *state = draw->state;
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "Turn %u, seat %u", state->turns, state->active);
    if (state->last_turns > 0 && !state->head.over) {
        ty_text_add(&text, ", ");
        ty_text_put_count(&text, state->last_turns, "turn");
        ty_text_add(&text, " left");
    }
    draw_line(draw, "turn", 44, said);
    text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "%s",
                state->head.over ? "The game is over" : tickets_phases[state->head.phase]);
    if (state->route != 0) {
        ty_text_add(&text, " %s", tickets_name_route(draw->tables, state->route - 1u));
    }
    if (state->due != 0) {
        ty_text_add(&text, ", %u more", state->due);
    }
    draw_line(draw, "question", 78, said);
}

void tickets_draw_parts(TySvg *svg)
{
    const Draw draw = draw_of(svg);
    for (uint32_t i = 0; i < draw.tables->route_count; i++) {
        draw_route(&draw, i);
    }
    draw_question(&draw);
    draw_row(&draw);
    draw_decks(&draw);
    draw_hand(&draw);
    for (uint32_t seat = 0; seat < draw.tables->player_count; seat++) {
        draw_seat(&draw, seat);
    }
    draw_tickets(&draw);
}
