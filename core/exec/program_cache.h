// Caches compiled programs by the hash of their graph. Evicts the least recently used one.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <list>
#include <memory>
#include <optional>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

struct CompiledGraph {
  Hash hash;
  std::string name;    // the module's name
  int64_t number = 0;  // the graph's number, in order of compilation
  size_t nodes = 0, inputs = 0, outputs = 0;
  std::vector<Program::Donation> donations;
  std::vector<Shape> results;
  std::vector<Attributes> result_shardings;  // as Executable::result_shardings
  std::string input_shapes;  // of the parameters, separated by spaces
  std::unique_ptr<Executable> executable;
  std::optional<Program> program;  // kept if errors show it
  bool has_run = false;            // only the thread that works for the device uses it
};

// Use it only while holding a GraphLock.
class ProgramCache {
 public:
  explicit ProgramCache(size_t capacity) : capacity_(capacity) {}
  std::shared_ptr<CompiledGraph> Find(const Hash& hash);
  void Add(std::shared_ptr<CompiledGraph> graph);
  size_t size() const { return by_hash_.size(); }

 private:
  using Recent = std::list<std::shared_ptr<CompiledGraph>>;  // most recent first
  const size_t capacity_;
  Recent recent_;
  absl::flat_hash_map<Hash, Recent::iterator> by_hash_;
};

}  // namespace xlaprof::lazy
