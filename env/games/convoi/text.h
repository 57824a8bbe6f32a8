/* Convoi Express in words and JSON: what both have in common. */
#pragma once

#include "games/convoi/state.h"

/* A position to be told of. */
typedef struct View {
    const TyRuleset *ruleset;
    const ConvoiTables *tables;
    const ConvoiState *state;
} View;

static inline View view_of(const TyRuleset *ruleset, const void *state)
{
    return (View){.ruleset = ruleset, .tables = convoi_tables(ruleset), .state = state};
}

/* A name as a string of its own. */
typedef struct Name {
    char text[TY_NAME_MAX];
} Name;

Name view_name(const View *view, const TyNames *names, uint32_t index);
/* What people call it. */
Name view_title(const View *view, const TyNames *names, uint32_t index);

/* The setting that a junction has, by its number among all settings. */
uint32_t view_setting(const View *view, uint32_t junction);
bool view_on_track(const View *view, uint8_t train);
/* Where a train on the track is heading: the end of its segment, as a place name or a junction's.
 */
Name view_heading(const View *view, uint8_t train);

/* What lies ahead along `link`, with lights and switches as they are, up to a city, a start or a
 * closed switch: "2 spaces, light a/b (red), 1 space, Paris". `train` is the one that looks. */
void view_write_ahead(const View *view, uint8_t train, Link link, TyText *out);
