#include "profiler/import/xla/xla_buffers.h"

#include "base/numbers.h"
#include "profiler/import/text/lines.h"

namespace xlaprof {
namespace {

constexpr std::string_view kTitle = "BufferAssignment:", kAllocation = "allocation ";

}  // namespace

bool IsBufferAssignment(std::string_view text) {
  return text.starts_with(kTitle) &&
         text.substr(kTitle.size(), 200).find(kAllocation) != std::string_view::npos;
}

// Each buffer has one line, and the values in it follow below:
//   allocation 1: size 1024, parameter 0, shape |f32[16,16]| at ShapeIndex {}:
//   allocation 4: size 16, output shape is |(f32[16,16], f32[])|, maybe-live-out:
//   allocation 12: size 536, preallocated-temp:
// Others are thread-local and constant. A parameter that lives out is donated.
ProgramBytes ParseBufferAssignment(std::string_view text) {
  constexpr int64_t kLargest = int64_t{1} << 60;
  ProgramBytes bytes;
  auto add = [](int64_t* sum, int64_t size) {
    if (*sum < kLargest) *sum += size;
  };
  for (Lines lines(text); lines.Next();) {
    const std::string_view line = lines.line();
    constexpr std::string_view kSize = ": size ";
    const size_t at = line.find(kSize);
    if (!line.starts_with(kAllocation) || at == std::string_view::npos) continue;
    std::string_view rest = line.substr(at + kSize.size());
    const int64_t size = TakeInteger(&rest).value_or(-1);
    if (size < 0 || size > kLargest) continue;
    auto has = [&](std::string_view word) { return rest.find(word) != std::string_view::npos; };
    const bool parameter = has(", parameter "), lives = has("maybe-live-out");
    if (parameter) add(&bytes.input, size);
    if (lives) add(&bytes.output, size);
    if (parameter && lives) add(&bytes.alias, size);
    if (!parameter && !lives && !has("constant") && !has("thread-local")) add(&bytes.temp, size);
  }
  return bytes;
}

}  // namespace xlaprof
