#include "analyzers/run/run.h"

namespace xlaprof {

Run::Run(const Store& store) : Run(store, /*is_whole=*/false) {}
Run::Run(const Store& store, bool is_whole) : store_(store), is_whole_(is_whole) {}
Run::~Run() = default;

const Run& Run::whole() const {
  if (is_whole_ || store_.slice().empty()) return *this;
  if (!whole_) whole_.reset(new Run(store_, /*is_whole=*/true));
  return *whole_;
}

const Slice& Run::slice() const {
  static const Slice kAll;
  return is_whole_ ? kAll : store_.slice();
}

const void* Run::Find(const FactKey& key) const {
  const auto known = facts_.find(key);
  return known == facts_.end() ? nullptr : known->second.get();
}

void Run::Own(const FactKey& key, Owned fact) const {
  facts_.insert_or_assign(key, std::move(fact));
}

}  // namespace xlaprof
