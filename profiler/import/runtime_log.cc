#include "profiler/import/runtime_log.h"

#include <cctype>
#include <charconv>
#include <chrono>

namespace xlaprof {
namespace {

// With TF_CPP_VMODULE=tensor=3 (later xla_graph_executor=3) versions up to 2.0 write, among much
// else:
//   2022-02-09 23:33:25.457877: I /x/torch_xla/csrc/tensor.cpp:1575] Compiling IR graph hash fd31…
//   on device GPU:0 ... 2022-02-09 23:33:53.698418: I /x/torch_xla/csrc/tensor.cpp:1580] Compiling
//   IR graph hash fd31… on device GPU:0 done!
// and the same with Executing. Devices of one process write to one log.
constexpr std::string_view kHash = "IR graph hash ", kDevice = " on device ";

OptInt Number(std::string_view text, size_t begin, size_t digits) {
  int64_t value = 0;
  if (begin + digits > text.size()) return std::nullopt;
  auto [end, error] = std::from_chars(text.data() + begin, text.data() + begin + digits, value);
  return error == std::errc() && end == text.data() + begin + digits ? OptInt(value) : std::nullopt;
}

// "2022-02-09 23:33:25.457877", anywhere before the message: a log's prefix may stand before it.
OptInt Time(std::string_view prefix) {
  for (size_t dot = prefix.find('.'); dot != std::string_view::npos;
       dot = prefix.find('.', dot + 1)) {
    if (dot < 19) continue;
    std::string_view text = prefix.substr(dot - 19);
    OptInt year = Number(text, 0, 4), month = Number(text, 5, 2), day = Number(text, 8, 2),
           hour = Number(text, 11, 2), minute = Number(text, 14, 2), second = Number(text, 17, 2),
           micros = Number(text, 20, 6);
    if (!year || !month || !day || !hour || !minute || !second || !micros) continue;
    const std::chrono::year_month_day date{std::chrono::year(int(*year)),
                                           std::chrono::month(unsigned(*month)),
                                           std::chrono::day(unsigned(*day))};
    if (!date.ok() || *year < 1970 || *year > 2200) continue;
    const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return ((((days * 24 + *hour) * 60 + *minute) * 60 + *second) * 1'000'000 + *micros) * 1000;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RuntimeLogLine> ParseRuntimeLogLine(std::string_view line) {
  size_t at = line.find(kHash);
  if (at == std::string_view::npos) return std::nullopt;
  RuntimeLogLine out;
  std::string_view before = line.substr(0, at);
  out.compiles = before.ends_with("Compiling ");
  if (!out.compiles && !before.ends_with("Executing ")) return std::nullopt;
  std::string_view rest = line.substr(at + kHash.size());
  size_t digits = rest.find_first_not_of("0123456789abcdefABCDEF");
  if (digits == 0 || digits == std::string_view::npos || !rest.substr(digits).starts_with(kDevice))
    return std::nullopt;
  for (char c : rest.substr(0, digits))
    out.hash += char(std::tolower(static_cast<unsigned char>(c)));
  rest.remove_prefix(digits + kDevice.size());
  size_t end = rest.find(' ');
  if (end == std::string_view::npos || end > 20) return std::nullopt;
  out.device = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  out.done = rest.starts_with("done");
  if (!out.done && !rest.starts_with("...")) return std::nullopt;
  out.at_ns = Time(before);
  return out;
}

}  // namespace xlaprof
