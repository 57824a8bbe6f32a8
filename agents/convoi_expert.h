/* The Convoi Express expert from the inside: its map, its walks, its judgement of a position.
 *
 * Everything is counted in hundredths of an action card, in whole numbers. */
#pragma once

#include "agent.h"
#include "games/convoi/state.h"

/* What things are worth, in hundredths of an action card. Found by playing. */
enum {
    PRICE_MOVE = 100,
    PRICE_LIGHT = 85,
    PRICE_SWITCH = 70,
    PRICE_STOP = 25,
    PRICE_LOAD = 100,
    PRICE_NEW = 350,
    PRICE_TURN = 1000,
    PRICE_HEADON = 60,
    PRICE_FOLLOW = 20,
    PRICE_STAFF = 150,
    CARD_1 = 70,
    CARD_2 = 60,
    CARD_3 = 45,
    CARD_4 = 30,
    CARD_5 = 20,
    NEXT_NOW = 87,
    NEXT_CARD = 60,
    OPTION = 80,
    SURPLUS = 20,
    DELIVERY = 120,
    PRICE_DEADLOCK = 500,
    OPTION_REPEAT = 70,
    LEG = 30,
    NODE_FACING = 280,
    NODE_FOLLOW = 15,
    NODE_CITY = 25,
    USUAL_LIGHT = 55,
    USUAL_SWITCH = 50,
    SHARED = 60,
    FAR = 40,
    LOADED = 60,
    KEEP_LIMIT = 5,
    MARGIN = 0,
    CARD_6 = 10,
    CARD_LAST = 8,
    CARD_LAST_MOVE = 4,
    PRICE_AVERT = 150,
};

/* ---- The map (convoi_expert_map.c) ------------------------------------------------------------
 */

enum {
    MAP_NODES_MAX = CONVOI_NODES_MAX + CONVOI_JUNCTIONS_MAX * CONVOI_LEGS_MAX,
    MAP_EDGES_MAX =
        2 * CONVOI_SPACES_MAX + CONVOI_LIGHTS_MAX + CONVOI_STARTS_MAX + CONVOI_JUNCTIONS_MAX * 12,
    MAP_COST_FAR = 0xffff,
};

/* A way from one node to the next, past at most one light and one switch. */
typedef struct MapEdge {
    uint16_t from;
    uint16_t to;
    uint8_t light;    /* CONVOI_NONE: none */
    uint8_t junction; /* CONVOI_NONE: none */
    uint8_t setting;  /* that the junction has to have */
    uint8_t points;   /* 1, or 0 if it leads up to a junction */
} MapEdge;

/* The board as a directed graph. Nodes: 2 * space + heading, then cities, then starts (as in
 * ConvoiTables.distance), then the legs by which junctions are reached. */
typedef struct Map {
    uint16_t node_count;
    uint16_t edge_count;
    uint16_t first_leg;          /* the first node of a junction */
    MapEdge edge[MAP_EDGES_MAX]; /* ordered by `from` */
    uint16_t first_out[MAP_NODES_MAX + 1];
    uint16_t edge_in[MAP_EDGES_MAX]; /* edges ordered by `to` */
    uint16_t first_in[MAP_NODES_MAX + 1];
    bool is_city[MAP_NODES_MAX];
} Map;

/* What ways cost with the lights and switches of one position. Filled in as it is asked for. */
typedef struct Costs {
    uint16_t obstacle[MAP_EDGES_MAX]; /* lights and switches that bar an edge */
    bool ready[CONVOI_COLOURS][CONVOI_CITIES_MAX];
    uint16_t to[CONVOI_COLOURS][CONVOI_CITIES_MAX][MAP_NODES_MAX];
} Costs;

/* Ways as they usually are, whatever the lights and switches: for trains that are far from using
 * them. */
typedef struct UsualWays {
    uint16_t leg[CONVOI_COLOURS][CONVOI_GOODS][CONVOI_PORTS_MAX]; /* goods city to port */
    uint16_t approach[CONVOI_STARTS_MAX][CONVOI_GOODS];           /* start to goods city, black */
    uint16_t anew[CONVOI_GOODS]; /* a delivery from the start on, by a train yet to come */
} UsualWays;

void convoi_usual_init(UsualWays *usual, Costs *scratch, const Map *map,
                       const ConvoiTables *tables);
void convoi_map_init(Map *map, const ConvoiTables *tables);
/* Begins a new table of costs for the lights and switches of `state`. */
void convoi_costs_init(Costs *costs, const Map *map, const ConvoiTables *tables,
                       const ConvoiState *state);
/* From every node to `city` with a train of `colour`; the train is taken to be loaded if the city
 * is a port. */
const uint16_t *convoi_costs_to(Costs *costs, const Map *map, const ConvoiTables *tables,
                                uint8_t colour, uint8_t city);
/* The first edge of the cheapest way from `node`, or NULL if there is none. */
const MapEdge *convoi_costs_step(const Costs *costs, const Map *map, uint8_t colour, uint8_t city,
                                 uint16_t node);
uint16_t convoi_map_node(const ConvoiTables *tables, uint8_t place, uint8_t heading);

/* ---- Walks (convoi_expert_walk.c) -------------------------------------------------------------
 */

typedef enum Fate {
    FATE_RESTS,    /* it stands on `place` */
    FATE_DELIVERS, /* it brought its good to the port `place` */
    FATE_DEPOT,    /* it is off the board; its good is back in its city */
} Fate;

/* How a move may end. */
typedef struct Outcome {
    uint8_t place;
    uint8_t heading;
    uint8_t tokens; /* lost */
    uint8_t fate;
} Outcome;

enum { OUTCOMES_MAX = 24 };

typedef struct Outcomes {
    uint32_t count;
    Outcome list[OUTCOMES_MAX];
} Outcomes;

/* Where a walk begins: the train, its points, the exit if that is decided, the entry it came by. */
typedef struct Walk {
    uint8_t train;
    uint8_t points;
    uint8_t exit;  /* CONVOI_NONE: any */
    uint8_t entry; /* plus one, as in the state */
    bool crossing; /* cities may be crossed */
} Walk;

/* Probability of the values 0..5 of each colour's die, in sixths. */
extern const uint8_t convoi_die[CONVOI_COLOURS][6];

/* All ways in which the move may end, by the choices of exits and stops. */
void convoi_walk(const ConvoiTables *tables, const ConvoiState *state, Walk walk,
                 Outcomes *outcomes);
void convoi_outcome_apply(const ConvoiTables *tables, ConvoiState *state, uint8_t train,
                          Outcome outcome);

/* ---- Judgement (convoi_expert_value.c) --------------------------------------------------------
 */

/* A judged position: what each train is for, and what its next move is worth. */
typedef struct Judgement {
    int32_t total;
    uint8_t task[CONVOI_TRAINS]; /* the city to reach; CONVOI_NONE: nothing to do */
    int32_t cost[CONVOI_TRAINS]; /* from where it is to its delivery */
    int32_t gain[CONVOI_TRAINS]; /* expected of a move by die */
    /* By colour: from each goods city to the ports that want its goods. */
    int32_t leg[CONVOI_COLOURS][CONVOI_GOODS];
    uint8_t unserved; /* goods that no train is on its way for */
} Judgement;

/* What a judge needs besides the position. */
typedef struct Judge {
    const ConvoiTables *tables;
    const Map *map;
    const UsualWays *usual;
    Costs *costs; /* for the lights and switches of the positions judged */
    bool ending;  /* the turn ends here: cards in hand are for later turns */
} Judge;

void convoi_judge(const Judge *judge, const ConvoiState *state, Judgement *judgement);
/* The best outcome of a move of `train` as `judgement` sees it; `count` is at least 1. */
uint32_t convoi_outcome_best(const Judge *judge, const ConvoiState *state,
                             const Judgement *judgement, uint8_t train, const Outcomes *outcomes);
/* What the cards of a hand are worth. */
int32_t convoi_hand_value(const Judge *judge, const ConvoiState *state);
/* Weight of each start among rolls (or tokens) for a new train; returns the sum. */
uint32_t convoi_start_weights(const ConvoiTables *tables, const ConvoiState *state,
                              uint8_t weights[CONVOI_STARTS_MAX]);
