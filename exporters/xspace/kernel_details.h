// Makes the details that XProf's kernel table reads of a GPU kernel from the arguments that Kineto
// records.
#pragma once

#include <span>
#include <string>

#include "profiler/store/events.h"

namespace xlaprof {

class KernelDetails {
 public:
  explicit KernelDetails(const Store& store);
  // Returns "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:256,1,1 occ_pct:50", from
  // `grid`, `block` and others among the arguments of an event and its name. Returns "" if grid or
  // block are missing or malformed.
  std::string Of(std::span<const Argument> own, std::span<const Argument> of_name) const;

 private:
  const Store& store_;
  StringId grid_, block_, registers_, shared_, occupancy_;
};

}  // namespace xlaprof
