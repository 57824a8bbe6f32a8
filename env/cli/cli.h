/* What the commands of the tool share: options, errors, rulesets, seats, JSON output. */
#pragma once

#include "trainyard.h"

/* Exit statuses of the tool. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the work could not be done */
    CLI_USAGE = 2,  /* the command line makes no sense */
};

/* Limits of the tool. */
enum {
    CLI_EPISODES_MAX = 1000000,
    CLI_THREADS_MAX = 256,
    CLI_ARGUMENTS_MAX = 64,
    CLI_FILE_MAX = 64 << 20, /* bytes of a file that the tool reads */
    CLI_JSON_MAX = 16 << 20, /* bytes of one JSON document that the tool prints */
    CLI_AGENTS_MAX = 256,    /* agents that a command opens */
    CLI_TEXT_MAX = 64 << 10, /* bytes of a text form of a state */
};

typedef struct Command Command;

/* The values of a command line. Which of them a command has is said by its table of options. */
typedef struct Settings {
    const Command *command;
    uint32_t given; /* bit i: option i of the command's table was on the command line */
    uint32_t argument_count;
    const char *arguments[CLI_ARGUMENTS_MAX]; /* what is not an option, in order */
    const char *agent;
    const char *agents;
    const char *seats;
    const char *script;
    bool no_state;
    bool notes;
    bool plain;
    const char *log;
    const char *out;
    const char *connect;
    const char *invite;
    const char *token;
    const char *keys;
    const char *server_key;
    const char *start;
    const char *ruleset;
    uint64_t pool;
    bool live;
    bool admin; /* connect as an administrator; not an option */
    uint64_t seed;
    uint64_t episodes;
    uint64_t episode;
    uint64_t step;
    uint64_t seat;
    uint64_t threads;
    double seconds;
    const char *http;
    const char *origin;
    bool show;
    bool only_pool;
    const char *doors;
    const char *compare;
    const char *metric;
    const char *best;
    const char *file;
    bool only_agents;
    bool only_slots;
    bool only_draw;
    bool rules;
    bool board;
    bool json;
} Settings;

typedef enum OptionKind {
    OPTION_FLAG,    /* bool */
    OPTION_NUMBER,  /* uint64_t in minimum..maximum */
    OPTION_SECONDS, /* double in minimum..maximum */
    OPTION_TEXT,    /* const char * */
} OptionKind;

/* One option: the parser and the help text both come from this. A table ends with a NULL name. */
typedef struct Option {
    const char *name;  /* without the dashes */
    char letter;       /* a short form, such as o for -o; 0: none */
    const char *value; /* what the help calls its value; NULL for a flag */
    OptionKind kind;
    size_t offset; /* of its place in Settings */
    uint64_t minimum;
    uint64_t maximum;
    const char *standard; /* what it is when not given, as one would type it; NULL: nothing */
    const char *help;
} Option;

/* Options that several commands have. */
#define OPTION_SEED                                                                                \
    {.name = "seed",                                                                               \
     .value = "N",                                                                                 \
     .kind = OPTION_NUMBER,                                                                        \
     .offset = offsetof(Settings, seed),                                                           \
     .maximum = UINT64_MAX,                                                                        \
     .standard = "0",                                                                              \
     .help = "The seed of the first episode."}
#define OPTION_EPISODES(STANDARD)                                                                  \
    {.name = "episodes",                                                                           \
     .value = "N",                                                                                 \
     .kind = OPTION_NUMBER,                                                                        \
     .offset = offsetof(Settings, episodes),                                                       \
     .minimum = 1,                                                                                 \
     .maximum = CLI_EPISODES_MAX,                                                                  \
     .standard = (STANDARD),                                                                       \
     .help = "How many episodes to play."}
#define OPTION_THREADS                                                                             \
    {.name = "threads",                                                                            \
     .value = "N",                                                                                 \
     .kind = OPTION_NUMBER,                                                                        \
     .offset = offsetof(Settings, threads),                                                        \
     .minimum = 1,                                                                                 \
     .maximum = CLI_THREADS_MAX,                                                                   \
     .standard = "one per processor",                                                              \
     .help = "How many threads play."}
#define OPTION_AGENT                                                                               \
    {.name = "agent",                                                                              \
     .value = "NAME",                                                                              \
     .kind = OPTION_TEXT,                                                                          \
     .offset = offsetof(Settings, agent),                                                          \
     .standard = "expert if the game has one",                                                     \
     .help = "The agent that plays every seat."}
#define OPTION_AGENTS                                                                              \
    {.name = "agents",                                                                             \
     .value = "A,B,...",                                                                           \
     .kind = OPTION_TEXT,                                                                          \
     .offset = offsetof(Settings, agents),                                                         \
     .help = "One agent for each seat, seat 0 first, instead of --agent."}
/* By what agents of cooperative games are compared. */
#define OPTION_METRIC                                                                              \
    {.name = "metric",                                                                             \
     .value = "NAME",                                                                              \
     .kind = OPTION_TEXT,                                                                          \
     .offset = offsetof(Settings, metric),                                                         \
     .standard = "the first of the game",                                                          \
     .help = "By which metric games are judged, if the game is cooperative."}
/* For open seats, besides OPTIONS_CONNECT. */
#define OPTION_START                                                                               \
    {.name = "start",                                                                              \
     .value = "COMMAND",                                                                           \
     .kind = OPTION_TEXT,                                                                          \
     .offset = offsetof(Settings, start),                                                          \
     .help = "Run this program for the open seats; without it the command to run is shown."}
/* How to reach a daemon. */
#define OPTIONS_CONNECT                                                                            \
    {.name = "connect",                                                                            \
     .value = "ENDPOINT",                                                                          \
     .kind = OPTION_TEXT,                                                                          \
     .offset = offsetof(Settings, connect),                                                        \
     .standard = "the daemon of this user",                                                        \
     .help = "Where the daemon listens, such as tcp://host:5555."},                                \
        {.name = "token",                                                                          \
         .value = "FILE",                                                                          \
         .kind = OPTION_TEXT,                                                                      \
         .offset = offsetof(Settings, token),                                                      \
         .help = "The file with the daemon's access token, for tcp without keys."},                \
        {.name = "keys",                                                                           \
         .value = "FILE",                                                                          \
         .kind = OPTION_TEXT,                                                                      \
         .offset = offsetof(Settings, keys),                                                       \
         .help = "Your NAME.secret file, from 'trainyard keygen'."},                               \
        {.name = "server-key",                                                                     \
         .value = "FILE",                                                                          \
         .kind = OPTION_TEXT,                                                                      \
         .offset = offsetof(Settings, server_key),                                                 \
         .help = "The daemon's NAME.pub file."}
#define OPTION_JSON                                                                                \
    {.name = "json",                                                                               \
     .kind = OPTION_FLAG,                                                                          \
     .offset = offsetof(Settings, json),                                                           \
     .help = "Print JSON instead of text."}

struct Command {
    const char *name;
    const char *arguments; /* as the usage line shows them */
    uint32_t arguments_min;
    uint32_t arguments_max;
    const char *summary; /* one line for the list of commands */
    const char *details; /* what the command does, for its help */
    const char *example; /* GAME stands for the name of a game of the registry */
    const Option *options;
    int (*run)(const Settings *settings);
};

extern const Command command_play;
extern const Command command_sim;
extern const Command command_arena;
extern const Command command_crossplay;
extern const Command command_ladder;
extern const Command command_trace;
extern const Command command_replay;
extern const Command command_view;
extern const Command command_serve;
extern const Command command_describe;
extern const Command command_board;
extern const Command command_bench;
extern const Command command_keygen;
extern const Command command_stats;
extern const Command command_agent;
extern const Command command_health;
extern const Command command_admin;

/* Reads the words behind the command's name and runs it. Returns the exit status. */
int command_main(const Command *command, int word_count, char *const *words);
void command_help(const Command *command);
/* True if the option was on the command line; aborts if the command has no such option. */
bool settings_given(const Settings *settings, const char *name);

/* The files of games that --load named, in order; NULL behind the last. */
const char *const *cli_loaded(void);

/* A complaint about the command line: printed with a hint at the help. Returns CLI_USAGE. */
int cli_usage_error(const Settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A complaint about what happened later. Returns CLI_FAILED. */
int cli_failure(const Settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* `memory`, which was just allocated; without any the tool ends with a complaint. */
void *cli_memory(void *memory);

/* Reads a whole file; the caller frees `*bytes`, which has a NUL behind the last byte. */
TyStatus file_read(const char *path, char **bytes, size_t *size);
/* Writes a whole file. */
TyStatus file_write(const char *path, const char *bytes, size_t size);
/* The part of `path` behind the last slash. */
const char *path_base(const char *path);

/* The short name of a user's file: its base name without extension, in [a-z0-9_-]. */
void path_name(const char *path, char name[TY_NAME_MAX]);

/* Opens the ruleset of a command line, in which boards and decks may be paths. On failure it has
 * complained, and returns the exit status. */
int ruleset_open(const Settings *settings, const char *spec, TyRuleset **ruleset);
/* Stands for a program that joins the seat on a daemon: "open". */
extern const TyAgent open_seat;

/* Who sits where. NULL is a person. */
typedef struct Seating {
    const TyAgent *agents[TY_SEATS_MAX];
    char endpoint[TY_NAME_MAX]; /* of the daemon with the open seats; "": as --connect says */
} Seating;

typedef struct AgentList {
    uint32_t count;
    const TyAgent *agents[CLI_ARGUMENTS_MAX];
    char endpoint[TY_NAME_MAX];
} AgentList;

/* Where a name of an agent stands, and what else could stand there. */
typedef struct AgentWords {
    const char *option;
    const char *also; /* the end of a complaint */
    bool people;      /* "human" is allowed */
} AgentWords;

/* Opens the agent `spec`, whose settings may name files. It lives as long as the tool runs. */
TyStatus agent_take(const TyRuleset *ruleset, const char *spec, const TyAgent **agent);
/* The same for an option. On failure it has complained, and returns the exit status. */
int agent_open(const Settings *settings, const TyRuleset *ruleset, const char *spec,
               const AgentWords *words, const TyAgent **agent);
/* Reads names separated by commas, the value of `option`, as agents of the ruleset's game. With
 * `people`, "human" is allowed and gives NULL; otherwise "open" is, or the endpoint
 * of a daemon, and gives `open_seat`. On failure it has complained, and returns the exit
 * status. */
int agent_list_parse(const Settings *settings, const TyRuleset *ruleset, const char *option,
                     const char *names, bool people, AgentList *list);
/* The game's `expert`, or its first agent if it has none. */
const TyAgent *agent_standard(const TyRuleset *ruleset);
/* Every player's seat taken by `agent`; a chance seat, if there is one, by `chance_agent`. */
Seating seating_same(const TyRuleset *ruleset, const TyAgent *agent);
/* Seats from --agent or --agents. On failure it has complained, and returns the exit status. */
int seating_parse(const Settings *settings, const TyRuleset *ruleset, Seating *seating);
const char *agent_name(const TyAgent *agent);
