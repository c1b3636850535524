#include "core/exec/program_cache.h"

namespace xlaprof::lazy {

std::shared_ptr<CompiledGraph> ProgramCache::Find(const Hash& hash) {
  auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return *found->second;
}

void ProgramCache::Add(std::shared_ptr<CompiledGraph> graph) {
  if (by_hash_.size() == capacity_) {
    by_hash_.erase(recent_.back()->hash);
    recent_.pop_back();
  }
  recent_.push_front(std::move(graph));
  by_hash_[recent_.front()->hash] = recent_.begin();
}

}  // namespace xlaprof::lazy
