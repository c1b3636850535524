// Lets `sync()` mean lazy::sync() after `using namespace xlaprof::lazy`.
//
// <unistd.h>, which many headers of the standard library include, declares a function without
// parameters of that name in the global namespace, so a call without arguments would be ambiguous.
// Here it is declared as a template instead, over which the compiler prefers another function.
// `::sync()` still writes the file systems' buffers. This works if <unistd.h> has not been included
// yet, so include <xlaprof/lazy.h> before other headers. Otherwise write lazy::sync() or
// mark_step(): the ambiguous call does not compile.
#pragma once

#if !defined(_UNISTD_H)
#define sync xlaprof_hidden_sync
#include <unistd.h>
#undef sync

namespace xlaprof::lazy::internal {
extern "C" void PosixSync() noexcept __asm__("sync");
}

template <class = void>
void sync() noexcept {
  xlaprof::lazy::internal::PosixSync();
}
#endif
