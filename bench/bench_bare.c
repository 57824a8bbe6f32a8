/* What ZeroMQ alone can do. */
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

enum { WAIT_MS = 10000, ADDRESS_MAX = 128, HEAD_SIZE = 4 };

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

/* Answers one message: its head says how long the answer is to be. False at the end. */
static bool answer_one(void *socket)
{
    zmq_msg_t identity;
    zmq_msg_t message;
    zmq_msg_init(&identity);
    zmq_msg_init(&message);
    bool good = zmq_msg_recv(&identity, socket, 0) >= 0 && zmq_msg_recv(&message, socket, 0) >= 0;
    if (good && zmq_msg_size(&message) >= HEAD_SIZE) {
        uint32_t size = load_le32(zmq_msg_data(&message));
        zmq_msg_close(&message);
        good = zmq_msg_init_size(&message, size) == 0 &&
               zmq_msg_send(&identity, socket, ZMQ_SNDMORE) >= 0 &&
               zmq_msg_send(&message, socket, 0) >= 0;
    }
    zmq_msg_close(&message);
    zmq_msg_close(&identity);
    return good;
}

static void answer_all(const BenchBare *bare, int said)
{
    char tcp[ADDRESS_MAX] = "";
    size_t size = sizeof tcp;
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_ROUTER);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (zmq_bind(socket, bare->ipc) != 0 || zmq_bind(socket, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, tcp, &size) != 0 ||
        write(said, tcp, sizeof tcp) != sizeof tcp) {
        _exit(1);
    }
    while (answer_one(socket)) {
    }
    _exit(0);
}

TyStatus bench_bare_open(const char *directory, BenchBare **out)
{
    int said[2];
    *out = NULL;
    BenchBare *bare = calloc(1, sizeof *bare);
    if (bare == NULL || pipe2(said, O_CLOEXEC) != 0) {
        free(bare);
        return status_fail(TY_LIMIT, "bench: %s", strerror(errno));
    }
    snprintf(bare->ipc, sizeof bare->ipc, "ipc://%s/bare", directory);
    fflush(NULL);
    bare->process = fork();
    if (bare->process == 0) {
        answer_all(bare, said[1]);
    }
    close(said[1]);
    bool serves = read(said[0], bare->tcp, sizeof bare->tcp) == sizeof bare->tcp;
    close(said[0]);
    if (!serves) {
        bench_bare_close(bare);
        return status_fail(TY_IO, "bench: the answering process did not start");
    }
    *out = bare;
    return status_ok();
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
        return status_fail(TY_NO_MEMORY, "bench: no memory");
    }
    link->context = zmq_ctx_new();
    link->socket = link->context != NULL ? zmq_socket(link->context, ZMQ_DEALER) : NULL;
    if (link->socket == NULL || zmq_setsockopt(link->socket, ZMQ_LINGER, &zero, sizeof zero) != 0 ||
        zmq_setsockopt(link->socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms) != 0 ||
        zmq_connect(link->socket, tcp ? bare->tcp : bare->ipc) != 0) {
        bench_bare_disconnect(link);
        return status_fail(TY_IO, "bench: %s", zmq_strerror(errno));
    }
    *out = link;
    return status_ok();
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

bool bench_bare_send(BenchBareLink *link, BenchSizes sizes)
{
    zmq_msg_t message;
    uint32_t size = sizes.request > HEAD_SIZE ? sizes.request : HEAD_SIZE;
    if (zmq_msg_init_size(&message, size) != 0) {
        return false;
    }
    store_le32(zmq_msg_data(&message), sizes.reply);
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
