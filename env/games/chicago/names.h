/* Ligne de train, Chicago: the lists of things that have names. */
#pragma once

#include "games/chicago/state.h"

extern const char *const chicago_phase_words[PHASE_COUNT + 1];
extern const TyNames chicago_phases;
extern const TyNames chicago_waits;   /* Wait */
extern const TyNames chicago_piles;   /* PILE_ */
extern const TyNames chicago_colours; /* of number cards */
extern const TyNames chicago_kinds;   /* of cells */
extern const TyNames chicago_sources; /* of a pawn that a card seats */
extern const TyNames chicago_origins; /* of a pawn that sits down: a source, or the aisle */
extern const TyNames chicago_leaves;  /* Leave */
extern const TyNames chicago_doors;   /* outcomes of the spinner */
extern const TyNames chicago_seats;   /* the seats by their numbers */
extern const TyNames chicago_cars;
extern const TyNames chicago_tiles;
extern const TyNames chicago_numbers; /* number cards */
extern const TyNames chicago_actions; /* action cards */
extern const TyNames chicago_cards;   /* number cards, then action cards */
extern const TyNames chicago_starts;  /* start spaces: "1.north" */
extern const TyNames chicago_cells;   /* of both cars, counted without gaps: "1.c2" */
extern const TyNames chicago_places;  /* cells as the state numbers them, then start spaces */
extern const TyNames chicago_struck;  /* the same, in a sentence about an attack */

/* What an action card does, in words. */
typedef struct CardHelp {
    char text[TY_NAME_MAX];
} CardHelp;

CardHelp chicago_card_help(const ChicagoTables *tables, ActionCard card);
