// Loops that both headers of the recorder can compile: profiler/record/record.h, whose classes are
// inline, and include/xlaprof/record.h, whose classes call the library. Include one of them first.
#pragma once

#include <cstdint>

namespace {

inline void Scopes(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    XLAPROF_TRACE("scope");
    asm volatile("" ::: "memory");
  }
}
inline void Counters(int64_t count) {
  for (int64_t i = 0; i < count; ++i) XLAPROF_COUNTER("counter", double(i));
}

}  // namespace
