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
    MAP_LINES_MAX = CONVOI_LINES_MAX + CONVOI_STARTS_MAX,
    MAP_NODES_MAX = CONVOI_NODES_MAX + CONVOI_JUNCTIONS_MAX * CONVOI_LEGS_MAX,
    MAP_LEG_WAYS = CONVOI_LEGS_MAX - 1,                /* by which one goes on from a leg */
    MAP_ITEMS_MAX = MAP_LINES_MAX + CONVOI_CITIES_MAX, /* lines, and behind them cities */
    MAP_ITEM_WORDS = (MAP_ITEMS_MAX + 63) / 64,
    MAP_COST_FAR = 16000,   /* no way */
    MAP_LINE_MOST = 8000,   /* what a line costs at most: with a way and a switch, within 16 bits */
    MAP_COST_NO_WAY = 3000, /* what that counts as */
    MAP_NO_LINE = 0xff,
};

/* A step of a way: from one node to the next, past at most one light and one switch. */
typedef struct MapEdge {
    uint16_t to;
    uint8_t light;    /* CONVOI_NONE: none */
    uint8_t junction; /* CONVOI_NONE: none */
    uint8_t setting;  /* that the junction has to have */
    uint8_t points;   /* 1, or 0 if it leads up to a junction */
} MapEdge;

/* Where a line ends. */
typedef enum LineEnd { LINE_DEAD, LINE_CITY, LINE_LEG } LineEnd;

/* A line without a choice: numbered as in ConvoiTables, then the departures from the starts. */
typedef struct MapLine {
    uint8_t end; /* LineEnd */
    uint8_t city;
    uint8_t junction;
    uint8_t leg;
    uint8_t spaces;      /* that it costs from its beginning to its end */
    uint8_t node_count;  /* spaces on it */
    uint16_t first_node; /* among `line_nodes` */
    uint8_t last_light;  /* ahead of its end */
    MapEdge first;       /* its first step */
    /* If it ends at a leg: the lines that go on from there, and the settings for them. */
    uint8_t next_count;
    uint8_t next[MAP_LEG_WAYS];
    uint8_t next_setting[MAP_LEG_WAYS];
} MapLine;

/* A set of lines and cities. */
typedef struct Items {
    uint64_t bits[MAP_ITEM_WORDS];
} Items;

static inline void items_add(Items *items, uint32_t item)
{
    items->bits[item / 64] |= UINT64_C(1) << item % 64;
}

/* To each city. */
typedef struct Lanes {
    _Alignas(8) int16_t to[CONVOI_CITIES_MAX];
} Lanes;

/* The board as lines between junctions and cities. Nodes: 2 * space + heading, then cities, then
 * starts (as in ConvoiTables.distance), then the legs by which junctions are reached. */
typedef struct Map {
    uint16_t first_city; /* nodes */
    uint16_t first_start;
    uint16_t first_leg;
    uint8_t line_count;
    uint8_t line_start; /* the first departure */
    MapLine line[MAP_LINES_MAX];
    uint16_t line_nodes[CONVOI_NODES_MAX];                   /* of all lines, in their order */
    uint8_t node_light[CONVOI_NODES_MAX];                    /* ahead of a space */
    uint8_t node_line[CONVOI_NODES_MAX];                     /* that a space lies on */
    uint8_t node_left[CONVOI_NODES_MAX];                     /* spaces from it to the end */
    MapEdge ahead[CONVOI_NODES_MAX];                         /* the step from a space */
    uint8_t arriving[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX]; /* line that ends at the leg */
    uint8_t item_words;                                      /* that its items take */
    /* What goes on with a line or a city, so that its cost follows from theirs: the lines that
     * arrive at the other legs, the city of an exit, the lines that end in a city. */
    Items spread[MAP_ITEMS_MAX];
    uint8_t light_line[CONVOI_LIGHTS_MAX][3]; /* lines that a light is on, or MAP_NO_LINE */
    int16_t line_price[CONVOI_COLOURS][MAP_LINES_MAX]; /* of the spaces of a line */
    Lanes home[CONVOI_CITIES_MAX];    /* from a city: nothing to itself, no way to others */
    Lanes passing[CONVOI_CITIES_MAX]; /* what it costs to go on through a city, to each city */
} Map;

void convoi_map_init(Map *map, const ConvoiTables *tables);
uint16_t convoi_map_node(const ConvoiTables *tables, uint8_t place, uint8_t heading);

/* What one space costs a train of `colour`: a move by die, shared among the die's mean, which is so
 * many sixths. */
static inline int32_t convoi_space_price(uint8_t colour)
{
    static const uint8_t price[CONVOI_COLOURS] = {6 * PRICE_MOVE / 21, 6 * PRICE_MOVE / 15,
                                                  6 * PRICE_MOVE / 10};
    return price[colour];
}

/* ---- Ways (convoi_expert_ways.c) --------------------------------------------------------------
 */

/* What ways cost with the lights, switches and trains of one position. What a change of them does
 * not touch is kept. */
typedef struct Costs {
    uint64_t green;
    uint8_t setting[CONVOI_JUNCTIONS_MAX];
    int16_t price_light;
    int16_t price_switch;
    bool usual;                   /* every light and switch costs, as it is or not */
    bool begun;                   /* it is of an earlier position */
    uint8_t place[CONVOI_TRAINS]; /* of the trains that are charged for, as in the state */
    uint8_t heading[CONVOI_TRAINS];
    uint16_t charge[CONVOI_NODES_MAX];             /* for entering a node, because of a train */
    int16_t whole[MAP_LINES_MAX][CONVOI_COLOURS];  /* what it costs, with its spaces */
    int16_t gate[MAP_LINES_MAX][MAP_LEG_WAYS];     /* of the switch, to go on from its end */
    uint16_t node_toll[CONVOI_NODES_MAX];          /* from a space to the end of its line */
    Lanes city[CONVOI_CITIES_MAX][CONVOI_COLOURS]; /* from a city on, by colour */
    Lanes line[MAP_LINES_MAX][CONVOI_COLOURS];     /* from the beginning of a line on */
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
/* Makes `costs`, which is zero or of an earlier position, those of `state`. */
void convoi_costs_update(Costs *costs, const Map *map, const ConvoiTables *tables,
                         const ConvoiState *state);
/* Makes `costs` those of `state`, which differs from the position of `base` in its lights and
 * switches only. */
void convoi_costs_vary(Costs *costs, const Costs *base, const Map *map, const ConvoiTables *tables,
                       const ConvoiState *state);
/* From `node`, not a leg, to `city` with a train of `colour`; the train is taken to be loaded if
 * the city is a port. MAP_COST_NO_WAY if there is none. */
int32_t convoi_way_cost(const Costs *costs, const Map *map, uint8_t colour, uint8_t city,
                        uint16_t node);
/* The first step of the cheapest way from `node`; false if there is none. */
bool convoi_way_step(const Costs *costs, const Map *map, const ConvoiTables *tables, uint8_t colour,
                     uint8_t city, uint16_t node, MapEdge *edge);

/* ---- Walks (convoi_expert_walk.c) -------------------------------------------------------------
 */

typedef enum Fate {
    FATE_RESTS,    /* it stands on `place` */
    FATE_DELIVERS, /* it brought its good to the port `place` */
    FATE_DEPOT,    /* it is off the board; its good is back in its city */
} Fate;

/* A set of places. */
typedef struct Places {
    uint64_t bits[4];
} Places;

static inline void places_add(Places *places, uint8_t place)
{
    places->bits[place / 64] |= UINT64_C(1) << place % 64;
}

static inline bool places_have(const Places *places, uint8_t place)
{
    return (places->bits[place / 64] >> place % 64 & 1) != 0;
}

/* How a move may end. */
typedef struct Outcome {
    uint8_t place;
    uint8_t heading;
    uint8_t tokens; /* lost */
    uint8_t fate;
} Outcome;

/* A move: the train, the points it may have, the exit if that is decided, the entry it came by. */
typedef struct Walk {
    uint8_t train;
    uint8_t least; /* points */
    uint8_t most;
    uint8_t exit;  /* CONVOI_NONE: any */
    uint8_t entry; /* plus one, as in the state */
    bool crossing; /* cities may be crossed */
} Walk;

/* The best way in which a move with some points can end. */
typedef struct Ending {
    Outcome outcome;
    int32_t value;
} Ending;

void convoi_outcome_apply(const TyRuleset *ruleset, ConvoiState *state, uint8_t train,
                          Outcome outcome);

/* ---- Judgement (convoi_expert_tasks.c, convoi_expert_value.c) ---------------------------------
 */

/* What the ports still want that no loaded train is bringing. */
typedef struct Wants {
    uint8_t colour[CONVOI_PORTS_MAX][CONVOI_GOODS];
    uint8_t extra[CONVOI_PORTS_MAX];
} Wants;

enum {
    LOOK_AHEAD = 8,  /* spaces ahead in which another train is in the way */
    TRAIL_BARS = 64, /* lights and switches that are noted of a way */
};

/* A red light or a closed switch on a way, or both, and how far ahead it is. */
typedef struct Bar {
    uint8_t light; /* CONVOI_NONE: none, or it is green */
    uint8_t junction;
    uint8_t setting; /* that it has to have */
    uint8_t spaces;  /* at most LOOK_AHEAD */
} Bar;

/* The way of a train to its task. */
typedef struct Trail {
    uint8_t near_count; /* nodes that count, up to LOOK_AHEAD spaces ahead */
    uint8_t near_line;  /* of them: those before the first junction */
    uint8_t bar_count;
    uint16_t near[LOOK_AHEAD];
    Places places; /* of these nodes */
    Bar bars[TRAIL_BARS];
} Trail;

/* A way to give tasks to empty trains, as one number: what all goods cost, then how many of each
 * colour are fetched, then who fetches what. The lower one is the better, and of equals it is
 * always the same one, in whatever order trains are planned for. */
typedef int64_t Plan;

enum { STOCK_CHOICES = 1 + CONVOI_GOODS /* of an empty train: to stay idle, or goods */ };

/* The goods that are to be given out to empty trains. */
typedef struct Stock {
    uint8_t extra; /* goods of any colour */
    uint8_t kind_count;
    uint8_t kinds[CONVOI_GOODS];    /* that can be given */
    uint8_t held[CONVOI_GOODS];     /* at most so many, and no more than 3 */
    int32_t cheapest;               /* by a train that has yet to come */
    uint64_t rest[CONVOI_GOODS][4]; /* what is left to be fetched, by how many are given */
    uint16_t planned;               /* trains, as bits, that `others` are known of */
    /* The best plan without a train, with what is left when it has made its choice. */
    Plan others[CONVOI_TRAINS][STOCK_CHOICES];
} Stock;

/* A judged position: what each train is for, and what its next move is worth. */
typedef struct Judgement {
    int32_t total;
    int32_t certain;             /* of it: whatever the cards bring, and those in hand */
    uint8_t task[CONVOI_TRAINS]; /* the city to reach; CONVOI_NONE: nothing to do */
    int32_t cost[CONVOI_TRAINS]; /* from where it is to its delivery */
    int32_t gain[CONVOI_TRAINS]; /* expected of a move by die */
    int32_t leg[CONVOI_COLOURS][CONVOI_GOODS]; /* from a goods city to the ports, by train colour */
    uint8_t unserved;                          /* goods that no train is on its way for */
    uint16_t measured;                         /* bit 4 * colour + goods: `leg` is known */
    /* What else is of use for judging positions that are nearly the same; not set if the game is
     * over. */
    uint32_t board; /* trains on it, as bits */
    uint32_t empty; /* of them: those without goods */
    uint32_t moved; /* trains that stand elsewhere or carry something else than in the position that
                       was judged before; all, if there was none */
    Places taken;   /* where trains stand */
    Wants wants;
    int32_t loaded_cost; /* of the goods that loaded trains bring */
    int32_t empty_cost;  /* of the goods that empty trains fetch, or nobody yet */
    Stock stock;
    Places watched[CONVOI_TRAINS]; /* where another train makes a difference to `gain` */
    Trail trail[CONVOI_TRAINS];    /* of trains with a task */
} Judgement;

/* Instruction cards with the same symbols for moves, however often each colour is on them. */
typedef struct CardSet {
    uint8_t colours; /* as bits */
    uint8_t multi;   /* multicolour symbols */
    uint8_t count;   /* cards */
} CardSet;

/* The instruction cards that may come next, by what they name. */
typedef struct Deck {
    int32_t count;
    int32_t new_trains;            /* on all of them */
    int32_t moves[CONVOI_COLOURS]; /* symbols of each colour */
    uint8_t set_count;
    CardSet sets[CONVOI_CARDS_MAX];
} Deck;

/* What does not depend on what one does in the turn. */
typedef struct Outlook {
    Deck deck;
    int32_t token_price; /* a time token is a share of a turn */
    uint8_t port_city[CONVOI_PORTS_MAX];
    uint8_t start_weight[CONVOI_STARTS_MAX]; /* among rolls (or tokens) for a new train */
    int32_t start_sum;
    int32_t approach[CONVOI_GOODS]; /* from a random start to the city of the goods */
} Outlook;

/* What a judge needs besides the position. */
typedef struct Judge {
    const ConvoiTables *tables;
    const Map *map;
    const UsualWays *usual;
    const Outlook *outlook;
    const Costs *costs; /* for the lights and switches of the positions judged */
    bool ending;        /* the turn ends here: cards in hand are for later turns */
    /* A position with these lights and switches that was judged, and how; NULL: none. What another
     * one has in common with it is not judged again; what that takes is added to it. */
    const ConvoiState *real;
    Judgement *known;
} Judge;

static inline uint8_t train_colour(uint8_t train)
{
    return train / 3;
}

/* The most points that the die of a train has. */
static inline uint8_t convoi_die_most(uint8_t train)
{
    uint8_t most = DIE_MAX;
    while (die_weights[train_colour(train)][most] == 0) {
        most--;
    }
    return most;
}

/* The node that a train on the board stands on. */
uint16_t convoi_train_node(const ConvoiTables *tables, const ConvoiState *state, uint8_t train);
/* Gives every train its task, once `judgement` has what trains there are; returns what it costs to
 * deliver all goods. */
int32_t convoi_tasks_assign(const Judge *judge, const ConvoiState *state, Judgement *judgement);
/* From `node` to the end of the train's task. */
int32_t convoi_train_cost(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train, uint16_t node);
/* What it costs to start the task of a lost train again. */
int32_t convoi_train_loss(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                          uint8_t train);
/* Weight of each start among rolls (or tokens) for a new train; returns the sum. */
uint32_t convoi_start_weights(const ConvoiTables *tables, const ConvoiState *state,
                              uint8_t weights[CONVOI_STARTS_MAX]);
void convoi_outlook_init(Outlook *outlook, const ConvoiTables *tables, const UsualWays *usual,
                         const ConvoiState *state);
void convoi_judge(const Judge *judge, const ConvoiState *state, Judgement *judgement);
/* What a position that was judged is worth if the turn ends, or does not, as `judge` says. */
int32_t convoi_judgement_total(const Judge *judge, const ConvoiState *state,
                               const Judgement *judgement);
/* Where the best way to do `walk` ends, for each number of points, as `judgement` sees it. Returns
 * the places at which it looked for other trains. */
Places convoi_walk(const Judge *judge, const ConvoiState *state, const Judgement *judgement,
                   Walk walk, Ending endings[DIE_MAX + 1]);
/* What an outcome of a move of `train` is worth, as `judgement` sees it, without lost tokens. */
int32_t convoi_outcome_value(const Judge *judge, const ConvoiState *state,
                             const Judgement *judgement, uint8_t train, Outcome outcome);
/* What the players may expect to earn in a position that is worth `total`: 1 if they win, -1 if
 * they lose. */
float convoi_value_reward(const ConvoiState *state, int32_t total);
/* What the cards of the active hand are worth. */
int32_t convoi_hand_value(const Judge *judge, const ConvoiState *state);

/* ---- Thinking (convoi_expert.c, convoi_expert_cards.c) ----------------------------------------
 */

/* Leanings of partners. */
typedef enum Style {
    STYLE_EVEN,
    STYLE_CAUTIOUS, /* spares the staff */
    STYLE_HASTY,    /* spends the staff as if they had no price */
    STYLE_HOARDING, /* keeps cards unless an action is worth much */
} Style;

/* What the experts of a ruleset share. */
typedef struct ExpertTables {
    Map map;
    UsualWays usual;
} ExpertTables;

typedef struct Expert {
    const TyRuleset *ruleset;
    const ConvoiTables *tables;
    const ExpertTables *shared;
    uint8_t light_from; /* the light that was chosen to be moved, and where to */
    uint8_t light_to;
    uint8_t style;      /* a Style */
    uint16_t skill;     /* thousandths: how often it follows its judgement */
    uint32_t decisions; /* so far, for the draws of mistakes */
    uint64_t seed;
    Costs costs; /* of the position as it is */
} Expert;

_Static_assert(sizeof(Expert) <= TY_AGENT_MEMORY_MAX, "the expert fits into an agent's memory");

/* The position as the seat knows it, and the best answer found so far. */
typedef struct Thought {
    Expert *expert;
    const ConvoiTables *tables;
    const TyView *view;
    ConvoiState state;
    Outlook outlook;
    Judge judge;
    Judgement *judgement;
    Costs *trial; /* room for the costs of positions with another light or switch, and one more */
    uint32_t best;
    int32_t best_value;
} Thought;

static inline bool answer_allowed(const Thought *thought, Form form, uint32_t item)
{
    return thought->view->mask[thought->expert->ruleset->action_first[form] + item] != 0;
}

/* This answer is worth `value`: it is remembered if it is allowed and the best so far. */
void convoi_answer_offer(Thought *thought, Form form, uint32_t item, int32_t value);
/* A position with the lights and switches of the real one. */
int32_t convoi_position_value(const Thought *thought, const ConvoiState *state);
/* A position with other lights or switches. */
int32_t convoi_trial_value(const Thought *thought, const ConvoiState *state);
/* A position that differs in few of them from the one that convoi_trial_value was asked for last.
 */
int32_t convoi_further_value(const Thought *thought, const ConvoiState *state);
/* The mean over the rolls of the train's die. */
int32_t convoi_roll_value(const Thought *thought, const ConvoiState *state, uint8_t train);
/* Answer the questions of PHASE_ACTIONS, PHASE_LIGHT_TO and PHASE_PAY. */
void convoi_actions_think(Thought *thought);
void convoi_light_to_think(Thought *thought);
/* Whether it was thought of, when a disc was chosen, where it is to go. */
bool convoi_light_remembered(const Thought *thought);
void convoi_pay_think(Thought *thought);
