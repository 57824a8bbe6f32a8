/* Convoi Express: the observation row. */
#include "core/wide.h"
#include "games/convoi/state.h"

#include <string.h>

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static uint32_t pile_maximum(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->card_count;
}

static bool shows_board(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->show_board;
}

static bool starts_told(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->starts == STARTS_SHUFFLED || shows_board(ruleset);
}

static bool starts_drawn(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->starts == STARTS_DRAWN;
}

static bool has_hints(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->hints;
}

#define CATEGORY(name_, list, help_)                                                               \
    .name = (name_), .kind = TY_BLOCK_CATEGORY, .values = &convoi_##list, .help = (help_)
#define OPTIONAL(name_, list, help_) CATEGORY(name_, list, help_), .optional = true
#define COUNT(name_, maximum_, help_)                                                              \
    .name = (name_), .kind = TY_BLOCK_COUNT, .maximum = (maximum_), .help = (help_)
#define FLAG(name_, help_) .name = (name_), .kind = TY_BLOCK_FLAG, .help = (help_)
#define OF(list) .columns = &convoi_##list
#define HINT OF(trains), .when = has_hints
#define BOARD .when = shows_board

const TyBlockForm convoi_blocks[] = {
    [BLOCK_PHASE] = {CATEGORY("phase", phases, "the question being asked")},
    [BLOCK_CARD] = {CATEGORY("card", cards, "instruction card being followed")},
    [BLOCK_SYMBOL] = {COUNT("symbol", 2 * CONVOI_SYMBOLS_MAX, "symbols of the card that are done")},
    [BLOCK_CLOCK] = {COUNT("clock", 10, "time tokens on the clock")},
    [BLOCK_PILE] = {COUNT("pile", 0, "instruction cards still to come"),
                    .maximum_of = pile_maximum},
    [BLOCK_BOTTOM] = {CATEGORY("bottom", cards, "card known to lie at the bottom")},
    [BLOCK_STAFF_USED] = {FLAG("staff_used", "staff that were used"), OF(staff)},
    [BLOCK_CROSSING_ON] = {FLAG("crossing_on", "trains may cross cities this turn")},
    [BLOCK_COLOUR] = {OPTIONAL("colour", colours, "colour being placed or moved")},
    [BLOCK_NAMED] = {FLAG("named", "colours named for this card's symbols"), OF(colours)},
    [BLOCK_MOVED] = {FLAG("moved", "trains moved or held by this card"), OF(trains)},
    [BLOCK_TRAIN] = {OPTIONAL("train", trains, "train moving or loading")},
    [BLOCK_ROLL] = {COUNT("roll", DIE_MAX, "its roll")},
    [BLOCK_POINTS] = {COUNT("points", DIE_MAX, "points left to move")},
    [BLOCK_ENTRY] = {OPTIONAL("entry", lights, "light by which it entered the city")},
    [BLOCK_ACT] = {OPTIONAL("act", acts, "action being prepared")},
    [BLOCK_FROM] = {OPTIONAL("from", lights, "light that gives its disc")},
    [BLOCK_TO] = {OPTIONAL("to", lights, "light that gets it")},
    [BLOCK_JUNCTION] = {OPTIONAL("junction", junctions, "junction that is set")},
    [BLOCK_JUNCTION_SETTING] = {CATEGORY("junction_setting", setting, "setting that it gets")},
    [BLOCK_DECK] = {COUNT("deck", 27,
                          "action cards of each kind that are in the deck or in a hand that is "
                          "hidden"),
                    OF(kinds)},
    [BLOCK_DISCARD] = {COUNT("discard", 27, "action cards in the discard pile"), OF(kinds)},
    [BLOCK_PLACE] = {OPTIONAL("place", places, "where each train is"), OF(trains)},
    [BLOCK_HEADING] = {FLAG("heading", "1: towards the a end of its segment"), OF(trains)},
    [BLOCK_CARGO] = {OPTIONAL("cargo", goods, "what each train carries"), OF(trains)},
    [BLOCK_GOODS] = {COUNT("goods", 3, "goods in each city"), OF(cities)},
    [BLOCK_DELIVERED] = {COUNT("delivered", 4, "goods in each port by colour"),
                         .rows = &convoi_ports, OF(goods)},
    [BLOCK_SETTING] = {CATEGORY("setting", setting, "which two legs of each junction are open"),
                       OF(junctions)},
    [BLOCK_SEEN] = {FLAG("seen", "instruction cards that were revealed"), OF(deck_cards)},
    [BLOCK_NUMBER_START] = {CATEGORY("number_start", starts, "start that carries each number"),
                            OF(numbers), .when = starts_told},
    [BLOCK_TOKEN_SPENT] = {FLAG("token_spent", "start tokens gone from the stack"), OF(numbers),
                           .when = starts_drawn},
    [BLOCK_FIRST_TOKEN] = {OPTIONAL("first_token", numbers,
                                    "start token that lies open for each train of the first card"),
                           OF(first_trains), .when = starts_drawn},
    [BLOCK_GREEN] = {FLAG("green", "lights that are green"), OF(lights)},
    [BLOCK_HAND] = {COUNT("hand", CONVOI_HAND_MAX,
                          "action cards in hand by kind, own seat first; 0 where hidden"),
                    .rows = &ty_seats, OF(kinds)},
    [BLOCK_HAND_SIZE] = {COUNT("hand_size", CONVOI_HAND_MAX,
                               "action cards in hand, own seat first"),
                         .columns = &ty_seats},
    [BLOCK_TURN] = {.name = "turn",
                    .kind = TY_BLOCK_CATEGORY,
                    .values = &ty_seats,
                    .help = "whose turn it is, counted from the own seat"},
    [BLOCK_LINE] = {CATEGORY("line", line_ends, "the places at the ends of each line of track"),
                    .rows = &convoi_segments, OF(line_sides), BOARD},
    [BLOCK_LINE_SPACES] = {COUNT("line_spaces", CONVOI_SPACES_TOLD, "spaces of each line"),
                           OF(segments), BOARD},
    [BLOCK_LIGHT_LINE] = {CATEGORY("light_line", segments, "the line on which each light is"),
                          OF(lights), BOARD},
    [BLOCK_LIGHT_GAP] = {COUNT("light_gap", CONVOI_SPACES_TOLD,
                               "spaces of its line between a and each light"),
                         OF(lights), BOARD},
    [BLOCK_HOME] = {OPTIONAL("home", goods, "the goods of each city; a port has none"), OF(cities),
                    BOARD},
    [BLOCK_RUN] = {COUNT("run", DIE_MAX, "points that each train could use"), HINT},
    {OPTIONAL("obstacle", obstacles, "what stops it then"), HINT},
    {OPTIONAL("obstacle_light", lights, "the red light that does"), HINT},
    {OPTIONAL("obstacle_junction", junctions, "the closed switch that does"), HINT},
    {COUNT("way_cost", WAY_COST_MAX, "what the way to a city that it wants costs"), HINT},
    {OPTIONAL("way_exit", exits, "the exit by which that way leaves its city"), HINT},
    {OPTIONAL("way_light", lights, "the first red light on it"), HINT},
    {OPTIONAL("way_switch", settings, "the setting that its first closed switch needs"), HINT},
    {.name = NULL},
};

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Writes the block of the lights, and 0 into what of 64 bytes lies before it: all at once is
 * quicker than so many in pieces. Those bytes, which follow the public run, are written afterwards.
 */
_Static_assert(1 + CONVOI_PUBLIC_SIZE >= 64, "so many bytes of the row come before the lights");
static void lights_observe(uint64_t green, uint32_t count, uint8_t *block)
{
    bits_expand_64(green << (64 - count) % 64, block + count - 64);
}

/* The hands, own seat first. A hidden hand shows its size; its cards count as unseen. */
static void hands_observe(const TyRuleset *ruleset, const ConvoiState *state, uint32_t seat,
                          bool full, uint8_t *row)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint8_t *unseen = row + ruleset->block_at[BLOCK_DECK];
    uint8_t *shown = row + ruleset->block_at[BLOCK_HAND];
    uint8_t *sizes = row + ruleset->block_at[BLOCK_HAND_SIZE];
    uint32_t players = tables->player_count;
    for (uint32_t i = 0; i < players; i++) {
        const uint8_t *hand = state->hand[seat + i < players ? seat + i : seat + i - players];
        memcpy(shown + (size_t)i * CONVOI_KINDS, hand, CONVOI_KINDS);
        sizes[i] = hand_size(hand);
    }
    if (!tables->hands_hidden || full) {
        return;
    }
    for (uint32_t i = CONVOI_KINDS; i < players * CONVOI_KINDS; i++) {
        unseen[i % CONVOI_KINDS] = (uint8_t)(unseen[i % CONVOI_KINDS] + shown[i]);
        shown[i] = 0;
    }
}

void convoi_observe(const TyRuleset *ruleset, const void *state_, uint32_t seat, bool full,
                    uint8_t *row)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    const ConvoiState *state = state_;
    const uint16_t *at = ruleset->block_at;
    lights_observe(state->green, tables->light_count, row + at[BLOCK_GREEN]);
    row[0] = state->head.phase;
    memcpy(row + 1, &state->card, CONVOI_PUBLIC_SIZE);
    copy_small(row + at[BLOCK_GOODS], state->goods, tables->city_count);
    copy_small(row + at[BLOCK_DELIVERED], state->delivered[0],
               (size_t)tables->port_count * CONVOI_GOODS);
    copy_small(row + at[BLOCK_SETTING], state->setting, tables->junction_count);
    copy_small(row + at[BLOCK_SEEN], state->seen, tables->card_count);
    if (tables->starts == STARTS_SHUFFLED || tables->show_board) {
        copy_small(row + at[BLOCK_NUMBER_START], state->number_start, CONVOI_NUMBERS);
    }
    if (tables->starts == STARTS_DRAWN) {
        copy_small(row + at[BLOCK_TOKEN_SPENT], state->token_spent, CONVOI_NUMBERS);
        copy_small(row + at[BLOCK_FIRST_TOKEN], state->first_token, CONVOI_SYMBOLS_MAX);
    }
    hands_observe(ruleset, state, seat, full, row);
    row[at[BLOCK_TURN]] =
        (uint8_t)(state->active >= seat ? state->active - seat
                                        : state->active + tables->player_count - seat);
    if (tables->show_board) {
        memcpy(row + at[BLOCK_LINE], tables->board_row, tables->board_row_size);
    }
    if (tables->hints) {
        memcpy(row + at[BLOCK_RUN], state->hints, sizeof state->hints);
    }
}
