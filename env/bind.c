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
        {"TyHead", sizeof(TyHead)},
        {"TySplit", sizeof(TySplit)},
        {"TyView", sizeof(TyView)},
        {"TyAgent", sizeof(TyAgent)},
        {"TyPlanner", sizeof(TyPlanner)},
        {"TyColumnLayout", sizeof(TyColumnLayout)},
        {"TyGroupLayout", sizeof(TyGroupLayout)},
        {"TySlab", sizeof(TySlab)},
        {"TyPoolConfig", sizeof(TyPoolConfig)},
        {"TyRestore", sizeof(TyRestore)},
        {"TyNetChoice", sizeof(TyNetChoice)},
        {"TyHeadInput", sizeof(TyHeadInput)},
        {"TyHeadChange", sizeof(TyHeadChange)},
        {"TyHeadSlopes", sizeof(TyHeadSlopes)},
        {"TyRival", sizeof(TyRival)},
        {"TyCollectorConfig", sizeof(TyCollectorConfig)},
        {"TyCollected", sizeof(TyCollected)},
        {"TyOutcomes", sizeof(TyOutcomes)},
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
    const char *missing; /* the complaint about a value that is not in the list */
} FileList;

static TyStatus file_list_open(void *user, const char *value, const char **bytes, size_t *size,
                               char name[TY_NAME_MAX])
{
    const FileList *list = user;
    for (uint32_t i = 0; i < list->count; i++) {
        const TyFileBytes *file = &list->files[i];
        if (strcmp(file->value, value) == 0) {
            TyText text = ty_text_init(name, TY_NAME_MAX);
            ty_text_add(&text, "%s", file->name);
            *bytes = file->bytes;
            *size = file->size;
            return ty_status_ok();
        }
    }
    return ty_status_fail(TY_BAD_CONFIG, "%s", list->missing);
}

TyStatus ty_ruleset_open_bytes(const char *spec, const TyFileBytes *files, uint32_t count,
                               TyRuleset **ruleset)
{
    FileList list = {
        .files = files,
        .count = count,
        .missing = "neither built in nor a path, which has a '/' or ends in .json",
    };
    const TyFiles source = {.user = &list, .open = file_list_open};
    return ty_ruleset_open(spec, &source, ruleset);
}

TyStatus ty_agent_open_bytes(const TyRuleset *ruleset, const char *spec, const TyFileBytes *files,
                             uint32_t count, const TyAgent **agent)
{
    FileList list = {.files = files, .count = count, .missing = "there is no such file"};
    const TyFiles source = {.user = &list, .open = file_list_open};
    return ty_agent_open(ruleset, spec, &source, agent);
}
