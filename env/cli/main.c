/* The command-line tool: finds the command and runs it. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const Command *const commands[] = {
    &command_play,   &command_sim,      &command_arena, &command_trace,
    &command_replay, &command_describe, &command_board, &command_bench,
    &command_keygen, &command_stats,    &command_agent,
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *out)
{
    fprintf(out, "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
}

static void print_help(void)
{
    printf("usage: trainyard COMMAND ...\n\n"
           "Trainyard is an environment in which agents play train board games.\n\n");
    print_commands(stdout);
    printf("\n'trainyard COMMAND --help' explains a command, with an example.\n"
           "'trainyard --version' prints the version.\n");
}

static int run_command(int word_count, char *const *words)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(words[0], commands[i]->name) == 0) {
            return command_main(commands[i], word_count - 1, words + 1);
        }
    }
    fprintf(stderr, "trainyard: unknown command '%s'\n", words[0]);
    print_commands(stderr);
    return CLI_USAGE;
}

static int run(int word_count, char *const *words)
{
    if (word_count == 0) {
        fprintf(stderr, "trainyard: a command is missing\n");
        print_commands(stderr);
        return CLI_USAGE;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0 ||
        strcmp(words[0], "help") == 0) {
        print_help();
        return CLI_OK;
    }
    if (strcmp(words[0], "--version") == 0) {
        printf("trainyard %s\n", TY_VERSION);
        return CLI_OK;
    }
    return run_command(word_count, words);
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
