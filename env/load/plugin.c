/* Loading games and agents of the user's own from a shared object. */
#include "core/status.h"
#include "game.h"

#include <dlfcn.h>
#include <string.h>

TyStatus ty_load(const char *path)
{
    TyStatus (*entry)(void) = NULL;
    /* A path without a slash would be searched for among the system's libraries. */
    if (strchr(path, '/') == NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "load %.200s: give a path with a /, such as ./%.60s",
                              path, path);
    }
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        return ty_status_fail(TY_BAD_FILE, "load: %.280s", dlerror());
    }
    void *symbol = dlsym(object, "trainyard_plugin");
    if (symbol == NULL) {
        dlclose(object);
        return ty_status_fail(TY_BAD_FILE, "load %.200s: it has no TY_PLUGIN", path);
    }
    memcpy(&entry, &symbol, sizeof entry);
    TyStatus status = entry();
    if (status.code != TY_OK) {
        dlclose(object);
    }
    return status;
}
