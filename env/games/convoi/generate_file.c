/* A generated board as the file that owners of a box would write: ids tell no places, so that all
 * boards of a size have the same names. */
#include "games/convoi/generate.h"

enum { ID_SIZE = 24 };

/* What a place is called in the file: c1, s1, j1 and so on, the same on every board. */
static void place_id(const Plan *plan, uint8_t cell, TyText *out)
{
    uint8_t city = plan->city[cell];
    if (city != FREE_CELL) {
        ty_text_add(out, "c%u", city + 1u);
    } else {
        ty_text_add(out, "j%u", plan->junction[cell] + 1u);
    }
}

static void line_end_id(const Plan *plan, const Track *line, uint32_t end, TyText *out)
{
    if (end == 0 && line->start != 0) {
        ty_text_add(out, "s%u", line->start);
    } else {
        place_id(plan, line->cell[end], out);
    }
}

static void line_id(const Plan *plan, const Track *line, char id[ID_SIZE])
{
    TyText text = ty_text_init(id, ID_SIZE);
    line_end_id(plan, line, 0, &text);
    ty_text_add(&text, "-");
    line_end_id(plan, line, 1, &text);
}

static void numbered_id(char letter, uint32_t number, char id[ID_SIZE])
{
    TyText text = ty_text_init(id, ID_SIZE);
    ty_text_add(&text, "%c%u", letter, number);
}

static void place_write(const char *id, const char *title, const int32_t xy[2], TyJson *json)
{
    char text[48];
    TyText position = ty_text_init(text, sizeof text);
    ty_text_add(&position, "[%d,%d]", xy[0], xy[1]);
    ty_json_put_string(json, "id", id);
    ty_json_put_string(json, "title", title);
    ty_json_put_raw(json, "xy", text);
}

static void cities_write(const Plan *plan, TyJson *json)
{
    static const char *const goods[] = {"blue", "yellow", "red", "white"};
    char id[ID_SIZE];
    ty_json_open(json, "cities", '[');
    for (uint32_t i = 0; i < plan->numbers.cities; i++) {
        uint8_t cell = plan->cell_of_city[i];
        numbered_id('c', i + 1, id);
        ty_json_open(json, NULL, '{');
        place_write(id, plan->title[cell], plan->xy[cell], json);
        if (i + 1 < plan->numbers.cities) {
            ty_json_put_string(json, "goods", goods[i]);
        } else {
            ty_json_put_bool(json, "port", true);
        }
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

/* Deals the rolls of two dice to the starts, so that each is about as likely. */
static void rolls_deal(uint32_t starts, uint8_t owner[CONVOI_NUMBERS])
{
    static const uint8_t likeliest[CONVOI_NUMBERS] = {7, 6, 8, 5, 9, 4, 10, 3, 11, 2, 12};
    uint8_t ways[CONVOI_STARTS_MAX] = {0};
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        uint8_t roll = likeliest[i];
        uint32_t least = 0;
        for (uint32_t start = 1; start < starts; start++) {
            least = ways[start] < ways[least] ? start : least;
        }
        owner[roll - 2] = (uint8_t)least;
        ways[least] = (uint8_t)(ways[least] + (roll <= 7 ? roll - 1 : 13 - roll));
    }
}

static void starts_write(const Plan *plan, TyJson *json)
{
    uint8_t owner[CONVOI_NUMBERS];
    char id[ID_SIZE];
    rolls_deal(plan->starts, owner);
    ty_json_open(json, "starts", '[');
    for (uint32_t i = 0; i < plan->starts; i++) {
        numbered_id('s', i + 1, id);
        ty_json_open(json, NULL, '{');
        place_write(id, plan->start[i].title, plan->start[i].xy, json);
        ty_json_open(json, "numbers", '[');
        for (uint32_t roll = 0; roll < CONVOI_NUMBERS; roll++) {
            if (owner[roll] == i) {
                ty_json_put_int(json, NULL, roll + 2);
            }
        }
        ty_json_close(json, ']');
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

/* The lines that end in `cell`, in their order. */
static uint32_t legs_find(const Plan *plan, uint8_t cell, uint8_t legs[SIDES])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->lines; i++) {
        const Track *line = &plan->line[i];
        if (line->cell[1] == cell || (line->start == 0 && line->cell[0] == cell)) {
            legs[count++] = (uint8_t)i;
        }
    }
    return count;
}

/* Two legs of each junction are open at first, whichever. */
static void junctions_write(Plan *plan, TyJson *json)
{
    char id[ID_SIZE];
    uint8_t legs[SIDES];
    ty_json_open(json, "junctions", '[');
    for (uint32_t i = 0; i < plan->numbers.junctions; i++) {
        uint8_t cell = plan->cell_of_junction[i];
        uint32_t count = legs_find(plan, cell, legs);
        invent_shuffle(&plan->chance, legs, count);
        numbered_id('j', i + 1, id);
        ty_json_open(json, NULL, '{');
        place_write(id, plan->title[cell], plan->xy[cell], json);
        ty_json_open(json, "open", '[');
        for (uint32_t leg = 0; leg < 2; leg++) {
            line_id(plan, &plan->line[legs[leg]], id);
            ty_json_put_string(json, NULL, id);
        }
        ty_json_close(json, ']');
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

static void light_write(uint32_t gap, const char *id, const char *const ends[2],
                        const char *between, TyJson *json)
{
    char title[64];
    TyText text = ty_text_init(title, sizeof title);
    ty_text_add(&text, "%s%s%s", ends[0], between, ends[1]);
    ty_json_open(json, NULL, '{');
    ty_json_put_int(json, "gap", gap);
    ty_json_put_string(json, "id", id);
    ty_json_put_string(json, "title", title);
    ty_json_close(json, '}');
}

/* The lights of the cities are x1, x2 and so on, those on the track t1, t2 and so on. */
static void segments_write(const Plan *plan, TyJson *json)
{
    char id[ID_SIZE];
    uint32_t exits = 0;
    ty_json_open(json, "segments", '[');
    for (uint32_t i = 0; i < plan->lines; i++) {
        const Track *line = &plan->line[i];
        const char *const ends[2] = {plan->title[line->cell[0]], plan->title[line->cell[1]]};
        bool exit = line->start == 0 && plan->city[line->cell[0]] != FREE_CELL;
        ty_json_open(json, NULL, '{');
        line_id(plan, line, id);
        ty_json_put_string(json, "id", id);
        for (uint32_t end = 0; end < 2; end++) {
            TyText text = ty_text_init(id, sizeof id);
            line_end_id(plan, line, end, &text);
            ty_json_put_string(json, end == 0 ? "a" : "b", id);
        }
        ty_json_put_int(json, "spaces", line->spaces);
        ty_json_open(json, "lights", '[');
        if (exit) {
            numbered_id('x', ++exits, id);
            light_write(0, id, ends, " towards ", json);
        } else if (line->light != 0) {
            numbered_id('t', line->light, id);
            light_write((line->spaces + 1u) / 2, id, ends, "\u2013", json);
        }
        ty_json_close(json, ']');
        ty_json_close(json, '}');
    }
    ty_json_close(json, ']');
}

/* One light of each city, and some on the track. */
static void green_write(Plan *plan, TyJson *json)
{
    uint8_t order[CONVOI_LIGHTS_MAX];
    char id[ID_SIZE];
    const Numbers *numbers = &plan->numbers;
    ty_json_open(json, "green", '[');
    for (uint32_t city = 0; city < numbers->cities; city++) {
        uint32_t exit = invent_chance(&plan->chance, numbers->exits);
        numbered_id('x', city * numbers->exits + exit + 1, id);
        ty_json_put_string(json, NULL, id);
    }
    for (uint32_t i = 0; i < numbers->lights; i++) {
        order[i] = (uint8_t)(i + 1);
    }
    invent_shuffle(&plan->chance, order, numbers->lights);
    for (uint32_t i = 0; i < numbers->green; i++) {
        numbered_id('t', order[i], id);
        ty_json_put_string(json, NULL, id);
    }
    ty_json_close(json, ']');
}

void convoi_plan_write(const TyFileField *file, TyOrder order, Plan *plan, TyJson *json)
{
    char title[64];
    TyText text = ty_text_init(title, sizeof title);
    invent_title(order, "Board", "junctions", &text);
    ty_json_open(json, NULL, '{');
    ty_json_put_string(json, "format", file->format);
    ty_json_put_string(json, "name", "generated");
    ty_json_put_string(json, "title", title);
    ty_json_put_string(json, "status", "an invention, generated from a seed");
    ty_json_put_string(json, "rules", "europe");
    ty_json_put_bool(json, "numbered_legs", true);
    ty_json_put_int(json, "green_discs", plan->numbers.cities + plan->numbers.green);
    cities_write(plan, json);
    starts_write(plan, json);
    junctions_write(plan, json);
    segments_write(plan, json);
    green_write(plan, json);
    ty_json_close(json, '}');
}
