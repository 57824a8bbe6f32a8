/* Convoi Express: setting up the board (Mise en place) and beginning an episode. */
#include "games/convoi/state.h"
#include "kit/draw.h"

#include <string.h>

void light_place(Play *play, uint8_t light)
{
    play->state->green |= UINT64_C(1) << light;
    EVENT(play, EVENT_LIGHT, 0, light);
}

void switch_place(Play *play, uint8_t setting)
{
    ConvoiState *state = play->state;
    setting_set(play->tables, state, (uint8_t)(state->junction - 1), setting);
    EVENT(play, EVENT_SWITCH, (int16_t)(state->junction - 1),
          (int16_t)(play->tables->setting_first[state->junction - 1] + setting));
    state->junction++;
}

/* Puts a disc on one of `lights` by chance. */
static void light_place_random(Play *play, uint64_t lights)
{
    uint32_t light = draw_bit(play->ty, STREAM_LIGHTS, lights, play->tables->light_count);
    play->state->green |= UINT64_C(1) << light;
    EVENT_CHANCE(play, EVENT_LIGHT, STREAM_LIGHTS, light, 0, (int16_t)light);
}

static void switches_place_random(Play *play)
{
    static const uint8_t weights[6] = {1, 1, 1, 1, 1, 1};
    ConvoiState *state = play->state;
    for (uint8_t i = 0; i < play->tables->junction_count; i++) {
        uint8_t count = junction_setting_count(play->tables->junction_degree[i]);
        uint32_t setting = ty_draw(play->ty, STREAM_SWITCHES, weights, count);
        state->setting[i] = (uint8_t)setting;
        EVENT_CHANCE(play, EVENT_SWITCH, STREAM_SWITCHES, setting, i,
                     (int16_t)(play->tables->setting_first[i] + setting));
    }
}

/* The phase in which the next disc is placed; PHASE_OVER if all are. */
static Phase setup_phase(const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t placed = (uint32_t)__builtin_popcountll(state->green);
    if (placed < tables->city_count) {
        return PHASE_PLACE_CITY;
    }
    if (placed < tables->green_count) {
        return PHASE_PLACE_TRACK;
    }
    if (placed < tables->green_count + (tables->extra_light ? 1u : 0u)) {
        return PHASE_PLACE_EXTRA;
    }
    bool left = state->junction != 0 && state->junction <= tables->junction_count;
    return left ? PHASE_PLACE_SWITCH : PHASE_OVER;
}

void setup_next(Play *play)
{
    const ConvoiTables *tables = play->tables;
    ConvoiState *state = play->state;
    for (;;) {
        Phase phase = setup_phase(tables, state);
        if (phase == PHASE_OVER) {
            break;
        }
        if (tables->placement != PLACEMENT_RANDOM) {
            ask(play, phase);
            return;
        }
        light_place_random(play, lights_to_place(tables, state, phase));
    }
    state->junction = 0;
    game_begin(play);
}

/* Variant: the start tokens are shuffled and laid on the start spaces for the whole game. */
static void tokens_shuffle(Play *play)
{
    ConvoiState *state = play->state;
    uint8_t weights[CONVOI_NUMBERS];
    uint8_t printed[CONVOI_NUMBERS];
    memset(weights, 1, sizeof weights);
    memcpy(printed, state->number_start, sizeof printed);
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        uint32_t slot = ty_draw(play->ty, STREAM_TOKENS, weights, CONVOI_NUMBERS);
        weights[slot] = 0;
        state->number_start[i] = printed[slot];
        EVENT_CHANCE(play, EVENT_TOKEN, STREAM_TOKENS, slot, (int16_t)(i + 2), printed[slot]);
    }
}

/* Variant: a start token lies open for each new train of the first card (ruling 40). */
static void first_tokens_draw(Play *play)
{
    const Card *card = &play->tables->first_card;
    ConvoiState *state = play->state;
    for (uint8_t i = 0; i < card->new_count; i++) {
        uint32_t token = token_draw(play);
        state->first_token[i] = (uint8_t)(token + 1);
        EVENT_CHANCE(play, EVENT_FIRST_TOKEN, STREAM_TOKENS, token, card->new_colour[i],
                     (int16_t)(token + 2), state->number_start[token]);
    }
}

static void first_player_draw(Play *play)
{
    static const uint8_t weights[TY_PLAYERS_MAX] = {1, 1, 1, 1};
    ConvoiState *state = play->state;
    uint32_t seat = ty_draw(play->ty, STREAM_FIRST_PLAYER, weights, play->tables->player_count);
    state->active = (uint8_t)seat;
    EVENT_CHANCE(play, EVENT_FIRST_PLAYER, STREAM_FIRST_PLAYER, seat, 0);
}

/* Discs that no decision places: all of the first game's, the switches of a random placement. */
static void discs_place(Play *play)
{
    const ConvoiTables *tables = play->tables;
    ConvoiState *state = play->state;
    if (tables->placement == PLACEMENT_FIRST_GAME) {
        state->green = tables->first_green;
        memcpy(state->setting, tables->first_setting, sizeof state->setting);
    } else if (tables->placement == PLACEMENT_RANDOM) {
        switches_place_random(play);
    }
    settings_note(tables, state);
    state->junction = tables->placement == PLACEMENT_FREE ? 1 : 0;
}

void convoi_begin(TyPlay *ty)
{
    static const uint8_t action_cards[CONVOI_KINDS] = {27, 27, 27};
    Play play = play_of(ty);
    const ConvoiTables *tables = play.tables;
    ConvoiState *state = play.state;
    memcpy(state->deck, action_cards, sizeof state->deck);
    memcpy(state->number_start, tables->number_start, sizeof state->number_start);
    for (uint32_t i = 0; i < tables->city_count; i++) {
        state->goods[i] = tables->city_goods[i] != CONVOI_NONE ? tables->goods_per_city : 0;
    }
    state->clock = tables->clock;
    state->pile = (uint8_t)(tables->card_count - tables->removed);
    if (tables->first_random) {
        first_player_draw(&play);
    }
    state->head.seat = (int8_t)state->active;
    if (tables->starts == STARTS_SHUFFLED) {
        tokens_shuffle(&play);
    } else if (tables->starts == STARTS_DRAWN) {
        first_tokens_draw(&play);
    }
    discs_place(&play);
    setup_next(&play);
}
