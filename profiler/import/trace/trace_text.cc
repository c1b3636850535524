#include "profiler/import/trace/trace_text.h"

#include "profiler/import/text/utf8.h"

namespace xlaprof {

absl::StatusOr<StringId> InternTraceText(Store& store, std::string_view text, int64_t offset,
                                         OddInput& odd) {
  if (text.size() > kMaxTraceTextBytes) {
    odd.Count("long_text", Severity::kWarning, "Texts longer than 1 MiB were cut at that length.",
              offset);
    text = text.substr(0, kMaxTraceTextBytes);
    // The cut must not be inside a character.
    while (!text.empty() && (uint8_t(text.back()) & 0xc0) == 0x80) text.remove_suffix(1);
    if (!text.empty() && uint8_t(text.back()) >= 0xc0) text.remove_suffix(1);
  }
  std::string repaired;
  if (ValidUtf8Prefix(text) != text.size()) {
    odd.Count("invalid_utf8", Severity::kWarning,
              "Names are not valid UTF-8. Invalid bytes were replaced by U+FFFD.", offset);
    text = repaired = ToUtf8(text);
  }
  return store.Intern(text);
}

}  // namespace xlaprof
