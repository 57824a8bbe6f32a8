/* Convoi Express: positions and events as text and as JSON. */
#include "games/convoi/names.h"

#include <string.h>

/* Names written by a function, as a string of their own. */
typedef struct Name {
    char text[TY_NAME_MAX];
} Name;

static Name train_name(uint32_t train)
{
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    name_train(train, &text);
    return name;
}

static Name place_name(const ConvoiTables *tables, uint32_t place)
{
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    name_place(tables, place, &text);
    return name;
}

static Name setting_name(const ConvoiTables *tables, uint32_t junction, uint32_t setting)
{
    Name name = {.text = ""};
    Text text = text_init(name.text, sizeof name.text);
    name_setting(tables, junction, setting, &text);
    return name;
}

/* Where a train on the track is heading: the end of its segment, as a place name or a junction's.
 */
static const char *heading_name(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    uint32_t place = state->place[train] - 1u;
    Link link = tables->ahead[2 * place + state->heading[train]];
    while (link.kind == LINK_SPACE) {
        link = tables->ahead[2 * link.index + link.side];
    }
    switch ((LinkKind)link.kind) {
    case LINK_CITY:
        return name_city(tables, link.index);
    case LINK_START:
        return name_start(tables, link.index);
    case LINK_JUNCTION:
        return name_junction(tables, link.index);
    case LINK_SPACE:
        break;
    }
    return "";
}

static bool on_track(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    return state->place[train] != 0 && state->place[train] <= tables->space_count;
}

/* ---- JSON
 * ------------------------------------------------------------------------------------------- */

static void json_colours(Json *out, const char *key, const uint8_t *colours, uint32_t count,
                         const char *any)
{
    json_open(out, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_put_string(out, NULL, colours[i] == CONVOI_COLOUR_ANY ? any : name_colour(colours[i]));
    }
    json_close(out, ']');
}

static void json_card(Json *out, const char *key, const ConvoiTables *tables, uint8_t number)
{
    if (number == CARD_NONE) {
        json_put_null(out, key);
        return;
    }
    const Card *card =
        number == CARD_FIRST ? &tables->first_card : &tables->cards[number - CARD_BASE];
    json_open(out, key, '{');
    json_put_string(out, "id", name_card(tables, number));
    json_colours(out, "new", card->new_colour, card->new_count, "any");
    json_colours(out, "move", card->move_colour, card->move_count, "multi");
    json_close(out, '}');
}

static void json_optional(Json *out, const char *key, uint8_t plus_one, const char *name)
{
    if (plus_one == 0) {
        json_put_null(out, key);
    } else {
        json_put_string(out, key, name);
    }
}

static void json_trains(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_open(out, "trains", '[');
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t place = state->place[train];
        json_open(out, NULL, '{');
        json_put_string(out, "train", train_name(train).text);
        json_put_string(out, "colour", name_colour(train / 3u));
        json_put_string(out, "place", place == 0 ? "depot" : place_name(tables, place - 1u).text);
        if (on_track(tables, state, train)) {
            json_put_string(out, "heading", heading_name(tables, state, train));
            json_put_int(out, "direction", state->heading[train] == 0 ? 1 : -1);
        } else {
            json_put_null(out, "heading");
            json_put_null(out, "direction");
        }
        uint8_t cargo = state->cargo[train];
        json_optional(out, "cargo", cargo, cargo == 0 ? "" : name_goods(cargo - 1u));
        json_put_bool(out, "moved", state->moved[train]);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void json_legs(Json *out, const char *key, const ConvoiTables *tables, uint32_t junction,
                      uint8_t setting)
{
    JunctionSetting open = junction_setting(tables->junction_degree[junction], setting);
    json_open(out, key, '[');
    json_put_string(out, NULL, name_leg(tables, junction, open.leg[0]));
    json_put_string(out, NULL, name_leg(tables, junction, open.leg[1]));
    json_close(out, ']');
}

static void json_junctions(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_open(out, "junctions", '{');
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        json_legs(out, name_junction(tables, i), tables, i, state->setting[i]);
    }
    json_close(out, '}');
}

static void json_lights(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_open(out, "green", '[');
    for (uint32_t i = 0; i < tables->light_count; i++) {
        if (state->green >> i & 1) {
            json_put_string(out, NULL, name_light(tables, i));
        }
    }
    json_close(out, ']');
}

static void json_goods(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_open(out, "goods", '{');
    for (uint32_t city = 0; city < tables->city_count; city++) {
        if (tables->city_port[city] == CONVOI_NONE) {
            json_put_int(out, name_city(tables, city), state->goods[city]);
        }
    }
    json_close(out, '}');
    json_open(out, "delivered", '{');
    for (uint32_t city = 0; city < tables->city_count; city++) {
        uint8_t port = tables->city_port[city];
        if (port != CONVOI_NONE) {
            json_open(out, name_city(tables, city), '{');
            for (uint32_t goods = 0; goods < CONVOI_GOODS; goods++) {
                json_put_int(out, name_goods(goods), state->delivered[port][goods]);
            }
            json_close(out, '}');
        }
    }
    json_close(out, '}');
}

static void json_kinds(Json *out, const char *key, const uint8_t counts[CONVOI_KINDS])
{
    json_open(out, key, '{');
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        json_put_int(out, name_kind(kind), counts[kind]);
    }
    json_close(out, '}');
}

static void json_decks(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_open(out, "hands", '[');
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        json_kinds(out, NULL, state->hand[seat]);
    }
    json_close(out, ']');
    json_kinds(out, "deck", state->deck);
    json_kinds(out, "discard", state->discard);
    json_put_int(out, "pile", state->pile);
    json_optional(out, "bottom", state->bottom, name_card(tables, state->bottom));
    json_open(out, "revealed", '[');
    for (uint32_t i = 0; i < tables->card_count; i++) {
        if (state->seen[i]) {
            json_put_string(out, NULL, name_card(tables, CARD_BASE + i));
        }
    }
    json_close(out, ']');
}

static void json_starts(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    char number[8];
    json_open(out, "starts", '{');
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        Text text = text_init(number, sizeof number);
        text_add(&text, "%u", i + 2);
        json_put_string(out, number, name_start(tables, state->number_start[i]));
    }
    json_close(out, '}');
    json_open(out, "tokens_spent", '[');
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        if (state->token_spent[i]) {
            json_put_int(out, NULL, i + 2);
        }
    }
    json_close(out, ']');
}

static void json_staff(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_open(out, "staff_used", '[');
    for (uint32_t staff = 0; staff < CONVOI_STAFF; staff++) {
        if (state->staff_used[staff]) {
            json_put_string(out, NULL, name_staff(tables, staff));
        }
    }
    json_close(out, ']');
    json_put_bool(out, "crossing_on", state->crossing_on);
}

/* What the action being paid for is to change: a light, or a junction and its open legs. */
static void json_target(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    uint8_t light = state->act == ACT_SIGNAL + 1 ? state->to : 0;
    uint8_t junction = state->act == ACT_SWITCH + 1 ? state->junction : 0;
    json_optional(out, "to", light, light == 0 ? "" : name_light(tables, light - 1u));
    json_optional(out, "junction", junction,
                  junction == 0 ? "" : name_junction(tables, junction - 1u));
    if (junction == 0) {
        json_put_null(out, "open");
    } else {
        json_legs(out, "open", tables, junction - 1u, state->junction_setting);
    }
}

/* The parts of the question: card and symbol, colour, moving train, action being prepared. */
static void json_question(Json *out, const ConvoiTables *tables, const ConvoiState *state)
{
    json_card(out, "card", tables, state->card);
    json_put_int(out, "symbol", state->symbol);
    json_optional(out, "colour", state->colour,
                  state->colour == 0 ? "" : name_colour(state->colour - 1u));
    json_open(out, "named", '[');
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (state->named[colour]) {
            json_put_string(out, NULL, name_colour(colour));
        }
    }
    json_close(out, ']');
    json_optional(out, "train", state->train,
                  state->train == 0 ? "" : train_name(state->train - 1u).text);
    json_put_int(out, "roll", state->roll);
    json_put_int(out, "points", state->points);
    json_optional(out, "entry", state->entry,
                  state->entry == 0 ? "" : name_light(tables, state->entry - 1u));
    json_optional(out, "act", state->act, state->act == 0 ? "" : name_act(state->act - 1u));
    json_optional(out, "from", state->from,
                  state->from == 0 ? "" : name_light(tables, state->from - 1u));
    json_target(out, tables, state);
}

void convoi_state_json(const TyRuleset *ruleset, const void *state_, Json *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    json_put_int(out, "turn", state->turns);
    json_put_int(out, "active", state->active);
    json_put_string(out, "phase", name_phase(state->phase));
    json_put_int(out, "clock", state->clock);
    json_question(out, tables, state);
    json_trains(out, tables, state);
    json_junctions(out, tables, state);
    json_lights(out, tables, state);
    json_goods(out, tables, state);
    json_decks(out, tables, state);
    json_staff(out, tables, state);
    json_starts(out, tables, state);
}

/* ---- Events
 * ----------------------------------------------------------------------------------------- */

static void event_end_json(const TyEvent *event, Json *out)
{
    static const char *const reasons[] = {"all_delivered", "last_turn", "clock"};
    json_put_string(out, "event", "end");
    json_put_string(out, "result", event->args[0] ? "won" : "lost");
    json_put_string(out, "reason", reasons[event->args[1]]);
}

static void event_light_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    uint8_t from = (uint8_t)event->args[0];
    json_put_string(out, "event", "light");
    json_optional(out, "from", from, from == 0 ? "" : name_light(tables, from - 1u));
    json_put_string(out, "to", name_light(tables, (uint32_t)event->args[1]));
}

static void event_switch_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    uint32_t junction = (uint32_t)event->args[0];
    json_put_string(out, "event", "switch");
    json_put_string(out, "junction", name_junction(tables, junction));
    json_legs(out, "open", tables, junction, (uint8_t)event->args[1]);
}

static void event_not_placed_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    uint8_t colour = (uint8_t)event->args[0];
    json_put_string(out, "event", "not_placed");
    json_optional(out, "colour", colour, colour == 0 ? "" : name_colour(colour - 1u));
    json_optional(out, "start", colour,
                  colour == 0 ? "" : name_start(tables, (uint32_t)event->args[1]));
    json_put_string(out, "why", name_loss((uint32_t)event->args[2]));
}

static void event_move_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    json_put_string(out, "event", "move");
    json_put_string(out, "train", train_name((uint32_t)event->args[0]).text);
    json_open(out, "path", '[');
    for (uint32_t i = 0; i < event->path_count; i++) {
        json_put_string(out, NULL, place_name(tables, event->path[i]).text);
    }
    json_close(out, ']');
}

static void event_cargo_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    bool deliver = event->kind == EVENT_DELIVER;
    json_put_string(out, "event", deliver ? "deliver" : "load");
    json_put_string(out, "train", train_name((uint32_t)event->args[0]).text);
    json_put_string(out, "goods", name_goods((uint32_t)event->args[1]));
    json_put_string(out, "city", name_city(tables, (uint32_t)event->args[2]));
    if (deliver) {
        json_put_int(out, "total", event->args[3]);
    }
}

static void event_depot_json(const TyEvent *event, Json *out)
{
    uint8_t goods = (uint8_t)event->args[1];
    json_put_string(out, "event", "depot");
    json_put_string(out, "train", train_name((uint32_t)event->args[0]).text);
    json_optional(out, "goods_back", goods, goods == 0 ? "" : name_goods(goods - 1u));
}

static void event_discard_json(const TyEvent *event, Json *out)
{
    const uint8_t *cards = payments[event->args[0]].cards;
    json_put_string(out, "event", "discard");
    json_put_int(out, "seat", event->seat);
    json_open(out, "cards", '[');
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        for (uint32_t i = 0; i < cards[kind]; i++) {
            json_put_string(out, NULL, name_kind(kind));
        }
    }
    json_close(out, ']');
}

static void event_tokens_json(const TyEvent *event, Json *out)
{
    json_put_string(out, "event", "tokens");
    json_put_int(out, "lost", event->args[0]);
    json_put_string(out, "why", name_loss((uint32_t)event->args[1]));
    json_put_int(out, "clock", event->args[2]);
}

static void event_train_start_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    json_put_string(out, "event", "place");
    json_put_string(out, "train", train_name((uint32_t)event->args[0]).text);
    json_put_string(out, "start", name_start(tables, (uint32_t)event->args[1]));
}

static void event_with_int(Json *out, const char *event, const char *key, int16_t value)
{
    json_put_string(out, "event", event);
    json_put_int(out, key, value);
}

static void event_with_name(Json *out, const char *event, const char *key, const char *value)
{
    json_put_string(out, "event", event);
    json_put_string(out, key, value);
}

static void event_token_json(const ConvoiTables *tables, const TyEvent *event, Json *out)
{
    event_with_int(out, "start_token", "number", event->args[0]);
    json_put_string(out, "start", name_start(tables, (uint32_t)event->args[1]));
}

void convoi_event_json(const TyRuleset *ruleset, const TyEvent *event, Json *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    int16_t first = event->args[0];
    uint32_t index = (uint32_t)first;
    switch ((ConvoiEvent)event->kind) {
    case EVENT_END:
        event_end_json(event, out);
        break;
    case EVENT_FIRST_PLAYER:
        event_with_int(out, "first_player", "seat", first);
        break;
    case EVENT_LIGHT:
        event_light_json(tables, event, out);
        break;
    case EVENT_SWITCH:
        event_switch_json(tables, event, out);
        break;
    case EVENT_TOKEN:
        event_token_json(tables, event, out);
        break;
    case EVENT_DRAW:
        event_with_name(out, "draw", "card", name_kind(index));
        json_put_int(out, "seat", event->args[1]);
        break;
    case EVENT_RESHUFFLE:
        json_put_string(out, "event", "reshuffle");
        break;
    case EVENT_TURN:
        event_with_int(out, "turn", "turn", first);
        json_put_int(out, "seat", event->seat);
        break;
    case EVENT_CARD:
        json_put_string(out, "event", "card");
        json_card(out, "card", tables, (uint8_t)first);
        break;
    case EVENT_CARD_UNDER:
        event_with_name(out, "card_under", "card", name_card(tables, index));
        break;
    case EVENT_STAFF:
        event_with_name(out, "staff", "staff", name_staff(tables, index));
        break;
    case EVENT_NAME:
        event_with_name(out, "colour", "colour", name_colour(index));
        break;
    case EVENT_ROLL:
        event_with_name(out, "roll", "die", name_colour(index));
        json_put_int(out, "value", event->args[1]);
        break;
    case EVENT_ROLL_START:
        event_with_name(out, "roll", "die",
                        event->stream == STREAM_TOKENS ? "start_token" : "start");
        json_put_int(out, "value", first);
        break;
    case EVENT_PLACE:
        event_train_start_json(tables, event, out);
        break;
    case EVENT_NOT_PLACED:
        event_not_placed_json(tables, event, out);
        break;
    case EVENT_SKIP:
        event_with_name(out, "skip", "colour", name_colour(index));
        break;
    case EVENT_HOLD:
        event_with_name(out, "hold", "train", train_name(index).text);
        break;
    case EVENT_MOVE:
        event_move_json(tables, event, out);
        break;
    case EVENT_TOKENS:
        event_tokens_json(event, out);
        break;
    case EVENT_SET_ASIDE:
        event_with_int(out, "set_aside", "pile", first);
        json_put_int(out, "clock", event->args[1]);
        break;
    case EVENT_DELIVER:
    case EVENT_LOAD:
        event_cargo_json(tables, event, out);
        break;
    case EVENT_DEPOT:
        event_depot_json(event, out);
        break;
    case EVENT_DISCARD:
        event_discard_json(event, out);
        break;
    }
}

/* ---- Text
 * ------------------------------------------------------------------------------------------- */

static void text_card(const ConvoiTables *tables, uint8_t number, Text *out)
{
    if (number == CARD_NONE) {
        text_add(out, "done for this turn");
        return;
    }
    const Card *card =
        number == CARD_FIRST ? &tables->first_card : &tables->cards[number - CARD_BASE];
    text_add(out, "%s:", name_card(tables, number));
    for (uint32_t i = 0; i < card->new_count; i++) {
        bool any = card->new_colour[i] == CONVOI_COLOUR_ANY;
        text_add(out, " new %s;", any ? "train of any colour" : name_colour(card->new_colour[i]));
    }
    for (uint32_t i = 0; i < card->move_count; i++) {
        bool any = card->move_colour[i] == CONVOI_COLOUR_ANY;
        text_add(out, " move %s;", any ? "a colour of choice" : name_colour(card->move_colour[i]));
    }
}

static void text_trains(const ConvoiTables *tables, const ConvoiState *state, Text *out)
{
    text_add(out, "Trains:\n");
    uint32_t in_depot[CONVOI_COLOURS] = {0};
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] == 0) {
            in_depot[train / 3]++;
            continue;
        }
        text_add(out, "  %-8s %s", train_name(train).text,
                 place_name(tables, state->place[train] - 1u).text);
        if (on_track(tables, state, train)) {
            text_add(out, " -> %s", heading_name(tables, state, train));
        }
        if (state->cargo[train] != 0) {
            text_add(out, ", carries %s", name_goods(state->cargo[train] - 1u));
        }
        text_add(out, "%s\n", state->train == train + 1 ? "  (moving)" : "");
    }
    text_add(out, "  depot    %u black, %u brown, %u gray\n", in_depot[0], in_depot[1],
             in_depot[2]);
}

static void text_board(const ConvoiTables *tables, const ConvoiState *state, Text *out)
{
    text_add(out, "Goods:");
    for (uint32_t city = 0; city < tables->city_count; city++) {
        if (tables->city_port[city] == CONVOI_NONE) {
            text_add(out, " %s %u %s;", name_city(tables, city), state->goods[city],
                     name_goods(tables->city_goods[city]));
        }
    }
    text_add(out, "\nDelivered: %u of %u", state->goods_delivered, tables->goods_wanted);
    for (uint32_t city = 0; city < tables->city_count; city++) {
        uint8_t port = tables->city_port[city];
        for (uint32_t goods = 0; port != CONVOI_NONE && goods < CONVOI_GOODS; goods++) {
            if (state->delivered[port][goods] > 0) {
                text_add(out, "; %s %u %s", name_city(tables, city), state->delivered[port][goods],
                         name_goods(goods));
            }
        }
    }
    text_add(out, "\nGreen lights:");
    for (uint32_t i = 0; i < tables->light_count; i++) {
        if (state->green >> i & 1) {
            text_add(out, " %s", name_light(tables, i));
        }
    }
    text_add(out, "\nSwitches:");
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        text_add(out, " %s=%s", name_junction(tables, i),
                 setting_name(tables, i, state->setting[i]).text);
    }
    text_add(out, "\n");
}

static void text_hands(const ConvoiTables *tables, const ConvoiState *state, uint32_t seat,
                       Text *out)
{
    for (uint32_t i = 0; i < tables->player_count; i++) {
        const uint8_t *hand = state->hand[i];
        text_add(out, "Hand of seat %u%s: ", i, i == seat ? " (you)" : "");
        if (tables->hands_hidden && i != seat) {
            text_add(out, "%u cards\n", hand_size(hand));
        } else {
            text_add(out, "%u signal, %u switch, %u move\n", hand[0], hand[1], hand[2]);
        }
    }
}

static void text_staff(const ConvoiTables *tables, const ConvoiState *state, Text *out)
{
    text_add(out, "Staff:");
    for (uint32_t staff = 0; staff < CONVOI_STAFF; staff++) {
        text_add(out, " %s%s;", name_staff(tables, staff),
                 state->staff_used[staff] ? " (used)" : "");
    }
    text_add(out, "\n");
}

static void text_question(const ConvoiTables *tables, const ConvoiState *state, Text *out)
{
    text_add(out, "Question: %s", name_phase(state->phase));
    if (state->phase == PHASE_PLACE_CITY) {
        text_add(out, " %s", name_city(tables, (uint32_t)__builtin_popcountll(state->green)));
    }
    if (state->phase == PHASE_PLACE_SWITCH) {
        text_add(out, " %s", name_junction(tables, state->junction - 1u));
    }
    if (state->colour != 0) {
        text_add(out, ", colour %s", name_colour(state->colour - 1u));
    }
    if (state->points != 0) {
        text_add(out, ", roll %u, points left %u", state->roll, state->points);
    }
    if (state->act != 0) {
        text_add(out, ", paying for: %s", name_act(state->act - 1u));
    }
    text_add(out, "\n");
}

void convoi_text(const TyRuleset *ruleset, const void *state_, uint32_t seat, Text *out)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    text_add(out, "%s, turn %u, seat %u to act. Clock: %u of %u tokens. Cards to come: %u%s\n",
             tables->names + tables->board_title, state->turns, state->active, state->clock,
             tables->clock, state->pile, state->pile == 0 ? " (last turn)" : "");
    if (!state->head.over) {
        text_add(out, "Card ");
        text_card(tables, state->card, out);
        text_add(out, "\n");
    }
    text_trains(tables, state, out);
    text_board(tables, state, out);
    text_hands(tables, state, seat, out);
    text_staff(tables, state, out);
    if (state->head.over) {
        text_add(out, "%s\n", state->won ? "Won: all goods are delivered." : "Lost.");
    } else {
        text_question(tables, state, out);
    }
}
