// The exception of the tracing half of the runtime. It is raised only at the public interface,
// because a tensor expression has no place for a status (docs/decisions/0005). From compilation on,
// everything returns absl::Status.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace xlaprof::lazy {

// An error whose what() names the operation, the shapes and the caller's line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void Raise(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace xlaprof::lazy
