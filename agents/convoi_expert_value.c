/* The Convoi Express expert's judgement: what a position is worth, and what lies ahead of it. */
#include "convoi_expert.h"
#include "core/bytes.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { VALUE_OVER = 1000000 /* a game won or lost */ };

/* ---- Moves by die ------------------------------------------------------------------------------
 */

int32_t convoi_outcome_value(const Judge *judge, const ConvoiState *state,
                             const Judgement *judgement, uint8_t train, Outcome outcome)
{
    switch ((Fate)outcome.fate) {
    case FATE_RESTS:
        return -convoi_train_cost(judge, state, judgement, train,
                                  convoi_map_node(judge->tables, outcome.place, outcome.heading));
    case FATE_DELIVERS:
        return DELIVERY - LOADED;
    case FATE_DEPOT:
        return -convoi_train_loss(judge, state, judgement, train);
    }
    return 0;
}

/* What a move of `train` by its die brings, on average. */
static int32_t train_gain(const Judge *judge, const ConvoiState *state, Judgement *judgement,
                          uint8_t train)
{
    const uint8_t *weights = die_weights[train_colour(train)];
    Ending endings[DIE_MAX + 1];
    int32_t sum = 0;
    judgement->watched[train] =
        convoi_walk(judge, state, judgement,
                    (Walk){.train = train,
                           .least = 1,
                           .most = convoi_die_most(train),
                           .exit = CONVOI_NONE,
                           .crossing = judge->tables->crossing || state->crossing_on},
                    endings);
    for (uint8_t points = 1; points <= convoi_die_most(train); points++) {
        if (weights[points] > 0) {
            sum += weights[points] * endings[points].value;
        }
    }
    return sum / 6 + judgement->cost[train];
}

/* ---- Instruction cards -------------------------------------------------------------------------
 */

/* What the moves of each colour bring, and which colours a multicolour symbol may not name. */
typedef struct Symbols {
    int32_t gain[CONVOI_COLOURS];
    bool barred[CONVOI_COLOURS];
} Symbols;

/* Names the best colour that may still be named. */
static int32_t symbol_multi(Symbols *symbols)
{
    uint8_t best = CONVOI_NONE;
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (!symbols->barred[colour] &&
            (best == CONVOI_NONE || symbols->gain[colour] > symbols->gain[best])) {
            best = colour;
        }
    }
    if (best == CONVOI_NONE) {
        return 0;
    }
    symbols->barred[best] = true;
    return symbols->gain[best];
}

/* What the moves of `card` bring from symbol `first` on. */
static int32_t card_gain(const Card *card, uint32_t first, Symbols symbols)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < card->move_count; i++) {
        if (card->move_colour[i] != CONVOI_COLOUR_ANY) {
            symbols.barred[card->move_colour[i]] = true;
        }
    }
    for (uint32_t i = first; i < card->move_count; i++) {
        uint8_t colour = card->move_colour[i];
        sum += colour == CONVOI_COLOUR_ANY ? symbol_multi(&symbols) : symbols.gain[colour];
    }
    return sum;
}

uint32_t convoi_start_weights(const ConvoiTables *tables, const ConvoiState *state,
                              uint8_t weights[CONVOI_STARTS_MAX])
{
    static const uint8_t two_dice[CONVOI_NUMBERS] = {1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1};
    bool drawn = tables->starts == STARTS_DRAWN;
    bool used_up = memchr(state->token_spent, 0, CONVOI_NUMBERS) == NULL;
    uint32_t sum = 0;
    memset(weights, 0, CONVOI_STARTS_MAX);
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        uint8_t in_stack = used_up || !state->token_spent[i];
        uint8_t weight = drawn ? in_stack : two_dice[i];
        uint8_t *slot = &weights[state->number_start[i]];
        *slot = (uint8_t)(*slot + weight);
        sum += weight;
    }
    return sum;
}

/* What a new train is likely to lose because a train stands on its start. */
static int32_t start_loss(const Judge *judge, const ConvoiState *state, const Judgement *judgement)
{
    const Outlook *outlook = judge->outlook;
    uint32_t first = place_start(judge->tables, 0) + 1u;
    uint32_t met = 0;
    int32_t taken = 0;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] >= first) {
            uint32_t start = state->place[train] - first;
            taken += (met >> start & 1) == 0 ? outlook->start_weight[start] : 0;
            met |= 1u << start;
        }
    }
    int32_t lost = 2 * outlook->token_price + (judgement->unserved > 0 ? PRICE_NEW : 0);
    return lost * taken / outlook->start_sum;
}

/* Cards with the same colours on them are counted together. */
static void deck_add(Deck *deck, const Card *card)
{
    CardSet set = {.count = 1};
    deck->count++;
    deck->new_trains += card->new_count;
    for (uint32_t i = 0; i < card->move_count; i++) {
        if (card->move_colour[i] == CONVOI_COLOUR_ANY) {
            set.multi++;
        } else {
            deck->moves[card->move_colour[i]]++;
            set.colours |= (uint8_t)(1u << card->move_colour[i]);
        }
    }
    for (uint32_t i = 0; i < deck->set_count; i++) {
        if (deck->sets[i].colours == set.colours && deck->sets[i].multi == set.multi) {
            deck->sets[i].count++;
            return;
        }
    }
    deck->sets[deck->set_count++] = set;
}

/* The cards that may come next. */
static void deck_init(Deck *deck, const ConvoiTables *tables, const ConvoiState *state)
{
    bool known = state->pile == 1 && state->bottom != 0;
    memset(deck, 0, offsetof(Deck, sets));
    for (uint32_t i = 0; i < tables->card_count; i++) {
        if (known ? state->bottom == CARD_BASE + i : !state->seen[i]) {
            deck_add(deck, &tables->cards[i]);
        }
    }
}

void convoi_outlook_init(Outlook *outlook, const ConvoiTables *tables, const UsualWays *usual,
                         const ConvoiState *state)
{
    deck_init(&outlook->deck, tables, state);
    outlook->token_price = PRICE_TURN / tables->clock;
    for (uint8_t city = 0; city < tables->city_count; city++) {
        if (tables->city_port[city] != CONVOI_NONE) {
            outlook->port_city[tables->city_port[city]] = city;
        }
    }
    outlook->start_sum = (int32_t)convoi_start_weights(tables, state, outlook->start_weight);
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        int32_t way = 0;
        for (uint8_t start = 0; start < tables->start_count; start++) {
            way += outlook->start_weight[start] * usual->approach[start][goods];
        }
        outlook->approach[goods] = way / outlook->start_sum;
    }
}

/* Within a turn the cards in hand can still avert dangers of the next card, the greatest first. */
static void dangers_avert(const Judge *judge, const ConvoiState *state, int32_t gain[CONVOI_TRAINS])
{
    const uint8_t *hand = state->hand[state->active];
    uint32_t left = judge->ending ? 0 : hand[ACT_SIGNAL] + hand[ACT_SWITCH] + hand[ACT_MOVE] / 2u;
    for (; left > 0; left--) {
        uint8_t worst = 0;
        for (uint8_t train = 1; train < CONVOI_TRAINS; train++) {
            worst = gain[train] < gain[worst] ? train : worst;
        }
        if (gain[worst] >= -PRICE_AVERT) {
            return;
        }
        gain[worst] = -PRICE_AVERT;
    }
}

/* The least that a colour's move can bring while the chef de train may hold it. */
static int32_t chef_floor(const Judge *judge, const ConvoiState *state)
{
    bool free = !judge->tables->crossing && !state->staff_used[STAFF_CHEF_DE_TRAIN];
    return free ? -PRICE_STAFF : INT32_MIN;
}

/* What the multicolour symbols of the cards of a set bring, which name the best of the colours that
 * are not on the card, and what swapping the worst symbol of each card for `floor` adds. */
static int32_t set_gain(const CardSet *set, const Symbols *symbols, const uint8_t best_first[],
                        int32_t floor)
{
    int32_t sum = 0;
    int32_t lowest = 0;
    uint32_t multi = set->multi;
    for (uint32_t i = 0; i < CONVOI_COLOURS; i++) {
        int32_t gain = symbols->gain[best_first[i]];
        bool named = (set->colours >> best_first[i] & 1) == 0;
        if (named && multi == 0) {
            continue;
        }
        sum += named ? gain : 0;
        multi -= named;
        lowest = gain < lowest ? gain : lowest;
    }
    return set->count * (lowest < floor ? sum + floor - lowest : sum);
}

/* What the moves of the deck's cards bring in all; the worst of each card may be swapped for
 * `floor`. */
static int32_t deck_gain(const Deck *deck, const Symbols *symbols, int32_t floor)
{
    const int32_t *gain = symbols->gain;
    uint8_t best_first[CONVOI_COLOURS] = {0, 1, 2};
    int32_t sum = 0;
    for (uint32_t i = 0; i < CONVOI_COLOURS; i++) {
        sum += deck->moves[i] * gain[i];
        uint32_t at = i;
        for (; at > 0 && gain[best_first[at - 1]] < gain[i]; at--) {
            best_first[at] = best_first[at - 1];
        }
        best_first[at] = (uint8_t)i;
    }
    bool swaps = gain[best_first[CONVOI_COLOURS - 1]] < floor;
    for (uint32_t i = 0; i < deck->set_count; i++) {
        if (swaps || deck->sets[i].multi > 0) {
            sum += set_gain(&deck->sets[i], symbols, best_first, floor);
        }
    }
    return sum;
}

/* What the next instruction card brings, over those that may come. */
static int32_t next_card_gain(const Judge *judge, const ConvoiState *state,
                              const Judgement *judgement)
{
    const Deck *deck = &judge->outlook->deck;
    Symbols symbols = {0};
    int32_t gain[CONVOI_TRAINS];
    if (deck->count == 0) {
        return 0;
    }
    memcpy(gain, judgement->gain, sizeof gain);
    dangers_avert(judge, state, gain);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        symbols.gain[train_colour(train)] += gain[train];
    }
    int32_t sum = deck_gain(deck, &symbols, chef_floor(judge, state)) -
                  deck->new_trains * start_loss(judge, state, judgement);
    return sum / deck->count;
}

/* What the card being followed still brings. */
static int32_t this_card_gain(const Judge *judge, const ConvoiState *state,
                              const Judgement *judgement)
{
    const Card *card = card_now(judge->tables, state);
    bool moving = state->symbol >= card->new_count;
    uint32_t first = moving ? (uint32_t)(state->symbol - card->new_count) : 0u;
    Symbols symbols = {0};
    int32_t now = 0;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        symbols.gain[train_colour(train)] += state->moved[train] ? 0 : judgement->gain[train];
    }
    for (uint8_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        symbols.barred[colour] = moving && state->named[colour] != 0;
    }
    if (moving && state->colour != 0) {
        now = symbols.gain[state->colour - 1];
        first++;
    }
    return now + card_gain(card, first, symbols);
}

/* What instruction cards bring before anybody can play action cards again. */
static int32_t cards_gain(const Judge *judge, const ConvoiState *state, const Judgement *judgement)
{
    bool following = state->card != CARD_NONE;
    int32_t value = following ? this_card_gain(judge, state, judgement) : 0;
    if (state->pile > 0) {
        value += next_card_gain(judge, state, judgement) * (following ? NEXT_CARD : NEXT_NOW) / 100;
    }
    return value;
}

/* ---- What stands in the way --------------------------------------------------------------------
 */

/* The place of a node that is a space or a city. */
static uint8_t node_place(const ConvoiTables *tables, uint16_t node)
{
    return (uint8_t)(node < 2 * tables->space_count ? node / 2 : node - tables->space_count);
}

/* What the ways of the trains looked at so far need. */
typedef struct Survey {
    uint64_t lights;
    uint8_t setting[CONVOI_JUNCTIONS_MAX]; /* plus one */
} Survey;

/* Notes what bars an edge of a way, if anything does. */
static void bar_note(const ConvoiState *state, const MapEdge *edge, uint32_t spaces, Trail *trail)
{
    bool red = edge->light != CONVOI_NONE && (state->green >> edge->light & 1) == 0;
    bool closed = edge->junction != CONVOI_NONE && state->setting[edge->junction] != edge->setting;
    if ((red || closed) && trail->bar_count < TRAIL_BARS) {
        trail->bars[trail->bar_count++] = (Bar){
            .light = red ? edge->light : CONVOI_NONE,
            .junction = closed ? edge->junction : CONVOI_NONE,
            .setting = edge->setting,
            .spaces = (uint8_t)(spaces < LOOK_AHEAD ? spaces : LOOK_AHEAD),
        };
    }
}

/* Goes along the way of a train to its task. */
static void trail_find(const Judge *judge, const ConvoiState *state, uint8_t train, uint8_t task,
                       Trail *trail)
{
    const ConvoiTables *tables = judge->tables;
    const Map *map = judge->map;
    uint16_t goal = convoi_map_node(tables, place_city(tables, task), 0);
    uint16_t node = convoi_train_node(tables, state, train);
    uint32_t spaces = 0;
    bool one_line = true;
    trail->near_count = trail->near_line = trail->bar_count = 0;
    trail->places = (Places){{0}};
    for (uint32_t steps = 0; node != goal && steps < MAP_NODES_MAX; steps++) {
        MapEdge edge;
        if (steps > 0 && node < map->first_city) {
            edge = map->ahead[node]; /* a way that leads onto a line leads along it */
        } else if (!convoi_way_step(judge->costs, map, tables, train_colour(train), task, node,
                                    &edge)) {
            break;
        }
        bar_note(state, &edge, spaces, trail);
        node = edge.to;
        one_line = one_line && edge.junction == CONVOI_NONE;
        if (edge.points > 0 && ++spaces <= LOOK_AHEAD) {
            places_add(&trail->places, node_place(tables, node));
            trail->near[trail->near_count++] = node;
            trail->near_line = (uint8_t)(trail->near_line + one_line);
        }
    }
}

/* What a bar counts less for: it is far off, or an earlier train needs the same. */
static int32_t bar_relief(const Bar *bar, Survey *survey)
{
    int32_t relief = 0;
    int32_t far = bar->spaces * FAR / LOOK_AHEAD;
    if (bar->light != CONVOI_NONE) {
        bool shared = (survey->lights >> bar->light & 1) != 0;
        relief += PRICE_LIGHT * (shared ? SHARED : far) / 100;
        survey->lights |= UINT64_C(1) << bar->light;
    }
    if (bar->junction != CONVOI_NONE) {
        bool shared = survey->setting[bar->junction] == bar->setting + 1;
        relief += PRICE_SWITCH * (shared ? SHARED : far) / 100;
        survey->setting[bar->junction] = (uint8_t)(bar->setting + 1);
    }
    return relief;
}

/* What it costs that another train stands on the way, `ahead` spaces from where it begins, on the
 * same line or not: a train from ahead can turn off only behind a junction. */
static int32_t train_hindrance(const ConvoiTables *tables, const ConvoiState *state, uint8_t train,
                               uint16_t node, int32_t ahead, bool one_line)
{
    bool space = node < 2 * tables->space_count;
    uint8_t other = train_at(state, node_place(tables, node), train);
    if (other == CONVOI_NONE) {
        return 0;
    }
    bool facing = space && state->heading[other] != node % 2;
    if (facing && one_line) {
        return PRICE_DEADLOCK;
    }
    return (facing ? PRICE_HEADON : PRICE_FOLLOW) * (LOOK_AHEAD + 1 - ahead) / LOOK_AHEAD;
}

static bool places_meet(const Places *one, const Places *other)
{
    uint64_t both = 0;
    for (uint32_t i = 0; i < sizeof one->bits / sizeof one->bits[0]; i++) {
        both |= one->bits[i] & other->bits[i];
    }
    return both != 0;
}

/* The first train on the way of `train` makes it dearer, far and shared obstacles make it cheaper
 * than the map says. */
static int32_t trail_value(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                           uint8_t train, const Trail *trail, Survey *survey)
{
    const ConvoiTables *tables = judge->tables;
    int32_t value = 0;
    for (uint32_t i = 0; i < trail->bar_count; i++) {
        value += bar_relief(&trail->bars[i], survey);
    }
    uint32_t near = places_meet(&trail->places, &judgement->taken) ? trail->near_count : 0;
    for (uint32_t i = 0; i < near; i++) {
        uint16_t node = trail->near[i];
        if (places_have(&judgement->taken, node_place(tables, node))) {
            int32_t hindrance =
                train_hindrance(tables, state, train, node, (int32_t)i + 1, i < trail->near_line);
            if (hindrance != 0) {
                return value - hindrance;
            }
        }
    }
    return value;
}

/* ---- Cards in hand -----------------------------------------------------------------------------
 */

/* What a card is worth in a later turn, by how many of its kind there are already. */
static int32_t card_price(uint32_t held)
{
    const int32_t prices[] = {CARD_1, CARD_2, CARD_3, CARD_4, CARD_5};
    return held < sizeof prices / sizeof prices[0] ? prices[held] : CARD_6;
}

/* Cards kept for later: the best ones, no more than leave room for those to be drawn. The first of
 * each kind is worth most, then the second of each. */
static int32_t hand_later(const uint8_t hand[CONVOI_KINDS])
{
    uint32_t left = CARDS_KEPT;
    int32_t sum = 0;
    for (uint32_t held = 0; held < CARDS_KEPT; held++) {
        uint32_t kinds = (uint32_t)(hand[0] > held) + (hand[1] > held) + (hand[2] > held);
        kinds = kinds < left ? kinds : left;
        sum += (int32_t)kinds * card_price(held);
        left -= kinds;
    }
    return sum;
}

/* Whether the active seat will have another turn. */
static bool turn_again(const Judge *judge, const ConvoiState *state)
{
    return state->pile >= judge->tables->player_count;
}

int32_t convoi_hand_value(const Judge *judge, const ConvoiState *state)
{
    const uint8_t *hand = state->hand[state->active];
    int32_t size = hand_size(hand);
    if (turn_again(judge, state)) {
        return hand_later(hand) + (judge->ending ? 0 : size);
    }
    return judge->ending ? 0 : CARD_LAST * size + CARD_LAST_MOVE * hand[ACT_MOVE];
}

/* The gains of the trains on the board, the greatest first. Returns how many there are. */
static uint32_t gains_sort(const Judgement *judgement, int32_t sorted[CONVOI_TRAINS])
{
    uint32_t count = 0;
    for (uint32_t left = judgement->board; left != 0; left &= left - 1) {
        uint8_t train = (uint8_t)__builtin_ctz(left);
        uint32_t at = count++;
        for (; at > 0 && sorted[at - 1] < judgement->gain[train]; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = judgement->gain[train];
    }
    return count;
}

/* What the move cards in hand could do at once, beyond what they are worth later. */
static int32_t hand_now(const Judge *judge, const ConvoiState *state, const Judgement *judgement)
{
    int32_t gain[CONVOI_TRAINS];
    uint32_t count = gains_sort(judgement, gain);
    int32_t sum = 0;
    int32_t again = count > 0 ? gain[0] : 0;
    for (uint32_t i = 0; i < state->hand[state->active][ACT_MOVE]; i++) {
        int32_t best = i < count && gain[i] > again ? gain[i] : again;
        int32_t more = best * OPTION / 100 - (turn_again(judge, state) ? card_price(i) : 0);
        sum += more > 0 ? more : 0;
        again = again * OPTION_REPEAT / 100;
    }
    return sum;
}

/* ---- The whole ---------------------------------------------------------------------------------
 */

enum { ALL_TRAINS = (1 << CONVOI_TRAINS) - 1 };

/* Where two states have the same byte for a train, which is at `offset` for the first one, as bits.
 * There are other bytes behind those of the trains, so that sixteen can be compared at once. */
static uint32_t trains_equal(const void *one, const void *other, size_t offset)
{
    BytesOf16 first = bytes_load((const uint8_t *)one + offset);
    BytesOf16 second = bytes_load((const uint8_t *)other + offset);
    return bytes_high((BytesOf16)(first == second)) & ALL_TRAINS;
}
_Static_assert(sizeof(ConvoiState) - offsetof(ConvoiState, cargo) >= 16, "see trains_equal");

/* Finds out which trains there are, and which of them the position that was judged before has. */
static void trains_find(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    static const ConvoiState none;
    const ConvoiState *real = judge->real;
    judgement->board = ALL_TRAINS ^ trains_equal(state, &none, offsetof(ConvoiState, place));
    judgement->empty = judgement->board & trains_equal(state, &none, offsetof(ConvoiState, cargo));
    judgement->moved = ALL_TRAINS;
    if (judge->known != NULL) {
        judgement->moved ^= trains_equal(state, real, offsetof(ConvoiState, place)) &
                            trains_equal(state, real, offsetof(ConvoiState, heading)) &
                            trains_equal(state, real, offsetof(ConvoiState, cargo));
    }
    judgement->taken = (Places){{0}};
    for (uint32_t left = judgement->board; left != 0; left &= left - 1) {
        places_add(&judgement->taken, (uint8_t)(state->place[__builtin_ctz(left)] - 1));
    }
}

/* The places that trains came to or left since the position that was judged before. */
static Places places_moved(const Judge *judge, const ConvoiState *state, const Judgement *judgement)
{
    Places places = {{0}};
    for (uint32_t left = judgement->moved; left != 0; left &= left - 1) {
        uint32_t train = (uint32_t)__builtin_ctz(left);
        if (state->place[train] != 0) {
            places_add(&places, (uint8_t)(state->place[train] - 1));
        }
        if (judge->real->place[train] != 0) {
            places_add(&places, (uint8_t)(judge->real->place[train] - 1));
        }
    }
    return places;
}

/* Whether moves may bring what they brought in the position that was judged before. */
static bool gains_known(const Judge *judge, const ConvoiState *state)
{
    const ConvoiState *real = judge->real;
    return judge->known != NULL && state->crossing_on == real->crossing_on &&
           memcmp(state->delivered, real->delivered, sizeof real->delivered) == 0;
}

/* Whether a move of a train whose task is known brings what it brought before: its way costs the
 * same, and it meets the same trains. */
static bool gain_known(const Judge *judge, const Judgement *judgement, const Places *moved,
                       uint8_t train)
{
    const int32_t *legs = judgement->leg[train_colour(train)];
    const int32_t *known_legs = judge->known->leg[train_colour(train)];
    return judgement->cost[train] == judge->known->cost[train] &&
           memcmp(legs, known_legs, sizeof judgement->leg[0]) == 0 &&
           !places_meet(moved, &judge->known->watched[train]);
}

/* Finds out what moves are worth, and values what the costs of ways leave out. */
static int32_t trains_value(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    int32_t value = LOADED * __builtin_popcount(judgement->board ^ judgement->empty);
    Survey survey = {.lights = 0};
    bool gains = gains_known(judge, state);
    Places moved = {{0}};
    if (gains) {
        moved = places_moved(judge, state, judgement);
    }
    for (uint32_t left = judgement->board; left != 0; left &= left - 1) {
        uint8_t train = (uint8_t)__builtin_ctz(left);
        uint8_t task = judgement->task[train];
        bool known = (judgement->moved >> train & 1) == 0 && task == judge->known->task[train];
        judgement->gain[train] = known && gains && gain_known(judge, judgement, &moved, train)
                                     ? judge->known->gain[train]
                                     : train_gain(judge, state, judgement, train);
        if (task != CONVOI_NONE) {
            const Trail *trail = known ? &judge->known->trail[train] : &judgement->trail[train];
            if (!known) {
                trail_find(judge, state, train, task, &judgement->trail[train]);
            }
            value += trail_value(judge, state, judgement, train, trail, &survey);
        }
    }
    return value;
}

int32_t convoi_judgement_total(const Judge *judge, const ConvoiState *state,
                               const Judgement *judgement)
{
    return judgement->certain + cards_gain(judge, state, judgement) +
           convoi_hand_value(judge, state) +
           (judge->ending ? 0 : hand_now(judge, state, judgement));
}

void convoi_judge(const Judge *judge, const ConvoiState *state, Judgement *judgement)
{
    const ConvoiTables *tables = judge->tables;
    int32_t left = tables->goods_wanted - state->goods_delivered;
    memset(judgement, 0, offsetof(Judgement, wants));
    if (left <= 0 || state->clock == 0) {
        judgement->total = left <= 0 ? VALUE_OVER : -VALUE_OVER;
        return;
    }
    trains_find(judge, state, judgement);
    int32_t total = -left * DELIVERY - convoi_tasks_assign(judge, state, judgement);
    total += PRICE_TURN * state->pile + judge->outlook->token_price * state->clock;
    total += trains_value(judge, state, judgement);
    judgement->certain = total;
    judgement->total = convoi_judgement_total(judge, state, judgement);
}

/* Fitted to games that experts play: with `pile` cards to come, half of them are won from a value
 * of 680 pile - 23 pile^2 on, and the more cards are to come, the less a value tells. */
float convoi_value_reward(const ConvoiState *state, int32_t total)
{
    int32_t pile = state->pile;
    float even = (float)(680 * pile - 23 * pile * pile);
    float scale = (float)(2 * (300 + 40 * pile + 8 * pile * pile));
    float above = ((float)total - even) / scale;
    return above / sqrtf(1 + above * above);
}
