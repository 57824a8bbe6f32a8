/* Reaching a daemon from the command line. */
#include "cli/remote.h"
#include "core/status.h"
#include "proto/keys.h"

#include <stdlib.h>
#include <string.h>

static TyStatus key_read(const char *path, const char *word, char key[KEY_TEXT_SIZE])
{
    char *text = NULL;
    size_t size = 0;
    TyStatus status = file_read(path, &text, &size);
    if (status.code == TY_OK && key_find(text, word, key) == NULL) {
        status = ty_status_fail(
            TY_BAD_FILE, "%s: has no line '%s KEY'; 'trainyard keygen' writes them", path, word);
    }
    free(text);
    return status;
}

/* The three keys of a connection. */
static TyStatus keys_read(const Settings *settings, RemoteConfig *remote)
{
    TyStatus status = key_read(settings->server_key, "public", remote->server);
    if (status.code == TY_OK) {
        status = key_read(settings->keys, "public", remote->public);
    }
    if (status.code == TY_OK) {
        status = key_read(settings->keys, "secret", remote->secret);
    }
    remote->config.server_key = remote->server;
    remote->config.public_key = remote->public;
    remote->config.secret_key = remote->secret;
    return status;
}

TyStatus remote_config_read(const Settings *settings, RemoteConfig *remote)
{
    TyStatus status = ty_status_ok();
    size_t size = 0;
    *remote = (RemoteConfig){.config = {.endpoint = settings->connect,
                                        .name = "trainyard",
                                        .timeout_ms = REMOTE_TIMEOUT_MS}};
    if ((settings->keys == NULL) != (settings->server_key == NULL)) {
        return ty_status_fail(TY_BAD_ARGUMENT, "--keys and --server-key belong together");
    }
    if (settings->keys != NULL) {
        status = keys_read(settings, remote);
    }
    if (status.code == TY_OK && settings->token != NULL) {
        status = file_read(settings->token, &remote->token, &size);
    }
    if (remote->token != NULL) {
        remote->token[strcspn(remote->token, "\r\n")] = '\0';
        remote->config.access_token = remote->token;
    }
    return status;
}

void remote_config_free(RemoteConfig *remote)
{
    free(remote->token);
}

TyStatus remote_client(const Settings *settings, TyClient **client)
{
    RemoteConfig remote;
    *client = NULL;
    TyStatus status = remote_config_read(settings, &remote);
    remote.config.admin = settings->admin;
    if (status.code == TY_OK) {
        status = ty_client_connect(&remote.config, client);
    }
    remote_config_free(&remote);
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
