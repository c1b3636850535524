#include "core/exec/storage.h"

#include "core/exec/device.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {

Storage::Storage(Device& device, NodePtr value, DType logical)
    : device_(device), logical_(logical), value_(std::move(value)) {
  if (is_computed()) held_ = value_->data();
}

Ref<Storage> Storage::Make(Device& device, NodePtr value, DType logical) {
  Ref<Storage> storage = Ref<Storage>::First(new Storage(device, std::move(value), logical));
  XLAPROF_COUNT("CreateXlaTensor");
  device.live().Add(storage.get());
  return storage;
}

Storage::~Storage() {
  if (!is_forked) XLAPROF_COUNT("DestroyXlaTensor");
}

NodePtr Storage::Marked(NodePtr value) const {
  if (marked_.empty()) return value;
  if (value->data() && value->data()->sharding() == marked_) return value;
  if (&value->op() == &op::mark_sharding && value->attributes() == marked_) return value;
  return Node::Make(op::mark_sharding, {value.get()}, marked_, value->location());
}

void Storage::Mark(const Attributes& sharding) {
  marked_ = sharding;
  if (is_computed()) return;
  // An earlier mark would first divide the value in another way.
  if (&value_->op() == &op::mark_sharding) value_ = value_->operands()[0];
  value_ = Marked(std::move(value_));
}

bool Storage::Hide() { return device_.live().Remove(this); }

void Storage::Become(Ref<Data> data) {
  held_ = data;
  value_ = Node::OfData(std::move(data), value_->location());
}

void LiveStorages::Add(Storage* storage) {
  GraphLock lock;
  storage->id_ = ++last_id_;
  storage->before_ = last_;
  (last_ == nullptr ? first_ : last_->after_) = storage;
  last_ = storage;
}

bool LiveStorages::Remove(Storage* storage) {
  GraphLock lock;
  if (!storage->has_one_ref()) return false;
  (storage->before_ == nullptr ? first_ : storage->before_->after_) = storage->after_;
  (storage->after_ == nullptr ? last_ : storage->after_->before_) = storage->before_;
  return true;
}

std::vector<Ref<Storage>> LiveStorages::All() {
  std::vector<Ref<Storage>> all;
  GraphLock lock;
  for (Storage* storage = first_; storage != nullptr; storage = storage->after_)
    all.emplace_back(storage);
  return all;
}

}  // namespace xlaprof::lazy
