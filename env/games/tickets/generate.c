/* Maps without end for the ticket games, from a seed: cities on a shaken grid, routes between
 * neighbours that do not cross, and tickets worth the shortest way. Valid by construction: a tree
 * joins all cities before anything else is added. All maps of one size and level have the same
 * number of everything, so that they have the same rows and actions. */
#include "games/tickets/tickets.h"
#include "kit/invent.h"

#include <string.h>

enum {
    GRID = 1000,        /* between neighbours on the grid, in the thousandths of "xy" */
    SHAKE = 200,        /* how far a city is moved off it: cells stay convex, so nothing crosses */
    LINKS_MAX = 4 * 48, /* pairs of neighbours */
    COLOURS = 7,        /* of cards */
    TICKETS_WANTED = 36,
    TUNNELS = 25,    /* of 100 coloured routes, where the game has special ones */
    FERRIES = 50,    /* of 100 gray ones */
    PATIENCE = 2000, /* draws of a ticket, after which short ones will do */
    ID_SIZE = 12,
};

/* What makes a map easy or hard: second routes, gray ones, length. */
typedef struct Level {
    uint8_t doubles;  /* so many of 100 routes have a second one beside them */
    uint8_t gray;     /* so many of 100 take any colour */
    uint8_t shorter;  /* so many of 100 have a space less than their distance */
    uint8_t longer;   /* or one more */
    uint8_t shortest; /* spaces of the shortest ticket */
} Level;

static const Level levels[] = {
    [TY_LEVEL_NORMAL] = {15, 20, 25, 0, 4},
    [TY_LEVEL_EASY] = {30, 40, 50, 0, 3},
    [TY_LEVEL_HARD] = {5, 10, 0, 40, 6},
};

/* Two cities that a route may join. */
typedef struct Link {
    uint8_t city[2];
    uint8_t length;
    bool built;
    bool twice;
} Link;

typedef struct Plan {
    Invention chance;
    const Level *level;
    bool link_bonus; /* the game has one; otherwise it has a globetrotter and special routes */
    uint32_t cities;
    uint32_t columns;
    int32_t xy[TICKETS_CITIES_MAX][2];
    char title[TICKETS_CITIES_MAX][INVENT_NAME_SIZE];
    Link link[LINKS_MAX];
    uint32_t links;
    uint8_t way[TICKETS_CITIES_MAX][TICKETS_CITIES_MAX]; /* spaces of the shortest way */
} Plan;

static uint32_t chance(Plan *plan, uint32_t below)
{
    return invent_chance(&plan->chance, below);
}

/* Whether something happens that does so `of` times in a hundred. */
static bool happens(Plan *plan, uint32_t of)
{
    return chance(plan, 100) < of;
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
        invent_name(&plan->chance, plan->title[i]);
    }
}

/* Spaces by distance: 2 between most neighbours, 3 or 4 across a cell. At most 5. */
static uint8_t link_length(Plan *plan, uint32_t a, uint32_t b)
{
    int64_t dx = plan->xy[a][0] - plan->xy[b][0];
    int64_t dy = plan->xy[a][1] - plan->xy[b][1];
    int64_t square = dx * dx + dy * dy;
    uint8_t length = 1;
    while (length < 5 && (int64_t)(length * 450 + 225) * (length * 450 + 225) < square) {
        length++;
    }
    bool shorter = happens(plan, plan->level->shorter);
    bool longer = happens(plan, plan->level->longer);
    length = (uint8_t)(length > 1 && shorter ? length - 1 : length);
    return (uint8_t)(length < 5 && longer ? length + 1 : length);
}

static void link_add(Plan *plan, uint32_t a, uint32_t b)
{
    if (a < plan->cities && b < plan->cities) {
        plan->link[plan->links++] =
            (Link){.city = {(uint8_t)a, (uint8_t)b}, .length = link_length(plan, a, b)};
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

/* Builds a tree over all cities; returns how many links that takes. */
static uint32_t tree_build(Plan *plan)
{
    uint8_t part[TICKETS_CITIES_MAX];
    uint32_t built = 0;
    for (uint32_t i = 0; i < plan->cities; i++) {
        part[i] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < plan->links; i++) {
        Link *link = &plan->link[i];
        uint8_t from = part[link->city[0]];
        uint8_t to = part[link->city[1]];
        link->built = from != to;
        built += link->built;
        for (uint32_t j = 0; from != to && j < plan->cities; j++) {
            part[j] = part[j] == from ? to : part[j];
        }
    }
    return built;
}

/* Builds a tree, three more links for every four cities, and the second ones of double routes. */
static void links_build(Plan *plan)
{
    uint32_t wanted = plan->cities - 1 + plan->cities * 3 / 4;
    uint32_t twice = wanted * plan->level->doubles / 100;
    uint32_t built = tree_build(plan);
    for (uint32_t i = 0; i < plan->links && built < wanted; i++) {
        built += !plan->link[i].built;
        plan->link[i].built = true;
    }
    while (twice > 0) {
        Link *link = &plan->link[chance(plan, plan->links)];
        twice -= link->built && !link->twice;
        link->twice = link->built;
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

/* What a thing is called in the file: c1, r1, t1 and so on, the same on every map. */
static const char *id_write(char letter, uint32_t index, char id[ID_SIZE])
{
    TyText text = ty_text_init(id, ID_SIZE);
    ty_text_add(&text, "%c%u", letter, index + 1);
    return id;
}

static void head_write(const Plan *plan, const char *format, const char *name, TyJson *json)
{
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
    if (plan->link_bonus) {
        char id[ID_SIZE];
        ty_json_open(json, "link", '{');
        ty_json_put_string(json, "from", id_write('c', 0, id));
        ty_json_put_string(json, "to", id_write('c', plan->cities - 1, id));
        ty_json_put_raw(json, "points", "[20,15,10,5]");
        ty_json_close(json, '}');
    } else {
        ty_json_put_int(json, "globetrotter", 10);
    }
}

static void cities_write(const Plan *plan, TyJson *json)
{
    char text[64];
    char id[ID_SIZE];
    ty_json_open(json, "cities", '[');
    for (uint32_t i = 0; i < plan->cities; i++) {
        TyText xy = ty_text_init(text, sizeof text);
        ty_text_add(&xy, "[%d,%d]", plan->xy[i][0], plan->xy[i][1]);
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "id", id_write('c', i, id));
        ty_json_put_string(json, "title", plan->title[i]);
        ty_json_put_raw(json, "xy", text);
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

/* Begins a route or a ticket: its id, and the cities at its ends. */
static void pair_open(char letter, uint32_t index, const uint8_t city[2], TyJson *json)
{
    char id[ID_SIZE];
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "id", id_write(letter, index, id));
    ty_json_put_string(json, "a", id_write('c', city[0], id));
    ty_json_put_string(json, "b", id_write('c', city[1], id));
}

/* `colour` is COLOURS for a gray route. */
static void route_write(Plan *plan, uint32_t index, const Link *link, uint32_t colour, TyJson *json)
{
    bool gray = colour == COLOURS;
    pair_open('r', index, link->city, json);
    ty_json_put_int(json, "length", link->length);
    ty_json_put_string(json, "colour", gray ? "gray" : colour_names[colour]);
    if (!plan->link_bonus && happens(plan, gray ? FERRIES : TUNNELS)) {
        if (gray) {
            ty_json_put_int(json, "ferry", link->length > 2 ? 2 : 1);
        } else {
            ty_json_put_bool(json, "tunnel", true);
        }
    }
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
        bool gray = happens(plan, plan->level->gray);
        route_write(plan, written++, link, gray ? COLOURS : turn++ % COLOURS, json);
        if (link->twice) {
            route_write(plan, written++, link, turn++ % COLOURS, json);
        }
    }
    ty_json_close(json, ']');
}

static void tickets_write(Plan *plan, TyJson *json)
{
    bool used[TICKETS_CITIES_MAX][TICKETS_CITIES_MAX] = {{false}};
    uint32_t count = 0;
    ty_json_open(json, "tickets", '[');
    /* The smallest map has 66 pairs of cities, so that there are enough. */
    for (uint32_t draws = 0; count < TICKETS_WANTED; draws++) {
        uint8_t city[2] = {(uint8_t)chance(plan, plan->cities),
                           (uint8_t)chance(plan, plan->cities)};
        uint8_t way = plan->way[city[0]][city[1]];
        bool worthy = way >= plan->level->shortest || draws > PATIENCE;
        if (city[0] < city[1] && !used[city[0]][city[1]] && worthy) {
            used[city[0]][city[1]] = true;
            pair_open('t', count++, city, json);
            ty_json_put_int(json, "points", way);
            ty_json_close(json, '}');
        }
    }
    ty_json_close(json, ']');
}

size_t tickets_generate(const TyFileField *file, TyOrder order, char *out, size_t size)
{
    Plan plan = {.chance = invent_begin(order),
                 .level = &levels[order.level],
                 .link_bonus = strncmp(file->format, "express", 7) == 0,
                 .cities = order.size};
    char title[64];
    TyText text = ty_text_init(title, sizeof title);
    invent_title(order, "Map", "cities", &text);
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
