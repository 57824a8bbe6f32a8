/* The property battery: what must hold in every game, on every variant, after every step. */
#include "core/hash.h"
#include "tests/games/variants.h"
#include "tests/support/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    EPISODES = 12,         /* per variant */
    DECISIONS_MAX = 20000, /* of one episode of random play */
    EXHAUSTIVE_EVERY = 17, /* decisions between two checks of every single action */
    TEXT_EVERY = 7,        /* decisions between two comparisons of what people read */
};

typedef struct Board {
    TyRuleset *ruleset;
    const TyShape *shape;
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    uint64_t seed;
} Board;

#define HOLDS(board, condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s, seed %llu, step %u: %s", (board)->shape->spec,                           \
                     (unsigned long long)(board)->seed, ty_head((board)->state)->steps,            \
                     #condition);                                                                  \
        }                                                                                          \
    } while (0)

static void board_open(Board *board, const char *spec)
{
    TyStatus status = ty_ruleset_open(spec, NULL, &board->ruleset);
    if (status.code != TY_OK) {
        fail_msg("%s: %s", spec, status.message);
    }
    board->shape = ty_shape(board->ruleset);
}

/* A step with reward summed into `total`. */
static bool board_step(Board *board, uint32_t action, int32_t *total)
{
    int32_t reward[TY_SEATS_MAX] = {0};
    bool accepted = ty_step(board->ruleset, board->state, action, reward, NULL);
    for (uint32_t i = 0; i < board->shape->players; i++) {
        total[i] += reward[i];
    }
    return accepted;
}

/* Calls `visit` before every decision of an episode of random play, and once at its end. */
static void episode_walk(Board *board, uint64_t seed, void (*visit)(Board *))
{
    int32_t total[TY_SEATS_MAX] = {0};
    board->seed = seed;
    assert_true(ty_reset(board->ruleset, board->state, seed, NULL));
    for (uint32_t i = 0; i < DECISIONS_MAX && !ty_head(board->state)->over; i++) {
        ty_legal(board->ruleset, board->state, board->mask);
        visit(board);
        uint32_t action = ty_sample(board->mask, board->shape->action_count, ~seed, i);
        HOLDS(board, board_step(board, action, total));
    }
    HOLDS(board, ty_head(board->state)->over);
    ty_legal(board->ruleset, board->state, board->mask);
    visit(board);
}

static const VariantList *variants_all(void)
{
    static VariantList list;
    list.count = 0;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        variants_of_game(&list, ty_game_at(i));
    }
    return &list;
}

static void variants_walk(void (*visit)(Board *), uint32_t episodes)
{
    const VariantList *list = variants_all();
    for (uint32_t i = 0; i < list->count; i++) {
        Board board;
        board_open(&board, list->spec[i]);
        for (uint64_t seed = 0; seed < episodes; seed++) {
            episode_walk(&board, seed, visit);
        }
        ty_ruleset_close(board.ruleset);
    }
}

/* ---- Properties --------------------------------------------------------------------------------
 */

static void visit_invariants(Board *board)
{
    const char *broken = ty_check(board->ruleset, board->state);
    if (broken != NULL) {
        fail_msg("%s, seed %llu, step %u: %s", board->shape->spec, (unsigned long long)board->seed,
                 ty_head(board->state)->steps, broken);
    }
}

static void test_invariants_hold_after_every_step(void **unused)
{
    (void)unused;
    variants_walk(visit_invariants, EPISODES);
}

static void visit_mask_is_accepted(Board *board)
{
    uint32_t legal = 0;
    const TyHead *head = ty_head(board->state);
    for (uint32_t i = 0; i < board->shape->action_count; i++) {
        HOLDS(board, board->mask[i] <= 1);
        legal += board->mask[i];
    }
    HOLDS(board, (legal > 0) == !head->over);
    HOLDS(board, board->mask[0] == 0);
    if (head->steps % EXHAUSTIVE_EVERY != 0 && !head->over) {
        return;
    }
    uint64_t before = ty_hash(board->ruleset, board->state);
    uint64_t copy[TY_STATE_MAX / 8];
    for (uint32_t i = 0; i < board->shape->action_count + 3; i++) {
        int32_t reward[TY_SEATS_MAX] = {0};
        bool legal_here = i < board->shape->action_count && board->mask[i];
        memcpy(copy, board->state, board->shape->state_size);
        HOLDS(board, ty_step(board->ruleset, copy, i, reward, NULL) == legal_here);
        if (!legal_here) {
            HOLDS(board, memcmp(copy, board->state, board->shape->state_size) == 0);
        }
    }
    HOLDS(board, ty_hash(board->ruleset, board->state) == before);
}

static void test_mask_equals_accepted_actions(void **unused)
{
    (void)unused;
    variants_walk(visit_mask_is_accepted, EPISODES);
}

static void visit_other_seats(Board *board)
{
    uint8_t mask[TY_ACTIONS_MAX];
    const TyHead *head = ty_head(board->state);
    for (uint32_t seat = 0; seat < board->shape->seats; seat++) {
        memset(mask, 0xaa, sizeof mask);
        ty_legal_seat(board->ruleset, board->state, seat, mask);
        HOLDS(board, mask[board->shape->action_count] == 0xaa);
        uint32_t set = 0;
        for (uint32_t i = 1; i < board->shape->action_count; i++) {
            set += mask[i];
        }
        bool acts = head->seat == (int8_t)seat;
        HOLDS(board, mask[0] == (!head->over && !acts));
        HOLDS(board, (set > 0) == acts);
    }
}

static void test_idle_seat_may_only_wait(void **unused)
{
    (void)unused;
    variants_walk(visit_other_seats, 2);
}

static uint32_t block_value(const TyBlock *block, const uint8_t *row, uint32_t index)
{
    const uint8_t *at = row + block->offset + (size_t)index * block->width;
    return block->width == 2 ? (uint32_t)(at[0] | at[1] << 8) : at[0];
}

static void row_in_range(Board *board, const TyBlock *blocks, uint32_t count, const uint8_t *row)
{
    for (uint32_t b = 0; b < count; b++) {
        for (uint32_t i = 0; i < (uint32_t)blocks[b].rows * blocks[b].columns; i++) {
            if (block_value(&blocks[b], row, i) > blocks[b].maximum) {
                fail_msg("%s, seed %llu, step %u: block %s[%u] = %u > %u", board->shape->spec,
                         (unsigned long long)board->seed, ty_head(board->state)->steps,
                         blocks[b].name, i, block_value(&blocks[b], row, i), blocks[b].maximum);
            }
        }
    }
}

static void visit_rows(Board *board)
{
    uint8_t row[TY_ROW_MAX];
    uint8_t again[TY_ROW_MAX];
    for (uint32_t seat = 0; seat < board->shape->seats; seat++) {
        memset(row, 0xaa, sizeof row);
        memset(again, 0x55, sizeof again);
        ty_observe(board->ruleset, board->state, seat, row);
        ty_observe(board->ruleset, board->state, seat, again);
        HOLDS(board, memcmp(row, again, board->shape->row_size) == 0);
        HOLDS(board, row[board->shape->row_size] == 0xaa);
        row_in_range(board, board->shape->row_blocks, board->shape->row_block_count, row);
        memset(row, 0xaa, sizeof row);
        ty_observe_full(board->ruleset, board->state, seat, row);
        HOLDS(board, row[board->shape->full_size] == 0xaa);
        row_in_range(board, board->shape->full_blocks, board->shape->full_block_count, row);
    }
}

static void test_rows_are_whole_and_in_range(void **unused)
{
    (void)unused;
    variants_walk(visit_rows, 3);
}

/* Paired states: what a seat cannot know is redealt, and nothing that it sees changes. */
static void visit_hidden(Board *board)
{
    uint64_t other[TY_STATE_MAX / 8];
    uint8_t row[TY_ROW_MAX];
    uint8_t paired[TY_ROW_MAX];
    uint8_t mask[TY_ACTIONS_MAX];
    uint8_t paired_mask[TY_ACTIONS_MAX];
    static char text[2][65536];
    for (uint32_t seat = 0; seat < board->shape->players; seat++) {
        memcpy(other, board->state, board->shape->state_size);
        ty_resample(board->ruleset, other, seat, hash_mix(board->seed + seat + 99));
        HOLDS(board, ty_check(board->ruleset, other) == NULL);
        ty_legal(board->ruleset, other, mask);
        HOLDS(board, ty_head(other)->over || memchr(mask, 1, board->shape->action_count) != NULL);
        ty_observe(board->ruleset, board->state, seat, row);
        ty_observe(board->ruleset, other, seat, paired);
        HOLDS(board, memcmp(row, paired, board->shape->row_size) == 0);
        ty_legal_seat(board->ruleset, board->state, seat, mask);
        ty_legal_seat(board->ruleset, other, seat, paired_mask);
        HOLDS(board, memcmp(mask, paired_mask, board->shape->action_count) == 0);
        if (ty_head(board->state)->steps % TEXT_EVERY == 0 || ty_head(board->state)->over) {
            ty_text(board->ruleset, board->state, seat, text[0], sizeof text[0]);
            ty_text(board->ruleset, other, seat, text[1], sizeof text[1]);
            HOLDS(board, strcmp(text[0], text[1]) == 0);
        }
    }
}

static void test_hidden_information_stays_hidden(void **unused)
{
    (void)unused;
    variants_walk(visit_hidden, EPISODES);
}

static void visit_clone(Board *board)
{
    uint64_t copy[TY_STATE_MAX / 8];
    int32_t reward[2][TY_SEATS_MAX] = {{0}};
    if (ty_head(board->state)->over) {
        return;
    }
    memcpy(copy, board->state, board->shape->state_size);
    HOLDS(board, ty_hash(board->ruleset, copy) == ty_hash(board->ruleset, board->state));
    uint32_t action = ty_sample(board->mask, board->shape->action_count, board->seed, 7);
    uint64_t twin[TY_STATE_MAX / 8];
    memcpy(twin, copy, board->shape->state_size);
    HOLDS(board, ty_step(board->ruleset, copy, action, reward[0], NULL));
    HOLDS(board, ty_step(board->ruleset, twin, action, reward[1], NULL));
    HOLDS(board, memcmp(copy, twin, board->shape->state_size) == 0);
    HOLDS(board, memcmp(reward[0], reward[1], sizeof reward[0]) == 0);
    HOLDS(board, ty_hash(board->ruleset, copy) != ty_hash(board->ruleset, board->state));
}

static void test_clone_plays_like_the_original(void **unused)
{
    (void)unused;
    variants_walk(visit_clone, EPISODES);
}

static void visit_nothing(Board *board)
{
    (void)board;
}

static void test_same_seed_same_episode(void **unused)
{
    (void)unused;
    uint32_t seeds = budget(2500, 250000);
    for (uint32_t game = 0; game < ty_game_count(); game++) {
        Board board;
        board_open(&board, ty_game_name(ty_game_at(game)));
        for (uint64_t seed = 0; seed < seeds; seed++) {
            episode_walk(&board, seed, visit_nothing);
            uint64_t hash = ty_hash(board.ruleset, board.state);
            episode_walk(&board, seed, visit_nothing);
            HOLDS(&board, ty_hash(board.ruleset, board.state) == hash);
        }
        ty_ruleset_close(board.ruleset);
    }
}

/* What a step told through its tape, to be played back as a script. */
typedef struct Recording {
    TyOutcome outcomes[TY_ACTIONS_MAX];
    uint32_t count;
    uint32_t events;
} Recording;

static void recording_event(void *user, const TyEvent *event)
{
    Recording *recording = user;
    recording->events++;
    if (event->stream >= 0) {
        assert_true(recording->count < TY_ACTIONS_MAX);
        recording->outcomes[recording->count++] =
            (TyOutcome){.stream = (uint8_t)event->stream, .outcome = event->outcome};
    }
}

/* Every draw is told as an event, and its script under another seed gives the same position. A step
 * to which nobody listens, for which games have quicker draws, ends in the same bytes. */
static void visit_script(Board *board)
{
    static Recording recording;
    uint64_t told[TY_STATE_MAX / 8];
    uint64_t quiet[TY_STATE_MAX / 8];
    uint64_t played[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    if (ty_head(board->state)->over || board->shape->seats != board->shape->players) {
        return;
    }
    uint32_t action = ty_sample(board->mask, board->shape->action_count, ~board->seed,
                                ty_head(board->state)->steps);
    recording = (Recording){.count = 0};
    TyTape listen = {.user = &recording, .event = recording_event};
    memcpy(told, board->state, board->shape->state_size);
    memcpy(quiet, board->state, board->shape->state_size);
    memcpy(played, board->state, board->shape->state_size);
    HOLDS(board, ty_step(board->ruleset, told, action, reward, &listen));
    HOLDS(board, ty_step(board->ruleset, quiet, action, reward, NULL));
    HOLDS(board, memcmp(told, quiet, board->shape->state_size) == 0);
    ty_rekey(played, board->seed ^ 12345);
    TyTape script = {.script = recording.outcomes, .script_count = recording.count, .strict = true};
    HOLDS(board, ty_step(board->ruleset, played, action, reward, &script));
    ty_rekey(told, 0);
    ty_rekey(played, 0);
    memset(((TyHead *)told)->draws, 0, sizeof((TyHead *)told)->draws);
    memset(((TyHead *)played)->draws, 0, sizeof((TyHead *)played)->draws);
    HOLDS(board, memcmp(told, played, board->shape->state_size) == 0);
}

static void test_every_draw_is_told_and_can_be_scripted(void **unused)
{
    (void)unused;
    variants_walk(visit_script, EPISODES);
}

/* ---- Events as a seat is told them ---- */

/* What a step told a seat, in JSON and sentences. */
typedef struct Tale {
    const TyRuleset *ruleset;
    uint32_t seat;
    uint32_t hidden; /* events whose details were not for the seat */
    Recording draws;
    size_t size;
    char text[65536];
} Tale;

static void tale_event(void *user, const TyEvent *event)
{
    Tale *tale = user;
    size_t left = sizeof tale->text - tale->size;
    recording_event(&tale->draws, event);
    size_t length =
        ty_event_json_for(tale->ruleset, event, tale->seat, tale->text + tale->size, left);
    assert_true(length < left);
    tale->hidden += strstr(tale->text + tale->size, "\"hidden\":true") != NULL;
    tale->size += length;
}

static uint32_t tales_compared;
static uint32_t tales_hidden;

/* Paired states: all is redealt that a seat cannot know, and somebody does the same with the same
 * luck in both. Where that is possible and leads to the same row of the seat, it is told the same.
 */
static void visit_hidden_events(Board *board)
{
    static Tale tales[2];
    uint64_t states[2][TY_STATE_MAX / 8];
    uint8_t rows[2][TY_ROW_MAX];
    int32_t reward[TY_SEATS_MAX] = {0};
    const TyHead *head = ty_head(board->state);
    if (head->over || board->shape->seats != board->shape->players) {
        return;
    }
    uint32_t action = ty_sample(board->mask, board->shape->action_count, ~board->seed, head->steps);
    uint32_t seat = ((uint32_t)head->seat + 1) % board->shape->players;
    for (uint32_t i = 0; i < 2; i++) {
        tales[i] = (Tale){.ruleset = board->ruleset, .seat = seat};
        TyTape tape = {.user = &tales[i], .event = tale_event};
        memcpy(states[i], board->state, board->shape->state_size);
        if (i == 1) {
            ty_resample(board->ruleset, states[1], seat, hash_mix(board->seed + head->steps));
            tape.script = tales[0].draws.outcomes;
            tape.script_count = tales[0].draws.count;
            tape.strict = true;
        }
        if (!ty_step(board->ruleset, states[i], action, reward, &tape)) {
            HOLDS(board, i == 1);
            return; /* the other hand does not allow it */
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        ty_observe(board->ruleset, states[i], seat, rows[i]);
    }
    if (ty_head(states[0])->over || memcmp(rows[0], rows[1], board->shape->row_size) != 0) {
        return; /* what was hidden had a consequence that all may see, such as who has won */
    }
    tales_compared++;
    tales_hidden += tales[0].hidden > 0;
    HOLDS(board, tales[0].size == tales[1].size);
    HOLDS(board, memcmp(tales[0].text, tales[1].text, tales[0].size) == 0);
}

static void test_events_tell_no_secrets_of_others(void **unused)
{
    (void)unused;
    /* Every question is asked: what a hand leaves no choice about is public when it is done. */
    static const char *const specs[] = {
        "convoi:hands=hidden,ask_forced=true", "nordic:ask_forced=true",
        "nordic:players=3,ask_forced=true",    "express:players=4,ask_forced=true",
        "express:map=tiny,ask_forced=true",    "chicago:ask_forced=true",
        "chicago:players=4,ask_forced=true",
    };
    for (uint32_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        Board board;
        board_open(&board, specs[i]);
        for (uint64_t seed = 0; seed < budget(EPISODES, 20 * EPISODES); seed++) {
            episode_walk(&board, seed, visit_hidden_events);
        }
        ty_ruleset_close(board.ruleset);
    }
    print_message("%u steps told in pairs, %u of them with something hidden\n", tales_compared,
                  tales_hidden);
    assert_true(tales_compared > budget(10000, 10000) && tales_hidden > budget(1000, 1000));
}

static void visit_text(Board *board)
{
    static char text[65536];
    if (ty_head(board->state)->steps % EXHAUSTIVE_EVERY == 0) {
        size_t length = ty_text(board->ruleset, board->state, 0, text, sizeof text);
        HOLDS(board, length > 0 && length < sizeof text);
        length = ty_state_json(board->ruleset, board->state, text, sizeof text);
        HOLDS(board, length > 2 && length < sizeof text);
        HOLDS(board, text[0] == '{' && text[length - 1] == '}');
    }
}

static void test_text_and_json_fit_their_buffers(void **unused)
{
    (void)unused;
    variants_walk(visit_text, 2);
}

static void test_action_names_are_unique_and_typed_back(void **unused)
{
    (void)unused;
    const VariantList *list = variants_all();
    for (uint32_t i = 0; i < list->count; i++) {
        Board board;
        board_open(&board, list->spec[i]);
        for (uint32_t action = 0; action < board.shape->action_count; action++) {
            char name[TY_NAME_MAX];
            uint32_t found = UINT32_MAX;
            ty_action_name(board.ruleset, action, name);
            assert_true(name[0] != '\0');
            assert_true(ty_action_find(board.ruleset, name, &found));
            assert_int_equal(found, action);
        }
        ty_ruleset_close(board.ruleset);
    }
}

static void test_canonical_string_is_a_fixed_point(void **unused)
{
    (void)unused;
    const VariantList *list = variants_all();
    for (uint32_t i = 0; i < list->count; i++) {
        Board board;
        Board again;
        board_open(&board, list->spec[i]);
        board_open(&again, board.shape->spec);
        assert_string_equal(board.shape->spec, again.shape->spec);
        assert_true(board.shape->schema_hash == again.shape->schema_hash);
        ty_ruleset_close(board.ruleset);
        ty_ruleset_close(again.ruleset);
    }
}

/* A state with any byte changed is refused by check or can be played without harm. */
static void visit_damage(Board *board)
{
    uint64_t damaged[TY_STATE_MAX / 8];
    uint8_t *bytes = (uint8_t *)damaged;
    if (ty_head(board->state)->steps % EXHAUSTIVE_EVERY != 0) {
        return;
    }
    for (uint32_t i = 0; i < board->shape->state_size; i++) {
        memcpy(damaged, board->state, board->shape->state_size);
        bytes[i] = (uint8_t)hash_mix(board->seed + i + ty_head(board->state)->steps);
        if (ty_check(board->ruleset, damaged) != NULL) {
            continue;
        }
        for (uint32_t step = 0; step < 20 && !ty_head(damaged)->over; step++) {
            uint8_t mask[TY_ACTIONS_MAX];
            uint8_t row[TY_ROW_MAX];
            int32_t reward[TY_SEATS_MAX] = {0};
            ty_legal(board->ruleset, damaged, mask);
            ty_observe(board->ruleset, damaged, 0, row);
            ty_step(board->ruleset, damaged, ty_sample(mask, board->shape->action_count, i, step),
                    reward, NULL);
        }
    }
}

static void test_damaged_states_are_refused_or_harmless(void **unused)
{
    (void)unused;
    variants_walk(visit_damage, 2);
}

/* examples/own_game: the battery runs on games from outside unchanged. */
TyStatus trainyard_plugin(void);

int main(void)
{
    TyStatus added = trainyard_plugin();
    if (added.code != TY_OK) {
        fprintf(stderr, "%s\n", added.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invariants_hold_after_every_step),
        cmocka_unit_test(test_mask_equals_accepted_actions),
        cmocka_unit_test(test_idle_seat_may_only_wait),
        cmocka_unit_test(test_rows_are_whole_and_in_range),
        cmocka_unit_test(test_hidden_information_stays_hidden),
        cmocka_unit_test(test_clone_plays_like_the_original),
        cmocka_unit_test(test_same_seed_same_episode),
        cmocka_unit_test(test_every_draw_is_told_and_can_be_scripted),
        cmocka_unit_test(test_events_tell_no_secrets_of_others),
        cmocka_unit_test(test_text_and_json_fit_their_buffers),
        cmocka_unit_test(test_action_names_are_unique_and_typed_back),
        cmocka_unit_test(test_canonical_string_is_a_fixed_point),
        cmocka_unit_test(test_damaged_states_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
