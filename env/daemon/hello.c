/* hello: begins a session or takes one up, and says what the daemon offers. */
#include "core/status.h"
#include "daemon/access.h"
#include "daemon/dispatch_internal.h"

#include <string.h>

/* ---- What the daemon offers ---- */

static void put_field_range(Writer *writer, const TyField *field)
{
    bool listed = field->kind == TY_FIELD_CHOICE || field->kind == TY_FIELD_FILE;
    uint32_t count = 0;
    while (listed && field->choices[count] != NULL) {
        count++;
    }
    bool ranged = field->kind == TY_FIELD_INT || field->kind == TY_FIELD_FRACTION;
    put_text(writer, "minimum");
    put_int(writer, ranged ? field->minimum : 0);
    put_text(writer, "maximum");
    put_int(writer, ranged ? field->maximum : listed ? (int64_t)count - 1 : 1);
    put_text(writer, "choices");
    put_list(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(writer, field->choices[i]);
    }
}

static void put_settings(Writer *writer, const TyGame *game)
{
    static const char *const kinds[] = {[TY_FIELD_INT] = "int",
                                        [TY_FIELD_FLAG] = "flag",
                                        [TY_FIELD_CHOICE] = "choice",
                                        [TY_FIELD_FILE] = "file",
                                        [TY_FIELD_FRACTION] = "fraction"};
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
        put_key_text(writer, "ruleset", dispatch->games[i].ruleset);
        put_key_uint(writer, "players", dispatch->games[i].players);
        put_text(writer, "agents");
        put_agents(writer, game);
        put_text(writer, "keys");
        put_settings(writer, game);
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

/* What the reply needs besides the job. */
typedef struct HelloContext {
    const Dispatch *dispatch;
    const Session *session;
    uint64_t version; /* in which the two speak */
} HelloContext;

static void put_hello(Writer *writer, const Job *job, const void *context)
{
    const HelloContext *hello = context;
    const char *shm = hello->dispatch->config.shm_path;
    (void)job;
    reply_uint(writer, REPLY_PROTOCOL, hello->version);
    reply_uint(writer, REPLY_PROTOCOL_MIN, PROTOCOL_VERSION_MIN);
    reply_uint(writer, REPLY_PROTOCOL_MAX, PROTOCOL_VERSION);
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

/* ---- The request ---- */

/* The session with the request's token, moved to this connection; NULL, and the job refused, if
 * there is none. */
static Session *session_resume(Dispatch *dispatch, uint64_t peer, const char *key, Session *old,
                               Job *job)
{
    char token[WIRE_TEXT_MAX];
    request_text(&job->request, FIELD_OF_SESSION, token);
    Session *session = session_find_token(dispatch, token);
    if (session == NULL || strcmp(session->key->name, key) != 0) {
        session = NULL;
        job_refuse(job, ERROR_no_session, -1, "session: the token is not known, or has expired");
    } else if (session != old) {
        if (old != NULL) {
            session_end(dispatch, old, "another was resumed");
        }
        session_rebind(dispatch, session, peer);
    }
    return session;
}

static void journal_refusal(const Dispatch *dispatch, const Identity *identity, const char *why)
{
    journal_write(
        dispatch->config.journal, JOURNAL_WARNING, "refused",
        JOURNAL_FIELDS(JOURNAL_TEXT("peer", identity->address), JOURNAL_TEXT("why", why)));
}

/* What the client's access token is good for. */
typedef struct Access {
    bool client;
    bool administrator;
} Access;

/* Both are compared, however the first turns out. */
static Access access_read(const Dispatch *dispatch, const Request *request)
{
    const char *clients = dispatch->config.access_token;
    const char *administrators = dispatch->config.admin_token;
    char access[WIRE_TEXT_MAX];
    request_text(request, FIELD_OF_ACCESS, access);
    return (Access){
        .client = clients != NULL && secret_equal(clients, access),
        .administrator = administrators != NULL && secret_equal(administrators, access),
    };
}

/* The name that the session has from this hello on; false, and the job refused, if it is that of a
 * built-in agent. With a key that has a name, everything is called by that, and a client tells its
 * programs apart behind a slash. */
static bool hello_name(const Identity *identity, Job *job, char name[WIRE_TEXT_MAX])
{
    char said[WIRE_TEXT_MAX] = "";
    size_t length = strlen(identity->name);
    if (request_has(&job->request, FIELD_OF_NAME)) {
        request_text(&job->request, FIELD_OF_NAME, said);
    }
    bool under =
        strncmp(said, identity->name, length) == 0 && (said[length] == '\0' || said[length] == '/');
    if (length > 0 && said[0] == '\0') {
        snprintf(name, WIRE_TEXT_MAX, "%s", identity->name);
    } else if (length > 0 && !under) {
        snprintf(name, WIRE_TEXT_MAX, "%s/%.400s", identity->name, said);
    } else {
        snprintf(name, WIRE_TEXT_MAX, "%s", said);
    }
    return !name_is_agents(name) ||
           job_refuse(job, ERROR_denied, -1,
                      "name=%.40s: a built-in agent is called so; choose another", name);
}

/* True if the client has asked for nothing more than it may; otherwise the job is refused. */
static bool admin_check(Dispatch *dispatch, const Identity *identity, uint64_t peer, Access access,
                        Job *job)
{
    if (request_uint(&job->request, FIELD_OF_ADMIN) == 0 || identity->administrator ||
        access.administrator) {
        return true;
    }
    journal_refusal(dispatch, identity, "not an administrator");
    job_refuse(job, ERROR_denied, -1,
               "admin: for the daemon's own user on ipc, with the administrators' token, or with a "
               "key of theirs");
    return denied_later(dispatch, peer, job);
}

/* The highest version that both sides speak; 0: there is none. */
static uint64_t hello_version(const Request *request)
{
    uint64_t highest = request_uint(request, FIELD_OF_PROTOCOL);
    uint64_t lowest = request_has(request, FIELD_OF_PROTOCOL_MIN)
                          ? request_uint(request, FIELD_OF_PROTOCOL_MIN)
                          : highest;
    uint64_t common = highest < PROTOCOL_VERSION ? highest : PROTOCOL_VERSION;
    return common >= lowest && common >= PROTOCOL_VERSION_MIN ? common : 0;
}

/* True if the client speaks our version and may come in; otherwise the job is refused. */
static bool hello_check(Dispatch *dispatch, const Identity *identity, uint64_t peer,
                        bool needs_token, Job *job)
{
    Access access = access_read(dispatch, &job->request);
    if (hello_version(&job->request) == 0) {
        return job_refuse(job, ERROR_bad_version, -1,
                          "protocol=%llu: this daemon speaks versions %d to %d",
                          (unsigned long long)request_uint(&job->request, FIELD_OF_PROTOCOL),
                          PROTOCOL_VERSION_MIN, PROTOCOL_VERSION);
    }
    if (identity->revoked) {
        journal_refusal(dispatch, identity, "revoked key");
        return job_refuse(job, ERROR_denied, -1, "the key of this connection was taken away");
    }
    if (!denied_may_try(dispatch, peer)) {
        return job_refuse(job, ERROR_busy, -1, "access: wait for the answer to the last token");
    }
    if (needs_token && !access.client && !access.administrator) {
        journal_refusal(dispatch, identity, "wrong access token");
        job_refuse(job, ERROR_denied, -1, "access: the access token is missing or wrong");
        return denied_later(dispatch, peer, job);
    }
    return admin_check(dispatch, identity, peer, access, job);
}

/* The session that hello begins or takes up; NULL, and the job refused, if there is none. */
static Session *hello_session(Dispatch *dispatch, const Identity *identity, uint64_t peer, Job *job)
{
    Session *session = session_find(dispatch, peer);
    if (request_has(&job->request, FIELD_OF_SESSION)) {
        return session_resume(dispatch, peer, identity->key, session, job);
    }
    if (session == NULL) {
        TyStatus status = session_begin(dispatch, peer, identity->key, &session);
        if (status.code != TY_OK) {
            journal_refusal(dispatch, identity, status.message);
            job_refuse_status(job, &status);
        }
    }
    return session;
}

static void journal_session(const Dispatch *dispatch, const Session *session,
                            const Request *request)
{
    journal_write(dispatch->config.journal, JOURNAL_INFO,
                  request_has(request, FIELD_OF_SESSION) ? "session_resume" : "session_begin",
                  JOURNAL_FIELDS(JOURNAL_NUMBER("session", session->id.serial),
                                 JOURNAL_TEXT("name", session->name),
                                 JOURNAL_TEXT("peer", session->identity.address),
                                 JOURNAL_NUMBER("admin", session->administrator)));
}

/* What a session is from this hello on. */
static void session_introduce(const Dispatch *dispatch, Session *session, const Identity *identity,
                              bool needs_token, const Request *request)
{
    Access access = access_read(dispatch, request);
    session->silent_since_ms = dispatch->now_ms;
    session->identity = *identity;
    session->administrator = request_uint(request, FIELD_OF_ADMIN) != 0;
    session->by_token = needs_token && access.client;
    session->by_admin_token =
        (needs_token && !access.client) || (session->administrator && !identity->administrator);
    session->pushes = request_uint(request, FIELD_OF_PUSH) != 0;
}

void request_hello(Dispatch *dispatch, uint64_t peer, bool needs_token, Job *job)
{
    Identity identity = {.address = ""};
    if (dispatch->config.identify != NULL) {
        dispatch->config.identify(dispatch->config.user, job->frame, &identity);
    }
    char name[WIRE_TEXT_MAX];
    Session *session =
        hello_check(dispatch, &identity, peer, needs_token, job) && hello_name(&identity, job, name)
            ? hello_session(dispatch, &identity, peer, job)
            : NULL;
    if (session == NULL) {
        return;
    }
    session_introduce(dispatch, session, &identity, needs_token, &job->request);
    dispatch->noticed = dispatch->noticed || session->notice_count > 0;
    if (request_has(&job->request, FIELD_OF_NAME) || session->name[0] == '\0') {
        memcpy(session->name, name, sizeof session->name);
    }
    journal_session(dispatch, session, &job->request);
    const HelloContext context = {
        .dispatch = dispatch, .session = session, .version = hello_version(&job->request)};
    job_reply(job, 16 << 10, put_hello, &context);
}

TyStatus games_open(Dispatch *dispatch)
{
    for (uint32_t i = 0; i < ty_game_count() && i < GAMES_MAX; i++) {
        GameEntry *game = &dispatch->games[i];
        TyRuleset *ruleset = NULL;
        TyStatus status = ty_ruleset_open(ty_game_name(ty_game_at(i)), NULL, &ruleset);
        if (status.code != TY_OK) {
            return status;
        }
        snprintf(game->ruleset, sizeof game->ruleset, "%s", ty_shape(ruleset)->spec);
        game->players = ty_shape(ruleset)->players;
        dispatch->game_count++;
        ty_ruleset_close(ruleset);
    }
    return ty_status_ok();
}
