// Writes lines of torch_xla's C++ log if TF_CPP_VMODULE asks for them.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "core/environment.h"

namespace xlaprof::lazy::debug {

inline bool Logs(LogModule module, int64_t level) {
  return environment().log_levels[size_t(module)] >= level;
}

// Writes a line to TF_CPP_VLOG_FILENAME, or to stderr if that is not set, with time, thread and
// module as TensorFlow's logger does.
void WriteLog(LogModule module, std::string_view text);

// Logs a line of this level, which is at least 1.
template <class... Args>
void Log(LogModule module, int64_t level, fmt::format_string<Args...> format, Args&&... args) {
  if (Logs(module, level)) WriteLog(module, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace xlaprof::lazy::debug
