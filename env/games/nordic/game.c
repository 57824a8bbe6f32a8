/* Les Aventuriers du Rail Scandinavie (Days of Wonder 2007; Alan R. Moon), 2 or 3 players.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "games/tickets/state.h"

extern const TyFile file_nordic_map;
extern const TyFile file_nordic_tiny;
extern const TyFile file_nordic_howto;

static const char *const map_names[] = {"standard", "tiny", NULL};
static const char *const cap_names[] = {"600", "200", "40", NULL};

static const TyField nordic_fields[] = {
    {"map", TY_FIELD_FILE, 0, 0, 0, map_names, true,
     "the map, a map file, or gen:SEED-CITIES-LEVEL"},
    {"players", TY_FIELD_INT, 2, 2, 3, NULL, true, "number of players"},
    {"reward", TY_FIELD_CHOICE, 0, 0, 1, tickets_reward_names, false,
     "+1/0/-1 for winning, sharing, losing; or 1/64 per point ahead of the best opponent"},
    {"first_player", TY_FIELD_CHOICE, 0, 0, 1, tickets_first_names, false, "who begins"},
    {"turns_max", TY_FIELD_CHOICE, 0, 0, 2, cap_names, false,
     "turns after which an episode is cut short"},
    TICKETS_SHOW_BOARD,
    {.key = NULL},
};

static const TyFile *const map_files[] = {&file_nordic_map, &file_nordic_tiny};

static const TyFileField nordic_files[] = {
    {"map", "nordic-map-1", "nordic map", map_files, tickets_generate, 24, 12, 36},
};

static const char *const metric_names[] = {
    "turns",     "truncated",        TICKETS_SHEET("0"), "longest_0", TICKETS_SHEET("1"),
    "longest_1", TICKETS_SHEET("2"), "longest_2",        NULL,
};

static const TicketsRules nordic_rules = {
    .first_deal = 5,
    .first_keep = 2,
    .special_routes = true,
    .draw_needs_pile = true,
    .globetrotter = true,
    .longest_breaks_tie = true,
    .endless = true,
};

static TyStatus nordic_read(void *tables, uint32_t file, const TyDoc *doc)
{
    (void)file;
    return tickets_read(doc, &nordic_rules, tables);
}

const TyGame nordic_game = {
    .name = "nordic",
    .title = "Les Aventuriers du Rail Scandinavie",
    .rules_version = 2,
    .small = "map=tiny",
    .learning = "reward=score",
    .howto = &file_nordic_howto,
    .fields = nordic_fields,
    .files = nordic_files,
    .file_count = 1,
    .metrics = metric_names,
    .read = nordic_read,
    TICKETS_GAME,
};
