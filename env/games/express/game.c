/* Les Aventuriers du Rail Express (Days of Wonder 2018; Alan R. Moon), 2 to 4 players.
 *
 * The rules and where each is implemented: RULES.md in this folder. */
#include "games/tickets/tickets.h"

extern const TyFile file_express_map;
extern const TyFile file_express_tiny;

static const char *const map_names[] = {"standard", "tiny", NULL};

static const TyField express_fields[] = {
    {"map", TY_FIELD_FILE, 0, 0, 0, map_names, true, "the map, or a map file"},
    {"players", TY_FIELD_INT, 2, 2, 4, NULL, true, "number of players"},
    {"reward", TY_FIELD_CHOICE, 0, 0, 1, tickets_reward_names, false,
     "+1/0/-1 for winning, sharing, losing; or 1/64 per point ahead of the best opponent"},
    {"first_player", TY_FIELD_CHOICE, 0, 0, 1, tickets_first_names, false, "who begins"},
    {"ask_forced", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "ask questions with a single answer too"},
    {"chance", TY_FIELD_CHOICE, 0, 0, 1, tickets_chance_names, false,
     "chance by the generator, or by a seat of its own"},
    {.key = NULL},
};

static const TyFile *const map_files[] = {&file_express_map, &file_express_tiny};

static const TyFileField express_files[] = {
    {"map", "express-map-1", "express map", map_files},
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
    .format = "express-map-1",
    .first_deal = 3,
    .first_keep = 2,
    .locomotives_apart = true,
    .locomotives_plain = true,
    .tickets_under = true,
    .link_bonus = true,
};

static TyStatus express_file_check(uint32_t file, const Doc *doc)
{
    (void)file;
    TicketsTables tables = {0};
    return tickets_map_read(doc, &express_rules, &tables);
}

static TyStatus express_build(TyRuleset *ruleset, const Doc *const *docs)
{
    return tickets_build(ruleset, docs[0], &express_rules);
}

const TyGame express_game = {
    .name = "express",
    .title = "Les Aventuriers du Rail Express",
    .rules_version = 1,
    .fields = express_fields,
    .files = express_files,
    .file_count = 1,
    .metrics = metric_names,
    .file_check = express_file_check,
    .build = express_build,
    TICKETS_GAME_FUNCTIONS,
};
