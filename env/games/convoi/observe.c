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

enum { RANGE_PLACES = 0, RANGE_LIGHTS = 1000, RANGE_CARDS, RANGE_PILE };

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
    FIELD(target, TY_BLOCK_CATEGORY, 1, 1, CONVOI_LIGHTS_MAX, "light or junction it is for"),
    FIELD(target_setting, TY_BLOCK_CATEGORY, 1, 1, 5, "setting that the junction gets"),
    FIELD(deck, TY_BLOCK_COUNT, 1, CONVOI_KINDS, 27,
          "action cards of each kind that are in the deck or in a hand that is hidden"),
    FIELD(discard, TY_BLOCK_COUNT, 1, CONVOI_KINDS, 27, "action cards in the discard pile"),
    FIELD(place, TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, RANGE_PLACES, "where each train is"),
    FIELD(heading, TY_BLOCK_FLAG, 1, CONVOI_TRAINS, 1, "1: towards the a end of its segment"),
    FIELD(cargo, TY_BLOCK_CATEGORY, 1, CONVOI_TRAINS, CONVOI_GOODS, "what each train carries"),
};

enum { PUBLIC_FIELDS = sizeof public_fields / sizeof public_fields[0] };

/* Offsets of the parts behind the public run, in row order. */
typedef struct RowLayout {
    uint32_t goods;
    uint32_t delivered;
    uint32_t setting;
    uint32_t seen;
    uint32_t tokens;
    uint32_t green;
    uint32_t hand;
    uint32_t hand_size;
    uint32_t turn;
    uint32_t size;
} RowLayout;

static RowLayout row_layout(const ConvoiTables *tables)
{
    RowLayout layout = {.goods = (uint32_t)CONVOI_PUBLIC_SIZE};
    layout.delivered = layout.goods + tables->city_count;
    layout.setting = layout.delivered + (uint32_t)tables->port_count * CONVOI_GOODS;
    layout.seen = layout.setting + tables->junction_count;
    layout.tokens = layout.seen + tables->card_count;
    layout.green = layout.tokens + (tables->starts == STARTS_DICE ? 0 : CONVOI_NUMBERS);
    layout.hand = layout.green + tables->light_count;
    layout.hand_size = layout.hand + (uint32_t)tables->player_count * CONVOI_KINDS;
    layout.turn = layout.hand_size + tables->player_count;
    layout.size = layout.turn + 1;
    return layout;
}

static uint16_t range_resolve(const ConvoiTables *tables, const PublicField *field)
{
    switch (field->maximum) {
    case RANGE_PLACES:
        return (uint16_t)(tables->space_count + tables->city_count + tables->start_count);
    case RANGE_LIGHTS:
        return tables->light_count;
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

void convoi_shape(TyRuleset *ruleset)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    TyShape *shape = &ruleset->shape;
    RowLayout at = row_layout(tables);
    shape->players = tables->player_count;
    shape->action_count = (uint32_t)(ACTION_LIGHTS + 2 * tables->light_count +
                                     tables->city_light_count + tables->setting_count);
    shape->state_size = sizeof(ConvoiState);
    shape->row_size = at.size;
    public_blocks_add(ruleset, tables);
    block_add(ruleset,
              block_of("goods", TY_BLOCK_COUNT, 1, tables->city_count, 3, "goods in each city"),
              at.goods);
    block_add(ruleset,
              block_of("delivered", TY_BLOCK_COUNT, tables->port_count, CONVOI_GOODS, 4,
                       "goods in each port by colour"),
              at.delivered);
    block_add(ruleset,
              block_of("setting", TY_BLOCK_CATEGORY, 1, tables->junction_count, 5,
                       "which two legs of each junction are open"),
              at.setting);
    block_add(ruleset,
              block_of("seen", TY_BLOCK_FLAG, 1, tables->card_count, 1,
                       "instruction cards that were revealed"),
              at.seen);
    token_block_add(ruleset, tables, at.tokens);
    block_add(ruleset,
              block_of("green", TY_BLOCK_FLAG, 1, tables->light_count, 1, "lights that are green"),
              at.green);
    block_add(ruleset,
              block_of("hand", TY_BLOCK_COUNT, tables->player_count, CONVOI_KINDS, CONVOI_HAND_MAX,
                       "action cards in hand by kind, own seat first; 0 where hidden"),
              at.hand);
    block_add(ruleset,
              block_of("hand_size", TY_BLOCK_COUNT, 1, tables->player_count, CONVOI_HAND_MAX,
                       "action cards in hand, own seat first"),
              at.hand_size);
    block_add(ruleset,
              block_of("turn", TY_BLOCK_CATEGORY, 1, 1, tables->player_count - 1u,
                       "whose turn it is, counted from the own seat"),
              at.turn);
    shape->full_size = shape->row_size;
    shape->full_block_count = shape->row_block_count;
    memcpy(ruleset->full_blocks, ruleset->row_blocks, sizeof ruleset->full_blocks);
}

/* The hands, own seat first. A hidden hand shows its size; its cards count as unseen. */
static void hands_observe(const ConvoiTables *tables, const ConvoiState *state, uint32_t seat,
                          bool full, const RowLayout *at, uint8_t *row)
{
    uint8_t *unseen = row + offsetof(ConvoiState, deck) - CONVOI_PUBLIC_OFFSET;
    for (uint32_t i = 0; i < tables->player_count; i++) {
        uint32_t owner =
            seat + i < tables->player_count ? seat + i : seat + i - tables->player_count;
        const uint8_t *hand = state->hand[owner];
        uint8_t *shown = row + at->hand + CONVOI_KINDS * i;
        bool hidden = tables->hands_hidden && !full && i > 0;
        for (uint32_t kind = 0; kind < CONVOI_KINDS; kind++) {
            shown[kind] = hidden ? 0 : hand[kind];
            unseen[kind] = (uint8_t)(unseen[kind] + (hidden ? hand[kind] : 0));
        }
        row[at->hand_size + i] = hand_size(hand);
    }
}

void convoi_observe(const TyRuleset *ruleset, const void *state_, uint32_t seat, bool full,
                    uint8_t *row)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    RowLayout at = row_layout(tables);
    memcpy(row, &state->phase, CONVOI_PUBLIC_SIZE);
    memcpy(row + at.goods, state->goods, tables->city_count);
    memcpy(row + at.delivered, state->delivered, (size_t)tables->port_count * CONVOI_GOODS);
    memcpy(row + at.setting, state->setting, tables->junction_count);
    memcpy(row + at.seen, state->seen, tables->card_count);
    if (tables->starts != STARTS_DICE) {
        memcpy(row + at.tokens,
               tables->starts == STARTS_SHUFFLED ? state->number_start : state->token_spent,
               CONVOI_NUMBERS);
    }
    bits_expand(state->green, tables->light_count, row + at.green);
    hands_observe(tables, state, seat, full, &at, row);
    row[at.turn] = (uint8_t)(state->active >= seat ? state->active - seat
                                                   : state->active + tables->player_count - seat);
}
