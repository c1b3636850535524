// A text in which secrets are looked for, and what the parts of the search share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

inline constexpr size_t kNowhere = std::string_view::npos;

class SecretText {
 public:
  explicit SecretText(std::string& text) : text_(text) {}

  std::string_view view() const { return text_; }
  size_t size() const { return text_.size(); }
  // Returns a character, or 0 beyond the end.
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  // Replaces [begin, end). What begins with an asterisk was replaced before.
  void Mask(size_t begin, size_t end) {
    if (begin >= end || text_[begin] == '*') return;
    std::fill(text_.begin() + ptrdiff_t(begin), text_.begin() + ptrdiff_t(end), '*');
    ++masked_;
  }
  // Replaces only the characters of [begin, end) for which `is_part` holds, as one secret.
  template <class IsPart>
  void MaskThose(size_t begin, size_t end, IsPart is_part) {
    bool any = false;
    for (size_t i = begin; i < end; ++i) {
      if (text_[i] == '*' || !is_part(i)) continue;
      text_[i] = '*';
      any = true;
    }
    masked_ += any ? 1 : 0;
  }
  // Replaces a number of JSON by a string of the same length.
  void MaskNumber(size_t begin, size_t end) {
    Mask(begin, end);
    if (end - begin >= 2) text_[begin] = text_[end - 1] = '"';
  }
  int64_t masked() const { return masked_; }

 private:
  std::string& text_;
  int64_t masked_ = 0;
};

inline bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
// A name of a field, a flag or a variable is made of these, and so is the beginning of a token.
inline bool IsNameChar(char c) { return IsAlnum(c) || c == '_' || c == '-' || c == '.'; }
inline bool IsTokenChar(char c) { return IsNameChar(c) || c == '/' || c == '+' || c == '='; }
inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }
inline bool IsSpace(char c) { return IsBlank(c) || c == '\n' || c == '\r'; }

// Returns the text that base64 of either alphabet holds. Returns nothing if it is no ASCII text.
std::optional<std::string> TextOfBase64(std::string_view base64);

// Replaces what has the form of a secret at the name that begins at `begin`.
void MaskToken(SecretText& text, size_t begin, size_t end);
// Replaces private keys and what URLs hold.
void MaskKeys(SecretText& text);
void MaskUrls(SecretText& text);
// Replaces what stands beside names of secrets. Calls MaskToken for each name.
void MaskFields(SecretText& text);

}  // namespace xlaprof
