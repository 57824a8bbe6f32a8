/* Convoi Express: the board as a graph. Nodes are the places as the state numbers them (spaces,
 * cities, starts) and behind them the junctions; edges join neighbours on the track, and a light
 * stands on its edge. */
#include "games/convoi/text.h"

/* ---- Edges -------------------------------------------------------------------------------------
 */

static uint16_t node_of(const ConvoiTables *tables, Link link)
{
    uint32_t places = (uint32_t)tables->space_count + tables->city_count + tables->start_count;
    return link.kind == LINK_JUNCTION ? (uint16_t)(places + link.index) : link_place(tables, link);
}

/* Adds the edge between `node` and what lies along `link`. Every edge has two ends: the lower one
 * adds it. */
static void edge_add(ConvoiTables *tables, uint16_t node, Link link)
{
    uint16_t other = node_of(tables, link);
    if (node < other) {
        tables->edges[tables->edge_count++] = (TrackEdge){node, other, link.light};
    }
}

void convoi_make_edges(ConvoiTables *tables)
{
    uint32_t cities = tables->space_count;
    uint32_t starts = cities + tables->city_count;
    uint32_t junctions = starts + tables->start_count;
    for (uint32_t i = 0; i < 2u * tables->space_count; i++) {
        edge_add(tables, (uint16_t)(i / 2), tables->ahead[i]);
    }
    for (uint32_t i = 0; i < tables->city_light_count; i++) {
        edge_add(tables, (uint16_t)(cities + tables->light_city[i]), tables->exit[i]);
    }
    for (uint32_t i = 0; i < tables->start_count; i++) {
        edge_add(tables, (uint16_t)(starts + i), tables->departure[i]);
    }
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        for (uint32_t leg = 0; leg < tables->junction_degree[i]; leg++) {
            edge_add(tables, (uint16_t)(junctions + i), tables->leaving[i][leg]);
        }
    }
}

/* ---- The table ---------------------------------------------------------------------------------
 */

static uint32_t place_count(const ConvoiTables *tables)
{
    return (uint32_t)tables->space_count + tables->city_count + tables->start_count;
}

static uint32_t node_count(const TyRuleset *ruleset)
{
    return place_count(convoi_tables(ruleset)) + convoi_tables(ruleset)->junction_count;
}

static uint32_t edge_count(const TyRuleset *ruleset)
{
    return convoi_tables(ruleset)->edge_count;
}

static TyEdge edge_ends(const TyRuleset *ruleset, uint32_t edge)
{
    const TrackEdge *track = &convoi_tables(ruleset)->edges[edge];
    return (TyEdge){.a = track->a, .b = track->b};
}

static void write_xy(const int32_t xy[2], TyJson *out)
{
    ty_json_put_int(out, "x", xy[0]);
    ty_json_put_int(out, "y", xy[1]);
}

static void write_title(const View *view, const TyNames *names, uint32_t index, const char *kind,
                        TyJson *out)
{
    ty_json_put_string(out, "id", view_name(view, names, index).text);
    ty_json_put_string(out, "title", view_title(view, names, index).text);
    ty_json_put_string(out, "kind", kind);
}

static void city_write(const View *view, uint32_t city, TyJson *out)
{
    const ConvoiTables *tables = view->tables;
    bool port = tables->city_port[city] != CONVOI_NONE;
    write_title(view, &convoi_cities, city, port ? "port" : "city", out);
    if (!port) {
        ty_json_put_string(out, "goods", convoi_goods.words[tables->city_goods[city]]);
    }
    write_xy(tables->city_xy[city], out);
}

static void node_write(const TyRuleset *ruleset, uint32_t node, TyJson *out)
{
    const View view = view_of(ruleset, NULL);
    const ConvoiTables *tables = view.tables;
    uint32_t cities = tables->space_count;
    uint32_t starts = cities + tables->city_count;
    if (node < cities) {
        write_title(&view, &convoi_places, node, "space", out);
    } else if (node < starts) {
        city_write(&view, node - cities, out);
    } else if (node < place_count(tables)) {
        write_title(&view, &convoi_starts, node - starts, "start", out);
        write_xy(tables->start_xy[node - starts], out);
    } else {
        uint32_t junction = node - place_count(tables);
        write_title(&view, &convoi_junctions, junction, "junction", out);
        write_xy(tables->junction_xy[junction], out);
    }
}

static void edge_write(const TyRuleset *ruleset, uint32_t edge, TyJson *out)
{
    const View view = view_of(ruleset, NULL);
    uint8_t light = view.tables->edges[edge].light;
    ty_json_put_string(out, "kind", "track");
    ty_json_put_int(out, "length", 1);
    if (light == CONVOI_NONE) {
        ty_json_put_null(out, "light");
    } else {
        ty_json_put_string(out, "light", view_name(&view, &convoi_lights, light).text);
    }
}

/* ---- What stands on the board ------------------------------------------------------------------
 */

static uint32_t city_node(const TyRuleset *ruleset, uint32_t city)
{
    return place_city(convoi_tables(ruleset), (uint8_t)city);
}

static uint32_t start_node(const TyRuleset *ruleset, uint32_t start)
{
    return place_start(convoi_tables(ruleset), (uint8_t)start);
}

static uint32_t junction_node(const TyRuleset *ruleset, uint32_t junction)
{
    return place_count(convoi_tables(ruleset)) + junction;
}

static uint32_t light_edge(const TyRuleset *ruleset, uint32_t light)
{
    const ConvoiTables *tables = convoi_tables(ruleset);
    uint32_t edge = 0;
    while (edge + 1u < tables->edge_count && tables->edges[edge].light != light) {
        edge++;
    }
    return edge;
}

static const TyAnchor anchors[] = {
    {.names = &convoi_places},
    {.names = &convoi_cities, .at = city_node},
    {.names = &convoi_starts, .at = start_node},
    {.names = &convoi_junctions, .at = junction_node},
    {.names = &convoi_lights, .edge = true, .at = light_edge},
    {.names = NULL},
};

/* ---- In words ----------------------------------------------------------------------------------
 */

/* The line that begins with `link`: its spaces, its lights, its other end. `leg` is what a junction
 * calls it where that is not its other end; otherwise it is empty. */
static void text_line(const View *view, const char *from, const char *leg, Link link, TyText *out)
{
    static const TyNames *const names[] = {
        [LINK_CITY] = &convoi_cities,
        [LINK_START] = &convoi_starts,
        [LINK_JUNCTION] = &convoi_junctions,
    };
    Run run = run_along(view->tables, link);
    uint32_t spaces = run.points - (run.end.kind != LINK_JUNCTION ? 1u : 0u);
    const char *separator = "; lights: ";
    ty_text_add(out, "- %s%s to %s: ", from, leg,
                view_name(view, names[run.end.kind], run.end.index).text);
    ty_text_put_count(out, spaces, "space");
    for (uint64_t left = run.lights; left != 0; left &= left - 1) {
        ty_text_add(out, "%s%s", separator,
                    view_name(view, &convoi_lights, (uint32_t)__builtin_ctzll(left)).text);
        separator = ", ";
    }
    ty_text_add(out, "\n");
}

static void board_text(const TyRuleset *ruleset, TyText *out)
{
    const View view = view_of(ruleset, NULL);
    const ConvoiTables *tables = view.tables;
    ty_text_add(out, "Lines from the starts:\n");
    for (uint32_t i = 0; i < tables->start_count; i++) {
        text_line(&view, view_name(&view, &convoi_starts, i).text, "", tables->departure[i], out);
    }
    ty_text_add(out, "\nLines from the cities:\n");
    for (uint32_t i = 0; i < tables->city_light_count; i++) {
        text_line(&view, view_name(&view, &convoi_cities, tables->light_city[i]).text, "",
                  tables->exit[i], out);
    }
    ty_text_add(out, "\nLines from the switches, each of which joins two of its lines:\n");
    for (uint32_t i = 0; i < tables->junction_count; i++) {
        for (uint32_t leg = 0; leg < tables->junction_degree[i]; leg++) {
            char called[TY_NAME_MAX];
            TyText text = ty_text_init(called, sizeof called);
            if (tables->leg_name[i][leg] != tables->leg_way[i][leg]) {
                ty_text_add(&text, ", direction %s,",
                            tables->names.bytes + tables->leg_name[i][leg]);
            }
            text_line(&view, view_name(&view, &convoi_junctions, i).text, called,
                      tables->leaving[i][leg], out);
        }
    }
}

const TyBoard convoi_board = {
    .node_count = node_count,
    .edge_count = edge_count,
    .ends = edge_ends,
    .node = node_write,
    .edge = edge_write,
    .anchors = anchors,
    .text = board_text,
};
