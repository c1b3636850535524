// The value that a tensor and its views share: a value on a device, recorded or computed.
#pragma once

#include "core/exec/data.h"
#include "core/exec/graph_lock.h"
#include "core/ir/node.h"

namespace xlaprof::lazy {

// Hold a GraphLock to read or write the value. Cuts of any thread replace the values of all live
// storages of a device.
class Storage final : public RefCounted, public Pooled<Storage> {
 public:
  // Makes a storage. `logical` is the type that the user sees. It differs from the node's type if
  // XLA_USE_BF16 or a similar variable is set.
  static Ref<Storage> Make(Device& device, NodePtr value, DType logical);
  ~Storage() override;

  Device& device() const { return device_; }
  DType logical() const { return logical_; }
  // Returns a number that ascends in the order in which storages were made on their device.
  int64_t id() const { return id_; }
  // Returns the number of writes in place.
  int64_t version() const { return version_; }

  const NodePtr& value() const { return value_; }
  bool is_computed() const { return &value_->op() == &op::device_data; }
  // Writes in place.
  void Write(NodePtr value) {
    value_ = Marked(std::move(value));
    ++version_;
  }
  // Divides the value, if it is not computed, and all that are written later, as the attributes of
  // a sharding say; without attributes, not at all.
  void Mark(const Attributes& sharding);
  const Attributes& marked() const { return marked_; }
  // Replaces the recorded value by `data`, which was computed or will be.
  void Become(Ref<Data> data);
  // Returns the last computed value, whose memory the next value may take.
  const Ref<Data>& held() const { return held_; }

  // Removes this from its device's live storages. Returns false if somebody else holds it.
  bool Hide();

 private:
  friend class LiveStorages;
  Storage(Device& device, NodePtr value, DType logical);
  // Returns a value with the mark of this storage.
  NodePtr Marked(NodePtr value) const;

  Device& device_;
  const DType logical_;
  int64_t id_ = 0;  // set by LiveStorages
  int64_t version_ = 0;
  Attributes marked_;  // empty: it is not divided
  NodePtr value_;
  Ref<Data> held_;
  Storage *before_ = nullptr, *after_ = nullptr;  // neighbours in the device's list
};

// The live storages of a device, in the order of their ids. Its functions hold a GraphLock.
class LiveStorages {
 public:
  void Add(Storage* storage);
  // Removes a storage, unless somebody else holds it; then returns false.
  bool Remove(Storage* storage);
  // Hold a GraphLock until the storages' values have been used. Otherwise another thread may make
  // one that is not in the list.
  std::vector<Ref<Storage>> All();

 private:
  int64_t last_id_ = 0;
  Storage *first_ = nullptr, *last_ = nullptr;
};

}  // namespace xlaprof::lazy
