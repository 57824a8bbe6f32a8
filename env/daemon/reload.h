/* The secrets of the settings' files, and reading them and the limits again while the daemon runs.
 */
#pragma once

#include "daemon/settings.h"

/* What the files hold that the settings name. */
typedef struct Secrets {
    char token[ACCESS_TOKEN_MAX];
    char admin_token[ACCESS_TOKEN_MAX];
    char curve_secret[KEY_TEXT_SIZE];
    CurveKeys curve_users;
} Secrets;

/* Reads them into `secrets`, which is all zero. */
TyStatus secrets_read(const Settings *settings, Secrets *secrets);

/* The command line of the daemon, and what came of it. */
typedef struct CommandLine {
    int argc;
    char **argv;
    Settings *settings; /* of the start, with the limits of now */
} CommandLine;

/* Reads the command line, its configuration files and the secrets again. Tokens and client keys are
 * replaced in `secrets`, limits in the settings, and `reload` says what has changed; on failure
 * nothing is. What needs a restart to change is told in the journal. */
TyStatus reload_read(const CommandLine *line, Secrets *secrets, Journal *journal, Reload *reload);
