/* Convoi Express: positions as JSON. */
#include "games/convoi/text.h"

/* Item `plus_one` - 1 of the names; null if there is none. */
static void json_optional(TyJson *out, const char *key, const View *view, const TyNames *names,
                          uint8_t plus_one)
{
    if (plus_one == 0) {
        ty_json_put_null(out, key);
    } else {
        ty_json_put_string(out, key, view_name(view, names, plus_one - 1u).text);
    }
}

/* The names of the items that are flagged. */
static void json_flagged(TyJson *out, const char *key, const View *view, const TyNames *names,
                         const uint8_t *flags)
{
    uint32_t count = ty_names_count(names, view->ruleset);
    ty_json_open(out, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (flags[i]) {
            ty_json_put_string(out, NULL, view_name(view, names, i).text);
        }
    }
    ty_json_close(out, ']');
}

/* How many there are of each item. */
static void json_counts(TyJson *out, const char *key, const TyNames *names, const uint8_t *counts)
{
    ty_json_open(out, key, '{');
    for (uint32_t i = 0; names->words[i] != NULL; i++) {
        ty_json_put_int(out, names->words[i], counts[i]);
    }
    ty_json_close(out, '}');
}

static void json_train(TyJson *out, const View *view, uint8_t train)
{
    const ConvoiState *state = view->state;
    uint8_t place = state->place[train];
    ty_json_open(out, NULL, '{');
    ty_json_put_string(out, "train", convoi_trains.words[train]);
    ty_json_put_string(out, "colour", convoi_colours.words[train / 3]);
    ty_json_put_string(out, "place",
                       place == 0 ? "depot" : view_name(view, &convoi_places, place - 1u).text);
    if (view_on_track(view, train)) {
        ty_json_put_string(out, "heading", view_heading(view, train).text);
        ty_json_put_int(out, "direction", state->heading[train] == 0 ? 1 : -1);
    } else {
        ty_json_put_null(out, "heading");
        ty_json_put_null(out, "direction");
    }
    json_optional(out, "cargo", view, &convoi_goods, state->cargo[train]);
    ty_json_put_bool(out, "moved", state->moved[train]);
    ty_json_close(out, '}');
}

static void json_trains(TyJson *out, const View *view)
{
    ty_json_open(out, "trains", '[');
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        json_train(out, view, train);
    }
    ty_json_close(out, ']');
}

static void json_discs(TyJson *out, const View *view)
{
    ty_json_open(out, "junctions", '{');
    for (uint32_t i = 0; i < view->tables->junction_count; i++) {
        convoi_open_legs.json(view->ruleset, view_setting(view, i),
                              view_name(view, &convoi_junctions, i).text, out);
    }
    ty_json_close(out, '}');
    ty_json_open(out, "green", '[');
    for (uint64_t left = view->state->green; left != 0; left &= left - 1) {
        uint32_t light = (uint32_t)__builtin_ctzll(left);
        ty_json_put_string(out, NULL, view_name(view, &convoi_lights, light).text);
    }
    ty_json_close(out, ']');
}

static void json_goods(TyJson *out, const View *view)
{
    const ConvoiTables *tables = view->tables;
    ty_json_open(out, "goods", '{');
    for (uint32_t city = 0; city < tables->city_count; city++) {
        if (tables->city_port[city] == CONVOI_NONE) {
            ty_json_put_int(out, view_name(view, &convoi_cities, city).text,
                            view->state->goods[city]);
        }
    }
    ty_json_close(out, '}');
    ty_json_open(out, "delivered", '{');
    for (uint32_t city = 0; city < tables->city_count; city++) {
        uint8_t port = tables->city_port[city];
        if (port != CONVOI_NONE) {
            json_counts(out, view_name(view, &convoi_cities, city).text, &convoi_goods,
                        view->state->delivered[port]);
        }
    }
    ty_json_close(out, '}');
}

static void json_decks(TyJson *out, const View *view)
{
    const ConvoiState *state = view->state;
    ty_json_open(out, "seats", '[');
    for (uint32_t seat = 0; seat < view->tables->player_count; seat++) {
        ty_json_open(out, NULL, '{');
        json_counts(out, "hand", &convoi_kinds, state->hand[seat]);
        ty_json_close(out, '}');
    }
    ty_json_close(out, ']');
    json_counts(out, "deck", &convoi_kinds, state->deck);
    json_counts(out, "discard", &convoi_kinds, state->discard);
    ty_json_put_int(out, "pile", state->pile);
    json_optional(out, "bottom", view, &convoi_deck_cards,
                  state->bottom == 0 ? 0 : (uint8_t)(state->bottom - CARD_BASE + 1));
    json_flagged(out, "revealed", view, &convoi_deck_cards, state->seen);
}

static void json_starts(TyJson *out, const View *view)
{
    const ConvoiState *state = view->state;
    ty_json_open(out, "starts", '{');
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        ty_json_put_string(out, convoi_numbers.words[i],
                           view_name(view, &convoi_starts, state->number_start[i]).text);
    }
    ty_json_close(out, '}');
    ty_json_open(out, "tokens_spent", '[');
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        if (state->token_spent[i]) {
            ty_json_put_int(out, NULL, i + 2);
        }
    }
    ty_json_close(out, ']');
    uint32_t open = view->tables->starts == STARTS_DRAWN ? view->tables->first_card.new_count : 0;
    ty_json_open(out, "first_tokens", '[');
    for (uint32_t i = 0; i < open; i++) {
        if (state->first_token[i] != 0) {
            ty_json_put_int(out, NULL, state->first_token[i] + 1);
        } else {
            ty_json_put_null(out, NULL);
        }
    }
    ty_json_close(out, ']');
}

/* What the action being paid for is to change: a light, or a junction and its open legs. */
static void json_target(TyJson *out, const View *view)
{
    const ConvoiState *state = view->state;
    uint8_t junction = state->act == ACT_SWITCH + 1 ? state->junction : 0;
    json_optional(out, "to", view, &convoi_lights, state->act == ACT_SIGNAL + 1 ? state->to : 0);
    json_optional(out, "junction", view, &convoi_junctions, junction);
    if (junction == 0) {
        ty_json_put_null(out, "open");
    } else {
        uint32_t first = view->tables->setting_first[junction - 1];
        convoi_open_legs.json(view->ruleset, first + state->junction_setting, "open", out);
    }
}

/* The parts of the question: card and symbol, colour, moving train, action being prepared. */
static void json_question(TyJson *out, const View *view)
{
    const ConvoiState *state = view->state;
    convoi_cards.json(view->ruleset, state->card, "card", out);
    ty_json_put_int(out, "symbol", state->symbol);
    json_optional(out, "colour", view, &convoi_colours, state->colour);
    json_flagged(out, "named", view, &convoi_colours, state->named);
    json_optional(out, "train", view, &convoi_trains, state->train);
    ty_json_put_int(out, "roll", state->roll);
    ty_json_put_int(out, "points", state->points);
    json_optional(out, "entry", view, &convoi_lights, state->entry);
    json_optional(out, "act", view, &convoi_acts, state->act);
    json_optional(out, "from", view, &convoi_lights, state->from);
    json_target(out, view);
}

void convoi_state_json(const TyRuleset *ruleset, const void *state_, TyJson *out)
{
    const View view = view_of(ruleset, state_);
    const ConvoiState *state = state_;
    ty_json_put_int(out, "turn", state->turns);
    ty_json_put_int(out, "active", state->active);
    ty_json_put_string(out, "phase", convoi_phase_words[state->head.phase]);
    ty_json_put_int(out, "clock", state->clock);
    json_question(out, &view);
    json_trains(out, &view);
    json_discs(out, &view);
    json_goods(out, &view);
    json_decks(out, &view);
    json_flagged(out, "staff_used", &view, &convoi_staff, state->staff_used);
    ty_json_put_bool(out, "crossing_on", state->crossing_on);
    json_starts(out, &view);
}
