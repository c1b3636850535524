#include "profiler/import/gaudi/gaudi_dumps.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using nlohmann::json;

// A dump that is longer is damage. The longest part is the list of recipes, of about 100 bytes
// each, which is not read.
constexpr size_t kMaxDumpBytes = size_t(64) << 20;
constexpr double kMostCounted = 1e18;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Python before 3.11 writes the bare word, and later ones MetricDumpTrigger.process_exit.
GaudiTrigger TriggerOf(std::string_view text) {
  if (text.ends_with("metric_change")) return GaudiTrigger::kMetricChange;
  if (text.ends_with("process_exit")) return GaudiTrigger::kProcessExit;
  return GaudiTrigger::kOther;
}

void AddNumber(std::string name, double value, GaudiDump& dump) {
  if (std::isfinite(value) && value >= 0 && value <= kMostCounted)
    dump.numbers.emplace_back(std::move(name), value);
}

// --- JSON ---

// Returns the end of the object that begins at `at`, or npos if it has none. Braces in texts do not
// count.
size_t EndOfObject(std::string_view file, size_t at) {
  int64_t depth = 0;
  bool in_text = false;
  for (; at < file.size(); ++at) {
    const char c = file[at];
    if (in_text) {
      if (c == '\\') ++at;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::string TextIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? ToUtf8(found->get_ref<const std::string&>())
                                                     : "";
}

bool FromJson(std::string_view text, GaudiDump& dump) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return false;
  dump.metric = TextIn(object, "metric_name");
  const auto statistics = object.find("statistics");
  if (dump.metric.empty() || statistics == object.end() || !statistics->is_object()) return false;
  dump.trigger = TriggerOf(TextIn(object, "triggered_by"));
  dump.at_ns = LogTime(TextIn(object, "generated_on"));
  for (const auto& [name, value] : statistics->items()) {
    if (value.is_number()) AddNumber(ToUtf8(name), value.get<double>(), dump);
    if (name != "FallbackOps" || !value.is_object()) continue;
    for (const auto& [op, calls] : value.items()) {
      if (calls.is_number_unsigned() && calls.get<uint64_t>() < uint64_t(kMostCounted))
        dump.ops.emplace_back(ToUtf8(op), calls.get<int64_t>());
    }
  }
  return true;
}

absl::StatusOr<GaudiFileEnd> EachInJson(std::string_view file,
                                        const std::function<absl::Status(GaudiDump)>& fn) {
  GaudiFileEnd end;
  int64_t line = 1;
  size_t counted = 0;
  for (size_t at = file.find('{'); at != std::string_view::npos; at = file.find('{', at)) {
    const size_t last = EndOfObject(file, at);
    if (last == std::string_view::npos) {
      end.cut = true;
      break;
    }
    GaudiDump dump;
    line += std::count(file.begin() + int64_t(counted), file.begin() + int64_t(at), '\n');
    counted = at;
    dump.offset = int64_t(at);
    dump.line = line;
    if (last - at <= kMaxDumpBytes && FromJson(file.substr(at, last - at), dump)) {
      XP_TRY(fn(std::move(dump)));
    } else if (end.not_a_dump++ == 0) {
      end.first_odd = int64_t(at);
    }
    at = last;
  }
  // A process that was killed leaves a list without its end. All of its dumps are there.
  return end;
}

// --- text ---

// Reads a dictionary as Python prints it: {'aten::nonzero': 3, 'aten::unique': 1}.
void TakeOps(std::string_view text, GaudiDump& dump) {
  while (true) {
    const size_t begin = text.find_first_of("'\"");
    if (begin == std::string_view::npos) return;
    const size_t close = text.find(text[begin], begin + 1);
    if (close == std::string_view::npos) return;
    const std::string_view op = text.substr(begin + 1, close - begin - 1);
    text.remove_prefix(close + 1);
    if (!text.starts_with(':')) continue;
    text = Trim(text.substr(1));
    const std::optional<int64_t> calls = TakeInteger<int64_t>(&text);
    if (calls && *calls >= 0 && *calls < int64_t(kMostCounted))
      dump.ops.emplace_back(ToUtf8(op), *calls);
  }
}

class TextReader {
 public:
  TextReader(std::string_view file, const std::function<absl::Status(GaudiDump)>& fn)
      : file_(file), fn_(fn) {}

  absl::StatusOr<GaudiFileEnd> Run() {
    int64_t number = 0;
    for (size_t at = 0; at < file_.size();) {
      const size_t end = std::min(file_.find('\n', at), file_.size());
      XP_TRY(TakeLine(file_.substr(at, end - at), int64_t(at), ++number));
      is_whole_ = end < file_.size();
      at = end + 1;
    }
    XP_TRY(Close());
    end_.cut = !is_whole_ || end_.cut;
    return end_;
  }

 private:
  absl::Status TakeLine(std::string_view line, int64_t offset, int64_t number) {
    if (line.size() > kMaxDumpBytes) line = line.substr(0, kMaxDumpBytes);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return absl::OkStatus();
    const bool is_indented = line.starts_with('\t') || line.starts_with(' ');
    const std::string_view key = Trim(line.substr(0, colon));
    const std::string_view value = Trim(line.substr(colon + 1));
    if (!is_indented && key == "Metric name") {
      XP_TRY(Close());
      dump_ = {};
      dump_.metric = ToUtf8(value);
      dump_.offset = offset;
      dump_.line = number;
      is_open_ = true;
    } else if (!is_open_) {
      return absl::OkStatus();
    } else if (key == "Triggered by") {
      dump_.trigger = TriggerOf(value);
    } else if (key == "Generated on") {
      dump_.at_ns = LogTime(value);
    } else if (key == "Statistics") {
      has_statistics_ = true;
    } else if (is_indented && key == "FallbackOps") {
      TakeOps(value, dump_);
    } else if (is_indented) {
      if (const auto real = ParseReal(value)) AddNumber(ToUtf8(key), *real, dump_);
    }
    return absl::OkStatus();
  }

  absl::Status Close() {
    if (!is_open_) return absl::OkStatus();
    is_open_ = false;
    if (!std::exchange(has_statistics_, false)) {
      end_.cut = true;
      return absl::OkStatus();
    }
    return fn_(std::move(dump_));
  }

  std::string_view file_;
  const std::function<absl::Status(GaudiDump)>& fn_;
  GaudiDump dump_;
  GaudiFileEnd end_;
  bool is_open_ = false, has_statistics_ = false, is_whole_ = true;
};

}  // namespace

OptInt GaudiDump::Count(std::string_view name) const {
  for (const auto& [key, value] : numbers) {
    if (key == name) return int64_t(value);
  }
  return {};
}

bool IsGaudiJson(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (head[begin] == '[' || head[begin] == '{') &&
         Contains(head, "\"metric_name\"") && Contains(head, "\"triggered_by\"") &&
         Contains(head, "\"statistics\"");
}

bool IsGaudiText(std::string_view head) {
  return Contains(head, "Metric name: ") && Contains(head, "\nTriggered by: ") &&
         Contains(head, "\nGenerated on: ") && Contains(head, "\nStatistics:");
}

absl::StatusOr<GaudiFileEnd> EachGaudiDump(std::string_view file,
                                           const std::function<absl::Status(GaudiDump)>& fn) {
  const size_t begin = file.find_first_not_of(" \t\r\n");
  const bool is_json =
      begin != std::string_view::npos && (file[begin] == '[' || file[begin] == '{');
  return is_json ? EachInJson(file, fn) : TextReader(file, fn).Run();
}

}  // namespace xlaprof
