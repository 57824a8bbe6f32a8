/* Clients whose daemon answers with replies of the right shape that lie in one place: a value of
 * another type anywhere, a list that is longer or shorter than it may be, a number out of range.
 * None is believed, and no memory is touched that is not the reply's. */
#define _GNU_SOURCE
#include "tests/proto/lying_daemon.h"
#include "tests/support/faults.h"

enum { WAIT_MS = 20000, PLACES_MAX = 100 };

static const TyClientPool pool = {.id = 1,
                                  .slots = 2,
                                  .groups = 1,
                                  .group = {{0, 2}},
                                  .players = 2,
                                  .row_size = 3,
                                  .action_count = 2,
                                  .width = {[TY_COLUMN_OBS] = 3}};

/* ---- Lying in one place ---- */

static uint32_t place;   /* of the value that comes next */
static uint32_t lies_at; /* UINT32_MAX: nowhere */
static uint32_t extra;   /* what is added to numbers of the kind that a test is about */

/* Writes something else in place of the next value, if that is where to lie. */
static bool lie(Writer *writer)
{
    if (place++ != lies_at) {
        return false;
    }
    assert_true(writer->size < writer->capacity);
    writer->data[writer->size++] = 0xc0; /* nil, which no reply has */
    return true;
}

static void value_uint(Writer *writer, uint64_t value)
{
    if (!lie(writer)) {
        put_uint(writer, value);
    }
}

static void value_text(Writer *writer, const char *text)
{
    if (!lie(writer)) {
        put_text(writer, text);
    }
}

static void say_uint(Writer *writer, const char *key, uint64_t value)
{
    message_key(writer, key);
    value_uint(writer, value);
}

static void say_text(Writer *writer, const char *key, const char *text)
{
    message_key(writer, key);
    value_text(writer, text);
}

static void say_bytes(Writer *writer, const char *key, uint32_t size)
{
    static const uint8_t zeros[64];
    message_key(writer, key);
    if (!lie(writer)) {
        put_bytes(writer, zeros, size);
    }
}

/* False if the list is a lie: then it has no entries. */
static bool say_list(Writer *writer, const char *key, uint32_t count)
{
    message_key(writer, key);
    if (lie(writer)) {
        return false;
    }
    put_list(writer, count);
    return true;
}

static bool inner_list(Writer *writer, const char *key, uint32_t count)
{
    put_text(writer, key);
    if (lie(writer)) {
        return false;
    }
    put_list(writer, count);
    return true;
}

/* The map of an entry of a list. */
static bool inner_map(Writer *writer, uint32_t count)
{
    if (lie(writer)) {
        return false;
    }
    put_map(writer, count);
    return true;
}

static void inner_uint(Writer *writer, const char *key, uint64_t value)
{
    put_text(writer, key);
    value_uint(writer, value);
}

static void inner_text(Writer *writer, const char *key, const char *text)
{
    put_text(writer, key);
    value_text(writer, text);
}

static void say_texts(Writer *writer, const char *key, uint32_t count)
{
    if (say_list(writer, key, count)) {
        for (uint32_t i = 0; i < count; i++) {
            value_text(writer, "x");
        }
    }
}

static void inner_texts(Writer *writer, const char *key, uint32_t count)
{
    if (inner_list(writer, key, count)) {
        for (uint32_t i = 0; i < count; i++) {
            value_text(writer, "x");
        }
    }
}

/* ---- Replies, and the requests that they answer ---- */

static void answer_begin(Writer *writer, uint64_t id)
{
    place = 0;
    say_begin(writer, id);
}

static bool say_stats(Writer *writer, uint64_t id)
{
    static const char *const numbers[] = {"slots",    "groups",  "members", "decisions",
                                          "episodes", "waiting", "jobs",    "bytes"};
    answer_begin(writer, id);
    say_uint(writer, "uptime_ms", 1);
    say_uint(writer, "decisions", 1);
    if (say_list(writer, "pools", 1) && inner_map(writer, 10)) {
        inner_uint(writer, "pool", 7);
        inner_text(writer, "ruleset", "convoi");
        for (uint32_t i = 0; i < 8; i++) {
            inner_uint(writer, numbers[i], i);
        }
    }
    return message_end(writer);
}

static TyStatus ask_stats(TyClient *client)
{
    TyClientStats stats;
    TyStatus status = ty_client_stats(client, &stats);
    assert_true(status.code != TY_OK || strcmp(stats.pools[0].ruleset, "convoi") == 0);
    return status;
}

static void say_labels(Writer *writer, uint32_t rows, uint32_t columns)
{
    if (inner_list(writer, "labels", rows)) {
        for (uint32_t i = 0; i < rows; i++) {
            if (!lie(writer)) {
                put_list(writer, columns);
                for (uint32_t k = 0; k < columns; k++) {
                    value_text(writer, "label");
                }
            }
        }
    }
}

/* What of a description is not as it should be. */
static enum { SOUND, OFFSET, WIDTH, LABEL_ROWS, LABEL_COLUMNS, VALUES, KIND, ACTIONS } flaw;

static void say_block(Writer *writer)
{
    inner_text(writer, "name", "block");
    inner_text(writer, "kind", flaw == KIND ? "strange" : "category");
    inner_uint(writer, "offset", flaw == OFFSET ? 2 : 0);
    inner_uint(writer, "rows", 2);
    inner_uint(writer, "columns", 2);
    inner_uint(writer, "maximum", 1);
    inner_uint(writer, "width", flaw == WIDTH ? 3 : 1);
    inner_text(writer, "help", "");
    say_labels(writer, flaw == LABEL_ROWS ? 3 : 2, flaw == LABEL_COLUMNS ? 1 : 2);
    inner_texts(writer, "values", flaw == VALUES ? 1 : 2);
}

static bool say_schema(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    say_text(writer, "ruleset", "convoi");
    say_text(writer, "game", "convoi");
    say_text(writer, "title", "Convoi");
    say_uint(writer, "schema_hash", 5);
    say_uint(writer, "row_size", 4);
    say_uint(writer, "action_count", flaw == ACTIONS ? 3 : 2);
    message_key(writer, "cooperative");
    if (!lie(writer)) {
        put_flag(writer, true);
    }
    say_texts(writer, "actions", 2);
    if (say_list(writer, "row", 1) && inner_map(writer, 10)) {
        say_block(writer);
    }
    say_texts(writer, "metrics", 2);
    if (say_list(writer, "streams", 1) && inner_map(writer, 2)) {
        inner_text(writer, "name", "dice");
        inner_texts(writer, "outcomes", 2);
    }
    return message_end(writer);
}

static TyStatus ask_schema(TyClient *client)
{
    TyClientSchema schema;
    TyStatus status = ty_client_describe(client, "convoi", NULL, 0, &schema);
    if (status.code == TY_OK) {
        assert_string_equal(schema.actions[1], "x");
        assert_int_equal(schema.metric_count, 2);
        assert_string_equal(schema.row_blocks[0].labels[3], "label");
        assert_string_equal(schema.row_blocks[0].values[1], "x");
        assert_string_equal(schema.streams[0].outcomes[1], "x");
    }
    return status;
}

/* Sizes of what is looked at, to which a test adds something. */
static bool say_view(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    say_uint(writer, "seat", 1);
    say_text(writer, "phase", "exit");
    say_bytes(writer, "obs", 3 + (extra & 1));
    say_bytes(writer, "mask", 2 + (extra >> 1 & 1));
    say_bytes(writer, "full", extra >> 2 & 1 ? 0 : 5);
    return message_end(writer);
}

static TyStatus ask_view(TyClient *client)
{
    TyClientView view;
    TyStatus status = ty_client_observe(client, &pool, 0, -1, true, &view);
    assert_true(status.code != TY_OK || (view.acting == 1 && view.full_size == 5));
    return status;
}

static bool say_legal(Writer *writer, uint64_t id)
{
    const int32_t numbers[2] = {1, (int32_t)(extra & 3)}; /* the actions are 0 and 1 */
    answer_begin(writer, id);
    say_uint(writer, "seat", 1);
    say_text(writer, "phase", "exit");
    message_key(writer, "numbers");
    if (!lie(writer)) {
        put_bytes(writer, numbers, sizeof numbers);
    }
    say_texts(writer, "names", 2 + (extra >> 2 & 1));
    say_texts(writer, "titles", 2 + (extra >> 3 & 1));
    return message_end(writer);
}

static TyStatus ask_legal(TyClient *client)
{
    TyClientLegal legal;
    TyStatus status = ty_client_legal(client, &pool, 0, -1, &legal);
    assert_true(status.code != TY_OK || (legal.count == 2 && legal.actions[0] == 1));
    return status;
}

static bool say_words(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    say_uint(writer, "seat", extra == 0 ? 1 : TY_SEATS_MAX);
    say_text(writer, "phase", "exit");
    say_text(writer, "text", "a text");
    say_text(writer, "state", "{}");
    return message_end(writer);
}

static TyStatus ask_words(TyClient *client)
{
    TyClientText text;
    TyClientText state;
    TyStatus status = ty_client_text(client, &pool, 0, 0, &text);
    assert_true(status.code != TY_OK || strcmp(text.text, "a text") == 0);
    TyStatus other = ty_client_state(client, &pool, 0, &state);
    assert_true(other.code != TY_OK || strcmp(state.text, "{}") == 0);
    return status.code != TY_OK ? status : other;
}

static bool say_saved(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    say_bytes(writer, "snapshots", 8 + extra);
    return message_end(writer);
}

static TyStatus ask_saved(TyClient *client)
{
    static const uint32_t slots[2] = {0, 1};
    uint32_t saved[3] = {9, 9, 9};
    TyStatus status = ty_client_snapshot(client, &pool, slots, 2, saved);
    assert_int_equal(saved[0], status.code == TY_OK ? 0 : 9);
    assert_int_equal(saved[2], 9);
    return status;
}

static bool say_outcomes(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    say_bytes(writer, "earned", 16 + (extra & 1));
    say_bytes(writer, "metrics", 24 + (extra >> 1 & 1));
    return message_end(writer);
}

static TyStatus ask_outcomes(TyClient *client)
{
    const TyClientRollout rollout = {.agent = "random", .count = 2, .seat = -1};
    TyClientOutcomes outcomes;
    TyStatus status = ty_client_rollout(client, &pool, &rollout, &outcomes);
    assert_true(status.code != TY_OK || (outcomes.metric_count == 3 && outcomes.earned[3] == 0.0F));
    return status;
}

/* What small replies say, all in one. */
static bool say_little(Writer *writer, uint64_t id)
{
    static char longer[400];
    memset(longer, 'x', sizeof longer - 1);
    answer_begin(writer, id);
    say_bytes(writer, "data", 8);
    say_uint(writer, "episode", 3);
    say_uint(writer, "snapshot", 4);
    say_uint(writer, "dropped", 5);
    say_uint(writer, "accepted", 2 + extra);
    say_uint(writer, "episodes", 6);
    say_text(writer, "why", extra == 0 ? "fine" : longer);
    say_uint(writer, "gaps", 2);
    say_uint(writer, "step", 9);
    message_key(writer, "agrees");
    put_flag(writer, false);
    return message_end(writer);
}

/* The status of the first that fails. */
static TyStatus ask_little(TyClient *client)
{
    static const uint32_t slots[2] = {0, 1};
    static const int32_t actions[2];
    TyClientBytes data;
    TyClientReplay replay;
    TyClientVerdict verdict;
    uint32_t number;
    const TyStatus said[] = {
        ty_client_export(client, &pool, 1, &data),
        ty_client_import(client, &pool, "x", 1, &number),
        ty_client_drop(client, &pool, NULL, 0, &number),
        ty_client_send(client, &pool, slots, actions, 2, &number),
        ty_client_replay_get(client, &pool, 0, -1, &replay),
        ty_client_replay_verify(client, "x", 1, &verdict),
    };
    for (uint32_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (said[i].code != TY_OK) {
            return said[i];
        }
    }
    assert_int_equal(verdict.episodes, 6);
    assert_true(!verdict.agrees && verdict.gaps == 2 && verdict.episode == 3 && verdict.step == 9);
    return said[0];
}

static bool say_notices(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    if (say_list(writer, "notices", 1) && inner_map(writer, 4)) {
        inner_uint(writer, "pool", 7);
        inner_uint(writer, "seat", extra == 0 ? 1 : TY_SEATS_MAX);
        inner_text(writer, "what", "left");
        inner_text(writer, "by", "expert");
    }
    return message_end(writer);
}

static TyStatus ask_ping(TyClient *client)
{
    return ty_client_ping(client);
}

/* ---- The tests ---- */

typedef struct Exchange {
    Answer answer;
    TyStatus (*ask)(TyClient *client);
    uint32_t extras; /* values of `extra` above 0 that are lies, a bit each */
} Exchange;

static const Exchange exchanges[] = {
    {say_stats, ask_stats, 0},
    {say_schema, ask_schema, 0},
    {say_view, ask_view, 1 << 1 | 1 << 2 | 1 << 4},
    {say_legal, ask_legal, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 8},
    {say_words, ask_words, 1 << 1},
    {say_saved, ask_saved, 1 << 1 | 1 << 4},
    {say_outcomes, ask_outcomes, 1 << 1 | 1 << 2},
    {say_little, ask_little, 1 << 1},
    {say_notices, ask_ping, 1 << 1},
};

enum { EXCHANGES = sizeof exchanges / sizeof exchanges[0] };

static TyClient *client_of(const Liar *liar)
{
    TyClient *client = NULL;
    const TyClientConfig config = {.endpoint = liar->endpoint, .timeout_ms = WAIT_MS};
    assert_int_equal(ty_client_connect(&config, &client).code, TY_OK);
    return client;
}

static void assert_not_believed(TyStatus status)
{
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, "the daemon's reply makes no sense"));
}

static void test_a_value_of_another_type_anywhere_is_not_believed(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < EXCHANGES; i++) {
        Liar liar = {.always = exchanges[i].answer};
        liar_start(&liar);
        TyClient *client = client_of(&liar);
        lies_at = UINT32_MAX;
        TyStatus status = exchanges[i].ask(client);
        assert_string_equal(status.message, "");
        uint32_t places = place;
        assert_in_range(places, 1, PLACES_MAX);
        for (lies_at = 0; lies_at < places; lies_at++) {
            assert_not_believed(exchanges[i].ask(client));
            assert_int_equal(ty_client_error(client), TY_ERROR_NONE);
        }
        lies_at = UINT32_MAX;
        assert_int_equal(exchanges[i].ask(client).code, TY_OK); /* it recovers */
        ty_client_close(client);
        liar_stop(&liar);
    }
}

static void test_sizes_and_numbers_out_of_range_are_not_believed(void **unused)
{
    (void)unused;
    lies_at = UINT32_MAX;
    for (uint32_t i = 0; i < EXCHANGES; i++) {
        Liar liar = {.always = exchanges[i].answer};
        liar_start(&liar);
        TyClient *client = client_of(&liar);
        for (extra = 1; extra < 32; extra++) {
            if ((exchanges[i].extras >> extra & 1) != 0) {
                assert_not_believed(exchanges[i].ask(client));
            }
        }
        extra = 0;
        ty_client_close(client);
        liar_stop(&liar);
    }
}

static void test_schemas_that_contradict_themselves_are_not_believed(void **unused)
{
    (void)unused;
    Liar liar = {.always = say_schema};
    lies_at = UINT32_MAX;
    liar_start(&liar);
    TyClient *client = client_of(&liar);
    for (uint32_t i = OFFSET; i <= ACTIONS; i++) {
        flaw = i;
        assert_not_believed(ask_schema(client));
    }
    flaw = SOUND;
    ty_client_close(client);
    liar_stop(&liar);
}

/* Each allocation for a reply fails in turn: an error, and the client goes on. */
static void test_no_memory_for_a_reply_is_an_error(void **unused)
{
    (void)unused;
    static const Exchange large[] = {{say_stats, ask_stats, 0}, {say_schema, ask_schema, 0}};
    lies_at = UINT32_MAX;
    for (uint32_t i = 0; i < 2; i++) {
        Liar liar = {.always = large[i].answer};
        liar_start(&liar);
        TyClient *client = client_of(&liar);
        fault_set(FAULT_calloc, 1, ENOMEM);
        TyStatus status = large[i].ask(client);
        fault_clear();
        assert_int_equal(status.code, TY_NO_MEMORY);
        assert_int_equal(large[i].ask(client).code, TY_OK);
        ty_client_close(client);
        liar_stop(&liar);
    }
}

/* The oldest notices give way. */
static void test_notices_are_kept_until_they_are_asked_for(void **unused)
{
    (void)unused;
    Liar liar = {.always = say_notices};
    TyClientNotice notice;
    lies_at = UINT32_MAX;
    liar_start(&liar);
    TyClient *client = client_of(&liar);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(ty_client_ping(client).code, TY_OK);
    }
    for (uint32_t i = 0; i < 32; i++) {
        assert_true(ty_client_notice(client, &notice));
        assert_int_equal(notice.pool, 7);
        assert_int_equal(notice.seat, 1);
        assert_int_equal(notice.news, TY_NEWS_LEFT);
        assert_string_equal(notice.by, "expert");
    }
    assert_false(ty_client_notice(client, &notice));
    ty_client_close(client);
    liar_stop(&liar);
}

/* ---- Hellos ---- */

static void say_game(Writer *writer)
{
    inner_text(writer, "game", "convoi");
    inner_text(writer, "title", "Convoi");
    inner_uint(writer, "rules_version", 2);
    inner_text(writer, "ruleset", "convoi");
    inner_uint(writer, "players", 2);
    inner_texts(writer, "agents", 2);
    if (inner_list(writer, "keys", 1) && inner_map(writer, 7)) {
        inner_text(writer, "key", "board");
        inner_text(writer, "kind", flaw == KIND ? "strange" : "file");
        inner_uint(writer, "standard", 0);
        inner_uint(writer, "minimum", 0);
        inner_uint(writer, "maximum", 1);
        inner_texts(writer, "choices", 2);
        inner_text(writer, "help", "");
    }
}

static bool say_whole_hello(Writer *writer, uint64_t id)
{
    answer_begin(writer, id);
    say_text(writer, "session", "a session");
    say_text(writer, "version", "1");
    say_text(writer, "shm", "");
    say_texts(writer, "capabilities", 2);
    if (say_list(writer, "games", 1) && inner_map(writer, 7)) {
        say_game(writer);
    }
    message_key(writer, "limits");
    if (!lie(writer)) {
        put_map(writer, 2);
        inner_uint(writer, "pools", 8);
        inner_uint(writer, "slots", 9);
    }
    return message_end(writer);
}

static TyStatus hello_with(uint32_t at, uint32_t *places)
{
    Liar liar = {.hellos = {say_whole_hello}};
    TyClient *client = NULL;
    lies_at = at;
    liar_start(&liar);
    const TyClientConfig config = {.endpoint = liar.endpoint, .timeout_ms = WAIT_MS};
    TyStatus status = ty_client_connect(&config, &client);
    if (status.code == TY_OK) {
        const TyClientDaemon *daemon = ty_client_daemon(client);
        assert_string_equal(daemon->games[0].fields[0].choices[1], "x");
        assert_null(daemon->games[0].fields[0].choices[2]);
        assert_int_equal(daemon->limits[1].value, 9);
        assert_string_equal(daemon->limits[1].name, "slots");
        assert_false(daemon->has_shm);
    }
    assert_int_equal(client == NULL, status.code != TY_OK);
    ty_client_close(client);
    liar_stop(&liar);
    *places = place;
    return status;
}

static void test_a_hello_that_lies_is_not_believed(void **unused)
{
    (void)unused;
    uint32_t places = 0;
    uint32_t ignored;
    TyStatus status = hello_with(UINT32_MAX, &places);
    assert_string_equal(status.message, "");
    for (uint32_t i = 0; i < places; i++) {
        assert_not_believed(hello_with(i, &ignored));
    }
    flaw = KIND;
    assert_not_believed(hello_with(UINT32_MAX, &ignored));
    flaw = SOUND;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_of_another_type_anywhere_is_not_believed),
        cmocka_unit_test(test_sizes_and_numbers_out_of_range_are_not_believed),
        cmocka_unit_test(test_schemas_that_contradict_themselves_are_not_believed),
        cmocka_unit_test(test_no_memory_for_a_reply_is_an_error),
        cmocka_unit_test(test_notices_are_kept_until_they_are_asked_for),
        cmocka_unit_test(test_a_hello_that_lies_is_not_believed),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
