#include "profiler/import/torch_xla/report_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/duration.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

// Reads a size such as 75.00MB. Its prefixes are powers of 1024, although the labels look decimal.
std::optional<double> ParseBytes(std::string_view text) {
  if (!text.ends_with('B')) return std::nullopt;
  text.remove_suffix(1);
  double scale = 1;
  static constexpr std::string_view kPrefixes = "KMGTPE";
  if (size_t power = text.empty() ? std::string_view::npos : kPrefixes.find(text.back());
      power != std::string_view::npos) {
    scale = std::ldexp(1.0, 10 * (int(power) + 1));
    text.remove_suffix(1);
  }
  std::optional<double> value = ParseReal(text);
  if (!value) return std::nullopt;
  // Plain bytes keep their decimals, because the number may be a rate.
  return scale == 1 ? *value : std::round(*value * scale);
}

}  // namespace

std::optional<MetricNumber> ParseMetricNumber(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (auto value = ParseReal(text)) return MetricNumber{*value, MetricUnit::kValue};
  if (auto value = DecodeDurationNs(text)) return MetricNumber{*value, MetricUnit::kNs};
  if (auto value = ParseBytes(text)) return MetricNumber{*value, MetricUnit::kBytes};
  return std::nullopt;
}

namespace {

// The texts with which a field of a report may begin.
constexpr std::string_view kFields[] = {
    "Metric: ",    "Counter: ", "TotalSamples: ", "Accumulator: ",
    "ValueRate: ", "Rate: ",    "Percentiles: ",  "Value: "};

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the next field from `from` on, or npos if there is none.
size_t NextField(std::string_view text, size_t from) {
  size_t next = std::string_view::npos;
  for (std::string_view field : kFields) {
    for (size_t at = text.find(field, from); at != std::string_view::npos && at < next;
         at = text.find(field, at + 1)) {
      const bool escaped = at >= 2 && text[at - 2] == '\\' && text[at - 1] == 'n';
      if (at == 0 || !IsWord(text[at - 1]) || escaped) next = at;
    }
  }
  return next;
}

std::string_view LineAt(std::string_view text, size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool MayContinuePercentiles(std::string_view line) {
  return !line.empty() && NextField(line, 0) == std::string_view::npos &&
         std::ranges::all_of(line, [](char c) {
           return IsWord(c) || std::string_view(".%=; ").find(c) != std::string_view::npos;
         });
}

// Returns the width at which a terminal broke the lines; 0: none did. The longest lines of
// percentiles then all have that width, and continue in the next line.
size_t WrapWidth(std::string_view text) {
  constexpr std::string_view kPercentiles = "Percentiles: ";
  constexpr int kSeen = 20;
  constexpr size_t kNarrowest = 30;
  size_t width = 0;
  int at_width = 0, broken = 0;
  bool sure = false;  // more percentiles are in the next line
  size_t at = text.find(kPercentiles);
  for (int i = 0; i < kSeen && at != std::string_view::npos; ++i) {
    const size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    const std::string_view line = LineAt(text, begin), next = LineAt(text, end + 1);
    if (line.size() > width) width = line.size(), at_width = broken = 0, sure = false;
    if (line.size() == width) {
      const bool goes_on = next.size() <= width && MayContinuePercentiles(next);
      ++at_width, broken += goes_on;
      sure |= goes_on && next.find("%=") != std::string_view::npos;
    }
    at = text.find(kPercentiles, end);
  }
  return width >= kNarrowest && broken == at_width && (broken > 1 || sure) ? width : 0;
}

// Turns "aten::x\n  " of a Python string into "aten::x", and removes the quote after the last one.
std::string_view WithoutEscapedEnd(std::string_view text) {
  const size_t end = text.find("\\n");
  return end == std::string_view::npos ? text : text.substr(0, end);
}

}  // namespace

ReportLines::ReportLines(std::string_view text) : texts_(text), wrap_width_(WrapWidth(text)) {}

std::string_view ReportLines::Keep(std::string text) { return kept_.emplace_back(std::move(text)); }

bool ReportLines::NextText() {
  if (!std::exchange(waits_, false) && !texts_.Next()) return false;
  text_ = texts_.text();
  number_ = texts_.number(), offset_ = texts_.offset();
  ended_ = texts_.ended(), decoded_ = texts_.is_decoded();
  if (wrap_width_ == 0 || decoded_ || NextField(text_, 0) == std::string_view::npos) return true;
  constexpr size_t kLongest = 4000;
  for (size_t last = text_.size();
       last == wrap_width_ && text_.size() < kLongest && texts_.Next();) {
    const std::string_view more = texts_.text();
    waits_ = texts_.is_decoded() || more.empty() || more.size() > wrap_width_ ||
             NextField(more, 0) != std::string_view::npos;
    if (waits_) break;
    text_ = Keep(std::string(text_) + std::string(more));
    ended_ = texts_.ended();
    last = more.size();
  }
  return true;
}

bool ReportLines::Next() {
  if (again_) {
    again_ = false;
    return true;
  }
  if (pieces_.empty()) {
    if (!NextText()) return false;
    Split(text_);
    if (pieces_.empty()) {
      line_ = text_;
      return true;
    }
  }
  line_ = pieces_.back();
  pieces_.pop_back();
  return true;
}

void ReportLines::SplitFields(std::string_view line) {
  const size_t field = NextField(line, 0);
  size_t next = field == std::string_view::npos ? field : NextField(line, field + 1);
  const bool one = next == std::string_view::npos;
  size_t begin = 0;
  while (next != std::string_view::npos) {
    pieces_.push_back(WithoutEscapedEnd(line.substr(begin, next - begin)));
    begin = next;
    next = NextField(line, begin + 1);
  }
  const std::string_view last = line.substr(begin);
  pieces_.push_back(one ? last : WithoutEscapedEnd(last));
}

// Leaves `pieces_` empty if the line of the text is one line of the report.
void ReportLines::Split(std::string_view text) {
  // Most lines hold one field and are taken as they are.
  const size_t colon = text.find(": ");
  const bool several =
      colon != std::string_view::npos && text.find(": ", colon + 1) != std::string_view::npos;
  if (!several && !decoded_) return;
  if (decoded_) {
    text = Keep(std::string(text));
  } else {
    const size_t first = NextField(text, 0);
    if (first == std::string_view::npos || NextField(text, first + 1) == std::string_view::npos)
      return;
  }
  SplitFields(text);
  std::reverse(pieces_.begin(), pieces_.end());
}

}  // namespace xlaprof
