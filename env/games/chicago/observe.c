/* Ligne de train, Chicago: the observation row and its schema. */
#include "core/bytes.h"
#include "games/chicago/state.h"

#include <string.h>

/* Ranges that depend on the ruleset; they stand where a maximum would. */
enum { RANGE_CELLS = 60000, RANGE_TILES, RANGE_PLAYERS, RANGE_PAWNS };

#define PUBLIC(member, kind_, columns_, maximum_, help_)                                           \
    {.name = #member,                                                                              \
     .kind = (kind_),                                                                              \
     .offset = (uint16_t)(offsetof(ChicagoState, member) - CHICAGO_PUBLIC_OFFSET),                 \
     .rows = 1,                                                                                    \
     .columns = (columns_),                                                                        \
     .maximum = (maximum_),                                                                        \
     .width = 1,                                                                                   \
     .help = (help_)}

static const TyBlock public_blocks[] = {
    PUBLIC(phase, TY_BLOCK_CATEGORY, 1, PHASE_COUNT - 1, "the question being asked"),
    PUBLIC(backward, TY_BLOCK_FLAG, 1, 1, "turns go anticlockwise"),
    PUBLIC(tile, TY_BLOCK_CATEGORY, CHICAGO_CARS, RANGE_TILES, "tile of each car"),
    PUBLIC(passes, TY_BLOCK_COUNT, 1, CHICAGO_PASSES_MAX, "blocked spaces that may be passed"),
    PUBLIC(bonus, TY_BLOCK_COUNT, 1, CHICAGO_BONUS_MAX, "spaces added by Advanced Movement"),
    PUBLIC(points, TY_BLOCK_COUNT, 1, CHICAGO_LENGTH_MAX, "spaces of the move being made"),
    PUBLIC(laid, TY_BLOCK_COUNT, 1, 2, "number cards laid for it"),
    PUBLIC(colour, TY_BLOCK_CATEGORY, 1, 2, "colour of the first of them"),
    PUBLIC(boarded, TY_BLOCK_FLAG, 1, 1, "a U-Pass was played this turn"),
    PUBLIC(fresh, TY_BLOCK_FLAG, 1, 1, "the waiting pawn spins from the next turn on"),
    PUBLIC(ending, TY_BLOCK_FLAG, 1, 1, "the turn ends when the pawn is placed"),
    PUBLIC(rebelled, TY_BLOCK_FLAG, 1, 1, "only the move is left of this turn"),
    PUBLIC(card, TY_BLOCK_CATEGORY, 1, CARD_COUNT, "action card being carried out"),
    PUBLIC(left, TY_BLOCK_COUNT, 1, 2, "pawns that it is still about"),
    PUBLIC(picked, TY_BLOCK_CATEGORY, 1, RANGE_CELLS, "cell that it is about"),
    PUBLIC(source, TY_BLOCK_CATEGORY, 1, 2, "pawn that it seats"),
    PUBLIC(pile, TY_BLOCK_CATEGORY, 1, 1, "pile from which a card is taken"),
    PUBLIC(number_discard, TY_BLOCK_COUNT, CHICAGO_NUMBERS, CHICAGO_COPIES_MAX,
           "number cards in the discard pile"),
    PUBLIC(action_discard, TY_BLOCK_COUNT, CARD_COUNT, CHICAGO_COPIES_MAX,
           "action cards in the discard pile"),
};

/* A part of the row behind the public bytes. `columns` 0 stands for one per player. */
typedef struct Part {
    const char *name;
    TyBlockKind kind;
    uint16_t at; /* where ChicagoLayout keeps its offset */
    uint16_t columns;
    uint16_t maximum;
    const char *help;
} Part;

#define PART(member, kind_, columns_, maximum_, help_)                                             \
    {#member, (kind_), offsetof(ChicagoLayout, member), (columns_), (maximum_), (help_)}

static const Part parts[] = {
    PART(turn, TY_BLOCK_CATEGORY, 1, RANGE_PLAYERS, "whose turn it is, counted from the own seat"),
    PART(target, TY_BLOCK_CATEGORY, 1, TY_PLAYERS_MAX, "seat attacked, own seat 1, 0 for none"),
    PART(owing, TY_BLOCK_FLAG, 0, 1, "has to take a pawn off the train for blocking"),
    PART(supply, TY_BLOCK_COUNT, 0, RANGE_PAWNS, "pawns that have not come yet"),
    PART(seated, TY_BLOCK_COUNT, 0, RANGE_PAWNS, "pawns seated"),
    PART(wait, TY_BLOCK_CATEGORY, 0, WAIT_COUNT - 1, "what the pawn at a start space waits for"),
    PART(start, TY_BLOCK_CATEGORY, 0, CHICAGO_STARTS, "its start space"),
    PART(aisle, TY_BLOCK_CATEGORY, 0, RANGE_CELLS, "cell of the pawn in the aisle"),
    PART(tokens, TY_BLOCK_COUNT, 0, CHICAGO_TOKENS_MAX, "discard tokens"),
    PART(skip, TY_BLOCK_FLAG, 0, 1, "misses the next turn"),
    PART(blocked, TY_BLOCK_COUNT, 0, 100, "turns in a row without a way out"),
    PART(number_count, TY_BLOCK_COUNT, 0, CHICAGO_CARDS_MAX, "number cards in hand"),
    PART(action_count, TY_BLOCK_COUNT, 0, CHICAGO_CARDS_MAX, "action cards in hand"),
    PART(stolen, TY_BLOCK_CATEGORY, 0, CHICAGO_NUMBERS + CARD_COUNT,
         "card that each seat took from the own hand and is known to hold"),
    PART(numbers, TY_BLOCK_COUNT, CHICAGO_NUMBERS, CHICAGO_COPIES_MAX, "own number cards"),
    PART(actions, TY_BLOCK_COUNT, CARD_COUNT, CHICAGO_COPIES_MAX, "own action cards"),
    PART(unseen_numbers, TY_BLOCK_COUNT, CHICAGO_NUMBERS, CHICAGO_COPIES_MAX,
         "number cards in the pile or in other hands"),
    PART(unseen_actions, TY_BLOCK_COUNT, CARD_COUNT, CHICAGO_COPIES_MAX,
         "action cards in the pile or in other hands"),
    PART(pile_sizes, TY_BLOCK_COUNT, 2, CHICAGO_CARDS_MAX, "cards in the two piles"),
};

enum { PARTS = sizeof parts / sizeof parts[0] };

static uint16_t range_resolve(const ChicagoTables *tables, uint16_t maximum)
{
    switch (maximum) {
    case RANGE_CELLS:
        return (uint16_t)(CHICAGO_CARS * tables->cells);
    case RANGE_TILES:
        return (uint16_t)(tables->tile_count - 1);
    case RANGE_PLAYERS:
        return (uint16_t)(tables->player_count - 1);
    case RANGE_PAWNS:
        return tables->pawns;
    default:
        return maximum;
    }
}

static void block_add(TyRuleset *ruleset, TyBlock block, uint16_t *size)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    block.offset = *size;
    block.width = block.width == 0 ? 1 : block.width;
    block.maximum = range_resolve(tables, block.maximum);
    *size = (uint16_t)(*size + block.rows * block.columns * block.width);
    ruleset->row_blocks[ruleset->shape.row_block_count++] = block;
}

static void parts_add(TyRuleset *ruleset, ChicagoLayout *layout)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    for (uint32_t i = 0; i < PARTS; i++) {
        TyBlock block = {.name = parts[i].name,
                         .kind = parts[i].kind,
                         .rows = 1,
                         .columns = parts[i].columns != 0 ? parts[i].columns : tables->player_count,
                         .maximum = parts[i].maximum,
                         .help = parts[i].help};
        memcpy((uint8_t *)layout + parts[i].at, &layout->size, sizeof layout->size);
        block_add(ruleset, block, &layout->size);
    }
}

/* The parts whose size depends on the train. What comes behind them has at least as many bytes as
 * a car can have, which board_observe relies on. */
static void board_add(TyRuleset *ruleset, ChicagoLayout *layout)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    TyBlock turns = {.name = "turns",
                     .kind = TY_BLOCK_COUNT,
                     .rows = 1,
                     .columns = 1,
                     .maximum = tables->turn_cap,
                     .width = 2,
                     .help = "turns begun; the episode is cut at the maximum"};
    TyBlock sitting = {.name = "sitting",
                       .kind = TY_BLOCK_CATEGORY,
                       .rows = CHICAGO_CARS,
                       .columns = tables->cells,
                       .maximum = tables->player_count,
                       .help = "whose pawn sits in each cell"};
    TyBlock kind = sitting;
    kind.name = "kind";
    kind.maximum = 2;
    kind.help = "what each cell is";
    layout->kind = layout->size;
    block_add(ruleset, kind, &layout->size);
    layout->sitting = layout->size;
    block_add(ruleset, sitting, &layout->size);
    layout->turns = layout->size;
    block_add(ruleset, turns, &layout->size);
}

/* Behind the row, the privileged row has every hand. */
static void hands_add(TyRuleset *ruleset, ChicagoLayout *layout)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    TyBlock numbers = {.name = "all_numbers",
                       .kind = TY_BLOCK_COUNT,
                       .offset = layout->size,
                       .rows = tables->player_count,
                       .columns = CHICAGO_NUMBERS,
                       .maximum = CHICAGO_COPIES_MAX,
                       .width = 1,
                       .help = "number cards of every hand, own seat first"};
    TyBlock actions = numbers;
    layout->all_numbers = layout->size;
    layout->all_actions = (uint16_t)(layout->size + tables->player_count * CHICAGO_NUMBERS);
    layout->full_size = (uint16_t)(layout->all_actions + tables->player_count * CARD_COUNT);
    actions.name = "all_actions";
    actions.offset = layout->all_actions;
    actions.columns = CARD_COUNT;
    actions.help = "action cards of every hand, own seat first";
    TyShape *shape = &ruleset->shape;
    memcpy(ruleset->full_blocks, ruleset->row_blocks, sizeof ruleset->full_blocks);
    ruleset->full_blocks[shape->row_block_count] = numbers;
    ruleset->full_blocks[shape->row_block_count + 1] = actions;
    shape->full_block_count = shape->row_block_count + 2;
}

void chicago_shape(TyRuleset *ruleset)
{
    ChicagoTables *tables = ruleset->tables;
    ChicagoLayout *layout = &tables->layout;
    TyShape *shape = &ruleset->shape;
    shape->players = tables->player_count;
    shape->action_count = ACTION_CELLS + 2u * CHICAGO_CARS * tables->cells;
    shape->state_size = sizeof(ChicagoState);
    layout->size = 0;
    for (uint32_t i = 0; i < 256; i++) {
        tables->spread[i] = bits_spread(i);
    }
    for (uint32_t i = 0; i < sizeof public_blocks / sizeof public_blocks[0]; i++) {
        block_add(ruleset, public_blocks[i], &layout->size);
    }
    board_add(ruleset, layout);
    parts_add(ruleset, layout);
    hands_add(ruleset, layout);
    shape->row_size = layout->size;
    shape->full_size = layout->full_size;
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Cells are counted without gaps in rows; "plus one", with 0 for none. */
static uint8_t cell_dense(const ChicagoTables *tables, uint8_t cell)
{
    return (uint8_t)(cell > CHICAGO_CAR ? cell - CHICAGO_CAR + tables->cells : cell);
}

/* Pawns that are neither outside nor standing in the aisle. */
static uint8_t pawns_seated(const ChicagoTables *tables, const ChicagoState *state, uint8_t seat)
{
    bool standing = state->phase == PHASE_RESEAT && state->target == seat + 1;
    return (uint8_t)(tables->pawns - state->supply[seat] - (state->wait[seat] != WAIT_NONE) -
                     (state->aisle[seat] != 0) - (standing ? state->left : 0));
}

/* What everybody sees of the seat that sits `index` places behind the observer. */
static void seat_observe(const ChicagoTables *tables, const ChicagoState *state, uint32_t observer,
                         uint32_t index, uint8_t *row)
{
    const ChicagoLayout *at = &tables->layout;
    uint8_t seat = seat_after(tables, observer, index);
    row[at->owing + index] = state->owing >> seat & 1;
    row[at->supply + index] = state->supply[seat];
    row[at->seated + index] = pawns_seated(tables, state, seat);
    row[at->wait + index] = state->wait[seat];
    row[at->start + index] = state->start[seat];
    row[at->aisle + index] = cell_dense(tables, state->aisle[seat]);
    row[at->tokens + index] = state->tokens[seat];
    row[at->skip + index] = state->skip[seat];
    row[at->blocked + index] = state->blocked[seat];
    row[at->number_count + index] = (uint8_t)cards_count(state->numbers[seat], CHICAGO_NUMBERS);
    row[at->action_count + index] = (uint8_t)cards_count(state->actions[seat], CARD_COUNT);
    row[at->stolen + index] = state->stolen[observer][seat];
}

/* Writes the byte of each cell of a car: whose pawn sits there, the observer's being 1. */
static void car_observe(const ChicagoTables *tables, const ChicagoState *state, uint32_t observer,
                        uint32_t car, uint8_t *out)
{
    uint64_t bits[TY_PLAYERS_MAX] = {0};
    for (uint32_t i = 0; i < tables->player_count; i++) {
        bits[i] = state->seated[seat_after(tables, observer, i)].car[car];
    }
    for (uint32_t at = 0; at < CHICAGO_CELLS_MAX; at += 8) {
        uint64_t owners = tables->spread[bits[0] >> at & 0xff];
        owners += tables->spread[bits[1] >> at & 0xff] * 2;
        if (tables->player_count > 2) {
            owners += tables->spread[bits[2] >> at & 0xff] * 3;
            owners += tables->spread[bits[3] >> at & 0xff] * 4;
        }
        store_le64(out + at, owners);
    }
}

/* Copies of a fixed size are fast. What they write behind a part is overwritten by the next one, so
 * the board comes first, and in the order of the row. */
static void board_observe(const ChicagoTables *tables, const ChicagoState *state, uint32_t observer,
                          uint8_t *row)
{
    uint32_t cells = tables->cells;
    uint8_t *kind = row + tables->layout.kind;
    uint8_t *sitting = row + tables->layout.sitting;
    memcpy(kind, tables->kinds[state->tile[0]], CHICAGO_CELLS_MAX);
    memcpy(kind + cells, tables->kinds[state->tile[1]], CHICAGO_CELLS_MAX);
    car_observe(tables, state, observer, 0, sitting);
    car_observe(tables, state, observer, 1, sitting + cells);
    store_le16(row + tables->layout.turns, state->turns);
}

/* Unseen are the cards that are neither discarded nor in the own hand. */
static void cards_observe(const ChicagoTables *tables, const ChicagoState *state, uint32_t observer,
                          uint8_t *row)
{
    const ChicagoLayout *at = &tables->layout;
    const uint8_t *numbers = state->numbers[observer];
    const uint8_t *actions = state->actions[observer];
    memcpy(row + at->numbers, numbers, CHICAGO_NUMBERS);
    memcpy(row + at->actions, actions, CARD_COUNT);
    for (uint32_t i = 0; i < CHICAGO_NUMBERS; i++) {
        row[at->unseen_numbers + i] =
            (uint8_t)(tables->number_copies - numbers[i] - state->number_discard[i]);
    }
    for (uint32_t i = 0; i < CARD_COUNT; i++) {
        row[at->unseen_actions + i] =
            (uint8_t)(tables->copies[i] - actions[i] - state->action_discard[i]);
    }
    row[at->pile_sizes] = (uint8_t)cards_count(state->number_deck, CHICAGO_NUMBERS);
    row[at->pile_sizes + 1] = (uint8_t)cards_count(state->action_deck, CARD_COUNT);
}

static void hands_observe(const ChicagoTables *tables, const ChicagoState *state, uint32_t observer,
                          uint8_t *row)
{
    for (uint32_t i = 0; i < tables->player_count; i++) {
        uint8_t seat = seat_after(tables, observer, i);
        memcpy(row + tables->layout.all_numbers + i * CHICAGO_NUMBERS, state->numbers[seat],
               CHICAGO_NUMBERS);
        memcpy(row + tables->layout.all_actions + i * CARD_COUNT, state->actions[seat], CARD_COUNT);
    }
}

void chicago_observe(const TyRuleset *ruleset, const void *state_, uint32_t seat, bool full,
                     uint8_t *row)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    const ChicagoState *state = state_;
    const ChicagoLayout *at = &tables->layout;
    memcpy(row, &state->phase, CHICAGO_PUBLIC_SIZE);
    board_observe(tables, state, seat, row);
    uint8_t *picked = row + offsetof(ChicagoState, picked) - CHICAGO_PUBLIC_OFFSET;
    *picked = cell_dense(tables, *picked);
    row[at->turn] = seat_after(tables, state->active, tables->player_count - seat);
    row[at->target] =
        state->target == 0
            ? 0
            : (uint8_t)(seat_after(tables, state->target - 1u, tables->player_count - seat) + 1);
    for (uint32_t i = 0; i < tables->player_count; i++) {
        seat_observe(tables, state, seat, i, row);
    }
    cards_observe(tables, state, seat, row);
    if (full) {
        hands_observe(tables, state, seat, row);
    }
}
