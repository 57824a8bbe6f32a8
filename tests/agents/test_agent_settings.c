/* Agents with settings: how they are named, opened, asked and closed, and what is refused. */
#include "core/status.h"
#include "registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- An agent with every kind of setting ---- */

static const char *const styles[] = {"calm", "bold", NULL};
static const TyField choosy_fields[] = {
    {.key = "file", .kind = TY_FIELD_FILE, .standard = -1, .help = "what it reads"},
    {"depth", TY_FIELD_INT, 3, 1, 9, NULL, false, "how far it looks"},
    {"style", TY_FIELD_CHOICE, 0, 0, 1, styles, false, "how it plays"},
    {"loud", TY_FIELD_FLAG, 0, 0, 1, NULL, false, "whether it speaks"},
    {"skill", TY_FIELD_FRACTION, 1000, 0, 1000, NULL, false, "how well it plays"},
    {.key = NULL},
};

/* One that can play without its file. */
static const char *const nothing[] = {"none", NULL};
static const TyField easy_fields[] = {
    {"book", TY_FIELD_FILE, 0, 0, 0, nothing, false, "what it may read"},
    {.key = NULL},
};

static TyRuleset *express;
static uint32_t open_count; /* agents with data */
static const TyAgent *started;
static const TyAgent *asked;

static TyStatus choosy_open(const TyAgent *agent, const TyRuleset *of, const TyAgentFile *file,
                            void **data)
{
    assert_ptr_equal(of, express);
    if (file == NULL) {
        return ty_status_ok();
    }
    if (file->size == 0) {
        return ty_status_fail(TY_BAD_FILE, "%s: %s: it is empty", agent->name, file->name);
    }
    *data = malloc(file->size);
    assert_non_null(*data);
    memcpy(*data, file->bytes, file->size);
    open_count++;
    return ty_status_ok();
}

static void choosy_close(void *data)
{
    open_count -= data != NULL;
    free(data);
}

static void choosy_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                         uint32_t seat, uint64_t seed)
{
    (void)memory, (void)ruleset, (void)seat, (void)seed;
    started = agent;
}

static uint32_t choosy_act(void *memory, const TyView *view)
{
    (void)memory;
    asked = view->agent;
    return ty_sample(view->mask, ty_shape(view->ruleset)->action_count, 1, 1);
}

static uint32_t build_count;

static void choosy_build(const TyRuleset *ruleset, void *tables)
{
    const TyRuleset **of = tables;
    assert_null(*of);
    *of = ruleset;
    build_count++;
}

static const TyAgent choosy = {.name = "choosy",
                               .game = "express",
                               .build = choosy_build,
                               .tables_size = sizeof(const TyRuleset *),
                               .start = choosy_start,
                               .act = choosy_act,
                               .fields = choosy_fields,
                               .open = choosy_open,
                               .close = choosy_close};

static const TyAgent easy = {.name = "easy",
                             .game = "express",
                             .start = choosy_start,
                             .act = choosy_act,
                             .fields = easy_fields,
                             .open = choosy_open,
                             .close = choosy_close};

static const TyFileBytes mine[] = {
    {.value = "some/mine.bin", .name = "mine", .bytes = "abc", .size = 3},
    {.value = "empty", .name = "empty", .bytes = "", .size = 0}};

static const TyAgent *agent_of(const char *spec)
{
    const TyAgent *agent = NULL;
    TyStatus status = ty_agent_open_bytes(express, spec, mine, 2, &agent);
    assert_string_equal(status.message, "");
    assert_non_null(agent);
    return agent;
}

static void assert_refused(const char *spec, TyCode code, const char *message)
{
    const TyAgent *agent = &choosy;
    TyStatus status = ty_agent_open_bytes(express, spec, mine, 2, &agent);
    assert_null(agent);
    assert_int_equal(status.code, code);
    if (strstr(status.message, message) == NULL) {
        fail_msg("%s: '%s' has no '%s'", spec, status.message, message);
    }
    assert_int_equal(open_count, 0);
}

/* ---- Opening ---- */

static void test_settings_are_read_and_the_rest_is_standard(void **unused)
{
    (void)unused;
    const TyAgent *agent = agent_of("choosy:file=some/mine.bin,skill=0.75,style=bold");
    assert_int_equal(ty_agent_setting(agent, "skill"), 750);
    assert_int_equal(ty_agent_setting(agent, "style"), 1);
    assert_int_equal(ty_agent_setting(agent, "depth"), 3);
    assert_int_equal(ty_agent_setting(agent, "loud"), 0);
    assert_int_equal(ty_agent_setting(agent, "nothing"), INT32_MIN);
    assert_int_equal(ty_agent_setting(&choosy, "depth"), 3);
    assert_memory_equal(agent->data, "abc", 3);
    ty_agent_close(agent);
    assert_int_equal(open_count, 0);
}

static void test_a_name_tells_the_settings_that_are_not_standard(void **unused)
{
    (void)unused;
    const TyAgent *agent = agent_of("choosy:some/mine.bin,loud=true,skill=0.5,depth=3");
    assert_non_null(strstr(agent->name, "choosy:file=mine@"));
    assert_non_null(strstr(agent->name, ",loud=true,skill=0.5"));
    assert_null(strstr(agent->name, "depth"));
    ty_agent_close(agent);
}

static void test_an_agent_without_settings_is_the_one_in_the_list(void **unused)
{
    (void)unused;
    const TyAgent *random = agent_of("random");
    assert_ptr_equal(random, ty_agent_find(ty_game_find("express"), "random"));
    assert_ptr_equal(agent_of("random:"), random);
    ty_agent_close(random);
    ty_agent_close(NULL);
    assert_int_equal(ty_agent_setting(random, "skill"), INT32_MIN);
}

static void test_an_agent_that_must_be_opened_is_not_found_by_its_name(void **unused)
{
    (void)unused;
    assert_null(ty_agent_find(ty_game_find("express"), "choosy"));
    assert_ptr_equal(registry_agent(ty_game_find("express"), "choosy"), &choosy);
}

static void test_an_agent_whose_file_may_be_left_out_plays_without_it(void **unused)
{
    (void)unused;
    assert_ptr_equal(ty_agent_find(ty_game_find("express"), "easy"), &easy);
    assert_ptr_equal(agent_of("easy"), &easy);
    const TyAgent *agent = agent_of("easy:book=none");
    assert_string_equal(agent->name, "easy");
    assert_null(agent->data);
    ty_agent_close(agent);
    agent = agent_of("easy:book=some/mine.bin");
    assert_non_null(strstr(agent->name, "easy:book=mine@"));
    assert_memory_equal(agent->data, "abc", 3);
    ty_agent_close(agent);
    assert_refused("easy:book=", TY_BAD_CONFIG, "easy: needs a file, as in easy:book=FILE");
    assert_refused("easy:book=nowhere", TY_BAD_CONFIG, "book=nowhere: there is no such file");
    assert_refused("easy:book=empty", TY_BAD_FILE, "it is empty");
    assert_int_equal(open_count, 0);
}

static void test_settings_reach_start_and_act(void **unused)
{
    (void)unused;
    TyRuleset *ruleset = NULL;
    TyLineup lineup;
    uint64_t state[TY_STATE_MAX / 8];
    uint64_t memory[64];
    int32_t reward[TY_SEATS_MAX] = {0};
    assert_int_equal(ty_ruleset_open("express", NULL, &ruleset).code, TY_OK);
    const TyAgent *agent = agent_of("choosy:some/mine.bin,depth=5");
    const TyAgent *agents[TY_SEATS_MAX] = {agent, agent};
    ty_lineup_init(&lineup, ruleset, agents, memory);
    ty_reset(ruleset, state, 1, NULL);
    ty_lineup_start(&lineup, 1);
    ty_lineup_step(&lineup, state, reward);
    assert_ptr_equal(started, agent);
    assert_ptr_equal(asked, agent);
    ty_agent_close(agent);
    ty_ruleset_close(ruleset);
}

static void test_wrong_settings_are_refused_with_what_is_allowed(void **unused)
{
    (void)unused;
    assert_refused(
        "chosy", TY_BAD_CONFIG,
        "'chosy' does not play express; there are random, expert, search, net, choosy, easy; "
        "did "
        "you mean choosy?");
    assert_refused("random:x=1", TY_BAD_CONFIG, "random has no settings; 'x=1' was given");
    assert_refused("choosy:empty,dept=2", TY_BAD_CONFIG,
                   "choosy has no key 'dept'; it has file, depth, style, loud, skill; did you "
                   "mean depth?");
    assert_refused("choosy:empty,depth=10", TY_BAD_CONFIG,
                   "depth=10: out of range; allowed is 1..9");
    assert_refused("choosy:empty,depth", TY_BAD_CONFIG, "'depth': expected key=value");
    assert_refused("choosy:empty,style=bald", TY_BAD_CONFIG,
                   "style=bald: unknown value; allowed are calm, bold; did you mean bold?");
    assert_refused("choosy:depth=2,depth=2", TY_BAD_CONFIG, "depth is given twice");
    static const char *const wrong[] = {"1.001", "0.1234", "-0", "", ".5", "1,5", "x", "99999"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "choosy:empty,skill=%s", wrong[i]);
        assert_refused(spec, TY_BAD_CONFIG, i == 5 ? "'5': expected key=value" : "allowed is 0..1");
    }
}

static void test_files_are_refused_by_name(void **unused)
{
    (void)unused;
    const TyAgent *agent = NULL;
    assert_refused("choosy", TY_BAD_CONFIG, "choosy: needs a file, as in choosy:file=FILE");
    assert_refused("choosy:file=", TY_BAD_CONFIG, "choosy: needs a file");
    assert_refused("choosy:nowhere", TY_BAD_CONFIG, "choosy: file=nowhere: there is no such file");
    assert_refused("choosy:empty", TY_BAD_FILE, "it is empty");
    TyStatus status = ty_agent_open(express, "choosy:x", NULL, &agent);
    assert_int_equal(status.code, TY_BAD_CONFIG);
    assert_string_equal(status.message, "choosy: file=x: files cannot be opened here");
}

static void test_long_specifications_are_refused(void **unused)
{
    (void)unused;
    char spec[TY_SPEC_MAX + 64];
    memset(spec, 'a', sizeof spec);
    spec[sizeof spec - 1] = '\0';
    assert_refused(spec, TY_LIMIT, "longer than 511 characters");
    spec[TY_SPEC_MAX - 1] = '\0';
    assert_refused(spec, TY_BAD_CONFIG, "does not play express");
}

/* ---- Lists ---- */

static void assert_entries(const char *list, uint32_t count, const char *const *entries)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t length = ty_agent_spec_length(list);
        assert_int_equal(length, strlen(entries[i]));
        assert_memory_equal(list, entries[i], length);
        assert_int_equal(list[length], i + 1 < count ? ',' : '\0');
        list += length + 1;
    }
}

static void test_settings_belong_to_the_agent_before_them(void **unused)
{
    (void)unused;
    assert_entries("expert:style=bold,skill=0.7,random,search:ms=5", 3,
                   (const char *const[]){"expert:style=bold,skill=0.7", "random", "search:ms=5"});
    assert_entries("a,b", 2, (const char *const[]){"a", "b"});
    assert_entries("net:x.bin,skill=1,,", 3, (const char *const[]){"net:x.bin,skill=1", "", ""});
    assert_entries("", 1, (const char *const[]){""});
}

/* ---- Agents that cannot be ---- */

static void assert_not_added(TyField field)
{
    TyField fields[] = {field, {.key = NULL}};
    TyAgent agent = choosy;
    agent.name = "misfit";
    agent.fields = fields;
    assert_int_equal(ty_agent_add(&agent).code, TY_BAD_ARGUMENT);
}

static void test_settings_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    assert_not_added((TyField){"depth", TY_FIELD_INT, 10, 1, 9, NULL, false, "too deep"});
    assert_not_added((TyField){"skill", TY_FIELD_FRACTION, 2000, 0, 1000, NULL, false, "too good"});
    assert_not_added((TyField){"style", TY_FIELD_CHOICE, 0, 0, 1, NULL, false, "no choices"});
    assert_not_added((TyField){"loud", TY_FIELD_FLAG, 0, 0, 1, NULL, false, NULL});
    assert_not_added((TyField){"file", TY_FIELD_FILE, 0, 0, 0, NULL, false, "none built in"});
    assert_not_added((TyField){"file", TY_FIELD_FILE, -1, 0, 1, styles, false, "two ways"});
}

/* ---- Tables ---- */

static void test_tables_are_made_once_for_each_ruleset_of_the_game(void **unused)
{
    (void)unused;
    const TyRuleset *const *tables = ty_agent_tables(express, &choosy);
    const TyAgent *agent = agent_of("choosy:some/mine.bin,loud=true");
    uint32_t before = build_count;
    TyRuleset *other = NULL;
    assert_ptr_equal(*tables, express);
    assert_ptr_equal(ty_agent_tables(express, agent), tables);
    assert_int_equal(build_count, before);
    assert_int_equal(ty_ruleset_open("express:players=3", NULL, &other).code, TY_OK);
    assert_int_equal(build_count, before + 1);
    assert_ptr_equal(*(const TyRuleset *const *)ty_agent_tables(other, agent), other);
    ty_ruleset_close(other);
    assert_int_equal(ty_ruleset_open("nordic", NULL, &other).code, TY_OK);
    assert_int_equal(build_count, before + 1);
    assert_null(ty_agent_tables(other, agent));
    ty_ruleset_close(other);
    ty_agent_close(agent);
}

static void test_an_agent_has_no_tables_where_it_made_none(void **unused)
{
    (void)unused;
    assert_null(ty_agent_tables(express, ty_agent_find(ty_game_find("convoi"), "expert")));
    assert_null(ty_agent_tables(express, ty_agent_find(ty_ruleset_game(express), "random")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_are_read_and_the_rest_is_standard),
        cmocka_unit_test(test_a_name_tells_the_settings_that_are_not_standard),
        cmocka_unit_test(test_an_agent_without_settings_is_the_one_in_the_list),
        cmocka_unit_test(test_an_agent_that_must_be_opened_is_not_found_by_its_name),
        cmocka_unit_test(test_an_agent_whose_file_may_be_left_out_plays_without_it),
        cmocka_unit_test(test_settings_reach_start_and_act),
        cmocka_unit_test(test_wrong_settings_are_refused_with_what_is_allowed),
        cmocka_unit_test(test_files_are_refused_by_name),
        cmocka_unit_test(test_long_specifications_are_refused),
        cmocka_unit_test(test_settings_belong_to_the_agent_before_them),
        cmocka_unit_test(test_settings_that_cannot_be_are_refused),
        cmocka_unit_test(test_tables_are_made_once_for_each_ruleset_of_the_game),
        cmocka_unit_test(test_an_agent_has_no_tables_where_it_made_none),
    };
    if (ty_agent_add(&choosy).code != TY_OK || ty_agent_add(&easy).code != TY_OK ||
        ty_ruleset_open("express", NULL, &express).code != TY_OK) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ty_ruleset_close(express);
    return failed;
}
