/* One number that says whether two builds play alike. */
#include "bench/signature.h"

#include "core/hash.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SIGNATURE_SEEDS = 20 };

/* Room for one position; on the stack of signature_ruleset. */
typedef struct Position {
    _Alignas(8) uint8_t state[TY_STATE_MAX];
    uint8_t row[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    int32_t reward[TY_SEATS_MAX];
    int32_t metrics[TY_METRICS_MAX];
} Position;

static uint64_t fold_numbers(uint64_t hash, const int32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hash = hash_add(hash, (uint64_t)(int64_t)numbers[i]);
    }
    return hash;
}

static uint64_t fold_position(uint64_t hash, const TyRuleset *ruleset, Position *position)
{
    const TyShape *shape = ty_shape(ruleset);
    uint32_t seat = (uint32_t)ty_head(position->state)->seat;
    ty_legal(ruleset, position->state, position->mask);
    ty_observe(ruleset, position->state, seat, position->row);
    hash = hash_add(hash, ty_hash(ruleset, position->state));
    hash = hash_bytes(hash, position->row, shape->row_size);
    return hash_bytes(hash, position->mask, shape->action_count);
}

static uint64_t fold_episode(uint64_t hash, const TyRuleset *ruleset, Position *position,
                             uint64_t seed)
{
    const TyShape *shape = ty_shape(ruleset);
    memset(position->reward, 0, sizeof position->reward);
    ty_reset(ruleset, position->state, seed, NULL);
    while (!ty_head(position->state)->over) {
        hash = fold_position(hash, ruleset, position);
        uint32_t action = ty_sample(position->mask, shape->action_count, hash_mix(seed + 1),
                                    ty_head(position->state)->steps);
        bool accepted = ty_step(ruleset, position->state, action, position->reward, NULL);
        assert(accepted);
        (void)accepted;
        hash = hash_add(hash, action);
    }
    ty_metrics(ruleset, position->state, position->metrics);
    hash = hash_add(hash, ty_hash(ruleset, position->state));
    hash = fold_numbers(hash, position->reward, shape->players);
    return fold_numbers(hash, position->metrics, shape->metric_count);
}

uint64_t signature_ruleset(uint64_t hash, const TyRuleset *ruleset, uint32_t seeds)
{
    Position position;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        hash = fold_episode(hash, ruleset, &position, seed);
    }
    return hash;
}

/* A setting that the game refuses counts too: it must go on refusing it. */
static uint64_t fold_spec(uint64_t hash, const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    if (status.code != TY_OK) {
        return hash_add(hash, (uint64_t)status.code);
    }
    hash = signature_ruleset(hash, ruleset, SIGNATURE_SEEDS);
    ty_ruleset_close(ruleset);
    return hash;
}

static uint64_t fold_choices(uint64_t hash, const char *game, const TyField *field)
{
    for (int32_t i = 0; field->choices[i] != NULL; i++) {
        char spec[TY_SPEC_MAX];
        if (i != field->standard) {
            snprintf(spec, sizeof spec, "%s:%s=%s", game, field->key, field->choices[i]);
            hash = fold_spec(hash, spec);
        }
    }
    return hash;
}

/* Every number of players; of other numbers the smallest and the largest. */
static uint64_t fold_integers(uint64_t hash, const char *game, const TyField *field)
{
    bool players = strcmp(field->key, "players") == 0;
    int32_t stride =
        players || field->maximum == field->minimum ? 1 : field->maximum - field->minimum;
    for (int32_t value = field->minimum; value <= field->maximum; value += stride) {
        char spec[TY_SPEC_MAX];
        if (value != field->standard) {
            snprintf(spec, sizeof spec, "%s:%s=%d", game, field->key, value);
            hash = fold_spec(hash, spec);
        }
    }
    return hash;
}

static uint64_t fold_flag(uint64_t hash, const char *game, const TyField *field)
{
    char spec[TY_SPEC_MAX];
    snprintf(spec, sizeof spec, "%s:%s=%s", game, field->key,
             field->standard != 0 ? "false" : "true");
    return fold_spec(hash, spec);
}

static uint64_t fold_field(uint64_t hash, const char *game, const TyField *field)
{
    switch (field->kind) {
    case TY_FIELD_INT:
        return fold_integers(hash, game, field);
    case TY_FIELD_FLAG:
        return fold_flag(hash, game, field);
    case TY_FIELD_CHOICE:
    case TY_FIELD_FILE:
        return fold_choices(hash, game, field);
    case TY_FIELD_FRACTION:
        break;
    }
    return hash;
}

uint64_t signature_compute(void)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const TyGame *game = ty_game_at(i);
        uint32_t count = 0;
        const TyField *fields = ty_game_fields(game, &count);
        hash = fold_spec(hash, ty_game_name(game));
        for (uint32_t field = 0; field < count; field++) {
            hash = fold_field(hash, ty_game_name(game), &fields[field]);
        }
    }
    return hash;
}
