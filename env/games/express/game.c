/* Les Aventuriers du Rail Express (Days of Wonder 2018; Alan R. Moon), 2 to 4 players.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "games/tickets/state.h"

extern const TyFile file_express_map;
extern const TyFile file_express_tiny;
extern const TyFile file_express_howto;

static const char *const map_names[] = {"standard", "tiny", NULL};

static const TyField express_fields[] = {
    {"map", TY_FIELD_FILE, 0, 0, 0, map_names, true,
     "the map, a map file, or gen:SEED-CITIES-LEVEL"},
    {"players", TY_FIELD_INT, 2, 2, 4, NULL, true, "number of players"},
    {"reward", TY_FIELD_CHOICE, 0, 0, 1, tickets_reward_names, false,
     "+1/0/-1 for winning, sharing, losing; or 1/64 per point ahead of the best opponent"},
    {"first_player", TY_FIELD_CHOICE, 0, 0, 1, tickets_first_names, false, "who begins"},
    TICKETS_SHOW_BOARD,
    {.key = NULL},
};

static const TyFile *const map_files[] = {&file_express_map, &file_express_tiny};

static const TyFileField express_files[] = {
    {"map", "express-map-1", "express map", map_files, tickets_generate, 20, 12, 36},
};

static const char *const metric_names[] = {
    "turns",
    "truncated",
    TICKETS_SHEET("0"),
    TICKETS_SHEET("1"),
    TICKETS_SHEET("2"),
    TICKETS_SHEET("3"),
    NULL,
};

static const TicketsRules express_rules = {
    .first_deal = 3,
    .first_keep = 2,
    .locomotives_apart = true,
    .locomotives_plain = true,
    .tickets_under = true,
    .link_bonus = true,
};

static TyStatus express_read(void *tables, uint32_t file, const TyDoc *doc)
{
    (void)file;
    return tickets_read(doc, &express_rules, tables);
}

const TyGame express_game = {
    .name = "express",
    .title = "Les Aventuriers du Rail Express",
    .rules_version = 2,
    .small = "map=tiny",
    .learning = "reward=score",
    .howto = &file_express_howto,
    .fields = express_fields,
    .files = express_files,
    .file_count = 1,
    .metrics = metric_names,
    .read = express_read,
    TICKETS_GAME,
};
