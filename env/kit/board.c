/* The board as data: a graph, and which blocks of the row tell of it. */
#include "kit/kit.h"

/* ---- The graph ---------------------------------------------------------------------------------
 */

static void json_nodes(const TyRuleset *ruleset, const TyBoard *board, TyJson *out)
{
    uint32_t count = board->node_count(ruleset);
    ty_json_open(out, "nodes", '[');
    for (uint32_t i = 0; i < count; i++) {
        ty_json_open(out, NULL, '{');
        board->node(ruleset, i, out);
        ty_json_close(out, '}');
    }
    ty_json_close(out, ']');
}

static void json_edges(const TyRuleset *ruleset, const TyBoard *board, TyJson *out)
{
    uint32_t count = board->edge_count(ruleset);
    ty_json_open(out, "edges", '[');
    for (uint32_t i = 0; i < count; i++) {
        TyEdge ends = board->ends(ruleset, i);
        ty_json_open(out, NULL, '{');
        ty_json_put_int(out, "a", ends.a);
        ty_json_put_int(out, "b", ends.b);
        board->edge(ruleset, i, out);
        ty_json_close(out, '}');
    }
    ty_json_close(out, ']');
}

/* ---- Features ----------------------------------------------------------------------------------
 */

static const TyAnchor *anchor_find(const TyBoard *board, const TyNames *names)
{
    for (const TyAnchor *anchor = board->anchors; anchor->names != NULL; anchor++) {
        if (anchor->names == names) {
            return anchor;
        }
    }
    return NULL;
}

static void json_feature(const TyRuleset *ruleset, const TyBlock *block, const char *by,
                         const TyAnchor *anchor, bool optional, TyJson *out)
{
    uint32_t count = ty_names_count(anchor->names, ruleset);
    ty_json_open(out, NULL, '{');
    ty_json_put_string(out, "block", block->name);
    ty_json_put_string(out, "on", anchor->edge ? "edge" : "node");
    ty_json_put_string(out, "by", by);
    ty_json_put_bool(out, "optional", optional);
    ty_json_open(out, "at", '[');
    for (uint32_t i = 0; i < count; i++) {
        ty_json_put_int(out, NULL, anchor->at != NULL ? anchor->at(ruleset, i) : i);
    }
    ty_json_close(out, ']');
    ty_json_close(out, '}');
}

/* A block tells of the board by its rows or columns, or else by its values. */
static void json_block(const TyRuleset *ruleset, const TyBoard *board, uint32_t index, TyJson *out)
{
    const TyBlock *block = &ruleset->row_blocks[index];
    const TyBlockForm *form = &ruleset->game->blocks[ruleset->block_form[index]];
    const struct {
        const char *by;
        const TyNames *names;
        bool optional;
    } sides[] = {
        {"columns", form->columns, false},
        {"rows", form->rows, false},
        {"values", form->values, form->optional},
    };
    for (uint32_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        const TyAnchor *anchor = sides[i].names != NULL ? anchor_find(board, sides[i].names) : NULL;
        if (anchor != NULL) {
            json_feature(ruleset, block, sides[i].by, anchor, sides[i].optional, out);
            return;
        }
    }
}

void kit_board_json(const TyRuleset *ruleset, TyJson *out)
{
    const TyBoard *board = ruleset->game->board;
    if (board == NULL) {
        return;
    }
    json_nodes(ruleset, board, out);
    json_edges(ruleset, board, out);
    ty_json_open(out, "features", '[');
    for (uint32_t i = 0; i < ruleset->game_block_count; i++) {
        json_block(ruleset, board, i, out);
    }
    ty_json_close(out, ']');
}
