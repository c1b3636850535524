// Reads the lines of a log as collectors keep them and people paste them: progress bars that share
// a line, JSON around each line, HTML, prefixes that distinguish several processes, and times.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/text/lines.h"
#include "profiler/import/text/markup.h"
#include "profiler/store/rows.h"

namespace xlaprof {

// Returns the time at the front of `text`, such as "2022-02-09 23:33:25.457877", in Unix ns. A T may
// stand for the space, and the fraction may be missing or have any number of digits. The time zone
// is not known and is taken for UTC. Returns nothing for any other text, and for years that are not
// between 1970 and 2200.
OptInt LogTime(std::string_view text);

// The texts of a log, one after the other. A line with carriage returns (progress bars) yields one
// text per part. A line that is a JSON object, or one of its members in a line of its own, yields
// the lines of its message (member log, message, msg or textPayload). A line that is a string of
// Python yields the lines of the string, and the source of a web page those that a browser shows.
// Any other line yields itself. The escapes that colour a terminal are left out.
class LogTexts {
 public:
  explicit LogTexts(std::string_view bytes)
      : lines_(bytes),
        escapes_(bytes.find('\x1b') != std::string_view::npos),
        markup_(HoldsMarkup(bytes)) {}

  bool Next();                                        // false at the end
  std::string_view text() const { return text_; }     // until the next Next()
  int64_t number() const { return lines_.number(); }  // line of the file, from 1
  int64_t offset() const { return lines_.offset(); }  // byte of that line's first character
  bool ended() const { return lines_.ended(); }       // false: the file stops inside this line
  bool is_decoded() const { return decoded_; }        // text() is not in the file's bytes
  // Returns whether colours or HTML may be inside of words.
  bool are_marked_up() const { return escapes_ || markup_; }

 private:
  Lines lines_;
  const bool escapes_, markup_;  // the bytes have escapes; HTML
  bool decoded_ = false;
  std::string_view text_;
  std::string message_;                  // the text that a line stands for
  std::vector<std::string_view> parts_;  // parts of the line; back() is the next
};

// The process that wrote a line, as far as the prefix before a marker identifies it: `[rank0]:`,
// `(worker 3)`, `pid=123`, `10.164.0.25 [0]`, `[pod/train-1/main]`. Times and everything else (a
// progress bar, a printed loss) identify no process.
struct LogOrigin {
  OptText host;  // address, pod, or "worker 3"
  OptInt pid, rank;
  auto operator<=>(const LogOrigin&) const = default;
};
LogOrigin OriginOfPrefix(std::string_view prefix);

// Returns whether a token is a time: 2021-04-19, 13:28:12, 2021-04-19T13:28:12.123Z or [2021-04-19
// 13:28:12].
bool IsTime(std::string_view token);

// Returns `text` without a terminal's escapes (ESC [ ... letter): colours, and commands that clear
// a line.
std::string WithoutEscapes(std::string_view text);

// The position that find() returns if it found nothing.
inline constexpr size_t kNone = std::string_view::npos;

// Returns `text` without spaces and tabs at its ends.
std::string_view Trim(std::string_view text);

}  // namespace xlaprof
