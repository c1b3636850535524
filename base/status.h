// There is one way to report errors: a function that can fail returns absl::Status or
// absl::StatusOr<T>, and callers use XP_TRY. A message says what failed, where (byte or line) and
// what to try.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace xlaprof {

// These status constructors format their message: `NotFound("{}: no such file", path)`.
template <class... Args>
absl::Status NotFound(fmt::format_string<Args...> format, Args&&... args) {
  return absl::NotFoundError(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
absl::Status DataLoss(fmt::format_string<Args...> format, Args&&... args) {
  return absl::DataLossError(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
absl::Status Unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return absl::UnimplementedError(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
absl::Status IoError(fmt::format_string<Args...> format, Args&&... args) {
  return absl::UnavailableError(fmt::format(format, std::forward<Args>(args)...));
}

// Returns the message of a status as std::string_view (absl of Debian 12 has its own string_view
// type).
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

namespace internal {
inline absl::Status ToStatus(absl::Status status) { return status; }
template <class T>
absl::Status ToStatus(absl::StatusOr<T>&& value) {
  return std::move(value).status();
}
}  // namespace internal

}  // namespace xlaprof

#define XP_CONCAT_(a, b) a##b
#define XP_CONCAT(a, b) XP_CONCAT_(a, b)

// XP_TRY(expr);              returns the status of `expr` if it is not ok
// XP_TRY(auto x, expr);      the same, else declares or assigns x from the StatusOr's value
#define XP_TRY_1(expr)                                                                 \
  do {                                                                                 \
    if (absl::Status xp_status = ::xlaprof::internal::ToStatus(expr); !xp_status.ok()) \
        [[unlikely]]                                                                   \
      return xp_status;                                                                \
  } while (0)
#define XP_TRY_2(lhs, expr) XP_TRY_3(XP_CONCAT(xp_result_, __COUNTER__), lhs, expr)
#define XP_TRY_3(tmp, lhs, expr)    \
  auto tmp = (expr);                \
  if (!tmp.ok()) [[unlikely]]       \
    return std::move(tmp).status(); \
  lhs = std::move(tmp).value()
#define XP_TRY_PICK(a, b, macro, ...) macro
#define XP_TRY(...) XP_TRY_PICK(__VA_ARGS__, XP_TRY_2, XP_TRY_1, )(__VA_ARGS__)

// If `condition` is false, which is a bug of our own, prints the expression and its place and
// aborts.
#define XP_CHECK(condition)                                                                    \
  do {                                                                                         \
    if (!(condition)) [[unlikely]] {                                                           \
      std::fprintf(stderr, "%s:%d: XP_CHECK(%s) failed: this is a bug in xlaprof\n", __FILE__, \
                   __LINE__, #condition);                                                      \
      std::abort();                                                                            \
    }                                                                                          \
  } while (0)
