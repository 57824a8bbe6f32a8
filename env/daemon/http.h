/* A page for GET requests on this machine, served without a thread of its own. */
#pragma once

#include "daemon/endpoint.h"

enum { HTTP_CONNECTIONS_MAX = 16, HTTP_IDLE_SECONDS = 10 };

typedef struct HttpServer HttpServer;

/* Writes the page into `text`, as far as it fits, and returns its length. */
typedef size_t HttpPage(void *user, char *text, size_t size);

typedef struct HttpConfig {
    const Endpoint *endpoint; /* claimed; not for other machines */
    const char *path;         /* of the page */
    size_t page_max;
    HttpPage *page;
    void *user;
} HttpConfig;

/* The caller closes the server. It fails if the daemon was built without libmicrohttpd. */
TyStatus http_open(const HttpConfig *config, HttpServer **server);
void http_close(HttpServer *server);
/* Readable when http_serve has something to do; call it from time to time besides. */
int http_fd(const HttpServer *server);
void http_serve(HttpServer *server);
/* Where it listens: a port that was left to the system is in it. */
const char *http_address(const HttpServer *server);
