// Caches a value per name in a chunk of events, for all events of that chunk.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

namespace xlaprof {

template <class T>
class ChunkNames {
 public:
  // Opens a chunk with this number of names, or returns to it. Chunks that overlap in time
  // alternate; the cache is emptied when it holds many chunks.
  void Open(int64_t chunk_id, size_t names) {
    if (chunks_.size() > 16 && !chunks_.contains(chunk_id)) chunks_.clear();
    open_ = &chunks_[chunk_id];
    open_->resize(names);
  }
  // Returns the value of the name with this index in the open chunk. It is T() until the caller
  // sets it.
  T& operator[](size_t name) { return (*open_)[name]; }

 private:
  absl::flat_hash_map<int64_t, std::vector<T>> chunks_;
  std::vector<T>* open_ = nullptr;
};

}  // namespace xlaprof
