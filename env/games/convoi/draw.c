/* Convoi Express: the drawing. The board with its tracks, lights, switches and trains on the left;
 * card, clock, staff and hands on the right. */
#include "games/convoi/state.h"
#include "kit/svg.h"

#include <string.h>

enum {
    LEFT = CONVOI_PANEL_LEFT,
    SYMBOL_TOP = 150,
    CLOCK_TOP = 222,
    GOODS_TOP = 286,
    STAFF_TOP = 352,
    COLOUR_TOP = 470,
    BUTTON_TOP = 536,
    PAY_TOP = 640,
    HANDS_TOP = 770,
    HAND_HEIGHT = 56,
    CLOCK_MAX = 10,
};

const char convoi_style[] =
    ".rail{fill:none;stroke:#a9a08c;stroke-width:12;stroke-linecap:round}"
    ".tie{fill:none;stroke:#efe9da;stroke-width:6;stroke-dasharray:3 9}"
    ".space{fill:#fffdf7;stroke:#6d7780;stroke-width:2}.port{fill:#2f4858}"
    ".town{stroke:#22303c;stroke-width:3}.blue.town,.blue .g{fill:#3b78c2}.yellow.town,.yellow "
    ".g{fill:#e8b92e}"
    ".red.town,.red .g{fill:#cf4a41}.white.town,.white .g{fill:#fbfbf8}"
    ".g{display:none;stroke:#14191d;stroke-width:2}"
    ".blue .g0,.yellow .g1,.red .g2,.white .g3{display:inline}"
    ".start circle{fill:#ee8f3c;stroke:#22303c;stroke-width:2}.start "
    ".on{fill:#14191d;font-weight:700;font-size:20px}"
    ".switch .way{fill:none;stroke:#14191d;stroke-width:7;stroke-linecap:round;display:none}"
    ".switch circle{fill:#fffdf7;stroke:#14191d;stroke-width:3}"
    ".s0 .w0,.s1 .w1,.s2 .w2,.s3 .w3,.s4 .w4,.s5 .w5{display:inline}"
    ".light circle{stroke:#14191d;stroke-width:2}.light.go circle{fill:#2fb45c}.light.halt "
    "circle{fill:#c8352b}"
    ".light path{stroke:#fff;stroke-width:3;display:none}.light.go .v,.light.halt "
    ".h{display:inline}"
    ".train .body{stroke:#fff;stroke-width:2}.black .body{fill:#1d1d1d}.brown "
    ".body{fill:#8a5a2b}.gray .body{fill:#8f959b}"
    ".train .b{display:none}.black .b0,.brown .b1,.gray .b2{display:inline}"
    ".train .on{fill:#fff;font-weight:700;font-size:18px}.heading "
    "path{fill:#d6006c;stroke:#fff;stroke-width:1}"
    ".goods .on{font-weight:700;fill:#14191d;font-size:24px}.goods.port .on{fill:#fff}"
    ".symbol rect{stroke:#22303c;stroke-width:2;fill:#fffdf7}.symbol.black rect{fill:#1d1d1d}"
    ".symbol.brown rect{fill:#8a5a2b}.symbol.gray rect{fill:#8f959b}.symbol.done{opacity:.35}"
    ".symbol .on,.colour .on{font-size:18px;fill:#22303c}.symbol.black .on,.symbol.brown "
    ".on,.colour.black .on,.colour.brown .on{fill:#fff}"
    ".colour.black rect{fill:#1d1d1d}.colour.brown rect{fill:#8a5a2b}.colour.gray "
    "rect{fill:#8f959b}"
    ".token circle{fill:#f0b429;stroke:#22303c;stroke-width:2}.token.lost "
    "circle{fill:none;stroke-dasharray:4 3}"
    ".staff.used{opacity:.4}.staff .on,.do .on{font-size:18px}.hand "
    ".on{font-size:18px;text-anchor:start}"
    ".turn>rect{stroke:#d6006c;stroke-width:4}"
    "@media(prefers-color-scheme:dark){.rail{stroke:#4d5964}.tie{stroke:#161b20}.space{fill:#"
    "2b343c}"
    ".switch .way{stroke:#f2f5f7}.symbol rect{fill:#2b343c}}";

/* Goods have shapes besides their colours. */
#define GOODS_LOOK                                                                                 \
    "<circle class=\"g g0\" r=\"13\"/><rect class=\"g g1\" x=\"-12\" y=\"-12\" width=\"24\" "      \
    "height=\"24\"/><path class=\"g g2\" d=\"M0-15L15 11H-15z\"/><path class=\"g g3\" "            \
    "d=\"M0-16L16 0L0 16L-16 0z\"/>"

/* A drawing, as this game has it. */
typedef struct Draw {
    TySvg *svg;
    const ConvoiTables *tables;
    const ConvoiState *state;
} Draw;

static Draw draw_of(TySvg *svg)
{
    return (Draw){.svg = svg, .tables = convoi_tables(svg->ruleset), .state = svg->state};
}

static TyActs acts(const Draw *draw, Form form, uint32_t item)
{
    return (TyActs){.first = (uint16_t)(draw->svg->ruleset->action_first[form] + item), .count = 1};
}

/* ---- The board ---------------------------------------------------------------------------------
 */

static void line_write(TySvg *svg, TySpot a, TySpot b)
{
    ty_svg_put(svg, "M% %L% %", a.x, a.y, b.x, b.y);
}

/* All tracks as one path: every step from a space on, and those without a space. */
static void tracks_write(TySvg *svg, const char *class)
{
    const ConvoiTables *tables = convoi_tables(svg->ruleset);
    ty_svg_raw(svg, "<path class=\"");
    ty_svg_raw(svg, class);
    ty_svg_raw(svg, "\" d=\"");
    for (uint32_t i = 0; i < 2u * tables->space_count; i++) {
        Link link = tables->ahead[i];
        if (link.kind != LINK_SPACE || i % 2 == 0) {
            line_write(svg, tables->layout.space[i / 2], convoi_link_spot(tables, link));
        }
    }
    for (uint32_t junction = 0; junction < tables->junction_count; junction++) {
        for (uint32_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
            Link link = tables->leaving[junction][leg];
            if (link.kind == LINK_JUNCTION && link.index > junction) {
                line_write(svg, tables->layout.junction[junction], convoi_link_spot(tables, link));
            }
        }
    }
    ty_svg_raw(svg, "\"/>");
}

static void titles_write(TySvg *svg, const TySpot *labels, const uint16_t *titles, uint32_t count)
{
    const ConvoiTables *tables = convoi_tables(svg->ruleset);
    for (uint32_t i = 0; i < count; i++) {
        ty_svg_label(svg, "name", labels[i].x, labels[i].y, tables->names.bytes + titles[i]);
    }
}

void convoi_draw_board(TySvg *svg)
{
    const ConvoiTables *tables = convoi_tables(svg->ruleset);
    const ConvoiLayout *layout = &tables->layout;
    ty_svg_put(svg,
               "<rect class=\"panel\" x=\"%\" y=\"8\" width=\"420\" height=\"984\" rx=\"10\"/>",
               LEFT - 10);
    tracks_write(svg, "rail");
    tracks_write(svg, "tie");
    for (uint32_t i = 0; i < tables->space_count; i++) {
        ty_svg_put(svg, "<circle class=\"space\" cx=\"%\" cy=\"%\" r=\"%\"/>", layout->space[i].x,
                   layout->space[i].y, CONVOI_SPACE_RADIUS);
    }
    for (uint32_t i = 0; i < tables->city_count; i++) {
        uint8_t goods = tables->city_goods[i];
        ty_svg_raw(svg, "<circle class=\"town ");
        ty_svg_raw(svg, goods == CONVOI_NONE ? "port" : convoi_goods.words[goods]);
        ty_svg_put(svg, "\" cx=\"%\" cy=\"%\" r=\"%\"/>", layout->city[i].x, layout->city[i].y,
                   CONVOI_CITY_RADIUS);
    }
    titles_write(svg, layout->city_label, tables->city_title, tables->city_count);
    titles_write(svg, layout->start_label, tables->start_title, tables->start_count);
    titles_write(svg, layout->junction_label, tables->junction_title, tables->junction_count);
}

/* The ways through a junction, one for each setting: half-way into both legs that it joins. */
static void switch_shapes(TySvg *svg, uint32_t junction)
{
    const ConvoiTables *tables = convoi_tables(svg->ruleset);
    TySpot middle = tables->layout.junction[junction];
    uint8_t degree = tables->junction_degree[junction];
    for (uint8_t setting = 0; setting < junction_setting_count(degree); setting++) {
        JunctionSetting joined = junction_setting(degree, setting);
        TySpot ends[2];
        for (uint32_t i = 0; i < 2; i++) {
            TySpot to = convoi_link_spot(tables, tables->leaving[junction][joined.leg[i]]);
            int32_t whole = ty_layout_distance(middle, to);
            ends[i] =
                ty_layout_between(middle, to, whole < 60 ? whole / 2 : 30, whole > 0 ? whole : 1);
        }
        ty_svg_put(svg, "<path class=\"way w%\" d=\"M% %Q0 0 % %\"/>", setting,
                   ends[0].x - middle.x, ends[0].y - middle.y, ends[1].x - middle.x,
                   ends[1].y - middle.y);
    }
    ty_svg_put(svg, "<circle r=\"%\"/>", CONVOI_JUNCTION_RADIUS);
}

static void draw_switch(const Draw *draw, uint32_t junction)
{
    static const char *const classes[] = {"s0", "s1", "s2", "s3", "s4", "s5"};
    const ConvoiTables *tables = draw->tables;
    TyActs all = acts(draw, FORM_SWITCH, tables->setting_first[junction]);
    all.count = junction_setting_count(tables->junction_degree[junction]);
    ty_svg_part(draw->svg, &(TyPart){.kind = "switch",
                                     .names = &convoi_junctions,
                                     .index = junction,
                                     .title = true,
                                     .shapes = switch_shapes,
                                     .class = {classes[draw->state->setting[junction]]},
                                     .x = tables->layout.junction[junction].x,
                                     .y = tables->layout.junction[junction].y,
                                     .acts = {all}});
}

static void draw_light(const Draw *draw, uint32_t light)
{
    bool green = draw->state->green >> light & 1;
    TyPart part = {.kind = "light",
                   .names = &convoi_lights,
                   .index = light,
                   .title = true,
                   .look = "<circle r=\"9\"/><path class=\"v\" d=\"M0-5V5\"/><path class=\"h\" "
                           "d=\"M-5 0H5\"/>",
                   .class = {green ? "go" : "halt"},
                   .x = draw->tables->layout.light[light].x,
                   .y = draw->tables->layout.light[light].y,
                   .acts = {acts(draw, FORM_LIGHT_FROM, light), acts(draw, FORM_LIGHT_TO, light)}};
    if (light < draw->tables->city_light_count) {
        part.acts[2] = acts(draw, FORM_EXIT, light);
    }
    ty_svg_part(draw->svg, &part);
}

/* The numbers that bring a train to a start. */
static void draw_start(const Draw *draw, uint32_t start)
{
    char said[32];
    TyText text = ty_text_init(said, sizeof said);
    uint32_t first = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        if (draw->state->number_start[i] == start) {
            first = count == 0 ? i + 2 : first;
            count++;
        }
    }
    if (count > 0) {
        ty_text_add(&text, count > 1 ? "%u+" : "%u", first);
    }
    ty_svg_part(draw->svg, &(TyPart){.kind = "start",
                                     .names = &convoi_starts,
                                     .index = start,
                                     .title = true,
                                     .look = "<circle r=\"21\"/>",
                                     .x = draw->tables->layout.start[start].x,
                                     .y = draw->tables->layout.start[start].y,
                                     .text_at = {0, 7},
                                     .text = said,
                                     .acts = {acts(draw, FORM_PLACE_AT, start)}});
}

/* The goods that wait in a city, or what a port has got. */
static void draw_goods(const Draw *draw, uint32_t city)
{
    uint8_t port = draw->tables->city_port[city];
    char said[16];
    TyText text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "%u",
                port == CONVOI_NONE ? draw->state->goods[city] : goods_of_port(draw->state, port));
    ty_svg_part(draw->svg, &(TyPart){.kind = "goods",
                                     .names = &convoi_cities,
                                     .index = city,
                                     .class = {port == CONVOI_NONE ? NULL : "port"},
                                     .x = draw->tables->layout.city[city].x,
                                     .y = draw->tables->layout.city[city].y,
                                     .text_at = {0, 9},
                                     .text = said});
}

/* ---- Trains ------------------------------------------------------------------------------------
 */

static TySpot place_spot(const ConvoiTables *tables, uint32_t place)
{
    const ConvoiLayout *layout = &tables->layout;
    if (place < tables->space_count) {
        return layout->space[place];
    }
    place -= tables->space_count;
    return place < tables->city_count ? layout->city[place]
                                      : layout->start[place - tables->city_count];
}

/* The arrow of a train on the track: where it is heading. */
static void draw_heading(const Draw *draw, uint32_t train)
{
    uint8_t place = draw->state->place[train];
    bool there = place != 0 && place <= draw->tables->space_count;
    TySpot at = {0, 0};
    int16_t turn = 0;
    if (there) {
        Link link = train_link(draw->tables, draw->state, (uint8_t)train);
        at = place_spot(draw->tables, place - 1u);
        turn = ty_layout_turn(at, convoi_link_spot(draw->tables, link));
    }
    ty_svg_part(draw->svg, &(TyPart){.kind = "heading",
                                     .names = &convoi_trains,
                                     .index = train,
                                     .look = "<path d=\"M22-11L42 0L22 11z\"/>",
                                     .class = {there ? NULL : "gone"},
                                     .x = at.x,
                                     .y = at.y,
                                     .turn = turn});
}

static void draw_train(const Draw *draw, uint32_t train)
{
    static const char *const numbers[] = {"1", "2", "3"};
    uint8_t place = draw->state->place[train];
    uint8_t cargo = draw->state->cargo[train];
    TySpot at = place != 0 ? place_spot(draw->tables, place - 1u) : (TySpot){0, 0};
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "train",
                          .names = &convoi_trains,
                          .index = train,
                          .title = true,
                          .look = "<rect class=\"body b b0\" x=\"-19\" y=\"-16\" width=\"38\" "
                                  "height=\"32\"/><circle class=\"body b b1\" r=\"18\"/><path "
                                  "class=\"body b b2\" d=\"M-20 0L-10-18H10L20 0L10 18H-10z\"/>"
                                  "<g transform=\"translate(17 -17)\">" GOODS_LOOK "</g>",
                          .class = {convoi_colours.words[train / 3],
                                    cargo != 0 ? convoi_goods.words[cargo - 1] : NULL,
                                    place == 0 ? "gone" : NULL,
                                    draw->state->train == train + 1 ? "moving" : NULL},
                          .x = at.x,
                          .y = at.y,
                          .text_at = {0, 7},
                          .text = numbers[train % 3],
                          .acts = {acts(draw, FORM_MOVE, train), acts(draw, FORM_LOAD, train),
                                   acts(draw, FORM_HOLD, train)}});
}

/* ---- The panel ---------------------------------------------------------------------------------
 */

static void draw_line(const Draw *draw, const char *name, int32_t y, const char *said)
{
    ty_svg_part(draw->svg, &(TyPart){.kind = "says",
                                     .name = name,
                                     .class = {"left"},
                                     .x = LEFT,
                                     .y = (int16_t)y,
                                     .text = said});
}

static void draw_question(const Draw *draw)
{
    const ConvoiState *state = draw->state;
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "Turn %u, seat %u, ", state->turns, state->active);
    ty_text_put_count(&text, state->pile, "card");
    ty_text_add(&text, " to come");
    draw_line(draw, "turn", 44, said);
    text = ty_text_init(said, sizeof said);
    if (state->head.over) {
        ty_text_add(&text, "%s", state->won ? "All goods are delivered" : "The game is lost");
    } else {
        ty_text_add(&text, "Question: %s", convoi_phase_words[state->head.phase]);
    }
    if (state->points > 0) {
        ty_text_add(&text, ", ");
        ty_text_put_count(&text, state->points, "point");
    }
    draw_line(draw, "question", 78, said);
    text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "Card ");
    ty_names_write(&convoi_cards, draw->svg->ruleset, state->card, &text);
    draw_line(draw, "card", 112, said);
}

/* The symbols of the card: new trains, then moves. */
static void draw_symbol(const Draw *draw, uint32_t index)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    static const Card none = {.new_count = 0};
    const Card *card = draw->state->card == CARD_NONE ? &none : card_now(draw->tables, draw->state);
    bool there = index < card->new_count + (uint32_t)card->move_count;
    bool fresh = there && index < card->new_count;
    uint8_t colour = !there  ? 0
                     : fresh ? card->new_colour[index]
                             : card->move_colour[index - card->new_count];
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "symbol",
                          .name = names[index],
                          .look = "<rect x=\"-46\" y=\"-22\" width=\"92\" height=\"44\" rx=\"6\"/>",
                          .class = {!there                        ? "gone"
                                    : colour == CONVOI_COLOUR_ANY ? NULL
                                                                  : convoi_colours.words[colour],
                                    index < draw->state->symbol ? "done" : NULL},
                          .x = (int16_t)(LEFT + 50 + (int32_t)(index % 4) * 100),
                          .y = (int16_t)(SYMBOL_TOP + (int32_t)(index / 4) * 46),
                          .text_at = {0, 7},
                          .text = fresh ? "new" : "move"});
}

static void draw_clock(const Draw *draw)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    for (uint32_t i = 0; i < CLOCK_MAX; i++) {
        ty_svg_part(draw->svg, &(TyPart){.kind = "token",
                                         .name = names[i],
                                         .look = "<circle r=\"15\"/>",
                                         .class = {i >= draw->tables->clock ? "gone"
                                                   : i < draw->state->clock ? NULL
                                                                            : "lost"},
                                         .x = (int16_t)(LEFT + 18 + (int32_t)i * 40),
                                         .y = CLOCK_TOP + 22});
    }
}

/* What each port has of each colour, and how much is wanted in all. */
static void draw_delivered(const Draw *draw)
{
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_text_add(&text, "Delivered %u of %u", draw->state->goods_delivered,
                draw->tables->goods_wanted);
    draw_line(draw, "goods", GOODS_TOP + 10, said);
    for (uint32_t goods = 0; goods < CONVOI_GOODS; goods++) {
        uint32_t count = 0;
        for (uint32_t port = 0; port < draw->tables->port_count; port++) {
            count += draw->state->delivered[port][goods];
        }
        text = ty_text_init(said, sizeof said);
        ty_text_add(&text, "%u", count);
        ty_svg_part(draw->svg, &(TyPart){.kind = "delivered",
                                         .names = &convoi_goods,
                                         .index = goods,
                                         .look = GOODS_LOOK,
                                         .class = {convoi_goods.words[goods]},
                                         .x = (int16_t)(LEFT + 240 + (int32_t)goods * 48),
                                         .y = GOODS_TOP + 2,
                                         .text_at = {22, 8},
                                         .text = said});
    }
}

static void box_shapes(TySvg *svg, uint32_t width)
{
    ty_svg_put(svg, "<rect class=\"panel\" x=\"%\" y=\"-20\" width=\"%\" height=\"40\" rx=\"8\"/>",
               -(int32_t)width / 2, (int32_t)width);
}

static void draw_staff(const Draw *draw, uint32_t staff)
{
    static const Form forms[2][CONVOI_STAFF] = {
        {FORM_LOGISTICIEN, FORM_GESTIONNAIRE, FORM_CHEF_DE_TRAIN},
        {FORM_GARDE_VOIE, FORM_WAIT, FORM_WAIT},
    };
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_names_title(&convoi_staff, draw->svg->ruleset, staff, &text);
    Form form = forms[draw->tables->crossing][staff];
    ty_svg_part(
        draw->svg,
        &(TyPart){.kind = "staff",
                  .names = &convoi_staff,
                  .look = "<rect class=\"panel\" x=\"-200\" y=\"-17\" width=\"400\" "
                          "height=\"34\" rx=\"8\"/>",
                  .index = staff,
                  .class = {draw->state->staff_used[staff] ? "used" : NULL},
                  .x = LEFT + 200,
                  .y = (int16_t)(STAFF_TOP + (int32_t)staff * 38),
                  .text_at = {0, 7},
                  .text = said,
                  .acts = {form == FORM_WAIT ? (TyActs){.count = 0} : acts(draw, form, 0)}});
}

static void draw_colour(const Draw *draw, uint32_t colour)
{
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "do",
                          .names = &convoi_colours,
                          .index = colour,
                          .look = "<rect x=\"-64\" y=\"-20\" width=\"128\" height=\"40\" "
                                  "rx=\"8\"/>",
                          .class = {"colour", convoi_colours.words[colour]},
                          .x = (int16_t)(LEFT + 66 + (int32_t)colour * 134),
                          .y = COLOUR_TOP,
                          .text_at = {0, 7},
                          .text = convoi_colours.words[colour],
                          .acts = {acts(draw, FORM_COLOUR, colour)}});
}

/* Actions that are about nothing on the board. */
static void draw_buttons(const Draw *draw)
{
    static const struct {
        const char *said;
        Form form;
    } buttons[] = {{"play card", FORM_PLAY_CARD},
                   {"roll start", FORM_ROLL_START},
                   {"keep roll", FORM_KEEP},
                   {"stop", FORM_STOP},
                   {"end turn", FORM_END}};
    for (uint32_t i = 0; i < sizeof buttons / sizeof buttons[0]; i++) {
        ty_svg_part(draw->svg, &(TyPart){.kind = "do",
                                         .name = buttons[i].said,
                                         .index = 128,
                                         .shapes = box_shapes,
                                         .x = (int16_t)(LEFT + 66 + (int32_t)(i % 3) * 134),
                                         .y = (int16_t)(BUTTON_TOP + (int32_t)(i / 3) * 46),
                                         .text_at = {0, 7},
                                         .text = buttons[i].said,
                                         .acts = {acts(draw, buttons[i].form, 0)}});
    }
}

static void draw_payment(const Draw *draw, uint32_t index)
{
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    ty_names_write(&convoi_payments, draw->svg->ruleset, index, &text);
    ty_svg_part(draw->svg, &(TyPart){.kind = "do",
                                     .names = &convoi_payments,
                                     .index = index,
                                     .look = "<rect class=\"panel\" x=\"-65\" y=\"-18\" "
                                             "width=\"130\" height=\"36\" rx=\"8\"/>",
                                     .x = (int16_t)(LEFT + 66 + (int32_t)(index % 3) * 134),
                                     .y = (int16_t)(PAY_TOP + (int32_t)(index / 3) * 40),
                                     .text_at = {0, 7},
                                     .text = said,
                                     .acts = {acts(draw, FORM_PAY, index)}});
}

static void draw_hand(const Draw *draw, uint32_t seat)
{
    static const char *const digits[] = {"0", "1", "2", "3"};
    const uint8_t *hand = draw->state->hand[seat];
    char said[TY_NAME_MAX];
    TyText text = ty_text_init(said, sizeof said);
    if (draw->tables->hands_hidden && !ty_svg_sees(draw->svg, seat)) {
        ty_text_put_count(&text, hand_size(hand), "card");
    } else {
        ty_text_add(&text, "%u signal, %u switch, %u move", hand[0], hand[1], hand[2]);
    }
    int16_t y = (int16_t)(HANDS_TOP + 27 + (int32_t)seat * HAND_HEIGHT);
    ty_svg_part(draw->svg,
                &(TyPart){.kind = "hand",
                          .name = digits[seat],
                          .look = "<rect class=\"panel\" x=\"0\" y=\"-26\" width=\"400\" "
                                  "height=\"52\" rx=\"6\"/>",
                          .class = {draw->state->active == seat ? "turn" : NULL},
                          .x = LEFT,
                          .y = y,
                          .text_at = {64, 7},
                          .text = said});
    ty_svg_part(draw->svg, &(TyPart){.kind = "sign",
                                     .name = digits[seat],
                                     .look = TY_SVG_SIGN,
                                     .class = {ty_svg_player(seat)},
                                     .x = LEFT + 30,
                                     .y = y,
                                     .text_at = {0, 8},
                                     .text = digits[seat]});
}

static void draw_panel(const Draw *draw)
{
    draw_question(draw);
    for (uint32_t i = 0; i < 2 * CONVOI_SYMBOLS_MAX; i++) {
        draw_symbol(draw, i);
    }
    draw_clock(draw);
    draw_delivered(draw);
    for (uint32_t i = 0; i < CONVOI_STAFF; i++) {
        draw_staff(draw, i);
    }
    for (uint32_t i = 0; i < CONVOI_COLOURS; i++) {
        draw_colour(draw, i);
    }
    draw_buttons(draw);
    for (uint32_t i = 0; i < PAYMENTS; i++) {
        draw_payment(draw, i);
    }
    for (uint32_t i = 0; i < draw->tables->player_count; i++) {
        draw_hand(draw, i);
    }
}

void convoi_draw(TySvg *svg)
{
    const Draw draw = draw_of(svg);
    for (uint32_t i = 0; i < draw.tables->junction_count; i++) {
        draw_switch(&draw, i);
    }
    for (uint32_t i = 0; i < draw.tables->light_count; i++) {
        draw_light(&draw, i);
    }
    for (uint32_t i = 0; i < draw.tables->start_count; i++) {
        draw_start(&draw, i);
    }
    for (uint32_t i = 0; i < draw.tables->city_count; i++) {
        draw_goods(&draw, i);
    }
    for (uint32_t i = 0; i < CONVOI_TRAINS; i++) {
        draw_heading(&draw, i);
        draw_train(&draw, i);
    }
    draw_panel(&draw);
}
