/* Measuring what drawings cost. */
#include "bench/bench_draw.h"

#include "bench/reference.h"
#include "core/status.h"

#include <stdlib.h>

enum {
    SEED = 1,
    POSITIONS = 32, /* one decision after the other, in a slice: short, for busy machines */
};

/* An episode of random play that is being drawn. */
typedef struct Drawn {
    const TyRuleset *ruleset;
    uint64_t seed; /* of the next episode */
    TySketch sketch;
    _Alignas(8) uint8_t state[TY_STATE_MAX];
    char svg[TY_SVG_MAX];
} Drawn;

/* One decision further, or the next episode. */
static void drawn_step(Drawn *drawn)
{
    uint8_t mask[TY_ACTIONS_MAX];
    int32_t reward[TY_SEATS_MAX] = {0};
    const TyHead *head = ty_head(drawn->state);
    if (head->over) {
        ty_reset(drawn->ruleset, drawn->state, ++drawn->seed, NULL);
        return;
    }
    ty_legal(drawn->ruleset, drawn->state, mask);
    uint32_t action =
        ty_sample(mask, ty_shape(drawn->ruleset)->action_count, drawn->seed, head->steps);
    ty_step(drawn->ruleset, drawn->state, action, reward, NULL);
}

/* The time of one kind of drawing alone, over some positions. */
static double slice_measure(Drawn *drawn, bool changes, double *bytes)
{
    uint64_t spent = 0;
    size_t length = 0;
    for (uint32_t i = 0; i < POSITIONS; i++) {
        drawn_step(drawn);
        uint64_t start = bench_clock_ns();
        length += changes ? ty_svg_changes(drawn->ruleset, drawn->state, TY_EVERYTHING,
                                           &drawn->sketch, drawn->svg, sizeof drawn->svg)
                          : ty_svg(drawn->ruleset, drawn->state, TY_EVERYTHING, &drawn->sketch,
                                   drawn->svg, sizeof drawn->svg);
        spent += bench_clock_ns() - start;
    }
    *bytes = (double)length / POSITIONS;
    return (double)spent / POSITIONS;
}

static void draw_run(Drawn *drawn, BenchReference *reference, double seconds, BenchDraw *result)
{
    BenchSlices slices[3] = {{.count = 0}};
    uint64_t begin = bench_clock_ns();
    ty_reset(drawn->ruleset, drawn->state, drawn->seed, NULL);
    do {
        slices_add(&slices[0], slice_measure(drawn, false, &result->drawing_bytes));
        slices_add(&slices[1], slice_measure(drawn, true, &result->change_bytes));
        slices_add(&slices[2], reference_copy_ns(reference));
    } while ((double)(bench_clock_ns() - begin) < seconds * 1e9);
    result->drawing = slices_figure(&slices[0]);
    result->changes = slices_figure(&slices[1]);
    result->copy = slices_figure(&slices[2]);
    for (uint32_t i = 0; i < 3; i++) {
        slices_clear(&slices[i]);
    }
}

TyStatus bench_draw_measure(const TyRuleset *ruleset, double seconds, BenchDraw *result)
{
    BenchReference *reference = reference_open();
    Drawn *drawn = calloc(1, sizeof *drawn);
    TyStatus status = ty_status_ok();
    if (reference == NULL || drawn == NULL) {
        status = ty_status_fail(TY_NO_MEMORY, "bench: no memory");
    } else {
        drawn->ruleset = ruleset;
        drawn->seed = SEED;
        draw_run(drawn, reference, seconds, result);
    }
    free(drawn);
    reference_close(reference);
    return status;
}
