/* The page of metrics over HTTP, by libmicrohttpd: the only file that knows it. */
#define _GNU_SOURCE
#include "daemon/http.h"
#include "core/status.h"

#ifdef TRAINYARD_METRICS

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct HttpServer {
    HttpConfig config;
    int listen_fd;
    struct MHD_Daemon *daemon;
    char *text;
    char address[ENDPOINT_ADDRESS_MAX];
};

/* ---- The socket ---- */

static TyStatus listen_failed(const HttpConfig *config)
{
    return ty_status_fail(TY_IO, "--metrics %s: %s", config->endpoint->address, strerror(errno));
}

/* The path is locked: a socket there is one of an earlier daemon that was killed. */
static TyStatus listen_unix(HttpServer *server)
{
    const char *path = server->config.endpoint->path;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISSOCK(info.st_mode)) {
        unlink(path);
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    server->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listen_fd < 0 ||
        bind(server->listen_fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->listen_fd, HTTP_CONNECTIONS_MAX) != 0) {
        return listen_failed(&server->config);
    }
    return ty_status_ok();
}

/* Host and port of "tcp://HOST:PORT", without the brackets of IPv6; "*" is any port. */
static void address_split(const char *address, char host[ENDPOINT_PATH_MAX], char port[16])
{
    const char *begin = address + strlen("tcp://");
    const char *colon = strrchr(begin, ':');
    size_t length = (size_t)(colon - begin);
    if (begin[0] == '[' && length > 2) {
        begin++;
        length -= 2;
    }
    snprintf(host, ENDPOINT_PATH_MAX, "%.*s", (int)length, begin);
    snprintf(port, 16, "%.15s", strcmp(colon + 1, "*") == 0 ? "0" : colon + 1);
}

/* Writes the address with the port that the socket has. */
static void address_note(HttpServer *server)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    char port[16] = "";
    const char *address = server->config.endpoint->address;
    getsockname(server->listen_fd, (struct sockaddr *)&name, &size);
    getnameinfo((struct sockaddr *)&name, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    snprintf(server->address, sizeof server->address, "%.*s:%s",
             (int)(strrchr(address, ':') - address), address, port);
}

static TyStatus listen_tcp(HttpServer *server)
{
    char host[ENDPOINT_PATH_MAX];
    char port[16];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const int one = 1;
    address_split(server->config.endpoint->address, host, port);
    int error = getaddrinfo(host, port, &hints, &found);
    if (error != 0) {
        return ty_status_fail(TY_BAD_CONFIG, "--metrics %s: %s", server->config.endpoint->address,
                              gai_strerror(error));
    }
    server->listen_fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(server->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool good = server->listen_fd >= 0 &&
                bind(server->listen_fd, found->ai_addr, found->ai_addrlen) == 0 &&
                listen(server->listen_fd, HTTP_CONNECTIONS_MAX) == 0;
    freeaddrinfo(found);
    if (!good) {
        return listen_failed(&server->config);
    }
    address_note(server);
    return ty_status_ok();
}

/* ---- The page ---- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              size_t size, const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)text, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_sentence(struct MHD_Connection *connection, unsigned status,
                                       const char *sentence)
{
    return answer(connection, status, "text/plain", strlen(sentence), sentence);
}

static enum MHD_Result serve_request(void *user, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *upload,
                                     size_t *upload_size, void **state)
{
    HttpServer *server = user;
    (void)version;
    (void)upload;
    if (*upload_size > 0) {
        *upload_size = 0; /* what is sent with a request is not read */
        return MHD_YES;
    }
    if (*state == NULL) {
        *state = server; /* the head has come; the answer follows when all has */
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return answer_sentence(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    }
    if (strcmp(url, server->config.path) != 0) {
        return answer_sentence(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
    }
    size_t size = server->config.page(server->config.user, server->text, server->config.page_max);
    size = size < server->config.page_max ? size : server->config.page_max - 1;
    return answer(connection, MHD_HTTP_OK, "text/plain; version=0.0.4", size, server->text);
}

/* ---- The server ---- */

TyStatus http_open(const HttpConfig *config, HttpServer **out)
{
    *out = NULL;
    HttpServer *server = calloc(1, sizeof *server);
    char *text = malloc(config->page_max);
    if (server == NULL || text == NULL) {
        free(server);
        free(text);
        return ty_status_fail(TY_NO_MEMORY, "no memory for the metrics");
    }
    server->config = *config;
    server->text = text;
    server->listen_fd = -1;
    snprintf(server->address, sizeof server->address, "%s", config->endpoint->address);
    TyStatus status =
        config->endpoint->kind == ENDPOINT_IPC ? listen_unix(server) : listen_tcp(server);
    if (status.code == TY_OK) {
        server->daemon = MHD_start_daemon(
            MHD_USE_EPOLL, 0, NULL, NULL, serve_request, server, MHD_OPTION_LISTEN_SOCKET,
            server->listen_fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS, MHD_OPTION_END);
        if (server->daemon == NULL) {
            status = ty_status_fail(TY_IO, "--metrics %s: libmicrohttpd does not start",
                                    config->endpoint->address);
        }
    }
    if (status.code != TY_OK) {
        http_close(server);
        return status;
    }
    *out = server;
    return status;
}

void http_close(HttpServer *server)
{
    if (server->daemon != NULL) {
        MHD_stop_daemon(server->daemon); /* which closes the socket, too */
    } else if (server->listen_fd >= 0) {
        close(server->listen_fd);
    }
    free(server->text);
    free(server);
}

int http_fd(const HttpServer *server)
{
    return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void http_serve(HttpServer *server)
{
    MHD_UNSIGNED_LONG_LONG left = 1;
    for (uint32_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        MHD_run(server->daemon);
        if (MHD_get_timeout(server->daemon, &left) != MHD_YES || left > 0) {
            return; /* nothing is left that no descriptor tells of */
        }
    }
}

const char *http_address(const HttpServer *server)
{
    return server->address;
}

#else

TyStatus http_open(const HttpConfig *config, HttpServer **server)
{
    *server = NULL;
    return ty_status_fail(TY_BAD_CONFIG,
                          "--metrics %s: this daemon was built without libmicrohttpd",
                          config->endpoint->address);
}

void http_close(HttpServer *server)
{
    (void)server;
}

int http_fd(const HttpServer *server)
{
    (void)server;
    return -1;
}

void http_serve(HttpServer *server)
{
    (void)server;
}

const char *http_address(const HttpServer *server)
{
    (void)server;
    return "";
}

#endif
