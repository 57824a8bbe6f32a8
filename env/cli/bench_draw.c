/* trainyard bench --draw: what drawings cost. */
#include "bench/bench_draw.h"
#include "cli/bench_modes.h"

#include <stdio.h>

static void draw_line(const char *name, const BenchFigure *cost, double bytes,
                      const BenchFigure *copy)
{
    printf("  %-10s %10.2f %10.2f %12.0f %10.0f\n", name, cost->low * 1e-3, cost->median * 1e-3,
           cost->low / copy->low, bytes);
}

static void draw_print(const char *spec, const BenchDraw *draw)
{
    printf("\n%s\n  %-10s %10s %10s %12s %10s\n", spec, "", "us p10", "us median", "references",
           "bytes");
    draw_line("drawing", &draw->drawing, draw->drawing_bytes, &draw->copy);
    draw_line("changes", &draw->changes, draw->change_bytes, &draw->copy);
}

static void figure_json(TyJson *json, const char *key, const BenchFigure *cost, double bytes,
                        const BenchFigure *copy)
{
    ty_json_open(json, key, '{');
    output_real(json, "us_low", cost->low * 1e-3);
    output_real(json, "us_median", cost->median * 1e-3);
    output_real(json, "ratio", cost->low / copy->low);
    output_real(json, "bytes", bytes);
    ty_json_close(json, '}');
}

static void draw_json(TyJson *json, const char *spec, const BenchDraw *draw)
{
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "ruleset", spec);
    output_real(json, "ref_copy_ns", draw->copy.low);
    figure_json(json, "drawing", &draw->drawing, draw->drawing_bytes, &draw->copy);
    figure_json(json, "changes", &draw->changes, draw->change_bytes, &draw->copy);
    bench_machine_json(json);
    ty_json_close(json, '}');
}

static int draw_measure(const Settings *settings, const char *spec, TyJson *json)
{
    TyRuleset *ruleset = NULL;
    BenchDraw draw;
    int status = ruleset_open(settings, spec, &ruleset);
    if (status != CLI_OK) {
        return status;
    }
    TyStatus measured = bench_draw_measure(ruleset, settings->seconds, &draw);
    if (measured.code != TY_OK) {
        status = cli_failure(settings, "%s", measured.message);
    } else if (settings->json) {
        draw_json(json, ty_shape(ruleset)->spec, &draw);
    } else {
        draw_print(ty_shape(ruleset)->spec, &draw);
    }
    ty_ruleset_close(ruleset);
    return status;
}

int bench_draw(const Settings *settings, const BenchList *list)
{
    return bench_each(
        settings, list,
        "A whole drawing, and what a decision changes of it, with everything shown; a reference "
        "is\n"
        "a memcpy of 1 KiB from a random one of 65,536 slots (p10 by p10).\n",
        draw_measure);
}
