/* Starting the daemon: what its options, secrets, endpoints and boards must be, and what is left
 * behind when the system refuses a call. */
#define _GNU_SOURCE
#include <sys/types.h>
#include <unistd.h>
#include <zmq.h>

#define FAULT_MORE_CALLS(X)                                                                        \
    X(uid_t, getuid, (uid_t) - 1, (void), ())                                                      \
    X(void *, zmq_ctx_new, NULL, (void), ())                                                       \
    X(void *, zmq_socket, NULL, (void *context, int type), (context, type))                        \
    X(int, zmq_connect, -1, (void *socket, const char *name), (socket, name))                      \
    X(int, zmq_bind, -1, (void *socket, const char *name), (socket, name))                         \
    X(int, zmq_socket_monitor, -1, (void *socket, const char *name, int events),                   \
      (socket, name, events))                                                                      \
    X(int, zmq_setsockopt, -1, (void *socket, int option, const void *value, size_t size),         \
      (socket, option, value, size))                                                               \
    X(int, zmq_poll, -1, (zmq_pollitem_t * items, int count, long timeout), (items, count, timeout))

#include "faults.h"

#include "daemon/access.h"
#include "daemon/boards.h"
#include "daemon/endpoint.h"
#include "proto/client.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "descriptors.h"

int daemon_main(int argc, char **argv); /* env/daemon/main.c */

enum { WORDS_MAX = 16, SAID_MAX = 8192, REACHED = 64 /* added to the status of a child */ };

static char directory[64];
static char said[SAID_MAX];
static struct rlimit descriptors; /* of the daemon; 0: as they are */
static char public_key[TY_CLIENT_KEY_SIZE];
static char secret_key[TY_CLIENT_KEY_SIZE];

/* ---- A directory with files ---- */

/* Valid until some others are asked for. */
static const char *path_of(const char *name)
{
    static char paths[8][128];
    static uint32_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static const char *file_make(const char *name, mode_t mode, const char *text)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static int setup(void **unused)
{
    (void)unused;
    char text[256];
    snprintf(directory, sizeof directory, "/tmp/trainyard-start-XXXXXX");
    if (mkdtemp(directory) == NULL || ty_client_keygen(public_key, secret_key).code != TY_OK) {
        return -1;
    }
    file_make("token", 0600, "a token of this test\n");
    snprintf(text, sizeof text, "public %s\nsecret %s\n", public_key, secret_key);
    file_make("server.key", 0600, text);
    snprintf(text, sizeof text, "public %s\n", public_key);
    file_make("client.pub", 0644, text);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

/* ---- Running it ---- */

/* In a child: runs the daemon while call number `nth` fails, and looks what it left open. */
static void child_run(char **words, uint32_t nth, int out)
{
    int argc = 0;
    while (words[argc] != NULL) {
        argc++;
    }
    alarm(60); /* it must not go on for ever */
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (descriptors.rlim_max > 0 && setrlimit(RLIMIT_NOFILE, &descriptors) != 0) {
        _exit(9);
    }
    uint32_t before = count_descriptors();
    fault_set(FAULT_ANY, nth, EMFILE);
    int status = daemon_main(argc, words);
    bool reached = fault_was(FAULT_ANY);
    fault_clear();
    fflush(NULL);
    _exit(count_descriptors() != before ? 9 : status + (reached ? REACHED : 0));
}

/* A daemon that stops as soon as it serves: its lease has ended. Returns its exit status, with
 * REACHED if a call failed; `said` is what it printed. */
static int daemon_run(const char *const *options, uint32_t nth)
{
    char *words[WORDS_MAX + 4] = {"trainyardd"};
    char fd[16];
    int lease[2];
    int status = 0;
    FILE *out = tmpfile();
    assert_int_equal(pipe(lease), 0);
    close(lease[1]);
    snprintf(fd, sizeof fd, "%d", lease[0]);
    words[1] = "--lease";
    words[2] = fd;
    for (uint32_t i = 0; options[i] != NULL; i++) {
        words[3 + i] = (char *)(uintptr_t)options[i];
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        child_run(words, nth, fileno(out));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    close(lease[0]);
    rewind(out);
    said[fread(said, 1, SAID_MAX - 1, out)] = '\0';
    fclose(out);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_says(const char *const *options, int status, const char *word)
{
    assert_int_equal(daemon_run(options, 0), status);
    if (strstr(said, word) == NULL) {
        fail_msg("'%s' is not in: %s", word, said);
    }
}

/* ---- Errors of the system ---- */

static void assert_clean_at_every_call(const char *const *options)
{
    int status = REACHED;
    uint32_t refused = 0;
    for (uint32_t nth = 1; status >= REACHED; nth++) {
        status = daemon_run(options, nth);
        bool good = status % REACHED == 0;
        assert_true(good || status % REACHED == 1 || status % REACHED == 2);
        assert_non_null(strstr(said, good ? "ready" : "trainyardd: "));
        assert_int_not_equal(access(path_of("d"), F_OK), 0);
        assert_int_not_equal(access(path_of("d.shm"), F_OK), 0);
        refused += !good;
    }
    if (status != 0) {
        fail_msg("%s", said);
    }
    assert_true(refused > 20);
}

static void test_an_error_at_any_call_of_starting_leaves_nothing(void **unused)
{
    (void)unused;
    char ipc[136];
    char token[128];
    char log[128];
    char secret[128];
    char clients[128];
    snprintf(ipc, sizeof ipc, "ipc://%s", path_of("d"));
    snprintf(token, sizeof token, "%s", path_of("token"));
    snprintf(log, sizeof log, "%s", path_of("log"));
    snprintf(secret, sizeof secret, "%s", path_of("server.key"));
    snprintf(clients, sizeof clients, "%s", path_of("client.pub"));
    const char *const with_token[] = {
        "--listen", ipc, "--listen", "tcp://127.0.0.1:*", "--token", token, "--log", log, NULL};
    assert_clean_at_every_call(with_token);
    const char *const with_keys[] = {
        "--listen", "tcp://127.0.0.1:*", "--listen", ipc, "--curve-secret",
        secret,     "--curve-clients",   clients,    NULL};
    assert_clean_at_every_call(with_keys);
}

/* ---- Options ---- */

static void test_help_and_version_are_told(void **unused)
{
    (void)unused;
    assert_says((const char *const[]){"--help", NULL}, 0, "usage: trainyardd");
    assert_says((const char *const[]){"-h", NULL}, 0, "board_bytes");
    assert_says((const char *const[]){"--version", NULL}, 0, "trainyardd " TY_VERSION);
}

static void test_wrong_options_are_told(void **unused)
{
    (void)unused;
    static char longer[400] = "/";
    static const struct {
        const char *options[WORDS_MAX];
        const char *word;
    } cases[] = {
        {{"help"}, "unknown option 'help'"},
        {{"--"}, "unknown option '--'"},
        {{"--what", "1"}, "unknown option '--what'"},
        {{"--shm"}, "--shm needs a value"},
        {{"--shm=relative"}, "absolute path"},
        {{"--shm", longer}, "absolute path"},
        {{"--boards", "/nonexistent"}, "no such directory"},
        {{"--boards", "/dev/null"}, "no such directory"},
        {{"--config", "/nonexistent"}, "No such file"},
        {{"--lease", ""}, "open pipe"},
        {{"--lease", "1x"}, "open pipe"},
        {{"--lease", "-1"}, "open pipe"},
        {{"--lease", "99999999999"}, "open pipe"},
        {{"--lease", "999"}, "open pipe"},
        {{"--lease", "0"}, "open pipe"},
        {{"--limit", "sessions"}, "give sessions=N"},
        {{"--limit", "sessions=x"}, "give sessions=N"},
        {{"--limit", "sessions=+1"}, "give sessions=N"},
        {{"--limit", "sessions=1x"}, "give sessions=N"},
        {{"--limit", "sessions=0"}, "give sessions=N"},
        {{"--limit", "sessions=99999999999"}, "give sessions=N"},
        {{"--limit", "sessions=99999999999999999999999"}, "give sessions=N"},
        {{"--limit", "nothing=1"}, "there is no 'nothing'"},
        {{"--limit", "a_name_that_is_longer_than_forty_characters=1"}, "there is no 'a_name"},
        {{"--listen", "a", "--listen", "a", "--listen", "a", "--listen", "a", "--listen", "a",
          "--listen", "a", "--listen", "a"},
         ""},
    };
    memset(longer + 1, 'x', sizeof longer - 2);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO); /* so that descriptor 0 is no pipe */
    close(null);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *options[WORDS_MAX + 1] = {NULL};
        memcpy(options, cases[i].options, sizeof cases[i].options);
        bool late = cases[i].word[0] == '\0';
        assert_says(options, late ? 1 : 2, late ? "begins with ipc://" : cases[i].word);
    }
}

static void test_endpoints_are_bounded(void **unused)
{
    (void)unused;
    char *text = malloc(1 << 14);
    text[0] = '\0';
    for (uint32_t i = 0; i < 100; i++) {
        strcat(text, "listen = ipc:///nonexistent/d  \t\n");
    }
    const char *const options[] = {"--config", file_make("config", 0600, text), NULL};
    assert_says(options, 2, "more than");
    text[0] = '\0';
    for (uint32_t i = 0; i < 300; i++) {
        strcat(text, "# a comment\n");
    }
    const char *const lines[] = {"--config", file_make("config", 0600, text), NULL};
    assert_says(lines, 2, "more than 256 lines");
    free(text);
    const char *const nested[] = {"--config", file_make("config", 0600, "config x\n"), NULL};
    assert_says(nested, 2, "config:1: give NAME VALUE");
}

static void test_a_daemon_that_anybody_could_use_does_not_start(void **unused)
{
    (void)unused;
    const char *secret = path_of("server.key");
    const char *clients = path_of("client.pub");
    char ipc[136];
    snprintf(ipc, sizeof ipc, "ipc://%s", path_of("d"));
    const struct {
        const char *options[WORDS_MAX];
        const char *word;
    } cases[] = {
        {{"--listen", "tcp://127.0.0.1:*"}, "every user of this machine"},
        {{"--listen", "tcp://0.0.0.0:*", "--token", path_of("token")}, "other machines"},
        {{"--curve-secret", secret}, "belong together"},
        {{"--curve-clients", clients}, "belong together"},
        {{"--token", path_of("nothing")}, "No such file"},
        {{"--curve-secret", path_of("nothing"), "--curve-clients", clients}, "No such file"},
        {{"--curve-secret", secret, "--curve-clients", path_of("nothing")}, "No such file"},
        {{"--curve-secret", secret, "--curve-clients",
          file_make("bad.pub", 0644, "public ########################################\n"),
          "--listen", ipc},
         "is not a CURVE key"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *options[WORDS_MAX + 1] = {NULL};
        memcpy(options, cases[i].options, sizeof cases[i].options);
        assert_says(options, 1, cases[i].word);
    }
}

static void test_a_port_that_is_taken_is_told(void **unused)
{
    (void)unused;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof name;
    char address[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    snprintf(address, sizeof address, "tcp://127.0.0.1:%u", ntohs(name.sin_port));
    const char *const options[] = {"--listen", address, "--token", path_of("token"), NULL};
    assert_says(options, 1, "another program serves this endpoint");
    close(fd);
}

static void test_a_daemon_serves_with_the_descriptors_that_it_gets(void **unused)
{
    (void)unused;
    static const struct rlimit limits[] = {{100, 100}, {100, 600}, {600, 600}};
    char ipc[136];
    snprintf(ipc, sizeof ipc, "ipc://%s", path_of("d"));
    const char *const options[] = {"--listen", ipc, NULL};
    for (uint32_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        descriptors = limits[i];
        int status = daemon_run(options, 0);
        descriptors = (struct rlimit){0};
        if (status != 0) {
            fail_msg("%s", said);
        }
        assert_non_null(strstr(said, "ready"));
    }
}

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
    static AccessKeys keys;
    assert_int_equal(access_keys_read(directory, &keys).code, TY_OK); /* server.key, client.pub */
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.keys[1], public_key);
    assert_int_equal(access_keys_read(path_of("token"), &keys).code, TY_BAD_FILE);
    assert_int_equal(access_keys_read("/nonexistent", &keys).code, TY_IO);
    file_make("empty.pub", 0644, "nothing\n");
    assert_int_equal(access_keys_read(directory, &keys).code, TY_BAD_FILE);
}

static void test_the_number_of_keys_is_bounded(void **unused)
{
    (void)unused;
    static AccessKeys keys;
    static char text[(ACCESS_KEYS_MAX + 1) * 64];
    size_t size = 0;
    for (uint32_t i = 0; i < ACCESS_KEYS_MAX; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "public %s\n", public_key);
    }
    keys.count = 0;
    assert_int_equal(access_keys_read(file_make("all.pub", 0644, text), &keys).code, TY_OK);
    assert_int_equal(keys.count, ACCESS_KEYS_MAX);
    snprintf(text + size, sizeof text - size, "public %s\n", public_key);
    keys.count = 0;
    assert_int_equal(access_keys_read(file_make("all.pub", 0644, text), &keys).code, TY_LIMIT);
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
    assert_no_board(&source, "other", TY_BAD_FILE, "has no board 'other'");
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

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_error_at_any_call_of_starting_leaves_nothing),
        TEST(test_help_and_version_are_told),
        TEST(test_wrong_options_are_told),
        TEST(test_endpoints_are_bounded),
        TEST(test_a_daemon_that_anybody_could_use_does_not_start),
        TEST(test_a_port_that_is_taken_is_told),
        TEST(test_a_daemon_serves_with_the_descriptors_that_it_gets),
        TEST(test_only_secret_files_hold_secrets),
        TEST(test_keys_of_a_directory_are_read),
        TEST(test_the_number_of_keys_is_bounded),
        TEST(test_addresses_are_checked),
        TEST(test_the_runtime_directory_follows_the_environment),
        TEST(test_only_a_directory_of_ones_own_is_served_in),
        TEST(test_a_lock_that_vanishes_is_taken_again),
        TEST(test_boards_come_from_the_request_or_the_directory),
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
