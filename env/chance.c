/* Chance as a seat: the option `chance=seat` of every game. */
#include "chance.h"

#include "core/hash.h"
#include "kit/kit.h"
#include "play.h"

#include <assert.h>
#include <string.h>

static ChanceTail *chance_tail(const TyRuleset *ruleset, void *state)
{
    return (ChanceTail *)((uint8_t *)state + ruleset->game_state_size);
}

static const ChanceTail *chance_tail_const(const TyRuleset *ruleset, const void *state)
{
    return (const ChanceTail *)((const uint8_t *)state + ruleset->game_state_size);
}

void chance_extend(TyRuleset *ruleset)
{
    TyShape *shape = &ruleset->shape;
    shape->seats = shape->players + 1;
    shape->action_count += TY_OUTCOMES_MAX;
    shape->state_size += sizeof(ChanceTail);
    const TyBlock blocks[2] = {
        {.name = "chance_stream",
         .kind = TY_BLOCK_CATEGORY,
         .rows = 1,
         .columns = 1,
         .maximum = TY_STREAMS_MAX,
         .width = 1,
         .help = "source of the waiting draw, plus one"},
        {.name = "chance_weight",
         .kind = TY_BLOCK_COUNT,
         .rows = 1,
         .columns = TY_OUTCOMES_MAX,
         .maximum = 255,
         .width = 1,
         .help = "weight of each outcome; the chance seat's only"},
    };
    assert(shape->row_block_count + 2 <= TY_BLOCKS_MAX);
    for (uint32_t i = 0; i < 2; i++) {
        TyBlock *block = &ruleset->row_blocks[shape->row_block_count++];
        *block = blocks[i];
        block->offset = (uint16_t)shape->row_size;
        shape->row_size += blocks[i].columns;
    }
}

bool chance_has_block(const TyBlock *block)
{
    return strncmp(block->name, "chance_", strlen("chance_")) == 0;
}

/* Tries the pending step or reset on `work`, a copy of the state, with the answers so far. */
static bool chance_try(const TyRuleset *ruleset, const ChanceTail *tail, void *work,
                       int32_t *reward, TyTape *tape)
{
    TyOutcome script[CHANCE_DRAWS_MAX];
    for (uint32_t i = 0; i < tail->answer_count; i++) {
        script[i] = (TyOutcome){.stream = tail->answer_stream[i], .outcome = tail->answer[i]};
    }
    tape->script = script;
    tape->script_count = tail->answer_count;
    tape->strict = true;
    bool accepted = true;
    if (tail->action == CHANCE_RESET) {
        play_begin(ruleset, work, tape);
    } else {
        accepted = play_step(ruleset, work, tail->action, reward, tape);
    }
    tape->script = NULL;
    tape->script_count = 0;
    return accepted;
}

/* Tries what is pending; either commits it or asks for one more draw. */
static bool chance_advance(const TyRuleset *ruleset, void *state, ChanceTail *tail, int32_t *reward,
                           TyTape *listener)
{
    uint64_t work[TY_STATE_MAX / sizeof(uint64_t)];
    TyHead *head = state;
    int32_t earned[TY_SEATS_MAX] = {0};
    TyTape tape = {0};
    head->seat = tail->seat;
    memcpy(work, state, ruleset->game_state_size);
    if (!chance_try(ruleset, tail, work, earned, &tape)) {
        return false;
    }
    if (tape.missing) {
        tail->waiting = 1;
        tail->stream = tape.missing_stream;
        tail->outcome_count = tape.missing_count;
        memset(tail->weights, 0, sizeof tail->weights);
        memcpy(tail->weights, tape.missing_weights, tape.missing_count);
        head->seat = (int8_t)ruleset->shape.players;
        return true;
    }
    if (listener != NULL && (listener->event != NULL || listener->drawn != NULL)) {
        int32_t ignored[TY_SEATS_MAX] = {0};
        TyTape teller = {
            .user = listener->user, .event = listener->event, .drawn = listener->drawn};
        memcpy(work, state, ruleset->game_state_size);
        chance_try(ruleset, tail, work, ignored, &teller);
    }
    uint32_t steps = head->steps;
    memcpy(state, work, ruleset->game_state_size);
    head->steps = steps;
    for (uint32_t i = 0; reward != NULL && i < ruleset->shape.players; i++) {
        reward[i] += earned[i];
    }
    memset(tail, 0, sizeof *tail);
    return true;
}

bool chance_reset(const TyRuleset *ruleset, void *state, TyTape *tape)
{
    ChanceTail *tail = chance_tail(ruleset, state);
    memset(tail, 0, sizeof *tail);
    tail->action = CHANCE_RESET;
    return chance_advance(ruleset, state, tail, NULL, tape);
}

bool chance_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                 TyTape *tape)
{
    ChanceTail *tail = chance_tail(ruleset, state);
    ChanceTail before = *tail;
    TyHead *head = state;
    if (tail->waiting) {
        uint32_t outcome = action - ruleset->game_action_count;
        if (action < ruleset->game_action_count || outcome >= tail->outcome_count ||
            tail->weights[outcome] == 0 || tail->answer_count == CHANCE_DRAWS_MAX) {
            return false;
        }
        tail->answer_stream[tail->answer_count] = tail->stream;
        tail->answer[tail->answer_count++] = (uint8_t)outcome;
    } else {
        if (action >= ruleset->game_action_count) {
            return false;
        }
        tail->action = (uint16_t)action;
        tail->seat = head->seat;
    }
    if (!chance_advance(ruleset, state, tail, reward, tape)) {
        *tail = before;
        return false;
    }
    head->steps++;
    return true;
}

bool chance_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask)
{
    const ChanceTail *tail = chance_tail_const(ruleset, state);
    if (!tail->waiting) {
        return false;
    }
    for (uint32_t i = 0; i < tail->outcome_count; i++) {
        mask[ruleset->game_action_count + i] = tail->weights[i] > 0;
    }
    return true;
}

void chance_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row)
{
    const ChanceTail *tail = chance_tail_const(ruleset, state);
    uint8_t *part = row + ruleset->game_row_size;
    part[0] = tail->waiting ? (uint8_t)(tail->stream + 1) : 0;
    if (seat == ruleset->shape.players) {
        memcpy(part + 1, tail->weights, TY_OUTCOMES_MAX);
    } else {
        memset(part + 1, 0, TY_OUTCOMES_MAX);
    }
}

uint64_t chance_hash(const TyRuleset *ruleset, const void *state, uint64_t hash)
{
    const ChanceTail *tail = chance_tail_const(ruleset, state);
    hash = hash_add(hash, (uint64_t)tail->waiting | (uint64_t)tail->stream << 8 |
                              (uint64_t)tail->action << 16 | (uint64_t)(uint8_t)tail->seat << 32);
    hash = hash_bytes(hash, tail->weights, sizeof tail->weights);
    hash = hash_bytes(hash, tail->answer_stream, tail->answer_count);
    return hash_bytes(hash, tail->answer, tail->answer_count);
}

/* Tries the pending step with the answers so far; the tape then says which draw it waits for. */
static bool chance_probe(const TyRuleset *ruleset, const void *state, TyTape *tape)
{
    uint64_t work[TY_STATE_MAX / sizeof(uint64_t)];
    int32_t ignored[TY_SEATS_MAX] = {0};
    const ChanceTail *tail = chance_tail_const(ruleset, state);
    memcpy(work, state, ruleset->game_state_size);
    ((TyHead *)work)->seat = tail->seat;
    return chance_try(ruleset, tail, work, ignored, tape) && tape->missing;
}

/* The game's own invariants hold for the state in which the pending step began. */
static const char *chance_check_game(const TyRuleset *ruleset, const void *state)
{
    uint64_t work[TY_STATE_MAX / sizeof(uint64_t)];
    const ChanceTail *tail = chance_tail_const(ruleset, state);
    memcpy(work, state, ruleset->game_state_size);
    if (tail->waiting && tail->action == CHANCE_RESET) {
        const uint8_t *bytes = (const uint8_t *)work + sizeof(TyHead);
        for (size_t i = 0; i < ruleset->game_state_size - sizeof(TyHead); i++) {
            if (bytes[i] != 0) {
                return "the set-up has not begun but the position is not empty";
            }
        }
        return NULL;
    }
    if (tail->waiting) {
        ((TyHead *)work)->seat = tail->seat;
    }
    /* cppcheck-suppress returnDanglingLifetime ; what it returns is a text of the game's */
    return kit_check(ruleset, work);
}

const char *chance_check(const TyRuleset *ruleset, const void *state)
{
    const ChanceTail *tail = chance_tail_const(ruleset, state);
    if (tail->waiting > 1 || tail->answer_count > CHANCE_DRAWS_MAX) {
        return "the chance seat's question is out of range";
    }
    bool asked = ty_head(state)->seat == (int8_t)ruleset->shape.players;
    if (asked != (tail->waiting == 1)) {
        return "the chance seat is to act and nothing waits, or the other way round";
    }
    if (tail->waiting && (tail->seat < 0 || tail->seat >= (int8_t)ruleset->shape.players)) {
        return "the seat that acted before the draw does not exist";
    }
    const char *broken = chance_check_game(ruleset, state);
    if (broken != NULL || !tail->waiting) {
        return broken;
    }
    TyTape tape = {0};
    bool fits = chance_probe(ruleset, state, &tape) && tape.missing_stream == tail->stream &&
                tape.missing_count == tail->outcome_count &&
                memcmp(tape.missing_weights, tail->weights, sizeof tail->weights) == 0;
    return fits ? NULL : "the waiting draw does not fit the position";
}

void chance_resample(const TyRuleset *ruleset, void *state, uint32_t seat)
{
    uint64_t before[TY_STATE_MAX / sizeof(uint64_t)];
    ChanceTail *tail = chance_tail(ruleset, state);
    TyTape tape = {0};
    if (tail->waiting && tail->action == CHANCE_RESET) {
        return;
    }
    memcpy(before, state, ruleset->shape.state_size);
    play_resample(ruleset, state, seat);
    if (!tail->waiting) {
        return;
    }
    if (!chance_probe(ruleset, state, &tape) || tape.missing_stream != tail->stream) {
        memcpy(state, before, ruleset->shape.state_size);
        return;
    }
    memcpy(tail->weights, tape.missing_weights, sizeof tail->weights);
}
