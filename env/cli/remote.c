/* Reaching a daemon from the command line, and making keys for it. */
#define _POSIX_C_SOURCE 200809L
#include "cli/remote.h"
#include "core/status.h"
#include "proto/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static TyStatus key_read(const char *path, const char *word, char key[KEY_TEXT_SIZE])
{
    char *text = NULL;
    size_t size = 0;
    TyStatus status = file_read(path, &text, &size);
    if (status.code == TY_OK && key_find(text, word, key) == NULL) {
        status = status_fail(
            TY_BAD_FILE, "%s: has no line '%s KEY'; 'trainyard keygen' writes them", path, word);
    }
    free(text);
    return status;
}

/* The three keys of a connection. */
static TyStatus keys_read(const Settings *settings, char server[KEY_TEXT_SIZE],
                          char public[KEY_TEXT_SIZE], char secret[KEY_TEXT_SIZE])
{
    TyStatus status = key_read(settings->server_key, "public", server);
    if (status.code == TY_OK) {
        status = key_read(settings->keys, "public", public);
    }
    return status.code == TY_OK ? key_read(settings->keys, "secret", secret) : status;
}

TyStatus remote_client(const Settings *settings, TyClient **client)
{
    char server[TY_CLIENT_KEY_SIZE];
    char public[TY_CLIENT_KEY_SIZE];
    char secret[TY_CLIENT_KEY_SIZE];
    char *token = NULL;
    size_t size = 0;
    TyClientConfig config = {.endpoint = settings->connect, .name = "trainyard"};
    if ((settings->keys == NULL) != (settings->server_key == NULL)) {
        return status_fail(TY_BAD_ARGUMENT, "--keys and --server-key belong together");
    }
    if (settings->keys != NULL) {
        TyStatus read = keys_read(settings, server, public, secret);
        if (read.code != TY_OK) {
            return read;
        }
        config.server_key = server;
        config.public_key = public;
        config.secret_key = secret;
    }
    if (settings->token != NULL) {
        TyStatus status = file_read(settings->token, &token, &size);
        if (status.code != TY_OK) {
            return status;
        }
        token[strcspn(token, "\r\n")] = '\0';
        config.access_token = token;
    }
    config.timeout_ms = 5000;
    TyStatus status = ty_client_connect(&config, client);
    free(token);
    return status;
}

int remote_connect(const Settings *settings, TyClient **client)
{
    TyStatus status = remote_client(settings, client);
    if (status.code == TY_BAD_ARGUMENT) {
        return cli_usage_error(settings, "%s", status.message);
    }
    return status.code == TY_OK ? CLI_OK : cli_failure(settings, "%s", status.message);
}

/* ---- keygen ---- */

static int write_file(const Settings *settings, const char *path, mode_t mode, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        return cli_failure(settings, "%s: %s", path, strerror(errno));
    }
    size_t length = strlen(text);
    bool whole = write(fd, text, length) == (ssize_t)length;
    if (close(fd) != 0 || !whole) {
        return cli_failure(settings, "%s: could not be written", path);
    }
    return CLI_OK;
}

static int keygen_run(const Settings *settings)
{
    char public[TY_CLIENT_KEY_SIZE];
    char secret[TY_CLIENT_KEY_SIZE];
    char path[1024];
    char text[256];
    const char *name = settings->arguments[0];
    TyStatus status = ty_client_keygen(public, secret);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    if (snprintf(path, sizeof path, "%s.secret", name) >= (int)sizeof path) {
        return cli_usage_error(settings, "the name is too long");
    }
    snprintf(text, sizeof text, "public %s\nsecret %s\n", public, secret);
    int result = write_file(settings, path, 0600, text);
    if (result != CLI_OK) {
        return result;
    }
    printf("%s: keep it secret\n", path);
    snprintf(path, sizeof path, "%s.pub", name);
    snprintf(text, sizeof text, "public %s\n", public);
    result = write_file(settings, path, 0644, text);
    if (result == CLI_OK) {
        printf("%s: for the other side\n", path);
    }
    return result;
}

static const Option keygen_options[] = {
    {.name = NULL},
};

const Command command_keygen = {
    .name = "keygen",
    .arguments = "NAME",
    .arguments_min = 1,
    .arguments_max = 1,
    .summary = "make a key pair for connections over tcp",
    .details = "Writes NAME.secret and NAME.pub. A daemon gets its own .secret file by\n"
               "--curve-secret and the .pub files of its clients by --curve-clients; a client\n"
               "gets its own .secret file and the daemon's .pub file.",
    .example = "  trainyard keygen daemon\n"
               "  trainyard keygen laptop\n"
               "  trainyardd --listen tcp://*:5555 --curve-secret daemon.secret "
               "--curve-clients laptop.pub",
    .options = keygen_options,
    .run = keygen_run,
};
