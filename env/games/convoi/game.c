/* Convoi Express (Kosmos 2020, IELLO 2021; David Thompson), cooperative, 2 to 4 players.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "core/bytes.h"
#include "core/draw.h"
#include "core/status.h"
#include "games/convoi/state.h"

#include <string.h>

extern const TyFile file_convoi_europe;
extern const TyFile file_convoi_north_america;
extern const TyFile file_convoi_tiny;
extern const TyFile file_convoi_standard_deck;

static const char *const board_names[] = {"europe", "north_america", "tiny", NULL};
static const char *const deck_names[] = {"standard", NULL};
static const char *const placement_names[] = {"first_game", "free", "random", NULL};
static const char *const goods_names[] = {"8", "10", NULL};
static const char *const starts_names[] = {"dice", "shuffled", "drawn", NULL};
static const char *const hands_names[] = {"open", "hidden", NULL};
static const char *const first_names[] = {"seat0", "random", NULL};
static const char *const reward_names[] = {"win", "delivery", "shaped", NULL};
static const char *const chance_names[] = {"rng", "seat", NULL};

enum {
    FIELD_BOARD,
    FIELD_DECK,
    FIELD_PLAYERS,
    FIELD_PLACEMENT,
    FIELD_CLOCK,
    FIELD_REMOVED,
    FIELD_GOODS,
    FIELD_EXTRA_LIGHT,
    FIELD_STARTS,
    FIELD_HANDS,
    FIELD_FIRST_PLAYER,
    FIELD_REWARD,
    FIELD_HINTS,
    FIELD_ASK_FORCED,
};

static const TyField convoi_fields[] = {
    {"board", TY_FIELD_FILE, 0, 0, 0, board_names, true, "the board, or a board file"},
    {"deck", TY_FIELD_FILE, 0, 0, 0, deck_names, false, "the instruction cards, or a deck file"},
    {"players", TY_FIELD_INT, 2, 2, 4, NULL, true, "number of players"},
    {"placement", TY_FIELD_CHOICE, 0, 0, 2, placement_names, false,
     "discs: as for the first game, placed by the first player, or at random"},
    {"clock", TY_FIELD_INT, 7, 7, 10, NULL, false, "time tokens on the clock"},
    {"removed", TY_FIELD_INT, 2, 0, 8, NULL, false, "instruction cards left in the box"},
    {"goods", TY_FIELD_CHOICE, 0, 0, 1, goods_names, false,
     "goods to deliver: 2 of each colour, or those and 2 more"},
    {"extra_light", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "one more green light"},
    {"starts", TY_FIELD_CHOICE, 0, 0, 2, starts_names, false,
     "starts by dice, by dice on shuffled tokens, or by drawn tokens"},
    {"hands", TY_FIELD_CHOICE, 0, 0, 1, hands_names, false, "hands open or hidden"},
    {"first_player", TY_FIELD_CHOICE, 0, 0, 1, first_names, false, "who begins"},
    {"reward", TY_FIELD_CHOICE, 0, 0, 2, reward_names, false,
     "+1/-1 at the end; 1/8 a good besides; progress of trains besides"},
    {"hints", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "rows tell what lies ahead of each train"},
    {"ask_forced", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "ask questions with a single answer too"},
    {"chance", TY_FIELD_CHOICE, 0, 0, 1, chance_names, false,
     "chance by the generator, or by a seat of its own"},
    {.key = NULL},
};

static const TyFile *const board_files[] = {&file_convoi_europe, &file_convoi_north_america,
                                            &file_convoi_tiny};
static const TyFile *const deck_files[] = {&file_convoi_standard_deck};

static const TyFileField convoi_files[] = {
    {"board", "convoi-board-1", "convoi board", board_files},
    {"deck", "convoi-deck-1", "convoi deck", deck_files},
};

static const char *const metric_names[] = {
    "won",        "goods",       "turns", "tokens_lost",   "cards_set_aside",
    "collisions", "derailments", "loads", "trains_placed", "cards_played",
    NULL,
};

static const char *const stream_names[] = {
    "instructions", "actions", "start_dice", "die_black",    "die_brown", "die_gray",
    "start_tokens", "lights",  "switches",   "first_player", NULL,
};

static TyStatus convoi_file_check(uint32_t file, const Doc *doc)
{
    ConvoiTables tables = {0};
    return file == 0 ? convoi_board_read(doc, &tables) : convoi_deck_read(doc, &tables);
}

static void tables_configure(ConvoiTables *tables, const int32_t *config)
{
    uint8_t colours = 0;
    for (uint32_t i = 0; i < CONVOI_GOODS; i++) {
        colours = (uint8_t)(colours + (tables->goods_city[i] != CONVOI_NONE));
    }
    for (uint32_t i = 0; i < tables->city_count; i++) {
        tables->fixed_lights |= bits_single(tables->city_lights[i]) ? tables->city_lights[i] : 0;
    }
    tables->player_count = (uint8_t)config[FIELD_PLAYERS];
    tables->placement = (uint8_t)config[FIELD_PLACEMENT];
    tables->clock = (uint8_t)config[FIELD_CLOCK];
    tables->removed = (uint8_t)config[FIELD_REMOVED];
    tables->extra_light = config[FIELD_EXTRA_LIGHT] != 0;
    tables->starts = (uint8_t)config[FIELD_STARTS];
    tables->hands_hidden = config[FIELD_HANDS] == 1;
    tables->first_random = config[FIELD_FIRST_PLAYER] == 1;
    tables->reward = (uint8_t)config[FIELD_REWARD];
    tables->hints = config[FIELD_HINTS] != 0;
    tables->ask_forced = config[FIELD_ASK_FORCED] != 0;
    tables->port_wants = tables->port_count == 1 ? 2 : 1;
    tables->port_extra = config[FIELD_GOODS] == 1 ? tables->port_wants : 0;
    tables->goods_per_city = config[FIELD_GOODS] == 1 ? 3 : 2;
    tables->goods_wanted =
        (uint8_t)(tables->port_count * (tables->port_wants * colours + tables->port_extra));
}

/* What the board and the deck allow together. */
static TyStatus tables_agree(const ConvoiTables *tables)
{
    if (tables->removed >= tables->card_count) {
        return status_fail(TY_BAD_CONFIG, "removed=%u: the deck has %u cards; allowed is 0..%u",
                           tables->removed, tables->card_count, tables->card_count - 1u);
    }
    if (tables->extra_light && tables->light_count <= tables->green_count) {
        return status_fail(TY_BAD_CONFIG, "extra_light=true: every light of the board is green");
    }
    return status_ok();
}

/* What users are told of files that are not the printed ones. */
static void note_add(const Doc *doc, const char *title, Text *note)
{
    const DocNode *status = doc_get(doc, &doc->nodes[0], "status");
    const DocNode *name = doc_get(doc, &doc->nodes[0], "name");
    if (status != NULL) {
        text_add(note, "%s%s %s: %s", note->length == 0 ? "" : "; ", title, name->text,
                 status->text);
    }
}

static TyStatus convoi_build(TyRuleset *ruleset, const Doc *const *docs)
{
    ConvoiTables *tables = ruleset->tables;
    TyStatus status = convoi_board_read(docs[0], tables);
    if (status.code == TY_OK) {
        status = convoi_deck_read(docs[1], tables);
    }
    if (status.code != TY_OK) {
        return status;
    }
    tables_configure(tables, ruleset->config);
    payments_prepare(tables);
    status = tables_agree(tables);
    convoi_shape(ruleset);
    Text note = text_init(ruleset->note, sizeof ruleset->note);
    note_add(docs[0], "board", &note);
    note_add(docs[1], "deck", &note);
    return status;
}

/* ---- Rewards -----------------------------------------------------------------------------------
 */

/* In 1/64. A good delivered is worth twice what a loaded train can be: otherwise a learner that
 * discounts would rather keep the train. */
enum { VALUE_GOOD = 128, VALUE_EMPTY = 24, VALUE_LOADED = 40 };

int16_t convoi_potential(const ConvoiTables *tables, const ConvoiState *state)
{
    Way ways[CONVOI_TRAINS];
    if (state->head.over) {
        return 0;
    }
    int32_t potential = 0;
    ways_compute(tables, state, false, ways);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0) {
            bool loaded = state->cargo[train] != 0;
            int32_t most = loaded ? VALUE_LOADED : VALUE_EMPTY;
            potential += loaded ? VALUE_EMPTY : 0;
            potential += ways[train].cost < most ? most - ways[train].cost : 0;
        }
    }
    return (int16_t)potential;
}

/* What the team earned by a step, in 1/64. */
static int32_t step_reward(const ConvoiTables *tables, ConvoiState *state, uint8_t delivered_before)
{
    int32_t earned = 0;
    if (state->head.over) {
        earned += state->won ? TY_REWARD_ONE : -TY_REWARD_ONE;
    }
    if (tables->reward != REWARD_WIN) {
        earned += (state->goods_delivered - delivered_before) * (TY_REWARD_ONE / 8);
    }
    if (tables->reward == REWARD_SHAPED) {
        int16_t potential = convoi_potential(tables, state);
        earned += (state->goods_delivered - delivered_before) * VALUE_GOOD;
        earned += potential - state->potential;
        state->potential = potential;
    }
    return earned;
}

bool convoi_step(const TyRuleset *ruleset, void *state_, uint32_t action, int32_t *reward,
                 TyTape *tape)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    ConvoiState *state = state_;
    if (!action_allowed(tables, state, action)) {
        return false;
    }
    Play play = {.tables = tables, .state = state, .tape = tape};
    uint8_t delivered = state->goods_delivered;
    action_apply(&play, action);
    play_on(&play);
    int32_t earned = step_reward(tables, state, delivered);
    for (uint32_t i = 0; earned != 0 && i < tables->player_count; i++) {
        reward[i] += earned;
    }
    return true;
}

void convoi_measure(const TyRuleset *ruleset, const void *state_, int32_t *metrics)
{
    (void)ruleset;
    const ConvoiState *state = state_;
    const int32_t values[] = {
        state->won,           state->goods_delivered, state->turns,       state->tokens_lost,
        state->set_aside,     state->collisions,      state->derailments, state->loads,
        state->trains_placed, state->cards_played,
    };
    memcpy(metrics, values, sizeof values);
}

const TyGame convoi_game = {
    .name = "convoi",
    .title = "Convoi Express",
    .cooperative = true,
    .rules_version = 2,
    .fields = convoi_fields,
    .files = convoi_files,
    .file_count = 2,
    .metrics = metric_names,
    .streams = stream_names,
    .tables_size = sizeof(ConvoiTables),
    .file_check = convoi_file_check,
    .build = convoi_build,
    .reset = convoi_reset,
    .legal = convoi_legal,
    .step = convoi_step,
    .observe = convoi_observe,
    .measure = convoi_measure,
    .hash = convoi_hash,
    .phase_name = convoi_phase_name,
    .check = convoi_check,
    .resample = convoi_resample,
    .action_name = convoi_action_name,
    .block_label = convoi_block_label,
    .value_label = convoi_value_label,
    .outcome_name = convoi_outcome_name,
    .text = convoi_text,
    .state_json = convoi_state_json,
    .event_json = convoi_event_json,
};
