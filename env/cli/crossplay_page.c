/* The page of trainyard crossplay: the table as a heat map, one SVG in a file of its own. */
#include "cli/crossplay.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_MAX = 16 << 20, /* bytes */
    LETTER = 9,          /* pixels of a letter of a name, at most about */
    CELL = 84,
    MARGIN = 16,
};

/* Colours of the lowest and the highest cell. */
static const int cold[3] = {247, 244, 236};
static const int warm[3] = {24, 78, 119};

/* The table on the page, in pixels. */
typedef struct Map {
    const Crossplay *cross;
    uint32_t left;  /* room for the names of rows */
    uint32_t top;   /* and for those of columns, which are turned */
    double ends[2]; /* the lowest and the highest mean */
} Map;

static void put_escaped(TyText *page, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            ty_text_add(page, "&lt;");
            break;
        case '>':
            ty_text_add(page, "&gt;");
            break;
        case '&':
            ty_text_add(page, "&amp;");
            break;
        case '"':
            ty_text_add(page, "&quot;");
            break;
        default:
            ty_text_put(page, text, 1);
        }
    }
}

static int blend(int channel, double share)
{
    return (int)lround(cold[channel] + share * (warm[channel] - cold[channel]));
}

static void put_cell(TyText *page, const Map *map, uint32_t row, uint32_t column)
{
    const Crossplay *cross = map->cross;
    const double *ends = map->ends;
    Estimate cell = crossplay_cell(cross, row, column);
    double share = ends[1] > ends[0] ? (cell.mean - ends[0]) / (ends[1] - ends[0]) : 0;
    uint32_t x = map->left + column * CELL;
    uint32_t y = map->top + row * CELL;
    ty_text_add(page, "<g><title>");
    put_escaped(page, teams_name(&cross->teams, row));
    ty_text_add(page, ", ");
    put_escaped(page, teams_name(&cross->teams, column));
    ty_text_add(page, ": %.4f [%.4f, %.4f]</title>", cell.mean, cell.low, cell.high);
    ty_text_add(page, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"/>",
                x, y, CELL - 2, CELL - 2, blend(0, share), blend(1, share), blend(2, share));
    const char *ink = share > 0.5 ? "#fff" : "#222";
    ty_text_add(page,
                "<text x=\"%u\" y=\"%u\" fill=\"%s\" font-size=\"17\" text-anchor=\"middle\">%.3f"
                "</text>",
                x + CELL / 2, y + 40, ink, cell.mean);
    ty_text_add(page,
                "<text x=\"%u\" y=\"%u\" fill=\"%s\" font-size=\"10\" text-anchor=\"middle\">"
                "%.3f to %.3f</text></g>\n",
                x + CELL / 2, y + 58, ink, cell.low, cell.high);
}

static void put_names(TyText *page, const Map *map)
{
    const Crossplay *cross = map->cross;
    for (uint32_t i = 0; i < cross->teams.list.count; i++) {
        ty_text_add(page, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">", map->left - 8,
                    map->top + i * CELL + CELL / 2);
        put_escaped(page, teams_name(&cross->teams, i));
        ty_text_add(page, "</text>\n<text transform=\"translate(%u,%u) rotate(-40)\">",
                    map->left + i * CELL + CELL / 2, map->top - 10);
        put_escaped(page, teams_name(&cross->teams, i));
        ty_text_add(page, "</text>\n");
    }
}

static Map map_open(const Crossplay *cross)
{
    Map map = {.cross = cross, .ends = {INFINITY, -INFINITY}};
    uint32_t longest = 0;
    for (uint32_t row = 0; row < cross->teams.list.count; row++) {
        uint32_t length = (uint32_t)strlen(teams_name(&cross->teams, row));
        longest = length > longest ? length : longest;
        for (uint32_t column = 0; column < cross->teams.list.count; column++) {
            double mean = crossplay_cell(cross, row, column).mean;
            map.ends[0] = fmin(map.ends[0], mean);
            map.ends[1] = fmax(map.ends[1], mean);
        }
    }
    map.left = MARGIN + LETTER * longest;
    map.top = 2 * MARGIN + LETTER * longest * 2 / 3;
    return map;
}

static void put_map(TyText *page, const Crossplay *cross)
{
    uint32_t agents = cross->teams.list.count;
    const Map map = map_open(cross);
    ty_text_add(page,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                "font-family=\"sans-serif\" font-size=\"14\" role=\"img\">\n",
                2 * map.left + agents * CELL, map.top + agents * CELL + MARGIN);
    put_names(page, &map);
    for (uint32_t row = 0; row < agents; row++) {
        for (uint32_t column = 0; column < agents; column++) {
            put_cell(page, &map, row, column);
        }
    }
    ty_text_add(page, "</svg>\n");
}

static void put_page(TyText *page, const Crossplay *cross)
{
    const Teams *teams = &cross->teams;
    ty_text_add(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    put_escaped(page, teams->shape->spec);
    ty_text_add(page, ": cross-play</title></head>\n"
                      "<body style=\"font-family:sans-serif;margin:24px\"><h1>");
    put_escaped(page, teams->shape->spec);
    ty_text_add(page, "</h1>\n<p>");
    put_escaped(page, teams_measure(teams));
    ty_text_add(page,
                "%s, with its 95 %% interval. Row: seat 0; column: seat 1. %llu episodes in "
                "each cell, seeds from %llu on.</p>\n",
                teams->shape->cooperative ? "" : " of the row's agent (win 1, draw 1/2)",
                (unsigned long long)teams->settings->episodes,
                (unsigned long long)teams->settings->seed);
    put_map(page, cross);
    ty_text_add(page, "</body></html>\n");
}

int crossplay_page(const Crossplay *cross, const char *path)
{
    TyText page = ty_text_init(cli_memory(malloc(PAGE_MAX)), PAGE_MAX);
    put_page(&page, cross);
    TyStatus status = file_write(path, page.data, page.length);
    free(page.data);
    return status.code == TY_OK ? CLI_OK : cli_failure(cross->teams.settings, "%s", status.message);
}
