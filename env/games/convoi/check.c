/* Convoi Express: the invariants of a state, and dealing hidden hands again. */
#include "games/convoi/state.h"

#include <string.h>

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
        if (place > places) {
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
    return state->head.phase <= PHASE_PLACE_SWITCH;
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

/* Tokens lie open until the first card is followed. */
static const char *check_first_tokens(const ConvoiTables *tables, const ConvoiState *state)
{
    bool early = placing(state) || state->card == CARD_FIRST;
    for (uint32_t i = 0; i < CONVOI_SYMBOLS_MAX; i++) {
        uint8_t token = state->first_token[i];
        if (token != 0 && (!early || tables->starts != STARTS_DRAWN ||
                           i >= tables->first_card.new_count || !state->token_spent[token - 1])) {
            return "a start token lies open that should not";
        }
    }
    return NULL;
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
    bool card_phase = state->head.phase >= PHASE_CARD && state->head.phase <= PHASE_TRAIN;
    if (card_phase && state->card == CARD_NONE) {
        return "a question about a card, and no card";
    }
    if (state->card != CARD_NONE) {
        const Card *card = card_now(tables, state);
        uint32_t symbols = (uint32_t)(card->new_count + card->move_count);
        if (state->symbol > symbols ||
            (state->head.phase == PHASE_COLOUR && state->symbol == symbols) ||
            (state->head.phase == PHASE_START && state->symbol >= card->new_count)) {
            return "the card has no such symbol";
        }
    }
    bool moving = state->head.phase == PHASE_DIE || state->head.phase == PHASE_CITY ||
                  state->head.phase == PHASE_EXIT;
    if (moving &&
        (state->train == 0 || state->points == 0 || state->place[state->train - 1] == 0)) {
        return "the moving train does not exist";
    }
    bool in_city = state->head.phase == PHASE_CITY || state->head.phase == PHASE_EXIT;
    if (in_city && city_at(tables, (uint8_t)(state->place[state->train - 1] - 1)) == CONVOI_NONE) {
        return "a train leaves a city and is in none";
    }
    if (state->entry > tables->light_count || state->from > tables->light_count) {
        return "a part of the question is out of range";
    }
    if ((state->head.phase == PHASE_TRAIN || state->head.phase == PHASE_START) &&
        state->colour == 0) {
        return "no colour is named";
    }
    if (state->head.phase == PHASE_LIGHT_TO && state->from == 0) {
        return "no light is named";
    }
    return NULL;
}

/* What the chosen action needs before it is paid. */
static const char *check_act(const ConvoiTables *tables, const ConvoiState *state)
{
    if (state->head.phase != PHASE_PAY) {
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
    if (state->active >= tables->player_count) {
        return "the active seat does not exist";
    }
    if ((state->head.phase == PHASE_OVER) != (state->head.over != 0) ||
        (!state->head.over && state->head.seat != (int8_t)state->active)) {
        return "the seat to act is not the active one";
    }
    if (state->clock > tables->clock || (state->clock == 0 && !state->head.over)) {
        return "the clock is out of range";
    }
    if (state->head.phase == PHASE_PLACE_SWITCH &&
        (state->junction == 0 || state->junction > tables->junction_count)) {
        return "the junction to be set does not exist";
    }
    if (state->head.phase == PHASE_PLACE_CITY &&
        (uint32_t)__builtin_popcountll(state->green) >= tables->city_count) {
        return "every city has its light";
    }
    return NULL;
}

/* What is kept of the network is what the network says. */
static const char *check_kept(const ConvoiTables *tables, const ConvoiState *state)
{
    Kept kept = network_look(tables, state);
    ConvoiState copy = *state;
    settings_note(tables, &copy);
    if (memcmp(copy.settled, state->settled, sizeof copy.settled) != 0) {
        return "the settings that are noted are not those of the switches";
    }
    if (state->potential != kept.potential) {
        return "the potential does not fit the position";
    }
    if ((state->noted[0] | state->noted[1]) != 0) {
        return "something of a step is left in the state";
    }
    if (memcmp(state->hints, kept.hints, sizeof kept.hints) != 0) {
        return "the hints do not fit the position";
    }
    return NULL;
}

const char *convoi_check(const TyRuleset *ruleset, const void *state_)
{
    static const char *(*const checks[])(const ConvoiTables *, const ConvoiState *) = {
        check_ranges, check_cards,  check_pile,         check_trains,   check_goods,
        check_discs,  check_starts, check_first_tokens, check_question, check_act,
    };
    const ConvoiTables *tables = convoi_tables(ruleset);
    for (uint32_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const char *broken = checks[i](tables, state_);
        if (broken != NULL) {
            return broken;
        }
    }
    return check_kept(tables, state_);
}

/* ---- Hidden information
 * ---------------------------------------------------------------------------- */

enum { RESAMPLE_TRIES = 64 }; /* hands dealt to a seat in the middle of an act */

/* Deals the hands of all but `seat` anew. */
static void hands_redeal(const Play *play, uint32_t seat)
{
    ConvoiState *state = play->state;
    uint8_t sizes[TY_PLAYERS_MAX] = {0};
    for (uint32_t other = 0; other < play->tables->player_count; other++) {
        for (uint32_t kind = 0; other != seat && kind < CONVOI_KINDS; kind++) {
            sizes[other] = (uint8_t)(sizes[other] + state->hand[other][kind]);
            state->deck[kind] = (uint8_t)(state->deck[kind] + state->hand[other][kind]);
            state->hand[other][kind] = 0;
        }
    }
    for (uint32_t other = 0; other < play->tables->player_count; other++) {
        for (uint8_t i = 0; i < sizes[other]; i++) {
            uint32_t kind = ty_draw(play->ty, STREAM_ACTIONS, state->deck, CONVOI_KINDS);
            state->deck[kind]--;
            state->hand[other][kind]++;
        }
    }
}

/* True if the seat to act can pay for what it has begun. */
static bool act_can_be_paid(const ConvoiTables *tables, const ConvoiState *state)
{
    bool pays = state->head.phase == PHASE_PAY;
    Act act = pays ? (Act)(state->act - 1) : ACT_SIGNAL;
    return (!pays && state->head.phase != PHASE_LIGHT_TO) ||
           payments_for(tables, act, state->hand[state->active]) != 0;
}

/* Deals are repeated until the seat to act can go on with what it has begun; after too many
 * failures the cards stay as they were. */
void convoi_resample(TyPlay *ty, uint32_t seat)
{
    ConvoiState *state = ty->state;
    bool hidden = convoi_tables(ty->ruleset)->hands_hidden;
    for (uint32_t i = 0; hidden && i < RESAMPLE_TRIES; i++) {
        ConvoiState copy = *state;
        TyPlay trial = {.ruleset = ty->ruleset, .state = &copy};
        Play play = play_of(&trial);
        hands_redeal(&play, seat);
        memcpy(state->head.draws, copy.head.draws, sizeof copy.head.draws);
        if (act_can_be_paid(play.tables, &copy)) {
            *state = copy;
            return;
        }
    }
}
