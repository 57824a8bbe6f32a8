/* Text that can be played from: positions whose words are the same ask the same question and have
 * the same answers, in every game, over many positions of mixed play. */
#include "agent.h"
#include "core/hash.h"
#include "game.h"
#include "tests/games/variants.h"
#include "tests/support/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_MAX = 65536, PLACES = 1 << 19, SIBLINGS = 3 };

/* What a text was seen with. */
typedef struct Seen {
    uint64_t text; /* its hash; 0: the place is free */
    uint64_t answers;
    uint8_t phase;
    int8_t seat;
} Seen;

typedef struct Reader {
    TyRuleset *ruleset;
    const TyShape *shape;
    const TyAgent *expert;
    Seen seen[PLACES];
    uint32_t positions;
    uint32_t repeated; /* positions whose text had been seen */
    uint64_t state[TY_STATE_MAX / 8];
    uint8_t mask[TY_ACTIONS_MAX];
    char text[TEXT_MAX];
} Reader;

static Seen *seen_find(Reader *reader, uint64_t text)
{
    uint64_t at = text % PLACES;
    while (reader->seen[at].text != 0 && reader->seen[at].text != text) {
        at = (at + 1) % PLACES;
    }
    return &reader->seen[at];
}

/* Nobody has 1 cards. */
static void numbers_read(const char *text)
{
    static const char *const wrong[] = {" 1 points", " 1 wagons",  " 1 more wagons", " 1 cards",
                                        " 1 spaces", " 1 tickets", " 1 tokens",      " 1 turns"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (strstr(text, wrong[i]) != NULL) {
            fail_msg("is said:%s\n%s", wrong[i], text);
        }
    }
}

/* Reads the position without the list of choices, which would make it too easy. */
static void position_read(Reader *reader, const void *state)
{
    const TyHead *head = ty_head(state);
    uint8_t mask[TY_ACTIONS_MAX];
    if (head->over || head->seat == (int8_t)reader->shape->players) {
        return; /* nobody reads for the chance seat */
    }
    ty_legal(reader->ruleset, state, mask);
    size_t length =
        ty_position_text(reader->ruleset, state, (uint32_t)head->seat, reader->text, TEXT_MAX);
    assert_true(length < TEXT_MAX);
    numbers_read(reader->text);
    uint64_t text = hash_bytes(1, (const uint8_t *)reader->text, length) | 1;
    uint64_t answers = hash_bytes(1, mask, reader->shape->action_count);
    Seen *seen = seen_find(reader, text);
    reader->positions++;
    if (seen->text == 0) {
        *seen = (Seen){text, answers, head->phase, head->seat};
        return;
    }
    reader->repeated++;
    if (seen->answers != answers || seen->phase != head->phase || seen->seat != head->seat) {
        char choices[8192];
        ty_choices_text(reader->ruleset, state, false, choices, sizeof choices);
        fail_msg("%s, seed %llu, step %u: the same words had other answers before:\n%s%s",
                 reader->shape->spec, (unsigned long long)head->seed, head->steps, reader->text,
                 choices);
    }
}

/* Reads what other choices would have led to, which differs little, and the same position with all
 * redealt that the seat cannot know, which must not differ at all. */
static void siblings_read(Reader *reader, uint64_t key)
{
    uint64_t sibling[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    for (uint32_t i = 0; i < SIBLINGS; i++) {
        memcpy(sibling, reader->state, reader->shape->state_size);
        uint32_t action = ty_sample(reader->mask, reader->shape->action_count, key, i);
        assert_true(ty_step(reader->ruleset, sibling, action, reward, NULL));
        position_read(reader, sibling);
    }
    memcpy(sibling, reader->state, reader->shape->state_size);
    ty_resample(reader->ruleset, sibling, (uint32_t)ty_head(sibling)->seat, key);
    position_read(reader, sibling);
}

/* An episode in which the expert and chance take turns, so that positions are sensible and varied.
 */
static void episode_read(Reader *reader, uint64_t seed, uint32_t positions)
{
    static uint64_t memory[TY_SEATS_MAX][TY_AGENT_MEMORY_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    ty_reset(reader->ruleset, reader->state, seed, NULL);
    for (uint32_t seat = 0; seat < reader->shape->players; seat++) {
        ty_agent_start(reader->expert, memory[seat], reader->ruleset, seat, seed);
    }
    for (uint32_t i = 0; !ty_head(reader->state)->over && reader->positions < positions; i++) {
        uint32_t seat = (uint32_t)ty_head(reader->state)->seat;
        ty_legal(reader->ruleset, reader->state, reader->mask);
        position_read(reader, reader->state);
        siblings_read(reader, hash_mix(seed) + i);
        bool expert = seat < reader->shape->players && hash_mix(seed + i) % 4 != 0;
        uint32_t action =
            expert ? ty_agent_act(reader->expert, memory[seat], reader->ruleset, reader->state)
                   : ty_sample(reader->mask, reader->shape->action_count, seed, i);
        assert_true(ty_step(reader->ruleset, reader->state, action, reward, NULL));
    }
}

/* Reads so many positions of a ruleset. Returns how many had words that were seen before. */
static uint32_t ruleset_read(const char *spec, const char *agent, uint32_t positions)
{
    static Reader reader;
    TyStatus status = ty_ruleset_open(spec, NULL, &reader.ruleset);
    assert_int_equal(status.code, TY_OK);
    reader.shape = ty_shape(reader.ruleset);
    const TyGame *game = ty_ruleset_game(reader.ruleset);
    reader.expert = ty_agent_find(game, agent);
    if (reader.expert == NULL) {
        reader.expert = ty_agent_find(game, "random"); /* a game may do without an expert */
    }
    reader.positions = 0;
    reader.repeated = 0;
    memset(reader.seen, 0, sizeof reader.seen);
    for (uint64_t seed = 0; reader.positions < positions; seed++) {
        episode_read(&reader, seed, positions);
    }
    ty_ruleset_close(reader.ruleset);
    return reader.repeated;
}

static void test_equal_texts_have_equal_answers(void **unused)
{
    (void)unused;
    uint32_t positions = budget(25000, 200000);
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const char *name = ty_game_name(ty_game_at(i));
        uint32_t repeated = ruleset_read(name, "expert", positions);
        print_message("%s: %u positions, %u with words seen before\n", name, positions, repeated);
        assert_true(repeated > positions / 10);
    }
}

static void test_equal_texts_have_equal_answers_in_every_variant(void **unused)
{
    (void)unused;
    static VariantList list;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        variants_of_game(&list, ty_game_at(i));
    }
    for (uint32_t i = 0; i < list.count; i++) {
        ruleset_read(list.spec[i], "random", budget(600, 20000));
    }
}

/* The text of a position, of seat 0. */
static const char *text_of(const char *spec, uint64_t seed)
{
    static char text[TEXT_MAX];
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    assert_true(ty_reset(ruleset, state, seed, NULL));
    assert_true(ty_text(ruleset, state, 0, text, sizeof text) < sizeof text);
    ty_ruleset_close(ruleset);
    return text;
}

#define TELLS(text, words)                                                                         \
    do {                                                                                           \
        if (strstr(text, words) == NULL) {                                                         \
            fail_msg("not told: %s\n%s", words, text);                                             \
        }                                                                                          \
    } while (0)

static void test_convoi_tells_the_way_ahead_and_what_a_choice_leads_to(void **unused)
{
    (void)unused;
    const char *text = text_of("convoi", 11);
    TELLS(text, "Delivered: 0 of 8");
    TELLS(text,
          "ahead: 1 space, switch nantes to orleans, 1 space, switch orleans CLOSED (it joins "
          "le_havre+paris)");
    TELLS(text,
          "ahead: 2 spaces, switch prague to berlin, 1 space, light berlin/prague RED, Berlin");
    TELLS(text, "wants Berlin, 4 spaces by track; the next light to turn green on its way: "
                "berlin/prague");
    TELLS(text,
          "black 1: rolls 2-3-3-4-4-5; it can go 2, then a closed switch: every point left costs "
          "a token [move black.1]");
    TELLS(text, "    nantes: orleans+toulouse, saint_malo+toulouse\n");
}

static void test_an_action_is_told_with_what_it_leads_to(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    char words[TY_ACTION_TEXT_MAX];
    uint32_t action = 0;
    assert_int_equal(ty_ruleset_open("convoi", NULL, &ruleset).code, TY_OK);
    ty_reset(ruleset, state, 11, NULL);
    assert_true(ty_action_find(ruleset, "move black.1", &action));
    size_t length = ty_action_text(ruleset, NULL, action, words, sizeof words);
    assert_string_equal(words, "Move a train: black 1");
    assert_int_equal(length, strlen(words));
    ty_action_text(ruleset, state, action, words, sizeof words);
    TELLS(words, "Move a train: black 1; rolls 2-3-3-4-4-5; it can go ");
    ty_action_text(ruleset, NULL, 0, words, sizeof words);
    assert_string_equal(words, "wait");
    ty_ruleset_close(ruleset);
}

/* A ferry paid with a card of its colour takes a locomotive too: the choice says so. */
static void test_nordic_tells_what_a_payment_will_be(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    char text[TEXT_MAX];
    uint32_t found = 0;
    assert_int_equal(ty_ruleset_open("nordic", NULL, &ruleset).code, TY_OK);
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint8_t mask[TY_ACTIONS_MAX];
        ty_reset(ruleset, state, seed, NULL);
        for (uint32_t i = 0; i < 400 && !ty_head(state)->over; i++) {
            ty_legal(ruleset, state, mask);
            ty_choices_text(ruleset, state, false, text, sizeof text);
            const char *pay = strstr(text, "the whole payment is then, without further question, ");
            found += pay != NULL && strstr(pay, "1 locomotive") != NULL;
            ty_step(ruleset, state, ty_sample(mask, ty_shape(ruleset)->action_count, seed, i),
                    reward, NULL);
        }
    }
    assert_true(found > 0);
    ty_ruleset_close(ruleset);
}

static void test_express_tells_how_far_the_bonus_is(void **unused)
{
    (void)unused;
    const char *text = text_of("express", 1);
    TELLS(text, "The next to link Londres - Istanbul gets 20 points.");
    TELLS(text, "The bonus, Londres - Istanbul: needs 16 more wagons, for example ");
}

/* Whether each ticket is complete is told at the end, and before it whether wagons are too few. */
static void test_tickets_that_need_too_many_wagons_are_told(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    char text[TEXT_MAX];
    uint32_t few = 0;
    assert_int_equal(ty_ruleset_open("express", NULL, &ruleset).code, TY_OK);
    ty_reset(ruleset, state, 5, NULL);
    for (uint32_t i = 0; !ty_head(state)->over; i++) {
        uint8_t mask[TY_ACTIONS_MAX];
        ty_legal(ruleset, state, mask);
        ty_step(ruleset, state, ty_sample(mask, ty_shape(ruleset)->action_count, 5, i), reward,
                NULL);
        ty_position_text(ruleset, state, 0, text, sizeof text);
        few += strstr(text, " more wagons, which are more than are left, for example ") != NULL;
    }
    assert_true(few > 0);
    TELLS(text, ": not completed\n");
    assert_null(strstr(text, " more wagons"));
    ty_ruleset_close(ruleset);
}

/* ---- What a choice is said to lead to is what it leads to --------------------------------------
 */

/* A choice with what is said of it, and the position behind it. */
typedef struct Told {
    const TyRuleset *ruleset;
    const char *words;
    const void *before;
    const void *after;
} Told;

/* Judges every choice of random play whose name begins with `verb`. Returns how many there were. */
static uint32_t choices_judge(const char *spec, const char *verb, void judge(const Told *told))
{
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t after[TY_STATE_MAX / 8];
    int32_t reward[TY_SEATS_MAX] = {0};
    uint32_t judged = 0;
    assert_int_equal(ty_ruleset_open(spec, NULL, &ruleset).code, TY_OK);
    const TyShape *shape = ty_shape(ruleset);
    for (uint64_t seed = 0; seed < budget(20, 400); seed++) {
        ty_reset(ruleset, state, seed, NULL);
        for (uint32_t i = 0; i < 500 && !ty_head(state)->over; i++) {
            uint8_t mask[TY_ACTIONS_MAX];
            ty_legal(ruleset, state, mask);
            for (uint32_t action = 0; action < shape->action_count; action++) {
                static char words[TEXT_MAX];
                char name[TY_NAME_MAX] = "";
                if (mask[action]) {
                    ty_action_name(ruleset, action, name);
                }
                if (strncmp(name, verb, strlen(verb)) != 0) {
                    continue;
                }
                TyText text = ty_text_init(words, sizeof words);
                ty_ruleset_game(ruleset)->explain(ruleset, state, action, &text);
                memcpy(after, state, shape->state_size);
                assert_true(ty_step(ruleset, after, action, reward, NULL));
                judge(&(Told){ruleset, words, state, after});
                judged++;
            }
            ty_step(ruleset, state, ty_sample(mask, shape->action_count, seed, i), reward, NULL);
        }
    }
    ty_ruleset_close(ruleset);
    return judged;
}

/* How many choices behind this one have a name that begins with `verb` and are not said to be
 * `not_this` first of all. */
static uint32_t answers_after(const Told *told, const char *verb, const char *not_this)
{
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t count = 0;
    ty_legal(told->ruleset, told->after, mask);
    for (uint32_t action = 0; action < ty_shape(told->ruleset)->action_count; action++) {
        char name[TY_NAME_MAX] = "";
        char words[TY_NAME_MAX] = "";
        TyText text = ty_text_init(words, sizeof words);
        if (mask[action]) {
            ty_action_name(told->ruleset, action, name);
        }
        if (strncmp(name, verb, strlen(verb)) == 0) {
            ty_ruleset_game(told->ruleset)->explain(told->ruleset, told->after, action, &text);
            count += not_this[0] == '\0' || strncmp(words, not_this, strlen(not_this)) != 0;
        }
    }
    return count;
}

/* The seats named are those that the next question offers. */
static void judge_lay(const Told *told)
{
    const char *seats = strstr(told->words, "it can sit down in ");
    uint32_t named = seats != NULL;
    const char *second = strstr(told->words, "; with ");
    if (second != NULL && seats > second) { /* only the two numbers together lead to seats */
        seats = NULL;
        named = 0;
    }
    for (; seats != NULL && *seats != '\0' && *seats != ';'; seats++) {
        named += *seats == ',';
    }
    if (answers_after(told, "to ", "") > 0) { /* where there is one way only it is gone at once */
        assert_int_equal(named, answers_after(told, "to ", "aisle"));
    }
}

static void test_chicago_tells_the_seats_that_a_number_leads_to(void **unused)
{
    (void)unused;
    assert_true(choices_judge("chicago", "lay ", judge_lay) > 100);
}

/* Into the aisle 1.c0, 1.c1 and 1.c2, all behind bars, and then to the seats around it. */
static void test_chicago_tells_how_far_seats_are_from_a_start_space(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    uint64_t state[TY_STATE_MAX / 8];
    char text[TEXT_MAX];
    assert_int_equal(ty_ruleset_open("chicago", NULL, &ruleset).code, TY_OK);
    ty_reset(ruleset, state, 7, NULL);
    ty_choices_text(ruleset, state, false, text, sizeof text);
    assert_non_null(strstr(text, "1.north: a free seat is 4, 5, 6, 7, 8, 9, 10 spaces away ["));
    ty_ruleset_close(ruleset);
}

/* The attacked one is told what it suffers, and that it lacks a card if it does. */
static void judge_attack(const Told *told)
{
    static char text[TEXT_MAX];
    const char *words = told->words;
    assert_true(strncmp(words, "your pawn at ", strlen("your pawn at ")) == 0 ||
                strncmp(words, "you lose ", strlen("you lose ")) == 0 ||
                strstr(words, " takes a card from your hand, by lot") != NULL);
    uint8_t mask[TY_ACTIONS_MAX];
    uint32_t rebel = 0;
    assert_true(ty_action_find(told->ruleset, "rebel.yes", &rebel));
    ty_legal(told->ruleset, told->before, mask);
    ty_position_text(told->ruleset, told->before, (uint32_t)ty_head(told->before)->seat, text,
                     sizeof text);
    assert_int_equal(strstr(text, "You have no Rebel Passenger") == NULL, mask[rebel]);
}

static void test_chicago_tells_what_an_attack_does_to_oneself(void **unused)
{
    (void)unused;
    assert_true(choices_judge("chicago", "rebel.no", judge_attack) > 20);
}

/* What may be done besides is told behind what answers the question. */
static void judge_aside(const Told *told)
{
    static char choices[TEXT_MAX];
    ty_choices_text(told->ruleset, told->before, true, choices, sizeof choices);
    const char *aside = strstr(choices, "- Spend a token");
    aside = aside != NULL ? aside : strstr(choices, ") Spend a token");
    assert_non_null(aside);
    assert_null(strstr(aside + 2, "\n- "));
}

static void test_chicago_tells_tokens_last(void **unused)
{
    (void)unused;
    assert_true(choices_judge("chicago", "swap ", judge_aside) > 100);
}

/* What a roll is said to cost is what the clock and the depot show, if nothing else follows. */
static void judge_keep(const Told *told)
{
    enum { TURNS = 2, TOKENS = 3, COLLISIONS = 5, DERAILMENTS = 6, METRICS = 16 };
    int32_t before[METRICS];
    int32_t after[METRICS];
    ty_metrics(told->ruleset, told->before, before);
    ty_metrics(told->ruleset, told->after, after);
    if (before[TURNS] != after[TURNS] || answers_after(told, "exit ", "") > 0) {
        return; /* the next card was revealed as well, or it has not moved yet */
    }
    bool harmless = strstr(told->words, " costs ") == NULL && strstr(told->words, " lost") == NULL;
    assert_int_equal(harmless, before[TOKENS] == after[TOKENS]);
    assert_int_equal(strstr(told->words, "dead end") != NULL,
                     after[DERAILMENTS] > before[DERAILMENTS]);
    assert_int_equal(strstr(told->words, "head on") != NULL,
                     after[COLLISIONS] > before[COLLISIONS]);
}

static void test_convoi_tells_what_a_roll_leads_to(void **unused)
{
    (void)unused;
    assert_true(choices_judge("convoi", "die.keep", judge_keep) > 10);
    assert_true(choices_judge("convoi:board=tiny", "die.keep", judge_keep) > 10);
}

static void test_how_to_play_is_a_page_for_every_game(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        static char page[TEXT_MAX];
        TyRuleset *ruleset = NULL;
        const char *name = ty_game_name(ty_game_at(i));
        assert_int_equal(ty_ruleset_open(name, NULL, &ruleset).code, TY_OK);
        size_t length = ty_rules_text(ruleset, page, sizeof page);
        if (length < 200 || length >= sizeof page) {
            fail_msg("%s: a page of 200 to %zu bytes is wanted, not %zu", name, sizeof page,
                     length);
        }
        assert_int_equal(strncmp(page, "# How to play ", strlen("# How to play ")), 0);
        if (ty_config(ruleset, "players") != INT32_MIN) {
            TELLS(page, "- players = 2: ");
        }
        ty_ruleset_close(ruleset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_have_equal_answers),
        cmocka_unit_test(test_convoi_tells_the_way_ahead_and_what_a_choice_leads_to),
        cmocka_unit_test(test_an_action_is_told_with_what_it_leads_to),
        cmocka_unit_test(test_nordic_tells_what_a_payment_will_be),
        cmocka_unit_test(test_express_tells_how_far_the_bonus_is),
        cmocka_unit_test(test_tickets_that_need_too_many_wagons_are_told),
        cmocka_unit_test(test_chicago_tells_what_an_attack_does_to_oneself),
        cmocka_unit_test(test_chicago_tells_the_seats_that_a_number_leads_to),
        cmocka_unit_test(test_chicago_tells_how_far_seats_are_from_a_start_space),
        cmocka_unit_test(test_chicago_tells_tokens_last),
        cmocka_unit_test(test_convoi_tells_what_a_roll_leads_to),
        cmocka_unit_test(test_how_to_play_is_a_page_for_every_game),
        cmocka_unit_test(test_equal_texts_have_equal_answers_in_every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
