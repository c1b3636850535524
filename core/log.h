// Writes the runtime's messages and the lines of torch_xla's C++ log, both in the form of
// TensorFlow's logger:
//
//   2022-02-09 23:33:53.698418: W   23512 core/environment.cc:31] XLA_SYNC_WAIT=yes is not a number
//
// These variables choose what is written. They are read once, at the first line.
//
//   TF_CPP_MIN_LOG_LEVEL=1       messages from this level on: 0 information, 1 warnings, 2 errors
//   TF_CPP_LOG_THREAD_ID=1       lines have their thread's id
//   TF_CPP_VMODULE=NAME=5,…      the C++ log has lines of this module up to this level,
//   TF_CPP_MAX_VLOG_LEVEL=5      or of all modules; but only if TF_CPP_MIN_LOG_LEVEL is 0
//   TF_CPP_VLOG_FILENAME=FILE    file for the lines of the C++ log
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

namespace xlaprof::lazy {

enum class LogLevel : uint8_t { kInfo, kWarning, kError };

// The modules that write to the C++ log. TF_CPP_VMODULE has torch_xla's names for them:
// xla_graph_executor, or tensor as it was called before, and pjrt_computation_client, or
// computation_client.
enum class LogModule : uint8_t { kGraphs, kClient };

// Return whether lines of this level are written.
bool Logs(LogLevel level);
bool Logs(LogModule module, int64_t level);
// Returns whether any module writes to the C++ log.
bool LogsAnyModule();

// A format with the line that it is written in.
template <class... Args>
struct LogFormat {
  template <class Text>
  consteval LogFormat(const Text& text,
                      std::source_location place = std::source_location::current())
      : format(text), where(place) {}
  fmt::format_string<Args...> format;
  std::source_location where;
};

// Write a line, whose level was asked for, to stderr or to the file of the C++ log.
void WriteMessage(LogLevel level, const std::source_location& where, std::string_view text);
void WriteToCppLog(const std::source_location& where, std::string_view text);

// Writes a message to stderr.
template <class... Args>
void Log(LogLevel level, LogFormat<std::type_identity_t<Args>...> text, Args&&... args) {
  if (Logs(level))
    WriteMessage(level, text.where, fmt::format(text.format, std::forward<Args>(args)...));
}

// Writes a line of this level, which is at least 1, to the C++ log.
template <class... Args>
void Log(LogModule module, int64_t level, LogFormat<std::type_identity_t<Args>...> text,
         Args&&... args) {
  if (Logs(module, level))
    WriteToCppLog(text.where, fmt::format(text.format, std::forward<Args>(args)...));
}

}  // namespace xlaprof::lazy
