/* The descriptors that this process has open. Include cmocka.h before this. */
#pragma once

#include <dirent.h>
#include <stdint.h>

static inline uint32_t count_descriptors(void)
{
    uint32_t count = 0;
    DIR *stream = opendir("/proc/self/fd");
    assert_non_null(stream);
    while (readdir(stream) != NULL) {
        count++;
    }
    closedir(stream);
    return count;
}
