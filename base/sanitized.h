// Defines XLAPROF_SANITIZED if the address or the thread sanitizer checks this code.
#pragma once

// GCC defines the first two macros; clang has __has_feature instead.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define XLAPROF_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define XLAPROF_SANITIZED 1
#endif
#endif
