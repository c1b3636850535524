// Defines a function that Debian's headers of abseil declare, and abseil's own source lacks
// (cmake/private.cmake).
#include <absl/base/config.h>

#include <cstdio>
#include <cstdlib>

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace container_internal {

// Ends the process, because a hash table was asked for more elements than memory can have.
[[noreturn]] void HashTableSizeOverflow();
void HashTableSizeOverflow() {
  std::fputs("xlaprof: a hash table cannot have so many elements\n", stderr);
  std::abort();
}

}  // namespace container_internal
ABSL_NAMESPACE_END
}  // namespace absl
