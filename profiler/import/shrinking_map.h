// Files that become shorter while they are mapped: logs that are rotated by copying and truncating.
// Reading behind their new end would kill the process (SIGBUS); it gives zeros instead.
#pragma once

#include <cstddef>

namespace xlaprof {

// From now on, until UnguardMap. Installs a handler of SIGBUS that passes on what is not about such
// a mapping. Where very many are guarded already, this one is not. Any thread.
void GuardMap(void* begin, size_t size);
void UnguardMap(void* begin);
// Whether zeros were put in place of what was gone.
bool HasMapShrunk(const void* begin);

}  // namespace xlaprof
