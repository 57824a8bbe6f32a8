/* Ligne de train, Chicago: a race for seats for 2 to 4 players, with hidden hands.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "core/status.h"
#include "games/chicago/state.h"

#include <string.h>

extern const TyFile file_chicago_standard;

static const char *const train_names[] = {"standard", NULL};
static const char *const tiles_names[] = {"fixed", "random", NULL};
static const char *const crowding_names[] = {"forbidden", "penalty", NULL};
static const char *const first_names[] = {"random", "seat0", NULL};
static const char *const cap_names[] = {"100", "200", "400", "1000", NULL};
static const uint16_t cap_values[] = {100, 200, 400, 1000};
static const char *const reward_names[] = {"win", "score", NULL};
static const char *const chance_names[] = {"rng", "seat", NULL};

enum {
    FIELD_TRAIN,
    FIELD_PLAYERS,
    FIELD_TILES,
    FIELD_CROWDING,
    FIELD_TURN_CAP,
    FIELD_FIRST_PLAYER,
    FIELD_REWARD,
    FIELD_ASK_FORCED,
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
    {"ask_forced", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "ask questions with a single answer too"},
    {"chance", TY_FIELD_CHOICE, 0, 0, 1, chance_names, false,
     "chance by the generator, or by a seat of its own"},
    {.key = NULL},
};

static const TyFile *const train_files[] = {&file_chicago_standard};

static const TyFileField chicago_files[] = {
    {"train", "chicago-train-1", "chicago train", train_files},
};

static const char *const metric_names[] = {
    "turns",    "won_0",        "won_1",     "won_2",     "won_3",  "seated_0",
    "seated_1", "seated_2",     "seated_3",  "moves",     "missed", "cards_played",
    "rebels",   "tokens_spent", "penalties", "truncated", NULL,
};

static const char *const stream_names[] = {
    "numbers",       "actions", "spinner",      "stolen_number",
    "stolen_action", "tiles",   "first_player", NULL,
};

static TyStatus chicago_file_check(uint32_t file, const Doc *doc)
{
    (void)file;
    ChicagoTables tables = {.tile_count = 0};
    return chicago_file_read(doc, &tables);
}

static void tables_configure(ChicagoTables *tables, const int32_t *config)
{
    tables->player_count = (uint8_t)config[FIELD_PLAYERS];
    tables->pawns = tables->pawns_by_players[tables->player_count];
    tables->tiles_random = config[FIELD_TILES] == 1;
    tables->crowding_penalty = config[FIELD_CROWDING] == 1;
    tables->turn_cap = cap_values[config[FIELD_TURN_CAP]];
    tables->first_random = config[FIELD_FIRST_PLAYER] == 0;
    tables->score_reward = config[FIELD_REWARD] == 1;
    tables->ask_forced = config[FIELD_ASK_FORCED] != 0;
}

/* What users are told of a file that is not the printed one. */
static void note_write(TyRuleset *ruleset, const Doc *doc)
{
    const DocNode *status = doc_get(doc, &doc->nodes[0], "status");
    const DocNode *name = doc_get(doc, &doc->nodes[0], "name");
    Text note = text_init(ruleset->note, sizeof ruleset->note);
    if (status != NULL) {
        text_add(&note, "train %s: %s", name->text, status->text);
    }
}

static TyStatus chicago_build(TyRuleset *ruleset, const Doc *const *docs)
{
    ChicagoTables *tables = ruleset->tables;
    TyStatus status = chicago_file_read(docs[0], tables);
    if (status.code == TY_OK) {
        tables_configure(tables, ruleset->config);
        chicago_paths_make(tables);
        chicago_shape(ruleset);
        note_write(ruleset, docs[0]);
    }
    return status;
}

/* The most pawns that an opponent of `seat` has seated. */
static int32_t best_opponent(const ChicagoTables *tables, const ChicagoState *state, uint32_t seat)
{
    int32_t best = 0;
    for (uint32_t other = 0; other < tables->player_count; other++) {
        int32_t seated = (int32_t)cells_count(&state->seated[other]);
        best = other != seat && seated > best ? seated : best;
    }
    return best;
}

void chicago_reward(const ChicagoTables *tables, const ChicagoState *state, int32_t *reward)
{
    for (uint32_t seat = 0; seat < tables->player_count; seat++) {
        if (tables->score_reward) {
            int32_t seated = (int32_t)cells_count(&state->seated[seat]);
            reward[seat] += (seated - best_opponent(tables, state, seat)) * TY_REWARD_ONE;
        } else if (state->winner != 0) {
            reward[seat] += state->winner == seat + 1 ? TY_REWARD_ONE : -TY_REWARD_ONE;
        }
    }
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
    .name = "chicago",
    .title = "Ligne de train, Chicago",
    .cooperative = false,
    .rules_version = 1,
    .fields = chicago_fields,
    .files = chicago_files,
    .file_count = 1,
    .metrics = metric_names,
    .streams = stream_names,
    .tables_size = sizeof(ChicagoTables) + CHICAGO_PATHS_MAX * sizeof(ChicagoPath),
    .file_check = chicago_file_check,
    .build = chicago_build,
    .reset = chicago_reset,
    .legal = chicago_legal,
    .step = chicago_step,
    .observe = chicago_observe,
    .measure = chicago_measure,
    .hash = chicago_hash,
    .phase_name = chicago_phase_name,
    .check = chicago_check,
    .resample = chicago_resample,
    .action_name = chicago_action_name,
    .block_label = chicago_block_label,
    .value_label = chicago_value_label,
    .outcome_name = chicago_outcome_name,
    .text = chicago_text,
    .state_json = chicago_state_json,
    .event_json = chicago_event_json,
};
