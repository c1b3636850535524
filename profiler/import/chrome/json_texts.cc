#include "profiler/import/chrome/json_texts.h"

#include <bit>

#include "profiler/import/trace/trace_text.h"

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
  XP_TRY(StringId id, InternTraceText(store_, text, offset, odd_));
  if (const size_t number = value.number(); number != 0) {
    if (number >= of_number_.size()) of_number_.resize(std::bit_ceil(number + 1));
    of_number_[number] = id;
  } else if (IsPlain(value)) {
    cache_.Put(value.raw(), id);
  }
  return id;
}

}  // namespace xlaprof
