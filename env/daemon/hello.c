/* The operations that need no pool: hello, stats, ping. */
#include "daemon/hello.h"

#include <string.h>

/* ---- hello ---- */

static void put_field_range(Writer *writer, const TyField *field)
{
    bool listed = field->kind == TY_FIELD_CHOICE || field->kind == TY_FIELD_FILE;
    uint32_t count = 0;
    while (listed && field->choices[count] != NULL) {
        count++;
    }
    put_text(writer, "minimum");
    put_int(writer, field->kind == TY_FIELD_INT ? field->minimum : 0);
    put_text(writer, "maximum");
    put_int(writer, field->kind == TY_FIELD_INT ? field->maximum : listed ? (int64_t)count - 1 : 1);
    put_text(writer, "choices");
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(writer, field->choices[i]);
    }
}

static void put_keys(Writer *writer, const TyGame *game)
{
    static const char *const kinds[] = {[TY_FIELD_INT] = "int",
                                        [TY_FIELD_FLAG] = "flag",
                                        [TY_FIELD_CHOICE] = "choice",
                                        [TY_FIELD_FILE] = "file"};
    uint32_t count = 0;
    const TyField *fields = ty_game_fields(game, &count);
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_map(writer, 7);
        put_key_text(writer, "key", fields[i].key);
        put_key_text(writer, "kind", kinds[fields[i].kind]);
        put_text(writer, "standard");
        put_int(writer, fields[i].standard);
        put_field_range(writer, &fields[i]);
        put_key_text(writer, "help", fields[i].help);
    }
}

static void put_agents(Writer *writer, const TyGame *game)
{
    uint32_t count = 0;
    while (ty_agent_at(game, count) != NULL) {
        count++;
    }
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(writer, ty_agent_at(game, i)->name);
    }
}

static void put_games(Writer *writer, const Dispatch *dispatch)
{
    put_list(writer, dispatch->game_count);
    for (uint32_t i = 0; i < dispatch->game_count; i++) {
        const TyGame *game = ty_game_at(i);
        put_map(writer, 7);
        put_key_text(writer, "game", ty_game_name(game));
        put_key_text(writer, "title", ty_game_title(game));
        put_key_uint(writer, "rules_version", ty_game_rules_version(game));
        put_key_text(writer, "ruleset", dispatch->games[i]);
        put_key_uint(writer, "players", dispatch->game_players[i]);
        put_text(writer, "agents");
        put_agents(writer, game);
        put_text(writer, "keys");
        put_keys(writer, game);
    }
}

static void put_limits(Writer *writer, const Dispatch *dispatch)
{
    Limits limits = dispatch->config.limits;
    put_map(writer, LIMIT_COUNT);
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        put_key_uint(writer, limit_infos[i].name, *limit_at(&limits, i));
    }
}

static void put_capabilities(Writer *writer, const Dispatch *dispatch)
{
    bool shm = dispatch->config.shm_path != NULL;
    bool boards = dispatch->config.boards != NULL;
    bool log = dispatch->config.recorder != NULL;
    put_list(writer, (uint32_t)shm + (uint32_t)boards + (uint32_t)log);
    if (log) {
        put_text(writer, "log");
    }
    if (shm) {
        put_text(writer, "shm");
    }
    if (boards) {
        put_text(writer, "boards");
    }
}

/* What a reply needs besides the job. */
typedef struct HelloContext {
    const Dispatch *dispatch;
    const Session *session;
} HelloContext;

static void put_hello(Writer *writer, Host *host, const Job *job, const void *context)
{
    const HelloContext *hello = context;
    const char *shm = hello->dispatch->config.shm_path;
    (void)host;
    (void)job;
    reply_uint(writer, REPLY_PROTOCOL, PROTOCOL_VERSION);
    reply_text(writer, REPLY_VERSION, TY_VERSION);
    reply_text(writer, REPLY_SESSION, hello->session->token);
    reply_uint(writer, REPLY_LAST_ID, hello->session->last_id);
    reply_key(writer, REPLY_GAMES);
    put_games(writer, hello->dispatch);
    reply_key(writer, REPLY_LIMITS);
    put_limits(writer, hello->dispatch);
    reply_key(writer, REPLY_CAPABILITIES);
    put_capabilities(writer, hello->dispatch);
    reply_text(writer, REPLY_SHM, shm != NULL ? shm : "");
}

/* The session that hello begins or takes up; NULL, and `error` set, if it is refused. */
static Session *hello_session(Dispatch *dispatch, uint64_t peer, bool needs_token,
                              const Request *request, WireError *error)
{
    char text[WIRE_TEXT_MAX];
    Session *old = session_find(dispatch, peer);
    if (request_uint(request, FIELD_OF_PROTOCOL) != PROTOCOL_VERSION) {
        wire_refuse(error, ERROR_bad_version, "protocol=%llu: this daemon speaks version %d",
                    (unsigned long long)request_uint(request, FIELD_OF_PROTOCOL), PROTOCOL_VERSION);
        return NULL;
    }
    request_text(request, FIELD_OF_ACCESS, text);
    if (needs_token && (dispatch->config.access_token == NULL ||
                        !secret_equal(dispatch->config.access_token, text))) {
        wire_refuse(error, ERROR_denied, "access: the access token is missing or wrong");
        return NULL;
    }
    if (request_has(request, FIELD_OF_SESSION)) {
        request_text(request, FIELD_OF_SESSION, text);
        Session *session = session_find_token(dispatch, text);
        if (session == NULL) {
            wire_refuse(error, ERROR_no_session, "session: the token is not known, or has expired");
        } else if (session != old) {
            if (old != NULL) {
                session_end(dispatch, old);
            }
            session_rebind(dispatch, session, peer);
        }
        return session;
    }
    Session *session = old != NULL ? old : session_begin(dispatch, peer);
    if (session == NULL && dispatch->session_count < dispatch->config.limits.sessions) {
        wire_refuse(error, ERROR_no_memory, "no memory for another session");
    } else if (session == NULL) {
        wire_refuse(error, ERROR_limit, "sessions=%llu sessions are open already",
                    (unsigned long long)dispatch->config.limits.sessions);
    }
    return session;
}

Buffer *hello_answer(Dispatch *dispatch, uint64_t peer, bool needs_token, const Request *request)
{
    WireError error;
    Session *session = hello_session(dispatch, peer, needs_token, request, &error);
    if (session == NULL) {
        dispatch->refused++;
        return reply_refusal(&dispatch->shared.buffers, request->id, &error);
    }
    session->silent_since_ms = dispatch->now_ms;
    if (request_has(request, FIELD_OF_NAME)) {
        request_text(request, FIELD_OF_NAME, session->name);
    }
    const HelloContext context = {.dispatch = dispatch, .session = session};
    const ReplyPlan plan = {.buffers = &dispatch->shared.buffers,
                            .op = OP_HELLO,
                            .id = request->id,
                            .body = put_hello,
                            .context = &context};
    Buffer *reply = reply_make(&plan, 16 << 10);
    return reply != NULL ? reply : reply_no_memory(plan.buffers, plan.id);
}

/* ---- stats ---- */

static void put_pool_stats(Writer *writer, const Pool *pool, const HostStats *stats)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < TY_MEMBERS_MAX; i++) {
        here += pool->members[i].here;
    }
    put_map(writer, 10);
    put_key_uint(writer, "pool", pool->id);
    put_key_text(writer, "ruleset", stats->ruleset);
    put_key_uint(writer, "slots", stats->slots);
    put_key_uint(writer, "groups", stats->groups);
    put_key_uint(writer, "members", here);
    put_key_uint(writer, "decisions", stats->decisions);
    put_key_uint(writer, "episodes", stats->episodes);
    put_key_uint(writer, "waiting", stats->waiting);
    put_key_uint(writer, "jobs", stats->jobs);
    put_key_uint(writer, "bytes", stats->bytes);
}

typedef struct StatsContext {
    const Dispatch *dispatch;
    uint32_t count;
    uint64_t decisions;
    const Pool *pools[STATS_POOLS_MAX];
    HostStats stats[STATS_POOLS_MAX];
} StatsContext;

static void put_stats(Writer *writer, Host *host, const Job *job, const void *context)
{
    const StatsContext *stats = context;
    const Dispatch *dispatch = stats->dispatch;
    uint64_t bytes = atomic_load(&((Dispatch *)dispatch)->shared.memory_bytes) +
                     atomic_load(&((Dispatch *)dispatch)->shared.buffers.live_bytes);
    (void)host;
    (void)job;
    reply_uint(writer, REPLY_UPTIME, dispatch->now_ms - dispatch->started_ms);
    reply_uint(writer, REPLY_SESSIONS, dispatch->session_count);
    reply_uint(writer, REPLY_REQUESTS, dispatch->requests);
    reply_uint(writer, REPLY_REFUSED, dispatch->refused);
    reply_uint(writer, REPLY_DECISIONS, stats->decisions);
    reply_uint(writer, REPLY_BYTES, bytes);
    reply_key(writer, REPLY_POOLS);
    put_list(writer, stats->count);
    for (uint32_t i = 0; i < stats->count; i++) {
        put_pool_stats(writer, stats->pools[i], &stats->stats[i]);
    }
}

void stats_answer(Dispatch *dispatch, Session *session, Job *job)
{
    StatsContext context = {.dispatch = dispatch, .decisions = dispatch->decisions_closed};
    HostStats stats;
    for (uint32_t i = 0; i < dispatch->config.limits.pools; i++) {
        const Pool *pool = &dispatch->pools[i];
        if (pool->id == 0 || !pool->open || pool->closing) {
            continue;
        }
        host_stats(pool->host, &stats);
        context.decisions += stats.decisions;
        if (context.count < STATS_POOLS_MAX) {
            context.pools[context.count] = pool;
            context.stats[context.count++] = stats;
        }
    }
    dispatch_answer(dispatch, session, job, 4096, put_stats, &context);
}
