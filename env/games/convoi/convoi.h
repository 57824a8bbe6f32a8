/* Convoi Express from the inside: the tables of a board and a deck. */
#pragma once

#include "game.h"
#include "kit/layout.h"

enum {
    CONVOI_COLOURS = 3,  /* black, brown, gray */
    CONVOI_TRAINS = 9,   /* train t has colour t / 3 */
    CONVOI_GOODS = 4,    /* blue, yellow, red, white */
    CONVOI_KINDS = 3,    /* action cards: signal, switch, move */
    CONVOI_NUMBERS = 11, /* start numbers 2..12 */
    CONVOI_STAFF = 3,
    CONVOI_HAND_MAX = 10,
    CONVOI_PORTS_MAX = 2,

    CONVOI_SPACES_MAX = 160,
    CONVOI_CITIES_MAX = 8,
    CONVOI_STARTS_MAX = 11,
    CONVOI_JUNCTIONS_MAX = 32,
    CONVOI_LEGS_MAX = 4,
    CONVOI_LEG_NONE = CONVOI_LEGS_MAX,
    CONVOI_SEGMENTS_MAX = 128,
    CONVOI_LIGHTS_MAX = 64,
    CONVOI_CARDS_MAX = 32,
    CONVOI_SYMBOLS_MAX = 4,
    CONVOI_SETTINGS_MAX = 90, /* of all junctions: three for each switch disc */
    CONVOI_EDGES_MAX = CONVOI_SPACES_MAX + CONVOI_SEGMENTS_MAX,
    CONVOI_NODES_MAX = 2 * CONVOI_SPACES_MAX + CONVOI_CITIES_MAX + CONVOI_STARTS_MAX,
    CONVOI_LINES_MAX = 4 * CONVOI_JUNCTIONS_MAX + CONVOI_LIGHTS_MAX,
    CONVOI_WAY_WORDS = 2,  /* of 64 nodes of the search for ways */
    CONVOI_WAY_RING = 512, /* more than a line and a switch can cost */

    /* Bytes that tell a board in a row: of each segment its ends and spaces, of each light its
     * segment and gap, of each city its goods. */
    CONVOI_BOARD_ROW_MAX = 3 * CONVOI_SEGMENTS_MAX + 2 * CONVOI_LIGHTS_MAX + CONVOI_CITIES_MAX,
    CONVOI_SPACES_TOLD = 8, /* the most spaces of a segment that rows tell */

    CONVOI_NONE = 0xff,       /* no light, no leg, no city */
    CONVOI_FAR = 0xff,        /* no way from here to there */
    CONVOI_COLOUR_ANY = 0xfe, /* "any" new train, "multi" move symbol */
};

typedef enum LinkKind {
    LINK_SPACE,    /* index: space, side: heading on it (0 towards the segment's b end, 1 to a) */
    LINK_CITY,     /* index: city; the light of the link is the exit by which it is entered */
    LINK_START,    /* index: start */
    LINK_JUNCTION, /* index: junction, side: leg */
} LinkKind;

/* What lies ahead: first the light, if there is one, then the next thing on the line. */
typedef struct Link {
    uint8_t light;
    uint8_t kind;
    uint8_t index;
    uint8_t side;
} Link;

/* A line without a choice: from a link over spaces to a city, a start or a junction. */
typedef struct Run {
    uint64_t lights; /* on it, as bits */
    Link end;
    uint8_t points;
} Run;

/* The switch settings of a junction in order: 0 joins legs 0 and 1, 1 joins 0 and 2, ...
 * (3 legs: 01 02 12; 4 legs: 01 02 03 12 13 23). */
typedef struct JunctionSetting {
    uint8_t leg[2];
} JunctionSetting;

/* An edge of the board's graph (graph.c): its nodes, and the light on it or CONVOI_NONE. */
typedef struct TrackEdge {
    uint16_t a;
    uint16_t b;
    uint8_t light;
} TrackEdge;

/* An instruction card: new trains first, then moves, each a colour or CONVOI_COLOUR_ANY. */
typedef struct Card {
    uint8_t new_count;
    uint8_t move_count;
    uint8_t new_colour[CONVOI_SYMBOLS_MAX];
    uint8_t move_colour[CONVOI_SYMBOLS_MAX];
    uint8_t new_colours; /* those that are printed, as bits */
    uint8_t move_colours;
} Card;

/* Where things stand on the drawing. */
typedef struct ConvoiLayout {
    TySpot city[CONVOI_CITIES_MAX];
    TySpot start[CONVOI_STARTS_MAX];
    TySpot junction[CONVOI_JUNCTIONS_MAX];
    TySpot space[CONVOI_SPACES_MAX];
    TySpot light[CONVOI_LIGHTS_MAX];
    TySpot city_label[CONVOI_CITIES_MAX];
    TySpot start_label[CONVOI_STARTS_MAX];
    TySpot junction_label[CONVOI_JUNCTIONS_MAX];
} ConvoiLayout;

/* The tables of a ruleset. Places are numbered spaces first, then cities, then starts; lights have
 * those of the cities first. Names are offsets into `names`. What the rules touch at every step
 * comes first. */
typedef struct ConvoiTables {
    uint8_t space_count;
    uint8_t city_count;
    uint8_t start_count;
    uint8_t junction_count;
    uint8_t light_count;
    uint8_t city_light_count;
    uint8_t segment_count;
    uint8_t card_count;
    uint8_t port_count;
    uint8_t green_count; /* discs, without the additional one of the easier level */
    bool crossing;       /* rules of the American side: cities and ports may be crossed */
    uint8_t player_count;
    uint8_t clock;
    uint8_t removed;
    uint8_t goods_per_city;
    uint8_t port_wants;   /* of each colour, in each port */
    uint8_t port_extra;   /* of any colour, in each port (10 goods) */
    uint8_t goods_wanted; /* to win */
    uint8_t placement;
    uint8_t starts;
    uint8_t reward;
    bool extra_light;
    bool hands_hidden;
    bool first_random;
    bool hints;
    bool show_board;

    uint16_t pay_options[4][27]; /* payments for an act, by hand_class */
    uint64_t settings_all[2];    /* a bit for each of all junctions */
    uint64_t fixed_lights;       /* of cities with one exit: their disc can never move */
    uint64_t city_lights[CONVOI_CITIES_MAX]; /* the exits of each city */
    uint64_t track_lights;
    uint64_t first_green;                        /* first-game placement */
    uint8_t first_setting[CONVOI_JUNCTIONS_MAX]; /* first-game placement */
    uint8_t city_goods[CONVOI_CITIES_MAX];       /* colour of its goods; CONVOI_NONE: a port */
    uint8_t city_port[CONVOI_CITIES_MAX];        /* index among the ports, or CONVOI_NONE */
    uint8_t goods_city[CONVOI_GOODS];            /* where a colour comes from, or CONVOI_NONE */
    uint8_t light_city[CONVOI_LIGHTS_MAX];       /* the city of a city light, or CONVOI_NONE */
    uint8_t number_start[CONVOI_NUMBERS];        /* the start that carries number i + 2 */
    uint8_t junction_degree[CONVOI_JUNCTIONS_MAX];
    uint8_t setting_first[CONVOI_JUNCTIONS_MAX]; /* number of its first setting */
    uint8_t setting_count;                       /* of all junctions together */
    uint8_t setting_junction[CONVOI_SETTINGS_MAX];

    Link ahead[2 * CONVOI_SPACES_MAX]; /* from space s with heading h: [2 * s + h] */
    Link leaving[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    Link exit[CONVOI_LIGHTS_MAX]; /* from a city through this city light */
    Link departure[CONVOI_STARTS_MAX];

    uint8_t board_row[CONVOI_BOARD_ROW_MAX]; /* as rows show it */
    uint16_t board_row_size;

    Card first_card;
    Card cards[CONVOI_CARDS_MAX];

    Run leaving_run[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    Run exit_run[CONVOI_LIGHTS_MAX];
    Run ahead_run[2 * CONVOI_SPACES_MAX];
    Run departure_run[CONVOI_STARTS_MAX];

    /* For the search of ways (ways.c). A line leaves a junction by leg l of junction j (4 * j + l)
     * or a city by light l (line_exit + l). A node is an arrival at a junction by a leg, or a city:
     * a bit of a word; those of a junction are in one word. Nobody passes a start, so legs that
     * come from one have no node. */
    uint8_t line_exit;
    uint8_t line_count;
    uint8_t way_words;
    uint16_t way_ring; /* a power of two, above what a line and a switch can cost */
    uint16_t line_cost[CONVOI_LINES_MAX + 1]; /* with all lights red */
    uint8_t line_word[CONVOI_LINES_MAX];      /* of the nodes that it is taken from */
    uint64_t line_nodes[CONVOI_LINES_MAX];    /* these: the other legs; none for exits */
    uint8_t light_line[CONVOI_LIGHTS_MAX][2]; /* the lines that it is on; line_count for none */
    uint8_t entry_line[CONVOI_LIGHTS_MAX];    /* by which a city is entered, or CONVOI_NONE */
    uint8_t node_line[64 * CONVOI_WAY_WORDS]; /* by which one arrives; CONVOI_NONE: a city */
    uint64_t leg_node[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    /* By setting and leg: the node from which the line is taken as the switch is. */
    uint64_t joined_node[CONVOI_JUNCTIONS_MAX][6][CONVOI_LEGS_MAX];
    uint64_t exit_node[CONVOI_LIGHTS_MAX]; /* its city */
    uint64_t city_node[CONVOI_CITIES_MAX];
    uint32_t passable; /* cities that ways go through, as bits */
    uint32_t city_node_first;

    /* Points from a node (2 * space + heading; then cities; then starts) to a city, whatever the
     * lights and switches; CONVOI_FAR if there is no way. */
    uint8_t distance[CONVOI_NODES_MAX][CONVOI_CITIES_MAX];

    /* For people and drawings. */
    uint16_t city_name[CONVOI_CITIES_MAX]; /* ids: "paris" */
    uint16_t start_name[CONVOI_STARTS_MAX];
    uint16_t junction_name[CONVOI_JUNCTIONS_MAX];
    uint16_t city_title[CONVOI_CITIES_MAX]; /* "Paris" */
    uint16_t start_title[CONVOI_STARTS_MAX];
    uint16_t junction_title[CONVOI_JUNCTIONS_MAX];
    int32_t city_xy[CONVOI_CITIES_MAX][2]; /* in thousandths */
    int32_t start_xy[CONVOI_STARTS_MAX][2];
    int32_t junction_xy[CONVOI_JUNCTIONS_MAX][2];
    uint16_t leg_name[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX]; /* "paris", unique in a junction */
    uint16_t leg_way[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX]; /* the same, where names are numbers */
    uint16_t segment_name[CONVOI_SEGMENTS_MAX];
    uint16_t light_name[CONVOI_LIGHTS_MAX];  /* "paris/bruxelles", "munich~zurich" */
    uint16_t light_title[CONVOI_LIGHTS_MAX]; /* or 0: what its name says */
    uint8_t space_segment[CONVOI_SPACES_MAX];
    uint8_t space_index[CONVOI_SPACES_MAX]; /* 1.. in its segment, from its a end */
    uint16_t card_name[CONVOI_CARDS_MAX];
    uint16_t board_title;
    uint16_t edge_count;
    TrackEdge edges[CONVOI_EDGES_MAX];
    ConvoiLayout layout;
    TyNamePool names;
} ConvoiTables;

/* The pair of legs that `setting` of a junction with `degree` legs joins. */
JunctionSetting junction_setting(uint8_t degree, uint8_t setting);
/* 3 or 6. */
static inline uint8_t junction_setting_count(uint8_t degree)
{
    return degree == 3 ? 3 : 6;
}

/* By degree - 3, setting and leg: the leg that is joined to it; CONVOI_LEG_NONE if it is blocked.
 */
extern const uint8_t junction_joined[2][6][CONVOI_LEGS_MAX];
/* By degree - 3 and two legs: the setting that joins them. */
extern const uint8_t junction_joining[2][CONVOI_LEGS_MAX][CONVOI_LEGS_MAX];

/* The leg that `setting` joins to `leg`; CONVOI_LEG_NONE if `leg` is blocked. */
static inline uint8_t junction_other_leg(uint8_t degree, uint8_t setting, uint8_t leg)
{
    return junction_joined[degree - 3][setting][leg];
}

/* The run that begins with `link`. */
Run run_along(const ConvoiTables *tables, Link link);
/* Fills the tables of the search for ways, from the runs. */
void ways_prepare(ConvoiTables *tables);

/* Finds the places of everything on the drawing. */
void convoi_layout(ConvoiTables *tables);
/* The spot of what a link leads to. */
TySpot convoi_link_spot(const ConvoiTables *tables, Link link);

enum {
    CONVOI_CITY_RADIUS = 34,
    CONVOI_START_RADIUS = 21,
    CONVOI_JUNCTION_RADIUS = 9,
    CONVOI_SPACE_RADIUS = 12,
    CONVOI_LIGHT_RADIUS = 9,
    CONVOI_LABEL_SIZE = 20,
    CONVOI_PANEL_LEFT = 1180, /* of the drawing */
};

/* Reads a board, a deck: fills the tables, or says what is wrong in which field. */
TyStatus convoi_board_read(const TyDoc *doc, ConvoiTables *tables);
TyStatus convoi_deck_read(const TyDoc *doc, ConvoiTables *tables);
/* Writes a board of a seed; its size is the number of junctions. See TyFileField. */
size_t convoi_generate(const TyFileField *file, TyOrder order, char *out, size_t size);

enum { CONVOI_SIZE_STANDARD = 12, CONVOI_SIZE_MINIMUM = 4, CONVOI_SIZE_MAXIMUM = 20 };
