// A scanner over JSON text as profilers really write it: it takes what is well-formed at the speed
// of memory, and where a writer was careless (control characters inside strings, NaN, a comma too
// many, an end too early) it says so and goes on. Nothing is copied; views point into the text.
// Grammar: RFC 8259, plus those liberties.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof::json {

enum class Kind : uint8_t { kNone, kText, kNumber, kTrue, kFalse, kNull, kNested };

// One value. `raw` is what stands between the quotes of a text, else the whole value; of an object
// or array from its bracket to the matching one.
struct Value {
  Kind kind = Kind::kNone;
  bool escaped = false;  // a text with a backslash: Decode it
  bool control = false;  // a text with a raw control character, which JSON forbids
  std::string_view raw;

  // Whole numbers that fit, also written as text ("12"); empty else.
  std::optional<int64_t> Int() const;
};

// The text that a kText value stands for. An escape that is none is kept as it stands, half a
// surrogate pair becomes U+FFFD. What is not valid UTF-8 stays.
std::string Decode(const Value& text);

class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  // The next byte that is no space; 0 at the end. Does not take it.
  char Next() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    return at_ < end_ ? *at_ : '\0';
  }
  // Takes the next byte if it is `c`, after spaces.
  bool Take(char c) {
    if (Next() != c || at_ == end_) return false;
    ++at_;
    return true;
  }
  // The value that begins at the next byte. False: there is none, or it does not end (see cut()).
  bool Read(Value* value);
  // A member's name and the colon behind it.
  bool ReadKey(Value* key);

  bool at_end() const { return at_ == end_; }
  // True after a false that came from the end of the text, not from a wrong byte.
  bool cut() const { return cut_; }
  size_t offset() const { return size_t(at_ - begin_); }
  void MoveTo(size_t offset) { at_ = begin_ + offset, cut_ = false; }

 private:
  bool ReadText(Value* value);
  bool ReadNested(Value* value);
  bool ReadWord(Value* value);

  const char* begin_;
  const char* at_;
  const char* end_;
  bool cut_ = false;
};

}  // namespace xlaprof::json
