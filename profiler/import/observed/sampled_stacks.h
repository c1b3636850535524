// Gathers the stacks that a sampler saw in the threads of a process. They become rows of host_sample,
// and events on a track of kind samples for each thread: consecutive samples with the same outer
// frames are one event for each of these frames.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/import/importer.h"
#include "profiler/import/odd_input.h"
#include "profiler/store/rows.h"
#include "profiler/vocabulary/code.h"

namespace xlaprof {

class SampledStacks {
 public:
  struct Moment {
    int64_t ts_ns = 0, period_ns = 0;  // when, and for how long the sampler meant to wait then
  };

  explicit SampledStacks(OddInput& odd) : odd_(odd) {}

  // The folders of the interpreter's libraries, of which no file is the user's.
  void SetFolders(PythonFolders folders) { folders_ = std::move(folders); }
  // Codes and frames are numbered from 0 in the order in which they come. What does not fit is
  // counted as an issue at `offset`, and left out.
  void AddCode(OptInt number, std::string function, std::string file, int64_t offset);
  void AddFrame(OptInt number, OptInt caller, OptInt code, OptInt line, int64_t offset);
  void NameThread(int64_t tid, std::string name) { threads_[tid].name = std::move(name); }
  void Add(OptInt tid, const Moment& moment, OptInt frame, int64_t offset);

  absl::Status Write(ImportContext& context, int64_t process_id);

 private:
  struct Code {
    std::string function, file;
    CodeOwner owner = CodeOwner::kUnknown;
  };
  struct Frame {
    int32_t caller = -1;  // -1: it is the outermost
    uint32_t code = 0;
    int64_t line = 0;      // 0: unknown
    int depth = 0;         // of the outermost: 0
    int64_t stack_id = 0;  // of the stack that ends in it; 0: not written yet
    StringId name = 0;     // of its events; 0: not interned yet
  };
  struct Sample {
    Moment moment;
    int32_t frame = 0;
  };
  struct Thread {
    std::string name;
    std::vector<Sample> samples;
  };

  void Odd(int64_t offset);
  absl::StatusOr<int64_t> StackOf(Store& store, int32_t frame);
  absl::Status WriteThread(ImportContext& context, int64_t process_id, int64_t tid,
                           const Thread& thread);

  OddInput& odd_;
  PythonFolders folders_;
  std::vector<Code> codes_;
  std::vector<Frame> frames_;
  std::map<int64_t, Thread> threads_;  // by native id
};

}  // namespace xlaprof
