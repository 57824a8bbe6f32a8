/* Convoi Express: which answers a question has, and the mask that says so. */
#include "core/bytes.h"
#include "games/convoi/state.h"

#include <string.h>

const Payment payments[PAYMENTS] = {
    {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{2, 0, 0}}, {{1, 1, 0}},
    {{1, 0, 1}}, {{0, 2, 0}}, {{0, 1, 1}}, {{0, 0, 2}},
};

static bool staff_free(const ConvoiTables *tables, const ConvoiState *state, uint8_t staff,
                       bool american)
{
    return tables->crossing == american && !state->staff_used[staff];
}

static uint64_t lights_all(const ConvoiTables *tables)
{
    return tables->light_count == 64 ? UINT64_MAX : (UINT64_C(1) << tables->light_count) - 1;
}

/* Colours that the current symbol of the card may mean. A free symbol means none that was named for
 * another one or is printed on the card. */
static uint64_t colour_options(const ConvoiTables *tables, const ConvoiState *state)
{
    const Card *card = card_now(tables, state);
    bool new_train = state->symbol < card->new_count;
    const uint8_t *symbols = new_train ? card->new_colour : card->move_colour;
    uint8_t count = new_train ? card->new_count : card->move_count;
    uint8_t printed = symbols[new_train ? state->symbol : state->symbol - card->new_count];
    uint64_t options = 0;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        const uint8_t *place = &state->place[3 * colour];
        bool in_depot = place[0] == 0 || place[1] == 0 || place[2] == 0;
        bool taken = state->named[colour] || memchr(symbols, colour, count) != NULL;
        bool open = printed == CONVOI_COLOUR_ANY ? !taken : printed == colour;
        options |= (uint64_t)(open && (in_depot || !new_train)) << colour;
    }
    return options << ACTION_COLOUR;
}

static uint64_t start_options(const ConvoiTables *tables, const ConvoiState *state)
{
    uint64_t options = UINT64_C(1) << ACTION_ROLL_START;
    if (staff_free(tables, state, STAFF_AGENT_DE_MANOEUVRE, true)) {
        for (uint8_t start = 0; start < tables->start_count; start++) {
            if (train_at(state, place_start(tables, start), CONVOI_NONE) == CONVOI_NONE) {
                options |= UINT64_C(1) << (ACTION_PLACE_AT + start);
            }
        }
    }
    return options;
}

/* The trains of the colour in turn that still have to move, and the staff that can hold them: only
 * before the colour's first roll (ruling 33). */
static uint64_t train_options(const ConvoiTables *tables, const ConvoiState *state)
{
    uint64_t trains = 0;
    bool rolled = false;
    uint8_t first = (uint8_t)(3 * (state->colour - 1));
    for (uint8_t i = 0; i < 3; i++) {
        rolled |= state->moved[first + i] != 0;
        trains |= (uint64_t)(state->place[first + i] != 0 && !state->moved[first + i]) << i;
    }
    trains <<= first;
    uint64_t options = trains << ACTION_MOVE;
    if (trains != 0 && !rolled && staff_free(tables, state, STAFF_CHEF_DE_TRAIN, false)) {
        options |= UINT64_C(1) << ACTION_CHEF_DE_TRAIN;
    }
    if (!rolled && staff_free(tables, state, STAFF_CHEFFE_DE_SECTION, true)) {
        options |= trains << ACTION_HOLD;
    }
    return options;
}

/* Whether the active hand can pay for `act`: its own card, or any two (loading: any one). */
static bool act_payable(const ConvoiState *state, Act act)
{
    const uint8_t *hand = state->hand[state->active];
    uint8_t size = hand_size(hand);
    return act == ACT_LOAD ? size >= 1 : size >= 2 || hand[act] >= 1;
}

/* A train may be loaded where it stands: empty, in a goods city that has goods left. */
static bool train_loadable(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    uint8_t city = city_at(tables, (uint8_t)(state->place[train] - 1));
    return state->place[train] != 0 && city != CONVOI_NONE && state->cargo[train] == 0 &&
           state->goods[city] > 0;
}

static uint64_t actions_options(const ConvoiTables *tables, const ConvoiState *state)
{
    uint64_t moves = 0;
    uint64_t loads = 0;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0) {
            moves |= UINT64_C(1) << train;
            loads |= (uint64_t)train_loadable(tables, state, train) << train;
        }
    }
    uint64_t options = UINT64_C(1) << ACTION_END;
    options |= act_payable(state, ACT_MOVE) ? moves << ACTION_MOVE : 0;
    options |= act_payable(state, ACT_LOAD) ? loads << ACTION_LOAD : 0;
    return options;
}

/* Where the disc of light `from` may go: any red light, but a city's only disc stays in the city.
 */
static uint64_t light_targets(const ConvoiTables *tables, const ConvoiState *state, uint8_t from)
{
    uint64_t red = lights_all(tables) & ~state->green;
    uint8_t city = tables->light_city[from];
    if (city != CONVOI_NONE) {
        uint64_t others = state->green & tables->city_lights[city] & ~(UINT64_C(1) << from);
        return others == 0 ? red & tables->city_lights[city] : red;
    }
    return red;
}

/* The discs that can be moved somewhere: all, but for that of a city with a single exit. A city's
 * only disc always finds a red light at another exit of the city. */
static uint64_t light_sources(const ConvoiTables *tables, const ConvoiState *state)
{
    bool red = (lights_all(tables) & ~state->green) != 0;
    return red ? state->green & ~tables->fixed_lights : 0;
}

/* Whether `hand` holds payment number `index` and `act` can be paid with it: its own card or any
 * two; loading takes any one. */
static bool payment_fits(uint32_t index, uint32_t act, const uint8_t hand[CONVOI_KINDS])
{
    const uint8_t *cards = payments[index].cards;
    bool single = index < CONVOI_KINDS;
    bool fits = act == ACT_LOAD ? single : !single || index == act;
    return fits && cards[0] <= hand[0] && cards[1] <= hand[1] && cards[2] <= hand[2];
}

void payments_prepare(ConvoiTables *tables)
{
    for (uint32_t act = ACT_SIGNAL; act <= ACT_LOAD; act++) {
        for (uint8_t i = 0; i < 27; i++) {
            const uint8_t hand[CONVOI_KINDS] = {i / 9, i / 3 % 3, i % 3};
            uint16_t options = 0;
            for (uint32_t payment = 0; payment < PAYMENTS; payment++) {
                options |= (uint16_t)(payment_fits(payment, act, hand) << payment);
            }
            tables->pay_options[act][hand_class(hand)] = options;
        }
    }
}

static uint64_t pay_options(const ConvoiTables *tables, const ConvoiState *state)
{
    uint32_t class = hand_class(state->hand[state->active]);
    return (uint64_t)tables->pay_options[state->act - 1][class] << ACTION_PAY;
}

uint64_t train_exits(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    uint8_t city = city_at(tables, (uint8_t)(state->place[train] - 1));
    uint64_t exits = state->green & tables->city_lights[city];
    return state->entry != 0 ? exits & ~(UINT64_C(1) << (state->entry - 1)) : exits;
}

static uint64_t light_choices(const ConvoiTables *tables, const ConvoiState *state)
{
    switch ((Phase)state->phase) {
    case PHASE_PLACE_CITY:
        return tables->city_lights[__builtin_popcountll(state->green)];
    case PHASE_PLACE_TRACK:
        return tables->track_lights & ~state->green;
    case PHASE_PLACE_EXTRA:
        return lights_all(tables) & ~state->green;
    case PHASE_EXIT:
        return train_exits(tables, state, (uint8_t)(state->train - 1));
    case PHASE_ACTIONS:
        return act_payable(state, ACT_SIGNAL) ? light_sources(tables, state) : 0;
    case PHASE_LIGHT_TO:
        return light_targets(tables, state, (uint8_t)(state->from - 1));
    case PHASE_PLACE_SWITCH:
    case PHASE_CARD:
    case PHASE_COLOUR:
    case PHASE_START:
    case PHASE_TRAIN:
    case PHASE_DIE:
    case PHASE_CITY:
    case PHASE_PAY:
    case PHASE_OVER:
    case PHASE_COUNT:
        return 0;
    }
    return 0;
}

static uint64_t small_options(const ConvoiTables *tables, const ConvoiState *state)
{
    switch ((Phase)state->phase) {
    case PHASE_CARD:
        return UINT64_C(1) << ACTION_PLAY_CARD | UINT64_C(1) << ACTION_GARDE_VOIE;
    case PHASE_COLOUR:
        return colour_options(tables, state);
    case PHASE_START:
        return start_options(tables, state);
    case PHASE_TRAIN:
        return train_options(tables, state);
    case PHASE_DIE:
        return UINT64_C(1) << ACTION_KEEP | UINT64_C(1) << ACTION_LOGISTICIEN;
    case PHASE_CITY:
        return UINT64_C(1) << ACTION_STOP | UINT64_C(1) << ACTION_GESTIONNAIRE;
    case PHASE_EXIT:
        return state->entry != 0 ? UINT64_C(1) << ACTION_STOP : 0;
    case PHASE_ACTIONS:
        return actions_options(tables, state);
    case PHASE_PAY:
        return pay_options(tables, state);
    case PHASE_PLACE_CITY:
    case PHASE_PLACE_TRACK:
    case PHASE_PLACE_EXTRA:
    case PHASE_PLACE_SWITCH:
    case PHASE_LIGHT_TO:
    case PHASE_OVER:
    case PHASE_COUNT:
        return 0;
    }
    return 0;
}

void options_compute(const ConvoiTables *tables, ConvoiState *state)
{
    state->options = small_options(tables, state);
    state->choices = light_choices(tables, state);
    state->switches_open = state->phase == PHASE_PLACE_SWITCH ||
                           (state->phase == PHASE_ACTIONS && act_payable(state, ACT_SWITCH) &&
                            tables->junction_count > 0);
}

void ask(Play *play, Phase phase)
{
    play->state->phase = (uint8_t)phase;
    options_compute(play->tables, play->state);
}

/* The first action of the block of lights that the phase asks for. */
static uint32_t lights_base(const ConvoiTables *tables, uint8_t phase)
{
    if (phase == PHASE_ACTIONS) {
        return ACTION_LIGHTS;
    }
    uint32_t lights = tables->light_count;
    return phase == PHASE_EXIT ? ACTION_LIGHTS + 2 * lights : ACTION_LIGHTS + lights;
}

static uint32_t switches_base(const ConvoiTables *tables)
{
    return ACTION_LIGHTS + 2u * tables->light_count + tables->city_light_count;
}

static bool switch_allowed(const ConvoiTables *tables, const ConvoiState *state, uint32_t offset)
{
    if (!state->switches_open || offset >= tables->setting_count) {
        return false;
    }
    uint8_t junction = tables->setting_junction[offset];
    if (state->phase == PHASE_PLACE_SWITCH) {
        return junction + 1 == state->junction;
    }
    return tables->junction_action[junction] + state->setting[junction] != (int)offset;
}

bool action_allowed(const ConvoiTables *tables, const ConvoiState *state, uint32_t action)
{
    if (action < ACTION_LIGHTS) {
        return state->options >> action & 1;
    }
    uint32_t base = switches_base(tables);
    if (action >= base) {
        return switch_allowed(tables, state, action - base);
    }
    uint32_t light = action - lights_base(tables, state->phase);
    return light < tables->light_count && (state->choices >> light & 1) != 0;
}

bool action_forced(const ConvoiTables *tables, const ConvoiState *state, uint32_t *action)
{
    uint64_t options = state->options;
    uint64_t choices = state->choices;
    bool single = choices == 0 ? bits_single(options) : options == 0 && bits_single(choices);
    if (state->switches_open || !single) {
        return false;
    }
    *action = options != 0 ? (uint32_t)__builtin_ctzll(options)
                           : lights_base(tables, state->phase) + (uint32_t)__builtin_ctzll(choices);
    return true;
}

static void switches_mask(const ConvoiTables *tables, const ConvoiState *state, uint8_t *mask)
{
    if (state->phase == PHASE_PLACE_SWITCH) {
        uint8_t junction = (uint8_t)(state->junction - 1);
        memset(mask + tables->junction_action[junction], 1,
               junction_setting_count(tables->junction_degree[junction]));
        return;
    }
    memset(mask, 1, tables->setting_count);
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        mask[tables->junction_action[i] + state->setting[i]] = 0;
    }
}

void convoi_legal(const TyRuleset *ruleset, const void *state_, uint8_t *mask)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    bits_expand_set(state->options, mask);
    if (state->choices != 0) {
        bool exits = state->phase == PHASE_EXIT;
        bits_expand(state->choices, exits ? tables->city_light_count : tables->light_count,
                    mask + lights_base(tables, state->phase));
    }
    if (state->switches_open) {
        switches_mask(tables, state, mask + switches_base(tables));
    }
}
