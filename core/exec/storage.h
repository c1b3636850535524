// What a tensor and its views share: a value on a device, recorded or computed.
#pragma once

#include "core/base/spin_lock.h"
#include "core/exec/data.h"
#include "core/ir/node.h"

namespace xlaprof::lazy {

// Used by one thread at a time; a cut of its device counts as use of all that are alive.
class Storage final : public RefCounted, public Pooled<Storage> {
 public:
  // `logical`: the type that the user sees, which is not the node's where XLA_USE_BF16 and the like
  // say so.
  static Ref<Storage> Make(Device& device, NodePtr value, DType logical);
  ~Storage() override;

  Device& device() const { return device_; }
  DType logical() const { return logical_; }
  // Ascending in the order in which they were made on their device.
  int64_t id() const { return id_; }
  // Counts the writes in place.
  int64_t version() const { return version_; }

  const NodePtr& value() const { return value_; }
  bool is_computed() const { return &value_->op() == &op::device_data; }
  // A write in place.
  void Write(NodePtr value) {
    value_ = std::move(value);
    ++version_;
  }
  // Counts the writes that gradients flow through: a view that was taken before one has the history
  // of what was there before.
  int64_t recorded_writes() const { return recorded_writes_; }
  void NoteRecordedWrite() { ++recorded_writes_; }
  // The value was computed, or will be: from now on it is this.
  void Become(Ref<Data> data);
  // The last value that was computed; the memory that a step's new one may take.
  const Ref<Data>& held() const { return held_; }

  // From the live ones of its device.
  bool Hide();

 private:
  friend class LiveStorages;
  Storage(Device& device, NodePtr value, DType logical);

  Device& device_;
  const DType logical_;
  int64_t id_ = 0;  // given by LiveStorages
  int64_t version_ = 0, recorded_writes_ = 0;
  NodePtr value_;
  Ref<Data> held_;
  Storage *before_ = nullptr, *after_ = nullptr;  // the device's list
};

// The storages of a device that are alive, in the order of their ids.
class LiveStorages {
 public:
  void Add(Storage* storage);
  // False, and nothing is done, where somebody else has it.
  bool Remove(Storage* storage);
  std::vector<Ref<Storage>> All();

 private:
  SpinLock lock_;
  int64_t last_id_ = 0;
  Storage *first_ = nullptr, *last_ = nullptr;
};

}  // namespace xlaprof::lazy
