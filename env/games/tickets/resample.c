/* The ticket games: dealing anew what one seat cannot know. */
#include "core/bytes.h"
#include "games/tickets/state.h"
#include "kit/draw.h"

#include <string.h>

enum { RESAMPLE_TRIES = 64 }; /* hands dealt to a seat in the middle of a payment */

/* ---- Wagon cards -------------------------------------------------------------------------------
 */

/* Puts the cards of the other hands that the seat has not seen back into the deck; `sizes` says how
 * many each had. */
static void hands_collect(const TicketsTables *tables, TicketsState *state, uint32_t seat,
                          uint8_t sizes[TY_PLAYERS_MAX])
{
    for (uint32_t other = 0; other < tables->player_count; other++) {
        for (uint32_t i = 0; other != seat && i < tables->type_count; i++) {
            uint8_t hidden = (uint8_t)(state->hand[other][i] - state->known[other][i]);
            sizes[other] = (uint8_t)(sizes[other] + hidden);
            state->deck[i] = (uint8_t)(state->deck[i] + hidden);
            state->hand[other][i] = state->known[other][i];
        }
    }
}

static void hands_deal(Play *play, const uint8_t sizes[TY_PLAYERS_MAX])
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    for (uint32_t other = 0; other < tables->player_count; other++) {
        for (uint8_t i = 0; i < sizes[other]; i++) {
            uint32_t type = ty_draw(play->ty, STREAM_CARDS, state->deck, tables->type_count);
            state->deck[type]--;
            state->hand[other][type]++;
        }
    }
}

static bool has_answer(const TyRuleset *ruleset, const TicketsState *state)
{
    uint64_t answers[TICKETS_ANSWER_WORDS] = {0};
    tickets_answers(ruleset, state, answers);
    return (answers[0] | answers[1] | answers[2] | answers[3]) != 0;
}

/* Deals the unknown cards anew. A seat in the middle of a payment must be able to complete it:
 * deals are repeated until it can, and after too many failures the cards stay as they were. */
static void cards_resample(Play *play, uint32_t seat)
{
    TicketsState *state = play->state;
    for (uint32_t i = 0; i < RESAMPLE_TRIES; i++) {
        TicketsState copy = *state;
        TyPlay ty = {.ruleset = play->ty->ruleset, .state = &copy};
        Play trial = tickets_play(&ty);
        uint8_t sizes[TY_PLAYERS_MAX] = {0};
        hands_collect(play->tables, &copy, seat, sizes);
        hands_deal(&trial, sizes);
        memcpy(state->head.draws, copy.head.draws, sizeof copy.head.draws);
        if (has_answer(ty.ruleset, &copy)) {
            *state = copy;
            return;
        }
    }
}

/* ---- Tickets -----------------------------------------------------------------------------------
 */

/* Takes `count` tickets out of the pool. */
static uint64_t pool_take(Play *play, uint64_t *pool, uint32_t count)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ticket = draw_bit(play->ty, STREAM_TICKETS, *pool, play->tables->ticket_count);
        *pool &= ~(UINT64_C(1) << ticket);
        taken |= UINT64_C(1) << ticket;
    }
    return taken;
}

/* Exchanges the content of `set` for as many tickets of the pool. */
static void set_resample(Play *play, uint64_t *set, uint64_t *pool)
{
    *set = pool_take(play, pool, (uint32_t)__builtin_popcountll(*set));
}

/* The tickets of the batch on top, if the seat put them there and others have drawn of it, are any
 * of those that it remembers. The others join the pool. */
static void front_resample(Play *play, uint32_t seat, uint64_t *pool)
{
    TicketsState *state = play->state;
    uint64_t front = tickets_front(state);
    uint64_t shown = state->front_shown;
    if ((front & state->returned[seat]) == 0 || shown == 0) {
        return;
    }
    uint32_t count = (uint32_t)__builtin_popcountll(front);
    uint64_t drawn = shown;
    uint64_t stays = pool_take(play, &drawn, count);
    *pool = (*pool & ~stays) | drawn;
    state->returned[seat] = (state->returned[seat] & ~front) | stays;
    for (uint64_t left = front; left != 0; left &= left - 1) {
        state->batch[__builtin_ctzll(left)] = 0;
    }
    for (uint64_t left = stays; left != 0; left &= left - 1) {
        state->batch[__builtin_ctzll(left)] = state->batch_first;
    }
}

/* The batches that another seat put under the deck keep their sizes and get other tickets. */
static void batches_resample(Play *play, uint32_t other, const uint8_t batch_before[TICKETS_MAX],
                             uint64_t *pool)
{
    TicketsState *state = play->state;
    uint64_t before = state->returned[other];
    state->returned[other] = 0;
    for (uint64_t left = before; left != 0; left &= left - 1) {
        uint8_t batch = batch_before[__builtin_ctzll(left)];
        uint64_t ticket = pool_take(play, pool, 1);
        state->returned[other] |= ticket;
        state->batch[__builtin_ctzll(ticket)] = batch;
    }
}

/* Another seat that is choosing tickets begins its choice again. */
static void tickets_resample_all(Play *play, uint32_t seat)
{
    const TicketsTables *tables = play->tables;
    TicketsState *state = play->state;
    uint8_t batch_before[TICKETS_MAX];
    uint64_t known = state->tickets[seat] | state->returned[seat];
    known |= state->active == seat ? state->offered : 0;
    uint64_t pool = tickets_all(tables) & ~known;
    memcpy(batch_before, state->batch, sizeof batch_before);
    front_resample(play, seat, &pool);
    uint64_t front = state->front_shown != 0 ? tickets_front(state) : 0;
    for (uint64_t left = pool; left != 0; left &= left - 1) {
        state->batch[__builtin_ctzll(left)] = 0;
    }
    for (uint32_t other = 0; other < tables->player_count; other++) {
        if (other != seat) {
            set_resample(play, &state->tickets[other], &pool);
            state->complete[other] =
                tickets_linked(tables, state->network[other], state->tickets[other]);
            batches_resample(play, other, batch_before, &pool);
        }
    }
    if (state->active != seat) {
        set_resample(play, &state->offered, &pool);
        state->chosen = 0;
    }
    state->ticket_deck = pool;
    if (state->front_shown != 0) {
        state->front_shown = (state->front_shown & ~front) | tickets_front(state);
    }
}

void tickets_resample(TyPlay *ty, uint32_t seat)
{
    Play play = tickets_play(ty);
    if (play.state->head.over) {
        return;
    }
    tickets_resample_all(&play, seat);
    cards_resample(&play, seat);
}
