/* What the daemon reads and makes in the file system: secrets, endpoints and boards. */
#define _GNU_SOURCE
#include "core/status.h"
#include "daemon/access.h"
#include "daemon/boards.h"
#include "daemon/endpoint.h"
#include "tests/daemon/daemon_files.h"

/* ---- Secrets ---- */

static void assert_token_refused(const char *path, const char *word)
{
    char token[ACCESS_TOKEN_MAX];
    TyStatus status = access_token_read(path, token);
    fault_clear();
    assert_int_not_equal(status.code, TY_OK);
    assert_non_null(strstr(status.message, word));
}

static void test_only_secret_files_hold_secrets(void **unused)
{
    (void)unused;
    char token[ACCESS_TOKEN_MAX];
    char key[KEY_TEXT_SIZE];
    const char *path = path_of("token");
    assert_int_equal(access_token_read(path, token).code, TY_OK);
    assert_string_equal(token, "a token of this test");
    assert_token_refused(directory, "is not a file");
    fault_set(FAULT_fstat, 1, EIO);
    assert_token_refused(path, "is not a file");
    fault_set(FAULT_getuid, 1, 0);
    assert_token_refused(path, "others can read it");
    assert_token_refused(file_make("open", 0644, "a token of this test\n"), "chmod 600");
    assert_token_refused(file_make("short", 0600, "short\n"), "at least 16");
    assert_token_refused(file_make("empty", 0600, ""), "at least 16");
    assert_int_equal(access_secret_read(path, key).code, TY_BAD_FILE);
    assert_int_equal(access_secret_read(path_of("server.key"), key).code, TY_OK);
    assert_string_equal(key, secret_key);
}

static void test_keys_of_a_directory_are_read(void **unused)
{
    (void)unused;
    static CurveKeys keys;
    assert_int_equal(access_keys_read(directory, false, &keys).code,
                     TY_OK); /* server.key, client.pub */
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.keys[1].key, public_key);
    assert_int_equal(access_keys_read(path_of("token"), false, &keys).code, TY_BAD_FILE);
    assert_int_equal(access_keys_read("/nonexistent", false, &keys).code, TY_IO);
    file_make("empty.pub", 0644, "nothing\n");
    assert_int_equal(access_keys_read(directory, false, &keys).code, TY_BAD_FILE);
}

static void test_the_number_of_keys_is_bounded(void **unused)
{
    (void)unused;
    static CurveKeys keys;
    static char text[(CURVE_KEYS_MAX + 1) * 64];
    size_t size = 0;
    for (uint32_t i = 0; i < CURVE_KEYS_MAX; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "public %s\n", public_key);
    }
    keys.count = 0;
    assert_int_equal(access_keys_read(file_make("all.pub", 0644, text), false, &keys).code, TY_OK);
    assert_int_equal(keys.count, CURVE_KEYS_MAX);
    snprintf(text + size, sizeof text - size, "public %s\n", public_key);
    keys.count = 0;
    assert_int_equal(access_keys_read(file_make("all.pub", 0644, text), false, &keys).code,
                     TY_LIMIT);
}

/* ---- Endpoints ---- */

static void test_addresses_are_checked(void **unused)
{
    (void)unused;
    static char longer[ENDPOINT_PATH_MAX + 10] = "ipc:///";
    static char long_path[160] = "ipc:///";
    static const struct {
        const char *address;
        TyCode code;
        EndpointKind kind;
    } cases[] = {
        {"ipc:///tmp/x/d", TY_OK, ENDPOINT_IPC},
        {"ipc://relative", TY_BAD_CONFIG, 0},
        {"ipc:///tmp/", TY_BAD_CONFIG, 0},
        {long_path, TY_BAD_CONFIG, 0},
        {longer, TY_BAD_CONFIG, 0},
        {"udp://x:1", TY_BAD_CONFIG, 0},
        {"tcp://host", TY_BAD_CONFIG, 0},
        {"tcp://:5", TY_BAD_CONFIG, 0},
        {"tcp://host:", TY_BAD_CONFIG, 0},
        {"tcp://localhost:5", TY_OK, ENDPOINT_LOOPBACK},
        {"tcp://127.0.0.1:5", TY_OK, ENDPOINT_LOOPBACK},
        {"tcp://[::1]:5", TY_OK, ENDPOINT_LOOPBACK},
        {"tcp://127.evil.example:5", TY_OK, ENDPOINT_REMOTE},
        {"tcp://1270:5", TY_OK, ENDPOINT_REMOTE},
        {"tcp://localhosT:5", TY_OK, ENDPOINT_REMOTE},
        {"tcp://*:5", TY_OK, ENDPOINT_REMOTE},
    };
    memset(longer + 7, 'x', sizeof longer - 8);
    memset(long_path + 7, 'x', sizeof long_path - 8);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Endpoint endpoint;
        TyStatus status = endpoint_parse(cases[i].address, &endpoint);
        assert_int_equal(status.code, cases[i].code);
        assert_true(status.code != TY_OK || endpoint.kind == cases[i].kind);
    }
}

static void test_the_runtime_directory_follows_the_environment(void **unused)
{
    (void)unused;
    char path[ENDPOINT_PATH_MAX];
    static char longer[400] = "/";
    memset(longer + 1, 'x', sizeof longer - 2);
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    assert_int_equal(endpoint_runtime_directory(path).code, TY_OK);
    assert_string_equal(path, "/run/user/7/trainyard");
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    assert_int_equal(endpoint_runtime_directory(path).code, TY_OK);
    assert_memory_equal(path, "/tmp/trainyard-", 15);
    setenv("XDG_RUNTIME_DIR", longer, 1);
    assert_int_equal(endpoint_runtime_directory(path).code, TY_BAD_CONFIG);
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(endpoint_runtime_directory(path).code, TY_OK);
}

static TyStatus claim(const char *place, Endpoint *endpoint)
{
    char address[160];
    snprintf(address, sizeof address, "ipc://%s", path_of(place));
    assert_int_equal(endpoint_parse(address, endpoint).code, TY_OK);
    TyStatus status = endpoint_claim(endpoint);
    fault_clear();
    return status;
}

static void assert_not_claimed(const char *place, const char *word)
{
    Endpoint endpoint;
    TyStatus status = claim(place, &endpoint);
    assert_int_equal(status.code, TY_IO);
    assert_non_null(strstr(status.message, word));
    endpoint_release(&endpoint);
}

static void test_only_a_directory_of_ones_own_is_served_in(void **unused)
{
    (void)unused;
    Endpoint endpoint;
    assert_int_equal(claim("new/d", &endpoint).code, TY_OK);
    endpoint_release(&endpoint);
    assert_int_not_equal(access(path_of("new"), F_OK), 0);
    assert_not_claimed("a/b/d", "No such file");
    assert_not_claimed("token/d", "0700");
    assert_int_equal(symlink(directory, path_of("link")), 0);
    assert_not_claimed("link/d", "0700");
    fault_set(FAULT_getuid, 1, 0);
    assert_not_claimed("d", "0700");
    fault_set(FAULT_open, 1, EACCES);
    assert_not_claimed("d", strerror(EACCES));
    fault_set(FAULT_flock, 1, ENOLCK);
    assert_not_claimed("d", strerror(ENOLCK));
    fault_set(FAULT_flock, 1, EWOULDBLOCK);
    assert_not_claimed("d", "another daemon");
}

static void lock_remove(void)
{
    unlink(path_of("d.lock"));
}

static void lock_replace(void)
{
    file_make("other", 0600, "");
    rename(path_of("other"), path_of("d.lock"));
}

/* A lock that its last owner removes while we take it is none. */
static void test_a_lock_that_vanishes_is_taken_again(void **unused)
{
    (void)unused;
    static void (*const meddle[])(void) = {lock_remove, lock_replace};
    for (uint32_t i = 0; i < 2; i++) {
        Endpoint endpoint;
        struct stat held;
        struct stat named;
        faults[FAULT_flock].before = meddle[i];
        assert_int_equal(claim("d", &endpoint).code, TY_OK);
        assert_int_equal(fstat(endpoint.lock_fd, &held), 0);
        assert_int_equal(stat(path_of("d.lock"), &named), 0);
        assert_true(held.st_ino == named.st_ino);
        endpoint_release(&endpoint);
    }
}

/* ---- Boards ---- */

static void assert_no_board(BoardSource *source, const char *name, TyCode code, const char *word)
{
    const TyFiles files = board_source_files(source);
    const char *bytes = NULL;
    size_t size = 0;
    char found[TY_NAME_MAX];
    TyStatus status = files.open(files.user, name, &bytes, &size, found);
    fault_clear();
    assert_int_equal(status.code, code);
    assert_non_null(strstr(status.message, word));
}

static void test_boards_come_from_the_request_or_the_directory(void **unused)
{
    (void)unused;
    static Request request;
    static const uint8_t sent[] = "\xa1m\xc4\x05"
                                  "12345";
    BoardSource source = {.request = &request, .bytes_max = 4};
    request.values[FIELD_OF_FILES] =
        (WireValue){.bytes = sent, .size = sizeof sent - 1, .count = 1};
    assert_no_board(&source, "", TY_BAD_FILE, "is not the name");
    assert_no_board(&source, "../up", TY_BAD_FILE, "is not the name");
    assert_no_board(&source, "a-name-of-more-than-sixty-characters-which-is-far-too-long-for-us",
                    TY_BAD_FILE, "is not the name");
    assert_no_board(&source, "m", TY_LIMIT, "5 bytes are above board_bytes=4");
    assert_no_board(&source, "other", TY_BAD_FILE, "not built in");
    source.directory = "/nonexistent";
    assert_no_board(&source, "other", TY_IO, "cannot be read");
    source.directory = directory;
    assert_no_board(&source, "other", TY_BAD_FILE, "has no file 'other.json'");
    file_make("other.json", 0600, "12345");
    assert_no_board(&source, "other", TY_LIMIT, "larger than board_bytes=4");
    source.bytes_max = 5;
    fault_set(FAULT_malloc, 1, ENOMEM);
    assert_no_board(&source, "other", TY_NO_MEMORY, "no memory");
    fault_set(FAULT_fstat, 1, EIO);
    assert_no_board(&source, "other", TY_BAD_FILE, "is not a file");
    assert_int_equal(mkdir(path_of("folder.json"), 0700), 0);
    assert_no_board(&source, "folder", TY_BAD_FILE, "is not a file");
    assert_no_board(&source, "m", TY_OK, "");
    for (uint32_t i = 0; i < TY_FILES_MAX; i++) {
        assert_no_board(&source, "other", TY_OK, "");
    }
    assert_no_board(&source, "other", TY_BAD_FILE, "not built in"); /* no game has so many */
    board_source_fini(&source);
}

static TyStatus weighed_open(const TyAgent *agent, const TyRuleset *ruleset,
                             const TyAgentFile *file, void **data)
{
    (void)agent, (void)ruleset, (void)data;
    assert_int_equal(file->size, 7);
    assert_memory_equal(file->bytes, "weights", 7);
    return ty_status_ok();
}

static void weighed_start(const TyAgent *agent, void *memory, const TyRuleset *ruleset,
                          uint32_t seat, uint64_t seed)
{
    (void)agent, (void)memory, (void)ruleset, (void)seat, (void)seed;
}

static uint32_t weighed_act(void *memory, const TyView *view)
{
    (void)memory, (void)view;
    return 0;
}

static const TyField weighed_fields[] = {
    {.key = "file", .kind = TY_FIELD_FILE, .standard = -1, .help = "weights"},
    {.key = NULL},
};
static const TyAgent weighed = {.name = "weighed",
                                .start = weighed_start,
                                .act = weighed_act,
                                .fields = weighed_fields,
                                .open = weighed_open};

static void assert_no_agent(const char *boards, const char *spec, const char *word)
{
    const WorkerShared shared = {.boards = boards};
    const TyAgent *agent = NULL;
    TyRuleset *ruleset = NULL;
    assert_int_equal(ty_ruleset_open("express", NULL, &ruleset).code, TY_OK);
    TyStatus status = boards_agent_open(&shared, ruleset, spec, &agent);
    assert_int_equal(agent == NULL, word[0] != '\0');
    assert_non_null(strstr(status.message, word));
    ty_agent_close(agent);
    ty_ruleset_close(ruleset);
}

/* A client names a file of the daemon's folder, and nothing else. */
static void test_agents_have_files_of_the_directory_only(void **unused)
{
    (void)unused;
    assert_int_equal(ty_agent_add(&weighed).code, TY_OK);
    file_make("trained.net", 0600, "weights");
    assert_no_agent(directory, "weighed:trained.net", "");
    assert_no_agent(directory, "weighed:other.net", "the daemon has no file 'other.net'");
    assert_no_agent(directory, path_of("trained.net"), "does not play");
    char spec[256];
    snprintf(spec, sizeof spec, "weighed:%s", path_of("trained.net"));
    assert_no_agent(directory, spec, "is not the name of a file here");
    assert_no_agent(directory, "weighed:../trained.net", "is not the name of a file here");
    assert_no_agent(directory, "weighed:.hidden", "is not the name of a file here");
    assert_no_agent(directory, "weighed", "needs a file, as in weighed:file=FILE");
    assert_no_agent(NULL, "weighed:trained.net", "no file of this name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_only_secret_files_hold_secrets),
        TEST(test_keys_of_a_directory_are_read),
        TEST(test_the_number_of_keys_is_bounded),
        TEST(test_addresses_are_checked),
        TEST(test_the_runtime_directory_follows_the_environment),
        TEST(test_only_a_directory_of_ones_own_is_served_in),
        TEST(test_a_lock_that_vanishes_is_taken_again),
        TEST(test_boards_come_from_the_request_or_the_directory),
        TEST(test_agents_have_files_of_the_directory_only),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
