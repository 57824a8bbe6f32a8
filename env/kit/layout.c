/* Where things stand on a drawing: see layout.h. */
#include "kit/layout.h"

#include "kit/svg.h"

#include <string.h>

/* ---- Numbers -----------------------------------------------------------------------------------
 */

static int64_t square_root(int64_t value)
{
    int64_t root = 0;
    for (int64_t bit = INT64_C(1) << 30; bit != 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= value) {
            root += bit;
        }
    }
    return root;
}

TySpot ty_layout_between(TySpot a, TySpot b, int32_t part, int32_t whole)
{
    return (TySpot){.x = (int16_t)(a.x + (b.x - a.x) * part / whole),
                    .y = (int16_t)(a.y + (b.y - a.y) * part / whole)};
}

int32_t ty_layout_distance(TySpot a, TySpot b)
{
    int64_t x = b.x - a.x;
    int64_t y = b.y - a.y;
    return (int32_t)square_root(x * x + y * y);
}

/* The angle whose tangent is `rise` / `run`, both positive, in degrees. */
static int32_t steepness(int64_t rise, int64_t run)
{
    /* Tangents of 1 to 89 degrees, in thousandths, by which the angle is found. */
    static const int32_t tangent[] = {
        17,   35,   52,   70,   87,   105,  123,   141,   158,   176,   194,  213,  231,
        249,  268,  287,  306,  325,  344,  364,   384,   404,   424,   445,  466,  488,
        510,  532,  554,  577,  601,  625,  649,   675,   700,   727,   754,  781,  810,
        839,  869,  900,  933,  966,  1000, 1036,  1072,  1111,  1150,  1192, 1235, 1280,
        1327, 1376, 1428, 1483, 1540, 1600, 1664,  1732,  1804,  1881,  1963, 2050, 2145,
        2246, 2356, 2475, 2605, 2747, 2904, 3078,  3271,  3487,  3732,  4011, 4331, 4705,
        5145, 5671, 6314, 7115, 8144, 9514, 11430, 14301, 19081, 28636, 57290};
    int32_t degrees = 0;
    while (degrees < 89 && rise * 1000 >= run * tangent[degrees]) {
        degrees++;
    }
    return rise * 100 > run * 11459 ? 90 : degrees;
}

int16_t ty_layout_turn(TySpot a, TySpot b)
{
    int32_t x = b.x - a.x;
    int32_t y = b.y - a.y;
    int32_t angle = x == 0 ? 90 : steepness(y < 0 ? -y : y, x < 0 ? -x : x);
    angle = x < 0 ? 180 - angle : angle;
    return (int16_t)(y < 0 ? (360 - angle) % 360 : angle);
}

/* ---- Points ------------------------------------------------------------------------------------
 */

/* Fits points into `area`, upside down: drawings count from the top. */
static void points_fit(const int32_t (*points)[2], uint32_t count, TyArea area, TySpot *spots)
{
    int64_t low[2] = {points[0][0], points[0][1]};
    int64_t high[2] = {points[0][0], points[0][1]};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t axis = 0; axis < 2; axis++) {
            low[axis] = points[i][axis] < low[axis] ? points[i][axis] : low[axis];
            high[axis] = points[i][axis] > high[axis] ? points[i][axis] : high[axis];
        }
    }
    int64_t wide = high[0] > low[0] ? high[0] - low[0] : 1;
    int64_t tall = high[1] > low[1] ? high[1] - low[1] : 1;
    for (uint32_t i = 0; i < count; i++) {
        spots[i].x =
            (int16_t)(area.left + (points[i][0] - low[0]) * (area.right - area.left) / wide);
        spots[i].y =
            (int16_t)(area.top + (high[1] - points[i][1]) * (area.bottom - area.top) / tall);
    }
}

enum { ROUNDS = 300, LINE_UNIT = 1000 /* of points whose places are found */ };

/* Moves a point by at most a tenth of the force on it, less and less from round to round. */
static void point_move(int32_t point[2], const int64_t force[2], uint32_t round)
{
    int64_t most = LINE_UNIT * (int64_t)(ROUNDS - round) / ROUNDS;
    for (uint32_t axis = 0; axis < 2; axis++) {
        int64_t step = force[axis] / 10;
        step = step > most ? most : step < -most ? -most : step;
        point[axis] += (int32_t)step;
    }
}

static void push(int64_t force[2], const int32_t from[2], const int32_t to[2], int64_t strength,
                 int64_t distance)
{
    for (uint32_t axis = 0; axis < 2; axis++) {
        force[axis] += (int64_t)(to[axis] - from[axis]) * strength / distance;
    }
}

static int64_t apart(const int32_t a[2], const int32_t b[2])
{
    int64_t x = b[0] - a[0];
    int64_t y = b[1] - a[1];
    int64_t distance = square_root(x * x + y * y);
    return distance > 0 ? distance : 1;
}

/* The force on point `i`: away from all others, and along its lines to their length. */
static void point_force(const TyNet *net, const int32_t (*points)[2], uint32_t i, int64_t force[2])
{
    for (uint32_t j = 0; j < net->count; j++) {
        if (j != i) {
            int64_t distance = apart(points[i], points[j]);
            push(force, points[j], points[i], (int64_t)LINE_UNIT * LINE_UNIT * 4 / distance,
                 distance);
        }
    }
    for (uint32_t k = 0; k < net->line_count; k++) {
        const TyLine *line = &net->lines[k];
        if (line->a == i || line->b == i) {
            uint32_t other = line->a == i ? line->b : line->a;
            int64_t distance = apart(points[i], points[other]);
            push(force, points[i], points[other], distance - (int64_t)line->length * LINE_UNIT / 40,
                 distance);
        }
    }
}

/* Finds places for points of which only the lines between them are known. */
static void points_find(const TyNet *net, int32_t (*points)[2])
{
    for (uint32_t i = 0; i < net->count; i++) {
        /* Scattered, so that no two are at one spot. */
        points[i][0] = (int32_t)(i * 7919 % 64) * LINE_UNIT;
        points[i][1] = (int32_t)(i * i * 31 % 61) * LINE_UNIT;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < net->count; i++) {
            int64_t force[2] = {0, 0};
            point_force(net, (const int32_t(*)[2])points, i, force);
            point_move(points[i], force, round);
        }
    }
}

static bool points_coincide(const TyNet *net)
{
    for (uint32_t i = 1; i < net->count; i++) {
        if (memcmp(net->points[i], net->points[0], sizeof net->points[0]) != 0) {
            return false;
        }
    }
    return true;
}

static int16_t within(int32_t value, int16_t low, int16_t high)
{
    return (int16_t)(value < low ? low : value > high ? high : value);
}

/* Moves two points a little apart if they are nearer than `wanted`; true if they were. */
static bool spots_part(TySpot *a, TySpot *b, int32_t wanted, TyArea area)
{
    int32_t across = b->x - a->x;
    int32_t down = b->y - a->y;
    if ((int64_t)across * across + (int64_t)down * down >= (int64_t)wanted * wanted) {
        return false;
    }
    int32_t distance = ty_layout_distance(*a, *b);
    int32_t move = (wanted - distance + 3) / 4;
    int32_t x = distance > 0 ? (b->x - a->x) * move / distance : move;
    int32_t y = distance > 0 ? (b->y - a->y) * move / distance : 0;
    a->x = within(a->x - x, area.left, area.right);
    a->y = within(a->y - y, area.top, area.bottom);
    b->x = within(b->x + x, area.left, area.right);
    b->y = within(b->y + y, area.top, area.bottom);
    return true;
}

void ty_layout_place(const TyNet *net, int32_t gap, TyArea area, TySpot *spots)
{
    int32_t found[TY_LAYOUT_MAX][2];
    bool moved = true;
    if (points_coincide(net)) {
        points_find(net, found);
        points_fit((const int32_t(*)[2])found, net->count, area, spots);
    } else {
        points_fit(net->points, net->count, area, spots);
    }
    for (uint32_t round = 0; round < ROUNDS && moved; round++) {
        moved = false;
        for (uint32_t i = 0; i < net->line_count; i++) {
            const TyLine *line = &net->lines[i];
            moved |= spots_part(&spots[line->a], &spots[line->b], line->length, area);
        }
        for (uint32_t i = 0; i < net->count; i++) {
            for (uint32_t j = i + 1; j < net->count; j++) {
                moved |= spots_part(&spots[i], &spots[j], gap, area);
            }
        }
    }
}

/* ---- Labels ------------------------------------------------------------------------------------
 */

enum {
    GAP_MAX = 64,   /* between a symbol and its label */
    GAP_COST = 12,  /* of each unit of it */
    NEAR_MAX = 512, /* areas that one label is compared with */
};

static void take(TyTaken *taken, TyArea area, int32_t weight)
{
    if (taken->count < taken->room) {
        taken->areas[taken->count++] = (TyTakenArea){.area = area, .weight = weight};
    }
}

void ty_layout_take(TyTaken *taken, TySpot spot, int32_t radius, int32_t weight)
{
    take(taken,
         (TyArea){.left = (int16_t)(spot.x - radius),
                  .top = (int16_t)(spot.y - radius),
                  .right = (int16_t)(spot.x + radius),
                  .bottom = (int16_t)(spot.y + radius)},
         weight);
}

void ty_layout_take_line(TyTaken *taken, TySpot a, TySpot b, int32_t radius, int32_t weight)
{
    int32_t pieces = ty_layout_distance(a, b) / (2 * radius) + 1;
    for (int32_t i = 0; i <= pieces; i++) {
        ty_layout_take(taken, ty_layout_between(a, b, i, pieces), radius, weight);
    }
}

static bool areas_meet(TyArea a, TyArea b)
{
    return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}

/* How much of `area` is taken, by weight, or outside the canvas. */
static int64_t covered(const TyTakenArea *areas, uint32_t count, TyArea area, TyArea canvas)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const TyArea *other = &areas[i].area;
        if (areas_meet(area, *other)) {
            int32_t left = area.left > other->left ? area.left : other->left;
            int32_t right = area.right < other->right ? area.right : other->right;
            int32_t top = area.top > other->top ? area.top : other->top;
            int32_t bottom = area.bottom < other->bottom ? area.bottom : other->bottom;
            sum += (int64_t)(right - left + 1) * (bottom - top + 1) * areas[i].weight;
        }
    }
    bool inside = area.left >= canvas.left && area.right <= canvas.right &&
                  area.top >= canvas.top && area.bottom <= canvas.bottom;
    return inside ? sum : sum + 10000000;
}

/* The taken areas that meet the rectangle of `across` and `down` to all sides of a spot. */
static uint32_t areas_near(const TyTaken *taken, TySpot spot, int32_t across, int32_t down,
                           TyTakenArea near[NEAR_MAX])
{
    uint32_t count = 0;
    TyArea reach = {.left = (int16_t)(spot.x - across),
                    .top = (int16_t)(spot.y - down),
                    .right = (int16_t)(spot.x + across),
                    .bottom = (int16_t)(spot.y + down)};
    for (uint32_t i = 0; i < taken->count && count < NEAR_MAX; i++) {
        if (areas_meet(taken->areas[i].area, reach)) {
            near[count++] = taken->areas[i];
        }
    }
    return count;
}

/* The label of half the size `wide` by `tall` that lies in direction `way` of a spot. */
static TyArea label_area(TySpot spot, const int8_t way[2], int32_t radius, int32_t gap,
                         int32_t wide, int32_t tall)
{
    int32_t x = spot.x + way[0] * (radius + wide + (way[1] == 0 ? gap : gap / 4)) / 2;
    int32_t y = spot.y + way[1] * (radius + tall + gap) / 2;
    return (TyArea){.left = (int16_t)(x - wide),
                    .top = (int16_t)(y - tall),
                    .right = (int16_t)(x + wide),
                    .bottom = (int16_t)(y + tall)};
}

TySpot ty_layout_label(TyTaken *taken, TySpot spot, int32_t radius, const char *text, int32_t size,
                       TyArea canvas)
{
    /* Above, below, right, left, then the corners: in halves of what keeps clear of the symbol. */
    static const int8_t ways[][2] = {{0, -2}, {0, 2},  {2, 0},  {-2, 0},  {2, -2}, {-2, -2},
                                     {2, 2},  {-2, 2}, {1, -2}, {-1, -2}, {1, 2},  {-1, 2},
                                     {2, -1}, {2, 1},  {-2, 1}, {-2, -1}};
    TyTakenArea near[NEAR_MAX];
    int32_t wide = ty_svg_text_width(text, size) / 2 + 4;
    int32_t tall = size * 62 / 100;
    uint32_t count =
        areas_near(taken, spot, radius + 2 * wide + GAP_MAX, radius + 2 * tall + GAP_MAX, near);
    TyArea best = {0};
    int64_t least = INT64_MAX;
    /* What is farther away costs more: a place that covers nothing is not improved upon. */
    for (int32_t gap = 4; gap <= GAP_MAX && gap * GAP_COST < least; gap += 6) {
        for (uint32_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            TyArea area = label_area(spot, ways[i], radius, gap, wide, tall);
            int64_t cost = covered(near, count, area, canvas) + gap * GAP_COST + (int64_t)i;
            if (cost < least) {
                least = cost;
                best = area;
            }
        }
    }
    take(taken, best, TY_WEIGHT_SYMBOL);
    return (TySpot){.x = (int16_t)((best.left + best.right) / 2),
                    .y = (int16_t)((best.top + best.bottom) / 2 + size * 36 / 100)};
}
