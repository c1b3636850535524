#include "profiler/import/torch_xla/metrics_text.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/torch_xla/report_lines.h"

namespace xlaprof {
namespace {

// metrics_report() prints this, with entries sorted by name within four groups (metrics and
// counters of two registries):
//   Metric: CompileTime
//     TotalSamples: 4
//     Accumulator: 02s382ms966.884us
//     ValueRate: 01s076ms295.114us / second        (not with one sample)
//     Rate: 1.80741 / second                       (not with one sample)
//     Percentiles: 1%=247ms936.300us; 5%=247ms936.300us; …
//   Counter: CachedCompile
//     Value: 32
// In XLA_METRICS_FILE each report follows `[MetricsData; step=N]` and ends with an empty line.
// Reports of 2019 say `Counter:` for Accumulator; those of the XRT server have Mean and StdDev
// lines. Users paste reports with a log's prefix before each line and without indentation, several
// in one text, after a backtick or whatever was printed last, cut anywhere, and without the first
// letters. report_lines.h lists what else they do.

constexpr std::string_view kLabels[] = {
    "[MetricsData; step=", "Metric: ", "Counter: ",     "TotalSamples: ", "Accumulator: ",
    "ValueRate: ",         "Rate: ",   "Percentiles: ", "Value: "};

// Removes the signs that may follow a field if a program printed or quoted the line: `Metric: A`,
// "Metric: A", ('Metric: A\n'.
std::string_view WithoutQuotes(std::string_view text) {
  for (;;) {
    const size_t end = text.find_last_not_of(" \t`\"',)]");
    text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    if (!text.ends_with("\\n")) return text;
    text.remove_suffix(2);
  }
}

// Returns the name of the first entry of a paste that lost its first letters: "etric: CompileTime".
std::string_view NameBehindCutLabel(std::string_view line) {
  constexpr size_t kShortest = 4;  // "ic: ": shorter ends occur in any text
  const std::string_view metric = "Metric: ", trimmed = Trim(line);
  for (size_t cut = 1; metric.size() - cut >= kShortest; ++cut) {
    std::string_view end = metric.substr(cut);
    if (trimmed.starts_with(end)) return WithoutQuotes(Trim(trimmed.substr(end.size())));
  }
  return {};
}

// Returns the first word, because something else may follow on the line.
std::string_view Word(std::string_view text) {
  return WithoutQuotes(text.substr(0, text.find(' ')));
}

std::string_view WithoutPerSecond(std::string_view text) {
  size_t slash = text.find(" / second");
  return slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
}

bool IsOf(std::string_view text, std::string_view signs) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || signs.find(c) != std::string_view::npos;
  });
}

// Returns whether an item is a percentile, such as "20%=028ms297.071us".
bool IsPercentile(std::string_view item) {
  const size_t equals = item.find("%=");
  return equals != std::string_view::npos && ParseMetricNumber(item.substr(0, equals)) &&
         ParseMetricNumber(item.substr(equals + 2));
}

// Returns whether percentiles go up to the last one, and that ends with its unit or its second
// decimal.
bool IsFinished(std::string_view percentiles) {
  constexpr double kLast = 99;
  const std::string_view item = Trim(percentiles.substr(percentiles.rfind(';') + 1));
  if (!IsPercentile(item)) return false;
  const size_t point = item.rfind('.');
  const bool ends = item.ends_with("us") || item.ends_with('B') ||
                    (point != std::string_view::npos && item.size() - point == 3);
  return ends && ParseMetricNumber(item.substr(0, item.find('%')))->value >= kLast;
}

// Returns whether a text is a list of percentiles. All but the last must be whole; the last may
// continue in another line.
bool ArePercentiles(std::string_view text) {
  size_t end = text.find(';');
  for (; end != std::string_view::npos; end = text.find(';')) {
    if (!IsPercentile(Trim(text.substr(0, end)))) return false;
    text.remove_prefix(end + 1);
  }
  const std::string_view last = Trim(text);
  return last.empty() || IsPercentile(last) ||
         (last.find_first_not_of("0123456789.%=dhmsuKMGTPB") == std::string_view::npos &&
          last.front() >= '0' && last.front() <= '9');
}

}  // namespace

enum MetricsReader::Label : int {
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

struct MetricsReader::Field {
  Label label = kNone;
  std::string_view text;    // after the label
  std::string_view prefix;  // before it
};

MetricsReader::Field MetricsReader::FieldOf(std::string_view line) {
  std::string_view trimmed = Trim(line);
  // A header may follow anything: a prefix, or the line in which an earlier run was killed.
  if (const std::string_view most = WithoutQuotes(trimmed); most.size() < trimmed.size()) {
    const size_t at = most.rfind(kLabels[kHeader]);
    if (at != std::string_view::npos && trimmed[most.size()] == ']')
      return {kHeader, most.substr(at + kLabels[kHeader].size()), {}};
  }
  auto field = [&](int label, size_t at) {
    const std::string_view text = trimmed.substr(at + kLabels[label].size());
    return Field{Label(label), WithoutQuotes(Trim(text)), trimmed.substr(0, at)};
  };
  for (int i = 0; i < kNone; ++i) {
    if (trimmed.starts_with(kLabels[i])) return field(i, 0);
  }
  for (int i = 0; i < kNone; ++i) {  // after a log's prefix
    size_t at = trimmed.find(kLabels[i]);
    if (at == std::string_view::npos || at == 0) continue;
    bool in_word =
        std::isalnum(static_cast<unsigned char>(trimmed[at - 1])) || trimmed[at - 1] == '_';
    // "\nMetric: " is part of a report that was printed as a Python string.
    bool escaped = at >= 2 && trimmed.substr(at - 2, 2) == "\\n";
    if (!in_word || escaped) return field(i, at);
  }
  // A registry that prints no percentiles prints "Percentiles:" alone.
  return trimmed.ends_with("Percentiles:") ? Field{kPercentiles, {}, {}} : Field{};
}

OptInt MetricsText::Counter(std::string_view name) const {
  for (const MetricEntry& entry : entries) {
    if (entry.is_counter && entry.name == name) return entry.value;
  }
  return std::nullopt;
}

bool MetricsReader::Next(MetricsText* report) {
  while (lines_.Next()) {
    if (lines_.line().empty()) {
      above_ = nullptr;
      continue;
    }
    Field field = FieldOf(lines_.line());
    if (field.label == kNone) {
      TakeUnlabelled(lines_.line());
      Open& open = open_[origin_];
      open.cut_name = open.report.entries.empty() ? NameBehindCutLabel(lines_.line()) : "";
      continue;
    }
    Open* open = OpenOf(field);
    if (open == nullptr) {
      TakeHeadless(field);
    } else if (!TakeField(*open, field)) {
      lines_.Unread();
      above_ = nullptr;
      *report = Close(*open, false);
      return true;
    }
  }
  // The remaining reports come in the order of the text.
  Open* first = nullptr;
  for (auto& [origin, open] : open_) {
    if (open.begun && (first == nullptr || open.report.line < first->report.line)) first = &open;
  }
  if (first == nullptr) return false;
  *report = Close(*first, true);
  // A saved report ends with an empty line; the text of one that was pasted may end anywhere.
  if (report->save_number && (!lines_.ended() || !lines_.line().empty())) report->torn = true;
  return true;
}

// A line whose prefix shows no origin belongs to the writer of the line before.
MetricsReader::Open* MetricsReader::OpenOf(const Field& field) {
  constexpr size_t kMostOrigins = 2000;  // a log with more origins is not a log of ranks
  if (field.prefix.empty() || field.prefix == last_prefix_ || !tells_.value_or(true))
    return &open_[origin_];
  const LogOrigin origin = OriginOfPrefix(field.prefix);
  if (origin == LogOrigin()) return &open_[origin_];
  if (!tells_) {
    tells_ = !OriginsAreLineNumbers();
    if (!*tells_) return &open_[origin_];
    auto begun = open_.extract(LogOrigin());  // its first lines had no prefix
    if (begun) begun.key() = begun.mapped().report.origin = origin;
    open_.insert(std::move(begun));
  } else if (!open_.contains(origin)) {
    const bool begins = field.label == kHeader || field.label == kMetric || field.label == kCounter;
    if (!begins || open_.size() >= kMostOrigins) return nullptr;
  }
  origin_ = origin, last_prefix_ = field.prefix;
  return &open_[origin_];
}

// Returns whether prefixes such as in "[12]   TotalSamples: 4" are line numbers, which differ at
// each line. A process prints an entry's name and its fields, so an origin comes with several
// lines.
bool MetricsReader::OriginsAreLineNumbers() const {
  constexpr int kLines = 400;
  ReportLines lines(text_.substr(size_t(lines_.offset())));
  std::map<LogOrigin, int> seen;
  int labelled = 0;
  while (labelled < kLines && lines.Next()) {
    const Field field = FieldOf(lines.line());
    if (field.label == kNone || field.prefix.empty()) continue;
    ++labelled, ++seen[OriginOfPrefix(field.prefix)];
  }
  return labelled > 2 && 2 * int(seen.size()) > labelled;
}

void MetricsReader::Begin(Open& open) {
  if (std::exchange(open.begun, true)) return;
  open.report.offset = lines_.offset(), open.report.line = lines_.number();
  open.report.origin = origin_;
}

bool MetricsReader::TakeField(Open& open, Field field) {
  const std::string_view cut_name = std::exchange(open.cut_name, {});
  MetricsText& report = open.report;
  if (field.label == kSamples && report.entries.empty() && !cut_name.empty()) {
    Begin(open);
    open.metrics.insert(cut_name);
    report.entries.push_back(
        {.name = cut_name, .offset = lines_.offset(), .line = lines_.number()});
  }
  MetricEntry* entry = report.entries.empty() ? nullptr : &report.entries.back();
  if (field.label == kCounter && entry != nullptr && !entry->is_counter && entry->samples &&
      entry->accumulator.empty() && ParseMetricNumber(field.text)) {
    field.label = kAccumulator;
  }
  // A file that is cut may stop inside a number. The last line of a pasted report often has only
  // lost its end.
  const bool readable = lines_.ended() || !report.save_number;
  if (std::optional<TextPosition> at = std::exchange(value_above_, {}); at && !cut_head_)
    cut_head_ = at;
  above_ = nullptr;
  if (field.label == kHeader) {
    const OptInt number = ParseCount(field.text);
    if (!number) return true;
    if (open.begun) return false;
    Begin(open);
    report.save_number = number;
  } else if (field.label == kMetric || field.label == kCounter) {
    if (field.text.empty() || field.text.find(' ') != std::string_view::npos || !readable)
      return true;
    // A report ends if a name comes again, or if a metric of the client follows those of the
    // server, which come last.
    const bool of_server = field.text.starts_with("Xrt");
    if (field.label == kMetric &&
        (!open.metrics.insert(field.text).second || (open.server_seen && !of_server))) {
      return false;
    }
    Begin(open);
    open.server_seen |= field.label == kMetric && of_server;
    report.entries.push_back({.name = field.text,
                              .is_counter = field.label == kCounter,
                              .offset = lines_.offset(),
                              .line = lines_.number()});
  } else if (entry == nullptr) {
    if (!open.begun) TakeHeadless(field);
    return true;
  } else {
    TakeEntry(*entry, field, readable);
  }
  above_ = &open, label_above_ = field.label, prefix_above_ = field.prefix;
  length_above_ = lines_.line().size();
  return true;
}

// Takes a field of an entry. A second field of the same kind does not belong to it: "Best Value: 3"
// after the last counter.
void MetricsReader::TakeEntry(MetricEntry& entry, const Field& field, bool readable) {
  if (entry.is_counter) {
    if (field.label == kValue && readable && !std::exchange(entry.is_counted, true))
      entry.value = ParseCount(Word(field.text));
    return;
  }
  switch (field.label) {
    case kSamples:
      // Nothing else prints such a line, so a second one is of another report that is mixed with
      // this one.
      entry.is_broken |= entry.is_counted;
      if (readable && !std::exchange(entry.is_counted, true))
        entry.samples = ParseCount(Word(field.text));
      break;
    case kAccumulator:
      entry.is_broken |= !entry.accumulator.empty();
      if (readable && entry.accumulator.empty()) entry.accumulator = Word(field.text);
      break;
    case kValueRate:
      entry.value_rate = WithoutPerSecond(field.text);
      break;
    case kRate:
      entry.rate = WithoutPerSecond(field.text);
      break;
    case kPercentiles:
      if (!std::exchange(entry.has_percentiles, true))
        entry.percentiles = readable ? field.text : field.text.substr(0, field.text.rfind(';'));
      break;
    default:
      break;
  }
}

// Notes a field of an entry whose name came before the text. "Value: 3" may be anything, unless a
// report follows.
void MetricsReader::TakeHeadless(const Field& field) {
  const TextPosition here{lines_.offset(), lines_.number()};
  const bool is_sure =
      (field.label == kSamples && ParseCount(Word(field.text))) ||
      (field.label == kAccumulator && ParseMetricNumber(Word(field.text))) ||
      (field.label == kPercentiles && field.text.find("%=") != std::string_view::npos);
  if (is_sure && !cut_head_) cut_head_ = here;
  if (field.label == kValue && field.prefix.empty() && ParseCount(field.text)) value_above_ = here;
}

// Takes a line without a label. If it directly follows a line that has one, it may be the rest of
// that line.
void MetricsReader::TakeUnlabelled(std::string_view line) {
  constexpr size_t kNarrowest = 40;  // width of a terminal
  value_above_.reset();
  if (line.find("%=") != std::string_view::npos && !open_[origin_].begun &&
      IsPercentile(Trim(line.substr(line.rfind(';') + 1))))
    value_above_ = TextPosition{lines_.offset(), lines_.number()};  // the end of a line of
                                                                    // percentiles
  if (above_ == nullptr || above_->report.entries.empty()) return;
  MetricEntry& entry = above_->report.entries.back();
  std::string_view text = Trim(line);
  const std::string_view prefix = Trim(prefix_above_);
  if (!prefix.empty() && text.starts_with(prefix)) text = Trim(text.substr(prefix.size()));
  const bool is_wide = length_above_ >= kNarrowest;
  if (kLabels[kValue].starts_with(text) || kLabels[kSamples].starts_with(text)) return;
  switch (label_above_) {
    case kPercentiles:
      return Continue(entry, text);
    case kMetric:
    case kCounter:
      entry.is_broken |= IsOf(text, "_:.") && !ParseCount(text) && lines_.ended();
      break;
    case kSamples:
    case kValue:
      entry.is_broken |= is_wide && ParseCount(text).has_value();
      break;
    case kAccumulator:
      entry.is_broken |= is_wide && IsOf(text, ".") &&
                         ParseMetricNumber(std::string(entry.accumulator) + std::string(text));
      break;
    default:
      break;
  }
  above_ = nullptr;
}

void MetricsReader::Continue(MetricEntry& entry, std::string_view text) {
  constexpr size_t kLongest = 4000;
  const std::string joined = std::string(entry.percentiles) + std::string(text);
  if (entry.is_counter || joined.size() > kLongest || IsFinished(entry.percentiles) ||
      !ArePercentiles(joined)) {
    above_ = nullptr;
    return;
  }
  entry.percentiles = joined_.emplace_back(joined);
}

MetricsText MetricsReader::Close(Open& open, bool at_end) {
  Finish(open.report, at_end);
  return std::exchange(open, Open()).report;
}

void MetricsReader::Finish(MetricsText& report, bool at_end) {
  if ((at_end || report.save_number) && !report.entries.empty()) {
    const MetricEntry& last = report.entries.back();
    report.torn = !last.is_broken && (!last.whole() || (!last.is_counter && !last.has_percentiles));
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
