/* Convoi Express from the inside: tables of a board and a deck, the state, the actions. */
#pragma once

#include "game.h"

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
    CONVOI_SEGMENTS_MAX = 128,
    CONVOI_LIGHTS_MAX = 64,
    CONVOI_CARDS_MAX = 32,
    CONVOI_SYMBOLS_MAX = 4,
    CONVOI_NODES_MAX = 2 * CONVOI_SPACES_MAX + CONVOI_CITIES_MAX + CONVOI_STARTS_MAX,
    CONVOI_NAMES_SIZE = 12288,

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

/* An instruction card: new trains first, then moves, each a colour or CONVOI_COLOUR_ANY. */
typedef struct Card {
    uint8_t new_count;
    uint8_t move_count;
    uint8_t new_colour[CONVOI_SYMBOLS_MAX];
    uint8_t move_colour[CONVOI_SYMBOLS_MAX];
    uint16_t name;
} Card;

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
    bool ask_forced;
    bool hints;

    /* Offsets of the parts of an observation row behind the public run, in row order. */
    struct {
        uint16_t goods;
        uint16_t delivered;
        uint16_t setting;
        uint16_t seen;
        uint16_t tokens;
        uint16_t green;
        uint16_t hand;
        uint16_t hand_size;
        uint16_t turn;
        uint16_t hints;
        uint16_t size;
    } row;

    uint16_t pay_options[4][27]; /* payments for an act, by hand_class */
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
    uint16_t junction_action[CONVOI_JUNCTIONS_MAX]; /* offset of its first setting */
    uint16_t setting_count;                         /* of all junctions together */
    uint8_t setting_junction[6 * CONVOI_JUNCTIONS_MAX];

    Link ahead[2 * CONVOI_SPACES_MAX]; /* from space s with heading h: [2 * s + h] */
    Link leaving[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    Link exit[CONVOI_LIGHTS_MAX]; /* from a city through this city light */
    Link departure[CONVOI_STARTS_MAX];

    Card first_card;
    Card cards[CONVOI_CARDS_MAX];

    Run leaving_run[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX];
    Run exit_run[CONVOI_LIGHTS_MAX];

    /* Points from a node (2 * space + heading; then cities; then starts) to a city, whatever the
     * lights and switches; CONVOI_FAR if there is no way. */
    uint8_t distance[CONVOI_NODES_MAX][CONVOI_CITIES_MAX];

    /* For people and drawings. */
    uint16_t city_name[CONVOI_CITIES_MAX];  /* ids: "paris" */
    uint16_t city_title[CONVOI_CITIES_MAX]; /* "Paris" */
    uint16_t start_name[CONVOI_STARTS_MAX];
    uint16_t start_title[CONVOI_STARTS_MAX];
    uint16_t junction_name[CONVOI_JUNCTIONS_MAX];
    uint16_t junction_title[CONVOI_JUNCTIONS_MAX];
    uint16_t leg_name[CONVOI_JUNCTIONS_MAX][CONVOI_LEGS_MAX]; /* "paris", unique in a junction */
    uint16_t segment_name[CONVOI_SEGMENTS_MAX];
    uint16_t light_name[CONVOI_LIGHTS_MAX]; /* "paris/bruxelles", "munich~zurich" */
    uint8_t space_segment[CONVOI_SPACES_MAX];
    uint8_t space_index[CONVOI_SPACES_MAX]; /* 1.. in its segment, from its a end */
    uint16_t board_name;
    uint16_t board_title;
    uint16_t names_size;
    char names[CONVOI_NAMES_SIZE];
} ConvoiTables;

/* The pair of legs that `setting` of a junction with `degree` legs joins. */
JunctionSetting junction_setting(uint8_t degree, uint8_t setting);
/* 3 or 6. */
static inline uint8_t junction_setting_count(uint8_t degree)
{
    return degree == 3 ? 3 : 6;
}

/* The run that begins with `link`. */
Run run_along(const ConvoiTables *tables, Link link);

/* Reads a board, a deck: fills the tables, or says what is wrong in which field. */
TyStatus convoi_board_read(const Doc *doc, ConvoiTables *tables);
TyStatus convoi_deck_read(const Doc *doc, ConvoiTables *tables);
