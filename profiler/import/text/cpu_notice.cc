#include "profiler/import/text/cpu_notice.h"

#include <algorithm>

#include "profiler/store/issue_codes.h"

namespace xlaprof {

// jax/_src/xla_bridge.py has printed the first two texts since 2021; torch_xla/runtime.py prints
// the third.
std::optional<CpuNotice> FindCpuNotice(std::string_view text) {
  std::optional<CpuNotice> found;
  for (std::string_view mark : kCpuNoticeMarks) {
    for (size_t at = text.find(mark); at != std::string_view::npos;
         at = text.find(mark, at + mark.size())) {
      if (!found) found = CpuNotice{.offset = int64_t(at)};
      found->offset = std::min(found->offset, int64_t(at));
      ++found->count;
    }
  }
  if (!found) return found;
  const std::string_view before = text.substr(0, size_t(found->offset));
  found->line = 1 + std::ranges::count(before, '\n');
  const size_t line_end = before.rfind('\n');
  found->offset = line_end == std::string_view::npos ? 0 : int64_t(line_end) + 1;
  return found;
}

absl::Status NoteWhereOnCpu(std::string_view text, Store& store, int64_t source_id) {
  const std::optional<CpuNotice> notice = FindCpuNotice(text);
  if (!notice) return absl::OkStatus();
  return store.AddIssue(source_id, issue_codes::kOnCpu, Severity::kInfo,
                        "The program found no usable GPU or TPU and computes on the CPU.",
                        notice->offset, notice->line, notice->count);
}

}  // namespace xlaprof
