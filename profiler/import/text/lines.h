// Reads the lines of a text, with the place of each. Accepts \n and \r\n; the last line needs no
// end.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

// The place where a line begins in a text.
struct TextPosition {
  int64_t offset = 0, line = 0;
};

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  // Moves to the next line. Returns false at the end.
  bool Next() {
    if (next_ >= text_.size()) return false;
    begin_ = next_;
    size_t end = text_.find('\n', begin_);
    ended_ = end != std::string_view::npos;
    if (!ended_) end = text_.size();
    next_ = ended_ ? end + 1 : end;
    line_ = text_.substr(begin_, end - begin_);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
  }
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }          // from 1
  int64_t offset() const { return int64_t(begin_); }  // byte of its first character
  bool ended() const { return ended_; }               // false: the text stops inside this line
  // Makes the next Next() return this line again.
  void Unread() { next_ = begin_, --number_; }

 private:
  std::string_view text_, line_;
  size_t begin_ = 0, next_ = 0;
  int64_t number_ = 0;
  bool ended_ = true;
};

}  // namespace xlaprof
