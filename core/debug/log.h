// Lines of torch_xla's C++ log, where TF_CPP_VMODULE asks for them.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "core/environment.h"

namespace xlaprof::lazy::debug {

inline bool Logs(LogModule module, int64_t level) {
  return environment().log_levels[size_t(module)] >= level;
}

// To TF_CPP_VLOG_FILENAME, else to stderr; with time, thread and module, as TensorFlow's logger
// writes them.
void WriteLog(LogModule module, std::string_view text);

// A line of this level, of 1 and more.
template <class... Args>
void Log(LogModule module, int64_t level, fmt::format_string<Args...> format, Args&&... args) {
  if (Logs(module, level)) WriteLog(module, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace xlaprof::lazy::debug
