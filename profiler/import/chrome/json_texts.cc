#include "profiler/import/chrome/json_texts.h"

#include <bit>

#include "profiler/import/text/utf8.h"

namespace xlaprof {

absl::StatusOr<StringId> JsonTexts::Intern(const json::Value& value) {
  const int64_t offset = int64_t(value.raw().data() - file_.data());
  std::string decoded;
  std::string_view text = value.raw();
  if (value.escaped()) text = decoded = json::Decode(value);
  if (value.control()) {
    odd_.Count(
        "control_character", Severity::kWarning,
        "Texts contain raw control characters, which JSON forbids. They were kept, but other programs reject the whole file. Update the program that wrote it.",
        offset);
  }
  if (text.size() > kMaxTextBytes) {
    odd_.Count("long_text", Severity::kWarning, "Texts longer than 1 MiB were cut at that length.",
               offset);
    text = text.substr(0, kMaxTextBytes);
    // The cut must not be inside a character.
    while (!text.empty() && (uint8_t(text.back()) & 0xc0) == 0x80) text.remove_suffix(1);
    if (!text.empty() && uint8_t(text.back()) >= 0xc0) text.remove_suffix(1);
  }
  std::string repaired;
  if (ValidUtf8Prefix(text) != text.size()) {
    odd_.Count("invalid_utf8", Severity::kWarning,
               "Names are not valid UTF-8. Invalid bytes were replaced by U+FFFD.", offset);
    text = repaired = ToUtf8(text);
  }
  XP_TRY(StringId id, store_.Intern(text));
  if (const size_t number = value.number(); number != 0) {
    if (number >= of_number_.size()) of_number_.resize(std::bit_ceil(number + 1));
    of_number_[number] = id;
  } else if (IsPlain(value)) {
    cache_.Put(value.raw(), id);
  }
  return id;
}

}  // namespace xlaprof
