#include "core/debug/log.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <cstdio>

#include "base/clock_ns.h"
#include "core/debug/append.h"

namespace xlaprof::lazy::debug {

// Writes a line: 2022-02-09 23:33:53.698418: I   23512 <xlaprof>/xla_graph_executor.cpp:1]
// Compiling IR graph …
void WriteLog(LogModule module, std::string_view text) {
  const Environment& asked = environment();
  const int64_t now_us = ClockNs(CLOCK_REALTIME) / 1000;
  const std::string line = fmt::format(
      "{:%Y-%m-%d %H:%M:%S}.{:06}: I{} <xlaprof>/{}.cpp:1] {}\n",
      fmt::localtime(time_t(now_us / 1'000'000)), now_us % 1'000'000,
      asked.log_thread_id ? fmt::format(" {:7}", gettid()) : "", kLogModules[size_t(module)], text);
  const std::string& path = asked.log_file;
  if (path.empty() || !AppendToFile("TF_CPP_VLOG_FILENAME", path, line))
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace xlaprof::lazy::debug
