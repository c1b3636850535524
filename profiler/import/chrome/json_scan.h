// Scans JSON text as profilers really write it. Well-formed text is read at the speed of memory. If
// a writer was careless (control characters inside strings, NaN, a comma too many, an end too
// early), the scanner reports it and continues. Nothing is copied; views point into the text. The
// grammar is that of RFC 8259 with these exceptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace xlaprof::json {

enum class Kind : uint8_t { kNone, kText, kNumber, kTrue, kFalse, kNull, kNested };

// One value, in two words, because millions of them go from one core to another. Pass it by value,
// in registers.
class Value {
 public:
  constexpr Value() = default;
  constexpr Value(Kind kind, std::string_view raw, bool escaped = false, bool control = false)
      : data_(raw.data()),
        told_((raw.size() & kMaxSize) << kSizeShift | uint64_t(kind) << kKindShift |
              (control ? kControl : 0) | (escaped ? kEscaped : 0)) {}

  // Returns the characters between the quotes of a text, or else the whole value. An object or
  // array goes from its bracket to the matching one.
  constexpr std::string_view raw() const { return {data_, told_ >> kSizeShift & kMaxSize}; }
  constexpr Kind kind() const { return Kind(told_ >> kKindShift & 0xf); }
  bool escaped() const { return told_ & kEscaped; }  // a text with a backslash: Decode it
  // A text with a raw control character, which JSON forbids.
  bool control() const { return told_ & kControl; }
  // Returns the number of raw(), if its reader gave it one; 0: none. Equal numbers of one reader
  // are equal texts.
  constexpr uint16_t number() const { return uint16_t(told_ >> kNumberShift); }
  constexpr Value Numbered(uint16_t number) const {
    Value value = *this;
    value.told_ |= uint64_t(number) << kNumberShift;
    return value;
  }
  // Returns an integer that fits, even if it is written as text ("12"), and nothing for other
  // values.
  std::optional<int64_t> Int() const;

 private:
  static constexpr int kKindShift = 4, kSizeShift = 8, kNumberShift = 48;
  static constexpr uint64_t kMaxSize = (uint64_t(1) << (kNumberShift - kSizeShift)) - 1;  // 1 TB
  static constexpr uint64_t kEscaped = 1, kControl = 2;

  const char* data_ = nullptr;
  uint64_t told_ = 0;
};
static_assert(sizeof(Value) == 16);

// Returns the text of a kText value with its escapes decoded. An invalid escape is kept as it is,
// and half a surrogate pair becomes U+FFFD. Invalid UTF-8 stays.
std::string Decode(const Value& text);

#ifdef __SSE2__
// Returns the place of the lowest bit; `bits` is not 0. std::countr_zero also handles 0, which
// takes time.
inline unsigned FirstBit(unsigned bits) { return unsigned(__builtin_ctz(bits)); }

// Returns the quote that ends the text whose first byte is at `at`. Returns null if the quote is
// not among the next 32 bytes, or if a backslash or control character comes before it. All 32 bytes
// must be readable.
inline const char* PlainTextEnd(const char* at) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'),
                last_control = _mm_set1_epi8(0x1f);
  auto stops = [&](__m128i bytes) {
    return uint32_t(_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes))));
  };
  const uint32_t found = stops(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))) |
                         stops(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16))) << 16;
  if (found == 0) [[unlikely]]
    return nullptr;
  const char* stop = at + FirstBit(found);
  return *stop == '"' ? stop : nullptr;
}

// Returns the first byte at or after `at` that is not a digit, point or minus sign, or `at` + 16 if
// the next 16 bytes all are. These 16 bytes must be readable. The function does not branch on the
// length, which a processor could not predict.
inline const char* DigitsEnd(const char* at) {
  // '-', '.', '/' and the digits follow one another in ASCII.
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8('-'));
  const __m128i outside =
      _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('/')),
                   _mm_cmpeq_epi8(_mm_max_epu8(above, _mm_set1_epi8('9' - '-' + 1)), above));
  return at + FirstBit(unsigned(_mm_movemask_epi8(outside)) | 1u << 16);
}
#endif

// Returns whether `c` may be between values.
inline bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The bytes of numbers, and of the words that some values are written as.
inline constexpr auto kWordBytes = [] {
  std::array<bool, 256> is{};
  for (int c = '0'; c <= '9'; ++c) is[size_t(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) is[size_t(c)] = is[size_t(c - 'a' + 'A')] = true;
  is['-'] = is['+'] = is['.'] = true;
  return is;
}();
inline bool IsWord(char c) { return kWordBytes[uint8_t(c)]; }

class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  // Returns the next byte that is not a space, without taking it; 0 at the end.
  char Next() {
    while (at_ < end_ && IsSpace(*at_)) ++at_;
    return at_ < end_ ? *at_ : '\0';
  }
  // Takes the next byte if it is `c`, after spaces.
  bool Take(char c) {
    if (Next() != c || at_ == end_) return false;
    ++at_;
    return true;
  }
  // Takes the comma and line break that most writers put at the end of a line, if they come next.
  void TakeLineEnd() {
    if (end_ - at_ >= 2 && at_[0] == ',' && at_[1] == '\n') at_ += 2;
  }
  // Reads the value that begins at the next byte. Returns false if there is none, or if it does not
  // end (see cut()).
  bool Read(Value* value) {
    const char c = Next();
    if (c == '"') return ReadText(value);
    if ((c >= '0' && c <= '9') || c == '-') return ReadNumber(value);
    return ReadOther(value, c);
  }
  // Reads a member's name and the colon after it.
  bool ReadKey(Value* key);
  // Returns the text that was taken since `offset`.
  std::string_view Since(size_t offset) const {
    return {begin_ + offset, size_t(at_ - begin_) - offset};
  }
  // Returns the text that has not been taken yet.
  std::string_view rest() const { return {at_, size_t(end_ - at_)}; }

  bool at_end() const { return at_ == end_; }
  // Returns true if the last false came from the end of the text, not from a wrong byte.
  bool cut() const { return cut_; }
  size_t offset() const { return size_t(at_ - begin_); }
  // Hides everything from `offset` on; `offset` must not be beyond the text's own end.
  void LimitTo(size_t offset) { end_ = begin_ + offset; }
  void MoveTo(size_t offset) { at_ = begin_ + offset, cut_ = false; }

 private:
  bool ReadText(Value* value);
  bool ReadLongText(Value* value);
  bool ReadNumber(Value* value);
  bool ReadOther(Value* value, char first);
  bool ReadNested(Value* value);
  bool ReadWord(Value* value);

  const char* begin_;
  const char* at_;
  const char* end_;
  bool cut_ = false;
};

inline bool Scanner::ReadNumber(Value* value) {
  const char* at = at_ + 1;
#ifdef __SSE2__
  if (end_ - at > 16) [[likely]] {
    const char* stop = DigitsEnd(at);
    if (*stop == ',' || *stop == '}' || *stop == ']') [[likely]] {
      *value = Value(Kind::kNumber, {at_, size_t(stop - at_)});
      at_ = stop;
      return true;
    }
  }
#endif
  while (at < end_ && IsWord(*at)) ++at;
  *value = Value(Kind::kNumber, {at_, size_t(at - at_)});
  at_ = at;
  return true;
}

// Most texts are short and plain.
inline bool Scanner::ReadText(Value* value) {
#ifdef __SSE2__
  const char* at = at_ + 1;
  if (end_ - at >= 32) [[likely]] {
    if (const char* stop = PlainTextEnd(at)) [[likely]] {
      *value = Value(Kind::kText, {at, size_t(stop - at)});
      at_ = stop + 1;
      return true;
    }
  }
#endif
  return ReadLongText(value);
}

}  // namespace xlaprof::json
