/* Convoi Express (Kosmos 2020, IELLO 2021; David Thompson), cooperative, 2 to 4 players.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "core/bytes.h"
#include "core/status.h"
#include "games/convoi/state.h"

#include <string.h>

extern const TyFile file_convoi_europe;
extern const TyFile file_convoi_north_america;
extern const TyFile file_convoi_tiny;
extern const TyFile file_convoi_howto;
extern const TyFile file_convoi_standard_deck;

static const char *const board_names[] = {"europe", "north_america", "tiny", NULL};
static const char *const deck_names[] = {"standard", NULL};
static const char *const placement_names[] = {"first_game", "free", "random", NULL};
static const char *const goods_names[] = {"8", "10", NULL};
static const char *const starts_names[] = {"dice", "shuffled", "drawn", NULL};
static const char *const hands_names[] = {"open", "hidden", NULL};
static const char *const first_names[] = {"seat0", "random", NULL};
static const char *const reward_names[] = {"win", "delivery", "shaped", "progress", NULL};

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
    FIELD_SHOW_BOARD,
};

static const TyField convoi_fields[] = {
    {"board", TY_FIELD_FILE, 0, 0, 0, board_names, true,
     "the board, a board file, or gen:SEED-JUNCTIONS-LEVEL"},
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
    {"reward", TY_FIELD_CHOICE, 0, 0, 3, reward_names, false,
     "+1/-1 at the end; 1/8 a good besides; progress of trains besides, until the end or for good"},
    {"hints", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "rows tell what lies ahead of each train"},
    {"show_board", TY_FIELD_FLAG, 0, 0, 1, NULL, false,
     "rows tell the board too, for networks that play on many"},
    {.key = NULL},
};

static const TyFile *const board_files[] = {&file_convoi_europe, &file_convoi_north_america,
                                            &file_convoi_tiny};
static const TyFile *const deck_files[] = {&file_convoi_standard_deck};

static const TyFileField convoi_files[] = {
    {"board", "convoi-board-1", "convoi board", board_files, convoi_generate, CONVOI_SIZE_STANDARD,
     CONVOI_SIZE_MINIMUM, CONVOI_SIZE_MAXIMUM},
    {"deck", "convoi-deck-1", "convoi deck", deck_files, NULL, 0, 0, 0},
};

static const char *const metric_names[] = {
    "won",        "goods",       "turns", "tokens_lost",   "cards_set_aside",
    "collisions", "derailments", "loads", "trains_placed", "cards_played",
    NULL,
};

static const TyStream convoi_streams[] = {
    [STREAM_INSTRUCTIONS] = {"instructions", &convoi_deck_cards},
    [STREAM_ACTIONS] = {"actions", &convoi_kinds},
    [STREAM_START_DICE] = {"start_dice", &convoi_start_dice},
    [STREAM_DIE] = {"die_black", &convoi_dice[0]},
    {"die_brown", &convoi_dice[1]},
    {"die_gray", &convoi_dice[2]},
    [STREAM_TOKENS] = {"start_tokens", &convoi_numbers},
    [STREAM_LIGHTS] = {"lights", &convoi_lights},
    [STREAM_SWITCHES] = {"switches", &convoi_setting},
    [STREAM_FIRST_PLAYER] = {"first_player", &convoi_seats},
    {.name = NULL},
};

static const TyActionForm convoi_actions[] = {
    [FORM_WAIT] = {.verb = "wait"},
    [FORM_END] = {.verb = "turn.end", .help = "End the turn"},
    [FORM_PLAY_CARD] = {.verb = "card.play", .help = "Follow the card"},
    [FORM_KEEP] = {.verb = "die.keep", .help = "Move by this roll"},
    [FORM_LOGISTICIEN] = {.verb = "staff.logisticien",
                          .help = "Use the logisticien: roll again, and take that"},
    [FORM_STOP] = {.verb = "city.stop", .help = "Stop in the city, free of charge"},
    [FORM_ROLL_START] = {.verb = "start.roll", .help = "Roll two dice for the start"},
    [FORM_GARDE_VOIE] = {.verb = "staff.garde_voie",
                         .help = "Use the garde-voie: the card goes under the pile, and the next "
                                 "one is revealed"},
    [FORM_GESTIONNAIRE] = {.verb = "staff.gestionnaire",
                           .help = "Use the gestionnaire: this turn trains may cross cities"},
    [FORM_CHEF_DE_TRAIN] = {.verb = "staff.chef_de_train",
                            .help = "Use the chef de train: this colour does not move"},
    [FORM_COLOUR] = {.verb = "colour", .items = &convoi_colours, .help = "Name a colour"},
    [FORM_MOVE] = {.verb = "move", .items = &convoi_trains, .help = "Move a train"},
    [FORM_LOAD] = {.verb = "load", .items = &convoi_trains, .help = "Load a train, for any card"},
    [FORM_HOLD] = {.verb = "staff.cheffe_de_section",
                   .items = &convoi_trains,
                   .help = "Use the cheffe de section: one train does not move"},
    [FORM_PAY] = {.verb = "pay", .items = &convoi_payments, .help = "Pay"},
    [FORM_PLACE_AT] = {.verb = "staff.agent_de_manoeuvre",
                       .items = &convoi_starts,
                       .help = "Use the agent de manoeuvre: the train starts where you say"},
    [FORM_UNUSED] = {.verb = "unused", .items = &convoi_unused_starts},
    [FORM_LIGHT_FROM] = {.verb = "light.from",
                         .items = &convoi_lights,
                         .help = "Take a green light away, to put it elsewhere",
                         .brief = true},
    [FORM_LIGHT_TO] = {.verb = "light.to",
                       .items = &convoi_lights,
                       .help = "Turn a light green",
                       .brief = true},
    [FORM_EXIT] = {.verb = "exit", .items = &convoi_exits, .help = "Leave by an exit"},
    [FORM_SWITCH] = {.verb = "switch",
                     .items = &convoi_settings,
                     .help = "Turn a switch: say which two directions it joins",
                     .brief = true},
    {.verb = NULL},
};

#define FIELD(member, maximum) TY_FIELD(ConvoiState, uint8_t, member, maximum)
#define FIELD_16(member) TY_FIELD(ConvoiState, uint16_t, member, 0)

static const TyStateField convoi_state_fields[] = {
    TY_FIELD(ConvoiState, uint64_t, green, 0),
    TY_FIELD_DERIVED(ConvoiState, uint64_t, settled, 0),
    FIELD_16(turns),
    FIELD_16(tokens_lost),
    FIELD_16(cards_played),
    FIELD_16(potential),
    FIELD(set_aside, 0),
    FIELD(collisions, 0),
    FIELD(derailments, 0),
    FIELD(loads, 0),
    FIELD(trains_placed, 0),
    FIELD(won, 1),
    FIELD(goods_delivered, 0),
    FIELD(active, TY_PLAYERS_MAX - 1),
    FIELD(hand, CONVOI_HAND_MAX),
    FIELD(setting, 5),
    FIELD(seen, 1),
    FIELD(goods, 3),
    FIELD(delivered, 4),
    FIELD(number_start, CONVOI_STARTS_MAX - 1),
    FIELD(token_spent, 1),
    FIELD(first_token, CONVOI_NUMBERS),
    FIELD(card, CARD_BASE + CONVOI_CARDS_MAX - 1),
    FIELD(symbol, 2 * CONVOI_SYMBOLS_MAX),
    FIELD(clock, 10),
    FIELD(pile, CONVOI_CARDS_MAX),
    FIELD(bottom, CARD_BASE + CONVOI_CARDS_MAX - 1),
    FIELD(staff_used, 1),
    FIELD(crossing_on, 1),
    FIELD(colour, CONVOI_COLOURS),
    FIELD(named, 1),
    FIELD(moved, 1),
    FIELD(train, CONVOI_TRAINS),
    FIELD(roll, DIE_MAX),
    FIELD(points, DIE_MAX),
    FIELD(entry, CONVOI_LIGHTS_MAX),
    FIELD(act, ACT_LOAD + 1),
    FIELD(from, CONVOI_LIGHTS_MAX),
    FIELD(to, CONVOI_LIGHTS_MAX),
    FIELD(junction, CONVOI_JUNCTIONS_MAX),
    FIELD(junction_setting, 5),
    FIELD(deck, 27),
    FIELD(discard, 27),
    FIELD(place, 0),
    FIELD(heading, 1),
    FIELD(cargo, CONVOI_GOODS),
    FIELD(noted, 0),
    TY_FIELD_DERIVED(ConvoiState, uint8_t, hints, 0),
    {.size = 0},
};

/* ---- Rulesets ----------------------------------------------------------------------------------
 */

static TyStatus convoi_read(void *tables, uint32_t file, const TyDoc *doc)
{
    return file == 0 ? convoi_board_read(doc, tables) : convoi_deck_read(doc, tables);
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
    tables->show_board = config[FIELD_SHOW_BOARD] != 0;
    tables->port_wants = tables->port_count == 1 ? 2 : 1;
    tables->port_extra = config[FIELD_GOODS] == 1 ? tables->port_wants : 0;
    tables->goods_per_city = config[FIELD_GOODS] == 1 ? 3 : 2;
    tables->goods_wanted =
        (uint8_t)(tables->port_count * (tables->port_wants * colours + tables->port_extra));
}

/* What a reward pays, in 1/64: for a good, and for trains whose way to a city that they want costs
 * nothing. A good delivered is worth twice what a loaded train can be: otherwise a learner that
 * discounts would rather keep the train. */
typedef struct Worth {
    int32_t good;
    int32_t empty;
    int32_t loaded; /* besides what an empty one can be */
    bool kept;      /* when the episode is over */
} Worth;

static const Worth worths[] = {
    [REWARD_WIN] = {.good = 0},
    [REWARD_DELIVERY] = {.good = TY_REWARD_ONE / 8},
    [REWARD_SHAPED] = {.good = TY_REWARD_ONE / 8 + 128, .empty = 24, .loaded = 40},
    [REWARD_PROGRESS] = {.good = TY_REWARD_ONE / 8 + 2 * (24 + WAY_COST_MAX),
                         .empty = 24,
                         .loaded = WAY_COST_MAX,
                         .kept = true},
};

static bool reward_has_potential(const ConvoiTables *tables)
{
    return worths[tables->reward].empty > 0;
}

/* What the board and the deck allow together. */
static TyStatus tables_agree(const ConvoiTables *tables)
{
    if (tables->removed >= tables->card_count) {
        return ty_status_fail(TY_BAD_CONFIG, "removed=%u: the deck has %u cards; allowed is 0..%u",
                              tables->removed, tables->card_count, tables->card_count - 1u);
    }
    if (tables->extra_light && tables->light_count <= tables->green_count) {
        return ty_status_fail(TY_BAD_CONFIG, "extra_light=true: every light of the board is green");
    }
    return ty_status_ok();
}

static TyStatus convoi_build(TyRuleset *ruleset)
{
    ConvoiTables *tables = ruleset->tables;
    tables_configure(tables, ruleset->config);
    ruleset->earns = tables->hints || reward_has_potential(tables);
    payments_prepare(tables);
    convoi_make_edges(tables);
    convoi_layout(tables);
    return tables_agree(tables);
}

/* ---- Rewards -----------------------------------------------------------------------------------
 */

/* What the trains are worth. */
static uint16_t network_potential(const Worth *worth, const ConvoiState *state,
                                  const Way ways[CONVOI_TRAINS])
{
    int32_t potential = 0;
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0) {
            bool loaded = state->cargo[train] != 0;
            int32_t most = loaded ? worth->loaded : worth->empty;
            potential += loaded ? worth->empty : 0;
            potential += ways[train].cost < most ? most - ways[train].cost : 0;
        }
    }
    return (uint16_t)(!state->head.over || worth->kept ? potential : 0);
}

Kept network_look(const ConvoiTables *tables, const ConvoiState *state)
{
    Kept kept = {.potential = 0};
    Hint hints[CONVOI_TRAINS];
    Way ways[CONVOI_TRAINS];
    if (tables->hints || reward_has_potential(tables)) {
        ways_compute(tables, state, tables->hints, ways);
        kept.potential = network_potential(&worths[tables->reward], state, ways);
    }
    if (tables->hints) {
        hints_compute(tables, state, hints);
        hints_lay_out(hints, ways, kept.hints);
    }
    return kept;
}

int32_t delivery_reward(const ConvoiTables *tables)
{
    return worths[tables->reward].good;
}

void team_earn(Play *play, int32_t reward)
{
    for (uint32_t seat = 0; seat < play->tables->player_count; seat++) {
        play->ty->reward[seat] += reward;
    }
}

/* Computes the hints, and earns the change of the potential. A step that leaves the network as it
 * was costs nothing here; when the episode is over, the shaped reward takes all of it back. */
static void convoi_earn(TyPlay *ty)
{
    Play play = play_of(ty);
    ConvoiState *state = play.state;
    uint16_t before = state->potential;
    if (state->noted[0]) {
        Kept kept = network_look(play.tables, state);
        memcpy(state->hints, kept.hints, sizeof state->hints);
        state->potential = kept.potential;
        state->noted[0] = 0;
    }
    if (state->head.over && !worths[play.tables->reward].kept) {
        state->potential = 0;
    }
    if (state->potential != before) {
        team_earn(&play, state->potential - before);
    }
}

static void convoi_measure(const TyRuleset *ruleset, const void *state_, int32_t *metrics)
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
    .api = TY_GAME_API,
    .name = "convoi",
    .title = "Convoi Express",
    .cooperative = true,
    .rules_version = 4,
    .small = "board=tiny",
    .learning = "hints=true,reward=progress",
    .howto = &file_convoi_howto,
    .board = &convoi_board,
    .fields = convoi_fields,
    .files = convoi_files,
    .file_count = 2,
    .phases = convoi_phase_words,
    .actions = convoi_actions,
    .blocks = convoi_blocks,
    .events = convoi_events,
    .streams = convoi_streams,
    .metrics = metric_names,
    .state_fields = convoi_state_fields,
    .state_size = sizeof(ConvoiState),
    .answer_words = CONVOI_ANSWER_WORDS,
    .active_at = offsetof(ConvoiState, active),
    .tables_size = sizeof(ConvoiTables),
    .read = convoi_read,
    .build = convoi_build,
    .begin = convoi_begin,
    .apply = convoi_apply,
    .answers = convoi_answers,
    .earn = convoi_earn,
    .observe = convoi_observe,
    .measure = convoi_measure,
    .check = convoi_check,
    .resample = convoi_resample,
    .text = convoi_text,
    .explain = convoi_explain,
    .state_json = convoi_state_json,
    .style = convoi_style,
    .draw_board = convoi_draw_board,
    .draw = convoi_draw,
};
