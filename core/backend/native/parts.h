// A kernel that threads execute in parts.
#pragma once

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

class Parts : public Thunk {
 public:
  // The memory that one slot of a part's thunk refers to.
  struct Window {
    int32_t slot = -1;   // slot of the whole kernel, from `offset` on; -1: own memory
    int64_t offset = 0;  // in bytes
    int64_t bytes = 0;   // size of its own memory
  };
  using Windows = absl::InlinedVector<Window, 8>;

  explicit Parts(ThreadPool& pool) : pool_(pool) {}
  Parts(const Parts& other);

  // Adds a part. `thunk` has the windows in its slots 0, 1, ..., and scratch memory after them.
  void Add(std::unique_ptr<Thunk> thunk, Windows windows);

  int64_t scratch_bytes() const override;
  void Run(char* const* memory) override;
  std::unique_ptr<Thunk> Clone(Meetings*) const override { return std::make_unique<Parts>(*this); }

 protected:
  size_t parts() const { return parts_.size(); }
  // Returns the address of a window, after Run.
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
