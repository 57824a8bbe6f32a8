/* Convoi Express: the names of actions, places, blocks and outcomes. */
#include "games/convoi/names.h"

#include <assert.h>
#include <string.h>

static const char *const colour_names[] = {"black", "brown", "gray"};
static const char *const goods_names[] = {"blue", "yellow", "red", "white"};
static const char *const kind_names[] = {"signal", "switch", "move"};
static const char *const act_names[] = {"signal", "switch", "move", "load"};
static const char *const staff_names[2][CONVOI_STAFF] = {
    {"logisticien", "gestionnaire", "chef_de_train"},
    {"garde_voie", "agent_de_manoeuvre", "cheffe_de_section"},
};
static const char *const phase_names[] = {
    "place.city", "place.track", "place.extra", "place.switch", "card",
    "colour",     "start",       "train",       "die",          "city",
    "exit",       "actions",     "light.to",    "pay",          "over",
};
_Static_assert(sizeof phase_names / sizeof phase_names[0] == PHASE_COUNT, "a name per phase");

const char *name_colour(uint32_t colour)
{
    return colour_names[colour];
}

const char *name_goods(uint32_t goods)
{
    return goods_names[goods];
}

const char *name_kind(uint32_t kind)
{
    return kind_names[kind];
}

const char *name_staff(const ConvoiTables *tables, uint32_t staff)
{
    return staff_names[tables->crossing][staff];
}

const char *name_loss(uint32_t loss)
{
    static const char *const names[] = {
        "red_light", "closed_switch", "train_ahead",    "city_occupied",
        "head_on",   "start_reached", "start_occupied", "depot_empty",
    };
    return names[loss];
}

const char *name_phase(uint32_t phase)
{
    return phase_names[phase];
}

const char *name_act(uint32_t act)
{
    return act_names[act];
}

const char *name_light(const ConvoiTables *tables, uint32_t light)
{
    return tables->names + tables->light_name[light];
}

const char *name_city(const ConvoiTables *tables, uint32_t city)
{
    return tables->names + tables->city_name[city];
}

const char *name_start(const ConvoiTables *tables, uint32_t start)
{
    return tables->names + tables->start_name[start];
}

const char *name_junction(const ConvoiTables *tables, uint32_t junction)
{
    return tables->names + tables->junction_name[junction];
}

const char *name_leg(const ConvoiTables *tables, uint32_t junction, uint32_t leg)
{
    return tables->names + tables->leg_name[junction][leg];
}

const char *name_card(const ConvoiTables *tables, uint32_t card)
{
    if (card == CARD_NONE) {
        return "none";
    }
    return card == CARD_FIRST ? "FIRST" : tables->names + tables->cards[card - CARD_BASE].name;
}

void name_train(uint32_t train, Text *out)
{
    text_add(out, "%s.%u", colour_names[train / 3], train % 3 + 1);
}

void name_place(const ConvoiTables *tables, uint32_t place, Text *out)
{
    if (place < tables->space_count) {
        text_add(out, "%s.%u", tables->names + tables->segment_name[tables->space_segment[place]],
                 tables->space_index[place]);
    } else if (place < (uint32_t)tables->space_count + tables->city_count) {
        text_add(out, "%s", name_city(tables, place - tables->space_count));
    } else {
        text_add(out, "%s", name_start(tables, place - tables->space_count - tables->city_count));
    }
}

void name_setting(const ConvoiTables *tables, uint32_t junction, uint32_t setting, Text *out)
{
    JunctionSetting open = junction_setting(tables->junction_degree[junction], (uint8_t)setting);
    text_add(out, "%s+%s", name_leg(tables, junction, open.leg[0]),
             name_leg(tables, junction, open.leg[1]));
}

void name_payment(uint32_t payment, Text *out)
{
    const char *separator = "";
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        for (uint32_t i = 0; i < payments[payment].cards[kind]; i++) {
            text_add(out, "%s%s", separator, kind_names[kind]);
            separator = "+";
        }
    }
}

static void action_name_small(const ConvoiTables *tables, uint32_t action, Text *out)
{
    static const char *const singles[ACTION_COLOUR] = {
        "wait",      "turn.end",   "card.play",        "die.keep",           "staff.logisticien",
        "city.stop", "start.roll", "staff.garde_voie", "staff.gestionnaire", "staff.chef_de_train",
    };
    if (action < ACTION_COLOUR) {
        text_add(out, "%s", singles[action]);
    } else if (action < ACTION_MOVE) {
        text_add(out, "colour %s", colour_names[action - ACTION_COLOUR]);
    } else if (action < ACTION_LOAD) {
        text_add(out, "move ");
        name_train(action - ACTION_MOVE, out);
    } else if (action < ACTION_HOLD) {
        text_add(out, "load ");
        name_train(action - ACTION_LOAD, out);
    } else if (action < ACTION_PAY) {
        text_add(out, "staff.cheffe_de_section ");
        name_train(action - ACTION_HOLD, out);
    } else if (action < ACTION_PLACE_AT) {
        text_add(out, "pay ");
        name_payment(action - ACTION_PAY, out);
    } else if (action - ACTION_PLACE_AT < tables->start_count) {
        text_add(out, "staff.agent_de_manoeuvre %s", name_start(tables, action - ACTION_PLACE_AT));
    } else {
        text_add(out, "unused %u", action);
    }
}

void convoi_action_name(const TyRuleset *ruleset, uint32_t action, Text *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint32_t lights = tables->light_count;
    if (action < ACTION_LIGHTS) {
        action_name_small(tables, action, out);
        return;
    }
    action -= ACTION_LIGHTS;
    if (action < lights) {
        text_add(out, "light.from %s", name_light(tables, action));
    } else if (action < 2 * lights) {
        text_add(out, "light.to %s", name_light(tables, action - lights));
    } else if (action < 2 * lights + tables->city_light_count) {
        text_add(out, "exit %s", name_light(tables, action - 2 * lights));
    } else {
        uint32_t offset = action - 2 * lights - tables->city_light_count;
        uint8_t junction = tables->setting_junction[offset];
        text_add(out, "switch %s ", name_junction(tables, junction));
        name_setting(tables, junction, offset - tables->junction_action[junction], out);
    }
}

const char *convoi_phase_name(const TyRuleset *ruleset, const void *state)
{
    (void)ruleset;
    return phase_names[((const ConvoiState *)state)->phase];
}

/* The outcomes of the streams that are numbers: the first and the last one that can come up. */
static bool outcome_number(const ConvoiTables *tables, uint32_t stream, uint32_t outcome)
{
    switch (stream) {
    case STREAM_START_DICE:
        return outcome >= 2 && outcome <= 12;
    case STREAM_DIE:
        return outcome >= 2 && outcome <= 5;
    case STREAM_DIE + 1:
        return outcome >= 1 && outcome <= 4;
    case STREAM_DIE + 2:
        return outcome >= 1 && outcome <= 3;
    case STREAM_SWITCHES:
        return outcome < 6;
    case STREAM_FIRST_PLAYER:
        return outcome < tables->player_count;
    default:
        return false;
    }
}

void convoi_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome, Text *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    if (stream == STREAM_INSTRUCTIONS && outcome < tables->card_count) {
        text_add(out, "%s", name_card(tables, CARD_BASE + outcome));
    } else if (stream == STREAM_ACTIONS && outcome < CONVOI_KINDS) {
        text_add(out, "%s", kind_names[outcome]);
    } else if (stream == STREAM_LIGHTS && outcome < tables->light_count) {
        text_add(out, "%s", name_light(tables, outcome));
    } else if (stream == STREAM_TOKENS && outcome < CONVOI_NUMBERS) {
        text_add(out, "%u", outcome + 2);
    } else if (outcome_number(tables, stream, outcome)) {
        text_add(out, "%u", outcome);
    }
}

/* ---- Blocks of the row
 * ------------------------------------------------------------------------------ */

static bool block_is(const TyBlock *block, const char *name)
{
    return strcmp(block->name, name) == 0;
}

static bool block_of_trains(const TyBlock *block)
{
    return block_is(block, "moved") || block_is(block, "place") || block_is(block, "heading") ||
           block_is(block, "cargo") || block_is(block, "run") || block_is(block, "obstacle") ||
           block_is(block, "obstacle_light") || block_is(block, "obstacle_junction") ||
           block_is(block, "way_cost") || block_is(block, "way_exit") ||
           block_is(block, "way_light") || block_is(block, "way_switch");
}

static bool block_of_kinds(const TyBlock *block)
{
    return block_is(block, "deck") || block_is(block, "discard");
}

void convoi_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row,
                        uint32_t column, Text *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    if (block_of_trains(block)) {
        name_train(column, out);
    } else if (block_of_kinds(block)) {
        text_add(out, "%s", kind_names[column]);
    } else if (block_is(block, "staff_used")) {
        text_add(out, "%s", name_staff(tables, column));
    } else if (block_is(block, "named")) {
        text_add(out, "%s", colour_names[column]);
    } else if (block_is(block, "goods")) {
        text_add(out, "%s", name_city(tables, column));
    } else if (block_is(block, "delivered")) {
        text_add(out, "port %u %s", row, goods_names[column]);
    } else if (block_is(block, "setting")) {
        text_add(out, "%s", name_junction(tables, column));
    } else if (block_is(block, "seen")) {
        text_add(out, "%s", name_card(tables, CARD_BASE + column));
    } else if (block_is(block, "green")) {
        text_add(out, "%s", name_light(tables, column));
    } else if (block_is(block, "hand")) {
        text_add(out, "seat +%u %s", row, kind_names[column]);
    } else if (block_is(block, "hand_size")) {
        text_add(out, "seat +%u", column);
    } else if (block_is(block, "number_start") || block_is(block, "token_spent")) {
        text_add(out, "%u", column + 2);
    }
}

/* Names of values that are "plus one", with 0 for none. */
static void optional_label(const ConvoiTables *tables, const TyBlock *block, uint32_t value,
                           Text *out)
{
    if (value == 0) {
        text_add(out, "%s", block_is(block, "place") ? "depot" : "none");
    } else if (block_is(block, "place")) {
        name_place(tables, value - 1, out);
    } else if (block_is(block, "cargo")) {
        text_add(out, "%s", goods_names[value - 1]);
    } else if (block_is(block, "colour")) {
        text_add(out, "%s", colour_names[value - 1]);
    } else if (block_is(block, "train")) {
        name_train(value - 1, out);
    } else if (block_is(block, "entry") || block_is(block, "from") || block_is(block, "to") ||
               block_is(block, "obstacle_light") || block_is(block, "way_exit") ||
               block_is(block, "way_light")) {
        text_add(out, "%s", name_light(tables, value - 1));
    } else if (block_is(block, "junction") || block_is(block, "obstacle_junction")) {
        text_add(out, "%s", name_junction(tables, value - 1));
    } else if (block_is(block, "obstacle")) {
        text_add(out, "%s", value == HINT_CITY ? "city" : name_loss(value - 1));
    } else if (block_is(block, "act")) {
        text_add(out, "%s", act_names[value - 1]);
    }
}

void convoi_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value, Text *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    if (block->kind != TY_BLOCK_CATEGORY || value > block->maximum) {
        return;
    }
    if (block_is(block, "phase")) {
        text_add(out, "%s", phase_names[value]);
    } else if (block_is(block, "card") || block_is(block, "bottom")) {
        text_add(out, "%s", name_card(tables, value));
    } else if (block_is(block, "turn")) {
        text_add(out, "seat +%u", value);
    } else if (block_is(block, "number_start")) {
        text_add(out, "%s", name_start(tables, value));
    } else if (!block_is(block, "setting") && !block_is(block, "junction_setting")) {
        optional_label(tables, block, value, out);
    }
}
