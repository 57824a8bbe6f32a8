/* trainyard health: whether a daemon works, told by the exit status. */
#include "cli/output.h"
#include "cli/remote.h"

#include <inttypes.h>
#include <stdio.h>

static int print_json(const Settings *settings, const TyClientHealth *health)
{
    TyJson json = output_open();
    ty_json_open(&json, NULL, '{');
    ty_json_put_bool(&json, "healthy", health->healthy);
    ty_json_put_string(&json, "trouble", health->trouble);
    ty_json_put_string(&json, "version", health->version);
    ty_json_put_int(&json, "uptime_ms", (int64_t)health->uptime_ms);
    ty_json_close(&json, '}');
    return output_print(settings, &json);
}

static int health_run(const Settings *settings)
{
    RemoteConfig remote;
    TyClientHealth health = {.healthy = false};
    TyStatus status = remote_config_read(settings, &remote);
    bool asked = status.code == TY_OK;
    if (settings->argument_count > 0) {
        remote.config.endpoint = settings->arguments[0];
    }
    remote.config.timeout_ms = (uint32_t)(settings->seconds * 1000);
    if (asked) {
        status = ty_client_health(&remote.config, &health);
    }
    remote_config_free(&remote);
    if (status.code != TY_OK) {
        return status.code == TY_BAD_ARGUMENT && !asked
                   ? cli_usage_error(settings, "%s", status.message)
                   : cli_failure(settings, "%s", status.message);
    }
    int result = CLI_OK;
    if (settings->json) {
        result = print_json(settings, &health);
    } else if (health.healthy) {
        printf("healthy, version %s, up %.1f s\n", health.version, (double)health.uptime_ms / 1000);
    } else {
        printf("trouble: %s\n", health.trouble);
    }
    return health.healthy ? result : CLI_FAILED;
}

static const Option health_options[] = {
    {.name = "keys",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, keys),
     .help = "Your NAME.secret file, where the daemon wants keys."},
    {.name = "server-key",
     .value = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(Settings, server_key),
     .help = "The daemon's NAME.pub file."},
    {.name = "seconds",
     .value = "S",
     .kind = OPTION_SECONDS,
     .offset = offsetof(Settings, seconds),
     .minimum = 0,
     .maximum = 3600,
     .standard = "5",
     .help = "How long to wait for an answer."},
    OPTION_JSON,
    {.name = NULL},
};

const Command command_health = {
    .name = "health",
    .arguments = "[ENDPOINT]",
    .arguments_max = 1,
    .summary = "ask a daemon whether it works; the exit status tells",
    .details = "Exit status 0: it does. 1: it does not answer in time, or says what is wrong,\n"
               "such as a log that cannot be written. It takes no session and needs no token.",
    .example = "  trainyard health\n"
               "  trainyard health tcp://127.0.0.1:5555 || systemctl restart trainyardd",
    .options = health_options,
    .run = health_run,
};
