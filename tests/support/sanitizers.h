/* Which sanitizers this build has: they make a test slower, or have allocations, threads and system
 * calls of their own. Whatever a test leaves out because of them, it asks here. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED_ADDRESS 1
#elif defined(__SANITIZE_THREAD__)
#define SANITIZED_THREAD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED_ADDRESS 1
#elif __has_feature(thread_sanitizer)
#define SANITIZED_THREAD 1
#endif
#endif

#if defined(SANITIZED_ADDRESS) || defined(SANITIZED_THREAD)
#define SANITIZED 1
#endif
