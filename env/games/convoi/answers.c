/* Convoi Express: which answers a question has. */
#include "core/bytes.h"
#include "games/convoi/state.h"

#include <string.h>

const Payment payments[PAYMENTS] = {
    {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{2, 0, 0}}, {{1, 1, 0}},
    {{1, 0, 1}}, {{0, 2, 0}}, {{0, 1, 1}}, {{0, 0, 2}},
};

/* A position whose question is being answered. */
typedef struct Question {
    const ConvoiTables *tables;
    const ConvoiState *state;
    const uint16_t *first; /* actions, by form */
    uint64_t *answers;
} Question;

/* The first action of FORM_LIGHT_FROM, whatever the board. */
enum { FIRST_LIGHT = 60 };

_Static_assert(FIRST_LIGHT + 3 * CONVOI_LIGHTS_MAX + 64 < 64 * (CONVOI_ANSWER_WORDS - 1),
               "a word follows the one in which the last settings begin");

/* Adds item i of `form` for each bit i of `items`. */
static inline void offer(const Question *question, Form form, uint64_t items)
{
    bits_put(question->answers, question->first[form], items);
}

/* The same for a form before FORM_LIGHT_FROM, whose actions are in the first word. */
static inline void offer_small(const Question *question, Form form, uint64_t items)
{
    question->answers[0] |= items << question->first[form];
}

static bool staff_free(const Question *question, uint8_t staff, bool american)
{
    return question->tables->crossing == american && !question->state->staff_used[staff];
}

static uint64_t lights_all(const ConvoiTables *tables)
{
    return tables->light_count == 64 ? UINT64_MAX : (UINT64_C(1) << tables->light_count) - 1;
}

/* ---- The instruction card ----------------------------------------------------------------------
 */

/* A free symbol means no colour that was named for another one or is printed on the card. */
uint64_t colours_open(const ConvoiTables *tables, const ConvoiState *state)
{
    const Card *card = card_now(tables, state);
    bool new_train = state->symbol < card->new_count;
    const uint8_t *symbols = new_train ? card->new_colour : card->move_colour;
    uint8_t card_colours = new_train ? card->new_colours : card->move_colours;
    uint8_t printed = symbols[new_train ? state->symbol : state->symbol - card->new_count];
    uint64_t colours = 0;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        const uint8_t *place = &state->place[3 * colour];
        bool in_depot = (place[0] == 0) | (place[1] == 0) | (place[2] == 0);
        bool taken = state->named[colour] | (card_colours >> colour & 1);
        bool open = printed == CONVOI_COLOUR_ANY ? !taken : printed == colour;
        colours |= (uint64_t)(open & (in_depot | !new_train)) << colour;
    }
    return colours;
}

static void start_answers(const Question *question)
{
    const ConvoiTables *tables = question->tables;
    offer_small(question, FORM_ROLL_START, 1);
    if (staff_free(question, STAFF_AGENT_DE_MANOEUVRE, true)) {
        for (uint8_t start = 0; start < tables->start_count; start++) {
            uint8_t place = place_start(tables, start);
            bool empty = train_at(question->state, place, CONVOI_NONE) == CONVOI_NONE;
            offer_small(question, FORM_PLACE_AT, (uint64_t)empty << start);
        }
    }
}

uint64_t trains_to_move(const ConvoiState *state)
{
    uint64_t trains = 0;
    uint8_t first = (uint8_t)(3 * (state->colour - 1));
    for (uint8_t i = 0; i < 3; i++) {
        trains |= (uint64_t)((state->place[first + i] != 0) & !state->moved[first + i]) << i;
    }
    return trains << first;
}

bool train_holdable(const ConvoiTables *tables, const ConvoiState *state)
{
    const uint8_t *moved = &state->moved[3 * (state->colour - 1)];
    uint8_t staff = tables->crossing ? STAFF_CHEFFE_DE_SECTION : STAFF_CHEF_DE_TRAIN;
    return (moved[0] | moved[1] | moved[2] | state->staff_used[staff]) == 0;
}

/* The trains of the colour in turn, and the staff that can hold them. */
static void train_answers(const Question *question)
{
    uint64_t trains = trains_to_move(question->state);
    offer_small(question, FORM_MOVE, trains);
    if (train_holdable(question->tables, question->state)) {
        if (question->tables->crossing) {
            offer_small(question, FORM_HOLD, trains);
        } else {
            offer_small(question, FORM_CHEF_DE_TRAIN, trains != 0);
        }
    }
}

/* ---- Action cards ------------------------------------------------------------------------------
 */

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

_Static_assert(sizeof(ConvoiState) - offsetof(ConvoiState, cargo) >= sizeof(BytesOf16),
               "sixteen bytes can be read from each array of trains");

/* The trains among sixteen bytes whose highest bit is set, as bits. */
static inline uint32_t trains_of(BytesOf16 bytes)
{
    return bytes_high(bytes) & ((1u << CONVOI_TRAINS) - 1);
}

/* The trains on the network, as bits. */
static inline uint32_t trains_out(const ConvoiState *state)
{
    return trains_of((BytesOf16)(bytes_load(state->place) != 0));
}

/* The trains that may be loaded where they stand: empty, in a goods city that has goods left. */
static inline uint32_t trains_loadable(const ConvoiTables *tables, const ConvoiState *state)
{
    BytesOf16 city = bytes_load(state->place) - (uint8_t)(place_city(tables, 0) + 1);
    BytesOf16 empty = (BytesOf16)(bytes_load(state->cargo) == 0);
    uint32_t loadable = trains_of((BytesOf16)(city < tables->city_count) & empty);
    for (uint32_t left = loadable; left != 0; left &= left - 1) {
        uint32_t train = (uint32_t)__builtin_ctz(left);
        loadable &= ~((uint32_t)(state->goods[city[train]] == 0) << train);
    }
    return loadable;
}

/* Any red light, but a city's only disc stays in the city. */
uint64_t light_targets(const ConvoiTables *tables, const ConvoiState *state, uint8_t from)
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
    return bits_if(red, state->green & ~tables->fixed_lights);
}

/* Every setting but those that the switches have now, if any can be paid for. */
static inline void switch_answers(const Question *question, bool paid)
{
    const ConvoiTables *tables = question->tables;
    const uint64_t *settled = question->state->settled;
    uint32_t first = question->first[FORM_SWITCH];
    bits_put(question->answers, first, bits_if(paid, tables->settings_all[0] & ~settled[0]));
    if (tables->setting_count > 64) {
        bits_put(question->answers, first + 64,
                 bits_if(paid, tables->settings_all[1] & ~settled[1]));
    }
}

/* The first two words are put together before they are stored, in place of being read again for
 * each set of answers: this question comes up at two steps in five. */
static void actions_answers(const Question *question)
{
    const ConvoiTables *tables = question->tables;
    const ConvoiState *state = question->state;
    const uint8_t *hand = state->hand[state->active];
    uint8_t size = hand_size(hand);
    uint64_t small = UINT64_C(1) << question->first[FORM_END];
    if (size > 0) {
        uint64_t lights =
            bits_if((size >= 2) | (hand[ACT_SIGNAL] > 0), light_sources(tables, state));
        small |= (uint64_t)trains_loadable(tables, state) << question->first[FORM_LOAD];
        small |= bits_if((size >= 2) | (hand[ACT_MOVE] > 0), trains_out(state))
                 << question->first[FORM_MOVE];
        small |= lights << FIRST_LIGHT;
        question->answers[1] = lights >> (64 - FIRST_LIGHT);
        switch_answers(question, (size >= 2) | (hand[ACT_SWITCH] > 0));
    }
    question->answers[0] = small;
}

/* ---- Exits and the set-up ----------------------------------------------------------------------
 */

uint64_t city_exits(const ConvoiTables *tables, const ConvoiState *state, uint8_t city,
                    uint8_t entry)
{
    uint64_t exits = state->green & tables->city_lights[city];
    return entry != 0 ? exits & ~(UINT64_C(1) << (entry - 1)) : exits;
}

/* An exit, or, for a train that crosses the city, a stop. */
static void exit_answers(const Question *question)
{
    const ConvoiState *state = question->state;
    uint8_t city = city_at(question->tables, (uint8_t)(state->place[state->train - 1] - 1));
    offer(question, FORM_EXIT, city_exits(question->tables, state, city, state->entry));
    offer_small(question, FORM_STOP, state->entry != 0);
}

uint64_t lights_to_place(const ConvoiTables *tables, const ConvoiState *state, Phase phase)
{
    if (phase == PHASE_PLACE_CITY) {
        return tables->city_lights[__builtin_popcountll(state->green)];
    }
    return (phase == PHASE_PLACE_TRACK ? tables->track_lights : lights_all(tables)) & ~state->green;
}

static void place_switch_answers(const Question *question)
{
    const ConvoiTables *tables = question->tables;
    uint8_t junction = (uint8_t)(question->state->junction - 1);
    uint32_t count = junction_setting_count(tables->junction_degree[junction]);
    bits_put(question->answers,
             (uint32_t)question->first[FORM_SWITCH] + tables->setting_first[junction],
             (UINT64_C(1) << count) - 1);
}

void convoi_answers(const TyRuleset *ruleset, const void *state_, uint64_t *answers)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    const Question question = {tables, state, ruleset->action_first, answers};
    Phase phase = (Phase)state->head.phase;
    switch (phase) {
    case PHASE_PLACE_CITY:
    case PHASE_PLACE_TRACK:
    case PHASE_PLACE_EXTRA:
        offer(&question, FORM_LIGHT_TO, lights_to_place(tables, state, phase));
        break;
    case PHASE_PLACE_SWITCH:
        place_switch_answers(&question);
        break;
    case PHASE_CARD:
        offer_small(&question, FORM_PLAY_CARD, 1);
        offer_small(&question, FORM_GARDE_VOIE, 1);
        break;
    case PHASE_COLOUR:
        offer_small(&question, FORM_COLOUR, colours_open(tables, state));
        break;
    case PHASE_START:
        start_answers(&question);
        break;
    case PHASE_TRAIN:
        train_answers(&question);
        break;
    case PHASE_DIE:
        offer_small(&question, FORM_KEEP, 1);
        offer_small(&question, FORM_LOGISTICIEN, 1);
        break;
    case PHASE_CITY:
        offer_small(&question, FORM_STOP, 1);
        offer_small(&question, FORM_GESTIONNAIRE, 1);
        break;
    case PHASE_EXIT:
        exit_answers(&question);
        break;
    case PHASE_ACTIONS:
        actions_answers(&question);
        break;
    case PHASE_LIGHT_TO:
        offer(&question, FORM_LIGHT_TO, light_targets(tables, state, (uint8_t)(state->from - 1)));
        break;
    case PHASE_PAY:
        offer_small(&question, FORM_PAY,
                    payments_for(tables, (Act)(state->act - 1), state->hand[state->active]));
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
}
