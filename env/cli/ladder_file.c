/* The file of a ladder. */
#include "cli/ladder.h"
#include "cli/output.h"
#include "core/status.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "trainyard ladder 1";

uint32_t ladder_agent(Ladder *ladder, const char *name)
{
    uint32_t index = 0;
    while (index < ladder->name_count && strcmp(ladder->names[index], name) != 0) {
        index++;
    }
    if (index == ladder->name_count && index < LADDER_AGENTS_MAX) {
        snprintf(ladder->names[index], sizeof ladder->names[index], "%s", name);
        ladder->name_count++;
    }
    return index;
}

void ladder_add(Ladder *ladder, LadderRecord record)
{
    ladder->records =
        cli_memory(realloc(ladder->records, (ladder->record_count + 1) * sizeof *ladder->records));
    ladder->records[ladder->record_count++] = record;
}

const LadderRecord *ladder_next(const Ladder *ladder, uint32_t first, uint32_t second,
                                uint64_t seed, uint64_t end)
{
    const LadderRecord *next = NULL;
    for (size_t i = 0; i < ladder->record_count; i++) {
        const LadderRecord *record = &ladder->records[i];
        bool same = (record->agents[0] == first && record->agents[1] == second) ||
                    (record->agents[0] == second && record->agents[1] == first);
        if (same && record->seed < end && record->seed + record->count > seed &&
            (next == NULL || record->seed < next->seed)) {
            next = record;
        }
    }
    return next;
}

/* ---- Reading ---- */

/* The head says what the values are of: they must be of what is played now. */
static TyStatus head_check(const Ladder *ladder, const json_t *root)
{
    const Teams *teams = &ladder->teams;
    const char *const wanted[][2] = {{"format", format_name},
                                     {"ruleset", teams->shape->spec},
                                     {"measure", teams_measure(teams)}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const char *value = json_string_value(json_object_get(root, wanted[i][0]));
        if (value == NULL || strcmp(value, wanted[i][1]) != 0) {
            return ty_status_fail(TY_BAD_FILE, "%s: %s: '%.80s', wanted: '%s'", ladder->path,
                                  wanted[i][0], value != NULL ? value : "no text", wanted[i][1]);
        }
    }
    const json_t *version = json_object_get(root, "rules_version");
    uint32_t rules = ty_game_rules_version(ty_ruleset_game(teams->ruleset));
    if (!json_is_integer(version) || json_integer_value(version) != rules) {
        return ty_status_fail(TY_BAD_FILE,
                              "%s: rules_version: the games were not played by the rules of "
                              "version %u; begin another file",
                              ladder->path, rules);
    }
    return ty_status_ok();
}

static bool values_read(const Ladder *ladder, const json_t *list, LadderRecord *record)
{
    bool cooperative = ladder->teams.shape->cooperative;
    json_int_t low = cooperative ? INT32_MIN : 0;
    json_int_t high = cooperative ? INT32_MAX : LADDER_PAIR_POINTS;
    size_t count = json_array_size(list);
    if (count < 1 || count > CLI_EPISODES_MAX) {
        return false;
    }
    record->count = (uint32_t)count;
    record->values = cli_memory(malloc(count * sizeof *record->values));
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        json_int_t number = json_integer_value(value);
        if (!json_is_integer(value) || number < low || number > high) {
            free(record->values);
            record->values = NULL;
            return false;
        }
        record->values[i] = (int32_t)number;
    }
    return true;
}

/* One name in a cooperative game, otherwise two different ones. */
static bool names_read(Ladder *ladder, const json_t *list, LadderRecord *record)
{
    size_t wanted = ladder->teams.shape->cooperative ? 1 : 2;
    if (json_array_size(list) != wanted) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        const char *name = json_string_value(json_array_get(list, i % wanted));
        if (name == NULL || name[0] == '\0' || strlen(name) >= TY_AGENT_NAME_MAX) {
            return false;
        }
        record->agents[i] = ladder_agent(ladder, name);
        if (record->agents[i] == LADDER_AGENTS_MAX) {
            return false;
        }
    }
    return wanted == 1 || record->agents[0] != record->agents[1];
}

static TyStatus record_read(Ladder *ladder, const json_t *entry, size_t index)
{
    LadderRecord record = {.values = NULL};
    const json_t *seed = json_object_get(entry, "seed");
    json_int_t number = json_integer_value(seed);
    if (!names_read(ladder, json_object_get(entry, "agents"), &record)) {
        return ty_status_fail(TY_BAD_FILE,
                              "%s: records[%zu].agents: not the names of %s; a ladder has at most "
                              "%d agents",
                              ladder->path, index,
                              ladder->teams.shape->cooperative ? "one agent" : "two agents",
                              LADDER_AGENTS_MAX);
    }
    if (!json_is_integer(seed) || number < 0 || (uint64_t)number > LADDER_SEED_MAX) {
        return ty_status_fail(TY_BAD_FILE,
                              "%s: records[%zu].seed: not a whole number from 0 to %" PRIu64,
                              ladder->path, index, LADDER_SEED_MAX);
    }
    record.seed = (uint64_t)number;
    if (!values_read(ladder, json_object_get(entry, "values"), &record)) {
        return ty_status_fail(TY_BAD_FILE,
                              "%s: records[%zu].values: not a list of 1 to %d whole numbers%s",
                              ladder->path, index, CLI_EPISODES_MAX,
                              ladder->teams.shape->cooperative ? "" : " from 0 to 4");
    }
    bool twice = ladder_next(ladder, record.agents[0], record.agents[1], record.seed,
                             record.seed + record.count) != NULL;
    ladder_add(ladder, record);
    return twice ? ty_status_fail(TY_BAD_FILE,
                                  "%s: records[%zu].seed: %" PRIu64
                                  " and what follows overlaps an earlier record",
                                  ladder->path, index, record.seed)
                 : ty_status_ok();
}

static TyStatus root_read(Ladder *ladder, const json_t *root)
{
    const json_t *records = json_object_get(root, "records");
    TyStatus status = head_check(ladder, root);
    if (status.code == TY_OK && !json_is_array(records)) {
        status = ty_status_fail(TY_BAD_FILE, "%s: records: not a list", ladder->path);
    }
    for (size_t i = 0; status.code == TY_OK && i < json_array_size(records); i++) {
        status = record_read(ladder, json_array_get(records, i), i);
    }
    return status;
}

TyStatus ladder_read(Ladder *ladder)
{
    char *bytes = NULL;
    size_t size = 0;
    json_error_t error;
    errno = 0;
    TyStatus status = file_read(ladder->path, &bytes, &size);
    if (status.code != TY_OK) {
        return errno == ENOENT ? ty_status_ok() : status;
    }
    json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    free(bytes);
    if (root == NULL) {
        return ty_status_fail(TY_BAD_FILE, "%s: line %d: %s", ladder->path, error.line, error.text);
    }
    status = root_read(ladder, root);
    json_decref(root);
    return status;
}

/* ---- Writing ---- */

static void record_json(const Ladder *ladder, const LadderRecord *record, TyJson *json)
{
    ty_json_open(json, NULL, '{');
    ty_json_open(json, "agents", '[');
    for (uint32_t i = 0; i < (ladder->teams.shape->cooperative ? 1 : 2); i++) {
        ty_json_put_string(json, NULL, ladder->names[record->agents[i]]);
    }
    ty_json_close(json, ']');
    ty_json_put_int(json, "seed", (int64_t)record->seed);
    ty_json_open(json, "values", '[');
    for (uint32_t i = 0; i < record->count; i++) {
        ty_json_put_int(json, NULL, record->values[i]);
    }
    ty_json_close(json, ']');
    ty_json_close(json, '}');
}

static void ladder_json(const Ladder *ladder, TyJson *json)
{
    const Teams *teams = &ladder->teams;
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "format", format_name);
    ty_json_put_string(json, "ruleset", teams->shape->spec);
    ty_json_put_int(json, "rules_version", ty_game_rules_version(ty_ruleset_game(teams->ruleset)));
    ty_json_put_string(json, "measure", teams_measure(teams));
    ty_json_open(json, "records", '[');
    for (size_t i = 0; i < ladder->record_count; i++) {
        record_json(ladder, &ladder->records[i], json);
    }
    ty_json_close(json, ']');
    ty_json_close(json, '}');
    ty_text_add(&json->text, "\n");
}

TyStatus ladder_write(const Ladder *ladder)
{
    char fresh[4096];
    int length = snprintf(fresh, sizeof fresh, "%s.new", ladder->path);
    if (length >= (int)sizeof fresh) {
        return ty_status_fail(TY_IO, "%s: %s", ladder->path, strerror(ENAMETOOLONG));
    }
    TyJson json = ty_json_init(cli_memory(malloc(CLI_FILE_MAX)), CLI_FILE_MAX);
    ladder_json(ladder, &json);
    TyStatus status = json.text.length < json.text.size
                          ? file_write(fresh, json.text.data, json.text.length)
                          : ty_status_fail(TY_LIMIT, "%s: the ladder has more than %d bytes",
                                           ladder->path, CLI_FILE_MAX);
    free(json.text.data);
    if (status.code == TY_OK && rename(fresh, ladder->path) != 0) {
        status = ty_status_fail(TY_IO, "%s: %s", ladder->path, strerror(errno));
    }
    return status;
}
