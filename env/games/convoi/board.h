/* A board of Convoi Express while it is read from its file: what the stages of reading share. */
#pragma once

#include "games/convoi/convoi.h"
#include "kit/reader.h"

enum {
    BOARD_EXITS_MAX = 8,         /* of a city */
    BOARD_GREEN_MAX = 10,        /* green discs */
    BOARD_SWITCH_DISCS_MAX = 30, /* one per three-way, two per four-way junction */
    BOARD_GAPS_MAX = CONVOI_SPACES_MAX + CONVOI_SEGMENTS_MAX,
};

/* A line of track. Its spaces are numbered from its a end on. Gap 0 lies before the first space,
 * gap i behind space i. */
typedef struct Segment {
    const TyDocNode *node;
    Link end[2]; /* a and b as a train meets them, without a light */
    uint8_t spaces;
    uint8_t first_space;
    uint16_t first_gap;
} Segment;

/* A board in the making. */
typedef struct Board {
    TyReader reader;
    ConvoiTables *tables;
    const TyDocNode *city_node[CONVOI_CITIES_MAX];
    const TyDocNode *start_node[CONVOI_STARTS_MAX];
    const TyDocNode *junction_node[CONVOI_JUNCTIONS_MAX];
    Segment segments[CONVOI_SEGMENTS_MAX];
    uint8_t gap_light[BOARD_GAPS_MAX];
    uint8_t city_exits[CONVOI_CITIES_MAX];
    uint8_t start_lines[CONVOI_STARTS_MAX];
    uint8_t leg_segment[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    uint8_t city_lights_named;
    bool numbered_legs;
} Board;

static inline const char *board_name(const Board *board, uint16_t name)
{
    return board->tables->names.bytes + name;
}

/* Calls `read` for each entry of the list `key` until one fails. */
void convoi_read_each(Board *board, const char *key, uint32_t minimum, uint32_t maximum,
                      void (*read)(Board *board, const TyDocNode *node));

/* Stages, in the order in which they run; each relies on the success of those before it. */
void convoi_read_lights(Board *board);
void convoi_read_switches(Board *board);
void convoi_read_green(Board *board);
void convoi_make_links(Board *board);
void convoi_make_runs(Board *board);
void convoi_make_leg_names(Board *board);
void convoi_make_distances(Board *board);
void convoi_make_row(Board *board);
