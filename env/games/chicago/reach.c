/* Ligne de train, Chicago: where a pawn can go with an exact number of spaces.
 *
 * A move is one simple path, so paths are tried one by one, depth first. Sets of cells keep that
 * cheap: the last space of a path is never visited, all of them are added at once. */
#include "games/chicago/chicago.h"

#include <string.h>

enum { FRAMES = CHICAGO_LENGTH_MAX + CHICAGO_PASSES_MAX + 2 };

/* A space of the path that is being tried. */
typedef struct Frame {
    CellSet on;     /* neighbours still to be tried */
    uint8_t cell;   /* a cell, or the start space */
    uint8_t length; /* counted spaces up to here */
    uint8_t passes; /* left */
} Frame;

/* A walk over all simple paths, without recursion. */
typedef struct Search {
    const Way *way;
    CellSet visited;
    CellSet blocked; /* what takes a pass */
    CellSet landed;  /* where a move may end one space behind the last of the path */
    uint32_t length_max;
    uint32_t depth;
    Frame frames[FRAMES];
} Search;

/* Looks at the neighbours of the path's last space. A free one counts. A blocked one takes a pass
 * and does not count (ruling C14). A move may end on a free space, beside an opposing pawn in the
 * aisle, or, for a pass, on the seat of a pawn that slides. */
static inline void search_look(Search *search)
{
    const Way *way = search->way;
    Frame *top = &search->frames[search->depth];
    const CellSet *links = &way->train->links[top->cell];
    bool last = top->length + 1u >= search->length_max;
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        uint64_t near = links->car[car] & ~search->visited.car[car];
        uint64_t blocked = near & search->blocked.car[car];
        uint64_t slides = top->passes > 0 ? near & way->slides.car[car] : 0;
        search->landed.car[car] = (near & ~way->shut.car[car]) | slides;
        top->on.car[car] = (last ? 0 : near & ~blocked) | (top->passes > 0 ? blocked : 0);
    }
}

static inline void search_init(Search *search, const Way *way, uint32_t length_max)
{
    search->way = way;
    search->visited = (CellSet){{0, 0}};
    search->length_max = length_max;
    search->depth = 0;
    search->frames[0] = (Frame){.cell = way->from, .passes = way->passes};
    for (uint32_t car = 0; car < CHICAGO_CARS; car++) {
        search->blocked.car[car] = way->shut.car[car] | way->shared.car[car];
    }
    if (way->from < CHICAGO_NODES) {
        cells_add(&search->visited, way->from);
    }
    search_look(search);
}

/* Goes on to the next path; false when all were tried. */
static inline bool search_next(Search *search)
{
    Frame *top = &search->frames[search->depth];
    while (!cells_any(&top->on)) {
        if (search->depth == 0) {
            return false;
        }
        cells_remove(&search->visited, top->cell);
        top = &search->frames[--search->depth];
    }
    uint8_t cell = cells_first(&top->on);
    bool free = !cells_have(&search->blocked, cell);
    cells_remove(&top->on, cell);
    cells_add(&search->visited, cell);
    Frame *next = &search->frames[++search->depth];
    next->cell = cell;
    next->length = (uint8_t)(top->length + free);
    next->passes = (uint8_t)(top->passes - !free);
    search_look(search);
    return true;
}

/* The length of a move that ends where the search landed. */
static inline uint32_t search_length(const Search *search)
{
    return search->frames[search->depth].length + 1u;
}

CellSet chicago_way_ends(const Way *way, uint32_t length)
{
    Search search;
    CellSet ends = {{0, 0}};
    search_init(&search, way, length);
    do {
        if (search_length(&search) == length) {
            ends.car[0] |= search.landed.car[0];
            ends.car[1] |= search.landed.car[1];
        }
    } while (search_next(&search));
    return ends;
}

uint32_t chicago_way_lengths(const Way *way, uint32_t wanted)
{
    Search search;
    uint32_t found = 0;
    if (wanted == 0) {
        return 0;
    }
    search_init(&search, way, 31u - (uint32_t)__builtin_clz(wanted));
    do {
        if (cells_any(&search.landed)) {
            found |= wanted & 1u << search_length(&search);
        }
    } while (found != wanted && search_next(&search));
    return found;
}

/* The spaces of the search's path and the last one, `to`. */
static uint32_t search_path(const Search *search, uint8_t to, uint8_t path[TY_EVENT_PATH_MAX])
{
    for (uint32_t i = 0; i < search->depth; i++) {
        path[i] = search->frames[i + 1].cell;
    }
    path[search->depth] = to;
    return search->depth + 1;
}

uint32_t chicago_way_path(const Way *way, uint32_t length, uint8_t to,
                          uint8_t path[TY_EVENT_PATH_MAX])
{
    Way sparing = *way;
    for (uint8_t passes = 0; passes <= way->passes; passes++) {
        Search search;
        sparing.passes = passes;
        search_init(&search, &sparing, length);
        do {
            if (search_length(&search) == length && cells_have(&search.landed, to)) {
                return search_path(&search, to, path);
            }
        } while (search_next(&search));
    }
    return 0;
}
