/* Networks: what they compute, the same everywhere, and files that are refused. */
#include "trainyard.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/agents/net_bytes.h"
#include "tests/support/budget.h"

enum { ROWS = 64, WIDTH = 64, LAYERS = 3 };

static const char *const specs[] = {"convoi:board=tiny,hints=true", "nordic:map=tiny",
                                    "express:map=tiny", "chicago"};
enum { SPECS = sizeof specs / sizeof specs[0] };

static TyRuleset *ruleset_of(const char *spec)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = ty_ruleset_open(spec, NULL, &ruleset);
    assert_string_equal(status.message, "");
    return ruleset;
}

/* Positions of random play: rows and masks side by side. */
typedef struct Positions {
    uint8_t *rows;
    uint8_t *masks;
} Positions;

static Positions positions_of(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    Positions at = {.rows = calloc(ROWS, shape->row_size),
                    .masks = calloc(ROWS, shape->action_count)};
    assert_true(at.rows != NULL && at.masks != NULL);
    ty_reset(ruleset, state, 1, NULL);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (ty_head(state)->over) {
            ty_reset(ruleset, state, i, NULL);
        }
        uint8_t *mask = at.masks + (size_t)i * shape->action_count;
        ty_observe(ruleset, state, (uint32_t)ty_head(state)->seat,
                   at.rows + (size_t)i * shape->row_size);
        ty_legal(ruleset, state, mask);
        ty_step(ruleset, state, ty_sample(mask, shape->action_count, 7, i), reward, NULL);
    }
    return at;
}

static void positions_free(Positions at)
{
    free(at.rows);
    free(at.masks);
}

/* ---- What is computed ---- */

/* out = in * weights + bias, in double precision. */
static void layer_apply(const double *in, uint32_t inputs, const float *weights, uint32_t outputs,
                        double *out)
{
    for (uint32_t to = 0; to < outputs; to++) {
        out[to] = weights[(size_t)inputs * outputs + to];
        for (uint32_t from = 0; from < inputs; from++) {
            out[to] += in[from] * weights[(size_t)from * outputs + to];
        }
    }
}

static void relu(double *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = numbers[i] > 0 ? numbers[i] : 0;
    }
}

/* The definition, on an expanded row: logits of every action, then the value. */
static void think_plainly(const TyRuleset *ruleset, const float *weights, const uint8_t *row,
                          double *out)
{
    uint32_t inputs = ty_expand_size(ruleset, false);
    uint32_t actions = ty_shape(ruleset)->action_count;
    float *expanded = malloc(inputs * sizeof *expanded);
    double *in = malloc(inputs * sizeof *in);
    double hidden[2][WIDTH];
    assert_true(expanded != NULL && in != NULL);
    ty_expand(ruleset, false, row, 1, expanded);
    for (uint32_t i = 0; i < inputs; i++) {
        in[i] = expanded[i];
    }
    layer_apply(in, inputs, weights, WIDTH, hidden[0]);
    weights += ((size_t)inputs + 1) * WIDTH;
    for (uint32_t layer = 1; layer < LAYERS; layer++, weights += (WIDTH + 1) * WIDTH) {
        relu(hidden[(layer + 1) % 2], WIDTH);
        layer_apply(hidden[(layer + 1) % 2], WIDTH, weights, WIDTH, hidden[layer % 2]);
    }
    double *last = hidden[(LAYERS - 1) % 2];
    relu(last, WIDTH);
    const float *bias = weights + (size_t)actions * WIDTH;
    for (uint32_t head = 0; head <= actions; head++) {
        const float *of = head < actions ? weights + (size_t)head * WIDTH : bias + actions;
        out[head] = head < actions ? bias[head] : of[WIDTH];
        for (uint32_t i = 0; i < WIDTH; i++) {
            out[head] += last[i] * of[i];
        }
    }
    free(expanded);
    free(in);
}

static void check_thoughts(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    Positions at = positions_of(ruleset);
    NetBytes made = net_bytes(ruleset, LAYERS, WIDTH, 3);
    TyNet *net = net_random(ruleset, LAYERS, WIDTH, 3);
    float *weights = malloc(made.size);
    float *logits = calloc(ROWS, shape->action_count * sizeof *logits);
    float values[ROWS];
    double wanted[TY_ACTIONS_MAX + 1];
    assert_true(weights != NULL && logits != NULL);
    memcpy(weights, made.bytes + NET_AT_WEIGHTS, made.size - NET_AT_WEIGHTS);
    ty_net_think(net, at.rows, at.masks, ROWS, logits, values);
    for (uint32_t i = 0; i < ROWS; i++) {
        think_plainly(ruleset, weights, at.rows + (size_t)i * shape->row_size, wanted);
        assert_true(fabs(wanted[shape->action_count] - (double)values[i]) < 1e-4);
        for (uint32_t action = 0; action < shape->action_count; action++) {
            size_t entry = (size_t)i * shape->action_count + action;
            if (at.masks[entry]) {
                assert_true(fabs(wanted[action] - (double)logits[entry]) < 1e-4);
            } else {
                assert_true(isinf(logits[entry]) && logits[entry] < 0);
            }
        }
    }
    free(weights);
    free(logits);
    free(made.bytes);
    ty_net_close(net);
    positions_free(at);
}

static void test_logits_and_values_are_those_of_the_layers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        check_thoughts(ruleset);
        ty_ruleset_close(ruleset);
    }
}

static void test_a_value_that_a_category_does_not_have_counts_as_none(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of(specs[0]);
    const TyShape *shape = ty_shape(ruleset);
    NetBytes made = net_bytes(ruleset, LAYERS, WIDTH, 3);
    TyNet *net = net_random(ruleset, LAYERS, WIDTH, 3);
    float *weights = malloc(made.size);
    uint8_t row[TY_ROW_MAX];
    double wanted[TY_ACTIONS_MAX + 1];
    float value = 0;
    assert_non_null(weights);
    memcpy(weights, made.bytes + NET_AT_WEIGHTS, made.size - NET_AT_WEIGHTS);
    memset(row, 0xff, sizeof row);
    think_plainly(ruleset, weights, row, wanted);
    ty_net_think(net, row, NULL, 1, NULL, &value);
    assert_true(fabs(wanted[shape->action_count] - (double)value) <
                1e-2 * fabs(wanted[shape->action_count]));
    free(weights);
    free(made.bytes);
    ty_net_close(net);
    ty_ruleset_close(ruleset);
}

/* A hash of everything that networks with fixed weights think and choose in fixed positions. */
static uint64_t thoughts_hash(void)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        uint32_t actions = ty_shape(ruleset)->action_count;
        Positions at = positions_of(ruleset);
        TyNet *net = net_random(ruleset, LAYERS, WIDTH, 3);
        float *logits = calloc(ROWS, actions * sizeof *logits);
        uint64_t random[ROWS];
        TyNetChoice choices[ROWS];
        assert_non_null(logits);
        ty_net_think(net, at.rows, at.masks, ROWS, logits, NULL);
        for (uint32_t k = 0; k < ROWS * actions; k++) {
            uint32_t bits = 0;
            memcpy(&bits, &logits[k], sizeof bits);
            hash = hash_add(hash, bits);
        }
        for (uint32_t k = 0; k < ROWS; k++) {
            random[k] = hash_mix(k);
        }
        ty_net_choose_rows(net, at.rows, at.masks, ROWS, 0.5f, random, choices);
        for (uint32_t k = 0; k < ROWS; k++) {
            hash = hash_add(hash, choices[k].action);
        }
        free(logits);
        ty_net_close(net);
        positions_free(at);
        ty_ruleset_close(ruleset);
    }
    return hash;
}

/* Whatever compiled this, on whatever processor. After a change of the rules it is another one. */
static void test_every_build_thinks_the_same_bits(void **state)
{
    (void)state;
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)thoughts_hash());
    assert_string_equal(hash, "c6b5ce3382831eae");
}

/* ---- Choosing ---- */

static void test_the_best_action_is_the_first_of_equals(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    const TyShape *shape = ty_shape(ruleset);
    NetBytes made = net_bytes(ruleset, 1, 32, 1);
    Positions at = positions_of(ruleset);
    TyNet *net = NULL;
    memset(made.bytes + NET_AT_WEIGHTS, 0, made.size - NET_AT_WEIGHTS);
    ty_net_seal(made.bytes, made.size);
    assert_int_equal(ty_net_open(ruleset, made.bytes, made.size, &net).code, TY_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint8_t *mask = at.masks + (size_t)i * shape->action_count;
        uint32_t first = 0;
        uint32_t legal = 0;
        for (uint32_t action = shape->action_count; action-- > 0;) {
            first = mask[action] ? action : first;
            legal += mask[action];
        }
        TyNetChoice choice =
            ty_net_choose(net, at.rows + (size_t)i * shape->row_size, mask, 0.0f, 0);
        assert_int_equal(choice.action, first);
        assert_true(fabsf(choice.logp + logf((float)legal)) < 1e-5f);
    }
    ty_net_close(net);
    free(made.bytes);
    positions_free(at);
    ty_ruleset_close(ruleset);
}

/* The probabilities of a row's actions at a temperature. */
static void probabilities(const TyNet *net, const uint8_t *row, const uint8_t *mask, uint32_t count,
                          double temperature, double *out)
{
    float logits[TY_ACTIONS_MAX];
    double sum = 0;
    ty_net_think(net, row, mask, 1, logits, NULL);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = mask[i] ? exp((double)logits[i] / temperature) : 0;
        sum += out[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] /= sum;
    }
}

extern const TyAgent net_agent;

/* What the agent tells of the first position, with a network made for `own` whose values are of
 * `kind`, in `played`; returns what it takes. */
static uint32_t agent_tells(const char *own, const char *played, uint32_t kind, TyNotes *notes)
{
    TyRuleset *theirs = ruleset_of(own);
    TyRuleset *ruleset = ruleset_of(played);
    Positions at = positions_of(ruleset);
    NetBytes made = net_bytes(theirs, 1, 32, 1);
    TyNet *net = NULL;
    uint64_t memory[2] = {0};
    net_values_are(made, kind);
    assert_int_equal(ty_net_open(ruleset, made.bytes, made.size, &net).code, TY_OK);
    TyAgent agent = net_agent;
    agent.data = net;
    TyView view = {.agent = &agent, .ruleset = ruleset, .row = at.rows, .mask = at.masks};
    uint32_t silent = agent.act(memory, &view);
    view.notes = notes;
    notes->count = 0;
    uint32_t action = agent.act(memory, &view);
    assert_int_equal(action, silent);
    ty_net_close(net);
    free(made.bytes);
    positions_free(at);
    ty_ruleset_close(ruleset);
    ty_ruleset_close(theirs);
    return action;
}

static void test_the_agent_tells_its_probabilities(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    const TyShape *shape = ty_shape(ruleset);
    Positions at = positions_of(ruleset);
    TyNet *net = net_random(ruleset, 1, 32, 1);
    TyNotes notes;
    double wanted[TY_ACTIONS_MAX];
    agent_tells("express:map=tiny", "express:map=tiny", 1, &notes);
    probabilities(net, at.rows, at.masks, shape->action_count, 1.0, wanted);
    uint32_t legal = 0;
    for (uint32_t i = 0; i < shape->action_count; i++) {
        legal += at.masks[i];
    }
    assert_int_equal(notes.count, legal);
    for (uint32_t i = 0; i < notes.count; i++) {
        const TyNote *note = &notes.list[i];
        assert_true(at.masks[note->action]);
        assert_true(fabs((double)note->probability - wanted[note->action]) < 1e-5);
        assert_true(isnan(note->visits));
    }
    ty_net_close(net);
    positions_free(at);
    ty_ruleset_close(ruleset);
}

/* A value is told as points of reward only where it is that: of the action that is taken. */
static void test_the_agent_expects_what_its_network_says_in_rewards_of_the_ruleset(void **state)
{
    (void)state;
    static const struct {
        const char *own;
        const char *played;
        uint32_t kind;
        bool told;
    } cases[] = {
        {"express:map=tiny", "express:map=tiny", 2, true},
        {"express:map=tiny", "express:map=tiny", 1, false},
        {"express:map=tiny,reward=score", "express:map=tiny,reward=score", 2, true},
        {"express:map=tiny,reward=score", "express:map=tiny", 2, false},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        TyNotes notes;
        uint32_t action = agent_tells(cases[i].own, cases[i].played, cases[i].kind, &notes);
        for (uint32_t k = 0; k < notes.count; k++) {
            bool expected = cases[i].told && notes.list[k].action == action;
            assert_int_equal(isfinite(notes.list[k].value) != 0, expected);
        }
    }
}

static void test_draws_follow_the_probabilities(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    const TyShape *shape = ty_shape(ruleset);
    Positions at = positions_of(ruleset);
    TyNet *net = net_random(ruleset, 1, 32, 1);
    double wanted[TY_ACTIONS_MAX];
    double plain[TY_ACTIONS_MAX];
    uint32_t seen[TY_ACTIONS_MAX] = {0};
    const uint32_t draws = 100000;
    probabilities(net, at.rows, at.masks, shape->action_count, 0.2, wanted);
    probabilities(net, at.rows, at.masks, shape->action_count, 1.0, plain);
    for (uint32_t i = 0; i < draws; i++) {
        TyNetChoice choice = ty_net_choose(net, at.rows, at.masks, 0.2f, hash_mix(i));
        assert_true(fabs(exp((double)choice.logp) - plain[choice.action]) < 1e-5);
        seen[choice.action]++;
    }
    for (uint32_t i = 0; i < shape->action_count; i++) {
        /* Six standard deviations. */
        double spread = 6 * sqrt(wanted[i] * (1 - wanted[i]) / draws);
        assert_true(fabs((double)seen[i] / draws - wanted[i]) <= spread);
    }
    ty_net_close(net);
    positions_free(at);
    ty_ruleset_close(ruleset);
}

/* ---- Refused files ---- */

static TyStatus opened(const TyRuleset *ruleset, const NetBytes *made)
{
    /* Exactly as many bytes as there are, so that a sanitizer sees a step too far. */
    uint8_t *copy = malloc(made->size > 0 ? made->size : 1);
    TyNet *net = NULL;
    assert_non_null(copy);
    memcpy(copy, made->bytes, made->size);
    TyStatus status = ty_net_open(ruleset, copy, made->size, &net);
    assert_true((net != NULL) == (status.code == TY_OK));
    assert_true((status.message[0] == '\0') == (status.code == TY_OK));
    ty_net_close(net);
    free(copy);
    return status;
}

static void test_every_flipped_bit_is_refused(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    NetBytes made = net_bytes(ruleset, 1, 32, 1);
    size_t bits = made.size * 8;
    size_t stride = budget(509, 13); /* behind the head; every bit of the head */
    assert_int_equal(opened(ruleset, &made).code, TY_OK);
    for (size_t bit = 0; bit < bits; bit += bit < NET_AT_WEIGHTS * 8 ? 1 : stride) {
        made.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_int_equal(opened(ruleset, &made).code, TY_BAD_FILE);
        made.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    free(made.bytes);
    ty_ruleset_close(ruleset);
}

static void test_a_file_of_any_other_length_is_refused(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    NetBytes made = net_bytes(ruleset, 1, 32, 1);
    for (size_t size = 0; size < made.size; size += size < 640 ? 1 : 311) {
        NetBytes part = {made.bytes, size};
        assert_int_equal(opened(ruleset, &part).code, TY_BAD_FILE);
        if (size >= 8) { /* nor does a right checksum help */
            uint8_t *copy = malloc(size);
            assert_non_null(copy);
            memcpy(copy, made.bytes, size);
            ty_net_seal(copy, size);
            NetBytes sealed = {copy, size};
            assert_int_equal(opened(ruleset, &sealed).code, TY_BAD_FILE);
            free(copy);
        }
    }
    free(made.bytes);
    ty_ruleset_close(ruleset);
}

/* Sets a number of the head, seals the bytes again, and expects this to be said. */
static void expect_refused(const TyRuleset *ruleset, size_t at, uint32_t number, const char *said)
{
    NetBytes made = net_bytes(ruleset, 2, 32, 1);
    store_le32(made.bytes + at, number);
    ty_net_seal(made.bytes, made.size);
    TyStatus status = opened(ruleset, &made);
    assert_int_equal(status.code, TY_BAD_FILE);
    if (strstr(status.message, said) == NULL) {
        fail_msg("'%s' does not say '%s'", status.message, said);
    }
    free(made.bytes);
}

static void test_a_sealed_file_with_wrong_numbers_is_refused_by_name(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    expect_refused(ruleset, 0, 0, "not a network");
    expect_refused(ruleset, NET_AT_VERSION, 2, "format 2; known is 1");
    expect_refused(ruleset, NET_AT_LAYERS, 0, "0 hidden layers; allowed are 1..8");
    expect_refused(ruleset, NET_AT_LAYERS, 9, "9 hidden layers");
    expect_refused(ruleset, NET_AT_LAYERS, 1, "width of hidden layer 2: 32");
    expect_refused(ruleset, NET_AT_WIDTHS, 33, "width of hidden layer 1: 33");
    expect_refused(ruleset, NET_AT_WIDTHS, 1056, "width of hidden layer 1: 1056");
    expect_refused(ruleset, NET_AT_WIDTHS, 64, "bytes, where its layers need");
    expect_refused(ruleset, NET_AT_WIDTHS + 28, 32, "width of hidden layer 8: 32");
    expect_refused(ruleset, NET_AT_VALUE, 3, "values of kind 3; allowed are 0..2");
    expect_refused(ruleset, NET_AT_VALUE, 0, "bytes, where its layers need");
    expect_refused(ruleset, NET_AT_SCHEMA, 0, "made for express:map=tiny");
    expect_refused(ruleset, NET_AT_INPUTS, 7, "7 inputs");
    expect_refused(ruleset, NET_AT_ACTIONS, 0xffffffff, "4294967295 actions");
    expect_refused(ruleset, NET_AT_WEIGHTS, 0x7f800000, "weight 0 is not a finite number");
    expect_refused(ruleset, NET_AT_WEIGHTS + 4, 0xffc00000, "weight 1 is not a finite number");
    ty_ruleset_close(ruleset);
}

static void test_a_network_of_another_ruleset_says_which(void **state)
{
    (void)state;
    TyRuleset *made_for = ruleset_of("convoi:board=tiny");
    TyRuleset *ruleset = ruleset_of("convoi:board=tiny,hints=true");
    NetBytes made = net_bytes(made_for, 1, 32, 1);
    TyStatus status = opened(ruleset, &made);
    assert_int_equal(status.code, TY_BAD_FILE);
    assert_non_null(strstr(status.message, "made for convoi:board=tiny,players=2, whose"));
    assert_non_null(strstr(status.message, "hints=true"));
    free(made.bytes);
    ty_ruleset_close(ruleset);
    ty_ruleset_close(made_for);
}

static void test_too_many_bytes_are_refused(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    TyNet *net = NULL;
    uint8_t byte = 0;
    TyStatus status = ty_net_open(ruleset, &byte, (size_t)TY_NET_BYTES_MAX + 1, &net);
    assert_int_equal(status.code, TY_LIMIT);
    assert_null(net);
    ty_ruleset_close(ruleset);
}

/* ---- For learners ---- */

static void check_first_layer(const TyRuleset *ruleset)
{
    enum { NARROW = 32 };
    uint32_t inputs = ty_expand_size(ruleset, false);
    Positions at = positions_of(ruleset);
    size_t entries = (size_t)inputs * NARROW;
    float *table = malloc(entries * sizeof *table);
    float *slope = malloc(entries * sizeof *slope);
    float *expanded = malloc((size_t)ROWS * inputs * sizeof *expanded);
    float out[ROWS * NARROW];
    float change[ROWS * NARROW];
    assert_true(table != NULL && slope != NULL && expanded != NULL);
    for (size_t i = 0; i < entries; i++) {
        table[i] = net_weight(1, i);
    }
    for (uint32_t i = 0; i < ROWS * NARROW; i++) {
        change[i] = net_weight(2, i);
    }
    ty_expand(ruleset, false, at.rows, ROWS, expanded);
    assert_int_equal(ty_rows_multiply(ruleset, at.rows, ROWS, table, NARROW, out).code, TY_OK);
    assert_int_equal(ty_rows_slope(ruleset, at.rows, ROWS, change, NARROW, slope).code, TY_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t lane = 0; lane < NARROW; lane++) {
            double sum = 0;
            for (uint32_t i = 0; i < inputs; i++) {
                sum += (double)expanded[(size_t)row * inputs + i] * table[i * NARROW + lane];
            }
            assert_true(fabs(sum - (double)out[row * NARROW + lane]) < 1e-4);
        }
    }
    for (uint32_t i = 0; i < inputs; i++) {
        for (uint32_t lane = 0; lane < NARROW; lane++) {
            double sum = 0;
            for (uint32_t row = 0; row < ROWS; row++) {
                sum += (double)expanded[(size_t)row * inputs + i] * change[row * NARROW + lane];
            }
            assert_true(fabs(sum - (double)slope[i * NARROW + lane]) < 1e-4);
        }
    }
    free(table);
    free(slope);
    free(expanded);
    positions_free(at);
}

static void test_the_first_layer_and_its_slope_are_those_of_expanded_rows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; i++) {
        TyRuleset *ruleset = ruleset_of(specs[i]);
        check_first_layer(ruleset);
        ty_ruleset_close(ruleset);
    }
}

static void test_the_first_layer_has_only_whole_lanes(void **state)
{
    (void)state;
    TyRuleset *ruleset = ruleset_of("express:map=tiny");
    static const uint32_t widths[] = {0, 16, 33, 1056};
    for (uint32_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        TyStatus status = ty_rows_multiply(ruleset, NULL, 0, NULL, widths[i], NULL);
        assert_int_equal(status.code, TY_BAD_ARGUMENT);
        assert_non_null(strstr(status.message, "multiples of 32 up to 1024"));
        assert_int_equal(ty_rows_slope(ruleset, NULL, 0, NULL, widths[i], NULL).code,
                         TY_BAD_ARGUMENT);
    }
    ty_ruleset_close(ruleset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits_and_values_are_those_of_the_layers),
        cmocka_unit_test(test_a_value_that_a_category_does_not_have_counts_as_none),
        cmocka_unit_test(test_every_build_thinks_the_same_bits),
        cmocka_unit_test(test_the_best_action_is_the_first_of_equals),
        cmocka_unit_test(test_the_agent_tells_its_probabilities),
        cmocka_unit_test(test_the_agent_expects_what_its_network_says_in_rewards_of_the_ruleset),
        cmocka_unit_test(test_draws_follow_the_probabilities),
        cmocka_unit_test(test_every_flipped_bit_is_refused),
        cmocka_unit_test(test_a_file_of_any_other_length_is_refused),
        cmocka_unit_test(test_a_sealed_file_with_wrong_numbers_is_refused_by_name),
        cmocka_unit_test(test_a_network_of_another_ruleset_says_which),
        cmocka_unit_test(test_too_many_bytes_are_refused),
        cmocka_unit_test(test_the_first_layer_and_its_slope_are_those_of_expanded_rows),
        cmocka_unit_test(test_the_first_layer_has_only_whole_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
