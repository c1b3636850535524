// Shortens texts of any length.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// The length of a name in a list of names.
inline constexpr size_t kShownNameBytes = 256;

// Returns `text`. If it has more than `max_bytes`, cuts it after a whole UTF-8 character and adds …
// within that limit.
inline std::string ShortText(std::string_view text, size_t max_bytes) {
  constexpr std::string_view kMore = "…";
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes - kMore.size();
  for (int i = 0; i < 3 && end > 0 && (text[end] & 0xC0) == 0x80; ++i) --end;
  return std::string(text.substr(0, end)).append(kMore);
}

}  // namespace xlaprof
