// The lines that torch.compile (torch._dynamo) prints, as far as all of its messages are alike:
//
//   [rank1]:V1124 23:12:40.1 12 torch/_dynamo/guards.py:2813] [0/1_1] [__recompiles] Recompiling ...
//
// 12 is the process, and [0/1_1] the second attempt to compile program 1 of function 0. Each line of a
// message has the same prefix, so messages of several processes can be told apart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/import/text/line_prefixes.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

struct DynamoId {
  int64_t frame = 0, program = 0;
  std::pair<int64_t, int64_t> both() const { return {frame, program}; }
};

// What the part of a line before a mark says about its message.
struct DynamoPrefix {
  LogOrigin origin;            // with the process, if it is printed
  std::optional<DynamoId> id;  // nothing if none is printed, and for compiled autograd: [!0/3/36]
  std::string text;            // equal for all lines of one message
};
DynamoPrefix ParseDynamoPrefix(std::string_view prefix);

// The processes that wrote a text. torch.compile prints the number of each, and since
// torch.distributed is initialised also its rank.
class DynamoOrigins {
 public:
  void Note(const LogOrigin& origin);
  void Finish();  // after the last Note, and before the functions below
  // Returns `origin` with the rank that other lines of its process have.
  LogOrigin WithRank(LogOrigin origin) const;
  // Returns whether everything but its number identifies the process of an origin with its rank.
  bool IsOnlyProcess(const LogOrigin& origin) const;

 private:
  static LogOrigin WithoutPid(LogOrigin origin);

  std::set<LogOrigin> all_;
  std::map<int64_t, int64_t> ranks_;        // by process
  std::map<LogOrigin, int64_t> processes_;  // of origins without their number
};

// Finds out whether the text with torch.compile's messages ends inside one of them.
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
