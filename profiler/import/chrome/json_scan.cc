#include "profiler/import/chrome/json_scan.h"

#include <charconv>

#include "profiler/import/text/utf8.h"

namespace xlaprof::json {
namespace {

// Returns the first '"' or backslash at or after `at`, or `end` if there is none. Sets *control if
// a control character comes before it.
const char* FindTextStop(const char* at, const char* end, bool* control) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'),
                last_control = _mm_set1_epi8(0x1f);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const unsigned stops = unsigned(_mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash))));
    const unsigned controls =
        unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes)));
    if (stops != 0) {
      *control |= (controls & ((stops & -stops) - 1)) != 0;
      return at + std::countr_zero(stops);
    }
    *control |= controls != 0;
    at += 16;
  }
#endif
  for (; at < end && *at != '"' && *at != '\\'; ++at) *control |= uint8_t(*at) < 0x20;
  return at;
}

// Returns the first quote or bracket of any kind at or after `at`, or `end`.
const char* FindStructure(const char* at, const char* end) {
#ifdef __SSE2__
  // [ ] { } differ in bits 0x26 only: 0x5b 0x5d 0x7b 0x7d. With bit 0x20 set, only { and } are
  // left.
  const __m128i quote = _mm_set1_epi8('"'), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}'),
                bit = _mm_set1_epi8(0x20);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i folded = _mm_or_si128(bytes, bit);
    const unsigned stops = unsigned(_mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
                     _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)))));
    if (stops != 0) return at + std::countr_zero(stops);
    at += 16;
  }
#endif
  while (at < end && *at != '"' && *at != '{' && *at != '}' && *at != '[' && *at != ']') ++at;
  return at;
}

// Returns the value of the four hexadecimal digits at `at`, or nothing if there are none.
std::optional<uint32_t> Hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return {};
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  if (error != std::errc() || end != text.data() + at + 4) return {};
  return value;
}

}  // namespace

std::optional<int64_t> Value::Int() const {
  if (kind() != Kind::kNumber && kind() != Kind::kText) return {};
  int64_t value = 0;
  const std::string_view text = raw();
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::string Decode(const Value& text) {
  constexpr uint32_t kReplacement = 0xfffd;
  const std::string_view raw = text.raw();
  if (!text.escaped()) return std::string(raw);
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out += raw[i];
      continue;
    }
    const char c = raw[++i];
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case '"':
      case '\\':
      case '/':
        out += c;
        break;
      case 'u': {
        auto code = Hex4(raw, i + 1);
        if (!code) {
          out += "\\u";
          break;
        }
        i += 4;
        const bool high = *code >= 0xd800 && *code < 0xdc00,
                   low = *code >= 0xdc00 && *code < 0xe000;
        if (high && i + 2 < raw.size() && raw[i + 1] == '\\' && raw[i + 2] == 'u') {
          auto second = Hex4(raw, i + 3);
          if (second && *second >= 0xdc00 && *second < 0xe000) {
            AppendUtf8(0x10000 + ((*code - 0xd800) << 10) + (*second - 0xdc00), out);
            i += 6;
            break;
          }
        }
        AppendUtf8(high || low ? kReplacement : *code, out);
        break;
      }
      default:
        out += '\\';
        out += c;
    }
  }
  return out;
}

bool Scanner::ReadOther(Value* value, char first) {
  if (at_ == end_) return cut_ = true, false;
  return first == '{' || first == '[' ? ReadNested(value) : ReadWord(value);
}

bool Scanner::ReadKey(Value* key) {
  if (Next() != '"') return cut_ = at_ == end_, false;
  if (!ReadText(key)) return false;
  if (Take(':')) return true;
  return cut_ = at_ == end_, false;
}

bool Scanner::ReadLongText(Value* value) {
  const char* from = at_ + 1;
  const char* at = from;
  bool escaped = false, control = false;
  while (true) {
    at = FindTextStop(at, end_, &control);
    if (at == end_) return cut_ = true, false;
    if (*at == '"') break;
    escaped = true;
    at += 2;
    if (at > end_) return cut_ = true, false;
  }
  *value = Value(Kind::kText, {from, size_t(at - from)}, escaped, control);
  at_ = at + 1;
  return true;
}

// Brackets are counted, not matched by kind, because what matters here is how a damaged value ends.
bool Scanner::ReadNested(Value* value) {
  const char* from = at_;
  const char* at = at_;
  int64_t depth = 0;
  bool control = false;
  while (true) {
    at = FindStructure(at, end_);
    if (at == end_) return cut_ = true, false;
    if (*at == '"') {
      ++at;
      while (true) {
        at = FindTextStop(at, end_, &control);
        if (at == end_) return cut_ = true, false;
        if (*at == '"') break;
        if ((at += 2) > end_) return cut_ = true, false;
      }
      ++at;
      continue;
    }
    depth += *at == '{' || *at == '[' ? 1 : -1;
    ++at;
    if (depth == 0) break;
  }
  *value = Value(Kind::kNested, {from, size_t(at - from)}, /*escaped=*/false, control);
  at_ = at;
  return true;
}

bool Scanner::ReadWord(Value* value) {
  const char* from = at_;
  const char* at = at_;
  while (at < end_ && IsWord(*at)) ++at;
  if (at == from) return false;
  const std::string_view raw(from, size_t(at - from));
  const char first = *from;
  const Kind kind =
      (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.' ? Kind::kNumber
      : raw == "true"                                                                ? Kind::kTrue
      : raw == "false"                                                               ? Kind::kFalse
      : raw == "null"                                                                ? Kind::kNull
      : raw == "NaN" || raw == "Infinity" || raw == "nan" || raw == "inf"            ? Kind::kNumber
                                                                                     : Kind::kNone;
  *value = Value(kind, raw);
  if (kind == Kind::kNone) return false;
  at_ = at;
  return true;
}

}  // namespace xlaprof::json
