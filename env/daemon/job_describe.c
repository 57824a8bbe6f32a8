/* The answers to `describe` and `rules`: a ruleset in words. */
#include "daemon/boards.h"
#include "daemon/worker_internal.h"
#include "describe.h"

#include <assert.h>
#include <string.h>

/* The description on its way into a reply. */
typedef struct WireSink {
    Writer *writer;
    uint32_t depth; /* lists and maps open; the outermost keys are fields of the reply */
} WireSink;

static void wire_key(const WireSink *sink, const char *key)
{
    if (key == NULL) {
        return;
    }
    if (sink->depth > 0) {
        put_text(sink->writer, key);
        return;
    }
    uint32_t field = 0;
    while (!operation_gives(OP_DESCRIBE, (ReplyField)field) ||
           strcmp(protocol_replies[field].name, key) != 0) {
        field++;
        assert(field < REPLY_FIELD_COUNT);
    }
    reply_key(sink->writer, (ReplyField)field);
}

static void wire_open(void *user, const char *key, char bracket, uint32_t count)
{
    WireSink *sink = user;
    wire_key(sink, key);
    if (bracket == '{') {
        put_map(sink->writer, count);
    } else {
        put_list(sink->writer, count);
    }
    sink->depth++;
}

static void wire_close(void *user, char bracket)
{
    WireSink *sink = user;
    (void)bracket;
    sink->depth--;
}

static void wire_text(void *user, const char *key, const char *value)
{
    const WireSink *sink = user;
    wire_key(sink, key);
    put_text(sink->writer, value);
}

static void wire_integer(void *user, const char *key, int64_t value)
{
    const WireSink *sink = user;
    wire_key(sink, key);
    put_int(sink->writer, value);
}

static void wire_flag(void *user, const char *key, bool value)
{
    const WireSink *sink = user;
    wire_key(sink, key);
    put_flag(sink->writer, value);
}

static void wire_hash(void *user, const char *key, uint64_t value)
{
    const WireSink *sink = user;
    wire_key(sink, key);
    put_uint(sink->writer, value);
}

static void put_describe(Writer *writer, const Job *job, const void *context)
{
    WireSink wire = {.writer = writer};
    const DescribeSink sink = {
        .user = &wire,
        .open = wire_open,
        .close = wire_close,
        .text = wire_text,
        .integer = wire_integer,
        .flag = wire_flag,
        .hash = wire_hash,
    };
    (void)job;
    describe_ruleset(context, &sink);
}

JobState job_describe(Worker *worker, Job *job)
{
    TyRuleset *ruleset = NULL;
    TyStatus status = boards_ruleset_open(worker->shared, &job->request, &ruleset);
    if (status.code != TY_OK) {
        job_refuse_status(job, &status);
        return JOB_DONE;
    }
    job_reply(job, 64 << 10, put_describe, ruleset);
    ty_ruleset_close(ruleset);
    return JOB_DONE;
}

/* ---- Rules ---- */

/* The page and the board of a ruleset, in memory of the job's. */
typedef struct RulesPage {
    const TyRuleset *ruleset;
    char *rules;
    char *board;
} RulesPage;

static void put_rules(Writer *writer, const Job *job, const void *context)
{
    const RulesPage *page = context;
    (void)job;
    reply_text(writer, REPLY_RULESET, ty_shape(page->ruleset)->spec);
    reply_text(writer, REPLY_RULES, page->rules);
    reply_text(writer, REPLY_BOARD, page->board);
}

JobState job_rules(Worker *worker, Job *job)
{
    RulesPage page = {.ruleset = NULL};
    TyRuleset *ruleset = NULL;
    char none[1];
    TyStatus status = boards_ruleset_open(worker->shared, &job->request, &ruleset);
    if (status.code != TY_OK) {
        job_refuse_status(job, &status);
        return JOB_DONE;
    }
    size_t rules = ty_rules_text(ruleset, none, sizeof none) + 1;
    size_t board = ty_board_json(ruleset, none, sizeof none) + 1;
    page.ruleset = ruleset;
    page.rules = job_hold(job, rules);
    page.board = page.rules != NULL ? job_hold(job, board) : NULL;
    if (page.board != NULL) {
        ty_rules_text(ruleset, page.rules, rules);
        ty_board_json(ruleset, page.board, board);
        job_reply(job, rules + board + 1024, put_rules, &page);
    }
    ty_ruleset_close(ruleset);
    return JOB_DONE;
}
