/* Chance: every random outcome of every game is a `draw`. */
#include "core/draw.h"

#include "core/status.h"

#include <assert.h>
#include <string.h>

/* Draws have few outcomes: vector code for their sum costs more than it saves. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize")
#endif

static void draw_note_missing(TyTape *tape, uint32_t stream, const uint8_t *weights, uint32_t count)
{
    if (tape->missing) {
        return;
    }
    tape->missing = true;
    tape->missing_stream = (uint8_t)stream;
    tape->missing_count = (uint8_t)count;
    memcpy(tape->missing_weights, weights, count);
    if (tape->status.code == TY_OK) {
        tape->status = ty_status_fail(TY_BAD_SCRIPT, "chance: the script has no more outcomes");
    }
}

/* True if the script answers; the answer is in `outcome`. */
static bool draw_scripted(TyTape *tape, uint32_t stream, const uint8_t *weights, uint32_t count,
                          uint32_t *outcome)
{
    for (uint32_t i = 0; i < tape->script_count; i++) {
        TyOutcome *entry = &tape->script[i];
        if (entry->used || entry->stream != stream) {
            continue;
        }
        entry->used = true;
        if (entry->outcome < count && weights[entry->outcome] > 0) {
            *outcome = entry->outcome;
            return true;
        }
        if (tape->status.code == TY_OK) {
            tape->status = ty_status_fail(
                TY_BAD_SCRIPT,
                "chance: script entry %u: outcome %u of stream %u cannot happen here", i,
                entry->outcome, stream);
        }
        return false;
    }
    if (tape->strict) {
        draw_note_missing(tape, stream, weights, count);
    }
    return false;
}

/* An outcome from the generator. */
static uint32_t draw_generated(TyHead *head, uint32_t stream, const uint8_t *weights,
                               uint32_t count)
{
    uint32_t outcome = 0;
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += weights[i];
    }
    assert(total > 0);
    uint32_t value = draw_below(head->seed, stream, &head->draws[stream], total);
    while (value >= weights[outcome]) {
        value -= weights[outcome];
        outcome++;
    }
    return outcome;
}

uint32_t draw_take(TyHead *head, TyTape *tape, uint32_t stream, const uint8_t *weights,
                   uint32_t count)
{
    assert(stream < TY_STREAMS_MAX && count <= TY_OUTCOMES_MAX);
    uint32_t outcome = 0;
    bool scripted = tape != NULL && (tape->script_count > 0 || tape->strict) &&
                    draw_scripted(tape, stream, weights, count, &outcome);
    if (scripted) {
        head->draws[stream]++;
    } else {
        outcome = draw_generated(head, stream, weights, count);
    }
    if (tape != NULL && tape->drawn != NULL) {
        tape->drawn(tape->user, stream, weights, count, outcome);
    }
    return outcome;
}
