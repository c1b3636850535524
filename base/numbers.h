// Reads numbers in text. No function here depends on the locale, and each treats a number that its
// type cannot hold as text that is not a number. Spaces and a plus sign are never part of a number.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace xlaprof {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns whether `text` consists of digits and is not empty.
constexpr bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

// Takes the integer at the front of `*text` off and returns it. Returns nothing and leaves `*text`
// unchanged if it does not begin with one. An unsigned T has no minus sign.
template <class T = int64_t>
std::optional<T> TakeInteger(std::string_view* text) {
  T value = 0;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

// Does the same with a real number, such as "1.25" or "1e-3". "inf" and "nan" are not numbers.
inline std::optional<double> TakeReal(std::string_view* text) {
  double value = 0;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

// Returns the integer that the whole of `text` spells in `base`; nothing if anything else is in it.
template <class T = int64_t>
std::optional<T> ParseInteger(std::string_view text, int base = 10) {
  T value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  return error == std::errc() && end == last ? std::optional<T>(value) : std::nullopt;
}

// Returns the number of things, line or id that the whole of `text` spells: digits, without a sign.
inline std::optional<int64_t> ParseCount(std::string_view text) {
  return IsDigits(text) ? ParseInteger(text) : std::nullopt;
}

// Returns the real number that the whole of `text` spells; nothing if anything else is in it.
inline std::optional<double> ParseReal(std::string_view text) {
  const std::optional<double> value = TakeReal(&text);
  return text.empty() ? value : std::nullopt;
}

// Returns the number that the first digits in `text` spell, wherever they are in it.
inline std::optional<int64_t> FindCount(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  return TakeInteger(&text);
}

}  // namespace xlaprof
