#include "core/exec/storage.h"

#include "core/exec/device.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {
Storage::Storage(Device& device, NodePtr value, DType logical)
    : device_(device), logical_(logical), value_(std::move(value)) {
  if (is_computed()) held_ = value_->data();
  XLAPROF_COUNT("CreateXlaTensor");
  device_.live().Add(this);
}

Storage::~Storage() {
  device_.live().Remove(this);
  XLAPROF_COUNT("DestroyXlaTensor");
}

void Storage::Become(Ref<Data> data) {
  held_ = data;
  value_ = Node::OfData(std::move(data), value_->location());
}

void LiveStorages::Add(Storage* storage) {
  std::lock_guard lock(lock_);
  storage->id_ = ++last_id_;
  storage->before_ = last_;
  (last_ == nullptr ? first_ : last_->after_) = storage;
  last_ = storage;
}

void LiveStorages::Remove(Storage* storage) {
  std::lock_guard lock(lock_);
  (storage->before_ == nullptr ? first_ : storage->before_->after_) = storage->after_;
  (storage->after_ == nullptr ? last_ : storage->after_->before_) = storage->before_;
}

std::vector<Ref<Storage>> LiveStorages::All() {
  std::vector<Ref<Storage>> all;
  std::lock_guard lock(lock_);
  for (Storage* storage = first_; storage != nullptr; storage = storage->after_) {
    // One whose last owner is about to remove it is not alive any more.
    if (Ref<Storage> alive = Ref<Storage>::IfAlive(storage)) all.push_back(std::move(alive));
  }
  return all;
}

}  // namespace xlaprof::lazy
