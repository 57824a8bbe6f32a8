/* What the expert of Ligne de train, Chicago, expects of a position: how far it is ahead of the
 * best opponent, in hundredths of a seated pawn, and how much is left to be played.
 *
 * The worths are fitted to the turns of games that experts play, one decision in seventeen at
 * random. */
#include "agents/chicago_expert.h"

#include <math.h>

enum {
    PAWN = 100,
    TURN = -20,       /* the turn itself, beside what its cards and pawns are worth */
    SEATS_NOW = 47,   /* a pawn can sit down at once */
    TOKEN = 33,       /* of the own tokens */
    TOKEN_OTHER = 37, /* of the opponent's */
    AISLE = -48,      /* the pawn stands in the aisle */
    AISLE_OTHER = 3,
    EVEN = 38, /* a lead tells the less the more pawns are to be seated */
    EVEN_LEFT = 32,
};

/* What a pawn's waiting is worth to its player, by Wait. */
static const int16_t wait_worth[WAIT_COUNT] = {
    [WAIT_NONE] = -36, [WAIT_START] = -15, [WAIT_MISSED] = 2, [WAIT_OPEN] = -34};
static const int16_t wait_worth_other[WAIT_COUNT] = {
    [WAIT_START] = -53, [WAIT_MISSED] = -32, [WAIT_OPEN] = -43};

/* What a card in hand is worth. */
static const int16_t card_worth[CARD_COUNT] = {
    [CARD_EXIT_1X] = -39,   [CARD_EXIT_2X] = 42,      [CARD_EXPRESS] = 126,  [CARD_ECCENTRIC] = 49,
    [CARD_PANHANDLER] = 22, [CARD_PLUS_1] = 36,       [CARD_ENTER_1X] = 106, [CARD_ENTER_2X] = 218,
    [CARD_U_PASS] = -11,    [CARD_TAKE_A_SEAT] = 112, [CARD_REBEL] = 18};

/* Pawns that a seat has yet to seat. */
static int32_t pawns_left(const ChicagoTables *tables, const ChicagoState *picture, uint32_t seat)
{
    return (int32_t)tables->pawns - (int32_t)cells_count(&picture->seated[seat]);
}

static int32_t own_worth(const ChicagoState *picture, bool seats)
{
    bool aisle = picture->aisle[0] != 0;
    int32_t worth = TURN + (seats ? SEATS_NOW : 0) + TOKEN * picture->tokens[0];
    worth += aisle ? AISLE : wait_worth[picture->wait[0]];
    for (uint32_t card = 0; card < CARD_COUNT; card++) {
        worth += card_worth[card] * picture->actions[0][card];
    }
    return worth;
}

static int32_t other_worth(const ChicagoState *picture, uint32_t seat)
{
    return TOKEN_OTHER * picture->tokens[seat] + wait_worth_other[picture->wait[seat]] +
           (picture->aisle[seat] != 0 ? AISLE_OTHER : 0);
}

/* The expectation beside one opponent. */
static float duel(const ChicagoTables *tables, const ChicagoState *picture, int32_t own,
                  uint32_t seat)
{
    int32_t left = pawns_left(tables, picture, 0);
    int32_t left_other = pawns_left(tables, picture, seat);
    int32_t lead = PAWN * (left_other - left) + own - other_worth(picture, seat);
    float above = (float)lead / (float)(EVEN + EVEN_LEFT * (left + left_other));
    return above / sqrtf(1 + above * above);
}

float chicago_expectation(const ChicagoTables *tables, const ChicagoState *picture, bool seats)
{
    int32_t own = own_worth(picture, seats);
    float least = 1;
    for (uint32_t seat = 1; seat < tables->player_count; seat++) {
        least = fminf(least, duel(tables, picture, own, seat));
    }
    return least;
}
