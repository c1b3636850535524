// A kernel of which each thread does a part.
#pragma once

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

class Parts : public Thunk {
 public:
  // What a part's thunk has in one of its slots.
  struct Window {
    int32_t slot = -1;   // of the whole kernel, from `offset` on; -1: memory of the part's own
    int64_t offset = 0;  // in bytes
    int64_t bytes = 0;   // of its own memory
  };
  using Windows = absl::InlinedVector<Window, 8>;

  explicit Parts(ThreadPool& pool) : pool_(pool) {}

  // `thunk` has the windows in its slots 0, 1, .., and scratch memory behind them.
  void Add(std::unique_ptr<Thunk> thunk, Windows windows);

  int64_t scratch_bytes() const override;
  void Run(char* const* memory) override;

 protected:
  size_t parts() const { return parts_.size(); }
  // Where a window is, once it ran.
  char* At(size_t part, size_t window) const { return parts_[part].table[window]; }

 private:
  struct Part {
    std::unique_ptr<Thunk> thunk;
    Windows windows;
    std::vector<char*> table;
  };

  std::vector<Part> parts_;
  ThreadPool& pool_;
};

}  // namespace xlaprof::lazy
