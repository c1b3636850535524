#include "core/log.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/clock_ns.h"
#include "base/say.h"
#include "core/debug/append.h"

namespace xlaprof::lazy {
namespace {

// The names of a module in torch_xla, the present one first.
constexpr std::array<std::array<std::string_view, 2>, 2> kModules{
    {{"xla_graph_executor", "tensor"}, {"pjrt_computation_client", "computation_client"}}};

struct Settings {
  int64_t least = 1;  // importing torch_xla sets it to 1
  bool thread_id = false;
  std::string file;
  int64_t levels[kModules.size()] = {};
};

// Reads a number as TensorFlow does: what is not a number is 0. Nothing can be said about it here.
int64_t NumberIn(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == 0 ? otherwise : std::strtoll(text, nullptr, 10);
}

Settings ReadSettings() {
  Settings settings;
  settings.least = NumberIn("TF_CPP_MIN_LOG_LEVEL", 1);
  settings.thread_id = NumberIn("TF_CPP_LOG_THREAD_ID", 0) != 0;
  if (const char* file = std::getenv("TF_CPP_VLOG_FILENAME")) settings.file = file;
  if (settings.least > 0) return settings;
  const int64_t all = NumberIn("TF_CPP_MAX_VLOG_LEVEL", 0);
  const char* modules = std::getenv("TF_CPP_VMODULE");
  for (size_t i = 0; i < kModules.size(); ++i) {
    settings.levels[i] = all;
    for (absl::string_view entry : absl::StrSplit(modules == nullptr ? "" : modules, ',')) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(entry, absl::MaxSplits('=', 1));
      int64_t level = 0;
      if (std::ranges::find(kModules[i], pair.first) != kModules[i].end() &&
          absl::SimpleAtoi(pair.second, &level))
        settings.levels[i] = std::max(all, level);
    }
  }
  return settings;
}

const Settings& TheSettings() {
  static const Settings& settings = *new Settings(ReadSettings());
  return settings;
}

std::string Line(char level, const std::source_location& where, std::string_view text) {
  const int64_t now_us = ClockNs(CLOCK_REALTIME) / 1000;
  std::string_view file = where.file_name();
  if (const size_t folder = file.rfind("/core/"); folder != file.npos)
    file.remove_prefix(folder + 1);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06}: {}{} {}:{}] {}\n",
                     fmt::localtime(time_t(now_us / 1'000'000)), now_us % 1'000'000, level,
                     TheSettings().thread_id ? fmt::format(" {:7}", gettid()) : "", file,
                     where.line(), text);
}

}  // namespace

bool Logs(LogLevel level) { return int64_t(level) >= TheSettings().least; }
bool Logs(LogModule module, int64_t level) { return TheSettings().levels[size_t(module)] >= level; }
bool LogsAnyModule() { return std::ranges::max(TheSettings().levels) > 0; }

void WriteMessage(LogLevel level, const std::source_location& where, std::string_view text) {
  const std::string line = Line("IWE"[size_t(level)], where, text);
  Say(line);
}

void WriteToCppLog(const std::source_location& where, std::string_view text) {
  const std::string line = Line('I', where, text);
  const std::string& file = TheSettings().file;
  if (file.empty() || !AppendToFile("TF_CPP_VLOG_FILENAME", file, line)) Say(line);
}

}  // namespace xlaprof::lazy
