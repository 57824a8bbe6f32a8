/* Ligne de train, Chicago: a race for seats for 2 to 4 players, with hidden hands.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "core/bytes.h"
#include "core/status.h"
#include "games/chicago/names.h"

#include <string.h>

extern const TyFile file_chicago_standard;
extern const TyFile file_chicago_howto;

static const char *const train_names[] = {"standard", NULL};
static const char *const tiles_names[] = {"fixed", "random", NULL};
static const char *const crowding_names[] = {"forbidden", "penalty", NULL};
static const char *const first_names[] = {"random", "seat0", NULL};
static const char *const cap_names[] = {"100", "200", "400", "1000", NULL};
static const uint16_t cap_values[] = {100, 200, 400, 1000};
static const char *const reward_names[] = {"win", "score", NULL};

enum {
    FIELD_TRAIN,
    FIELD_PLAYERS,
    FIELD_TILES,
    FIELD_CROWDING,
    FIELD_TURN_CAP,
    FIELD_FIRST_PLAYER,
    FIELD_REWARD,
};

static const TyField chicago_fields[] = {
    {"train", TY_FIELD_FILE, 0, 0, 0, train_names, true, "tiles and cards, or a train file"},
    {"players", TY_FIELD_INT, 2, 2, 4, NULL, true, "number of players"},
    {"tiles", TY_FIELD_CHOICE, 0, 0, 1, tiles_names, false,
     "the two tiles that the file names, or two of its tiles at random"},
    {"crowding", TY_FIELD_CHOICE, 0, 0, 1, crowding_names, false,
     "giving an opponent a second aisle pawn: forbidden, or at the price of this turn's seats"},
    {"turn_cap", TY_FIELD_CHOICE, 2, 0, 3, cap_names, false,
     "turns after which the episode is cut without a winner"},
    {"first_player", TY_FIELD_CHOICE, 0, 0, 1, first_names, false, "who begins"},
    {"reward", TY_FIELD_CHOICE, 0, 0, 1, reward_names, false,
     "+1/-1 at the end; or the margin of seated pawns over the best opponent"},
    {.key = NULL},
};

static const TyFile *const train_files[] = {&file_chicago_standard};

static const TyFileField chicago_files[] = {
    {"train", "chicago-train-1", "chicago train", train_files, NULL, 0, 0, 0},
};

static const char *const metric_names[] = {
    "turns",    "won_0",        "won_1",     "won_2",     "won_3",  "seated_0",
    "seated_1", "seated_2",     "seated_3",  "moves",     "missed", "cards_played",
    "rebels",   "tokens_spent", "penalties", "truncated", NULL,
};

static const TyStream chicago_streams[] = {
    [STREAM_NUMBERS] = {"numbers", &chicago_numbers},
    [STREAM_ACTIONS] = {"actions", &chicago_actions},
    [STREAM_SPINNER] = {"spinner", &chicago_doors},
    [STREAM_STOLEN_NUMBER] = {"stolen_number", &chicago_numbers},
    [STREAM_STOLEN_ACTION] = {"stolen_action", &chicago_actions},
    [STREAM_TILES] = {"tiles", &chicago_tiles},
    [STREAM_FIRST_PLAYER] = {"first_player", &chicago_seats},
    {.name = NULL},
};

/* The opponents are counted from the own seat. */
static const char *const beg_words[] = {"+1 number", "+1 action", "+2 number", "+2 action",
                                        "+3 number", "+3 action", NULL};
static const TyNames begs = {.words = beg_words};

static const TyActionForm chicago_forms[] = {
    [FORM_WAIT] = {.verb = "wait"},
    [FORM_END] = {.verb = "end", .help = "End the turn"},
    [FORM_SPIN] = {.verb = "spin",
                   .help = "Spin for the doors: if they open, the pawn may board; if not, the turn "
                           "is over and it boards next turn"},
    [FORM_ACCEPT] = {.verb = "rebel.no", .help = "Let it happen"},
    [FORM_REBEL] = {.verb = "rebel.yes", .help = "Cancel it with a Rebel Passenger"},
    [FORM_FROM] = {.verb = "from", .items = &chicago_sources, .help = "Seat a pawn"},
    [FORM_PLAY] = {.verb = "play", .items = &chicago_actions, .help = "Play an action card"},
    [FORM_LAY] = {.verb = "lay",
                  .items = &chicago_numbers,
                  .help = "Lay a number card, which begins the move: then say where to, or add a "
                          "second number"},
    [FORM_SWAP] = {.verb = "swap",
                   .items = &chicago_cards,
                   .help = "Spend a token to change a card for a new one; the question stays",
                   .brief = true,
                   .aside = true},
    [FORM_BEG] = {.verb = "beg", .items = &begs, .help = "Take a card, drawn by lot"},
    [FORM_PLACE] = {.verb = "place", .items = &chicago_starts, .help = "Place your next pawn"},
    [FORM_TO] = {.verb = "to", .items = &chicago_cells, .help = "Go to a cell", .brief = true},
    [FORM_PAWN] = {.verb = "pawn", .items = &chicago_cells, .help = "Choose a pawn", .brief = true},
    {.verb = NULL},
};

#define BYTES(member, maximum) TY_FIELD(ChicagoState, uint8_t, member, maximum)
#define COUNTER(member) TY_FIELD(ChicagoState, uint16_t, member, 0)

static const TyStateField chicago_state_fields[] = {
    TY_FIELD(ChicagoState, uint64_t, seated, 0),
    TY_FIELD(ChicagoState, uint64_t, gained, 0),
    COUNTER(turns),
    COUNTER(cards_played),
    COUNTER(moves),
    COUNTER(missed),
    COUNTER(rebels),
    COUNTER(tokens_spent),
    COUNTER(penalties),
    BYTES(numbers, CHICAGO_COPIES_MAX),
    BYTES(actions, CHICAGO_COPIES_MAX),
    BYTES(number_deck, CHICAGO_COPIES_MAX),
    BYTES(action_deck, CHICAGO_COPIES_MAX),
    BYTES(stolen, CHICAGO_NUMBERS + CARD_COUNT),
    BYTES(supply, CHICAGO_PAWNS_MAX),
    BYTES(wait, WAIT_COUNT - 1),
    BYTES(start, CHICAGO_STARTS),
    BYTES(aisle, CHICAGO_NODES),
    BYTES(tokens, CHICAGO_TOKENS_MAX),
    BYTES(skip, 1),
    BYTES(blocked, CHICAGO_BLOCKED_MAX),
    BYTES(active, TY_PLAYERS_MAX - 1),
    BYTES(winner, TY_PLAYERS_MAX),
    BYTES(target, TY_PLAYERS_MAX),
    BYTES(owing, (1 << TY_PLAYERS_MAX) - 1),
    BYTES(backward, 1),
    BYTES(tile, CHICAGO_TILES_MAX - 1),
    BYTES(passes, CHICAGO_PASSES_MAX),
    BYTES(bonus, CHICAGO_BONUS_MAX),
    BYTES(points, CHICAGO_LENGTH_MAX),
    BYTES(laid, 2),
    BYTES(colour, 2),
    BYTES(boarded, 1),
    BYTES(fresh, 1),
    BYTES(ending, 1),
    BYTES(rebelled, 1),
    BYTES(card, CARD_COUNT),
    BYTES(left, 2),
    BYTES(picked, CHICAGO_NODES),
    BYTES(source, 2),
    BYTES(pile, 1),
    BYTES(number_discard, CHICAGO_COPIES_MAX),
    BYTES(action_discard, CHICAGO_COPIES_MAX),
    BYTES(unused, 0),
    {.size = 0},
};

static TyStatus chicago_build(TyRuleset *ruleset)
{
    ChicagoTables *tables = ruleset->tables;
    const int32_t *config = ruleset->config;
    tables->player_count = (uint8_t)config[FIELD_PLAYERS];
    tables->pawns = tables->pawns_by_players[tables->player_count];
    tables->tiles_random = config[FIELD_TILES] == 1;
    tables->crowding_penalty = config[FIELD_CROWDING] == 1;
    tables->turn_cap = cap_values[config[FIELD_TURN_CAP]];
    tables->first_random = config[FIELD_FIRST_PLAYER] == 0;
    tables->score_reward = config[FIELD_REWARD] == 1;
    chicago_paths_make(tables);
    return ty_status_ok();
}

static void chicago_measure(const TyRuleset *ruleset, const void *state_, int32_t *metrics)
{
    (void)ruleset;
    const ChicagoState *state = state_;
    *metrics++ = state->turns;
    for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
        *metrics++ = state->winner == seat + 1;
    }
    for (uint32_t seat = 0; seat < TY_PLAYERS_MAX; seat++) {
        *metrics++ = (int32_t)cells_count(&state->seated[seat]);
    }
    const int32_t counts[] = {state->moves,         state->missed,       state->cards_played,
                              state->rebels,        state->tokens_spent, state->penalties,
                              state->head.truncated};
    memcpy(metrics, counts, sizeof counts);
}

const TyGame chicago_game = {
    .api = TY_GAME_API,
    .name = "chicago",
    .title = "Ligne de train, Chicago",
    .cooperative = false,
    .rules_version = 2,
    .learning = "reward=score",
    .howto = &file_chicago_howto,
    .board = &chicago_board,
    .fields = chicago_fields,
    .files = chicago_files,
    .file_count = 1,
    .phases = chicago_phase_words,
    .actions = chicago_forms,
    .blocks = chicago_blocks,
    .events = chicago_events,
    .streams = chicago_streams,
    .metrics = metric_names,
    .state_fields = chicago_state_fields,
    .state_size = sizeof(ChicagoState),
    .answer_words = CHICAGO_ANSWER_WORDS,
    .active_at = offsetof(ChicagoState, active),
    .tables_size = sizeof(ChicagoTables) + CHICAGO_PATHS_MAX * sizeof(ChicagoPath),
    .read = chicago_read,
    .build = chicago_build,
    .begin = chicago_begin,
    .apply = chicago_apply,
    .answers = chicago_answers,
    .observe = chicago_observe,
    .measure = chicago_measure,
    .check = chicago_check,
    .resample = chicago_resample,
    .text = chicago_text,
    .explain = chicago_explain,
    .state_json = chicago_state_json,
    .style = chicago_style,
    .draw_board = chicago_draw_board,
    .draw = chicago_draw,
};
