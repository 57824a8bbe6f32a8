/* Ligne de train, Chicago: the train as a graph. Nodes are the cells of both cars, as the row
 * counts them, and behind them the start spaces; edges join neighbours that no bar parts. With
 * tiles drawn by lot the cars differ from episode to episode: then there are only the nodes. */
#include "games/chicago/names.h"

static const ChicagoTrain *train_of(const ChicagoTables *tables)
{
    return &tables->trains[tables->fixed[0] * CHICAGO_TILES_MAX + tables->fixed[1]];
}

static uint32_t cell_count(const ChicagoTables *tables)
{
    return (uint32_t)CHICAGO_CARS * tables->cells;
}

static uint32_t node_count(const TyRuleset *ruleset)
{
    return cell_count(chicago_tables(ruleset)) + CHICAGO_STARTS;
}

/* The place that a node is, as the tables number them. */
static uint32_t node_place(const ChicagoTables *tables, uint32_t node)
{
    uint32_t cells = cell_count(tables);
    return node < cells ? cell_sparse(tables, node) : CHICAGO_NODES + node - cells;
}

/* The neighbours of a node that come before it, as cells; so every edge is found once. */
static bool node_joins(const ChicagoTables *tables, uint32_t node, uint32_t before)
{
    const CellSet *links = &train_of(tables)->links[node_place(tables, node)];
    return before < cell_count(tables) && cells_have(links, node_place(tables, before));
}

/* Finds edge number `wanted`; returns how many there are up to it. */
static uint32_t edge_find(const ChicagoTables *tables, uint32_t wanted, TyEdge *ends)
{
    uint32_t count = 0;
    uint32_t nodes = cell_count(tables) + CHICAGO_STARTS;
    for (uint32_t node = 0; node < nodes && !tables->tiles_random; node++) {
        for (uint32_t before = 0; before < node; before++) {
            if (node_joins(tables, node, before) && count++ == wanted) {
                *ends = (TyEdge){.a = (uint16_t)before, .b = (uint16_t)node};
                return count;
            }
        }
    }
    return count;
}

static uint32_t edge_count(const TyRuleset *ruleset)
{
    TyEdge none = {0};
    return edge_find(chicago_tables(ruleset), UINT32_MAX, &none);
}

static TyEdge edge_ends(const TyRuleset *ruleset, uint32_t edge)
{
    TyEdge ends = {0};
    edge_find(chicago_tables(ruleset), edge, &ends);
    return ends;
}

static void node_write(const TyRuleset *ruleset, uint32_t node, TyJson *out)
{
    const ChicagoTables *tables = chicago_tables(ruleset);
    uint32_t cells = cell_count(tables);
    char name[TY_NAME_MAX];
    TyText text = ty_text_init(name, sizeof name);
    ty_names_write(&chicago_places, ruleset, node_place(tables, node), &text);
    ty_json_put_string(out, "id", name);
    ty_json_put_string(out, "title", name);
    if (node >= cells) {
        ty_json_put_string(out, "kind", "start");
        return;
    }
    uint32_t car = node / tables->cells;
    uint32_t cell = node % tables->cells;
    uint8_t kind = tables->kinds[tables->fixed[car]][cell];
    ty_json_put_string(out, "kind", tables->tiles_random ? "cell" : chicago_kinds.words[kind]);
    ty_json_put_int(out, "x", 1000 * (int64_t)(car * (tables->width + 1u) + cell % tables->width));
    ty_json_put_int(out, "y", -1000 * (int64_t)(cell / tables->width));
}

static void edge_write(const TyRuleset *ruleset, uint32_t edge, TyJson *out)
{
    (void)ruleset;
    (void)edge;
    ty_json_put_string(out, "kind", "step");
    ty_json_put_int(out, "length", 1);
}

static const TyAnchor anchors[] = {{.names = &chicago_cells}, {.names = NULL}};

const TyBoard chicago_board = {
    .node_count = node_count,
    .edge_count = edge_count,
    .ends = edge_ends,
    .node = node_write,
    .edge = edge_write,
    .anchors = anchors,
};
