/* What the tests of generated boards and maps share: opening them, looking for lines that cross,
 * and what experts reach on them. */
#pragma once

#include "core/hash.h"
#include "trainyard.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const level_names[] = {"", "-easy", "-hard"};

/* The row of seat 0 at the beginning of an episode, and where block `name` begins in it. */
static inline const uint8_t *row_block(const TyRuleset *ruleset, const char *name,
                                       uint8_t row[TY_ROW_MAX])
{
    const TyShape *shape = ty_shape(ruleset);
    uint64_t state[TY_STATE_MAX / 8];
    ty_reset(ruleset, state, 1, NULL);
    ty_observe(ruleset, state, 0, row);
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        if (strcmp(shape->row_blocks[i].name, name) == 0) {
            return row + shape->row_blocks[i].offset;
        }
    }
    fail_msg("there is no block %s", name);
    return NULL;
}

/* Opens "GAME:KEY=gen:SEED-SIZE", with one of the levels behind it. */
static inline TyRuleset *generated_open(const char *setting, uint64_t seed, uint32_t size,
                                        uint32_t level)
{
    char spec[128];
    TyRuleset *ruleset = NULL;
    snprintf(spec, sizeof spec, "%s=gen:%" PRIu64 "-%u%s", setting, seed, size, level_names[level]);
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", spec, status.message);
    }
    return ruleset;
}

/* Every value is refused, in a sentence that repeats it. */
static inline void refused_by_name(const char *const *specs)
{
    for (; *specs != NULL; specs++) {
        TyRuleset *ruleset = NULL;
        TyStatus status = ty_ruleset_open(*specs, NULL, &ruleset);
        if (status.code != TY_BAD_CONFIG || strstr(status.message, "=gen:") == NULL) {
            fail_msg("%s: %s", *specs, status.message);
        }
        assert_null(ruleset);
    }
}

/* The ruleset's whole name is `name`, and the name opens it again. The name carries a hash of the
 * content: builds and machines that differ would show here. */
static inline void pinned(const char *spec, const char *name)
{
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    assert_string_equal(ty_shape(ruleset)->spec, name);
    ty_ruleset_close(ruleset);
    assert_int_equal(ty_ruleset_open(name, NULL, &ruleset).code, TY_OK);
    ty_ruleset_close(ruleset);
}

/* ---- Lines on the plane ---- */

/* On which side of the line from a to b the point c lies. */
static inline int64_t side_of(const int32_t *a, const int32_t *b, const int32_t *c)
{
    return (int64_t)(b[0] - a[0]) * (c[1] - a[1]) - (int64_t)(b[1] - a[1]) * (c[0] - a[0]);
}

/* Whether the lines a-b and c-d have a point in common, if no three of them lie on one line. */
static inline bool lines_cross(const int32_t *a, const int32_t *b, const int32_t *c,
                               const int32_t *d)
{
    return (side_of(a, b, c) > 0) != (side_of(a, b, d) > 0) &&
           (side_of(c, d, a) > 0) != (side_of(c, d, b) > 0);
}

/* ---- Play ---- */

/* The metrics of an episode with the same agent on all seats. */
static inline void agent_play(const TyRuleset *ruleset, const char *name, uint64_t seed,
                              int32_t metrics[TY_METRICS_MAX])
{
    static uint64_t memory[TY_LINEUP_MEMORY_MAX / 8];
    uint64_t state[TY_STATE_MAX / 8];
    const TyAgent *agents[TY_SEATS_MAX] = {NULL};
    for (uint32_t seat = 0; seat < ty_shape(ruleset)->players; seat++) {
        agents[seat] = ty_agent_find(ty_ruleset_game(ruleset), name);
    }
    TyLineup lineup;
    ty_lineup_init(&lineup, ruleset, agents, memory);
    ty_lineup_start(&lineup, seed);
    ty_reset(ruleset, state, seed, NULL);
    while (!ty_head(state)->over) {
        int32_t reward[TY_SEATS_MAX] = {0};
        ty_lineup_step(&lineup, state, reward);
    }
    ty_metrics(ruleset, state, metrics);
}

/* The sum of the metric with this name over `count` episodes with experts on all seats. */
static inline int32_t experts_reach(const TyRuleset *ruleset, const char *metric, uint32_t count)
{
    const TyShape *shape = ty_shape(ruleset);
    uint32_t index = 0;
    int32_t sum = 0;
    while (strcmp(shape->metrics[index], metric) != 0) {
        index++;
        assert_true(index < shape->metric_count);
    }
    for (uint32_t seed = 0; seed < count; seed++) {
        int32_t metrics[TY_METRICS_MAX];
        agent_play(ruleset, "expert", seed, metrics);
        sum += metrics[index];
    }
    return sum;
}
