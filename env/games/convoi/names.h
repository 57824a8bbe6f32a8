/* Convoi Express: the names of things. */
#pragma once

#include "games/convoi/state.h"

const char *name_colour(uint32_t colour);
const char *name_goods(uint32_t goods);
const char *name_kind(uint32_t kind);
const char *name_act(uint32_t act);
const char *name_phase(uint32_t phase);
const char *name_loss(uint32_t loss);
const char *name_staff(const ConvoiTables *tables, uint32_t staff);
const char *name_light(const ConvoiTables *tables, uint32_t light);
const char *name_city(const ConvoiTables *tables, uint32_t city);
const char *name_start(const ConvoiTables *tables, uint32_t start);
const char *name_junction(const ConvoiTables *tables, uint32_t junction);
const char *name_leg(const ConvoiTables *tables, uint32_t junction, uint32_t leg);
/* A card by its number in the state. */
const char *name_card(const ConvoiTables *tables, uint32_t card);
void name_train(uint32_t train, Text *out);
void name_place(const ConvoiTables *tables, uint32_t place, Text *out);
void name_setting(const ConvoiTables *tables, uint32_t junction, uint32_t setting, Text *out);
void name_payment(uint32_t payment, Text *out);
