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

enum { HELP_WIDTH = 96 /* columns of a help text */ };

/* Prints `text` with the name of a game of the registry in place of each GAME. */
static void print_example(const char *text)
{
    const char *game = ty_game_name(ty_game_at(0));
    for (const char *place; (place = strstr(text, "GAME")) != NULL; text = place + 4) {
        printf("%.*s%s", (int)(place - text), text, game);
    }
    printf("%s", text);
}

/* The option as one types it: "--seed N". Returns its length. */
static int option_usage(const Option *option, char *out, size_t size)
{
    bool flag = option->value == NULL;
    return snprintf(out, size, "--%s%s%s", option->name, flag ? "" : " ",
                    flag ? "" : option->value);
}

/* Prints `text` word by word from column `indent` on, where lines that do not fit go on. */
static void print_wrapped(const char *text, size_t indent)
{
    size_t column = indent;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            column += (size_t)printf(" ");
        }
        column += (size_t)printf("%.*s", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    printf("\n");
}

static void print_option(const Option *option, int width)
{
    char left[40];
    char text[512];
    option_usage(option, left, sizeof left);
    snprintf(text, sizeof text, option->standard != NULL ? "%s (default: %s)" : "%s", option->help,
             option->standard);
    printf("  %-*s  ", width, left);
    print_wrapped(text, (size_t)width + 4);
}

static void print_options(const Command *command)
{
    static const Option help = {.name = "help", .kind = OPTION_FLAG, .help = "Show this text."};
    int width = option_usage(&help, NULL, 0);
    for (const Option *option = command->options; option->name != NULL; option++) {
        int length = option_usage(option, NULL, 0);
        width = length > width ? length : width;
    }
    printf("options:\n");
    for (const Option *option = command->options; option->name != NULL; option++) {
        print_option(option, width);
    }
    print_option(&help, width);
}

void command_help(const Command *command)
{
    printf("usage: trainyard %s%s%s [options]\n\n%s\n\n", command->name,
           command->arguments[0] != '\0' ? " " : "", command->arguments, command->details);
    print_options(command);
    if (strstr(command->arguments, "RULESET") != NULL) {
        print_example(
            "\nRULESET is the name of a game, or a game with settings: GAME, GAME:players=3.\n"
            "'trainyard describe' lists the games and their settings. A setting that names a\n"
            "built-in file may be the path of your own file, with a '/' or ending in "
            ".json.\n");
    }
    printf("\nexamples:\n");
    print_example(command->example);
    printf("\n");
}

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
    TyText list = ty_text_init(names, sizeof names);
    for (const Option *option = settings->command->options; option->name != NULL; option++) {
        ty_text_add(&list, "--%s, ", option->name);
    }
    ty_text_add(&list, "--help");
    return cli_usage_error(settings, "unknown option '%.*s'; allowed: %s", (int)length, word,
                           names);
}

/* Whether `word` names the option: "--out", or "-o" where it has a letter. */
static bool option_matches(const Option *option, const char *word, size_t length)
{
    if (word[1] != '-') {
        return length == 2 && option->letter != '\0' && option->letter == word[1];
    }
    return strlen(option->name) == length - 2 && strncmp(option->name, word + 2, length - 2) == 0;
}

/* Takes the option in `words[0]`, which begins with a dash. `used` is how many words it had. */
static int parse_option(Settings *settings, int word_count, char *const *words, int *used)
{
    const char *word = words[0];
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    const Option *options = settings->command->options;
    uint32_t index = 0;
    while (options[index].name != NULL && !option_matches(&options[index], word, length)) {
        index++;
    }
    const Option *option = &options[index];
    if (option->name == NULL) {
        return unknown_option(settings, words[0], length);
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
    assert(index < 32); /* bits of `given` */
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
        } else if (options && words[at][0] == '-' && words[at][1] != '\0') {
            int status = parse_option(settings, word_count - at, words + at, &used);
            if (status != CLI_OK) {
                return status;
            }
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
