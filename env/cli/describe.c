/* trainyard describe: what games there are, and what a ruleset's rows and actions mean. */
#include "describe.h"

#include "cli/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_open(void *user, const char *key, char bracket, uint32_t count)
{
    (void)count;
    ty_json_open(user, key, bracket);
}

static void json_close(void *user, char bracket)
{
    ty_json_close(user, bracket);
}

static void json_text(void *user, const char *key, const char *value)
{
    ty_json_put_string(user, key, value);
}

static void json_integer(void *user, const char *key, int64_t value)
{
    ty_json_put_int(user, key, value);
}

static void json_flag(void *user, const char *key, bool value)
{
    ty_json_put_bool(user, key, value);
}

static void json_hash(void *user, const char *key, uint64_t value)
{
    ty_json_put_hex(user, key, value);
}

static DescribeSink json_sink(TyJson *json)
{
    return (DescribeSink){
        .user = json,
        .open = json_open,
        .close = json_close,
        .text = json_text,
        .integer = json_integer,
        .flag = json_flag,
        .hash = json_hash,
    };
}

enum {
    PAGE_WIDTH = 100,
    PAGE_NAME_END = 24, /* where what follows an entry's name begins */
};

/* A description as text for people: "players:  2" outside lists; a list of names, each with its
 * number on a line of its own; a list of entries, which are maps, each with a first line, its help
 * and more below: wrapped names, or further entries. */
typedef struct Page {
    bool same_rows; /* the privileged row has the layout of the ordinary one: left out */
    uint32_t muted; /* lists and maps open in what is left out */
    uint32_t depth; /* lists and maps open */
    uint32_t maps;  /* the maps among them: bit 1 for the outermost of all */
    uint32_t level; /* how many maps these are */
    uint32_t index; /* of the next name of a list */
    bool begun;     /* the entry, or the wrapped list, has its first word */
    uint32_t column;
    const char *names_key; /* of the wrapped list */
    uint32_t offset;       /* of the block: its labels are numbered by bytes of the row */
    uint32_t width;
} Page;

static bool page_in_map(const Page *page)
{
    return (page->maps >> page->depth & 1) != 0;
}

/* What an entry has besides its first line stands further to the right. */
static void page_new_line(Page *page, uint32_t level)
{
    page->column = level * 4 + 2;
    printf("\n%*s", (int)page->column, "");
}

/* A name with its number, where that means something. */
static void page_number(const Page *page, const char *name, char *out, size_t size)
{
    if (strcmp(page->names_key, "choices") == 0) {
        snprintf(out, size, "%s", name);
    } else if (strcmp(page->names_key, "labels") == 0) {
        snprintf(out, size, "%u %s", page->offset + page->index * page->width, name);
    } else {
        snprintf(out, size, "%u = %s", page->index, name);
    }
}

/* A name of a wrapped list. */
static void page_name(Page *page, const char *name)
{
    char word[TY_NAME_MAX + 16];
    page_number(page, name, word, sizeof word);
    page->index++;
    uint32_t length = (uint32_t)strlen(word);
    if (!page->begun) {
        page_new_line(page, page->level);
        page->column += (uint32_t)printf("%s: ", page->names_key);
        page->begun = true;
    } else if (page->column + length + 3 > PAGE_WIDTH) {
        putchar(',');
        page_new_line(page, page->level);
    } else {
        page->column += (uint32_t)printf(", ");
    }
    printf("%s", word);
    page->column += length;
}

/* A value of an entry: the first is its name, the help comes on a line of its own. */
static void page_part(Page *page, const char *key, const char *value)
{
    if (!page->begun) {
        page_new_line(page, page->level - 1);
        page->column += (uint32_t)printf("%s", value);
        page->begun = true;
        return;
    }
    if (strcmp(key, "help") == 0) {
        page_new_line(page, page->level);
        printf("%s", value);
        return;
    }
    int gap = page->column < PAGE_NAME_END ? PAGE_NAME_END - (int)page->column : 1;
    bool kind = strcmp(key, "kind") == 0;
    printf("%*s%s%s%s", gap, "", kind ? "" : key, kind ? "" : "=", value);
    page->column = PAGE_NAME_END;
}

/* Names and values that are empty are left out. */
static void page_text(void *user, const char *key, const char *value)
{
    Page *page = user;
    char title[TY_NAME_MAX];
    if (page->muted > 0 || value[0] == '\0') {
        page->index++;
        return;
    }
    if (page->depth == 0) {
        snprintf(title, sizeof title, "%s:", key);
        printf("%-15s %s\n", title, value);
    } else if (page_in_map(page)) {
        page_part(page, key, value);
    } else if (page->depth == 1) {
        printf("\n  %4u  %s", page->index++, value);
    } else {
        page_name(page, value);
    }
}

static void page_open(void *user, const char *key, char bracket, uint32_t count)
{
    Page *page = user;
    bool map = bracket == '{';
    (void)count;
    if (page->muted > 0 || (page->depth == 0 && page->same_rows && strcmp(key, "full_row") == 0)) {
        printf("%s", page->muted == 0 ? "\nfull_row:\n  as row\n" : "");
        page->muted++;
        return;
    }
    if (page->depth == 0) {
        printf("\n%s:", key);
    }
    if (map || key != NULL) { /* a list of lists is told as one */
        page->index = 0;
        page->begun = false;
        page->names_key = key;
    }
    page->depth++;
    page->maps |= (uint32_t)map << page->depth;
    page->level += map;
}

static void page_close(void *user, char bracket)
{
    Page *page = user;
    bool map = bracket == '}';
    if (page->muted > 0) {
        page->muted--;
        return;
    }
    page->maps &= ~(1u << page->depth);
    page->level -= map;
    page->depth--;
    page->begun = page->begun || page_in_map(page);
    printf("%s", page->depth == 0 ? "\n" : "");
}

static void page_integer(void *user, const char *key, int64_t value)
{
    Page *page = user;
    char text[32];
    if (strcmp(key, "offset") == 0) {
        page->offset = (uint32_t)value;
    } else if (strcmp(key, "width") == 0) {
        page->width = (uint32_t)value;
    }
    snprintf(text, sizeof text, "%" PRId64, value);
    page_text(user, key, text);
}

static void page_flag(void *user, const char *key, bool value)
{
    page_text(user, key, value ? "true" : "false");
}

static void page_hash(void *user, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    page_text(user, key, text);
}

static DescribeSink page_sink(Page *page)
{
    return (DescribeSink){
        .user = page,
        .open = page_open,
        .close = page_close,
        .text = page_text,
        .integer = page_integer,
        .flag = page_flag,
        .hash = page_hash,
    };
}

static bool blocks_equal(const TyBlock *a, const TyBlock *b)
{
    return strcmp(a->name, b->name) == 0 && a->offset == b->offset && a->rows == b->rows &&
           a->columns == b->columns && a->maximum == b->maximum;
}

static bool rows_equal(const TyShape *shape)
{
    bool same = shape->full_block_count == shape->row_block_count;
    for (uint32_t i = 0; same && i < shape->row_block_count; i++) {
        same = blocks_equal(&shape->full_blocks[i], &shape->row_blocks[i]);
    }
    return same;
}

static int print_games_json(const Settings *settings)
{
    TyJson json = output_open();
    const DescribeSink sink = json_sink(&json);
    ty_json_open(&json, NULL, '{');
    ty_json_put_string(&json, "version", TY_VERSION);
    ty_json_open(&json, "games", '[');
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        ty_json_open(&json, NULL, '{');
        describe_game(ty_game_at(i), &sink);
        ty_json_close(&json, '}');
    }
    ty_json_close(&json, ']');
    ty_json_close(&json, '}');
    return output_print(settings, &json);
}

static int print_games(const Settings *settings)
{
    if (settings->json) {
        return print_games_json(settings);
    }
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        Page page = {.same_rows = false};
        const DescribeSink sink = page_sink(&page);
        printf("%s", i > 0 ? "\n\n" : "");
        describe_game(ty_game_at(i), &sink);
    }
    return CLI_OK;
}

/* Prints what `write` writes, however long it is. */
static int print_page(const TyRuleset *ruleset,
                      size_t (*write)(const TyRuleset *ruleset, char *out, size_t size))
{
    char none[1];
    size_t size = write(ruleset, none, sizeof none) + 1;
    char *page = cli_memory(malloc(size));
    write(ruleset, page, size);
    printf("%s%s", page, page[size - 2] == '\n' ? "" : "\n");
    free(page);
    return CLI_OK;
}

static int print_ruleset(const Settings *settings, const TyRuleset *ruleset)
{
    if (settings->rules || settings->board) {
        return print_page(ruleset, settings->rules ? ty_rules_text : ty_board_json);
    }
    if (!settings->json) {
        Page page = {.same_rows = rows_equal(ty_shape(ruleset))};
        const DescribeSink sink = page_sink(&page);
        describe_ruleset(ruleset, &sink);
        return CLI_OK;
    }
    TyJson json = output_open();
    const DescribeSink sink = json_sink(&json);
    ty_json_open(&json, NULL, '{');
    describe_ruleset(ruleset, &sink);
    ty_json_close(&json, '}');
    return output_print(settings, &json);
}

static int describe_run(const Settings *settings)
{
    if (settings->argument_count == 0) {
        return print_games(settings);
    }
    TyRuleset *ruleset = NULL;
    int status = ruleset_open(settings, settings->arguments[0], &ruleset);
    if (status == CLI_OK) {
        status = print_ruleset(settings, ruleset);
        ty_ruleset_close(ruleset);
    }
    return status;
}

static const Option describe_options[] = {
    OPTION_JSON,
    {.name = "rules",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, rules),
     .help = "Print how to play RULESET, in plain words."},
    {.name = "board",
     .kind = OPTION_FLAG,
     .offset = offsetof(Settings, board),
     .help = "Print the board of RULESET as a graph, in JSON."},
    {.name = NULL},
};

const Command command_describe = {
    .name = "describe",
    .arguments = "[RULESET]",
    .arguments_min = 0,
    .arguments_max = 1,
    .summary = "list the games and their settings, or explain one ruleset",
    .details =
        "Without RULESET: every game with its settings (fields) and its agents.\n"
        "With RULESET: its sizes, the blocks of an observation row with the label of each number\n"
        "and the meaning of each category, the actions by number, the metrics, and the sources\n"
        "of chance (streams) with their outcomes. Text, --json and the daemon's answer to\n"
        "'describe' have the same keys.",
    .example = "  trainyard describe\n"
               "  trainyard describe GAME\n"
               "  trainyard describe GAME --json\n"
               "  trainyard describe GAME --rules",
    .options = describe_options,
    .run = describe_run,
};
