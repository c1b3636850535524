// What metrics reports consist of: lines, and numbers with units.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/text/log_line.h"
#include "profiler/store/vocabulary.h"

namespace xlaprof {

// A number of a metrics report, which carries its unit.
struct MetricNumber {
  double value = 0;
  MetricUnit unit = MetricUnit::kUnknown;
};

// Reads `02s500ms001.250us`, `75.00MB` or `1382.00`. Returns nothing if `text` is none of these. A
// duration is returned in ns as a whole number, exactly what torch_xla had (see DecodeDurationNs).
std::optional<MetricNumber> ParseMetricNumber(std::string_view text);

// Reads the lines of a metrics report as people paste it: one line of the text may be several lines
// of the report. Beyond what LogTexts undoes, it undoes
//   - lost line breaks, so that several fields share a line, perhaps as a part of a Python string,
//   - lines that a terminal broke at its width.
class ReportLines {
 public:
  explicit ReportLines(std::string_view text);

  bool Next();                                     // false at the end
  std::string_view line() const { return line_; }  // valid as long as this object and the text
  int64_t number() const { return number_; }       // number of the text's line, from 1
  int64_t offset() const { return offset_; }       // offset of that line's first byte
  bool ended() const { return pieces_.empty() ? ended_ : true; }
  void Unread() { again_ = true; }  // the next Next() gives this line again

 private:
  bool NextText();
  void Split(std::string_view text);
  void SplitFields(std::string_view line);
  std::string_view Keep(std::string text);
  LogTexts texts_;
  bool waits_ = false;       // texts_ is at a text that was read but not returned
  const size_t wrap_width_;  // width at which a terminal broke the lines; 0: none did
  // A text as it was before it was broken, and the place of its first line.
  std::string_view text_;
  int64_t number_ = 0, offset_ = 0;
  bool ended_ = true, decoded_ = false;
  std::string_view line_;
  std::vector<std::string_view> pieces_;  // pieces of the line, the next one last
  std::deque<std::string> kept_;          // texts that are not in the text itself
  bool again_ = false;
};

}  // namespace xlaprof
