/* Every limit of the daemon, in one place. */
#include "daemon/limits.h"

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
