/* trainyard board check: validates files of the user's own. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_file(const Settings *settings, const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    TyStatus status = file_read(path, &bytes, &size);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s", status.message);
    }
    const char *kind = "";
    char name[TY_NAME_MAX] = "";
    status = ty_file_check(bytes, size, &kind, name);
    free(bytes);
    if (status.code != TY_OK) {
        return cli_failure(settings, "%s: %s", path, status.message);
    }
    printf("%s: ok: %s '%s', %zu bytes\n", path, kind, name, size);
    return CLI_OK;
}

static int board_run(const Settings *settings)
{
    if (strcmp(settings->arguments[0], "check") != 0) {
        return cli_usage_error(settings, "unknown action '%s'; allowed: check",
                               settings->arguments[0]);
    }
    int status = CLI_OK;
    for (uint32_t i = 1; i < settings->argument_count; i++) {
        if (check_file(settings, settings->arguments[i]) != CLI_OK) {
            status = CLI_FAILED;
        }
    }
    return status;
}

static const Option board_options[] = {
    {.name = NULL},
};

const Command command_board = {
    .name = "board",
    .arguments = "check FILE...",
    .arguments_min = 2,
    .arguments_max = CLI_ARGUMENTS_MAX,
    .summary = "check your own board, map and deck files",
    .details =
        "Checks each FILE and says what is wrong, and in which line or field. A file is JSON; its\n"
        "member \"format\" says whether it is a board, a map or a deck, and of which game. To\n"
        "play with it, give its path as the value of a setting.",
    .example = "  trainyard board check mybox.json\n"
               "  trainyard play GAME:board=./mybox.json",
    .options = board_options,
    .run = board_run,
};
