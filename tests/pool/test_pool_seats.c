/* Pools with several members: each sees its own rows, is waited for where it acts, and can be
 * replaced. */
#include "tests/pool/pool_table.h"

/* Lets both members answer what the one with all seats answers. */
static void actions_copy(const Table *from, const Table *to)
{
    for (uint32_t member = 0; member < 2; member++) {
        const TySlab *slab = ty_pool_slab(to->pool, member);
        memcpy(slab->commands, from->slab->commands, slab->commands_size);
    }
}

/* Two members who own a seat each see the rows that one member with both seats sees, but the second
 * counts its own decisions and hears of seeds at most when they are of no use any more. */
static void check_two_members_with(const char *name, bool reveal)
{
    TyRuleset *probe = reference_ruleset(name);
    uint32_t seats = ty_shape(probe)->players;
    ty_ruleset_close(probe);
    TyPoolConfig config = {.slots = 5, .seed = 60, .members = 2, .reveal_seeds = reveal};
    TyPoolConfig single = {.slots = 5, .seed = 60};
    for (uint32_t seat = 0; seat < seats; seat++) {
        config.owner[seat] = (uint8_t)(seat % 2);
    }
    Table table = table_open(name, &config);
    Table both = table_open(name, &single);
    const TyShape *shape = ty_shape(table.ruleset);
    uint32_t endings = 0;
    uint32_t own_steps[5] = {0};
    while (endings < 20) {
        table_sample(&both, 0);
        actions_copy(&both, &table);
        for (uint32_t slot = 0; slot < config.slots; slot++) {
            uint32_t seat = slab_u8(both.slab, slot, TY_COLUMN_SEAT);
            bool ended = row_ended(both.slab, slot);
            endings += ended;
            for (uint32_t member = 0; member < 2; member++) {
                const TySlab *slab = ty_pool_slab(table.pool, member);
                bool asked = ended || seat % 2 == member;
                assert_int_equal(slab_u8(slab, slot, TY_COLUMN_READY), asked);
                assert_int_equal(row_ended(slab, slot), ended);
                bool knows = member == 0 || (ended && reveal);
                assert_true(
                    !asked ||
                    *(uint64_t *)slab_cell(slab, slot, TY_COLUMN_SEED) ==
                        (knows ? *(uint64_t *)slab_cell(both.slab, slot, TY_COLUMN_SEED) : 0));
                assert_true(!asked || slab_u32(slab, slot, TY_COLUMN_STEP) ==
                                          (member == 0 ? slab_u32(both.slab, slot, TY_COLUMN_STEP)
                                                       : own_steps[slot]));
                if (asked && seat % 2 == member) {
                    assert_int_equal(slab_u8(slab, slot, TY_COLUMN_SEAT), seat);
                    assert_memory_equal(slab_cell(slab, slot, TY_COLUMN_OBS),
                                        slab_cell(both.slab, slot, TY_COLUMN_OBS), shape->row_size);
                    assert_memory_equal(slab_cell(slab, slot, TY_COLUMN_MASK),
                                        slab_cell(both.slab, slot, TY_COLUMN_MASK),
                                        shape->action_count);
                    assert_true(*(float *)slab_cell(slab, slot, TY_COLUMN_REWARD) ==
                                *(float *)slab_cell(both.slab, slot, TY_COLUMN_REWARD));
                }
                for (uint32_t k = 0; ended && k < slab->seat_count; k++) {
                    assert_true(((float *)slab_cell(slab, slot, TY_COLUMN_FINAL_REWARD))[k] ==
                                ((float *)slab_cell(both.slab, slot,
                                                    TY_COLUMN_FINAL_REWARD))[slab->seats[k]]);
                }
            }
        }
        for (uint32_t slot = 0; slot < config.slots; slot++) {
            bool decides = slab_u8(both.slab, slot, TY_COLUMN_SEAT) % 2 == 1;
            own_steps[slot] = row_ended(both.slab, slot) ? 0 : own_steps[slot] + decides;
        }
        ty_pool_step(both.pool, 0, 0, NULL);
        /* Each answers the rows that it had, not those that the other's answer brings. */
        uint8_t which[5];
        memcpy(which, slab_cell(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_READY), sizeof which);
        ty_pool_step(table.pool, 0, 0, NULL);
        ty_pool_step_some(table.pool, 1, 0, which, NULL);
    }
    table_close(&table);
    table_close(&both);
}

static void check_two_members(const char *name)
{
    check_two_members_with(name, false);
    check_two_members_with(name, true);
}

static void test_two_members_see_their_own_rows(void **unused)
{
    (void)unused;
    each_game(check_two_members);
}

/* A director without seats is told what came of each episode, and of nothing else. */
static void check_seatless_director(const char *spec)
{
    TyPoolConfig config = {.slots = 1,
                           .seed = 23,
                           .members = 2,
                           .owner = {1, 1, 1, 1},
                           .autoreset = TY_AUTORESET_DISABLED};
    Table table = table_open(spec, &config);
    const TySlab *director = ty_pool_slab(table.pool, 0);
    const TySlab *player = ty_pool_slab(table.pool, 1);
    uint32_t players = ty_shape(table.ruleset)->players;
    assert_int_equal(director->group[0].columns[TY_COLUMN_EARNED].width, players);
    for (uint64_t seed = 23; seed < 26; seed++) {
        float sums[TY_SEATS_MAX] = {0};
        ty_pool_reset(table.pool, NULL, &seed);
        assert_false(row_ended(director, 0));
        while (!row_ended(player, 0)) {
            assert_false(row_ended(director, 0));
            table_sample(&table, 1);
            ty_pool_step(table.pool, 1, 0, NULL);
            for (uint32_t k = 0; k < players; k++) {
                sums[k] += ((const float *)slab_cell(player, 0, TY_COLUMN_EARNED))[k];
            }
        }
        assert_true(row_ended(director, 0));
        assert_int_equal(slab_u8(director, 0, TY_COLUMN_READY), 0);
        assert_int_equal(*(const int8_t *)slab_cell(director, 0, TY_COLUMN_SEAT), -1);
        assert_int_equal(*(const uint64_t *)slab_cell(director, 0, TY_COLUMN_SEED), seed);
        assert_memory_equal(slab_cell(director, 0, TY_COLUMN_EARNED), sums,
                            players * sizeof(float));
        assert_memory_equal(slab_cell(director, 0, TY_COLUMN_STEP),
                            slab_cell(player, 0, TY_COLUMN_STEP), sizeof(uint32_t));
        assert_memory_equal(slab_cell(director, 0, TY_COLUMN_METRICS),
                            slab_cell(player, 0, TY_COLUMN_METRICS),
                            ty_shape(table.ruleset)->metric_count * sizeof(int32_t));
    }
    table_close(&table);
}

static void test_director_without_seats_hears_of_endings(void **unused)
{
    (void)unused;
    each_game(check_seatless_director);
}

static uint64_t slab_digest(const TySlab *slab)
{
    return hash_bytes(0, slab->rows, slab->rows_size);
}

/* Nothing in a player's slab changes when only what its seats cannot know differs. */
static void check_isolation(const char *spec)
{
    TyPoolConfig config = {.slots = 1, .seed = 17, .members = 2, .owner = {0, 1, 0, 0}};
    Table table = table_open(spec, &config);
    Table twin = table_open(spec, &config);
    uint8_t *snapshot = malloc(ty_pool_snapshot_size(table.pool));
    uint32_t compared = 0;
    for (uint32_t i = 0; compared < 200; i++) {
        const TySlab *own = ty_pool_slab(table.pool, 1);
        bool asked = slab_u8(own, 0, TY_COLUMN_READY) && !row_ended(own, 0);
        if (asked) {
            uint64_t key = hash_mix(i + 1);
            TyRestore same = {.seat = -1};
            TyRestore other = {.keys = &key, .seat = 1};
            ty_pool_save(table.pool, 0, snapshot);
            assert_int_equal(ty_pool_restore(table.pool, snapshot, (uint32_t[]){0}, 1, &same).code,
                             TY_OK);
            assert_int_equal(ty_pool_restore(twin.pool, snapshot, (uint32_t[]){0}, 1, &other).code,
                             TY_OK);
            /* The final columns are of past episodes, which the twin did not play. */
            const TySlab *theirs = ty_pool_slab(twin.pool, 1);
            static const TyColumn columns[] = {
                TY_COLUMN_OBS,  TY_COLUMN_MASK,       TY_COLUMN_REWARD,    TY_COLUMN_EARNED,
                TY_COLUMN_SEAT, TY_COLUMN_TERMINATED, TY_COLUMN_TRUNCATED, TY_COLUMN_EPISODE,
                TY_COLUMN_STEP, TY_COLUMN_SEED,       TY_COLUMN_READY,
            };
            for (uint32_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
                const TyColumnLayout *layout = &own->group[0].columns[columns[c]];
                assert_memory_equal(slab_cell(own, 0, columns[c]), slab_cell(theirs, 0, columns[c]),
                                    layout->width * ty_type_size(layout->type));
            }
            compared++;
        }
        uint32_t member = asked ? 1 : 0;
        /* While the other member acts, this one's slab stands still until it is asked. */
        uint64_t before = slab_digest(own);
        table_sample(&table, member);
        bool ended = row_ended(own, 0);
        ty_pool_step(table.pool, member, 0, NULL);
        if (!asked && !ended && !slab_u8(own, 0, TY_COLUMN_READY)) {
            assert_true(slab_digest(own) == before);
        }
        if (ended) {
            ty_pool_step(table.pool, 1, 0, NULL);
        }
    }
    free(snapshot);
    table_close(&table);
    table_close(&twin);
}

static void test_a_player_sees_nothing_of_what_is_hidden(void **unused)
{
    (void)unused;
    char spec[TY_SPEC_MAX];
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const char *name = ty_game_name(ty_game_at(i));
        check_isolation(name);
        if (strcmp(name, "convoi") == 0 && game_with(name, "hands", "hidden", spec)) {
            check_isolation(spec);
        }
    }
}

/* Steps the members that are ready until slot 0 asks a seat of `member`. */
static void play_until_asked(const Table *table, uint32_t member)
{
    const TySlab *slab = ty_pool_slab(table->pool, member);
    while (!slab_u8(slab, 0, TY_COLUMN_READY)) {
        table_sample(table, 1 - member);
        ty_pool_step(table->pool, 1 - member, 0, NULL);
    }
}

static void test_absent_member_is_waited_for_only_where_it_acts(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    Table table = table_open("convoi", &config);
    play_until_asked(&table, 1);
    ty_pool_set_present(table.pool, 1, false);
    uint64_t before = slot_hash(&table, 0);
    for (uint32_t i = 0; i < 300; i++) {
        table_sample(&table, 0);
        ty_pool_step(table.pool, 0, 0, NULL);
    }
    assert_true(slot_hash(&table, 0) == before);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    ty_pool_set_present(table.pool, 1, true);
    table_sample(&table, 1);
    ty_pool_step(table.pool, 1, 0, NULL);
    assert_true(slot_hash(&table, 0) != before);
    table_close(&table);
}

static void test_ending_does_not_wait_for_an_absent_member(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(1);
    Table table = table_open("convoi", &config);
    table_sample(&table, 0);
    ty_pool_step(table.pool, 0, 0, NULL);
    assert_true(row_ended(table.slab, 0));
    assert_true(row_ended(ty_pool_slab(table.pool, 1), 0));
    ty_pool_step(table.pool, 0, 0, NULL); /* member 0 has seen the ending */
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 0);
    ty_pool_set_present(table.pool, 1, false); /* and nobody waits for member 1 */
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 1);
    assert_int_equal(ty_head(ty_pool_state(table.pool, 0))->steps, 0);
    table_close(&table);
}

static void test_ending_that_nobody_saw_is_answered_later(void **unused)
{
    (void)unused;
    TyPoolConfig config = {.slots = 2, .seed = 1};
    Table table = table_open("convoi", &config);
    ty_pool_set_present(table.pool, 0, false);
    ty_pool_truncate(table.pool, 0);
    assert_true(slab_u8(table.slab, 1, TY_COLUMN_TRUNCATED));
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
    ty_pool_set_present(table.pool, 0, true);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 2);
    assert_int_equal(ty_pool_step(table.pool, 0, 0, NULL), 2);
    assert_false(row_ended(table.slab, 0));
    assert_int_equal(slab_u32(table.slab, 0, TY_COLUMN_EPISODE), 1);
    table_close(&table);
}

static void test_truncate_cuts_only_where_the_member_is_to_act(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    Table table = table_open("convoi", &config);
    play_until_asked(&table, 1);
    ty_pool_truncate(table.pool, 0); /* member 0 is not asked in slot 0 */
    assert_false(row_ended(table.slab, 0));
    ty_pool_truncate(table.pool, 1);
    for (uint32_t member = 0; member < 2; member++) {
        const TySlab *slab = ty_pool_slab(table.pool, member);
        assert_true(slab_u8(slab, 0, TY_COLUMN_TRUNCATED));
        assert_true(slab_u8(slab, 0, TY_COLUMN_READY));
        assert_null(
            memchr(slab_cell(slab, 0, TY_COLUMN_MASK), 1, ty_shape(table.ruleset)->action_count));
    }
    table_close(&table);
}

static void test_hand_over_lets_an_agent_play_on(void **unused)
{
    (void)unused;
    TyPoolConfig config = two_member_config(0);
    Table table = table_open("convoi", &config);
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(table.ruleset), "random");
    play_until_asked(&table, 1);
    assert_int_equal(ty_pool_hand_over(table.pool, 1, agent).code, TY_OK);
    assert_int_equal(ty_pool_ready(table.pool, 0, 0), 2);
    uint32_t endings = 0;
    for (uint32_t i = 0; i < 500; i++) {
        table_sample(&table, 0);
        assert_int_equal(ty_pool_step(table.pool, 0, 0, NULL), 2);
        endings += row_ended(table.slab, 0);
        assert_false(slab_u8(ty_pool_slab(table.pool, 1), 0, TY_COLUMN_READY));
    }
    assert_true(endings > 3);
    assert_int_equal(ty_pool_hand_over(table.pool, 1, agent).code, TY_OK);
    table_close(&table);
}

/* With nobody left who could be asked, a pool comes to rest in every mode. */
static void test_hand_over_of_every_seat_comes_to_rest(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 3; i++) {
        TyPoolConfig config = {.slots = 2, .autoreset = all_modes[i]};
        Table table = table_open("convoi", &config);
        const TyAgent *agent = ty_agent_find(ty_ruleset_game(table.ruleset), "random");
        assert_int_equal(ty_pool_hand_over(table.pool, 0, agent).code, TY_OK);
        assert_int_equal(ty_pool_ready(table.pool, 0, 0), 0);
        table_close(&table);
    }
}

/* Built-in agents use up max_steps before the member is ever asked. */
static void test_episodes_that_never_ask_do_not_hang(void **unused)
{
    (void)unused;
    TyRuleset *probe = reference_ruleset("convoi");
    const TyAgent *agent = ty_agent_find(ty_ruleset_game(probe), "random");
    ty_ruleset_close(probe);
    TyPoolConfig config = {
        .slots = 1, .max_steps = 1, .autoreset = TY_AUTORESET_SAME_STEP, .agent = {agent, NULL}};
    Table table = table_open("convoi", &config);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(slab_u8(table.slab, 0, TY_COLUMN_TRUNCATED));
        table_sample(&table, 0);
        assert_int_equal(ty_pool_step(table.pool, 0, 0, NULL), 1);
    }
    table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_members_see_their_own_rows),
        cmocka_unit_test(test_director_without_seats_hears_of_endings),
        cmocka_unit_test(test_a_player_sees_nothing_of_what_is_hidden),
        cmocka_unit_test(test_absent_member_is_waited_for_only_where_it_acts),
        cmocka_unit_test(test_ending_does_not_wait_for_an_absent_member),
        cmocka_unit_test(test_ending_that_nobody_saw_is_answered_later),
        cmocka_unit_test(test_truncate_cuts_only_where_the_member_is_to_act),
        cmocka_unit_test(test_hand_over_lets_an_agent_play_on),
        cmocka_unit_test(test_hand_over_of_every_seat_comes_to_rest),
        cmocka_unit_test(test_episodes_that_never_ask_do_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
