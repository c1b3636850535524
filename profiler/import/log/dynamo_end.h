// Finds out whether the text with torch.compile's messages ends inside one of them.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "profiler/import/text/line_prefixes.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

// A message may have many lines. Two kinds show that more must follow: the line that names the
// function which compiles again, and the first line of a program's guards.
class DynamoEnd {
 public:
  void Take(const LogTexts& texts);
  // Returns the place of the line that the text ends inside of, or of the message whose end is
  // missing. Returns nothing if nothing shows that something is missing.
  std::optional<TextPosition> Cut() const;

 private:
  LinePrefixes prefixes_;
  std::map<LogOrigin, TextPosition>
      open_guards_;  // by process: where guards begin that have no end
  bool saw_end_of_guards_ = false;
  std::optional<TextPosition> goes_on_;  // the last line, if the message's next line is missing
  std::optional<TextPosition> torn_;     // the last line, if it is cut
};

}  // namespace xlaprof
