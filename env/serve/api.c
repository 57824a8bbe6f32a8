/* What pages ask for: a path and a JSON object in, a JSON object out. */
#include "core/status.h"
#include "load/load.h"
#include "serve/serve.h"

#include <inttypes.h>
#include <string.h>

/* A request being worked on. */
typedef struct Call {
    Yard *yard;
    const Role *role;
    const TyDoc *doc; /* what came with it */
    TyJson *json;     /* what it is answered */
} Call;

/* ---- Members of the request --------------------------------------------------------------------
 */

static TyStatus text_get(const Call *call, const char *key, const char **text)
{
    const TyDocNode *node = ty_doc_get(call->doc, &call->doc->nodes[0], key);
    *text = "";
    if (node == NULL || node->kind != TY_DOC_TEXT) {
        return ty_status_fail(TY_BAD_ARGUMENT, "%s: a text is needed", key);
    }
    *text = node->text;
    return ty_status_ok();
}

static TyStatus number_get(const Call *call, const char *key, uint64_t maximum, uint64_t *number)
{
    const TyDocNode *node = ty_doc_get(call->doc, &call->doc->nodes[0], key);
    *number = 0;
    if (node == NULL || node->kind != TY_DOC_INT || node->number < 0 ||
        (uint64_t)node->number > maximum) {
        return ty_status_fail(TY_BAD_ARGUMENT, "%s: a whole number from 0 to %" PRIu64 " is needed",
                              key, maximum);
    }
    *number = (uint64_t)node->number;
    return ty_status_ok();
}

static TyStatus seats_get(const Call *call, TableOrder *order)
{
    const TyDocNode *list = ty_doc_get(call->doc, &call->doc->nodes[0], "seats");
    if (list == NULL || list->kind != TY_DOC_LIST || list->child_count > TY_SEATS_MAX) {
        return ty_status_fail(TY_BAD_ARGUMENT, "seats: a list of up to %d texts is needed",
                              TY_SEATS_MAX);
    }
    for (const TyDocNode *entry = ty_doc_first(call->doc, list); entry != NULL;
         entry = ty_doc_next(call->doc, entry)) {
        if (entry->kind != TY_DOC_TEXT || strlen(entry->text) >= TY_NAME_MAX) {
            return ty_status_fail(TY_BAD_ARGUMENT, "seats: an entry is me, guest, program or the "
                                                   "name of an agent");
        }
        order->seats[order->seat_count++] = entry->text;
    }
    return ty_status_ok();
}

/* The table that is meant, locked: a guest's own, or any of the owner's. */
static TyStatus table_get(const Call *call, Table **table)
{
    uint64_t id = 0;
    *table = NULL;
    TyStatus status = number_get(call, "table", UINT32_MAX, &id);
    if (status.code == TY_OK && (call->role->owner || call->role->table == id)) {
        *table = table_take(call->yard, (uint32_t)id);
    }
    if (status.code == TY_OK && *table == NULL) {
        status = ty_status_fail(TY_BAD_ARGUMENT, "table=%" PRIu64 ": there is none", id);
    }
    return status;
}

/* ---- What can be asked for ---------------------------------------------------------------------
 */

static TyStatus call_open(const Call *call)
{
    TableOrder order = {.seat_count = 0};
    uint32_t id = 0;
    TyStatus status = text_get(call, "ruleset", &order.ruleset);
    if (status.code == TY_OK) {
        status = seats_get(call, &order);
    }
    if (status.code == TY_OK) {
        status = table_open(call->yard, &order, &id);
    }
    if (status.code == TY_OK) {
        ty_json_put_int(call->json, "table", id);
    }
    return status;
}

static TyStatus call_close(const Call *call)
{
    uint64_t id = 0;
    TyStatus status = number_get(call, "table", UINT32_MAX, &id);
    return status.code == TY_OK ? table_close(call->yard, (uint32_t)id) : status;
}

static TyStatus call_watch(const Call *call)
{
    const char *token;
    uint64_t pool = 0;
    TyStatus status = number_get(call, "pool", UINT32_MAX, &pool);
    if (status.code == TY_OK) {
        status = text_get(call, "token", &token);
    }
    return status.code == TY_OK ? yard_watch(call->yard, (uint32_t)pool, token) : status;
}

static TyStatus call_act(const Call *call)
{
    Table *table;
    uint64_t action = 0;
    uint64_t turn = 0;
    TyStatus status = number_get(call, "action", TY_ACTIONS_MAX, &action);
    if (status.code == TY_OK) {
        status = number_get(call, "turn", INT64_MAX, &turn);
    }
    if (status.code == TY_OK) {
        status = table_get(call, &table);
    }
    if (status.code == TY_OK) {
        status = table_act(table, call->role, (uint32_t)action, turn);
        table_give(table);
    }
    return status;
}

static TyStatus call_think(const Call *call)
{
    Table *table;
    TyStatus status = table_get(call, &table);
    if (status.code == TY_OK) {
        status = table_think(table, call->role, call->json);
        table_give(table);
    }
    return status;
}

static TyStatus call_back(const Call *call)
{
    Table *table;
    TyStatus status = table_get(call, &table);
    if (status.code == TY_OK) {
        status = table_take_back(table);
        table_give(table);
    }
    return status;
}

static TyStatus call_again(const Call *call)
{
    Table *table;
    TyStatus status = table_get(call, &table);
    if (status.code == TY_OK) {
        status = table_again(table);
        table_give(table);
    }
    return status;
}

static const struct {
    const char *path;
    bool guests; /* may ask for it, too */
    TyStatus (*run)(const Call *call);
} calls[] = {
    {"/api/open", false, call_open},   {"/api/close", false, call_close},
    {"/api/watch", false, call_watch}, {"/api/act", true, call_act},
    {"/api/think", true, call_think},  {"/api/back", false, call_back},
    {"/api/again", false, call_again},
};

/* ---- Answers -----------------------------------------------------------------------------------
 */

static TyStatus call_run(Call *call, const char *path, const char *body, size_t size,
                         unsigned *code)
{
    TyDoc doc;
    for (uint32_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(calls[i].path, path) != 0) {
            continue;
        }
        if (!call->role->owner && !calls[i].guests) {
            *code = 403;
            return ty_status_fail(TY_BAD_ARGUMENT, "this is for the owner of the server");
        }
        TyStatus status = load_json(body, size, &doc);
        if (status.code == TY_OK && doc.nodes[0].kind != TY_DOC_MAP) {
            status = ty_status_fail(TY_BAD_ARGUMENT, "a JSON object is needed");
        }
        call->doc = &doc;
        status = status.code == TY_OK ? calls[i].run(call) : status;
        call->doc = NULL;
        load_free(&doc);
        return status;
    }
    *code = 404;
    return ty_status_fail(TY_BAD_ARGUMENT, "there is nothing here");
}

void api_answer(Yard *yard, const Role *role, const char *path, const char *body, size_t size,
                TyJson *json, unsigned *code)
{
    Call call = {.yard = yard, .role = role, .json = json};
    TyJson empty = *json;
    *code = 400;
    ty_json_open(json, NULL, '{');
    TyStatus status = strcmp(path, "/api/yard") == 0 && body == NULL
                          ? yard_json(yard, role, json)
                          : call_run(&call, path, body, size, code);
    if (status.code == TY_OK) {
        *code = 200;
    } else {
        *json = empty;
        ty_json_open(json, NULL, '{');
        ty_json_put_string(json, "error", status.message);
    }
    ty_json_close(json, '}');
}
