/* Ligne de train, Chicago: the observation row and its blocks. */
#include "core/wide.h"
#include "games/chicago/names.h"

#include <string.h>

static uint32_t turn_cap(const TyRuleset *ruleset)
{
    return chicago_tables(ruleset)->turn_cap;
}

static uint32_t pawns(const TyRuleset *ruleset)
{
    return chicago_tables(ruleset)->pawns;
}

#define FLAG(word, columns_, help_)                                                                \
    {.name = (word), .kind = TY_BLOCK_FLAG, .columns = (columns_), .help = (help_)}
#define COUNT(word, columns_, maximum_, help_)                                                     \
    {.name = (word),                                                                               \
     .kind = TY_BLOCK_COUNT,                                                                       \
     .columns = (columns_),                                                                        \
     .maximum = (maximum_),                                                                        \
     .help = (help_)}
/* One of `values_`, or none of them. */
#define ONE(word, columns_, values_, help_)                                                        \
    {.name = (word),                                                                               \
     .kind = TY_BLOCK_CATEGORY,                                                                    \
     .columns = (columns_),                                                                        \
     .values = (values_),                                                                          \
     .help = (help_)}
#define ONE_OR_NONE(word, columns_, values_, help_)                                                \
    {.name = (word),                                                                               \
     .kind = TY_BLOCK_CATEGORY,                                                                    \
     .columns = (columns_),                                                                        \
     .values = (values_),                                                                          \
     .optional = true,                                                                             \
     .help = (help_)}
/* The cards of each hand, for the privileged row. */
#define HANDS(word, cards_, help_)                                                                 \
    {.name = (word),                                                                               \
     .kind = TY_BLOCK_COUNT,                                                                       \
     .rows = &ty_seats,                                                                            \
     .columns = (cards_),                                                                          \
     .maximum = CHICAGO_COPIES_MAX,                                                                \
     .full = true,                                                                                 \
     .help = (help_)}

/* What comes behind the two blocks of cells has at least as many bytes as a car can have, which
 * board_observe relies on. */
const TyBlockForm chicago_blocks[] = {
    [BLOCK_PHASE] = ONE("phase", NULL, &chicago_phases, "the question being asked"),
    [BLOCK_BACKWARD] = FLAG("backward", NULL, "turns go anticlockwise"),
    [BLOCK_TILE] = ONE("tile", &chicago_cars, &chicago_tiles, "tile of each car"),
    [BLOCK_PASSES] = COUNT("passes", NULL, CHICAGO_PASSES_MAX, "blocked spaces that may be passed"),
    [BLOCK_BONUS] = COUNT("bonus", NULL, CHICAGO_BONUS_MAX, "spaces added by Advanced Movement"),
    [BLOCK_POINTS] = COUNT("points", NULL, CHICAGO_LENGTH_MAX, "spaces of the move being made"),
    [BLOCK_LAID] = COUNT("laid", NULL, 2, "number cards laid for it"),
    [BLOCK_COLOUR] = ONE_OR_NONE("colour", NULL, &chicago_colours, "colour of the first of them"),
    [BLOCK_BOARDED] = FLAG("boarded", NULL, "a U-Pass was played this turn"),
    [BLOCK_FRESH] = FLAG("fresh", NULL, "the waiting pawn spins from the next turn on"),
    [BLOCK_ENDING] = FLAG("ending", NULL, "the turn ends when the pawn is placed"),
    [BLOCK_REBELLED] = FLAG("rebelled", NULL, "only the move is left of this turn"),
    [BLOCK_CARD] = ONE_OR_NONE("card", NULL, &chicago_actions, "action card being carried out"),
    [BLOCK_LEFT] = COUNT("left", NULL, 2, "pawns that it is still about"),
    [BLOCK_PICKED] = ONE_OR_NONE("picked", NULL, &chicago_cells, "cell that it is about"),
    [BLOCK_SOURCE] = ONE_OR_NONE("source", NULL, &chicago_sources, "pawn that it seats"),
    [BLOCK_PILE] = ONE("pile", NULL, &chicago_piles, "pile from which a card is taken"),
    [BLOCK_NUMBER_DISCARD] = COUNT("number_discard", &chicago_numbers, CHICAGO_COPIES_MAX,
                                   "number cards in the discard pile"),
    [BLOCK_ACTION_DISCARD] = COUNT("action_discard", &chicago_actions, CHICAGO_COPIES_MAX,
                                   "action cards in the discard pile"),
    [BLOCK_KIND] = ONE("kind", &chicago_cells, &chicago_kinds, "what each cell is"),
    [BLOCK_SITTING] =
        ONE_OR_NONE("sitting", &chicago_cells, &ty_seats, "whose pawn sits in each cell"),
    [BLOCK_TURNS] = {.name = "turns",
                     .kind = TY_BLOCK_COUNT,
                     .maximum_of = turn_cap,
                     .width = 2,
                     .help = "turns begun; the episode is cut at the maximum"},
    [BLOCK_TURN] = ONE("turn", NULL, &ty_seats, "whose turn it is, counted from the own seat"),
    [BLOCK_TARGET] =
        ONE_OR_NONE("target", NULL, &ty_seats, "seat attacked, own seat 1, 0 for none"),
    [BLOCK_OWING] = FLAG("owing", &ty_seats, "has to take a pawn off the train for blocking"),
    [BLOCK_SUPPLY] = {.name = "supply",
                      .kind = TY_BLOCK_COUNT,
                      .columns = &ty_seats,
                      .maximum_of = pawns,
                      .help = "pawns that have not come yet"},
    [BLOCK_SEATED] = {.name = "seated",
                      .kind = TY_BLOCK_COUNT,
                      .columns = &ty_seats,
                      .maximum_of = pawns,
                      .help = "pawns seated"},
    [BLOCK_WAIT] =
        ONE("wait", &ty_seats, &chicago_waits, "what the pawn at a start space waits for"),
    [BLOCK_START] = ONE_OR_NONE("start", &ty_seats, &chicago_starts, "its start space"),
    [BLOCK_AISLE] =
        ONE_OR_NONE("aisle", &ty_seats, &chicago_cells, "cell of the pawn in the aisle"),
    [BLOCK_TOKENS] = COUNT("tokens", &ty_seats, CHICAGO_TOKENS_MAX, "discard tokens"),
    [BLOCK_SKIP] = FLAG("skip", &ty_seats, "misses the next turn"),
    [BLOCK_BLOCKED] =
        COUNT("blocked", &ty_seats, CHICAGO_BLOCKED_MAX, "turns in a row without a way out"),
    [BLOCK_NUMBER_COUNT] =
        COUNT("number_count", &ty_seats, CHICAGO_CARDS_MAX, "number cards in hand"),
    [BLOCK_ACTION_COUNT] =
        COUNT("action_count", &ty_seats, CHICAGO_CARDS_MAX, "action cards in hand"),
    [BLOCK_STOLEN] = ONE_OR_NONE("stolen", &ty_seats, &chicago_cards,
                                 "card that each seat took from the own hand and is known to hold"),
    [BLOCK_NUMBERS] = COUNT("numbers", &chicago_numbers, CHICAGO_COPIES_MAX, "own number cards"),
    [BLOCK_ACTIONS] = COUNT("actions", &chicago_actions, CHICAGO_COPIES_MAX, "own action cards"),
    [BLOCK_UNSEEN_NUMBERS] = COUNT("unseen_numbers", &chicago_numbers, CHICAGO_COPIES_MAX,
                                   "number cards in the pile or in other hands"),
    [BLOCK_UNSEEN_ACTIONS] = COUNT("unseen_actions", &chicago_actions, CHICAGO_COPIES_MAX,
                                   "action cards in the pile or in other hands"),
    [BLOCK_PILE_SIZES] =
        COUNT("pile_sizes", &chicago_piles, CHICAGO_CARDS_MAX, "cards in the two piles"),
    [BLOCK_ALL_NUMBERS] =
        HANDS("all_numbers", &chicago_numbers, "number cards of every hand, own seat first"),
    [BLOCK_ALL_ACTIONS] =
        HANDS("all_actions", &chicago_actions, "action cards of every hand, own seat first"),
    {.name = NULL},
};

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* What is written: the row of `seat` at a table of `players`, who are known to the compiler where
 * they are two. */
typedef struct View {
    const ChicagoTables *tables;
    const ChicagoState *state;
    const uint16_t *at;
    uint32_t seat;
    uint32_t players;
} View;

/* The seat that is `offset` behind the observer. */
INLINE uint32_t seat_behind(const View *view, uint32_t offset)
{
    uint32_t other = view->seat + offset;
    return other - (uint32_t)bits_if(other >= view->players, view->players);
}

/* `seat` counted from the observer. */
INLINE uint8_t seat_relative(const View *view, uint32_t seat)
{
    return (uint8_t)(seat - view->seat + bits_if(seat < view->seat, view->players));
}

/* Cells are counted without gaps in rows; "plus one", with 0 for none. */
INLINE uint8_t cell_row(const ChicagoTables *tables, uint8_t cell)
{
    return (uint8_t)(cell - bits_if(cell > CHICAGO_CAR, (uint64_t)CHICAGO_CAR - tables->cells));
}

/* Pawns that are neither outside nor standing in the aisle. */
INLINE uint8_t pawns_seated(const ChicagoTables *tables, const ChicagoState *state, uint32_t seat)
{
    bool standing = (state->head.phase == PHASE_RESEAT) & (state->target == seat + 1);
    uint64_t away = bits_if(standing, state->left) + state->supply[seat] +
                    (state->wait[seat] != WAIT_NONE) + (state->aisle[seat] != 0);
    return (uint8_t)(tables->pawns - away);
}

/* What everybody sees of the seat that sits `index` places behind the observer: a byte in each of
 * the blocks that have one per seat, in the order of the row. */
INLINE void seat_observe(const View *view, uint32_t index, uint8_t *row)
{
    const ChicagoTables *tables = view->tables;
    const ChicagoState *state = view->state;
    size_t players = view->players;
    uint32_t seat = seat_behind(view, index);
    uint8_t *out = row + view->at[BLOCK_OWING] + index;
    *out = state->owing >> seat & 1;
    *(out += players) = state->supply[seat];
    *(out += players) = pawns_seated(tables, state, seat);
    *(out += players) = state->wait[seat];
    *(out += players) = state->start[seat];
    *(out += players) = cell_row(tables, state->aisle[seat]);
    *(out += players) = state->tokens[seat];
    *(out += players) = state->skip[seat];
    *(out += players) = state->blocked[seat];
    *(out += players) = (uint8_t)cards_count(state->numbers[seat], CHICAGO_NUMBERS);
    *(out += players) = (uint8_t)cards_count(state->actions[seat], CARD_COUNT);
    out[players] = state->stolen[view->seat][seat];
}

/* Writes the byte of each cell of a car: whose pawn sits there, the observer's being 1. Writes 64
 * bytes; what follows the cars in the row is longer. */
INLINE void car_observe(const View *view, uint32_t car, uint8_t *out)
{
    uint64_t bits[TY_PLAYERS_MAX] = {0};
    for (uint32_t i = 0; i < view->players; i++) {
        bits[i] = view->state->seated[seat_behind(view, i)].car[car];
    }
    planes_write(bits[0] | bits[2], bits[1] | bits[2], bits[3], out);
}

enum { SEAT_BLOCKS = 12 };
_Static_assert(2 * (SEAT_BLOCKS + CHICAGO_NUMBERS + CARD_COUNT) >= 64, "see car_observe");

/* Copies of a fixed size are fast. What they write behind a part is overwritten by the next one, so
 * the board comes first, and in the order of the row. */
INLINE void board_observe(const View *view, uint8_t *row)
{
    const ChicagoTables *tables = view->tables;
    const ChicagoState *state = view->state;
    uint32_t cells = tables->cells;
    uint8_t *kind = row + view->at[BLOCK_KIND];
    uint8_t *sitting = row + view->at[BLOCK_SITTING];
    memcpy(kind, tables->kinds[state->tile[0]], CHICAGO_CELLS_MAX);
    memcpy(kind + cells, tables->kinds[state->tile[1]], CHICAGO_CELLS_MAX);
    car_observe(view, 0, sitting);
    car_observe(view, 1, sitting + cells);
}

/* Eight kinds of cards at once: how many of `all` are neither in a hand nor discarded. Counts are
 * never negative, so that nothing is borrowed from the next one. */
INLINE void unseen_write(uint64_t all, const uint8_t *hand, const uint8_t *discard, uint8_t *out)
{
    store_le64(out, all - load_le64(hand) - load_le64(discard));
}

_Static_assert(CARD_COUNT == 16 && CHICAGO_NUMBERS >= 8 && CHICAGO_NUMBERS <= 16,
               "cards_observe takes two words each");

INLINE void cards_observe(const View *view, uint8_t *row)
{
    const ChicagoState *state = view->state;
    const uint16_t *at = view->at;
    const uint8_t *numbers = state->numbers[view->seat];
    const uint8_t *actions = state->actions[view->seat];
    const uint8_t *copies = view->tables->copies;
    uint64_t all = view->tables->number_copies * UINT64_C(0x0101010101010101);
    uint32_t tail = CHICAGO_NUMBERS - 8; /* where the last eight numbers begin */
    memcpy(row + at[BLOCK_NUMBERS], numbers, CHICAGO_NUMBERS);
    memcpy(row + at[BLOCK_ACTIONS], actions, CARD_COUNT);
    uint8_t *unseen = row + at[BLOCK_UNSEEN_NUMBERS];
    unseen_write(all, numbers, state->number_discard, unseen);
    unseen_write(all, numbers + tail, state->number_discard + tail, unseen + tail);
    unseen = row + at[BLOCK_UNSEEN_ACTIONS];
    unseen_write(load_le64(copies), actions, state->action_discard, unseen);
    unseen_write(load_le64(copies + 8), actions + 8, state->action_discard + 8, unseen + 8);
    row[at[BLOCK_PILE_SIZES]] = (uint8_t)cards_count(state->number_deck, CHICAGO_NUMBERS);
    row[at[BLOCK_PILE_SIZES] + 1] = (uint8_t)cards_count(state->action_deck, CARD_COUNT);
}

static void hands_observe(const View *view, uint8_t *row)
{
    const ChicagoState *state = view->state;
    for (uint32_t i = 0; i < view->players; i++) {
        uint32_t seat = seat_behind(view, i);
        memcpy(row + view->at[BLOCK_ALL_NUMBERS] + i * CHICAGO_NUMBERS, state->numbers[seat],
               CHICAGO_NUMBERS);
        memcpy(row + view->at[BLOCK_ALL_ACTIONS] + i * CARD_COUNT, state->actions[seat],
               CARD_COUNT);
    }
}

INLINE void view_write(View view, uint8_t *row)
{
    const ChicagoState *state = view.state;
    const uint16_t *at = view.at;
    row[0] = state->head.phase;
    memcpy(row + 1, &state->backward, CHICAGO_PUBLIC_SIZE);
    row[at[BLOCK_PICKED]] = cell_row(view.tables, state->picked);
    board_observe(&view, row);
    store_le16(row + at[BLOCK_TURNS], state->turns);
    row[at[BLOCK_TURN]] = seat_relative(&view, state->active);
    uint8_t target = seat_relative(&view, state->target - 1u); /* if there is one */
    row[at[BLOCK_TARGET]] = (uint8_t)bits_if(state->target != 0, target + 1u);
    for (uint32_t i = 0; i < view.players; i++) {
        seat_observe(&view, i, row);
    }
    cards_observe(&view, row);
}

void chicago_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                     uint8_t *row)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    View view = {
        .tables = tables, .state = state, .at = ruleset->block_at, .seat = seat, .players = 2};
    if (tables->player_count == 2) {
        view_write(view, row);
    } else {
        view.players = tables->player_count;
        view_write(view, row);
    }
    if (full) {
        hands_observe(&view, row);
    }
}
