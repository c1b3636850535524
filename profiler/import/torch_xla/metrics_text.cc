#include "profiler/import/torch_xla/metrics_text.h"

#include <absl/container/flat_hash_set.h>

#include <cctype>
#include <charconv>
#include <utility>

#include "core/base/duration.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// What metrics_report() prints, entries sorted by name within four groups (metrics and counters of
// two registries):
//   Metric: CompileTime
//     TotalSamples: 4
//     Accumulator: 02s382ms966.884us
//     ValueRate: 01s076ms295.114us / second        (not with one sample)
//     Rate: 1.80741 / second                       (not with one sample)
//     Percentiles: 1%=247ms936.300us; 5%=247ms936.300us; …
//   Counter: CachedCompile
//     Value: 32
// In XLA_METRICS_FILE each report stands under `[MetricsData; step=N]` and ends with an empty line.
// Reports of 2019 say `Counter:` for Accumulator; those of the XRT server have Mean and StdDev
// lines. Users paste them with a log's prefix before each line and without indentation, several in
// one text, behind a backtick or whatever was printed last, cut anywhere, and without the first
// letters; report_lines.h tells what else.

enum Label {
  kHeader,
  kMetric,
  kCounter,
  kSamples,
  kAccumulator,
  kValueRate,
  kRate,
  kPercentiles,
  kValue,
  kNone
};
constexpr std::string_view kLabels[] = {
    "[MetricsData; step=", "Metric: ", "Counter: ",     "TotalSamples: ", "Accumulator: ",
    "ValueRate: ",         "Rate: ",   "Percentiles: ", "Value: "};

struct Field {
  Label label = kNone;
  std::string_view text;  // behind the label
};

Field FieldOf(std::string_view line) {
  std::string_view trimmed = Trim(line);
  // A header may stand behind anything: behind a prefix, or behind the line in which an earlier run
  // was killed.
  if (trimmed.ends_with(']')) {
    size_t at = trimmed.rfind(kLabels[kHeader]);
    if (at != std::string_view::npos)
      return {kHeader, trimmed.substr(at + kLabels[kHeader].size())};
  }
  for (int i = 0; i < kNone; ++i) {
    if (trimmed.starts_with(kLabels[i])) return {Label(i), Trim(trimmed.substr(kLabels[i].size()))};
  }
  for (int i = 0; i < kNone; ++i) {  // behind a log's prefix
    size_t at = trimmed.find(kLabels[i]);
    if (at == std::string_view::npos || at == 0) continue;
    bool in_word =
        std::isalnum(static_cast<unsigned char>(trimmed[at - 1])) || trimmed[at - 1] == '_';
    // "\nMetric: ": a report that was printed as a Python string.
    bool escaped = at >= 2 && trimmed.substr(at - 2, 2) == "\\n";
    if (in_word && !escaped) continue;
    return {Label(i), Trim(trimmed.substr(at + kLabels[i].size()))};
  }
  // "Percentiles:" of a registry that was told to print none.
  return trimmed.ends_with("Percentiles:") ? Field{kPercentiles, {}} : Field{};
}

// The name of the first entry of a paste that lost its first letters: "etric: CompileTime".
std::string_view NameBehindCutLabel(std::string_view line) {
  constexpr size_t kShortest = 4;  // "ic: ": shorter ends stand in any text
  std::string_view trimmed = Trim(line);
  for (size_t cut = 1; kLabels[kMetric].size() - cut >= kShortest; ++cut) {
    std::string_view end = kLabels[kMetric].substr(cut);
    if (trimmed.starts_with(end)) return Trim(trimmed.substr(end.size()));
  }
  return {};
}

// Of samples, of a counter, of a save: none of them is negative.
OptInt Count(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// The first word: something else may follow on the line.
std::string_view Word(std::string_view text) { return text.substr(0, text.find(' ')); }

std::string_view WithoutPerSecond(std::string_view text) {
  size_t slash = text.find(" / second");
  return slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
}

}  // namespace

OptInt MetricsText::Counter(std::string_view name) const {
  for (const MetricEntry& entry : entries) {
    if (entry.is_counter && entry.name == name) return entry.value;
  }
  return std::nullopt;
}

bool MetricsReader::Next(MetricsText* report) {
  *report = MetricsText();
  bool begun = false;
  absl::flat_hash_set<std::string_view> metrics;
  bool server_seen = false;
  std::string_view cut_name;  // of the line before, if it may be the first entry of all
  auto begin = [&] {
    if (begun) return;
    begun = true;
    report->offset = lines_.offset(), report->line = lines_.number();
  };
  while (lines_.Next()) {
    if (lines_.line().empty()) continue;
    Field field = FieldOf(lines_.line());
    std::string_view name_before = std::exchange(cut_name, {});
    if (field.label == kNone && report->entries.empty())
      cut_name = NameBehindCutLabel(lines_.line());
    if (field.label == kSamples && report->entries.empty() && !name_before.empty()) {
      begin();
      metrics.insert(name_before);
      report->entries.push_back(
          {.name = name_before, .offset = lines_.offset(), .line = lines_.number()});
    }
    MetricEntry* entry = report->entries.empty() ? nullptr : &report->entries.back();
    MetricEntry* metric = entry != nullptr && !entry->is_counter ? entry : nullptr;
    // A file that is cut may stop inside a number; the last line of a pasted report has often lost
    // its end.
    bool readable = lines_.ended() || !report->save_number;
    if (field.label == kCounter && metric != nullptr && metric->samples &&
        metric->accumulator.empty() && ParseMetricNumber(field.text)) {
      field.label = kAccumulator;
    }
    switch (field.label) {
      case kHeader: {
        OptInt number = Count(field.text.substr(0, field.text.find(']')));
        if (!number) break;
        if (begun) {
          lines_.Unread();
          Finish(*report, false);
          return true;
        }
        begin();
        report->save_number = number;
        break;
      }
      case kMetric:
      case kCounter: {
        if (field.text.empty() || field.text.find(' ') != std::string_view::npos || !readable)
          break;
        // A name again, or one of the client's behind those of the server, which come last.
        const bool of_server = field.text.starts_with("Xrt");
        if (field.label == kMetric &&
            (!metrics.insert(field.text).second || (server_seen && !of_server))) {
          lines_.Unread();
          Finish(*report, false);
          return true;
        }
        begin();
        server_seen |= field.label == kMetric && of_server;
        report->entries.push_back({.name = field.text,
                                   .is_counter = field.label == kCounter,
                                   .offset = lines_.offset(),
                                   .line = lines_.number()});
        break;
      }
      case kSamples:
        if (metric != nullptr && readable) metric->samples = Count(Word(field.text));
        break;
      case kAccumulator:
        if (metric != nullptr && readable) metric->accumulator = Word(field.text);
        break;
      case kValueRate:
        if (metric != nullptr) metric->value_rate = WithoutPerSecond(field.text);
        break;
      case kRate:
        if (metric != nullptr) metric->rate = WithoutPerSecond(field.text);
        break;
      case kPercentiles:
        if (metric == nullptr) break;
        metric->percentiles = readable ? field.text : field.text.substr(0, field.text.rfind(';'));
        metric->has_percentiles = true;
        break;
      case kValue:
        if (entry != nullptr && entry->is_counter && readable)
          entry->value = Count(Word(field.text));
        break;
      case kNone:
        break;
    }
  }
  if (!begun) return false;
  Finish(*report, true);
  // A saved report ends with an empty line; the text of one that was pasted may end anywhere.
  if (report->save_number && (!lines_.ended() || !lines_.line().empty())) report->torn = true;
  return true;
}

void MetricsReader::Finish(MetricsText& report, bool at_end) {
  if ((at_end || report.save_number) && !report.entries.empty()) {
    const MetricEntry& last = report.entries.back();
    report.torn = !last.whole() || (!last.is_counter && !last.has_percentiles);
  }
  std::vector<MetricEntry> whole;
  whole.reserve(report.entries.size());
  for (size_t i = 0; i < report.entries.size(); ++i) {
    MetricEntry& entry = report.entries[i];
    if (entry.whole()) {
      whole.push_back(std::move(entry));
    } else if (!report.torn || i + 1 < report.entries.size()) {
      if (broken_entries_++ == 0) broken_offset_ = entry.offset, broken_line_ = entry.line;
    }
  }
  report.entries = std::move(whole);
}

}  // namespace xlaprof
