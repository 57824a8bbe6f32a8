/* Maps without end for the ticket games, from a seed: cities on a shaken grid, routes between
 * neighbours that do not cross, and tickets worth the shortest way. Valid by construction: a tree
 * joins all cities before anything else is added. */
#include "core/hash.h"
#include "core/text.h"
#include "games/tickets/tickets.h"

#include <string.h>

enum {
    GRID = 1000,         /* between neighbours on the grid, in the thousandths of "xy" */
    SHAKE = 200,         /* how far a city is moved off it: cells stay convex, so nothing crosses */
    LINKS_MAX = 4 * 48,  /* pairs of neighbours */
    COLOURS = 7,         /* of cards */
    DOUBLE_CHANCE = 15,  /* of 100: a route has a second one beside it */
    GRAY_CHANCE = 20,    /* of 100: a route takes any colour */
    TICKET_HOPS_WAY = 4, /* spaces of the shortest ticket */
    TICKETS_WANTED = 36,
    NAME_LONGEST = 16,
};

/* Two cities that a route may join. */
typedef struct Link {
    uint8_t city[2];
    uint8_t length;
    bool built;
} Link;

typedef struct Plan {
    uint64_t state; /* of chance */
    uint32_t cities;
    uint32_t columns;
    int32_t xy[TICKETS_CITIES_MAX][2];
    char name[TICKETS_CITIES_MAX][NAME_LONGEST];
    Link link[LINKS_MAX];
    uint32_t links;
    uint8_t way[TICKETS_CITIES_MAX][TICKETS_CITIES_MAX]; /* spaces of the shortest way */
} Plan;

static uint32_t chance(Plan *plan, uint32_t below)
{
    plan->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)((hash_mix(plan->state) >> 32) * below >> 32);
}

/* A name of two or three syllables that no other city has. */
static void city_call(Plan *plan, uint32_t city)
{
    static const char *const first[] = {"bel", "cor", "dun", "fal", "gar", "hol", "kar", "lin",
                                        "mar", "nor", "ost", "pel", "ros", "sal", "tor", "val"};
    static const char *const last[] = {"by",   "dal",   "burg", "feld", "ham",  "haven",
                                       "mont", "mouth", "ona",  "rup",  "sund", "ton",
                                       "vik",  "ville", "wald", "wick"};
    TyText text = ty_text_init(plan->name[city], NAME_LONGEST);
    ty_text_add(&text, "%s%s", first[chance(plan, 16)], last[chance(plan, 16)]);
    for (uint32_t other = 0; other < city; other++) {
        if (strcmp(plan->name[other], plan->name[city]) == 0) {
            ty_text_add(&text, "%u", city);
            return;
        }
    }
}

static void cities_place(Plan *plan)
{
    plan->columns = 2;
    while (plan->columns * plan->columns * 2 < plan->cities * 3) {
        plan->columns++;
    }
    for (uint32_t i = 0; i < plan->cities; i++) {
        int32_t column = (int32_t)(i % plan->columns);
        int32_t row = (int32_t)(i / plan->columns);
        plan->xy[i][0] = column * GRID + (int32_t)chance(plan, 2 * SHAKE + 1) - SHAKE;
        plan->xy[i][1] = row * GRID + (int32_t)chance(plan, 2 * SHAKE + 1) - SHAKE;
        city_call(plan, i);
    }
}

/* Spaces by distance: 2 between most neighbours, 3 or 4 across a cell. */
static uint8_t link_length(Plan *plan, uint32_t a, uint32_t b)
{
    int64_t dx = plan->xy[a][0] - plan->xy[b][0];
    int64_t dy = plan->xy[a][1] - plan->xy[b][1];
    int64_t square = dx * dx + dy * dy;
    uint8_t length = 1;
    while (length < 5 && (int64_t)(length * 450 + 225) * (length * 450 + 225) < square) {
        length++;
    }
    return (uint8_t)(length > 1 && chance(plan, 4) == 0 ? length - 1 : length);
}

static void link_add(Plan *plan, uint32_t a, uint32_t b)
{
    if (a < plan->cities && b < plan->cities) {
        plan->link[plan->links++] = (Link){
            .city = {(uint8_t)a, (uint8_t)b}, .length = link_length(plan, a, b), .built = false};
    }
}

/* Every pair of neighbours, and one way across each cell. */
static void links_find(Plan *plan)
{
    for (uint32_t i = 0; i < plan->cities; i++) {
        bool inside = i % plan->columns + 1 < plan->columns;
        if (inside) {
            link_add(plan, i, i + 1);
            bool falling = chance(plan, 2) == 0;
            /* The cell of the last row may lack a corner: then its other diagonal would be outside.
             */
            link_add(plan, falling ? i : i + 1,
                     falling ? i + plan->columns + 1 : i + plan->columns);
        }
        link_add(plan, i, i + plan->columns);
    }
    for (uint32_t i = plan->links; i > 1; i--) {
        uint32_t other = chance(plan, i);
        Link link = plan->link[i - 1];
        plan->link[i - 1] = plan->link[other];
        plan->link[other] = link;
    }
}

/* Builds a tree over all cities, then half of the rest. */
static void links_build(Plan *plan)
{
    uint8_t part[TICKETS_CITIES_MAX];
    for (uint32_t i = 0; i < plan->cities; i++) {
        part[i] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < plan->links; i++) {
        Link *link = &plan->link[i];
        uint8_t from = part[link->city[0]];
        uint8_t to = part[link->city[1]];
        link->built = from != to || chance(plan, 2) == 0;
        for (uint32_t j = 0; from != to && j < plan->cities; j++) {
            part[j] = part[j] == from ? to : part[j];
        }
    }
}

static void ways_find(Plan *plan)
{
    memset(plan->way, 100, sizeof plan->way);
    for (uint32_t i = 0; i < plan->links; i++) {
        const Link *link = &plan->link[i];
        if (link->built) {
            plan->way[link->city[0]][link->city[1]] = link->length;
            plan->way[link->city[1]][link->city[0]] = link->length;
        }
    }
    for (uint32_t via = 0; via < plan->cities; via++) {
        for (uint32_t a = 0; a < plan->cities; a++) {
            for (uint32_t b = 0; b < plan->cities; b++) {
                uint8_t sum = (uint8_t)(plan->way[a][via] + plan->way[via][b]);
                plan->way[a][b] = sum < plan->way[a][b] ? sum : plan->way[a][b];
            }
        }
    }
}

/* ---- As a file ---- */

static const char *const colour_names[COLOURS] = {"blue", "green", "black", "violet",
                                                  "red",  "white", "yellow"};

static void head_write(const Plan *plan, const char *format, const char *name, TyJson *json)
{
    char text[96];
    ty_json_put_string(json, "format", format);
    ty_json_put_string(json, "name", "generated");
    ty_json_put_string(json, "title", name);
    ty_json_put_string(json, "status", "an invention, generated from a seed");
    ty_json_open(json, "colours", '[');
    for (uint32_t i = 0; i < COLOURS; i++) {
        ty_json_put_string(json, NULL, colour_names[i]);
    }
    ty_json_close(json, ']');
    ty_json_put_int(json, "cards_per_colour", 10);
    ty_json_put_int(json, "locomotives", 12);
    uint32_t wagons = plan->cities + 4;
    ty_json_put_int(json, "wagons", wagons < 40 ? wagons : 40);
    ty_json_put_raw(json, "points", "[[1,1],[2,2],[3,4],[4,7],[5,10]]");
    if (strncmp(format, "express", 7) == 0) {
        TyText link = ty_text_init(text, sizeof text);
        ty_text_add(&link, "{\"from\":\"%s\",\"to\":\"%s\",\"points\":[20,15,10,5]}", plan->name[0],
                    plan->name[plan->cities - 1]);
        ty_json_put_raw(json, "link", text);
    } else {
        ty_json_put_int(json, "globetrotter", 10);
    }
}

static void cities_write(const Plan *plan, TyJson *json)
{
    char text[64];
    ty_json_open(json, "cities", '[');
    for (uint32_t i = 0; i < plan->cities; i++) {
        char title[NAME_LONGEST];
        memcpy(title, plan->name[i], sizeof title);
        title[0] = (char)(title[0] - 'a' + 'A');
        TyText xy = ty_text_init(text, sizeof text);
        ty_text_add(&xy, "[%d,%d]", plan->xy[i][0], plan->xy[i][1]);
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "id", plan->name[i]);
        ty_json_put_string(json, "title", title);
        ty_json_put_raw(json, "xy", text);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

/* `beside` tells the second of a double route from the first. */
static void route_write(const Plan *plan, const Link *link, const char *colour, const char *beside,
                        TyJson *json)
{
    char id[64];
    TyText text = ty_text_init(id, sizeof id);
    ty_text_add(&text, "%s/%s%s", plan->name[link->city[0]], plan->name[link->city[1]], beside);
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "id", id);
    ty_json_put_string(json, "a", plan->name[link->city[0]]);
    ty_json_put_string(json, "b", plan->name[link->city[1]]);
    ty_json_put_int(json, "length", link->length);
    ty_json_put_string(json, "colour", colour);
    ty_json_close(json, '}');
}

static void routes_write(Plan *plan, TyJson *json)
{
    uint32_t written = 0;
    uint32_t turn = chance(plan, COLOURS);
    ty_json_open(json, "routes", '[');
    for (uint32_t i = 0; i < plan->links; i++) {
        const Link *link = &plan->link[i];
        if (!link->built) {
            continue;
        }
        bool gray = chance(plan, 100) < GRAY_CHANCE;
        route_write(plan, link, gray ? "gray" : colour_names[turn++ % COLOURS], "", json);
        written++;
        if (chance(plan, 100) < DOUBLE_CHANCE && written + plan->links - i < TICKETS_ROUTES_MAX) {
            route_write(plan, link, colour_names[turn++ % COLOURS], ".2", json);
            written++;
        }
    }
    ty_json_close(json, ']');
}

static void tickets_write(Plan *plan, TyJson *json)
{
    bool used[TICKETS_CITIES_MAX][TICKETS_CITIES_MAX] = {{false}};
    uint32_t count = 0;
    ty_json_open(json, "tickets", '[');
    /* Small maps have few long ways: after many tries every way will do. */
    for (uint32_t tries = 0; count < TICKETS_WANTED && tries < 4000; tries++) {
        uint32_t a = chance(plan, plan->cities);
        uint32_t b = chance(plan, plan->cities);
        bool worthy = plan->way[a][b] >= TICKET_HOPS_WAY || tries > 2000;
        if (a >= b || used[a][b] || !worthy) {
            continue;
        }
        char id[64];
        TyText text = ty_text_init(id, sizeof id);
        ty_text_add(&text, "%s/%s", plan->name[a], plan->name[b]);
        used[a][b] = true;
        count++;
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "id", id);
        ty_json_put_string(json, "a", plan->name[a]);
        ty_json_put_string(json, "b", plan->name[b]);
        ty_json_put_int(json, "points", plan->way[a][b]);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

size_t tickets_generate(const TyFileField *file, TyOrder order, char *out, size_t size)
{
    Plan plan = {.state = hash_mix(order.seed + 1), .cities = order.size};
    char title[48];
    TyText text = ty_text_init(title, sizeof title);
    ty_text_add(&text, "Map %llu, %u cities", (unsigned long long)order.seed, order.size);
    cities_place(&plan);
    links_find(&plan);
    links_build(&plan);
    ways_find(&plan);
    TyJson json = ty_json_init(out, size);
    ty_json_open(&json, NULL, '{');
    head_write(&plan, file->format, title, &json);
    cities_write(&plan, &json);
    routes_write(&plan, &json);
    tickets_write(&plan, &json);
    ty_json_close(&json, '}');
    return json.text.length;
}
