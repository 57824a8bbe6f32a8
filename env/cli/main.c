/* The command-line tool: finds the command and runs it. */
#include "cli/cli.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

static const Command *const commands[] = {
    &command_play,   &command_sim,    &command_arena,  &command_crossplay, &command_ladder,
    &command_trace,  &command_replay, &command_view,   &command_serve,     &command_describe,
    &command_board,  &command_bench,  &command_keygen, &command_stats,     &command_agent,
    &command_health, &command_admin,
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* Commands that the Python package adds: there `trainyard` runs them itself, and this tool for the
 * others. */
static const struct {
    const char *name;
    const char *summary;
} python_commands[] = {
    {"mcp", "games as tools for language models, on standard input and output"},
    {"openenv", "serves OpenEnv's clients"},
    {"export", "episodes of a log as Parquet, Minari or chat data"},
    {"puzzles", "positions with a move that search proves best"},
};

enum { PYTHON_COMMAND_COUNT = sizeof python_commands / sizeof python_commands[0] };

static void print_commands(FILE *out)
{
    fprintf(out, "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
    fprintf(out, "commands of the Python package (python3 -m trainyard COMMAND):\n");
    for (int i = 0; i < PYTHON_COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", python_commands[i].name, python_commands[i].summary);
    }
}

static void print_help(void)
{
    const char *game = ty_game_name(ty_game_at(0));
    printf("usage: trainyard [--load FILE.so] COMMAND ...\n\n"
           "Trainyard is an environment in which agents play train board games.\n\n");
    print_commands(stdout);
    printf("\n'trainyard COMMAND --help' explains a command, with examples. A first look:\n"
           "  trainyard describe\n"
           "  trainyard play %s\n"
           "  trainyard sim %s --agent random\n"
           "\n--load adds the games and agents of your own shared object (examples/own_game).\n"
           "'trainyard --version' prints the version.\n",
           game, game);
}

static const Command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i]->name) == 0) {
            return commands[i];
        }
    }
    for (int i = 0; i < PYTHON_COMMAND_COUNT; i++) {
        if (strcmp(name, python_commands[i].name) == 0) {
            fprintf(stderr,
                    "trainyard: '%s' is a command of the Python package: pip install it, "
                    "then python3 -m trainyard %s --help\n",
                    name, name);
            return NULL;
        }
    }
    fprintf(stderr, "trainyard: unknown command '%s'\n", name);
    print_commands(stderr);
    return NULL;
}

/* "help", or "help COMMAND". */
static int run_help(int word_count, char *const *words)
{
    if (word_count == 1) {
        print_help();
        return CLI_OK;
    }
    const Command *command = find_command(words[1]);
    if (command == NULL) {
        return CLI_USAGE;
    }
    command_help(command);
    return CLI_OK;
}

enum { LOADED_MAX = 8 /* files of games that are loaded together */ };

static const char *loaded[LOADED_MAX + 1];

const char *const *cli_loaded(void)
{
    return loaded;
}

/* Takes `--load FILE` off the front of the words, as often as it stands there. */
static bool load_games(int *word_count, char *const **words)
{
    for (uint32_t i = 0; *word_count >= 2 && strcmp((*words)[0], "--load") == 0; i++) {
        TyStatus status = i < LOADED_MAX
                              ? ty_load((*words)[1])
                              : ty_status_fail(TY_LIMIT, "--load: more than %d files", LOADED_MAX);
        if (status.code != TY_OK) {
            fprintf(stderr, "trainyard: %s\n", status.message);
            return false;
        }
        loaded[i] = (*words)[1];
        *word_count -= 2;
        *words += 2;
    }
    return true;
}

static int run(int word_count, char *const *words)
{
    if (!load_games(&word_count, &words)) {
        return CLI_FAILED;
    }
    if (word_count == 0) {
        fprintf(stderr, "trainyard: a command is missing\n");
        print_commands(stderr);
        return CLI_USAGE;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0 ||
        strcmp(words[0], "help") == 0) {
        return run_help(word_count, words);
    }
    if (strcmp(words[0], "--version") == 0) {
        printf("trainyard %s\n", TY_VERSION);
        return CLI_OK;
    }
    const Command *command = find_command(words[0]);
    return command != NULL ? command_main(command, word_count - 1, words + 1) : CLI_USAGE;
}

int main(int argc, char **argv)
{
    int status = run(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("trainyard: standard output");
        return CLI_FAILED;
    }
    return status;
}
