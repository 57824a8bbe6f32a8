/* Starting the daemon: its options, and what is left behind when the system refuses a call. */
#define _GNU_SOURCE
#include "tests/daemon/daemon_files.h"
#include "tests/support/descriptors.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>

int daemon_main(int argc, char **argv); /* env/daemon/main.c */

enum { WORDS_MAX = 16, SAID_MAX = 8192, REACHED = 64 /* added to the status of a child */ };

static char said[SAID_MAX];
static struct rlimit descriptors; /* of the daemon; 0: as they are */

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
        const char *complaint =
            status % REACHED == 1 ? "level=error event=failed why=" : "trainyardd: ";
        assert_non_null(strstr(said, good ? "ready" : complaint));
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
    char *text = malloc(1 << 15);
    text[0] = '\0';
    for (uint32_t i = 0; i < 100; i++) {
        strcat(text, "listen = ipc:///nonexistent/d  \t\n");
    }
    const char *const options[] = {"--config", file_make("config", 0600, text), NULL};
    assert_says(options, 2, "more than");
    text[0] = '\0';
    for (uint32_t i = 0; i < 300; i++) {
        strcat(text, "# a comment\nlimit pools=3 # another\n\n");
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
    };
    alarm(300); /* nothing here may hang */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
