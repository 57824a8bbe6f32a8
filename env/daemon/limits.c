/* Every limit of the daemon, in one place. */
#include "daemon/limits.h"

#include <assert.h>
#include <string.h>

const LimitInfo limit_infos[LIMIT_COUNT] = {
#define LIMIT_INFO(NAME, STANDARD, MINIMUM, MAXIMUM, HELP)                                         \
    {#NAME, (uint64_t)(STANDARD), (uint64_t)(MINIMUM), (uint64_t)(MAXIMUM), HELP},
    LIMITS(LIMIT_INFO)
#undef LIMIT_INFO
};

Limits limits_standard(void)
{
    return (Limits){
#define LIMIT_STANDARD(NAME, STANDARD, MINIMUM, MAXIMUM, HELP) .NAME = (uint64_t)(STANDARD),
        LIMITS(LIMIT_STANDARD)
#undef LIMIT_STANDARD
    };
}

uint64_t *limit_at(Limits *limits, uint32_t index)
{
    uint64_t *const places[LIMIT_COUNT] = {
#define LIMIT_PLACE(NAME, STANDARD, MINIMUM, MAXIMUM, HELP) &limits->NAME,
        LIMITS(LIMIT_PLACE)
#undef LIMIT_PLACE
    };
    return places[index];
}

uint32_t limit_index(const char *name)
{
    uint32_t index = 0;
    while (strcmp(limit_infos[index].name, name) != 0) {
        index++;
        assert(index < LIMIT_COUNT);
    }
    return index;
}

bool limit_is_fixed(uint32_t index)
{
    static const char *const fixed[] = {"message_bytes", "sessions",    "pools", "replies_queued",
                                        "heartbeat_ms",  "shm_spin_us", NULL};
    for (uint32_t i = 0; fixed[i] != NULL; i++) {
        if (strcmp(fixed[i], limit_infos[index].name) == 0) {
            return true;
        }
    }
    return false;
}
