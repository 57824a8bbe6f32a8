/* HTTP for pages of this machine, by libmicrohttpd. A request does nothing unless it came from our
 * own page: host, origin and token are checked before anything else. */
#define _GNU_SOURCE
#include "core/status.h"
#include "serve/serve.h"

#ifdef TRAINYARD_HTTP

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

extern const char serve_page[], serve_script[], serve_style[], board_script[];

struct Web {
    Yard *yard;
    struct MHD_Daemon *daemon;
    char address[96]; /* http://HOST:PORT, */
    unsigned port;
    const char *origin; /* and how a reverse proxy is called outside; NULL: there is none */
};

/* A request whose body is on its way. */
typedef struct Request {
    size_t size;
    bool too_large;
    char body[SERVE_BODY_MAX + 1];
} Request;

/* ---- Answers -----------------------------------------------------------------------------------
 */

/* The page may load nothing but what comes from here, and nobody may put it into a frame. */
static void headers_add(struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src "
         "'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors "
         "'none'"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
        {"Cache-Control", "no-store"},
    };
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (uint32_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    }
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const char *type,
                              const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    headers_add(response, type);
    enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code,
                              const char *sentence)
{
    char text[TY_MESSAGE_MAX + 64];
    TyJson json = ty_json_init(text, sizeof text);
    ty_json_open(&json, NULL, '{');
    ty_json_put_string(&json, "error", sentence);
    ty_json_close(&json, '}');
    return answer(connection, code, "application/json", text);
}

/* ---- Where a request comes from ----------------------------------------------------------------
 */

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whether this is one of our names: of loopback with our port, or the proxy's. */
static bool host_is_ours(const Web *web, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char ours[64];
    bool found = web->origin != NULL && strcasecmp(strstr(web->origin, "//") + 2, host) == 0;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(ours, sizeof ours, "%s:%u", names[i], web->port);
        found = found || strcasecmp(ours, host) == 0 ||
                (web->port == 80 && strcasecmp(names[i], host) == 0);
    }
    return found;
}

static bool origin_is_ours(const Web *web, const char *origin)
{
    if (web->origin != NULL && strcasecmp(web->origin, origin) == 0) {
        return true;
    }
    return strncasecmp(origin, "http://", 7) == 0 && host_is_ours(web, origin + 7);
}

/* NULL, or why the request is not one of our page's. A name of our own in front of a stranger's
 * address, and a stranger's page in front of ours, are both found here. The page itself may be
 * reached by a link from anywhere. */
static const char *foreign(const Web *web, struct MHD_Connection *connection, bool api)
{
    const char *host = header(connection, "Host");
    const char *origin = header(connection, "Origin");
    const char *site = header(connection, "Sec-Fetch-Site");
    if (host == NULL || !host_is_ours(web, host)) {
        return "Host: this is not the name of this server";
    }
    if (origin != NULL && !origin_is_ours(web, origin)) {
        return "Origin: requests of other pages are not answered";
    }
    if (api && site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) {
        return "Sec-Fetch-Site: requests of other pages are not answered";
    }
    return NULL;
}

/* The token of the header; "" if there is none. */
static const char *token_read(struct MHD_Connection *connection)
{
    const char *text = header(connection, "Authorization");
    return text != NULL && strncmp(text, "Bearer ", 7) == 0 ? text + 7 : "";
}

/* ---- Streams -----------------------------------------------------------------------------------
 */

static ssize_t stream_more(void *user, uint64_t position, char *bytes, size_t size)
{
    (void)position;
    long count = stream_read(user, bytes, size);
    return count < 0 ? MHD_CONTENT_READER_END_OF_STREAM : count;
}

static void stream_end(void *user)
{
    stream_close(user);
}

static const char *argument(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static uint32_t argument_number(struct MHD_Connection *connection, const char *name)
{
    const char *text = argument(connection, name);
    unsigned long number = text != NULL ? strtoul(text, NULL, 10) : 0;
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static enum MHD_Result stream_begin(const Web *web, struct MHD_Connection *connection,
                                    const Role *role)
{
    Stream *stream;
    const StreamOrder order = {.table = argument_number(connection, "table"),
                               .eyes = argument(connection, "eyes"),
                               .pool = argument_number(connection, "pool"),
                               .slots = argument(connection, "slots"),
                               .shown = argument(connection, "shown") != NULL};
    TyStatus status = stream_open(web->yard, role, &order, &stream);
    if (status.code != TY_OK) {
        return refuse(connection, status.code == TY_LIMIT ? 503 : 400, status.message);
    }
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 32 << 10, stream_more, stream, stream_end);
    if (response == NULL) {
        stream_close(stream);
        return MHD_NO;
    }
    headers_add(response, "text/event-stream");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

/* What everybody may load: without a token it shows nothing. */
static enum MHD_Result serve_file(struct MHD_Connection *connection, const char *url)
{
    static const struct {
        const char *path;
        const char *type;
        const char *text;
    } files[] = {{"/", "text/html; charset=utf-8", serve_page},
                 {"/serve.js", "text/javascript; charset=utf-8", serve_script},
                 {"/board.js", "text/javascript; charset=utf-8", board_script},
                 {"/serve.css", "text/css; charset=utf-8", serve_style}};
    for (uint32_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].path, url) == 0) {
            return answer(connection, MHD_HTTP_OK, files[i].type, files[i].text);
        }
    }
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

static enum MHD_Result serve_call(const Web *web, struct MHD_Connection *connection,
                                  const char *url, const Role *role, const Request *request,
                                  bool get)
{
    unsigned code = MHD_HTTP_OK;
    char *text = malloc(SERVE_ANSWER_MAX);
    if (text == NULL) {
        return MHD_NO;
    }
    TyJson json = ty_json_init(text, SERVE_ANSWER_MAX);
    api_answer(web->yard, role, url, get ? NULL : request->body, get ? 0 : request->size, &json,
               &code);
    enum MHD_Result result =
        json.text.length < json.text.size
            ? answer(connection, code, "application/json", text)
            : refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "the answer is too long");
    free(text);
    return result;
}

/* Only POST does anything, and only with a type that another page's form cannot send. */
static const char *post_trouble(struct MHD_Connection *connection)
{
    const char *type = header(connection, "Content-Type");
    return type != NULL && strncmp(type, "application/json", 16) == 0
               ? NULL
               : "Content-Type: application/json is needed";
}

static enum MHD_Result serve(const Web *web, struct MHD_Connection *connection, const char *url,
                             const char *method, const Request *request)
{
    Role role;
    bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0;
    bool api = strncmp(url, "/api/", 5) == 0;
    const char *trouble = foreign(web, connection, api);
    if (trouble != NULL) {
        return refuse(connection, MHD_HTTP_FORBIDDEN, trouble);
    }
    if (request->too_large) {
        return refuse(connection, 413, "the request is too large");
    }
    if (!get && (strcmp(method, MHD_HTTP_METHOD_POST) != 0 || !api)) {
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, and POST to /api/");
    }
    if (!api) {
        return serve_file(connection, url);
    }
    if (!yard_role(web->yard, token_read(connection), &role)) {
        return refuse(connection, MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong");
    }
    if (get && strcmp(url, "/api/stream") == 0) {
        return stream_begin(web, connection, &role);
    }
    if (get && strcmp(url, "/api/yard") != 0) {
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "POST does this");
    }
    trouble = get ? NULL : post_trouble(connection);
    return trouble != NULL ? refuse(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, trouble)
                           : serve_call(web, connection, url, &role, request, get);
}

static enum MHD_Result request_take(void *user, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_size, void **state)
{
    Request *request = *state;
    (void)version;
    if (request == NULL) {
        request = malloc(sizeof *request);
        if (request != NULL) {
            request->size = 0;
            request->too_large = false;
        }
        *state = request;
        return request != NULL ? MHD_YES : MHD_NO;
    }
    if (*upload_size > 0) {
        size_t left = SERVE_BODY_MAX - request->size;
        request->too_large = request->too_large || *upload_size > left;
        size_t count = *upload_size < left ? *upload_size : left;
        memcpy(request->body + request->size, upload, count);
        request->size += count;
        *upload_size = 0;
        return MHD_YES;
    }
    request->body[request->size] = '\0';
    return serve(user, connection, url, method, request);
}

static void request_end(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code)
{
    (void)user;
    (void)connection;
    (void)code;
    free(*state);
    *state = NULL;
}

/* ---- The server --------------------------------------------------------------------------------
 */

static bool address_is_loopback(const struct addrinfo *found)
{
    if (found->ai_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)found->ai_addr;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const void *)found->ai_addr;
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Finds HOST:PORT, which must be of this machine only. The caller frees `*found`. */
static TyStatus address_find(const char *address, struct addrinfo **found)
{
    char host[64] = "";
    const char *colon = strrchr(address, ':');
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
    *found = NULL;
    size_t length = colon != NULL ? (size_t)(colon - address) : 0;
    bool six = length > 2 && address[0] == '[' && address[length - 1] == ']';
    if (length == 0 || length >= sizeof host) {
        return ty_status_fail(TY_BAD_ARGUMENT, "--http %s: HOST:PORT is needed", address);
    }
    memcpy(host, address + six, length - 2 * six);
    int error = getaddrinfo(host, colon + 1, &hints, found);
    if (error != 0) {
        return ty_status_fail(TY_BAD_ARGUMENT, "--http %s: %s", address, gai_strerror(error));
    }
    if (!address_is_loopback(*found)) {
        freeaddrinfo(*found);
        *found = NULL;
        return ty_status_fail(TY_BAD_ARGUMENT,
                              "--http %s: only addresses of this machine, such as 127.0.0.1:8080; "
                              "others reach them through a reverse proxy (--origin)",
                              address);
    }
    return ty_status_ok();
}

static TyStatus origin_check(const char *origin)
{
    bool good = origin == NULL ||
                ((strncmp(origin, "https://", 8) == 0 || strncmp(origin, "http://", 7) == 0) &&
                 strchr(strstr(origin, "//") + 2, '/') == NULL);
    return good ? ty_status_ok()
                : ty_status_fail(TY_BAD_ARGUMENT,
                                 "--origin %s: it looks like https://yard.example.org", origin);
}

/* Listens, and notes the port: before there are threads that look at it. */
static TyStatus socket_open(Web *web, const char *address, const struct addrinfo *found, int *fd)
{
    struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof name;
    char port[16] = "";
    const int one = 1;
    *fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (*fd < 0 || bind(*fd, found->ai_addr, found->ai_addrlen) != 0 ||
        listen(*fd, SERVE_CONNECTIONS_MAX) != 0) {
        return ty_status_fail(TY_IO, "--http %s: %s", address, strerror(errno));
    }
    getsockname(*fd, (struct sockaddr *)&name, &size);
    getnameinfo((struct sockaddr *)&name, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    web->port = (unsigned)strtoul(port, NULL, 10);
    snprintf(web->address, sizeof web->address, "http://%.*s:%u",
             (int)(strrchr(address, ':') - address), address, web->port);
    return ty_status_ok();
}

static TyStatus daemon_start(Web *web, const char *address, int fd)
{
    web->daemon = MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD,
                                   0, NULL, NULL, request_take, web, MHD_OPTION_LISTEN_SOCKET, fd,
                                   MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS_MAX,
                                   MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_IDLE_SECONDS,
                                   MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(64 << 10),
                                   MHD_OPTION_NOTIFY_COMPLETED, request_end, NULL, MHD_OPTION_END);
    return web->daemon != NULL
               ? ty_status_ok()
               : ty_status_fail(TY_IO, "--http %s: libmicrohttpd does not start", address);
}

TyStatus web_open(Yard *yard, const char *address, const char *origin, Web **out)
{
    struct addrinfo *found = NULL;
    int fd = -1;
    *out = NULL;
    TyStatus status = origin_check(origin);
    status = status.code == TY_OK ? address_find(address, &found) : status;
    if (status.code != TY_OK) {
        return status;
    }
    Web *web = cli_memory(calloc(1, sizeof *web));
    web->yard = yard;
    web->origin = origin;
    assert(found != NULL);
    status = socket_open(web, address, found, &fd);
    freeaddrinfo(found);
    status = status.code == TY_OK ? daemon_start(web, address, fd) : status;
    if (status.code != TY_OK) {
        close(fd);
        free(web);
        return status;
    }
    *out = web;
    return status;
}

void web_close(Web *web)
{
    atomic_store(&web->yard->stopping, true);
    MHD_stop_daemon(web->daemon);
    free(web);
}

const char *web_address(const Web *web)
{
    return web->origin != NULL ? web->origin : web->address;
}

#else

TyStatus web_open(Yard *yard, const char *address, const char *origin, Web **web)
{
    (void)yard;
    (void)origin;
    *web = NULL;
    return ty_status_fail(TY_BAD_CONFIG, "--http %s: this tool was built without libmicrohttpd",
                          address);
}

void web_close(Web *web)
{
    (void)web;
}

const char *web_address(const Web *web)
{
    (void)web;
    return "";
}

#endif
