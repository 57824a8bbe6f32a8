/* Convoi Express: the turn. Instruction card, action cards, new cards; the clock; the end. */
#include "games/convoi/state.h"
#include "kit/draw.h"

#include <string.h>

/* ---- The clock and the end ---------------------------------------------------------------------
 */

void episode_end(Play *play, bool won, EndReason why)
{
    ConvoiState *state = play->state;
    state->won = won;
    state->head.over = 1;
    state->head.seat = -1;
    ask(play, PHASE_OVER);
    team_earn(play, won ? TY_REWARD_ONE : -TY_REWARD_ONE);
    EVENT(play, EVENT_END, won, (int16_t)why);
}

/* Les jetons Temps: with the last token the top instruction card is set aside unseen and the clock
 * refilled, less what is still owed; without a card to set aside the game is lost at once. */
void tokens_lose(Play *play, uint8_t count, Loss why)
{
    ConvoiState *state = play->state;
    int clock = state->clock - count;
    state->tokens_lost = (uint16_t)(state->tokens_lost + count);
    EVENT(play, EVENT_TOKENS, count, (int16_t)why, (int16_t)(clock > 0 ? clock : 0));
    while (clock <= 0) {
        if (state->pile == 0) {
            state->clock = 0;
            episode_end(play, false, END_CLOCK);
            return;
        }
        clock += play->tables->clock;
        state->pile--;
        state->set_aside++;
        state->bottom = state->pile == 0 ? 0 : state->bottom;
        EVENT(play, EVENT_SET_ASIDE, state->pile, (int16_t)(clock > 0 ? clock : 0));
    }
    state->clock = (uint8_t)clock;
}

/* ---- Instruction cards -------------------------------------------------------------------------
 */

static void card_show(Play *play, uint8_t card)
{
    ConvoiState *state = play->state;
    state->card = card;
    state->symbol = 0;
    state->colour = 0;
    memset(state->named, 0, sizeof state->named);
    memset(state->moved, 0, sizeof state->moved);
}

/* Takes the top card of the pile: one of those never seen, or the known one at the bottom. */
static void card_reveal(Play *play)
{
    const ConvoiTables *tables = play->tables;
    ConvoiState *state = play->state;
    if (state->pile == 1 && state->bottom != 0) {
        card_show(play, state->bottom);
        state->bottom = 0;
        EVENT(play, EVENT_CARD, state->card);
    } else {
        uint64_t unseen = (UINT64_C(1) << tables->card_count) - 1;
        for (uint32_t i = 0; i < CONVOI_CARDS_MAX; i += 8) {
            unseen &= ~(bits_gather(&state->seen[i]) << i);
        }
        uint32_t card = draw_bit(play->ty, STREAM_INSTRUCTIONS, unseen, tables->card_count);
        state->seen[card] = 1;
        card_show(play, (uint8_t)(CARD_BASE + card));
        EVENT_CHANCE(play, EVENT_CARD, STREAM_INSTRUCTIONS, card, state->card);
    }
    state->pile--;
}

static void turn_begin(Play *play)
{
    ConvoiState *state = play->state;
    state->head.seat = (int8_t)state->active;
    state->turns++;
    EVENT(play, EVENT_TURN, (int16_t)state->turns);
    card_reveal(play);
    bool garde_voie = play->tables->crossing && !state->staff_used[STAFF_GARDE_VOIE];
    if (garde_voie && state->pile > 0) {
        ask(play, PHASE_CARD);
    } else {
        card_next(play);
    }
}

/* The garde-voie puts the card under the pile; the next one has to be followed. */
static void card_refuse(Play *play)
{
    ConvoiState *state = play->state;
    state->staff_used[STAFF_GARDE_VOIE] = 1;
    EVENT(play, EVENT_STAFF, STAFF_GARDE_VOIE);
    EVENT(play, EVENT_CARD_UNDER, (int16_t)(state->card - CARD_BASE));
    state->bottom = state->card;
    state->pile++;
    card_reveal(play);
    card_next(play);
}

static void symbol_done(Play *play)
{
    ConvoiState *state = play->state;
    state->symbol++;
    state->colour = 0;
    if (state->symbol == card_now(play->tables, state)->new_count) {
        memset(state->named, 0, sizeof state->named);
    }
}

/* Every symbol of the card is followed: on to the action cards. */
static void card_done(Play *play)
{
    ConvoiState *state = play->state;
    if (state->card == CARD_FIRST) {
        memset(state->token_spent, 0, sizeof state->token_spent);
        memset(state->first_token, 0, sizeof state->first_token);
    }
    state->card = CARD_NONE;
    state->symbol = 0;
    memset(state->named, 0, sizeof state->named);
    memset(state->moved, 0, sizeof state->moved);
    ask(play, PHASE_ACTIONS);
}

/* Asks for the colour of the card's new train, or charges two tokens if none can be had. */
static bool new_train_ask(Play *play)
{
    ask(play, PHASE_COLOUR);
    uint64_t colours = colours_open(play->tables, play->state);
    if (bits_single(colours)) {
        answer_only(play, FORM_COLOUR, (uint32_t)__builtin_ctzll(colours));
    }
    if (colours != 0) {
        return true;
    }
    EVENT(play, EVENT_NOT_PLACED, 0, 0, LOSS_DEPOT_EMPTY);
    tokens_lose(play, 2, LOSS_DEPOT_EMPTY);
    symbol_done(play);
    return play->state->head.over;
}

/* Asks for what the card's move symbol needs next. False if the symbol is done. */
static bool move_ask(Play *play, uint8_t printed)
{
    ConvoiState *state = play->state;
    if (state->colour == 0) {
        if (printed == CONVOI_COLOUR_ANY) {
            ask(play, PHASE_COLOUR);
            return true;
        }
        state->colour = (uint8_t)(printed + 1);
    }
    ask(play, PHASE_TRAIN);
    uint64_t trains = trains_to_move(state);
    if (trains == 0) {
        symbol_done(play);
        return false;
    }
    if (bits_single(trains) && !train_holdable(play->tables, state)) {
        answer_only(play, FORM_MOVE, (uint32_t)__builtin_ctzll(trains));
    }
    return true;
}

void card_next(Play *play)
{
    ConvoiState *state = play->state;
    const Card *card = card_now(play->tables, state);
    for (;;) {
        if (state->symbol < card->new_count) {
            if (new_train_ask(play)) {
                return;
            }
        } else if (state->symbol < card->new_count + card->move_count) {
            if (move_ask(play, card->move_colour[state->symbol - card->new_count])) {
                return;
            }
        } else {
            card_done(play);
            return;
        }
    }
}

/* ---- New trains --------------------------------------------------------------------------------
 */

uint32_t token_draw(Play *play)
{
    ConvoiState *state = play->state;
    uint8_t weights[CONVOI_NUMBERS];
    if (memchr(state->token_spent, 0, CONVOI_NUMBERS) == NULL) {
        memset(state->token_spent, 0, sizeof state->token_spent);
    }
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        weights[i] = state->token_spent[i] ^ 1;
    }
    uint32_t token = ty_draw(play->ty, STREAM_TOKENS, weights, CONVOI_NUMBERS);
    state->token_spent[token] = 1;
    return token;
}

/* A start number by dice or, in the variant, by the token that lies open for the train, otherwise
 * by the next one of the stack (ruling 40). */
static uint8_t start_number_draw(Play *play)
{
    static const uint8_t two_dice[13] = {0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1};
    uint8_t *open = &play->state->first_token[play->state->symbol];
    if (play->tables->starts != STARTS_DRAWN) {
        uint32_t sum = draw_few(play->ty, STREAM_START_DICE, two_dice, 13);
        EVENT_CHANCE(play, EVENT_ROLL_START, STREAM_START_DICE, sum, 0, (int16_t)sum);
        return (uint8_t)sum;
    }
    if (*open != 0) {
        uint8_t number = (uint8_t)(*open + 1);
        *open = 0;
        return number;
    }
    uint32_t token = token_draw(play);
    EVENT_CHANCE(play, EVENT_ROLL_START, STREAM_TOKENS, token, 1, (int16_t)(token + 2));
    return (uint8_t)(token + 2);
}

/* Puts a train of the named colour on a free start. */
static void train_place(Play *play, uint8_t start)
{
    ConvoiState *state = play->state;
    uint8_t train = (uint8_t)(3 * (state->colour - 1));
    while (state->place[train] != 0) {
        train++;
    }
    state->place[train] = (uint8_t)(place_start(play->tables, start) + 1);
    state->heading[train] = 0;
    network_change(play);
    state->trains_placed++;
    state->first_token[state->symbol] = 0;
    EVENT(play, EVENT_PLACE, train, start);
    symbol_done(play);
    card_next(play);
}

/* Mettre un Train en jeu: an occupied start costs two tokens; on the first card it is rolled again.
 */
static void start_roll(Play *play)
{
    ConvoiState *state = play->state;
    for (;;) {
        uint8_t start = state->number_start[start_number_draw(play) - 2];
        if (train_at(state, place_start(play->tables, start), CONVOI_NONE) == CONVOI_NONE) {
            train_place(play, start);
            return;
        }
        EVENT(play, EVENT_NOT_PLACED, state->colour, (int16_t)(start + 1), LOSS_START_OCCUPIED);
        if (state->card != CARD_FIRST) {
            break;
        }
    }
    tokens_lose(play, 2, LOSS_START_OCCUPIED);
    symbol_done(play);
    if (!state->head.over) {
        card_next(play);
    }
}

static void colour_name(Play *play, uint8_t colour)
{
    ConvoiState *state = play->state;
    const Card *card = card_now(play->tables, state);
    bool new_train = state->symbol < card->new_count;
    state->colour = (uint8_t)(colour + 1);
    state->named[colour] = 1;
    EVENT(play, EVENT_NAME, colour);
    if (new_train) {
        bool agent = play->tables->crossing && !state->staff_used[STAFF_AGENT_DE_MANOEUVRE];
        ask(play, PHASE_START);
        if (!agent && !play->ty->ruleset->ask_forced) { /* as in act_choose */
            start_roll(play);
        }
    } else {
        card_next(play);
    }
}

/* ---- Action cards ------------------------------------------------------------------------------
 */

/* Draws an action card for `seat`; the discards become the deck when it is empty. */
static void action_card_draw(Play *play, uint8_t seat)
{
    ConvoiState *state = play->state;
    if (hand_size(state->deck) == 0) {
        memcpy(state->deck, state->discard, sizeof state->deck);
        memset(state->discard, 0, sizeof state->discard);
        EVENT(play, EVENT_RESHUFFLE, 0);
    }
    uint32_t kind = draw_few(play->ty, STREAM_ACTIONS, state->deck, CONVOI_KINDS);
    state->deck[kind]--;
    state->hand[seat][kind]++;
    EVENT_CHANCE(play, EVENT_DRAW, STREAM_ACTIONS, kind, (int16_t)kind, seat);
}

/* The cards of each kind as the bytes of a word. */
static uint32_t kinds_load(const uint8_t kinds[CONVOI_KINDS])
{
    return kinds[0] | (uint32_t)kinds[1] << 8 | (uint32_t)kinds[2] << 16;
}

static void kinds_store(uint8_t kinds[CONVOI_KINDS], uint32_t word)
{
    store_le16(kinds, (uint16_t)word);
    kinds[2] = (uint8_t)(word >> 16);
}

/* The same as `count` times action_card_draw where nobody listens. The deck stays in a register: in
 * memory every card would wait for the one before it. */
static void action_cards_draw(Play *play, uint8_t seat, uint32_t count)
{
    ConvoiState *state = play->state;
    uint32_t deck = kinds_load(state->deck);
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (deck == 0) {
            deck = kinds_load(state->discard);
            memset(state->discard, 0, sizeof state->discard);
        }
        uint32_t first = deck & 0xff;
        uint32_t second = first + (deck >> 8 & 0xff);
        uint32_t value = draw_next(play->ty, STREAM_ACTIONS, second + (deck >> 16));
        uint32_t card = 1u << (8 * ((value >= first) + (value >= second)));
        deck -= card;
        drawn += card;
    }
    kinds_store(state->deck, deck);
    kinds_store(state->hand[seat], kinds_load(state->hand[seat]) + drawn);
}

static void hand_fill(Play *play, uint8_t seat)
{
    uint32_t room = CONVOI_HAND_MAX - hand_size(play->state->hand[seat]);
    uint32_t count = room < 5 ? room : 5;
    if (play->ty->tape == NULL) {
        action_cards_draw(play, seat, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        action_card_draw(play, seat);
    }
}

void game_begin(Play *play)
{
    ConvoiState *state = play->state;
    for (uint8_t i = 0; i < play->tables->player_count; i++) {
        hand_fill(play, (uint8_t)((state->active + i) % play->tables->player_count));
    }
    state->turns = 1;
    EVENT(play, EVENT_TURN, 1);
    card_show(play, CARD_FIRST);
    EVENT(play, EVENT_CARD, CARD_FIRST);
    card_next(play);
}

static void turn_end(Play *play)
{
    ConvoiState *state = play->state;
    if (state->pile == 0) {
        episode_end(play, false, END_LAST_TURN);
        return;
    }
    hand_fill(play, state->active);
    state->crossing_on = 0;
    state->active = (uint8_t)((state->active + 1) % play->tables->player_count);
    turn_begin(play);
}

/* Whoever has no card left can only end the turn, which is done at once, as in act_choose. */
void actions_ask(Play *play)
{
    ask(play, PHASE_ACTIONS);
    if (hand_size(play->state->hand[play->state->active]) == 0 && !play->ty->ruleset->ask_forced) {
        turn_end(play);
    }
}

static void light_move(Play *play)
{
    ConvoiState *state = play->state;
    state->green &= ~(UINT64_C(1) << (state->from - 1));
    state->green |= UINT64_C(1) << (state->to - 1);
    network_change(play);
    EVENT(play, EVENT_LIGHT, state->from, (int16_t)(state->to - 1));
}

static void switch_turn(Play *play)
{
    ConvoiState *state = play->state;
    setting_set(play->tables, state, (uint8_t)(state->junction - 1), state->junction_setting);
    network_change(play);
    EVENT(play, EVENT_SWITCH, (int16_t)(state->junction - 1),
          (int16_t)(play->tables->setting_first[state->junction - 1] + state->junction_setting));
}

static void train_load(Play *play, uint8_t train)
{
    ConvoiState *state = play->state;
    uint8_t city = city_at(play->tables, (uint8_t)(state->place[train] - 1));
    state->goods[city]--;
    state->cargo[train] = (uint8_t)(play->tables->city_goods[city] + 1);
    network_change(play);
    state->loads++;
    EVENT(play, EVENT_LOAD, train, play->tables->city_goods[city], city);
}

/* The cards are laid: do what they were played for. */
INLINE void act_do(Play *play, Act act)
{
    ConvoiState *state = play->state;
    uint8_t train = (uint8_t)(state->train - 1);
    switch (act) {
    case ACT_SIGNAL:
        light_move(play);
        break;
    case ACT_SWITCH:
        switch_turn(play);
        break;
    case ACT_LOAD:
        train_load(play, train);
        break;
    case ACT_MOVE:
        break;
    }
    state->act = 0;
    state->from = 0;
    state->to = 0;
    state->junction = 0;
    state->junction_setting = 0;
    state->train = 0;
    if (act == ACT_MOVE) {
        train_roll(play, train);
    } else {
        actions_ask(play);
    }
}

INLINE void act_pay(Play *play, Act act, uint32_t payment)
{
    ConvoiState *state = play->state;
    const uint8_t *cards = payments[payment].cards;
    uint8_t *hand = state->hand[state->active];
    for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
        hand[kind] = (uint8_t)(hand[kind] - cards[kind]);
        state->discard[kind] = (uint8_t)(state->discard[kind] + cards[kind]);
    }
    state->cards_played = (uint16_t)(state->cards_played + hand_size(cards));
    EVENT(play, EVENT_DISCARD, (int16_t)payment);
    act_do(play, act);
}

/* Asks for the payment, or takes the only one at once: that is quicker than to go around by
 * answer_only. */
INLINE void act_choose(Play *play, Act act)
{
    ConvoiState *state = play->state;
    uint32_t options = payments_for(play->tables, act, state->hand[state->active]);
    state->act = (uint8_t)(act + 1);
    ask(play, PHASE_PAY);
    if (bits_single(options) && !play->ty->ruleset->ask_forced) {
        act_pay(play, act, (uint32_t)__builtin_ctz(options));
    }
}

/* ---- Answers -----------------------------------------------------------------------------------
 */

static void staff_use(Play *play, uint8_t staff)
{
    play->state->staff_used[staff] = 1;
    EVENT(play, EVENT_STAFF, staff);
}

/* A train is named that the card moves. */
static void train_choose(Play *play, uint8_t train)
{
    play->state->moved[train] = 1;
    train_roll(play, train);
}

static void train_hold(Play *play, uint8_t train)
{
    staff_use(play, STAFF_CHEFFE_DE_SECTION);
    play->state->moved[train] = 1;
    EVENT(play, EVENT_HOLD, train);
    card_next(play);
}

static void colour_hold(Play *play)
{
    ConvoiState *state = play->state;
    staff_use(play, STAFF_CHEF_DE_TRAIN);
    EVENT(play, EVENT_SKIP, (int16_t)(state->colour - 1));
    memset(&state->moved[3 * (state->colour - 1)], 1, 3);
    symbol_done(play);
    card_next(play);
}

static void gestionnaire_use(Play *play)
{
    staff_use(play, STAFF_GESTIONNAIRE);
    play->state->crossing_on = 1;
    ask(play, PHASE_EXIT);
}

static void start_choose(Play *play, uint8_t start)
{
    staff_use(play, STAFF_AGENT_DE_MANOEUVRE);
    train_place(play, start);
}

/* What is placed during the set-up. */
static void setup_light(Play *play, uint8_t light)
{
    light_place(play, light);
    setup_next(play);
}

static void setup_switch(Play *play, uint32_t number)
{
    uint8_t junction = play->tables->setting_junction[number];
    switch_place(play, (uint8_t)(number - play->tables->setting_first[junction]));
    setup_next(play);
}

static void light_from(Play *play, uint8_t light)
{
    play->state->from = (uint8_t)(light + 1);
    ask(play, PHASE_LIGHT_TO);
}

static void light_to(Play *play, uint8_t light)
{
    play->state->to = (uint8_t)(light + 1);
    act_choose(play, ACT_SIGNAL);
}

/* A train is named for an action card yet to be paid. */
static void train_for(Play *play, Act act, uint8_t train)
{
    play->state->train = (uint8_t)(train + 1);
    act_choose(play, act);
}

static void switch_choose(Play *play, uint32_t number)
{
    ConvoiState *state = play->state;
    uint8_t junction = play->tables->setting_junction[number];
    state->junction = (uint8_t)(junction + 1);
    state->junction_setting = (uint8_t)(number - play->tables->setting_first[junction]);
    act_choose(play, ACT_SWITCH);
}

/* Answers that differ in what is done, by the question that they answer. */
static void train_answered(Play *play, Form form, uint8_t train)
{
    if (form == FORM_MOVE) {
        train_choose(play, train);
    } else if (form == FORM_HOLD) {
        train_hold(play, train);
    } else {
        colour_hold(play);
    }
}

static void die_answered(Play *play, Form form)
{
    if (form == FORM_KEEP) {
        train_run(play);
    } else {
        staff_use(play, STAFF_LOGISTICIEN);
        train_reroll(play);
    }
}

static void actions_answered(Play *play, Form form, uint8_t item)
{
    if (form == FORM_SWITCH) {
        switch_choose(play, item);
    } else if (form == FORM_LIGHT_FROM) {
        light_from(play, item);
    } else if (form == FORM_END) {
        turn_end(play);
    } else {
        train_for(play, form == FORM_LOAD ? ACT_LOAD : ACT_MOVE, item);
    }
}

/* By the question first, not by the answer: where many episodes take turns, which one comes is as
 * good as random, and the question is known while the answer is still being chosen. */
static void action_apply(Play *play, uint32_t action)
{
    TyChoice choice = ty_choice(play->ty->ruleset, action);
    Form form = (Form)choice.form;
    uint8_t item = (uint8_t)choice.item;
    switch ((Phase)play->state->head.phase) {
    case PHASE_PLACE_CITY:
    case PHASE_PLACE_TRACK:
    case PHASE_PLACE_EXTRA:
        setup_light(play, item);
        break;
    case PHASE_PLACE_SWITCH:
        setup_switch(play, item);
        break;
    case PHASE_CARD:
        (form == FORM_PLAY_CARD ? card_next : card_refuse)(play);
        break;
    case PHASE_COLOUR:
        colour_name(play, item);
        break;
    case PHASE_START:
        if (form == FORM_ROLL_START) {
            start_roll(play);
        } else {
            start_choose(play, item);
        }
        break;
    case PHASE_TRAIN:
        train_answered(play, form, item);
        break;
    case PHASE_DIE:
        die_answered(play, form);
        break;
    case PHASE_CITY:
        (form == FORM_STOP ? train_done : gestionnaire_use)(play);
        break;
    case PHASE_EXIT:
        if (form == FORM_EXIT) {
            train_exit(play, item);
        } else {
            train_done(play);
        }
        break;
    case PHASE_ACTIONS:
        actions_answered(play, form, item);
        break;
    case PHASE_LIGHT_TO:
        light_to(play, item);
        break;
    case PHASE_PAY:
        act_pay(play, (Act)(play->state->act - 1), item);
        break;
    case PHASE_OVER:
    case PHASE_COUNT:
        break;
    }
}

void convoi_apply(TyPlay *ty, uint32_t action)
{
    Play play = play_of(ty);
    do {
        play.only = 0;
        action_apply(&play, action);
        action = play.only;
    } while (action != 0);
}
