// The names of scopes that our lazy runtime opens around what a program asks it for. The profiler
// recognises by them what the runtime does there.
#pragma once

namespace xlaprof::runtime_scopes {

inline constexpr char kSave[] = "save";  // tensors are written to a file

}  // namespace xlaprof::runtime_scopes
