/* Ligne de train, Chicago: where a pawn can go with an exact number of spaces.
 *
 * A move is one simple path. Those that the number cards allow are few on a train, so they stand in
 * tables, grouped by the place from which they start and by their length, and a question is a walk
 * over one group, or one for each number of passes. What the tables do not hold (long moves, roomy
 * trains) is searched: paths are tried one by one, depth first, without ever visiting their last
 * space. */
#include "core/bytes.h"
#include "games/chicago/chicago.h"

#include <string.h>

enum { FRAMES = CHICAGO_LENGTH_MAX + CHICAGO_PASSES_MAX + 2 };

/* ---- Searching ---------------------------------------------------------------------------------
 */

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

static inline uint32_t longest(uint32_t lengths)
{
    return 31u - (uint32_t)__builtin_clz(lengths);
}

static CellSet search_ends(const Way *way, uint32_t length)
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

static CellSet search_through(const Way *way, uint32_t length)
{
    Search search;
    CellSet through = {{0, 0}};
    search_init(&search, way, length);
    do {
        if (search_length(&search) == length && cells_any(&search.landed)) {
            through.car[0] |= search.visited.car[0];
            through.car[1] |= search.visited.car[1];
        }
    } while (search_next(&search));
    if (way->from < CHICAGO_NODES) {
        cells_remove(&through, way->from);
    }
    return through;
}

/* The length of the longest move of up to `length_max` spaces; 0 if there is none. */
static uint32_t search_longest(const Way *way, uint32_t length_max)
{
    Search search;
    uint32_t found = 0;
    search_init(&search, way, length_max);
    do {
        uint32_t length = search_length(&search);
        if (length > found && cells_any(&search.landed)) {
            found = length;
        }
    } while (found < length_max && search_next(&search));
    return found;
}

/* ---- Tables ------------------------------------------------------------------------------------
 */

/* The lengths, as bits, that the tables answer for: passed spaces do not count, but are part of the
 * path. */
static inline uint32_t tabled_lengths(const Way *way)
{
    uint32_t tabled = way->train->tabled;
    if (way->passes > 0) {
        tabled = tabled < CHICAGO_PASSED_MAX ? tabled : CHICAGO_PASSED_MAX;
    }
    return tabled > way->passes ? (2u << (tabled - way->passes)) - 2 : 0;
}

/* Whether a path takes exactly so many passes: one for each blocked cell that it leads through. */
static inline bool path_takes(const Way *way, const ChicagoPath *path, uint32_t passes)
{
    uint64_t first = path->through.car[0] & (way->shut.car[0] | way->shared.car[0]);
    uint64_t second = path->through.car[1] & (way->shut.car[1] | way->shared.car[1]);
    return passes == 0 ? (first | second) == 0 : bits_count(first) + bits_count(second) == passes;
}

/* Where a path may end that has taken `passes`: on the seat of a pawn that slides for one more. */
static inline CellSet path_goals(const Way *way, uint32_t passes)
{
    bool more = passes < way->passes;
    return (CellSet){{~way->shut.car[0] | bits_if(more, way->slides.car[0]),
                      ~way->shut.car[1] | bits_if(more, way->slides.car[1])}};
}

/* The paths that may take `passes`: a passenger in the way takes one. */
static inline uint32_t group_size(PathGroup group, uint32_t passes)
{
    return passes == 0 ? group.free : group.count;
}

static CellSet group_ends(const Way *way, uint32_t length, uint32_t passes)
{
    PathGroup group = way->train->groups[way->from][length + passes];
    CellSet goals = path_goals(way, passes);
    CellSet ends = {{0, 0}};
    for (uint32_t i = 0; i < group_size(group, passes); i++) {
        const ChicagoPath *path = &way->paths[group.first + i];
        bool valid = path_takes(way, path, passes);
        ends.car[0] |= bits_if(valid, path->ends.car[0]);
        ends.car[1] |= bits_if(valid, path->ends.car[1]);
    }
    return (CellSet){{ends.car[0] & goals.car[0], ends.car[1] & goals.car[1]}};
}

static CellSet tabled_ends(const Way *way, uint32_t length)
{
    CellSet ends = group_ends(way, length, 0);
    for (uint32_t passes = 1; passes <= way->passes; passes++) {
        CellSet more = group_ends(way, length, passes);
        ends.car[0] |= more.car[0];
        ends.car[1] |= more.car[1];
    }
    return ends;
}

/* Whether a move by this path has an end among the goals. */
static inline bool path_leads(const Way *way, const ChicagoPath *path, uint32_t passes,
                              const CellSet *goals)
{
    uint64_t open = (path->ends.car[0] & goals->car[0]) | (path->ends.car[1] & goals->car[1]);
    return open != 0 && path_takes(way, path, passes);
}

static bool group_exists(const Way *way, uint32_t length, uint32_t passes)
{
    PathGroup group = way->train->groups[way->from][length + passes];
    CellSet goals = path_goals(way, passes);
    for (uint32_t i = 0; i < group_size(group, passes); i++) {
        if (path_leads(way, &way->paths[group.first + i], passes, &goals)) {
            return true;
        }
    }
    return false;
}

static bool tabled_exists(const Way *way, uint32_t length)
{
    for (uint32_t passes = 0; passes <= way->passes; passes++) {
        if (group_exists(way, length, passes)) {
            return true;
        }
    }
    return false;
}

static CellSet group_through(const Way *way, uint32_t length)
{
    PathGroup group = way->train->groups[way->from][length];
    CellSet goals = path_goals(way, 0);
    CellSet through = {{0, 0}};
    for (uint32_t i = 0; i < group.free; i++) {
        const ChicagoPath *path = &way->paths[group.first + i];
        bool leads = path_leads(way, path, 0, &goals);
        through.car[0] |= bits_if(leads, path->through.car[0]);
        through.car[1] |= bits_if(leads, path->through.car[1]);
    }
    return through;
}

CellSet chicago_way_ends(const Way *way, uint32_t length)
{
    bool tabled = tabled_lengths(way) >> length & 1;
    return tabled ? tabled_ends(way, length) : search_ends(way, length);
}

CellSet chicago_way_through(const Way *way, uint32_t length)
{
    bool tabled = way->passes == 0 && (tabled_lengths(way) >> length & 1) != 0;
    return tabled ? group_through(way, length) : search_through(way, length);
}

/* A path can stop at each of its spaces, so with a length there are all shorter ones. */
uint32_t chicago_way_lengths(const Way *way, uint32_t wanted)
{
    if ((wanted & ~tabled_lengths(way)) != 0) {
        return wanted & ((2u << search_longest(way, longest(wanted))) - 1);
    }
    while (wanted != 0 && !tabled_exists(way, longest(wanted))) {
        wanted &= ~(1u << longest(wanted));
    }
    return wanted;
}

/* Adds what the search found to a group, and joins it to paths through the same cells. */
static void group_add(ChicagoTables *tables, PathGroup *group, const Search *search)
{
    ChicagoPath path = {.through = search->visited, .ends = search->landed};
    if (search->way->from < CHICAGO_NODES) {
        cells_remove(&path.through, search->way->from);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        ChicagoPath *other = &tables->paths[group->first + i];
        if (memcmp(&other->through, &path.through, sizeof path.through) == 0) {
            other->ends.car[0] |= path.ends.car[0];
            other->ends.car[1] |= path.ends.car[1];
            return;
        }
    }
    tables->paths[group->first + group->count++] = path;
    tables->path_count++;
}

/* Adds the paths of `length` that are free on `way` to a group; false if there are too many. */
static bool group_fill(ChicagoTables *tables, PathGroup *group, const Way *way, uint32_t length)
{
    Search search;
    search_init(&search, way, length);
    do {
        if (group->count == CHICAGO_GROUP_MAX || tables->path_count == CHICAGO_PATHS_MAX) {
            return false;
        }
        if (search_length(&search) == length && cells_any(&search.landed)) {
            group_add(tables, group, &search);
        }
    } while (search_next(&search));
    return true;
}

static bool group_make(ChicagoTables *tables, ChicagoTrain *train, uint8_t place, uint32_t length)
{
    PathGroup *group = &train->groups[place][length];
    Way way = {.train = train, .shut = train->passengers, .from = place};
    *group = (PathGroup){.first = tables->path_count};
    bool fits = group_fill(tables, group, &way, length);
    group->free = group->count;
    way.shut = (CellSet){{0, 0}};
    return fits && (length > CHICAGO_PASSED_MAX || group_fill(tables, group, &way, length));
}

static void train_paths_make(ChicagoTables *tables, ChicagoTrain *train)
{
    for (uint32_t length = 1; length <= CHICAGO_TABLED_MAX; length++) {
        for (uint32_t place = 0; place < CHICAGO_PLACES; place++) {
            bool source = place < CHICAGO_NODES
                              ? cells_have(&train->aisle, place)
                              : (train->starts >> (place - CHICAGO_NODES) & 1) != 0;
            if (source && !group_make(tables, train, (uint8_t)place, length)) {
                return;
            }
        }
        train->tabled = (uint8_t)length;
    }
}

void chicago_paths_make(ChicagoTables *tables)
{
    for (uint8_t first = 0; first < tables->tile_count; first++) {
        for (uint8_t second = 0; second < tables->tile_count; second++) {
            bool used = tables->tiles_random
                            ? first != second
                            : first == tables->fixed[0] && second == tables->fixed[1];
            if (used) {
                train_paths_make(tables, &tables->trains[first * CHICAGO_TILES_MAX + second]);
            }
        }
    }
}

/* ---- Proofs ------------------------------------------------------------------------------------
 */

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
