/* Playing: the public calls on states, the same for every game. */
#include "play.h"
#include "agent.h"
#include "chance.h"
#include "core/bytes.h"
#include "core/draw.h"
#include "core/status.h"
#include "core/wide.h"
#include "kit/kit.h"

#include <string.h>
#include <strings.h>

static bool tape_failed(const TyTape *tape)
{
    return tape != NULL && tape->status.code != TY_OK;
}

uint32_t ty_draw(TyPlay *play, uint32_t stream, const uint8_t *weights, uint32_t count)
{
    return draw_take(play->state, play->tape, stream, weights, count);
}

/* The path of events is not cleared: most steps have none, and nobody listens to most others. */
static inline void play_set(TyPlay *play, const TyRuleset *ruleset, void *state, TyTape *tape,
                            int32_t *reward)
{
    play->ruleset = ruleset;
    play->state = state;
    play->tape = tape;
    play->reward = reward;
    play->path_count = 0;
}

/* Computes the answers to the question that stands, and gives those that are the only ones. */
static void play_on(TyPlay *play)
{
    const TyRuleset *ruleset = play->ruleset;
    while (kit_answers(ruleset, play->state) && !ruleset->ask_forced) {
        ruleset->game->apply(play, kit_first(play->state));
    }
}

void play_begin(const TyRuleset *ruleset, void *state, TyTape *tape)
{
    int32_t ignored[TY_SEATS_MAX] = {0};
    TyPlay play;
    play_set(&play, ruleset, state, tape, ignored);
    if (ruleset->game->begin != NULL) {
        ruleset->game->begin(&play);
    }
    play_on(&play);
    if (ruleset->earns) {
        ruleset->game->earn(&play);
    }
}

bool play_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
               TyTape *tape)
{
    const TyGame *game = ruleset->game;
    if (action >= ruleset->game_action_count || !ty_answers_have(ty_answers_of(state), action)) {
        return false;
    }
    TyPlay play;
    play_set(&play, ruleset, state, tape, reward);
    game->apply(&play, action);
    play_on(&play);
    if (ruleset->earns) {
        game->earn(&play);
    }
    return true;
}

void play_resample(const TyRuleset *ruleset, void *state, uint32_t seat)
{
    if (ruleset->game->resample != NULL) {
        TyPlay play;
        play_set(&play, ruleset, state, NULL, NULL);
        ruleset->game->resample(&play, seat);
        kit_answers(ruleset, state);
    }
}

bool ty_reset(const TyRuleset *ruleset, void *state, uint64_t seed, TyTape *tape)
{
    memset(state, 0, ruleset->shape.state_size);
    ((TyHead *)state)->seed = seed;
    if (ruleset->chance_seat) {
        return chance_reset(ruleset, state, tape);
    }
    play_begin(ruleset, state, tape);
    return !tape_failed(tape);
}

/* A step that a script may refuse works on a copy. */
static bool step_scripted(const TyRuleset *ruleset, void *state, uint32_t action, int32_t *reward,
                          TyTape *tape)
{
    uint64_t work[TY_STATE_MAX / sizeof(uint64_t)];
    int32_t earned[TY_SEATS_MAX] = {0};
    memcpy(work, state, ruleset->shape.state_size);
    if (!play_step(ruleset, work, action, earned, tape) || tape_failed(tape)) {
        return false;
    }
    memcpy(state, work, ruleset->shape.state_size);
    for (uint32_t i = 0; i < ruleset->shape.players; i++) {
        reward[i] += earned[i];
    }
    return true;
}

bool ty_step(const TyRuleset *ruleset, void *state, uint32_t action, int32_t reward[TY_SEATS_MAX],
             TyTape *tape)
{
    TyHead *head = state;
    if (head->over || action >= ruleset->shape.action_count) {
        return false;
    }
    if (ruleset->chance_seat) {
        return chance_step(ruleset, state, action, reward, tape);
    }
    bool scripted = tape != NULL && (tape->script_count > 0 || tape->strict);
    bool accepted = scripted ? step_scripted(ruleset, state, action, reward, tape)
                             : play_step(ruleset, state, action, reward, tape);
    head->steps += accepted;
    return accepted;
}

SELDOM static void legal_with_chance(const TyRuleset *ruleset, const void *state, uint8_t *mask)
{
    memset(mask, 0, ruleset->shape.action_count);
    if (!chance_legal(ruleset, state, mask)) {
        mask_write(ty_answers_of(state), ruleset->game_action_count, mask);
    }
}

void ty_legal(const TyRuleset *ruleset, const void *state, uint8_t *mask)
{
    if (!ruleset->chance_seat) {
        mask_write(ty_answers_of(state), ruleset->shape.action_count, mask);
    } else {
        legal_with_chance(ruleset, state, mask);
    }
}

void ty_legal_seat(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *mask)
{
    if (ty_head(state)->over || ty_head(state)->seat == (int8_t)seat) {
        ty_legal(ruleset, state, mask);
        return;
    }
    memset(mask, 0, ruleset->shape.action_count);
    mask[0] = 1;
}

static void game_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, bool full,
                         uint8_t *row)
{
    if (ruleset->game->observe != NULL) {
        ruleset->game->observe(ruleset, state, seat, full, row);
    } else {
        kit_observe(ruleset, state, seat, full, row);
    }
}

/* The row of a chance seat, or at a table that has one. */
SELDOM static void observe_around(const TyRuleset *ruleset, const void *state, uint32_t seat,
                                  uint8_t *row)
{
    if (seat < ruleset->shape.players) {
        game_observe(ruleset, state, seat, false, row);
    } else {
        memset(row, 0, ruleset->game_row_size);
    }
    if (ruleset->chance_seat) {
        chance_observe(ruleset, state, seat, row);
    }
}

void ty_observe(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row)
{
    if (!ruleset->chance_seat && seat < ruleset->shape.players) {
        game_observe(ruleset, state, seat, false, row);
    } else {
        observe_around(ruleset, state, seat, row);
    }
}

void ty_observe_full(const TyRuleset *ruleset, const void *state, uint32_t seat, uint8_t *row)
{
    game_observe(ruleset, state, seat < ruleset->shape.players ? seat : 0, true, row);
}

void ty_metrics(const TyRuleset *ruleset, const void *state, int32_t *metrics)
{
    if (ruleset->game->measure != NULL) {
        ruleset->game->measure(ruleset, state, metrics);
    }
}

uint64_t ty_hash(const TyRuleset *ruleset, const void *state)
{
    const TyHead *head = ty_head(state);
    uint64_t hash = hash_add(hash_add(0, head->seed), head->steps);
    hash = hash_add(hash, (uint64_t)head->truncated << 16 | (uint64_t)(uint8_t)head->seat << 8 |
                              head->over);
    for (uint32_t i = 0; i < TY_STREAMS_MAX; i++) {
        hash = hash_add(hash, head->draws[i]);
    }
    hash = kit_hash(ruleset, state, hash);
    return ruleset->chance_seat ? chance_hash(ruleset, state, hash) : hash;
}

const char *ty_check(const TyRuleset *ruleset, const void *state)
{
    const TyHead *head = ty_head(state);
    if (head->truncated > head->over) {
        return "an episode that is not over was cut short";
    }
    if (head->over > 1 || (head->over == 1) != (head->seat == -1) ||
        head->seat >= (int8_t)ruleset->shape.seats || head->seat < -1) {
        return "the seat to act does not exist";
    }
    return ruleset->chance_seat ? chance_check(ruleset, state) : kit_check(ruleset, state);
}

void ty_rekey(void *state, uint64_t key)
{
    ((TyHead *)state)->seed = key;
}

void ty_resample(const TyRuleset *ruleset, void *state, uint32_t seat, uint64_t key)
{
    ty_rekey(state, key);
    if (seat >= ruleset->shape.players) {
        return;
    }
    if (ruleset->chance_seat) {
        chance_resample(ruleset, state, seat);
    } else {
        play_resample(ruleset, state, seat);
    }
}

void ty_plan(const TyPlanner *planner, uint64_t key, void *state)
{
    memcpy(state, planner->state, planner->ruleset->shape.state_size);
    ty_resample(planner->ruleset, state, planner->seat, key);
}

void ty_action_name(const TyRuleset *ruleset, uint32_t action, char name[TY_NAME_MAX])
{
    TyText text = ty_text_init(name, TY_NAME_MAX);
    if (action == 0) {
        ty_text_add(&text, "wait");
    } else if (action < ruleset->game_action_count) {
        kit_action_name(ruleset, action, &text);
    } else {
        ty_text_add(&text, "chance %u", action - ruleset->game_action_count);
    }
}

void ty_action_title(const TyRuleset *ruleset, uint32_t action, char verb[TY_NAME_MAX],
                     char item[TY_NAME_MAX])
{
    TyText does = ty_text_init(verb, TY_NAME_MAX);
    TyText with = ty_text_init(item, TY_NAME_MAX);
    if (action == 0 || action >= ruleset->game_action_count) {
        ty_action_name(ruleset, action, verb);
        return;
    }
    TyChoice choice = ty_choice(ruleset, action);
    const TyActionForm *form = &ruleset->game->actions[choice.form];
    ty_text_add(&does, "%s", form->help != NULL ? form->help : form->verb);
    if (form->items != NULL) {
        ty_names_title(form->items, ruleset, choice.item, &with);
    }
}

size_t ty_action_explain(const TyRuleset *ruleset, const void *state, uint32_t action, char *out,
                         size_t size)
{
    TyText text = ty_text_init(out, size);
    kit_explain(ruleset, state, action, &text);
    return text.length;
}

size_t ty_action_text(const TyRuleset *ruleset, const void *state, uint32_t action, char *out,
                      size_t size)
{
    char verb[TY_NAME_MAX];
    char item[TY_NAME_MAX];
    char words[TY_EXPLAIN_MAX] = "";
    TyText text = ty_text_init(out, size);
    ty_action_title(ruleset, action, verb, item);
    if (state != NULL) {
        ty_action_explain(ruleset, state, action, words, sizeof words);
    }
    ty_text_add(&text, "%s%s%s%s%s", verb, item[0] != '\0' ? ": " : "", item,
                words[0] != '\0' ? "; " : "", words);
    return text.length;
}

bool ty_action_find(const TyRuleset *ruleset, const char *name, uint32_t *action)
{
    char candidate[TY_NAME_MAX];
    for (uint32_t i = 0; i < ruleset->shape.action_count; i++) {
        ty_action_name(ruleset, i, candidate);
        if (strcasecmp(candidate, name) == 0) {
            *action = i;
            return true;
        }
    }
    return false;
}

void ty_block_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t row, uint32_t column,
                    char name[TY_NAME_MAX])
{
    TyText text = ty_text_init(name, TY_NAME_MAX);
    if (chance_has_block(block)) {
        ty_text_add(&text, "%u", column);
    } else {
        kit_block_label(ruleset, block, row, column, &text);
    }
}

void ty_value_label(const TyRuleset *ruleset, const TyBlock *block, uint32_t value,
                    char name[TY_NAME_MAX])
{
    TyText text = ty_text_init(name, TY_NAME_MAX);
    if (!chance_has_block(block)) {
        kit_value_label(ruleset, block, value, &text);
    }
}

void ty_outcome_name(const TyRuleset *ruleset, uint32_t stream, uint32_t outcome,
                     char name[TY_NAME_MAX])
{
    TyText text = ty_text_init(name, TY_NAME_MAX);
    kit_outcome_name(ruleset, stream, outcome, &text);
}

bool ty_outcome_find(const TyRuleset *ruleset, uint32_t stream, const char *name, uint32_t *outcome)
{
    char candidate[TY_NAME_MAX];
    for (uint32_t i = 0; i < TY_OUTCOMES_MAX; i++) {
        ty_outcome_name(ruleset, stream, i, candidate);
        if (candidate[0] != '\0' && strcmp(candidate, name) == 0) {
            *outcome = i;
            return true;
        }
    }
    return false;
}

const char *ty_phase_name(const TyRuleset *ruleset, const void *state)
{
    const TyHead *head = ty_head(state);
    if (head->over) {
        return "over";
    }
    if (head->seat == (int8_t)ruleset->shape.players) {
        return "chance";
    }
    return ruleset->game->phases == NULL ? "turn" : ruleset->game->phases[head->phase];
}

static void position_write(const TyRuleset *ruleset, const void *state, uint32_t seat, TyText *out)
{
    (ruleset->game->text != NULL ? ruleset->game->text : kit_text)(ruleset, state, seat, out);
}

size_t ty_position_text(const TyRuleset *ruleset, const void *state, uint32_t seat, char *out,
                        size_t size)
{
    TyText text = ty_text_init(out, size);
    position_write(ruleset, state, seat, &text);
    return text.length;
}

size_t ty_choices_text(const TyRuleset *ruleset, const void *state, bool numbered, char *out,
                       size_t size)
{
    TyText text = ty_text_init(out, size);
    if (!ty_head(state)->over) {
        kit_choices(ruleset, state, numbered, &text);
    }
    return text.length;
}

size_t ty_text(const TyRuleset *ruleset, const void *state, uint32_t seat, char *out, size_t size)
{
    TyText text = ty_text_init(out, size);
    position_write(ruleset, state, seat, &text);
    if (ty_head(state)->seat == (int8_t)seat) {
        kit_choices(ruleset, state, false, &text);
    }
    return text.length;
}

size_t ty_state_json(const TyRuleset *ruleset, const void *state, char *out, size_t size)
{
    TyJson json = ty_json_init(out, size);
    ty_json_open(&json, NULL, '{');
    (ruleset->game->state_json != NULL ? ruleset->game->state_json : kit_state_json)(ruleset, state,
                                                                                     &json);
    ty_json_close(&json, '}');
    return json.text.length;
}

size_t ty_board_json(const TyRuleset *ruleset, char *out, size_t size)
{
    TyJson json = ty_json_init(out, size);
    ty_json_open(&json, NULL, '{');
    kit_board_json(ruleset, &json);
    ty_json_close(&json, '}');
    return json.text.length;
}

size_t ty_event_json(const TyRuleset *ruleset, const TyEvent *event, char *out, size_t size)
{
    TyJson json = ty_json_init(out, size);
    ty_json_open(&json, NULL, '{');
    kit_event_json(ruleset, event, true, &json);
    ty_json_close(&json, '}');
    return json.text.length;
}

size_t ty_event_json_for(const TyRuleset *ruleset, const TyEvent *event, uint32_t seat, char *out,
                         size_t size)
{
    char sentence[1024];
    bool hidden = kit_event_hidden(event, seat);
    TyJson json = ty_json_init(out, size);
    ty_event_text(ruleset, event, seat, sentence, sizeof sentence);
    ty_json_open(&json, NULL, '{');
    kit_event_json(ruleset, event, !hidden, &json);
    ty_json_put_bool(&json, "hidden", hidden);
    ty_json_put_string(&json, "text", sentence);
    ty_json_close(&json, '}');
    return json.text.length;
}

size_t ty_event_text(const TyRuleset *ruleset, const TyEvent *event, uint32_t seat, char *out,
                     size_t size)
{
    TyText text = ty_text_init(out, size);
    kit_event_text(ruleset, event, seat, &text);
    return text.length;
}

uint64_t ty_episode_seed(uint64_t slot_seed, uint64_t episode)
{
    return episode == 0 ? slot_seed : hash_mix(slot_seed + hash_mix(episode));
}

uint64_t ty_agent_seed(uint64_t seed, uint32_t seat)
{
    return hash_mix(hash_mix(seed) + (seat + 1) * UINT64_C(0x9e3779b97f4a7c15));
}
