// What is made once of each name in a chunk of events, for all of that chunk's events.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

namespace xlaprof {

template <class T>
class ChunkNames {
 public:
  // Begins, or goes on with, a chunk that has so many names. Chunks that overlap in time take
  // turns; those that are done are forgotten now and then.
  void Open(int64_t chunk_id, size_t names) {
    if (chunks_.size() > 16 && !chunks_.contains(chunk_id)) chunks_.clear();
    open_ = &chunks_[chunk_id];
    open_->resize(names);
  }
  // Of the name with this index in the open chunk: T() until the caller makes something.
  T& operator[](size_t name) { return (*open_)[name]; }

 private:
  absl::flat_hash_map<int64_t, std::vector<T>> chunks_;
  std::vector<T>* open_ = nullptr;
};

}  // namespace xlaprof
