#include "core/backend/native/parts.h"

namespace xlaprof::lazy {

Parts::Parts(const Parts& other) : Thunk(other), pool_(other.pool_) {
  for (const Part& part : other.parts_)
    parts_.push_back({part.thunk->Clone(nullptr), part.windows, part.table});
}

void Parts::Add(std::unique_ptr<Thunk> thunk, Windows windows) {
  thunk->set_scratch(int32_t(windows.size()));
  std::vector<char*> table(windows.size() + 1);
  parts_.push_back({std::move(thunk), std::move(windows), std::move(table)});
}

int64_t Parts::scratch_bytes() const {
  int64_t bytes = 0;
  for (const Part& part : parts_) {
    bytes += RoundedToLine(part.thunk->scratch_bytes());
    for (const Window& window : part.windows)
      if (window.slot < 0) bytes += RoundedToLine(window.bytes);
  }
  return bytes;
}

void Parts::Run(char* const* memory) {
  char* scratch = scratch_ < 0 ? nullptr : memory[scratch_];
  auto take = [&](int64_t bytes) { return std::exchange(scratch, scratch + RoundedToLine(bytes)); };
  for (Part& part : parts_) {
    for (size_t i = 0; i < part.windows.size(); ++i) {
      const Window& window = part.windows[i];
      part.table[i] = window.slot >= 0 ? memory[window.slot] + window.offset : take(window.bytes);
    }
    part.table.back() = take(part.thunk->scratch_bytes());
  }
  pool_.For(int64_t(parts_.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Part& part = parts_[size_t(i)];
      part.thunk->Run(part.table.data());
    }
  });
}

}  // namespace xlaprof::lazy
