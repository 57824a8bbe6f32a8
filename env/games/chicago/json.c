/* Ligne de train, Chicago: positions as JSON. */
#include "games/chicago/names.h"

/* A place that is counted "plus one"; null for none. */
static void json_place(TyJson *out, const char *key, const TyRuleset *ruleset, uint32_t plus_one)
{
    char name[TY_NAME_MAX];
    TyText text = ty_text_init(name, sizeof name);
    if (plus_one == 0) {
        ty_json_put_null(out, key);
        return;
    }
    ty_names_write(&chicago_places, ruleset, plus_one - 1, &text);
    ty_json_put_string(out, key, name);
}

static void json_cells(TyJson *out, const char *key, const TyRuleset *ruleset, const CellSet *set)
{
    ty_json_open(out, key, '[');
    for (uint32_t cell = 0; cell < CHICAGO_NODES; cell++) {
        if (cells_have(set, cell)) {
            json_place(out, NULL, ruleset, cell + 1);
        }
    }
    ty_json_close(out, ']');
}

/* The counts that are not zero, by name. */
static void json_cards(TyJson *out, const char *key, const uint8_t *counts, const TyNames *cards)
{
    ty_json_open(out, key, '{');
    for (uint32_t i = 0; cards->words[i] != NULL; i++) {
        if (counts[i] > 0) {
            ty_json_put_int(out, cards->words[i], counts[i]);
        }
    }
    ty_json_close(out, '}');
}

static void json_seat(TyJson *out, const TyRuleset *ruleset, const ChicagoState *state,
                      uint32_t seat)
{
    ty_json_open(out, NULL, '{');
    ty_json_put_int(out, "supply", state->supply[seat]);
    json_cells(out, "seated", ruleset, &state->seated[seat]);
    ty_json_put_string(out, "wait", chicago_waits.words[state->wait[seat]]);
    json_place(out, "start", ruleset,
               state->start[seat] == 0 ? 0u : (uint32_t)(CHICAGO_NODES + state->start[seat]));
    json_place(out, "aisle", ruleset, state->aisle[seat]);
    ty_json_put_int(out, "tokens", state->tokens[seat]);
    ty_json_put_bool(out, "skip", state->skip[seat]);
    ty_json_put_int(out, "blocked", state->blocked[seat]);
    json_cards(out, "numbers", state->numbers[seat], &chicago_numbers);
    json_cards(out, "actions", state->actions[seat], &chicago_actions);
    ty_json_close(out, '}');
}

static void json_question(TyJson *out, const TyRuleset *ruleset, const ChicagoState *state)
{
    if (state->card == 0) {
        ty_json_put_null(out, "card");
    } else {
        ty_json_put_string(out, "card", chicago_actions.words[state->card - 1]);
    }
    ty_json_put_int(out, "target", state->target - 1);
    json_place(out, "picked", ruleset, state->picked);
    ty_json_put_int(out, "left", state->left);
    ty_json_put_int(out, "source", state->source);
    ty_json_put_string(out, "pile", chicago_piles.words[state->pile]);
    ty_json_put_int(out, "owing", state->owing);
    ty_json_put_int(out, "passes", state->passes);
    ty_json_put_int(out, "bonus", state->bonus);
    ty_json_put_int(out, "points", state->points);
    ty_json_put_int(out, "laid", state->laid);
    ty_json_put_int(out, "colour", state->colour);
    ty_json_put_bool(out, "boarded", state->boarded);
    ty_json_put_bool(out, "fresh", state->fresh);
    ty_json_put_bool(out, "ending", state->ending);
    ty_json_put_bool(out, "rebelled", state->rebelled);
    json_cells(out, "gained", ruleset, &state->gained);
}

void chicago_state_json(const TyRuleset *ruleset, const void *state_, TyJson *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    ty_json_put_string(out, "phase", chicago_phases.words[state->head.phase]);
    ty_json_put_int(out, "turn", state->turns);
    ty_json_put_int(out, "active", state->active);
    ty_json_put_bool(out, "backward", state->backward);
    ty_json_open(out, "tiles", '[');
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        ty_json_put_string(out, NULL, tables->names.bytes + tables->tile_names[state->tile[car]]);
    }
    ty_json_close(out, ']');
    ty_json_open(out, "seats", '[');
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        json_seat(out, ruleset, state, seat);
    }
    ty_json_close(out, ']');
    json_cards(out, "number_deck", state->number_deck, &chicago_numbers);
    json_cards(out, "action_deck", state->action_deck, &chicago_actions);
    json_cards(out, "number_discard", state->number_discard, &chicago_numbers);
    json_cards(out, "action_discard", state->action_discard, &chicago_actions);
    json_question(out, ruleset, state);
}
