/* Agents from outside: what they need to know before they play, how they stop, and the command line
 * of a program that is one. */
#define _GNU_SOURCE
#include "tests/proto/lying_daemon.h"
#include "tests/support/faults.h"

enum { WAIT_MS = 20000 };

static TyRuleset *ruleset;

static int suite_open(void **unused)
{
    (void)unused;
    return ty_ruleset_open("convoi:board=tiny", NULL, &ruleset).code == TY_OK ? 0 : -1;
}

static int suite_close(void **unused)
{
    (void)unused;
    ty_ruleset_close(ruleset);
    return 0;
}

/* ---- An agent, and rows for it ---- */

static uint32_t starts;

static void fake_start(const TyAgent *agent, void *memory, const TyRuleset *of, uint32_t seat,
                       uint64_t seed)
{
    (void)agent;
    (void)memory;
    (void)of;
    (void)seat;
    (void)seed;
    starts++;
}

static uint32_t fake_act(void *memory, const TyView *view)
{
    (void)memory;
    assert_int_equal(view->seat, 1);
    return 3;
}

static const TyAgent fake_agent = {.name = "fake", .start = fake_start, .act = fake_act};

/* One row of slot 0. */
static struct RowTruth {
    uint32_t count;
    bool truncated;
    uint8_t seat;
    const char *missing; /* a column that is not there */
} row_truth;

static void say_column(Writer *writer, const char *name, uint32_t width, uint8_t value)
{
    static uint8_t bytes[TY_ROW_MAX];
    if (row_truth.missing == NULL || strcmp(row_truth.missing, name) != 0) {
        memset(bytes, value, sizeof bytes);
        message_key(writer, name);
        put_bytes(writer, bytes, (size_t)width * row_truth.count);
    }
}

static bool say_row(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    message_key(writer, "count");
    put_uint(writer, row_truth.count);
    say_column(writer, "slots", 4, 0);
    say_column(writer, "obs", ty_shape(ruleset)->row_size, 0);
    say_column(writer, "mask", ty_shape(ruleset)->action_count, 1);
    say_column(writer, "seat", 1, row_truth.seat);
    say_column(writer, "terminated", 1, 0);
    say_column(writer, "truncated", 1, row_truth.truncated);
    say_column(writer, "episode", 4, 0);
    return message_end(writer);
}

static bool say_no_rows(Writer *writer, uint64_t id)
{
    say_begin(writer, id);
    message_key(writer, "count");
    put_uint(writer, 0);
    return message_end(writer);
}

/* The last row of an episode, nobody's turn. */
static bool say_end(Writer *writer, uint64_t id)
{
    row_truth.truncated = true;
    row_truth.seat = 255;
    return say_row(writer, id);
}

static bool say_closed(Writer *writer, uint64_t id)
{
    return say_error(writer, id, "closed", "the pool was closed");
}

static bool say_no_pool(Writer *writer, uint64_t id)
{
    return say_error(writer, id, "no_pool", "there is no such pool");
}

static bool say_busy(Writer *writer, uint64_t id)
{
    return say_error(writer, id, "busy", "not now");
}

static TyClientPool pool_of_ruleset(void)
{
    const TyShape *shape = ty_shape(ruleset);
    TyClientPool pool = {.id = 1,
                         .schema_hash = shape->schema_hash,
                         .row_size = shape->row_size,
                         .action_count = shape->action_count,
                         .seat_count = 1,
                         .seats = {1},
                         .width = {[TY_COLUMN_OBS] = shape->row_size,
                                   [TY_COLUMN_MASK] = shape->action_count,
                                   [TY_COLUMN_SEAT] = 1,
                                   [TY_COLUMN_TERMINATED] = 1,
                                   [TY_COLUMN_TRUNCATED] = 1,
                                   [TY_COLUMN_EPISODE] = 1},
                         .slots = 1,
                         .groups = 1,
                         .group = {{0, 1}}};
    snprintf(pool.ruleset, sizeof pool.ruleset, "%s", shape->spec);
    return pool;
}

/* Plays against a daemon that gives these answers. */
static TyStatus play_with(Liar liar, TyClientPlay *play)
{
    TyClient *client = NULL;
    TyClientPool pool = pool_of_ruleset();
    const char *missing = row_truth.missing;
    row_truth = (struct RowTruth){.count = 1, .seat = row_truth.seat, .missing = missing};
    row_truth.seat = row_truth.seat == 0 ? 1 : row_truth.seat;
    liar_start(&liar);
    const TyClientConfig config = {.endpoint = liar.endpoint, .timeout_ms = WAIT_MS};
    assert_int_equal(ty_client_connect(&config, &client).code, TY_OK);
    TyStatus status = ty_client_play(client, &pool, play);
    ty_client_close(client);
    liar_stop(&liar);
    row_truth = (struct RowTruth){.count = 0};
    return status;
}

/* ---- Playing ---- */

static void test_an_agent_stops_after_its_episodes(void **unused)
{
    (void)unused;
    TyClientPlay play = {.agent = &fake_agent, .ruleset = ruleset, .episodes = 1};
    Liar liar = {.answers = {say_no_rows, say_row, say_ok, say_row, say_ok, say_end, say_ok}};
    starts = 0;
    assert_int_equal(play_with(liar, &play).code, TY_OK);
    assert_int_equal(play.decisions, 2);
    assert_int_equal(play.ended, 1);
    assert_int_equal(starts, 1);
}

static void test_an_agent_stops_when_the_pool_is_closed(void **unused)
{
    (void)unused;
    TyClientPlay play = {.agent = &fake_agent}; /* it opens the ruleset itself */
    assert_int_equal(play_with((Liar){.answers = {say_closed}}, &play).code, TY_OK);
    assert_int_equal(play_with((Liar){.answers = {say_row, say_no_pool}}, &play).code, TY_OK);
    assert_int_equal(play.decisions, 1);
    assert_int_equal(play_with((Liar){.answers = {say_busy}}, &play).code, TY_LIMIT);
}

static void test_rows_without_what_an_agent_needs_are_not_answered(void **unused)
{
    (void)unused;
    static const char *const columns[] = {"slots",      "obs",       "mask",   "seat",
                                          "terminated", "truncated", "episode"};
    TyClientPlay play = {.agent = &fake_agent, .ruleset = ruleset};
    for (uint32_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        row_truth.missing = columns[i];
        TyStatus status = play_with((Liar){.answers = {say_row}}, &play);
        assert_int_equal(status.code, TY_IO);
        assert_int_equal(play.decisions, 0);
    }
    row_truth.seat = TY_SEATS_MAX;
    assert_int_equal(play_with((Liar){.answers = {say_row}}, &play).code, TY_IO);
}

/* ---- What an agent needs to know ---- */

static void assert_cannot_play(const TyClientPool *pool, TyClientPlay *play, TyCode code,
                               const char *word)
{
    TyStatus status = ty_client_play(NULL, pool, play);
    fault_clear();
    assert_int_equal(status.code, code);
    assert_non_null(strstr(status.message, word));
}

static void test_an_agent_plays_only_what_it_knows(void **unused)
{
    (void)unused;
    const TyAgent foreign = {.name = "foreign", .game = "chicago"};
    const TyAgent planner = {.name = "planner", .game = "convoi", .plans = true};
    TyClientPlay play = {.agent = &fake_agent, .ruleset = ruleset};
    TyClientPool pools[4];
    for (uint32_t i = 0; i < 4; i++) {
        pools[i] = pool_of_ruleset();
    }
    strcat(pools[0].ruleset, "x");
    pools[1].schema_hash++;
    pools[2].row_size++;
    pools[3].action_count--;
    for (uint32_t i = 0; i < 4; i++) {
        assert_cannot_play(&pools[i], &play, TY_BAD_CONFIG, "another version");
    }
    TyClientPool pool = pool_of_ruleset();
    play.agent = &foreign;
    assert_cannot_play(&pool, &play, TY_BAD_CONFIG, "does not play convoi");
    play.agent = &planner;
    assert_cannot_play(&pool, &play, TY_BAD_CONFIG, "plans");
    play = (TyClientPlay){.agent = &fake_agent};
    snprintf(pool.ruleset, sizeof pool.ruleset, "checkers");
    assert_cannot_play(&pool, &play, TY_BAD_CONFIG, "checkers");
}

static void test_an_agent_without_memory_does_not_begin(void **unused)
{
    (void)unused;
    TyClientPool pool = pool_of_ruleset();
    TyClientPlay play = {.agent = &fake_agent, .ruleset = ruleset};
    fault_set(FAULT_aligned_alloc, 1, ENOMEM);
    assert_cannot_play(&pool, &play, TY_NO_MEMORY, "no memory");
    for (uint32_t nth = 1; nth <= 2; nth++) {
        fault_set(FAULT_calloc, nth, ENOMEM);
        assert_cannot_play(&pool, &play, TY_NO_MEMORY, "no memory");
    }
}

/* ---- The command line ---- */

/* What a program prints that is called with these words, and how it ends. */
static int run(char *const *words, char said[512])
{
    int argc = 0;
    int kept = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    while (words[argc] != NULL) {
        argc++;
    }
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    int status = ty_client_main(argc, (char **)(uintptr_t)words, &fake_agent);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    said[fread(said, 1, 511, file)] = '\0';
    fclose(file);
    return status;
}

static void test_a_wrong_command_line_is_told(void **unused)
{
    (void)unused;
    static const struct {
        char *words[8];
        const char *word;
    } cases[] = {
        {{"fake", "--what", "1"}, "unknown argument '--what'"},
        {{"fake", "--pool"}, "--pool needs a value"},
        {{"fake", "--pool", "1"}, "--pool and --invite are needed"},
        {{"fake", "--invite", "x"}, "--pool and --invite are needed"},
        {{"fake", "--pool", "0", "--invite", "x"}, "'0' is not the number of a pool"},
        {{"fake", "--pool", "7x", "--invite", "x"}, "'7x' is not"},
        {{"fake", "--pool", "99999999999", "--invite", "x"}, "is not the number"},
        {{"fake", "--pool", "1", "--invite", "x", "--seats", "x"}, "is not a list of seats"},
        {{"fake", "--pool", "1", "--invite", "x", "--connect", "nonsense"}, "nonsense"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char said[512];
        char *words[9] = {NULL};
        memcpy(words, cases[i].words, sizeof cases[i].words);
        assert_int_equal(run(words, said), 1);
        assert_memory_equal(said, "fake: ", 6);
        if (strstr(said, cases[i].word) == NULL) {
            fail_msg("%s", said);
        }
    }
}

static void test_lists_of_seats_are_read(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"/", "5", "01", "0;1", "0,1,2,3,4,0", "a"};
    uint8_t seats[TY_SEATS_MAX];
    uint32_t count = 9;
    assert_int_equal(ty_client_seats(NULL, seats, &count).code, TY_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ty_client_seats("3,0", seats, &count).code, TY_OK);
    assert_int_equal(count, 2);
    assert_int_equal(seats[0], 3);
    assert_int_equal(seats[1], 0);
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(ty_client_seats(wrong[i], seats, &count).code, TY_BAD_ARGUMENT);
    }
}

/* The reply to `join`. */
static bool say_joined(Writer *writer, uint64_t id)
{
    const TyShape *shape = ty_shape(ruleset);
    say_begin(writer, id);
    message_key(writer, "pool");
    put_uint(writer, 1);
    message_key(writer, "ruleset");
    put_text(writer, shape->spec);
    message_key(writer, "schema_hash");
    put_uint(writer, shape->schema_hash);
    message_key(writer, "row_size");
    put_uint(writer, shape->row_size);
    message_key(writer, "action_count");
    put_uint(writer, shape->action_count);
    message_key(writer, "own_seats");
    put_bytes(writer, "\1", 1);
    message_key(writer, "groups");
    put_list(writer, 1);
    put_map(writer, 2);
    put_key_uint(writer, "first", 0);
    put_key_uint(writer, "rows", 1);
    return message_end(writer);
}

static void test_a_program_plays_until_the_pool_is_closed(void **unused)
{
    (void)unused;
    static const struct {
        Answer joined;
        int status;
    } cases[] = {{say_joined, 0}, {say_no_pool, 1}};
    for (uint32_t i = 0; i < 2; i++) {
        Liar liar = {.answers = {cases[i].joined, say_closed}};
        char said[512];
        liar_start(&liar);
        char *words[] = {"fake",     "--connect", liar.endpoint, "--pool", "1",
                         "--invite", "x",         "--seats",     "1",      NULL};
        assert_int_equal(run(words, said), cases[i].status);
        liar_stop(&liar);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_agent_stops_after_its_episodes),
        cmocka_unit_test(test_an_agent_stops_when_the_pool_is_closed),
        cmocka_unit_test(test_rows_without_what_an_agent_needs_are_not_answered),
        cmocka_unit_test(test_an_agent_plays_only_what_it_knows),
        cmocka_unit_test(test_an_agent_without_memory_does_not_begin),
        cmocka_unit_test(test_a_wrong_command_line_is_told),
        cmocka_unit_test(test_lists_of_seats_are_read),
        cmocka_unit_test(test_a_program_plays_until_the_pool_is_closed),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
