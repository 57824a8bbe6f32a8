/* Convoi Express: identity of a state, its invariants, and dealing hidden hands anew. */
#include "core/draw.h"
#include "games/convoi/state.h"

#include <string.h>

uint64_t convoi_hash(const TyRuleset *ruleset, const void *state_, uint64_t hash)
{
    (void)ruleset;
    const ConvoiState *state = state_;
    hash = hash_add(hash, state->options);
    hash = hash_add(hash, state->choices);
    hash = hash_add(hash, state->green);
    hash = hash_add(hash, (uint64_t)state->turns | (uint64_t)state->tokens_lost << 16 |
                              (uint64_t)state->cards_played << 32 |
                              (uint64_t)(uint16_t)state->potential << 48);
    const uint8_t *counts = &state->set_aside;
    hash = hash_bytes(hash, counts,
                      offsetof(ConvoiState, potential) - offsetof(ConvoiState, set_aside));
    return hash_bytes(hash, &state->hand[0][0], sizeof(ConvoiState) - offsetof(ConvoiState, hand));
}

/* ---- Invariants
 * ---------------------------------------------------------------------------------- */

static const char *check_cards(const ConvoiTables *tables, const ConvoiState *state)
{
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        uint32_t count = (uint32_t)(state->deck[kind] + state->discard[kind]);
        for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
            count += state->hand[seat][kind];
        }
        if (count != 27) {
            return "there are not 27 action cards of each kind";
        }
    }
    for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
        uint8_t limit = seat < tables->player_count ? CONVOI_HAND_MAX : 0;
        if (hand_size(state->hand[seat]) > limit) {
            return "a hand has more than 10 cards";
        }
    }
    return NULL;
}

static const char *check_pile(const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t unseen = 0;
    for (uint32_t i = 0; i < tables->card_count; i++) {
        if (state->seen[i] > 1) {
            return "a revealed card is not a flag";
        }
        unseen += state->seen[i] ^ 1u;
    }
    uint32_t known = state->bottom != 0;
    if (state->pile > unseen + known || state->pile < known) {
        return "the pile has more instruction cards than are left";
    }
    if (state->card >= CARD_BASE + tables->card_count ||
        state->bottom >= CARD_BASE + tables->card_count || state->bottom == CARD_FIRST) {
        return "an instruction card does not exist";
    }
    if (state->card >= CARD_BASE && !state->seen[state->card - CARD_BASE]) {
        return "the card being followed was not revealed";
    }
    if (state->bottom != 0 && (!state->seen[state->bottom - CARD_BASE] || !tables->crossing)) {
        return "the card at the bottom was not revealed";
    }
    return NULL;
}

static const char *check_trains(const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t places = (uint32_t)(tables->space_count + tables->city_count + tables->start_count);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        uint8_t place = state->place[train];
        if (place > places || state->heading[train] > 1 || state->cargo[train] > CONVOI_GOODS) {
            return "a train is nowhere";
        }
        if (place == 0 && (state->cargo[train] != 0 || state->heading[train] != 0)) {
            return "a train in the depot carries goods or has a heading";
        }
        if (place > tables->space_count && state->heading[train] != 0) {
            return "a train off the track has a heading";
        }
        if (place > tables->space_count + tables->city_count && state->cargo[train] != 0) {
            return "a train on a start carries goods";
        }
        if (place != 0 && train_at(state, (uint8_t)(place - 1), train) != CONVOI_NONE) {
            return "two trains are in one place";
        }
        uint8_t city = city_at(tables, (uint8_t)(place - 1));
        bool port = place != 0 && city != CONVOI_NONE && tables->city_port[city] != CONVOI_NONE;
        if (port && (!tables->crossing || state->cargo[train] != 0)) {
            return "a train stays in a port that sends it to the depot";
        }
    }
    return NULL;
}

static const char *check_goods(const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t delivered = 0;
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        uint8_t city = tables->goods_city[goods];
        uint32_t count = city == CONVOI_NONE ? 0 : state->goods[city];
        for (uint32_t port = 0; port < CONVOI_PORTS_MAX; port++) {
            count += state->delivered[port][goods];
            delivered += state->delivered[port][goods];
        }
        for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
            count += state->cargo[train] == goods + 1;
        }
        if (count != (city == CONVOI_NONE ? 0u : tables->goods_per_city)) {
            return "goods were lost or made";
        }
    }
    for (uint8_t port = 0; port < tables->port_count; port++) {
        if (goods_of_port(state, port) >
            (uint32_t)(CONVOI_GOODS * tables->port_wants + tables->port_extra)) {
            return "a port has more goods than it takes";
        }
    }
    return delivered == state->goods_delivered ? NULL : "the count of delivered goods is wrong";
}

static bool placing(const ConvoiState *state)
{
    return state->phase <= PHASE_PLACE_SWITCH;
}

static const char *check_discs(const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t discs = (uint32_t)__builtin_popcountll(state->green);
    uint32_t all = tables->green_count + (tables->extra_light ? 1u : 0u);
    if (tables->light_count < 64 && state->green >> tables->light_count != 0) {
        return "a green disc lies on no light";
    }
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        if (state->setting[i] >= junction_setting_count(tables->junction_degree[i])) {
            return "a junction has a setting that does not exist";
        }
    }
    if (placing(state)) {
        return discs <= all ? NULL : "there are too many green discs";
    }
    if (discs != all) {
        return "green discs were lost or made";
    }
    for (uint32_t city = 0; city < tables->city_count; city++) {
        if ((state->green & tables->city_lights[city]) == 0) {
            return "a city has no green light";
        }
    }
    return NULL;
}

static bool flags_only(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] > 1) {
            return false;
        }
    }
    return true;
}

static const char *check_starts(const ConvoiTables *tables, const ConvoiState *state)
{
    uint8_t carried[CONVOI_STARTS_MAX] = {0};
    uint8_t printed[CONVOI_STARTS_MAX] = {0};
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        if (state->number_start[i] >= tables->start_count) {
            return "a start number lies on no start";
        }
        carried[state->number_start[i]]++;
        printed[tables->number_start[i]]++;
    }
    if (memcmp(carried, printed, sizeof carried) != 0) {
        return "start numbers were lost or made";
    }
    return NULL;
}

/* The fields of the question being asked. */
static const char *check_question(const ConvoiTables *tables, const ConvoiState *state)
{
    bool card_phase = state->phase >= PHASE_CARD && state->phase <= PHASE_TRAIN;
    if (card_phase && state->card == CARD_NONE) {
        return "a question about a card, and no card";
    }
    if (state->card != CARD_NONE) {
        const Card *card = card_now(tables, state);
        uint32_t symbols = (uint32_t)(card->new_count + card->move_count);
        if (state->symbol > symbols || (state->phase == PHASE_COLOUR && state->symbol == symbols) ||
            (state->phase == PHASE_START && state->symbol >= card->new_count)) {
            return "the card has no such symbol";
        }
    }
    bool moving =
        state->phase == PHASE_DIE || state->phase == PHASE_CITY || state->phase == PHASE_EXIT;
    if (state->train > CONVOI_TRAINS || state->points > 5 || state->roll > 5 ||
        (moving &&
         (state->train == 0 || state->points == 0 || state->place[state->train - 1] == 0))) {
        return "the moving train does not exist";
    }
    bool in_city = state->phase == PHASE_CITY || state->phase == PHASE_EXIT;
    if (in_city && city_at(tables, (uint8_t)(state->place[state->train - 1] - 1)) == CONVOI_NONE) {
        return "a train leaves a city and is in none";
    }
    if (state->entry > tables->light_count || state->from > tables->light_count ||
        state->colour > CONVOI_COLOURS || state->act > ACT_LOAD + 1 ||
        state->junction_setting > 5) {
        return "a part of the question is out of range";
    }
    if ((state->phase == PHASE_TRAIN || state->phase == PHASE_START) && state->colour == 0) {
        return "no colour is named";
    }
    if (state->phase == PHASE_LIGHT_TO && state->from == 0) {
        return "no light is named";
    }
    return NULL;
}

/* What the chosen action needs before it is paid. */
static const char *check_act(const ConvoiTables *tables, const ConvoiState *state)
{
    if (state->phase != PHASE_PAY) {
        return NULL;
    }
    switch (state->act) {
    case ACT_SIGNAL + 1:
        return state->from != 0 && state->to != 0 && state->to <= tables->light_count &&
                       (state->green >> (state->from - 1) & 1) != 0 &&
                       (state->green >> (state->to - 1) & 1) == 0
                   ? NULL
                   : "the lights of the action do not fit";
    case ACT_SWITCH + 1:
        return state->junction != 0 && state->junction <= tables->junction_count &&
                       state->junction_setting <
                           junction_setting_count(tables->junction_degree[state->junction - 1])
                   ? NULL
                   : "the junction of the action does not fit";
    case ACT_MOVE + 1:
        return state->train != 0 && state->place[state->train - 1] != 0
                   ? NULL
                   : "the train of the action does not fit";
    case ACT_LOAD + 1: {
        uint8_t place = state->train == 0 ? 0 : state->place[state->train - 1];
        uint8_t city = place == 0 ? CONVOI_NONE : city_at(tables, (uint8_t)(place - 1));
        return city != CONVOI_NONE && state->goods[city] > 0 && state->cargo[state->train - 1] == 0
                   ? NULL
                   : "the train of the action cannot be loaded";
    }
    default:
        return "no action is being paid";
    }
}

static const char *check_ranges(const ConvoiTables *tables, const ConvoiState *state)
{
    if (state->phase >= PHASE_COUNT || state->active >= tables->player_count) {
        return "the question or the active seat does not exist";
    }
    if ((state->phase == PHASE_OVER) != (state->head.over != 0) ||
        (!state->head.over && state->head.seat != (int8_t)state->active)) {
        return "the seat to act is not the active one";
    }
    if (state->clock > tables->clock || (state->clock == 0 && !state->head.over)) {
        return "the clock is out of range";
    }
    if (!flags_only(state->staff_used, CONVOI_STAFF) || !flags_only(&state->crossing_on, 1) ||
        !flags_only(state->named, CONVOI_COLOURS) || !flags_only(state->moved, CONVOI_TRAINS) ||
        !flags_only(state->token_spent, CONVOI_NUMBERS) || state->won > 1) {
        return "a flag is neither 0 nor 1";
    }
    if (state->phase == PHASE_PLACE_SWITCH &&
        (state->junction == 0 || state->junction > tables->junction_count)) {
        return "the junction to be set does not exist";
    }
    if (state->phase == PHASE_PLACE_CITY &&
        (uint32_t)__builtin_popcountll(state->green) >= tables->city_count) {
        return "every city has its light";
    }
    return NULL;
}

/* The options stored in a state are those that its position has. */
static const char *check_options(const ConvoiTables *tables, const ConvoiState *state)
{
    ConvoiState copy = *state;
    options_compute(tables, &copy);
    if (copy.options != state->options || copy.choices != state->choices ||
        copy.switches_open != state->switches_open) {
        return "the open answers do not fit the question";
    }
    if (!state->head.over && state->options == 0 && state->choices == 0 && !state->switches_open) {
        return "the question has no answer";
    }
    return NULL;
}

const char *convoi_check(const TyRuleset *ruleset, const void *state_)
{
    static const char *(*const checks[])(const ConvoiTables *, const ConvoiState *) = {
        check_ranges, check_cards,  check_pile,     check_trains, check_goods,
        check_discs,  check_starts, check_question, check_act,    check_options,
    };
    const ConvoiTables *tables = convoi_tables(ruleset);
    for (uint32_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const char *broken = checks[i](tables, state_);
        if (broken != NULL) {
            return broken;
        }
    }
    const ConvoiState *state = state_;
    bool shaped = tables->reward == REWARD_SHAPED;
    if (state->potential != (shaped ? convoi_potential(tables, state) : 0)) {
        return "the potential does not fit the position";
    }
    return NULL;
}

/* ---- Hidden information
 * ---------------------------------------------------------------------------- */

void convoi_resample(const TyRuleset *ruleset, void *state_, uint32_t seat)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    ConvoiState *state = state_;
    uint8_t sizes[TY_PLAYERS_MAX] = {0};
    if (!tables->hands_hidden) {
        return;
    }
    for (uint32_t other = 0; other < tables->player_count; other++) {
        for (uint32_t kind = 0; other != seat && kind < CONVOI_KINDS; kind++) {
            sizes[other] = (uint8_t)(sizes[other] + state->hand[other][kind]);
            state->deck[kind] = (uint8_t)(state->deck[kind] + state->hand[other][kind]);
            state->hand[other][kind] = 0;
        }
    }
    for (uint32_t other = 0; other < tables->player_count; other++) {
        for (uint8_t i = 0; i < sizes[other]; i++) {
            uint32_t kind = draw(&state->head, NULL, STREAM_ACTIONS, state->deck, CONVOI_KINDS);
            state->deck[kind]--;
            state->hand[other][kind]++;
        }
    }
    options_compute(tables, state);
}
