/* Ligne de train, Chicago: how things are called. */
#pragma once

#include "games/chicago/state.h"

/* A name as a string of its own. */
typedef struct Name {
    char text[TY_NAME_MAX];
} Name;

const char *chicago_name_phase(uint32_t phase);
const char *chicago_name_wait(uint32_t wait);
const char *chicago_name_pile(uint32_t pile);
const char *chicago_name_leave(uint32_t why);
/* "blue_3" */
Name chicago_name_number(uint32_t number);
/* A card of either pile: a number, or CHICAGO_NUMBERS + action card. */
Name chicago_name_card(uint32_t card);
/* "1.c2": car, column, row. */
Name chicago_name_cell(const ChicagoTables *tables, uint32_t cell);
/* A cell, or the start space "1.north" behind the cells. */
Name chicago_name_place(const ChicagoTables *tables, uint32_t place);
