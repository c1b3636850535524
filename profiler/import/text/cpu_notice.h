// Finds the lines by which JAX and torch_xla say that they found no accelerator and compute on the
// CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// One of these is in each notice.
inline constexpr std::string_view kCpuNoticeMarks[] = {"No GPU/TPU found, falling back to CPU",
                                                       "is not installed. Falling back to cpu",
                                                       "Defaulting to PJRT_DEVICE=CPU"};

struct CpuNotice {
  int64_t offset = 0, line = 0;  // place of the first; lines from 1
  int64_t count = 0;
};

std::optional<CpuNotice> FindCpuNotice(std::string_view text);

// Adds import issue `on_cpu`, from which the finding is made.
absl::Status NoteWhereOnCpu(std::string_view text, Store& store, int64_t source_id);

}  // namespace xlaprof
