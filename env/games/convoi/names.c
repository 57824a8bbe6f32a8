/* Convoi Express: what things are called. */
#include "games/convoi/state.h"

#include <string.h>

#define WORDS(...)                                                                                 \
    {                                                                                              \
        .words = (const char *const[])                                                             \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define LIST(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define KEPT(list, number) TY_NAMES_KEPT(ConvoiTables, list, number, names)
#define TITLED(list, titles, number) TY_NAMES_TITLED(ConvoiTables, list, titles, number, names)

/* ---- Words -------------------------------------------------------------------------------------
 */

const char *const convoi_phase_words[PHASE_COUNT + 1] = {
    "place.city", "place.track", "place.extra", "place.switch", "card", "colour",
    "start",      "train",       "die",         "city",         "exit", "actions",
    "light.to",   "pay",         "over",        NULL,
};
const TyNames convoi_phases = {.words = convoi_phase_words};
const TyNames convoi_colours = WORDS("black", "brown", "gray");
const TyNames convoi_trains = {
    .words = LIST("black.1", "black.2", "black.3", "brown.1", "brown.2", "brown.3", "gray.1",
                  "gray.2", "gray.3"),
    .titles = LIST("black 1", "black 2", "black 3", "brown 1", "brown 2", "brown 3", "gray 1",
                   "gray 2", "gray 3"),
};
const TyNames convoi_goods = WORDS("blue", "yellow", "red", "white");
const TyNames convoi_kinds = WORDS("signal", "switch", "move");
const TyNames convoi_acts = WORDS("signal", "switch", "move", "load");
const TyNames convoi_losses = {
    .words = LIST("red_light", "closed_switch", "train_ahead", "city_occupied", "head_on",
                  "start_reached", "start_occupied", "depot_empty"),
    .titles =
        LIST("a red light", "a closed switch", "a train ahead", "an occupied city",
             "a head-on collision", "a dead end", "the start is occupied", "the depot has none"),
};
const TyNames convoi_obstacles = WORDS("red_light", "closed_switch", "train_ahead", "city_occupied",
                                       "head_on", "start_reached", "city");
const TyNames convoi_setting = WORDS("0", "1", "2", "3", "4", "5");
const TyNames convoi_results = WORDS("lost", "won");
const TyNames convoi_ends = {
    .words = LIST("all_delivered", "last_turn", "clock"),
    .titles = LIST("all goods are delivered", "the last turn is over", "the clock has run out"),
};

const TyNames convoi_numbers = WORDS("2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12");
const TyNames convoi_start_dice =
    WORDS("", "", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12");
const TyNames convoi_dice[CONVOI_COLOURS] = {
    WORDS("", "", "2", "3", "4", "5"),
    WORDS("", "1", "2", "3", "4"),
    WORDS("", "1", "2", "3"),
};
const TyNames convoi_first_trains = WORDS("first", "second", "third", "fourth");
const TyNames convoi_start_draws = {
    .words = LIST("start", "start_token"),
    .titles = LIST("pair of start dice", "start token"),
};

/* ---- Of the board and the deck -----------------------------------------------------------------
 */

const TyNames convoi_cities = TITLED(city_name, city_title, city_count);
const TyNames convoi_starts = TITLED(start_name, start_title, start_count);
const TyNames convoi_junctions = TITLED(junction_name, junction_title, junction_count);
const TyNames convoi_deck_cards = KEPT(card_name, card_count);
const TyNames convoi_segments = KEPT(segment_name, segment_count);
const TyNames convoi_line_sides = WORDS("a", "b");

static uint32_t count_line_ends(const TyRuleset *ruleset)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    return (uint32_t)tables->city_count + tables->start_count + tables->junction_count;
}

static void write_line_end(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint32_t starts = tables->city_count;
    uint32_t junctions = starts + tables->start_count;
    if (index < starts) {
        ty_names_write(&convoi_cities, ruleset, index, out);
    } else if (index < junctions) {
        ty_names_write(&convoi_starts, ruleset, index - starts, out);
    } else {
        ty_names_write(&convoi_junctions, ruleset, index - junctions, out);
    }
}

const TyNames convoi_line_ends = {.count = count_line_ends, .write = write_line_end};

/* The list in which `name`, of `length` characters, stands, and its place there; NULL: in none. */
static const TyNames *place_find(const TyRuleset *ruleset, const char *name, size_t length,
                                 uint32_t *index)
{
    static const TyNames *const lists[] = {&convoi_cities, &convoi_starts, &convoi_junctions};
    char other[TY_NAME_MAX];
    for (uint32_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        uint32_t count = ty_names_count(lists[i], ruleset);
        for (*index = 0; *index < count; ++*index) {
            TyText text = ty_text_init(other, sizeof other);
            ty_names_write(lists[i], ruleset, *index, &text);
            if (strncmp(other, name, length) == 0 && other[length] == '\0') {
                return lists[i];
            }
        }
    }
    return NULL;
}

/* A name that is made of others ("paris/bruxelles", "calais-bruxelles.1"), with their titles. */
static void title_joined(const TyRuleset *ruleset, const char *name, TyText *out)
{
    while (*name != '\0') {
        size_t length = strcspn(name, "-/~+.");
        uint32_t index;
        const TyNames *list = place_find(ruleset, name, length, &index);
        if (list != NULL) {
            ty_names_title(list, ruleset, index, out);
        } else {
            ty_text_put(out, name, length);
        }
        name += length;
        if (*name != '\0') {
            ty_text_add(out, "%s",
                        *name == '/'   ? " towards "
                        : *name == '.' ? ", space "
                                       : "\u2013");
            name++;
        }
    }
}

static void title_light(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    if (tables->light_title[index] != 0) {
        ty_text_add(out, "%s", tables->names.bytes + tables->light_title[index]);
    } else {
        title_joined(ruleset, tables->names.bytes + tables->light_name[index], out);
    }
}

static uint32_t count_lights(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->light_count;
}

static uint32_t count_exits(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->city_light_count;
}

static void write_light(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    ty_text_add(out, "%s", tables->names.bytes + tables->light_name[index]);
}

const TyNames convoi_lights = {.count = count_lights, .write = write_light, .title = title_light};
const TyNames convoi_exits = {.count = count_exits, .write = write_light, .title = title_light};

static uint32_t count_ports(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->port_count;
}

static void write_port(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    (void)ruleset;
    ty_text_add(out, "port %u", index);
}

const TyNames convoi_ports = {.count = count_ports, .write = write_port};

static uint32_t count_seats(const TyRuleset *ruleset)
{
    return ruleset->shape.players;
}

static void write_number(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    (void)ruleset;
    ty_text_add(out, "%u", index);
}

const TyNames convoi_seats = {.count = count_seats, .write = write_number};

/* Actions are numbered as if every board had as many starts as a board may have. */
static uint32_t count_unused(const TyRuleset *ruleset)
{
    return CONVOI_STARTS_MAX - (uint32_t)convoi_tables(ruleset)->start_count;
}

static void write_unused(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    ty_text_add(out, "%u", ruleset->action_first[FORM_UNUSED] + index);
}

const TyNames convoi_unused_starts = {.count = count_unused, .write = write_unused};

static uint32_t count_staff(const TyRuleset *ruleset)
{
    (void)ruleset;
    return CONVOI_STAFF;
}

static void write_staff(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    static const char *const words[2][CONVOI_STAFF] = {
        {"logisticien", "gestionnaire", "chef_de_train"},
        {"garde_voie", "agent_de_manoeuvre", "cheffe_de_section"},
    };
    ty_text_add(out, "%s", words[convoi_tables(ruleset)->crossing][index]);
}

static void title_staff(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    static const char *const titles[2][CONVOI_STAFF] = {
        {"logisticien", "gestionnaire", "chef de train"},
        {"garde-voie", "agent de manoeuvre", "cheffe de section"},
    };
    ty_text_add(out, "%s", titles[convoi_tables(ruleset)->crossing][index]);
}

const TyNames convoi_staff = {.count = count_staff, .write = write_staff, .title = title_staff};

static uint32_t count_places(const TyRuleset *ruleset)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    return (uint32_t)tables->space_count + tables->city_count + tables->start_count;
}

static void write_place(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint32_t spaces = tables->space_count;
    if (index < spaces) {
        ty_text_add(out, "%s.%u",
                    tables->names.bytes + tables->segment_name[tables->space_segment[index]],
                    tables->space_index[index]);
    } else if (index < spaces + tables->city_count) {
        ty_names_write(&convoi_cities, ruleset, index - spaces, out);
    } else {
        ty_names_write(&convoi_starts, ruleset, index - spaces - tables->city_count, out);
    }
}

static void title_place(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    char name[TY_NAME_MAX];
    TyText text = ty_text_init(name, sizeof name);
    write_place(ruleset, index, &text);
    title_joined(ruleset, name, out);
}

const TyNames convoi_places = {
    .count = count_places, .write = write_place, .title = title_place, .none = "depot"};

/* ---- Settings of switches ----------------------------------------------------------------------
 */

static uint32_t count_settings(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->setting_count;
}

/* Open leg `which` of the setting with number `index`, in a list of what legs are called. */
static const char *leg_in(const ConvoiTables *tables,
                          const uint16_t names[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX],
                          uint32_t index, uint32_t which)
{
    uint8_t junction = tables->setting_junction[index];
    JunctionSetting open = junction_setting(tables->junction_degree[junction],
                                            (uint8_t)(index - tables->setting_first[junction]));
    return tables->names.bytes + names[junction][open.leg[which]];
}

static const char *leg_name(const ConvoiTables *tables, uint32_t index, uint32_t which)
{
    return leg_in(tables, tables->leg_name, index, which);
}

static void write_legs(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    ty_text_add(out, "%s+%s", leg_name(tables, index, 0), leg_name(tables, index, 1));
}

static void json_legs(const TyRuleset *ruleset, uint32_t index, const char *key, TyJson *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    ty_json_open(out, key, '[');
    ty_json_put_string(out, NULL, leg_name(tables, index, 0));
    ty_json_put_string(out, NULL, leg_name(tables, index, 1));
    ty_json_close(out, ']');
}

static void title_legs(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    title_joined(ruleset, leg_in(tables, tables->leg_way, index, 0), out);
    ty_text_add(out, "\u2013");
    title_joined(ruleset, leg_in(tables, tables->leg_way, index, 1), out);
}

const TyNames convoi_open_legs = {
    .count = count_settings, .write = write_legs, .title = title_legs, .json = json_legs};

static void write_setting(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    uint8_t junction = convoi_tables(ruleset)->setting_junction[index];
    ty_names_write(&convoi_junctions, ruleset, junction, out);
    ty_text_add(out, " ");
    write_legs(ruleset, index, out);
}

static void title_setting(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    ty_names_title(&convoi_junctions, ruleset, convoi_tables(ruleset)->setting_junction[index],
                   out);
    ty_text_add(out, ": ");
    title_legs(ruleset, index, out);
}

const TyNames convoi_settings = {
    .count = count_settings, .write = write_setting, .title = title_setting};

/* ---- Cards -------------------------------------------------------------------------------------
 */

static uint32_t count_cards(const TyRuleset *ruleset)
{
    return (uint32_t)CARD_BASE + convoi_tables(ruleset)->card_count;
}

static void write_card(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    if (index < CARD_BASE) {
        ty_text_add(out, "%s", index == CARD_NONE ? "none" : "FIRST");
    } else {
        ty_names_write(&convoi_deck_cards, ruleset, index - CARD_BASE, out);
    }
}

static void json_colours(TyJson *out, const char *key, const uint8_t *colours, uint32_t count,
                         const char *any)
{
    ty_json_open(out, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        bool free = colours[i] == CONVOI_COLOUR_ANY;
        ty_json_put_string(out, NULL, free ? any : convoi_colours.words[colours[i]]);
    }
    ty_json_close(out, ']');
}

static void json_card(const TyRuleset *ruleset, uint32_t index, const char *key, TyJson *out)
{
    char name[TY_NAME_MAX];
    TyText text = ty_text_init(name, sizeof name);
    if (index == CARD_NONE) {
        ty_json_put_null(out, key);
        return;
    }
    const Card *card = card_of(convoi_tables(ruleset), index);
    write_card(ruleset, index, &text);
    ty_json_open(out, key, '{');
    ty_json_put_string(out, "id", name);
    json_colours(out, "new", card->new_colour, card->new_count, "any");
    json_colours(out, "move", card->move_colour, card->move_count, "multi");
    ty_json_close(out, '}');
}

const TyNames convoi_cards = {.count = count_cards, .write = write_card, .json = json_card};

static uint32_t count_payments(const TyRuleset *ruleset)
{
    (void)ruleset;
    return PAYMENTS;
}

static void write_payment(const TyRuleset *ruleset, uint32_t index, TyText *out)
{
    const char *separator = "";
    (void)ruleset;
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        for (uint32_t i = 0; i < payments[index].cards[kind]; i++) {
            ty_text_add(out, "%s%s", separator, convoi_kinds.words[kind]);
            separator = "+";
        }
    }
}

static void json_payment(const TyRuleset *ruleset, uint32_t index, const char *key, TyJson *out)
{
    (void)ruleset;
    ty_json_open(out, key, '[');
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        for (uint32_t i = 0; i < payments[index].cards[kind]; i++) {
            ty_json_put_string(out, NULL, convoi_kinds.words[kind]);
        }
    }
    ty_json_close(out, ']');
}

const TyNames convoi_payments = {
    .count = count_payments, .write = write_payment, .json = json_payment};
