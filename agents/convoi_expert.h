/* The Convoi Express expert from the inside: its map, its walks, its judgement of a position.
 *
 * Everything is counted in hundredths of an action card, in whole numbers. */
#pragma once

#include "agent.h"
#include "games/convoi/state.h"

/* ---- Weights ----------------------------------------------------------------------------------
 */

/* What things cost, in hundredths of an action card. */
enum {
    PRICE_MOVE = 100,  /* a move by die, shared among the spaces that the die covers on average */
    PRICE_LIGHT = 75,  /* a red light on the way */
    PRICE_SWITCH = 70, /* a closed switch on the way */
    PRICE_STOP = 25,   /* a stop in a city on the way: points of a roll that are lost */
    PRICE_LOAD = 100,  /* loading */
    PRICE_NEW = 350,   /* waiting for a new train */
    PRICE_TURN = 1000, /* a turn, and all tokens of a full clock */
    PRICE_HEADON = 60, /* a train that comes from ahead, if one of the two can turn off */
    PRICE_FOLLOW = 20, /* a train that goes ahead */
    PRICE_STAFF = 220, /* a member of the staff at the start of the game; nothing at its end */
    PRICE_DEADLOCK = 500, /* a train that comes from ahead on the same line */
    PRICE_AVERT = 110,    /* averting a danger of the next card with a card in hand */
};

/* What a way costs besides, because of other trains. */
enum {
    NODE_FACING = 280, /* entering the space of a train that comes from ahead */
    NODE_FOLLOW = 15,  /* entering the space of a train that goes ahead */
    NODE_CITY = 25,    /* entering a city in which a train stands */
};

/* What goods and cards are worth. */
enum {
    DELIVERY = 120, /* a good that is delivered */
    LOADED = 60,    /* a good that is on a train */
    CARD_1 = 70,    /* the first card of a kind, kept for a later turn; then the further ones */
    CARD_2 = 60,
    CARD_3 = 45,
    CARD_4 = 30,
    CARD_5 = 20,
    CARD_6 = 10,
    CARD_LAST = 8,      /* any card in the last turn, so that none is played without need */
    CARD_LAST_MOVE = 4, /* a move card in the last turn, besides */
    CARDS_KEPT = 5,     /* as many cards may be kept without drawing fewer */
};

/* Ways that trains will use later, whatever their lights and switches are now. */
enum {
    USUAL_LIGHT = 55,  /* a light on a way for later, red or not */
    USUAL_SWITCH = 50, /* a switch on a way for later, closed or not */
    LEG = 30, /* percentage of lights and switches as they are, not as usual, on a way for later */
};

/* Percentages. */
enum {
    NEXT_NOW = 87,      /* percentage of what the next instruction card is expected to bring */
    NEXT_CARD = 60,     /* the same while a card is being followed: action cards come in between */
    OPTION = 80,        /* percentage of what a move card in hand could bring at once */
    OPTION_REPEAT = 70, /* percentage of that for moving the same train again */
    SURPLUS = 20,       /* percentage of its way to the port that an idle train counts */
    SHARED = 60,        /* percentage off an obstacle that bars an earlier train, too */
    FAR = 40,           /* percentage off an obstacle that is far ahead */
};

/* ---- The map (convoi_expert_map.c) ------------------------------------------------------------
 */

enum {
    MAP_NODES_MAX = CONVOI_NODES_MAX + CONVOI_JUNCTIONS_MAX * CONVOI_LEGS_MAX,
    MAP_EDGES_MAX =
        2 * CONVOI_SPACES_MAX + CONVOI_LIGHTS_MAX + CONVOI_STARTS_MAX + CONVOI_JUNCTIONS_MAX * 12,
    MAP_COST_FAR = 0xffff,  /* no way, in a table of costs */
    MAP_COST_NO_WAY = 3000, /* what that counts as */
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

enum { DIE_MAX = 5 };

/* Probability of the values 0..5 of each colour's die, in sixths. */
extern const uint8_t convoi_die[CONVOI_COLOURS][DIE_MAX + 1];

/* All ways in which the move may end, by the choices of exits and stops. */
void convoi_walk(const ConvoiTables *tables, const ConvoiState *state, Walk walk,
                 Outcomes *outcomes);
void convoi_outcome_apply(const ConvoiTables *tables, ConvoiState *state, uint8_t train,
                          Outcome outcome);

/* ---- Judgement (convoi_expert_tasks.c, convoi_expert_value.c) ---------------------------------
 */

/* A judged position: what each train is for, and what its next move is worth. */
typedef struct Judgement {
    int32_t total;
    uint8_t task[CONVOI_TRAINS];               /* the city to reach; CONVOI_NONE: nothing to do */
    int32_t cost[CONVOI_TRAINS];               /* from where it is to its delivery */
    int32_t gain[CONVOI_TRAINS];               /* expected of a move by die */
    int32_t leg[CONVOI_COLOURS][CONVOI_GOODS]; /* from a goods city to the ports, by train colour */
    uint8_t unserved;                          /* goods that no train is on its way for */
} Judgement;

/* What a judge needs besides the position. */
typedef struct Judge {
    const ConvoiTables *tables;
    const Map *map;
    const UsualWays *usual;
    Costs *costs; /* for the lights and switches of the positions judged */
    bool ending;  /* the turn ends here: cards in hand are for later turns */
} Judge;

static inline uint8_t train_colour(uint8_t train)
{
    return train / 3;
}

/* The city of a port. */
uint8_t convoi_port_city(const ConvoiTables *tables, uint8_t port);
/* The node that a train on the board stands on. */
uint16_t convoi_train_node(const ConvoiTables *tables, const ConvoiState *state, uint8_t train);
/* Gives every train its task; returns what it costs to deliver all goods. */
int32_t convoi_tasks_assign(const Judge *judge, const ConvoiState *state, Judgement *judgement);
/* From `node` to the end of the train's task. */
int32_t convoi_train_cost(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train, uint16_t node);
/* What it costs to begin anew the task of a train that is lost. */
int32_t convoi_train_loss(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train);
/* A time token is a share of a turn. */
int32_t convoi_token_price(const ConvoiTables *tables);
/* Weight of each start among rolls (or tokens) for a new train; returns the sum. */
uint32_t convoi_start_weights(const ConvoiTables *tables, const ConvoiState *state,
                              uint8_t weights[CONVOI_STARTS_MAX]);
void convoi_judge(const Judge *judge, const ConvoiState *state, Judgement *judgement);
/* The best outcome of a move of `train`, as `judgement` sees it. */
uint32_t convoi_outcome_best(const Judge *judge, const ConvoiState *state,
                             const Judgement *judgement, uint8_t train, const Outcomes *outcomes);
/* What the cards of the active hand are worth. */
int32_t convoi_hand_value(const Judge *judge, const ConvoiState *state);

/* ---- Thinking (convoi_expert.c, convoi_expert_cards.c) ----------------------------------------
 */

/* Where the parts of a row stand that the public run of bytes does not hold. */
typedef struct RowOffsets {
    uint16_t public_run;
    uint16_t goods;
    uint16_t delivered;
    uint16_t setting;
    uint16_t seen;
    uint16_t green;
    uint16_t hand;
    uint16_t turn;
    uint16_t number_start; /* NO_BLOCK if the ruleset has none */
    uint16_t token_spent;
} RowOffsets;

enum { NO_BLOCK = 0xffff };

typedef struct Expert {
    const ConvoiTables *tables;
    Map map;
    UsualWays usual;
    Costs costs;       /* of the position as it is */
    Costs trial_costs; /* of a position with another light or switch */
    RowOffsets row;
    uint8_t light_from; /* the light that was chosen to be moved, and where to */
    uint8_t light_to;
} Expert;

_Static_assert(sizeof(Expert) <= TY_AGENT_MEMORY_MAX, "the expert fits into an agent's memory");

/* The position as the seat knows it, and the best answer found so far. */
typedef struct Thought {
    Expert *expert;
    const ConvoiTables *tables;
    const TyView *view;
    ConvoiState state;
    Judge judge;
    Judgement judgement;
    uint32_t best;
    int32_t best_value;
} Thought;

static inline bool answer_allowed(const Thought *thought, uint32_t action)
{
    return thought->view->mask[action] != 0;
}

/* The answer `action` is worth `value`: it is remembered if it is allowed and the best so far. */
void convoi_answer_offer(Thought *thought, uint32_t action, int32_t value);
/* A position with the lights and switches of the real one. */
int32_t convoi_position_value(const Thought *thought, const ConvoiState *state);
/* A position with other lights or switches. */
int32_t convoi_trial_value(const Thought *thought, const ConvoiState *state);
/* The mean over the rolls of the train's die. */
int32_t convoi_roll_value(const Thought *thought, const ConvoiState *state, uint8_t train);
/* Answer the questions of PHASE_ACTIONS, PHASE_LIGHT_TO and PHASE_PAY. */
void convoi_actions_think(Thought *thought);
void convoi_light_to_think(Thought *thought);
void convoi_pay_think(Thought *thought);
