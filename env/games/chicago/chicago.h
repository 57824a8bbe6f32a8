/* Ligne de train, Chicago: the limits of the game and the tables that a train file gives. */
#pragma once

#include "game.h"

enum {
    CHICAGO_CARS = 2,       /* tiles that lie on the table */
    CHICAGO_TILES_MAX = 6,  /* tiles of a file */
    CHICAGO_WIDTH_MAX = 8,  /* columns of a tile */
    CHICAGO_HEIGHT_MAX = 6, /* rows of a tile */
    CHICAGO_CELLS_MAX = CHICAGO_WIDTH_MAX * CHICAGO_HEIGHT_MAX,
    CHICAGO_DOORS_MAX = 2, /* doors of a tile, each with a start space */
    CHICAGO_STARTS = CHICAGO_CARS * CHICAGO_DOORS_MAX,
    CHICAGO_CAR = 64,                           /* distance between the cells of two cars */
    CHICAGO_NODES = CHICAGO_CARS * CHICAGO_CAR, /* cells; start spaces come behind them */
    CHICAGO_PLACES = CHICAGO_NODES + CHICAGO_STARTS,
    CHICAGO_TRAINS = CHICAGO_TILES_MAX * CHICAGO_TILES_MAX,
    CHICAGO_VALUES = 5, /* of the number cards */
    CHICAGO_NUMBERS = 2 * CHICAGO_VALUES,
    CHICAGO_HAND_NUMBERS = 2,
    CHICAGO_HAND_ACTIONS = 3,
    CHICAGO_PAWNS_MAX = 20,    /* of a player */
    CHICAGO_COPIES_MAX = 20,   /* of a card */
    CHICAGO_CARDS_MAX = 200,   /* of a pile */
    CHICAGO_TOKENS_MAX = 99,   /* discard tokens of a player */
    CHICAGO_BLOCKED_MAX = 100, /* up to which blocked turns are counted */
    CHICAGO_PASSES_MAX = 4,    /* blocked spaces passed in one move */
    CHICAGO_BONUS_MAX = 9,     /* spaces added by Advanced Movement cards in one move */
    CHICAGO_LENGTH_MAX = 2 * CHICAGO_VALUES + CHICAGO_BONUS_MAX,
    CHICAGO_TABLED_MAX = 2 * CHICAGO_VALUES, /* length of the longest paths kept in tables */
    CHICAGO_PASSED_MAX = CHICAGO_VALUES + 2, /* the same, of paths that take passes */
    CHICAGO_PATHS_MAX = 131072,              /* paths kept in the tables of a ruleset */
    CHICAGO_GROUP_MAX = 256,                 /* of one length from one place */
    CHICAGO_NONE = 0xff,
};

/* Action cards. The three Advanced Movements differ by the number in their circle. */
typedef enum ActionCard {
    CARD_EXIT_1X,
    CARD_EXIT_2X,
    CARD_EXPRESS,
    CARD_REVERSE,
    CARD_ECCENTRIC,
    CARD_PANHANDLER,
    CARD_PLUS_1,
    CARD_ENTER_1X,
    CARD_ENTER_2X,
    CARD_EXCUSE_ME,
    CARD_U_PASS,
    CARD_ADVANCED_1,
    CARD_ADVANCED_2,
    CARD_ADVANCED_3,
    CARD_TAKE_A_SEAT,
    CARD_REBEL,
    CARD_COUNT,
} ActionCard;

/* A set of cells: one word per car, bit `row * width + column`. The number of a cell is its bit,
 * plus CHICAGO_CAR in the second car. */
typedef struct CellSet {
    uint64_t car[CHICAGO_CARS];
} CellSet;

static inline bool cells_have(const CellSet *set, uint32_t cell)
{
    return set->car[cell >> 6] >> (cell & 63) & 1;
}

static inline void cells_add(CellSet *set, uint32_t cell)
{
    set->car[cell >> 6] |= UINT64_C(1) << (cell & 63);
}

static inline void cells_remove(CellSet *set, uint32_t cell)
{
    set->car[cell >> 6] &= ~(UINT64_C(1) << (cell & 63));
}

static inline bool cells_any(const CellSet *set)
{
    return (set->car[0] | set->car[1]) != 0;
}

static inline uint32_t cells_count(const CellSet *set)
{
    return (uint32_t)(__builtin_popcountll(set->car[0]) + __builtin_popcountll(set->car[1]));
}

/* The lowest cell of a set that has one. */
static inline uint8_t cells_first(const CellSet *set)
{
    return (uint8_t)(set->car[0] != 0 ? __builtin_ctzll(set->car[0])
                                      : CHICAGO_CAR + __builtin_ctzll(set->car[1]));
}

/* A tile as its file has it. */
typedef struct ChicagoTile {
    uint64_t seats;
    uint64_t aisle; /* aisle and door spaces */
    uint64_t passengers;
    uint64_t beside;             /* cells next to a passenger, bars or not */
    uint64_t links[CHICAGO_CAR]; /* neighbours of each cell without a bar between */
    uint16_t start_names[CHICAGO_DOORS_MAX];
    uint8_t door[CHICAGO_DOORS_MAX];
    uint8_t start_count;
} ChicagoTile;

/* Paths of one length from one place that lead through the same cells: each that is blocked takes a
 * pass and does not count, and a move can end in any of the cells of `ends` that is not shut. */
typedef struct ChicagoPath {
    CellSet through;
    CellSet ends;
} ChicagoPath;

/* Where the paths of one length from one place stand: first those that no passenger blocks, then,
 * up to CHICAGO_PASSED_MAX, those that one or more do. */
typedef struct PathGroup {
    uint32_t first;
    uint16_t free;
    uint16_t count;
} PathGroup;

/* Two tiles joined by their short sides. `links` has the neighbours of each cell that no bar cuts
 * off, and of each start space its door. */
typedef struct ChicagoTrain {
    CellSet seats;
    CellSet aisle;
    CellSet passengers;
    CellSet beside;
    CellSet links[CHICAGO_PLACES];
    PathGroup groups[CHICAGO_PLACES][CHICAGO_TABLED_MAX + 1];
    uint8_t tabled; /* length up to which the groups are filled */
    uint8_t starts; /* bit per start space: 2 * car + door */
    uint8_t unused[6];
} ChicagoTrain;

/* Everything about a ruleset that does not change. */
typedef struct ChicagoTables {
    ChicagoTile tiles[CHICAGO_TILES_MAX];
    ChicagoTrain trains[CHICAGO_TRAINS]; /* by tile of the first car, then of the second */
    uint8_t kinds[CHICAGO_TILES_MAX][CHICAGO_CELLS_MAX]; /* 0 aisle, 1 seat, 2 passenger */
    uint16_t tile_names[CHICAGO_TILES_MAX];
    uint8_t tile_count;
    uint8_t fixed[CHICAGO_CARS]; /* tiles unless they are drawn */
    uint8_t width;
    uint8_t height;
    uint8_t cells; /* of a tile */
    uint8_t aisle_row;
    uint8_t pawns_by_players[TY_PLAYERS_MAX + 1];
    uint8_t tokens;
    uint8_t number_copies;
    uint8_t copies[CARD_COUNT];
    uint16_t enders;    /* cards, as bits, with a red star: they end the turn */
    uint8_t spinner[2]; /* weights of closed and open doors */

    uint8_t player_count;
    uint8_t pawns;
    uint8_t score_reward;
    uint8_t tiles_random;
    uint8_t crowding_penalty; /* a second aisle pawn may be forced, at a price (ruling C7) */
    uint8_t first_random;
    uint16_t turn_cap;
    TyNamePool names;
    uint32_t path_count;
    ChicagoPath paths[]; /* a ruleset has room for CHICAGO_PATHS_MAX */
} ChicagoTables;

/* Reads a train file (FILES.md). */
TyStatus chicago_read(void *tables, uint32_t file, const TyDoc *doc);

/* ---- Ways through the train -------------------------------------------------------------------
 */

/* Who stands where, as a moving pawn meets it. */
typedef struct Way {
    const ChicagoTrain *train;
    const ChicagoPath *paths;
    CellSet shut;   /* passengers and seated pawns: never entered, only passed */
    CellSet shared; /* aisle cells with opposing pawns: entered, or passed */
    CellSet slides; /* opposing seated pawns that can be pushed aside */
    uint8_t from;   /* a cell, or CHICAGO_NODES + start space */
    uint8_t passes; /* Excuse Me and Rebel cards played for this move */
} Way;

/* Fills the path tables of the trains that a ruleset can have. */
void chicago_paths_make(ChicagoTables *tables);
/* The cells on which simple paths of exactly `length` counted spaces end (rulings C2 and C14). */
CellSet chicago_way_ends(const Way *way, uint32_t length);
/* Those of the lengths whose bits are set in `wanted` for which there is such a path. */
uint32_t chicago_way_lengths(const Way *way, uint32_t wanted);
/* The cells between the beginning and the end of all such paths, which take no pass. */
CellSet chicago_way_through(const Way *way, uint32_t length);
/* Writes the spaces of one such path of exactly `length` to `to`, in order, and returns how many
 * there are, passed ones included; 0 if there is none. It uses as few passes as it can. */
uint32_t chicago_way_path(const Way *way, uint32_t length, uint8_t to,
                          uint8_t path[TY_EVENT_PATH_MAX]);
