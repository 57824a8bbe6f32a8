/* What bindings from other languages need: the sizes of structs, and files as plain bytes. */
#include "core/status.h"
#include "core/text.h"
#include "trainyard.h"

#include <string.h>

size_t ty_size_of(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {
        {"TyStatus", sizeof(TyStatus)},
        {"TyField", sizeof(TyField)},
        {"TyFileBytes", sizeof(TyFileBytes)},
        {"TyBlock", sizeof(TyBlock)},
        {"TyShape", sizeof(TyShape)},
        {"TySplit", sizeof(TySplit)},
        {"TyView", sizeof(TyView)},
        {"TyAgent", sizeof(TyAgent)},
        {"TyPlanner", sizeof(TyPlanner)},
        {"TyColumnLayout", sizeof(TyColumnLayout)},
        {"TyGroupLayout", sizeof(TyGroupLayout)},
        {"TySlab", sizeof(TySlab)},
        {"TyPoolConfig", sizeof(TyPoolConfig)},
        {"TyRestore", sizeof(TyRestore)},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (strcmp(sizes[i].name, type) == 0) {
            return sizes[i].size;
        }
    }
    return 0;
}

typedef struct FileList {
    const TyFileBytes *files;
    uint32_t count;
} FileList;

static TyStatus file_list_open(void *user, const char *value, const char **bytes, size_t *size,
                               char name[TY_NAME_MAX])
{
    const FileList *list = user;
    for (uint32_t i = 0; i < list->count; i++) {
        const TyFileBytes *file = &list->files[i];
        if (strcmp(file->value, value) == 0) {
            Text text = text_init(name, TY_NAME_MAX);
            text_add(&text, "%s", file->name);
            *bytes = file->bytes;
            *size = file->size;
            return status_ok();
        }
    }
    return status_fail(TY_BAD_CONFIG, "'%.60s': neither built in nor among the %u files given",
                       value, list->count);
}

TyStatus ty_ruleset_open_bytes(const char *spec, const TyFileBytes *files, uint32_t count,
                               TyRuleset **ruleset)
{
    FileList list = {.files = files, .count = count};
    const TyFiles source = {.user = &list, .open = file_list_open};
    return ty_ruleset_open(spec, &source, ruleset);
}
