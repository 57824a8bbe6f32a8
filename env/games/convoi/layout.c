/* Convoi Express: where things stand on the drawing. Cities, starts and junctions where their file
 * has them, spaces and lights along the lines between, labels beside them. */
#include "games/convoi/state.h"
#include "kit/svg.h"

static const TyArea board_area = {.left = 60, .top = 60, .right = 1110, .bottom = 945};
static const TyArea canvas = {
    .left = 6, .top = 6, .right = CONVOI_PANEL_LEFT - 24, .bottom = TY_SVG_HEIGHT - 6};

TySpot convoi_link_spot(const ConvoiTables *tables, Link link)
{
    const ConvoiLayout *layout = &tables->layout;
    switch ((LinkKind)link.kind) {
    case LINK_SPACE:
        return layout->space[link.index];
    case LINK_CITY:
        return layout->city[link.index];
    case LINK_START:
        return layout->start[link.index];
    case LINK_JUNCTION:
        break;
    }
    return layout->junction[link.index];
}

/* What lies at the end of a space's segment, and how many steps from the space. */
static TySpot segment_end(const ConvoiTables *tables, uint8_t space, uint8_t heading,
                          int32_t *steps)
{
    Link link = tables->ahead[2 * space + heading];
    *steps = 1;
    while (link.kind == LINK_SPACE) {
        link = tables->ahead[2 * link.index + link.side];
        (*steps)++;
    }
    return convoi_link_spot(tables, link);
}

/* Cities, starts and junctions as one list, in this order. */
enum { NODES = CONVOI_CITIES_MAX + CONVOI_STARTS_MAX + CONVOI_JUNCTIONS_MAX };
_Static_assert((int)NODES <= (int)TY_LAYOUT_MAX, "a layout has room for every board");

static uint16_t link_node(const ConvoiTables *tables, Link link)
{
    uint32_t before = link.kind == LINK_CITY ? 0
                      : link.kind == LINK_START
                          ? tables->city_count
                          : (uint32_t)tables->city_count + tables->start_count;
    return (uint16_t)(before + link.index);
}

static int32_t link_radius(Link link)
{
    return link.kind == LINK_CITY    ? CONVOI_CITY_RADIUS + 2 * CONVOI_LIGHT_RADIUS
           : link.kind == LINK_START ? CONVOI_START_RADIUS
                                     : CONVOI_JUNCTION_RADIUS;
}

/* The line from `from` along `link` to the end of its segment, long enough for its spaces. */
static TyLine line_along(const ConvoiTables *tables, Link from, Link link)
{
    int32_t length = link_radius(from) + 12;
    while (link.kind == LINK_SPACE) {
        length += 2 * CONVOI_SPACE_RADIUS + 10;
        link = tables->ahead[2 * link.index + link.side];
    }
    return (TyLine){.a = link_node(tables, from),
                    .b = link_node(tables, link),
                    .length = (uint16_t)(length + link_radius(link))};
}

/* Every segment that begins at a city or a junction; those between two of them twice. */
static uint32_t lines_find(const ConvoiTables *tables, TyLine *lines)
{
    uint32_t count = 0;
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        Link city = {.kind = LINK_CITY, .index = tables->light_city[light]};
        lines[count++] = line_along(tables, city, tables->exit[light]);
    }
    for (uint8_t i = 0; i < tables->junction_count; i++) {
        Link junction = {.kind = LINK_JUNCTION, .index = i};
        for (uint8_t leg = 0; leg < tables->junction_degree[i]; leg++) {
            lines[count++] = line_along(tables, junction, tables->leaving[i][leg]);
        }
    }
    return count;
}

static void nodes_fit(ConvoiTables *tables)
{
    const struct {
        const int32_t (*xy)[2];
        TySpot *spot;
        uint32_t count;
    } lists[] = {
        {(const int32_t(*)[2])tables->city_xy, tables->layout.city, tables->city_count},
        {(const int32_t(*)[2])tables->start_xy, tables->layout.start, tables->start_count},
        {(const int32_t(*)[2])tables->junction_xy, tables->layout.junction, tables->junction_count},
    };
    int32_t points[NODES][2];
    TySpot spots[NODES];
    TyLine lines[CONVOI_LIGHTS_MAX + CONVOI_JUNCTIONS_MAX * CONVOI_LEGS_MAX];
    uint32_t count = 0;
    for (uint32_t list = 0; list < 3; list++) {
        for (uint32_t i = 0; i < lists[list].count; i++) {
            points[count][0] = lists[list].xy[i][0];
            points[count++][1] = lists[list].xy[i][1];
        }
    }
    TyNet net = {.points = (const int32_t(*)[2])points,
                 .count = count,
                 .lines = lines,
                 .line_count = lines_find(tables, lines)};
    ty_layout_place(&net, 60, board_area, spots);
    count = 0;
    for (uint32_t list = 0; list < 3; list++) {
        for (uint32_t i = 0; i < lists[list].count; i++) {
            lists[list].spot[i] = spots[count++];
        }
    }
}

static void spaces_fit(ConvoiTables *tables)
{
    for (uint8_t space = 0; space < tables->space_count; space++) {
        int32_t after;
        int32_t before;
        TySpot b = segment_end(tables, space, 0, &after);
        TySpot a = segment_end(tables, space, 1, &before);
        tables->layout.space[space] = ty_layout_between(a, b, before, before + after);
    }
}

/* A light stands half-way between what it parts; one of a city just outside it. */
static void light_fit(ConvoiTables *tables, Link link, TySpot from, bool city)
{
    if (link.light != CONVOI_NONE) {
        TySpot to = convoi_link_spot(tables, link);
        int32_t whole = ty_layout_distance(from, to);
        int32_t part = city ? CONVOI_CITY_RADIUS + CONVOI_LIGHT_RADIUS + 4 : whole / 2;
        tables->layout.light[link.light] =
            ty_layout_between(from, to, part < whole ? part : whole / 2, whole > 0 ? whole : 1);
    }
}

static void lights_fit(ConvoiTables *tables)
{
    for (uint32_t i = 0; i < 2u * tables->space_count; i++) {
        light_fit(tables, tables->ahead[i], tables->layout.space[i / 2], false);
    }
    for (uint8_t junction = 0; junction < tables->junction_count; junction++) {
        for (uint8_t leg = 0; leg < tables->junction_degree[junction]; leg++) {
            light_fit(tables, tables->leaving[junction][leg], tables->layout.junction[junction],
                      false);
        }
    }
    for (uint8_t light = 0; light < tables->city_light_count; light++) {
        light_fit(tables, tables->exit[light], tables->layout.city[tables->light_city[light]],
                  true);
    }
}

static void lines_take(const ConvoiTables *tables, TyTaken *taken)
{
    for (uint32_t i = 0; i < 2u * tables->space_count; i++) {
        if (tables->ahead[i].kind == LINK_SPACE && i % 2 != 0) {
            continue; /* taken in the other direction */
        }
        ty_layout_take_line(taken, tables->layout.space[i / 2],
                            convoi_link_spot(tables, tables->ahead[i]), 6, TY_WEIGHT_LINE);
    }
}

static void spots_take(TyTaken *taken, const TySpot *spots, uint32_t count, int32_t radius)
{
    for (uint32_t i = 0; i < count; i++) {
        ty_layout_take(taken, spots[i], radius + 2, TY_WEIGHT_SYMBOL);
    }
}

static void labels_fit(const ConvoiTables *tables, TyTaken *taken, const TySpot *spots,
                       const uint16_t *titles, uint32_t count, int32_t radius, TySpot *labels)
{
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = ty_layout_label(taken, spots[i], radius, tables->names.bytes + titles[i],
                                    CONVOI_LABEL_SIZE, canvas);
    }
}

void convoi_layout(ConvoiTables *tables)
{
    TyTakenArea areas[4096];
    TyTaken taken = {.areas = areas, .room = sizeof areas / sizeof areas[0]};
    ConvoiLayout *layout = &tables->layout;
    nodes_fit(tables);
    spaces_fit(tables);
    lights_fit(tables);
    spots_take(&taken, layout->city, tables->city_count, CONVOI_CITY_RADIUS);
    spots_take(&taken, layout->start, tables->start_count, CONVOI_START_RADIUS);
    spots_take(&taken, layout->junction, tables->junction_count, CONVOI_JUNCTION_RADIUS);
    spots_take(&taken, layout->space, tables->space_count, CONVOI_SPACE_RADIUS);
    spots_take(&taken, layout->light, tables->light_count, CONVOI_LIGHT_RADIUS);
    lines_take(tables, &taken);
    labels_fit(tables, &taken, layout->city, tables->city_title, tables->city_count,
               CONVOI_CITY_RADIUS, layout->city_label);
    labels_fit(tables, &taken, layout->start, tables->start_title, tables->start_count,
               CONVOI_START_RADIUS, layout->start_label);
    labels_fit(tables, &taken, layout->junction, tables->junction_title, tables->junction_count,
               CONVOI_JUNCTION_RADIUS, layout->junction_label);
}
