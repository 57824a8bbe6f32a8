/* trainyard keygen: a key pair for connections over tcp. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include "proto/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
        return cli_usage_error(settings, "NAME has %zu characters; allowed are up to %zu",
                               strlen(name), sizeof path - sizeof ".secret");
    }
    snprintf(text, sizeof text, "public %s\nsecret %s\n", public, secret);
    int result = write_file(settings, path, 0600, text);
    if (result != CLI_OK) {
        return result;
    }
    printf("%s: keep this one secret\n", path);
    snprintf(path, sizeof path, "%s.pub", name);
    snprintf(text, sizeof text, "public %s\n", public);
    result = write_file(settings, path, 0644, text);
    if (result == CLI_OK) {
        printf("%s: give this one to the other side\n", path);
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
    .summary = "make a pair of keys for connections over tcp",
    .details = "Writes NAME.secret, which stays with its owner, and NAME.pub, which the other side "
               "needs.\n"
               "The daemon gets its own .secret file by --curve-secret and the .pub files of its\n"
               "clients by --curve-clients; a client gets its own .secret file by --keys and the\n"
               "daemon's .pub file by --server-key.",
    .example =
        "  trainyard keygen daemon\n"
        "  trainyard keygen laptop\n"
        "  trainyardd --listen tcp://*:5555 --curve-secret daemon.secret "
        "--curve-clients laptop.pub\n"
        "  trainyard stats --connect tcp://host:5555 --keys laptop.secret --server-key daemon.pub",
    .options = keygen_options,
    .run = keygen_run,
};
