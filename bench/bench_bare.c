/* What ZeroMQ alone can do, in two processes. */
#define _GNU_SOURCE
#include "bench/bench_bare.h"

#include "core/bytes.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

enum { WAIT_MS = 10000, ADDRESS_MAX = 128, SEED = 1, HEAD_SIZE = 16 };

struct BenchBare {
    pid_t process;
    char ipc[ADDRESS_MAX];
    char tcp[ADDRESS_MAX];
};

struct BenchBareLink {
    void *context;
    void *socket;
};

/* ---- The other process ---- */

/* The pool of the process that answers. */
typedef struct Stepper {
    const TyRuleset *ruleset;
    TyPool *pool;
} Stepper;

/* Opens the pool that the request is for, if it is not there yet. */
static bool pool_prepare(Stepper *stepper, const BenchBareRequest *request)
{
    const TyPoolConfig config = {.slots = request->slots, .groups = request->groups, .threads = 1};
    const TyPoolConfig *old = stepper->pool != NULL ? ty_pool_config(stepper->pool) : &config;
    if (stepper->pool != NULL && (old->slots != config.slots || old->groups != config.groups)) {
        ty_pool_close(stepper->pool);
        stepper->pool = NULL;
    }
    return stepper->pool != NULL ||
           ty_pool_open(stepper->ruleset, &config, &stepper->pool).code == TY_OK;
}

/* Steps the group and copies as many bytes of its rows as the reply has. */
static bool reply_fill(Stepper *stepper, const BenchBareRequest *request, zmq_msg_t *reply)
{
    if (!pool_prepare(stepper, request)) {
        return false;
    }
    const TySlab *slab = ty_pool_slab(stepper->pool, 0);
    uint64_t offset = slab->group[request->group].columns[TY_COLUMN_OBS].offset;
    uint64_t there = slab->rows_size - offset;
    size_t size = zmq_msg_size(reply);
    ty_pool_step_random(stepper->pool, 0, request->group, SEED, 1);
    memcpy(zmq_msg_data(reply), slab->rows + offset, size < there ? size : there);
    return true;
}

/* The head of a message says what is wanted. */
static bool request_read(zmq_msg_t *message, BenchBareRequest *request)
{
    if (zmq_msg_size(message) < HEAD_SIZE) {
        return false;
    }
    const uint8_t *head = zmq_msg_data(message);
    request->sizes.reply = load_le32(head);
    request->slots = load_le32(head + 4);
    request->groups = load_le32(head + 8);
    request->group = load_le32(head + 12);
    return true;
}

static bool answer_one(Stepper *stepper, void *socket)
{
    BenchBareRequest request;
    zmq_msg_t identity;
    zmq_msg_t message;
    zmq_msg_init(&identity);
    zmq_msg_init(&message);
    if (zmq_msg_recv(&identity, socket, 0) < 0 || zmq_msg_recv(&message, socket, 0) < 0 ||
        !request_read(&message, &request)) {
        return false;
    }
    zmq_msg_close(&message);
    return zmq_msg_init_size(&message, request.sizes.reply) == 0 &&
           (request.slots == 0 || reply_fill(stepper, &request, &message)) &&
           zmq_msg_send(&identity, socket, ZMQ_SNDMORE) >= 0 &&
           zmq_msg_send(&message, socket, 0) >= 0;
}

static void answer_all(const BenchBare *bare, const TyRuleset *ruleset, int said)
{
    Stepper stepper = {.ruleset = ruleset};
    char tcp[ADDRESS_MAX] = "";
    size_t size = sizeof tcp;
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_ROUTER);
    signal(SIGINT, SIG_DFL); /* the parent cleans up */
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (zmq_bind(socket, bare->ipc) != 0 || zmq_bind(socket, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, tcp, &size) != 0 ||
        write(said, tcp, sizeof tcp) != sizeof tcp) {
        _exit(1);
    }
    while (answer_one(&stepper, socket)) {
    }
    _exit(0);
}

TyStatus bench_bare_open(const char *directory, const TyRuleset *ruleset, BenchBare **out)
{
    int said[2];
    *out = NULL;
    BenchBare *bare = calloc(1, sizeof *bare);
    if (bare == NULL || pipe2(said, O_CLOEXEC) != 0) {
        free(bare);
        return ty_status_fail(TY_LIMIT, "bench: %s", strerror(errno));
    }
    snprintf(bare->ipc, sizeof bare->ipc, "ipc://%s/bare", directory);
    fflush(NULL);
    bare->process = fork();
    if (bare->process == 0) {
        answer_all(bare, ruleset, said[1]);
    }
    close(said[1]);
    bool serves = read(said[0], bare->tcp, sizeof bare->tcp) == sizeof bare->tcp;
    close(said[0]);
    if (!serves) {
        bench_bare_close(bare);
        return ty_status_fail(TY_IO, "bench: the answering process did not start");
    }
    *out = bare;
    return ty_status_ok();
}

void bench_bare_close(BenchBare *bare)
{
    if (bare == NULL) {
        return;
    }
    if (bare->process > 0) {
        kill(bare->process, SIGKILL);
        waitpid(bare->process, NULL, 0);
    }
    unlink(bare->ipc + strlen("ipc://"));
    free(bare);
}

/* ---- This process ---- */

TyStatus bench_bare_connect(const BenchBare *bare, bool tcp, BenchBareLink **out)
{
    const int wait_ms = WAIT_MS;
    const int zero = 0;
    *out = NULL;
    BenchBareLink *link = calloc(1, sizeof *link);
    if (link == NULL) {
        return ty_status_fail(TY_NO_MEMORY, "bench: no memory");
    }
    link->context = zmq_ctx_new();
    link->socket = link->context != NULL ? zmq_socket(link->context, ZMQ_DEALER) : NULL;
    if (link->socket == NULL || zmq_setsockopt(link->socket, ZMQ_LINGER, &zero, sizeof zero) != 0 ||
        zmq_setsockopt(link->socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms) != 0 ||
        zmq_connect(link->socket, tcp ? bare->tcp : bare->ipc) != 0) {
        bench_bare_disconnect(link);
        return ty_status_fail(TY_IO, "bench: %s", zmq_strerror(errno));
    }
    *out = link;
    return ty_status_ok();
}

void bench_bare_disconnect(BenchBareLink *link)
{
    if (link == NULL) {
        return;
    }
    if (link->socket != NULL) {
        zmq_close(link->socket);
    }
    if (link->context != NULL) {
        zmq_ctx_term(link->context);
    }
    free(link);
}

bool bench_bare_send(BenchBareLink *link, const BenchBareRequest *request)
{
    zmq_msg_t message;
    uint32_t size = request->sizes.request;
    if (zmq_msg_init_size(&message, size > HEAD_SIZE ? size : HEAD_SIZE) != 0) {
        return false;
    }
    uint8_t *head = zmq_msg_data(&message);
    store_le32(head, request->sizes.reply);
    store_le32(head + 4, request->slots);
    store_le32(head + 8, request->groups);
    store_le32(head + 12, request->group);
    if (zmq_msg_send(&message, link->socket, 0) < 0) {
        zmq_msg_close(&message);
        return false;
    }
    return true;
}

bool bench_bare_receive(BenchBareLink *link)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    bool good = zmq_msg_recv(&message, link->socket, 0) >= 0;
    zmq_msg_close(&message);
    return good;
}
