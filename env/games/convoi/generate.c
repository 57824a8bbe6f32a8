/* Boards without end for Convoi Express, from a seed: junctions and cities on a shaken grid, track
 * between neighbours, starts where a junction has a side left. All boards of one size and level
 * have the same number of everything, so that they have the same rows and actions.
 *
 * What makes a board valid: no two lines cross, since all follow the grid; the network without the
 * port is connected, so that a way without turning round leads from everywhere to everywhere; and a
 * junction's open sides are filled with starts until it has three or four legs. */
#include "games/convoi/generate.h"

#include <string.h>

enum {
    GRID = 1000,        /* between neighbours, in the thousandths of "xy" */
    SHAKE = 120,        /* how far a place is moved off the grid */
    START_WITHIN = 340, /* from a junction to its start, inside the grid and outside */
    START_OUTSIDE = 520,
    SPACES_LONGEST = 3, /* of a segment */
    ATTEMPTS = 1000,    /* nearly every second one succeeds */
};

/* ---- Numbers -----------------------------------------------------------------------------------
 */

static uint32_t at_least(uint32_t value, uint32_t minimum)
{
    return value > minimum ? value : minimum;
}

static uint32_t at_most(uint32_t value, uint32_t maximum)
{
    return value < maximum ? value : maximum;
}

/* Lights are what makes a board hard, and length; green discs make it easy. */
static void numbers_of_level(TyLevel level, Numbers *numbers)
{
    static const struct {
        uint8_t lights; /* on so many of 12 tracks between junctions */
        uint8_t green;  /* so many of 12 lights */
        uint8_t longer; /* on 12 tracks */
    } levels[] = {
        [TY_LEVEL_NORMAL] = {6, 4, 4},
        [TY_LEVEL_EASY] = {3, 12, 0},
        [TY_LEVEL_HARD] = {10, 2, 12},
    };
    uint32_t between = numbers->tracks - numbers->cities * numbers->exits;
    uint32_t discs_left = 10 - numbers->cities;
    numbers->lights = at_least(between * levels[level].lights / 12, 1);
    numbers->green = at_least(numbers->lights * levels[level].green / 12, 1);
    numbers->green = at_most(numbers->green, discs_left);
    numbers->longer = numbers->tracks * levels[level].longer / 12;
}

static Numbers numbers_of(TyOrder order)
{
    uint32_t junctions = order.size;
    Numbers numbers = {
        .junctions = junctions,
        .cities = junctions < 8    ? 3
                  : junctions < 14 ? 4
                                   : 5,
        .exits = junctions < 8 ? 2 : 3,
        .starts = 4 + (junctions - 4) * 7 / 16,
        .four_way = junctions / 5,
    };
    /* Every line has two ends: three or four at a junction, `exits` at a city, one at a start. */
    uint32_t city_ends = numbers.cities * numbers.exits;
    numbers.four_way += (3 * junctions + numbers.four_way + numbers.starts + city_ends) % 2;
    numbers.tracks = (3 * junctions + numbers.four_way - numbers.starts + city_ends) / 2;
    numbers_of_level(order.level, &numbers);
    return numbers;
}

/* ---- The grid ----------------------------------------------------------------------------------
 */

/* The cell beside `cell`, or the number of cells if there is none. */
static uint32_t cell_beside(const Plan *plan, uint32_t cell, uint32_t side)
{
    uint32_t column = cell % plan->columns;
    switch (side) {
    case 0:
        return cell >= plan->columns ? cell - plan->columns : plan->cells;
    case 1:
        return column + 1 < plan->columns && cell + 1 < plan->cells ? cell + 1 : plan->cells;
    case 2:
        return cell + plan->columns < plan->cells ? cell + plan->columns : plan->cells;
    default:
        return column > 0 ? cell - 1 : plan->cells;
    }
}

/* As wide as high, or somewhat wider; the last row has more than one cell. */
static void grid_measure(Plan *plan)
{
    plan->cells = plan->numbers.junctions + plan->numbers.cities;
    plan->columns = 3;
    while (plan->columns * plan->columns < plan->cells || plan->cells % plan->columns == 1) {
        plan->columns++;
    }
}

static void track_lay(Plan *plan, uint32_t cell, uint32_t side)
{
    uint32_t other = cell_beside(plan, cell, side);
    if (other < plan->cells) {
        uint8_t index = (uint8_t)plan->tracks++;
        plan->track[index] = (Track){.cell = {(uint8_t)cell, (uint8_t)other}, .spaces = 1};
        plan->kept[index] = true;
        plan->side[cell][side] = index;
        plan->side[other][(side + 2) % SIDES] = index;
        plan->degree[cell]++;
        plan->degree[other]++;
    }
}

/* Track between all neighbours. */
static void grid_lay(Plan *plan)
{
    plan->tracks = 0;
    memset(plan->side, GONE, sizeof plan->side);
    memset(plan->degree, 0, sizeof plan->degree);
    for (uint32_t cell = 0; cell < plan->cells; cell++) {
        track_lay(plan, cell, 1);
        track_lay(plan, cell, 2);
    }
    plan->left = plan->tracks;
}

/* Cities lie where they have enough neighbours, and not beside each other. */
static bool cities_place(Plan *plan)
{
    uint8_t order[PLACES_MAX];
    uint32_t placed = 0;
    memset(plan->city, FREE_CELL, sizeof plan->city);
    for (uint32_t i = 0; i < plan->cells; i++) {
        order[i] = (uint8_t)i;
    }
    invent_shuffle(&plan->chance, order, plan->cells);
    for (uint32_t i = 0; i < plan->cells && placed < plan->numbers.cities; i++) {
        uint8_t cell = order[i];
        bool good = plan->degree[cell] >= plan->numbers.exits;
        for (uint32_t side = 0; side < SIDES; side++) {
            uint32_t other = cell_beside(plan, cell, side);
            good = good && (other >= plan->cells || plan->city[other] == FREE_CELL);
        }
        if (good) {
            plan->cell_of_city[placed] = cell;
            plan->city[cell] = (uint8_t)placed++;
        }
    }
    return placed == plan->numbers.cities;
}

/* ---- Taking track away -------------------------------------------------------------------------
 */

/* Whether all places but the port are connected without passing it. */
static bool connected(const Plan *plan)
{
    uint8_t port = plan->cell_of_city[plan->numbers.cities - 1];
    uint64_t all = (UINT64_C(1) << plan->cells) - 1;
    uint64_t wanted = all & ~(UINT64_C(1) << port);
    uint64_t reached = wanted & (~wanted + 1);
    uint64_t before = 0;
    while (reached != before) {
        before = reached;
        for (uint32_t i = 0; i < plan->tracks; i++) {
            const uint8_t *cell = plan->track[i].cell;
            uint64_t ends = UINT64_C(1) << cell[0] | UINT64_C(1) << cell[1];
            if (plan->kept[i] && (ends & ~wanted) == 0 && (reached & ends) != 0) {
                reached |= ends;
            }
        }
    }
    return reached == wanted;
}

/* Takes a track away, unless the network would fall apart or a junction have but one. */
static bool track_take(Plan *plan, uint32_t index)
{
    const uint8_t *cell = plan->track[index].cell;
    for (uint32_t end = 0; end < 2; end++) {
        if (plan->city[cell[end]] == FREE_CELL && plan->degree[cell[end]] <= 2) {
            return false;
        }
    }
    plan->kept[index] = false;
    if (!connected(plan)) {
        plan->kept[index] = true;
        return false;
    }
    for (uint32_t end = 0; end < 2; end++) {
        plan->degree[cell[end]]--;
        for (uint32_t side = 0; side < SIDES; side++) {
            if (plan->side[cell[end]][side] == index) {
                plan->side[cell[end]][side] = GONE;
            }
        }
    }
    plan->left--;
    return true;
}

static bool city_prune(Plan *plan, uint32_t city)
{
    uint8_t cell = plan->cell_of_city[city];
    uint8_t order[SIDES] = {0, 1, 2, 3};
    invent_shuffle(&plan->chance, order, SIDES);
    for (uint32_t i = 0; i < SIDES && plan->degree[cell] > plan->numbers.exits; i++) {
        uint8_t index = plan->side[cell][order[i]];
        if (index != GONE) {
            track_take(plan, index);
        }
    }
    return plan->degree[cell] == plan->numbers.exits;
}

/* Junctions with four tracks. */
static uint32_t crossings_count(const Plan *plan)
{
    uint32_t count = 0;
    for (uint32_t cell = 0; cell < plan->cells; cell++) {
        count += plan->city[cell] == FREE_CELL && plan->degree[cell] == 4;
    }
    return count;
}

/* Takes track between junctions away until as much is left as there is to be. `crossings` is how
 * many ends of it are junctions with four tracks, at least. */
static void tracks_prune(Plan *plan, const uint8_t *order, uint32_t crossings)
{
    for (uint32_t i = 0; i < plan->tracks && plan->left > plan->numbers.tracks; i++) {
        const uint8_t *cell = plan->track[order[i]].cell;
        bool between = plan->city[cell[0]] == FREE_CELL && plan->city[cell[1]] == FREE_CELL;
        uint32_t ends =
            (plan->degree[cell[0]] == 4 ? 1u : 0u) + (plan->degree[cell[1]] == 4 ? 1u : 0u);
        bool wanted =
            ends >= crossings && (crossings == 0 || crossings_count(plan) > plan->numbers.four_way);
        if (plan->kept[order[i]] && between && wanted) {
            track_take(plan, order[i]);
        }
    }
}

/* Draws up the network; false if this attempt leads nowhere. */
static bool network_draw(Plan *plan)
{
    uint8_t order[TRACKS_MAX];
    grid_lay(plan);
    if (!cities_place(plan) || !connected(plan)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->numbers.cities; i++) {
        if (!city_prune(plan, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < plan->tracks; i++) {
        order[i] = (uint8_t)i;
    }
    invent_shuffle(&plan->chance, order, plan->tracks);
    for (uint32_t crossings = 3; crossings-- > 0;) {
        tracks_prune(plan, order, crossings);
    }
    return plan->left == plan->numbers.tracks && crossings_count(plan) <= plan->numbers.four_way;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

static int32_t shaken(Plan *plan, int32_t value)
{
    return value + (int32_t)invent_chance(&plan->chance, 2 * SHAKE + 1) - SHAKE;
}

static void places_settle(Plan *plan)
{
    for (uint32_t cell = 0; cell < plan->cells; cell++) {
        plan->xy[cell][0] = shaken(plan, (int32_t)(cell % plan->columns) * GRID);
        plan->xy[cell][1] = shaken(plan, -(int32_t)(cell / plan->columns) * GRID);
        invent_name(&plan->chance, plan->title[cell]);
    }
}

/* Adds a start on a free side of the junction in `cell`. */
static void start_add(Plan *plan, uint8_t cell)
{
    static const int8_t step[SIDES][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    uint32_t side = invent_chance(&plan->chance, SIDES);
    while (plan->side[cell][side] != GONE) {
        side = (side + 1) % SIDES;
    }
    Start *start = &plan->start[plan->starts];
    bool outside = cell_beside(plan, cell, side) >= plan->cells;
    int32_t far = outside ? START_OUTSIDE : START_WITHIN;
    start->cell = cell;
    start->xy[0] = plan->xy[cell][0] + step[side][0] * far;
    start->xy[1] = plan->xy[cell][1] + step[side][1] * far;
    invent_name(&plan->chance, start->title);
    plan->side[cell][side] = (uint8_t)(plan->tracks + plan->starts++);
    plan->filled[cell]++;
}

/* Starts give every junction its third leg, and those that are left give some a fourth. */
static void starts_add(Plan *plan)
{
    uint8_t order[PLACES_MAX];
    uint32_t count = 0;
    memcpy(plan->filled, plan->degree, sizeof plan->filled);
    for (uint32_t cell = 0; cell < plan->cells; cell++) {
        if (plan->city[cell] == FREE_CELL) {
            order[count++] = (uint8_t)cell;
        }
    }
    invent_shuffle(&plan->chance, order, count);
    for (uint32_t i = 0; i < count; i++) {
        while (plan->filled[order[i]] < 3) {
            start_add(plan, order[i]);
        }
    }
    for (uint32_t i = 0; i < count && plan->starts < plan->numbers.starts; i++) {
        if (plan->filled[order[i]] == 3) {
            start_add(plan, order[i]);
        }
    }
}

/* Numbers the junctions: those with four legs come first, on every board. */
static void junctions_number(Plan *plan)
{
    uint8_t number = 0;
    for (uint32_t legs = 4; legs >= 3; legs--) {
        for (uint32_t cell = 0; cell < plan->cells; cell++) {
            if (plan->city[cell] == FREE_CELL && plan->filled[cell] == legs) {
                plan->cell_of_junction[number] = (uint8_t)cell;
                plan->junction[cell] = number++;
            }
        }
    }
}

/* ---- Lines -------------------------------------------------------------------------------------
 */

static void line_add(Plan *plan, Track line)
{
    plan->line[plan->lines++] = line;
}

/* All lines in their order: from the starts, to each city in turn, between junctions. */
static void lines_collect(Plan *plan)
{
    for (uint32_t i = 0; i < plan->starts; i++) {
        line_add(plan,
                 (Track){.start = (uint8_t)(i + 1), .cell = {0, plan->start[i].cell}, .spaces = 1});
    }
    for (uint32_t city = 0; city < plan->numbers.cities; city++) {
        uint8_t cell = plan->cell_of_city[city];
        for (uint32_t side = 0; side < SIDES; side++) {
            uint8_t index = plan->side[cell][side];
            if (index != GONE) {
                uint8_t other = plan->track[index].cell[plan->track[index].cell[0] == cell];
                line_add(plan, (Track){.cell = {cell, other}, .spaces = 1});
            }
        }
    }
    for (uint32_t i = 0; i < plan->tracks; i++) {
        const uint8_t *cell = plan->track[i].cell;
        if (plan->kept[i] && plan->city[cell[0]] == FREE_CELL && plan->city[cell[1]] == FREE_CELL) {
            line_add(plan, plan->track[i]);
        }
    }
}

static void lines_lengthen(Plan *plan)
{
    uint32_t first = plan->starts;
    for (uint32_t left = plan->numbers.longer; left > 0;) {
        Track *line = &plan->line[first + invent_chance(&plan->chance, plan->lines - first)];
        if (line->spaces < SPACES_LONGEST) {
            line->spaces++;
            left--;
        }
    }
}

/* Puts lights on some of the lines between junctions. */
static void lights_place(Plan *plan)
{
    uint8_t order[TRACKS_MAX];
    uint32_t first = plan->starts + plan->numbers.cities * plan->numbers.exits;
    uint32_t count = plan->lines - first;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint8_t)(first + i);
    }
    invent_shuffle(&plan->chance, order, count);
    for (uint32_t i = 0; i < plan->numbers.lights; i++) {
        plan->line[order[i]].light = 1;
    }
    for (uint32_t i = first, number = 0; i < plan->lines; i++) {
        if (plan->line[i].light != 0) {
            plan->line[i].light = (uint8_t)++number;
        }
    }
}

size_t convoi_generate(const TyFileField *file, TyOrder order, char *out, size_t size)
{
    Plan plan = {.chance = invent_begin(order), .numbers = numbers_of(order)};
    TyJson json = ty_json_init(out, size);
    grid_measure(&plan);
    for (uint32_t i = 0; i < ATTEMPTS && !network_draw(&plan); i++) {
    }
    places_settle(&plan);
    starts_add(&plan);
    junctions_number(&plan);
    lines_collect(&plan);
    lines_lengthen(&plan);
    lights_place(&plan);
    convoi_plan_write(file, order, &plan, &json);
    return json.text.length;
}
