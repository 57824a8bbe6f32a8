/* Steps of the game itself, without the chance seat: what play.c and chance.c share. */
#pragma once

#include "game.h"

/* Sets an episode up. The state is zero but for its head's seed. */
void play_begin(const TyRuleset *ruleset, void *state, TyTape *tape);
/* Takes `action` and plays on to the next question that is asked. False, with nothing changed, if
 * it is not legal. */
bool play_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
               TyTape *tape);
/* Deals what `seat` cannot know again; the state has its new key. */
void play_resample(const TyRuleset *ruleset, void *state, uint32_t seat);
