/* The command line: one table of options per command gives the parser and the help text. */
#include "cli/cli.h"
#include "core/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t option_count(const Command *command)
{
    uint32_t count = 0;
    while (command->options[count].name != NULL) {
        count++;
    }
    assert(count <= CLI_OPTIONS_MAX);
    return count;
}

/* ---- Help ---- */

/* Prints `text` with the name of a game of the registry in place of each GAME. */
static void print_example(const char *text)
{
    const char *game = ty_game_name(ty_game_at(0));
    for (const char *place; (place = strstr(text, "GAME")) != NULL; text = place + 4) {
        printf("%.*s%s", (int)(place - text), text, game);
    }
    printf("%s", text);
}

static void print_option(const Option *option)
{
    char left[40];
    snprintf(left, sizeof left, "--%s%s%s", option->name, option->value != NULL ? " " : "",
             option->value != NULL ? option->value : "");
    printf("  %-18s %s", left, option->help);
    if (option->standard != NULL) {
        printf(" (default %s)", option->standard);
    }
    printf("\n");
}

void command_help(const Command *command)
{
    printf("usage: trainyard %s%s%s [options]\n\n%s\n\noptions:\n", command->name,
           command->arguments[0] != '\0' ? " " : "", command->arguments, command->details);
    for (uint32_t i = 0; i < option_count(command); i++) {
        print_option(&command->options[i]);
    }
    printf("  %-18s %s\n\n", "--help", "Show this text.");
    if (strstr(command->arguments, "RULESET") != NULL) {
        print_example(
            "RULESET is a game, or a game with settings: GAME, GAME:key=value,key=value.\n"
            "Where a setting names a built-in file it may also be the path of a file of\n"
            "your own. 'trainyard describe' lists the games and their settings.\n\n");
    }
    printf("example:\n");
    print_example(command->example);
    printf("\n");
}

/* ---- Complaints ---- */

static void complain(const Settings *settings, const char *format, va_list args)
{
    fflush(stdout);
    fprintf(stderr, "trainyard %s: ", settings->command->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
}

int cli_usage_error(const Settings *settings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(settings, format, args);
    va_end(args);
    fprintf(stderr, "'trainyard %s --help' shows what is allowed, with an example.\n",
            settings->command->name);
    return CLI_USAGE;
}

int cli_failure(const Settings *settings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(settings, format, args);
    va_end(args);
    return CLI_FAILED;
}

void *cli_memory(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "trainyard: out of memory\n");
        exit(CLI_FAILED);
    }
    return memory;
}

/* ---- Parsing ---- */

static void *option_place(Settings *settings, const Option *option)
{
    return (char *)settings + option->offset;
}

static bool parse_number(const char *text, uint64_t *number)
{
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char *end = NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool parse_seconds(const char *text, double *seconds)
{
    if (strspn(text, "0123456789.") != strlen(text)) {
        return false;
    }
    char *end = NULL;
    *seconds = strtod(text, &end);
    return end != text && *end == '\0';
}

static int set_number(Settings *settings, const Option *option, const char *text)
{
    uint64_t number = 0;
    if (!parse_number(text, &number) || number < option->minimum || number > option->maximum) {
        return cli_usage_error(settings,
                               "--%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64,
                               option->name, text, option->minimum, option->maximum);
    }
    *(uint64_t *)option_place(settings, option) = number;
    return CLI_OK;
}

static int set_seconds(Settings *settings, const Option *option, const char *text)
{
    double seconds = 0;
    if (!parse_seconds(text, &seconds) || seconds <= (double)option->minimum ||
        seconds > (double)option->maximum) {
        return cli_usage_error(settings,
                               "--%s: '%s' is not a number above %" PRIu64 " and up to %" PRIu64,
                               option->name, text, option->minimum, option->maximum);
    }
    *(double *)option_place(settings, option) = seconds;
    return CLI_OK;
}

static int set_option(Settings *settings, const Option *option, const char *text)
{
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option_place(settings, option) = true;
        return CLI_OK;
    case OPTION_NUMBER:
        return set_number(settings, option, text);
    case OPTION_SECONDS:
        return set_seconds(settings, option, text);
    case OPTION_TEXT:
        break;
    }
    *(const char **)option_place(settings, option) = text;
    return CLI_OK;
}

static void set_standards(Settings *settings)
{
    for (const Option *option = settings->command->options; option->name != NULL; option++) {
        /* A default in words only explains; the command works it out. */
        if (option->standard != NULL && option->kind != OPTION_TEXT &&
            isdigit((unsigned char)option->standard[0])) {
            int status = set_option(settings, option, option->standard);
            assert(status == CLI_OK);
            (void)status;
        }
    }
}

static int unknown_option(const Settings *settings, const char *word, size_t length)
{
    char names[512];
    Text list = text_init(names, sizeof names);
    for (const Option *option = settings->command->options; option->name != NULL; option++) {
        text_add(&list, "--%s, ", option->name);
    }
    text_add(&list, "--help");
    return cli_usage_error(settings, "unknown option '%.*s'; allowed: %s", (int)length, word,
                           names);
}

/* Takes the option in `words[0]`, which begins with two dashes. `used` is how many words it had. */
static int parse_option(Settings *settings, int word_count, char *const *words, int *used)
{
    const char *word = words[0] + 2;
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    const Option *options = settings->command->options;
    uint32_t index = 0;
    while (options[index].name != NULL && (strlen(options[index].name) != length ||
                                           strncmp(options[index].name, word, length) != 0)) {
        index++;
    }
    const Option *option = &options[index];
    if (option->name == NULL) {
        return unknown_option(settings, words[0], length + 2);
    }
    *used = 1;
    if (option->kind == OPTION_FLAG) {
        if (value != NULL) {
            return cli_usage_error(settings, "--%s takes no value", option->name);
        }
    } else if (value == NULL) {
        if (word_count < 2) {
            return cli_usage_error(settings, "--%s needs a value: --%s %s", option->name,
                                   option->name, option->value);
        }
        value = words[1];
        *used = 2;
    }
    settings->given |= 1u << index;
    return set_option(settings, option, value);
}

static int check_argument_count(const Settings *settings)
{
    const Command *command = settings->command;
    if (settings->argument_count < command->arguments_min) {
        return cli_usage_error(settings, "too few arguments; usage: trainyard %s %s [options]",
                               command->name, command->arguments);
    }
    if (settings->argument_count > command->arguments_max) {
        return cli_usage_error(
            settings, "unexpected argument '%s'; usage: trainyard %s %s [options]",
            settings->arguments[command->arguments_max], command->name, command->arguments);
    }
    return CLI_OK;
}

static int parse_words(Settings *settings, int word_count, char *const *words)
{
    bool options = true;
    for (int at = 0; at < word_count;) {
        int used = 1;
        if (options && strcmp(words[at], "--") == 0) {
            options = false;
        } else if (options && words[at][0] == '-' && words[at][1] == '-') {
            int status = parse_option(settings, word_count - at, words + at, &used);
            if (status != CLI_OK) {
                return status;
            }
        } else if (options && words[at][0] == '-' && words[at][1] != '\0') {
            return unknown_option(settings, words[at], strlen(words[at]));
        } else if (settings->argument_count == CLI_ARGUMENTS_MAX) {
            return cli_usage_error(settings, "more than %d arguments", CLI_ARGUMENTS_MAX);
        } else {
            settings->arguments[settings->argument_count++] = words[at];
        }
        at += used;
    }
    return check_argument_count(settings);
}

static bool wants_help(int word_count, char *const *words)
{
    for (int i = 0; i < word_count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

int command_main(const Command *command, int word_count, char *const *words)
{
    if (wants_help(word_count, words)) {
        command_help(command);
        return CLI_OK;
    }
    Settings settings = {.command = command};
    set_standards(&settings);
    int status = parse_words(&settings, word_count, words);
    return status != CLI_OK ? status : command->run(&settings);
}

bool settings_given(const Settings *settings, const char *name)
{
    const Option *options = settings->command->options;
    uint32_t index = 0;
    while (strcmp(options[index].name, name) != 0) {
        index++;
        assert(options[index].name != NULL);
    }
    return (settings->given >> index & 1u) != 0;
}
