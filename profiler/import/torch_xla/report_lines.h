// Reads the lines of a metrics report as people paste it: one line of the text may be several lines
// of the report.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/text/log_line.h"

namespace xlaprof {

// Beyond what LogTexts undoes, it undoes
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
