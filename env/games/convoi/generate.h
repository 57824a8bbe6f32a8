/* A generated board while it is drawn up: generate.c draws it, generate_file.c writes it. */
#pragma once

#include "games/convoi/convoi.h"
#include "kit/invent.h"

enum {
    SIDES = 4, /* of a place: north, east, south, west */
    PLACES_MAX = CONVOI_JUNCTIONS_MAX + CONVOI_CITIES_MAX,
    TRACKS_MAX = 2 * PLACES_MAX,
    GONE = 0xff,      /* a side without track */
    FREE_CELL = 0xff, /* not a city */
};

/* How many of everything a board of a size and level has. */
typedef struct Numbers {
    uint32_t junctions;
    uint32_t cities; /* goods cities, then the port */
    uint32_t exits;  /* of each city */
    uint32_t starts;
    uint32_t four_way;
    uint32_t tracks; /* between junctions and cities */
    uint32_t lights; /* on the track */
    uint32_t green;  /* of these, at first */
    uint32_t longer; /* spaces beyond one on each track */
} Numbers;

/* A line between two cells of the grid, or from a start to one. */
typedef struct Track {
    uint8_t cell[2];
    uint8_t start; /* its number + 1; then it goes from the start to cell[1] */
    uint8_t spaces;
    uint8_t light; /* on the track: its number + 1 */
} Track;

typedef struct Start {
    int32_t xy[2];
    uint8_t cell;
    char title[INVENT_NAME_SIZE];
} Start;

/* A board being drawn up. */
typedef struct Plan {
    Invention chance;
    Numbers numbers;
    uint32_t columns;
    uint32_t cells;
    uint8_t city[PLACES_MAX];        /* of a cell, or FREE_CELL */
    uint8_t side[PLACES_MAX][SIDES]; /* the track there, or GONE */
    uint8_t degree[PLACES_MAX];      /* tracks of a cell */
    uint8_t filled[PLACES_MAX];      /* and starts */
    uint8_t junction[PLACES_MAX];    /* its number */
    uint8_t cell_of_junction[PLACES_MAX];
    uint8_t cell_of_city[CONVOI_CITIES_MAX];
    Track track[TRACKS_MAX];
    bool kept[TRACKS_MAX];
    uint32_t tracks; /* laid at first */
    uint32_t left;   /* of them */
    int32_t xy[PLACES_MAX][2];
    char title[PLACES_MAX][INVENT_NAME_SIZE];
    Start start[CONVOI_STARTS_MAX];
    uint32_t starts;
    Track line[TRACKS_MAX + CONVOI_STARTS_MAX]; /* as in the file: starts, cities, junctions */
    uint32_t lines;
} Plan;

/* Writes the plan as a board file. */
void convoi_plan_write(const TyFileField *file, TyOrder order, Plan *plan, TyJson *json);
