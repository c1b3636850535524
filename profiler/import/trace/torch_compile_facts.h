// Finds what torch.compile compiled and ran in the events of PyTorch's profiler (Kineto), and in those
// of its log that tlparse copies (chromium_events.json).
//
// A program has the number FRAME/PROGRAM, such as 0/1. Kineto names it where the program runs. Where it
// is compiled, newer versions (torch 2.15) name it, and tlparse's file does. Earlier versions do not,
// but Dynamo looks up a program before each call, so a program that runs without such a look-up is the
// one that was compiled just before. A backward graph is compiled when the first backward pass needs
// it, and belongs to the program whose forward graph has the same sequence number.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/trace/trace_args.h"
#include "profiler/import/trace/trace_kind.h"
#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

class TorchCompileFacts {
 public:
  explicit TorchCompileFacts(ImportContext& context) : context_(context) {}

  // Notes an event, of which `row` has the times. `offset` is its place in the source.
  absl::Status Add(DynamoEvent what, const TraceArgs& args, int64_t track_id, const Event& row,
                   int64_t offset);
  // Hands the compilations and executions to `facts`, and adds a graph for each program.
  absl::Status Write(XFacts& facts);

 private:
  // An event. Times are those of the store.
  struct Mark {
    DynamoEvent what = DynamoEvent::kNone;
    int64_t ts_ns = 0, end_ns = 0;
    bool has_end = true;  // false: end_ns is not known, and is the start
    StringId name = 0;
    StringId number = 0;      // the program, if an argument names it; 0: none does
    StringId function = 0;    // kWhole: the compiled function; 0: not given
    bool has_failed = false;  // kWhole: there is no program afterwards
    int64_t sequence = -1;    // of the operations of autograd; -1: not given
    int64_t track_id = 0;
    int64_t offset = 0;  // byte in the source
  };
  struct Compile {
    const Mark* mark = nullptr;
    std::string number;    // "" if unknown
    std::string function;  // "" if unknown
    bool is_backward = false, has_failed = false, was_looked_up = false;
    int64_t sequence = -1;    // of the backward graph
    int64_t backward_ns = 0;  // time of compiling the backward graph later
  };
  struct Region {
    const Mark* mark = nullptr;
    std::string_view number;
    int64_t inner_ns = 0;  // time of compilations and other regions inside
  };
  class Thread;

  void AddBackward();
  absl::StatusOr<int64_t> GraphOf(std::string_view number, int64_t offset);

  ImportContext& context_;
  std::vector<Mark> marks_;  // in Write: by track and (start, -end)
  std::vector<Compile> compiles_;
  std::vector<Region> regions_;
  // By sequence number of a forward graph: its program; "" if several programs have the number.
  absl::flat_hash_map<int64_t, std::string_view> forward_;
  absl::flat_hash_map<std::string, int64_t> graphs_;  // rows, by number
  int64_t unknown_backwards_ = 0;
};

}  // namespace xlaprof
