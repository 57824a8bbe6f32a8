/* Convoi Express: the observation row and its schema. */
#include "core/bytes.h"
#include "games/convoi/state.h"

#include <string.h>

/* A field of the public run of bytes: where it stands, and its range (0: depends on the board). */
typedef struct PublicField {
    const char *name;
    TyBlockKind kind;
    uint16_t offset;
    uint16_t rows;
    uint16_t columns;
    uint16_t maximum;
    const char *help;
} PublicField;

enum { RANGE_PLACES = 0, RANGE_LIGHTS = 1000, RANGE_JUNCTIONS, RANGE_CARDS, RANGE_PILE };

#define FIELD(member, kind_, rows_, columns_, maximum_, help_)                                     \
    {.name = #member,                                                                              \
     .kind = (kind_),                                                                              \
     .offset = (uint16_t)(offsetof(ConvoiState, member) - CONVOI_PUBLIC_OFFSET),                   \
     .rows = (rows_),                                                                              \
     .columns = (columns_),                                                                        \
     .maximum = (maximum_),                                                                        \
     .help = (help_)}

static const PublicField public_fields[] = {
    FIELD(phase, TY_BLOCK_CATEGORY, 1, 1, PHASE_COUNT - 1, "the question being asked"),
    FIELD(card, TY_BLOCK_CATEGORY, 1, 1, RANGE_CARDS, "instruction card being followed"),
    FIELD(symbol, TY_BLOCK_COUNT, 1, 1, 2 * CONVOI_SYMBOLS_MAX,
          "symbols of the card that are done"),
    FIELD(clock, TY_BLOCK_COUNT, 1, 1, 10, "time tokens on the clock"),
    FIELD(pile, TY_BLOCK_COUNT, 1, 1, RANGE_PILE, "instruction cards still to come"),
    FIELD(bottom, TY_BLOCK_CATEGORY, 1, 1, RANGE_CARDS, "card known to lie at the bottom"),
    FIELD(staff_used, TY_BLOCK_FLAG, 1, CONVOI_STAFF, 1, "staff that were used"),
    FIELD(crossing_on, TY_BLOCK_FLAG, 1, 1, 1, "trains may cross cities this turn"),
    FIELD(colour, TY_BLOCK_CATEGORY, 1, 1, CONVOI_COLOURS, "colour being placed or moved"),
    FIELD(named, TY_BLOCK_FLAG, 1, CONVOI_COLOURS, 1, "colours named for this card's symbols"),
    FIELD(moved, TY_BLOCK_FLAG, 1, CONVOI_TRAINS, 1, "trains moved or held by this card"),
    FIELD(train, TY_BLOCK_CATEGORY, 1, 1, CONVOI_TRAINS, "train moving or loading"),
    FIELD(roll, TY_BLOCK_COUNT, 1, 1, 5, "its roll"),
    FIELD(points, TY_BLOCK_COUNT, 1, 1, 5, "points left to move"),
    FIELD(entry, TY_BLOCK_CATEGORY, 1, 1, RANGE_LIGHTS, "light by which it entered the city"),
    FIELD(act, TY_BLOCK_CATEGORY, 1, 1, 4, "action being prepared"),
    FIELD(from, TY_BLOCK_CATEGORY, 1, 1, RANGE_LIGHTS, "light that gives its disc"),
    FIELD(to, TY_BLOCK_CATEGORY, 1, 1, RANGE_LIGHTS, "light that gets it"),
    FIELD(junction, TY_BLOCK_CATEGORY, 1, 1, RANGE_JUNCTIONS, "junction that is set"),
    FIELD(junction_setting, TY_BLOCK_CATEGORY, 1, 1, 5, "setting that it gets"),
    FIELD(deck, TY_BLOCK_COUNT, 1, CONVOI_KINDS, 27,
          "action cards of each kind that are in the deck or in a hand that is hidden"),
    FIELD(discard, TY_BLOCK_COUNT, 1, CONVOI_KINDS, 27, "action cards in the discard pile"),
    FIELD(place, TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, RANGE_PLACES, "where each train is"),
    FIELD(heading, TY_BLOCK_FLAG, 1, CONVOI_TRAINS, 1, "1: towards the a end of its segment"),
    FIELD(cargo, TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, CONVOI_GOODS, "what each train carries"),
};

enum { PUBLIC_FIELDS = sizeof public_fields / sizeof public_fields[0] };

enum { HINT_BLOCKS = 8 };

static void row_lay_out(ConvoiTables *tables)
{
    uint32_t tokens = tables->starts == STARTS_DICE ? 0 : CONVOI_NUMBERS;
    tables->row.goods = (uint16_t)CONVOI_PUBLIC_SIZE;
    tables->row.delivered = (uint16_t)(tables->row.goods + tables->city_count);
    tables->row.setting = (uint16_t)(tables->row.delivered + tables->port_count * CONVOI_GOODS);
    tables->row.seen = (uint16_t)(tables->row.setting + tables->junction_count);
    tables->row.tokens = (uint16_t)(tables->row.seen + tables->card_count);
    tables->row.green = (uint16_t)(tables->row.tokens + tokens);
    tables->row.hand = (uint16_t)(tables->row.green + tables->light_count);
    tables->row.hand_size = (uint16_t)(tables->row.hand + tables->player_count * CONVOI_KINDS);
    tables->row.turn = (uint16_t)(tables->row.hand_size + tables->player_count);
    tables->row.hints = (uint16_t)(tables->row.turn + 1);
    tables->row.size =
        (uint16_t)(tables->row.hints + (tables->hints ? HINT_BLOCKS * CONVOI_TRAINS : 0));
}

static uint16_t range_resolve(const ConvoiTables *tables, const PublicField *field)
{
    switch (field->maximum) {
    case RANGE_PLACES:
        return (uint16_t)(tables->space_count + tables->city_count + tables->start_count);
    case RANGE_LIGHTS:
        return tables->light_count;
    case RANGE_JUNCTIONS:
        return tables->junction_count;
    case RANGE_CARDS:
        return (uint16_t)(CARD_BASE + tables->card_count - 1);
    case RANGE_PILE:
        return tables->card_count;
    default:
        return field->maximum;
    }
}

static void block_add(TyRuleset *ruleset, TyBlock block, uint32_t offset)
{
    block.offset = (uint16_t)offset;
    block.width = 1;
    ruleset->row_blocks[ruleset->shape.row_block_count++] = block;
}

static void public_blocks_add(TyRuleset *ruleset, const ConvoiTables *tables)
{
    for (uint32_t i = 0; i < PUBLIC_FIELDS; i++) {
        const PublicField *field = &public_fields[i];
        block_add(ruleset,
                  (TyBlock){.name = field->name,
                            .kind = field->kind,
                            .rows = field->rows,
                            .columns = field->columns,
                            .maximum = range_resolve(tables, field),
                            .help = field->help},
                  field->offset);
    }
}

static void token_block_add(TyRuleset *ruleset, const ConvoiTables *tables, uint32_t offset)
{
    bool shuffled = tables->starts == STARTS_SHUFFLED;
    if (tables->starts != STARTS_DICE) {
        block_add(ruleset,
                  (TyBlock){.name = shuffled ? "number_start" : "token_spent",
                            .kind = shuffled ? TY_BLOCK_CATEGORY : TY_BLOCK_FLAG,
                            .rows = 1,
                            .columns = CONVOI_NUMBERS,
                            .maximum = (uint16_t)(shuffled ? tables->start_count - 1 : 1),
                            .help = shuffled ? "start that carries each number"
                                             : "start tokens gone from the stack"},
                  offset);
    }
}

/* `maximum` of a block of counts or categories on `columns` things. */
static TyBlock block_of(const char *name, TyBlockKind kind, uint32_t rows, uint32_t columns,
                        uint32_t maximum, const char *help)
{
    return (TyBlock){.name = name,
                     .kind = kind,
                     .rows = (uint16_t)rows,
                     .columns = (uint16_t)columns,
                     .maximum = (uint16_t)maximum,
                     .help = help};
}

/* What lies ahead of each train and on its way: blocks of a byte per train. */
static void hint_blocks_add(TyRuleset *ruleset, const ConvoiTables *tables)
{
    const TyBlock blocks[HINT_BLOCKS] = {
        block_of("run", TY_BLOCK_COUNT, 1, CONVOI_TRAINS, 5, "points that each train could use"),
        block_of("obstacle", TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, HINT_CITY, "what stops it then"),
        block_of("obstacle_light", TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, tables->light_count,
                 "the red light that does"),
        block_of("obstacle_junction", TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, tables->junction_count,
                 "the closed switch that does"),
        block_of("way_cost", TY_BLOCK_COUNT, 1, CONVOI_TRAINS, WAY_COST_MAX,
                 "what the way to a city that it wants costs"),
        block_of("way_exit", TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, tables->city_light_count,
                 "the exit by which that way leaves its city"),
        block_of("way_light", TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, tables->light_count,
                 "the first red light on it"),
        block_of("way_switch", TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, tables->setting_count,
                 "the setting that its first closed switch needs"),
    };
    for (uint32_t i = 0; tables->hints && i < HINT_BLOCKS; i++) {
        block_add(ruleset, blocks[i], tables->row.hints + i * CONVOI_TRAINS);
    }
}

static void hints_observe(const ConvoiTables *tables, const ConvoiState *state, uint8_t *out)
{
    Hint hints[CONVOI_TRAINS];
    Way ways[CONVOI_TRAINS];
    hints_compute(tables, state, hints);
    ways_compute(tables, state, true, ways);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        const Hint *hint = &hints[train];
        const Way *way = &ways[train];
        const uint8_t bytes[HINT_BLOCKS] = {hint->run, hint->obstacle, hint->light, hint->junction,
                                            way->cost, way->exit,      way->light,  way->setting};
        for (uint32_t i = 0; i < HINT_BLOCKS; i++) {
            out[i * CONVOI_TRAINS + train] = bytes[i];
        }
    }
}

void convoi_shape(TyRuleset *ruleset)
{
    ConvoiTables *tables = ruleset->tables;
    TyShape *shape = &ruleset->shape;
    row_lay_out(tables);
    shape->players = tables->player_count;
    shape->action_count = (uint32_t)(ACTION_LIGHTS + 2 * tables->light_count +
                                     tables->city_light_count + tables->setting_count);
    shape->state_size = sizeof(ConvoiState);
    shape->row_size = tables->row.size;
    public_blocks_add(ruleset, tables);
    block_add(ruleset,
              block_of("goods", TY_BLOCK_COUNT, 1, tables->city_count, 3, "goods in each city"),
              tables->row.goods);
    block_add(ruleset,
              block_of("delivered", TY_BLOCK_COUNT, tables->port_count, CONVOI_GOODS, 4,
                       "goods in each port by colour"),
              tables->row.delivered);
    block_add(ruleset,
              block_of("setting", TY_BLOCK_CATEGORY, 1, tables->junction_count, 5,
                       "which two legs of each junction are open"),
              tables->row.setting);
    block_add(ruleset,
              block_of("seen", TY_BLOCK_FLAG, 1, tables->card_count, 1,
                       "instruction cards that were revealed"),
              tables->row.seen);
    token_block_add(ruleset, tables, tables->row.tokens);
    block_add(ruleset,
              block_of("green", TY_BLOCK_FLAG, 1, tables->light_count, 1, "lights that are green"),
              tables->row.green);
    block_add(ruleset,
              block_of("hand", TY_BLOCK_COUNT, tables->player_count, CONVOI_KINDS, CONVOI_HAND_MAX,
                       "action cards in hand by kind, own seat first; 0 where hidden"),
              tables->row.hand);
    block_add(ruleset,
              block_of("hand_size", TY_BLOCK_COUNT, 1, tables->player_count, CONVOI_HAND_MAX,
                       "action cards in hand, own seat first"),
              tables->row.hand_size);
    block_add(ruleset,
              block_of("turn", TY_BLOCK_CATEGORY, 1, 1, tables->player_count - 1u,
                       "whose turn it is, counted from the own seat"),
              tables->row.turn);
    hint_blocks_add(ruleset, tables);
    shape->full_size = shape->row_size;
    shape->full_block_count = shape->row_block_count;
    memcpy(ruleset->full_blocks, ruleset->row_blocks, sizeof ruleset->full_blocks);
}

/* The hands, own seat first. A hidden hand shows its size; its cards count as unseen. */
static void hands_observe(const ConvoiTables *tables, const ConvoiState *state, uint32_t seat,
                          bool full, uint8_t *row)
{
    uint8_t *unseen = row + offsetof(ConvoiState, deck) - CONVOI_PUBLIC_OFFSET;
    uint8_t *shown = row + tables->row.hand;
    bool hide = tables->hands_hidden && !full;
    for (uint32_t i = 0; i < tables->player_count; i++) {
        const uint8_t *hand = state->hand[seat];
        bool hidden = hide && i > 0;
        for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
            *shown++ = hidden ? 0 : hand[kind];
            unseen[kind] = (uint8_t)(unseen[kind] + (hidden ? hand[kind] : 0));
        }
        row[tables->row.hand_size + i] = hand_size(hand);
        seat = seat + 1 == tables->player_count ? 0 : seat + 1;
    }
}

void convoi_observe(const TyRuleset *ruleset, const void *state_, uint32_t seat, bool full,
                    uint8_t *row)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    memcpy(row, &state->phase, CONVOI_PUBLIC_SIZE);
    copy_small(row + tables->row.goods, state->goods, tables->city_count);
    copy_small(row + tables->row.delivered, state->delivered[0],
               (size_t)tables->port_count * CONVOI_GOODS);
    copy_small(row + tables->row.setting, state->setting, tables->junction_count);
    copy_small(row + tables->row.seen, state->seen, tables->card_count);
    if (tables->starts != STARTS_DICE) {
        copy_small(row + tables->row.tokens,
                   tables->starts == STARTS_SHUFFLED ? state->number_start : state->token_spent,
                   CONVOI_NUMBERS);
    }
    bits_expand(state->green, tables->light_count, row + tables->row.green);
    hands_observe(tables, state, seat, full, row);
    row[tables->row.turn] =
        (uint8_t)(state->active >= seat ? state->active - seat
                                        : state->active + tables->player_count - seat);
    if (tables->hints) {
        hints_observe(tables, state, row + tables->row.hints);
    }
}
