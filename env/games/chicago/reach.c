/* Ligne de train, Chicago: where a pawn can go with an exact number of spaces. */
#include "games/chicago/chicago.h"

#include <string.h>

enum { FRAMES = CHICAGO_LENGTH_MAX + CHICAGO_PASSES_MAX + 2 };

/* A space of the path that is being tried. */
typedef struct Frame {
    uint8_t cell;
    uint8_t turn;   /* neighbours tried so far */
    uint8_t length; /* counted spaces up to here */
    uint8_t passes; /* left */
} Frame;

/* A walk over all simple paths, depth first, without recursion. */
typedef struct Search {
    const Way *way;
    CellSet visited;
    uint32_t length_max;
    uint32_t depth;
    Frame frames[FRAMES];
} Search;

/* The space on which a path ends. */
typedef struct Landing {
    uint8_t cell;
    uint8_t length;
} Landing;

static void search_init(Search *search, const Way *way, uint32_t length_max)
{
    search->way = way;
    search->visited = (CellSet){{0, 0}};
    search->length_max = length_max;
    search->depth = 0;
    search->frames[0] = (Frame){.cell = way->from, .passes = way->passes};
    if (way->from < CHICAGO_NODES) {
        cells_add(&search->visited, way->from);
    }
}

/* Goes back by one space; false if the search is done. */
static inline bool search_back(Search *search)
{
    if (search->depth == 0) {
        return false;
    }
    cells_remove(&search->visited, search->frames[search->depth].cell);
    search->depth--;
    return true;
}

/* Tries `cell` behind the last space of the path. A free space counts. A blocked one takes a pass
 * and does not count (ruling C14). Returns true if a move may end there: on a free space, beside an
 * opposing pawn in the aisle, or, for a pass, on the seat of a pawn that slides. */
static inline bool search_enter(Search *search, uint8_t cell)
{
    const Way *way = search->way;
    const Frame *top = &search->frames[search->depth];
    bool shut = cells_have(&way->shut, cell);
    bool free = !shut && !cells_have(&way->shared, cell);
    Frame next = {.cell = cell,
                  .length = (uint8_t)(top->length + free),
                  .passes = (uint8_t)(top->passes - !free)};
    bool lands = !shut || (top->passes > 0 && cells_have(&way->slides, cell));
    if ((free || top->passes > 0) && next.length < search->length_max) {
        search->frames[++search->depth] = next;
        cells_add(&search->visited, cell);
    }
    return lands;
}

/* Finds the next space on which a path ends; false when all paths were tried. */
static inline bool search_next(Search *search, Landing *landing)
{
    for (;;) {
        Frame *top = &search->frames[search->depth];
        uint8_t cell =
            top->turn < 4 ? search->way->train->next[top->cell][top->turn++] : CHICAGO_NONE;
        if (cell == CHICAGO_NONE) {
            if (!search_back(search)) {
                return false;
            }
        } else if (!cells_have(&search->visited, cell)) {
            *landing = (Landing){.cell = cell, .length = (uint8_t)(top->length + 1)};
            if (search_enter(search, cell)) {
                return true;
            }
        }
    }
}

void chicago_way_reach(const Way *way, uint32_t length_max, Reach *reach)
{
    Search search;
    Landing landing;
    memset(reach->ends, 0, (length_max + 1) * sizeof reach->ends[0]);
    search_init(&search, way, length_max);
    while (search_next(&search, &landing)) {
        cells_add(&reach->ends[landing.length], landing.cell);
    }
}

/* The spaces of the search's path up to a landing on `to`. A space that goes on is on the path. */
static uint32_t search_path(const Search *search, uint8_t to, uint8_t path[TY_EVENT_PATH_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 1; i <= search->depth && search->frames[i].cell != to; i++) {
        path[count++] = search->frames[i].cell;
    }
    path[count++] = to;
    return count;
}

uint32_t chicago_way_path(const Way *way, uint32_t length, uint8_t to,
                          uint8_t path[TY_EVENT_PATH_MAX])
{
    Way sparing = *way;
    for (uint8_t passes = 0; passes <= way->passes; passes++) {
        Search search;
        Landing landing;
        sparing.passes = passes;
        search_init(&search, &sparing, length);
        while (search_next(&search, &landing)) {
            if (landing.cell == to && landing.length == length) {
                return search_path(&search, to, path);
            }
        }
    }
    return 0;
}
