// Interned strings as JSON, each made once.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/output/json_pieces.h"
#include "profiler/store/store.h"

namespace xlaprof {

class TextFragments {
 public:
  // `before` and `after` surround each string, for example `,"name":` and nothing.
  TextFragments(const Store& store, std::string before, std::string after)
      : store_(store), before_(std::move(before)), after_(std::move(after)) {}

  // Returns the string as JSON. The piece is valid as long as this object.
  Piece Of(StringId id) {
    if (id < by_id_.size() && by_id_[id].data() != nullptr) [[likely]]
      return by_id_[id];
    return Make(id);
  }

 private:
  Piece Make(StringId id);

  const Store& store_;
  const std::string before_, after_;
  std::vector<Piece> by_id_;
  absl::flat_hash_map<StringId, Piece> by_far_id_;  // ids from a damaged file, perhaps
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t room_ = 0;
  char* at_ = nullptr;
};

}  // namespace xlaprof
