/* Playing: the public calls on states, the same for every game. */
#include "chance.h"
#include "core/bytes.h"
#include "core/draw.h"
#include "core/status.h"

#include <string.h>

static bool tape_failed(const TyTape *tape)
{
    return tape != NULL && tape->status.code != TY_OK;
}

bool ty_reset(const TyRuleset *ruleset, void *state, uint64_t seed, TyTape *tape)
{
    memset(state, 0, ruleset->shape.state_size);
    ((TyHead *)state)->seed = seed;
    if (ruleset->chance_seat) {
        return chance_reset(ruleset, state, tape);
    }
    ruleset->game->reset(ruleset, state, tape);
    return !tape_failed(tape);
}

/* A step that a script may refuse works on a copy. */
static bool step_scripted(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                          TyTape *tape)
{
    uint64_t work[TY_STATE_MAX / sizeof(uint64_t)];
    int32_t earned[TY_SEATS_MAX] = {0};
    memcpy(work, state, ruleset->shape.state_size);
    if (!ruleset->game->step(ruleset, work, action, earned, tape) || tape_failed(tape)) {
        return false;
    }
    memcpy(state, work, ruleset->shape.state_size);
    for (uint32_t i = 0; i < ruleset->shape.players; i++) {
        reward[i] += earned[i];
    }
    return true;
}

bool ty_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t reward[TY_SEATS_MAX],
             TyTape *tape)
{
    TyHead *head = state;
    if (head->over || action >= ruleset->shape.action_count) {
        return false;
    }
    if (ruleset->chance_seat) {
        return chance_step(ruleset, state, action, reward, tape);
    }
    bool scripted = tape != NULL && (tape->script_count > 0 || tape->strict);
    bool accepted = scripted ? step_scripted(ruleset, state, action, reward, tape)
                             : ruleset->game->step(ruleset, state, action, reward, tape);
    head->steps += accepted;
    return accepted;
}

void ty_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask)
{
    memset(mask, 0, ruleset->shape.action_count);
    if (ty_head(state)->over || (ruleset->chance_seat && chance_legal(ruleset, state, mask))) {
        return;
    }
    ruleset->game->legal(ruleset, state, mask);
}

void ty_legal_seat(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *mask)
{
    if (ty_head(state)->over || ty_head(state)->seat == (int8_t)seat) {
        ty_legal(ruleset, state, mask);
        return;
    }
    memset(mask, 0, ruleset->shape.action_count);
    mask[0] = 1;
}

void ty_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row)
{
    if (seat < ruleset->shape.players) {
        ruleset->game->observe(ruleset, state, seat, false, row);
    } else {
        memset(row, 0, ruleset->game_row_size);
    }
    if (ruleset->chance_seat) {
        chance_observe(ruleset, state, seat, row);
    }
}

void ty_observe_full(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row)
{
    ruleset->game->observe(ruleset, state, seat < ruleset->shape.players ? seat : 0, true, row);
}

void ty_metrics(const TyRuleset *ruleset, const void *state, int32_t *metrics)
{
    ruleset->game->measure(ruleset, state, metrics);
}

uint64_t ty_hash(const TyRuleset *ruleset, const void *state)
{
    const TyHead *head = ty_head(state);
    uint64_t hash = hash_add(hash_add(0, head->seed), head->steps);
    hash = hash_add(hash, (uint64_t)head->truncated << 16 | (uint64_t)(uint8_t)head->seat << 8 |
                              head->over);
    for (uint32_t i = 0; i < TY_STREAMS_MAX; i++) {
        hash = hash_add(hash, head->draws[i]);
    }
    hash = ruleset->game->hash(ruleset, state, hash);
    return ruleset->chance_seat ? chance_hash(ruleset, state, hash) : hash;
}

const char *ty_check(const TyRuleset *ruleset, const void *state)
{
    const TyHead *head = ty_head(state);
    if (head->truncated > head->over) {
        return "an episode that is not over was cut short";
    }
    if (head->over > 1 || (head->over == 1) != (head->seat == -1) ||
        head->seat >= (int8_t)ruleset->shape.seats || head->seat < -1) {
        return "the seat to act does not exist";
    }
    return ruleset->chance_seat ? chance_check(ruleset, state)
                                : ruleset->game->check(ruleset, state);
}

void ty_rekey(void *state, uint64_t key)
{
    ((TyHead *)state)->seed = key;
}

void ty_resample(const TyRuleset *ruleset, void *state, uint32_t seat, uint64_t key)
{
    ty_rekey(state, key);
    if (seat >= ruleset->shape.players) {
        return;
    }
    if (ruleset->chance_seat) {
        chance_resample(ruleset, state, seat);
    } else {
        ruleset->game->resample(ruleset, state, seat);
    }
}

void ty_plan(const TyPlanner *planner, uint64_t key, void *state)
{
    memcpy(state, planner->state, planner->ruleset->shape.state_size);
    ty_resample(planner->ruleset, state, planner->seat, key);
}

void ty_action_name(const TyRuleset *ruleset, uint32_t action, char name[TY_NAME_MAX])
{
    Text text = text_init(name, TY_NAME_MAX);
    if (action == 0) {
        text_add(&text, "wait");
    } else if (action < ruleset->game_action_count) {
        ruleset->game->action_name(ruleset, action, &text);
    } else {
        text_add(&text, "chance %u", action - ruleset->game_action_count);
    }
}

bool ty_action_find(const TyRuleset *ruleset, const char *name, uint32_t *action)
{
    char candidate[TY_NAME_MAX];
    for (uint32_t i = 0; i < ruleset->shape.action_count; i++) {
        ty_action_name(ruleset, i, candidate);
        if (strcmp(candidate, name) == 0) {
            *action = i;
            return true;
        }
    }
    return false;
}

void ty_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row, uint32_t column,
                    char name[TY_NAME_MAX])
{
    Text text = text_init(name, TY_NAME_MAX);
    if (chance_has_block(block)) {
        text_add(&text, "%u", column);
    } else {
        ruleset->game->block_label(ruleset, block, row, column, &text);
    }
}

void ty_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value,
                    char name[TY_NAME_MAX])
{
    Text text = text_init(name, TY_NAME_MAX);
    if (!chance_has_block(block)) {
        ruleset->game->value_label(ruleset, block, value, &text);
    }
}

void ty_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome,
                     char name[TY_NAME_MAX])
{
    Text text = text_init(name, TY_NAME_MAX);
    ruleset->game->outcome_name(ruleset, stream, outcome, &text);
}

bool ty_outcome_find(const TyRuleset *ruleset, uint32_t stream, const char *name, uint32_t *outcome)
{
    char candidate[TY_NAME_MAX];
    for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
        ty_outcome_name(ruleset, stream, i, candidate);
        if (candidate[0] != '\0' && strcmp(candidate, name) == 0) {
            *outcome = i;
            return true;
        }
    }
    return false;
}

const char *ty_phase_name(const TyRuleset *ruleset, const void *state)
{
    const TyHead *head = ty_head(state);
    if (head->over) {
        return "over";
    }
    return head->seat == (int8_t)ruleset->shape.players ? "chance"
                                                        : ruleset->game->phase_name(ruleset, state);
}

size_t ty_text(const TyRuleset *ruleset, const void *state, uint32_t seat, char *out, size_t size)
{
    Text text = text_init(out, size);
    ruleset->game->text(ruleset, state, seat, &text);
    return text.length;
}

size_t ty_state_json(const TyRuleset *ruleset, const void *state, char *out, size_t size)
{
    Json json = json_init(out, size);
    json_open(&json, NULL, '{');
    ruleset->game->state_json(ruleset, state, &json);
    json_close(&json, '}');
    return json.text.length;
}

size_t ty_event_json(const TyRuleset *ruleset, const TyEvent *event, char *out, size_t size)
{
    Json json = json_init(out, size);
    json_open(&json, NULL, '{');
    ruleset->game->event_json(ruleset, event, &json);
    json_close(&json, '}');
    return json.text.length;
}

uint64_t ty_episode_seed(uint64_t slot_seed, uint64_t episode)
{
    return episode == 0 ? slot_seed : hash_mix(slot_seed + hash_mix(episode));
}

uint64_t ty_agent_seed(uint64_t seed, uint32_t seat)
{
    return hash_mix(hash_mix(seed) + (seat + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* The sum of the eight bytes of `word`, which is below 256. */
static inline uint32_t bytes_sum(uint64_t word)
{
    return (uint32_t)((word * 0x0101010101010101u) >> 56);
}

/* Which of the eight counts in the bytes of `counts` item number `skip` falls into, when counting
 * from the first; takes the counts before it off `skip`. Their sum is at most 64. */
static inline uint32_t bytes_select(uint64_t counts, uint32_t *skip)
{
    uint64_t sums = counts * 0x0101010101010101u;
    uint64_t passed = ((*skip | 0x80) * 0x0101010101010101u - sums) >> 7 & 0x0101010101010101u;
    uint32_t index = bytes_sum(passed);
    *skip -= (uint32_t)((sums << 8) >> (8 * index)) & 0xff;
    return index;
}

/* The position of set byte number `skip` among the 64 bytes from `mask` on. No branch depends on
 * the mask: they would all be mispredicted. */
static uint32_t chunk_select(const uint8_t *mask, uint32_t skip)
{
    uint64_t counts = 0;
    for (uint32_t i = 0; i < 8; i++) {
        counts |= (uint64_t)bytes_sum(load_le64(mask + (size_t)i * 8)) << (8 * i);
    }
    uint32_t word = bytes_select(counts, &skip);
    return word * 8 + bytes_select(load_le64(mask + (size_t)word * 8), &skip);
}

/* How many of the 64 bytes from `mask` on are set. */
static inline uint32_t chunk_sum(const uint8_t *mask)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 64; i += 8) {
        sum += load_le64(mask + i);
    }
    return bytes_sum(sum);
}

uint32_t ty_sample(const uint8_t *mask, uint32_t count, uint64_t seed, uint64_t counter)
{
    uint8_t sums[TY_ACTIONS_MAX / 64 + 1];
    uint8_t last[64] = {0};
    uint32_t chunk_count = count / 64;
    uint32_t total = 0;
    memcpy(last, mask + (size_t)chunk_count * 64, count % 64);
    for (uint32_t i = 0; i < chunk_count; i++) {
        sums[i] = (uint8_t)chunk_sum(mask + (size_t)i * 64);
        total += sums[i];
    }
    total += chunk_sum(last);
    if (total == 0) {
        return 0;
    }
    uint32_t skip = (uint32_t)(((draw_value(seed, TY_STREAMS_MAX, counter) >> 32) * total) >> 32);
    uint32_t chunk = 0;
    while (chunk < chunk_count && skip >= sums[chunk]) {
        skip -= sums[chunk++];
    }
    return chunk * 64 + chunk_select(chunk < chunk_count ? mask + (size_t)chunk * 64 : last, skip);
}
