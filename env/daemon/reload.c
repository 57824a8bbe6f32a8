/* Reading secrets, and reading them and the limits again while the daemon runs. */
#define _GNU_SOURCE
#include "daemon/reload.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

TyStatus secrets_read(const Settings *settings, Secrets *secrets)
{
    TyStatus status = ty_status_ok();
    if ((settings->curve_secret != NULL) != (settings->curve_clients != NULL)) {
        return ty_status_fail(TY_BAD_CONFIG, "--curve-secret and --curve-clients belong together");
    }
    if (settings->token != NULL) {
        status = access_token_read(settings->token, secrets->token);
    }
    if (status.code == TY_OK && settings->admin_token != NULL) {
        status = access_token_read(settings->admin_token, secrets->admin_token);
    }
    if (status.code == TY_OK && settings->curve_secret != NULL) {
        status = access_secret_read(settings->curve_secret, secrets->curve_secret);
    }
    if (status.code == TY_OK && settings->curve_clients != NULL) {
        status = access_keys_read(settings->curve_clients, false, &secrets->curve_users);
    }
    if (status.code == TY_OK && settings->admin_clients != NULL) {
        status = access_keys_read(settings->admin_clients, true, &secrets->curve_users);
    }
    return status;
}

/* ---- Again ---- */

/* True if the option has another value than at the start; NULL is one, too. */
static bool text_differs(const char *one, const char *other)
{
    return (one == NULL) != (other == NULL) || (one != NULL && strcmp(one, other) != 0);
}

static void restart_wanted(Journal *journal, const char *option)
{
    journal_write(journal, JOURNAL_WARNING, "restart_needed",
                  JOURNAL_FIELDS(JOURNAL_TEXT("option", option)));
}

/* Tells of options that have changed and are not looked at again. */
static void options_compare(const Settings *old, const Settings *fresh, Journal *journal)
{
    const struct {
        const char *name;
        const char *before;
        const char *now;
    } options[] = {
        {"shm", old->shm, fresh->shm},
        {"log", old->log, fresh->log},
        {"boards", old->boards, fresh->boards},
        {"metrics", old->metrics, fresh->metrics},
        {"curve-secret", old->curve_secret, fresh->curve_secret},
        {"token", old->token != NULL ? "" : NULL, fresh->token != NULL ? "" : NULL},
    };
    for (uint32_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (text_differs(options[i].before, options[i].now)) {
            restart_wanted(journal, options[i].name);
        }
    }
    const LogFiles *files = &old->log_files;
    const LogFiles *fresh_files = &fresh->log_files;
    const struct {
        const char *name;
        uint64_t before;
        uint64_t now;
    } numbers[] = {
        {"log-level", old->log_level, fresh->log_level},
        {"log-format", old->log_json, fresh->log_json},
        {"log-full", old->log_drops, fresh->log_drops},
        {"log-file-bytes", files->file_bytes, fresh_files->file_bytes},
        {"log-file-hours", files->file_hours, fresh_files->file_hours},
        {"log-keep-bytes", files->keep_bytes, fresh_files->keep_bytes},
        {"log-keep-days", files->keep_days, fresh_files->keep_days},
        {"drain", old->drain_ms, fresh->drain_ms},
    };
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].before != numbers[i].now) {
            restart_wanted(journal, numbers[i].name);
        }
    }
    bool listens = old->listen_count != fresh->listen_count;
    for (uint32_t i = 0; !listens && i < old->listen_count; i++) {
        listens = text_differs(old->listen[i], fresh->listen[i]);
    }
    if (listens) {
        restart_wanted(journal, "listen");
    }
}

/* The limits to be, with those that are fixed as they were. */
static Limits limits_choose(const Limits *old, const Limits *fresh, Journal *journal)
{
    Limits before = *old;
    Limits limits = *fresh;
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        if (limit_is_fixed(i) && *limit_at(&limits, i) != *limit_at(&before, i)) {
            *limit_at(&limits, i) = *limit_at(&before, i);
            restart_wanted(journal, limit_infos[i].name);
        }
    }
    return limits;
}

/* The clients' token stays as it was if its option came or went: a restart is needed for that. */
static bool token_apply(const Settings *before, const Settings *now, char old[ACCESS_TOKEN_MAX],
                        const char fresh[ACCESS_TOKEN_MAX])
{
    bool changed = before->token != NULL && now->token != NULL && strcmp(old, fresh) != 0;
    if (changed) {
        memcpy(old, fresh, ACCESS_TOKEN_MAX);
    }
    return changed;
}

/* The administrators' may come and go. */
static void admin_token_apply(const Settings *now, Secrets *secrets, const Secrets *fresh,
                              Reload *reload)
{
    reload->admin_token = strcmp(secrets->admin_token, fresh->admin_token) != 0;
    memcpy(secrets->admin_token, fresh->admin_token, ACCESS_TOKEN_MAX);
    reload->admin_secret = now->admin_token != NULL ? secrets->admin_token : NULL;
}

static TyStatus fresh_read(const CommandLine *line, Settings *fresh, Secrets *secrets)
{
    TyStatus status = settings_read_again(fresh, line->argc, line->argv);
    if (status.code == TY_OK) {
        status = secrets_read(fresh, secrets);
    }
    return status.code == TY_OK ? router_keys_check(&secrets->curve_users) : status;
}

TyStatus reload_read(const CommandLine *line, Secrets *secrets, Journal *journal, Reload *reload)
{
    Settings *old = line->settings;
    Settings fresh = {.listen_count = 0};
    Secrets *again = calloc(1, sizeof *again);
    TyStatus status = again != NULL ? fresh_read(line, &fresh, again)
                                    : ty_status_fail(TY_NO_MEMORY, "no memory to reload");
    if (again != NULL && status.code == TY_OK) {
        options_compare(old, &fresh, journal);
        reload->limits = limits_choose(&old->limits, &fresh.limits, journal);
        old->limits = reload->limits;
        reload->token = token_apply(old, &fresh, secrets->token, again->token);
        admin_token_apply(&fresh, secrets, again, reload);
        secrets->curve_users = again->curve_users;
    }
    settings_fini(&fresh);
    free(again);
    return status;
}
