// What XProf's kernel table reads of a GPU's kernel, told by the arguments that Kineto gives it.
#pragma once

#include <span>
#include <string>

#include "profiler/store/events.h"

namespace xlaprof {

class KernelDetails {
 public:
  explicit KernelDetails(const Store& store);
  // "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:256,1,1 occ_pct:50" from `grid`,
  // `block` and the like among an event's own arguments and its name's; empty where they do not
  // tell a launch.
  std::string Of(std::span<const Argument> own, std::span<const Argument> of_name) const;

 private:
  const Store& store_;
  StringId grid_, block_, registers_, shared_, occupancy_;
};

}  // namespace xlaprof
