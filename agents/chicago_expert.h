/* The expert of Ligne de train, Chicago, from the inside: what it expects of a position. */
#pragma once

#include "games/chicago/state.h"

/* What seat 0 of `picture` may expect to earn, if its turn begins there: 1 if it wins, -1 if it
 * loses. `seats` says whether its cards seat a pawn at once. */
float chicago_expectation(const ChicagoTables *tables, const ChicagoState *picture, bool seats);
