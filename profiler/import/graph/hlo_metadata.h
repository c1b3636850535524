// Finds out where an HLO instruction comes from: its metadata, and the tables of stack frames that
// newer modules begin with.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

// The content of `metadata={op_type="aten__mul" op_name="train.1/aten__mul" source_file="/x/t.py"
// source_line=3 stack_frame_id=2}`.
struct HloMetadata {
  std::string op_type, op_name, source_file;
  int64_t source_line = 0, stack_frame_id = 0;  // 0: none
};
HloMetadata ParseHloMetadata(std::string_view text);  // with braces or without

// Returns the user scope: the path of `op_name` without the op's own name; "" if it has none.
std::string_view ScopeOf(std::string_view op_name);

// Returns the op of the framework: aten::mul for op_type="aten__mul", and mul for the op_name
// "jit(step)/mul" without an op_type. Returns "" if neither names one.
std::string FrameworkOp(std::string_view op_type, std::string_view op_name);

class HloStackFrames {
 public:
  // Reads `line` if it belongs to the tables, and returns whether it does.
  bool TakeLine(std::string_view line);
  // Returns function@file:line of the nearest user frame of the instruction's stack, or else of its
  // innermost frame, or else file:line of the metadata. Returns "" if nothing is known.
  std::string Location(const HloMetadata& metadata) const;
  // Returns the frames of the instruction, innermost first.
  std::vector<Store::Frame> Stack(const HloMetadata& metadata) const;

 private:
  struct FileLocation {
    int64_t file = 0, function = 0, line = 0;
  };
  struct Frame {
    int64_t location = 0, parent = 0;
  };
  enum class Table { kNone, kFileNames, kFunctionNames, kFileLocations, kStackFrames };
  Table table_ = Table::kNone;
  absl::flat_hash_map<int64_t, std::string> files_, functions_;
  absl::flat_hash_map<int64_t, FileLocation> locations_;
  absl::flat_hash_map<int64_t, Frame> frames_;
  bool parents_shifted_ = false;  // printed parents are one too high
};

}  // namespace xlaprof
