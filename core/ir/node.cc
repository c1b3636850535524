#include "core/ir/node.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/source_location.h"
#include "base/spin_lock.h"
#include "core/exec/data.h"
#include "core/ir/error.h"

namespace xlaprof::lazy {

// Remembers recently made nodes, so that equal operations find the same node. A new node overwrites
// the entry at its place. Forgetting a node costs an equal one, but never gives a wrong one.
//
// Nodes are added without a lock. A thread that examines a found node holds the lock of its place,
// and so does the last Ref before the node is destroyed. Several places share a lock.
class NodeTable {
 public:
  // Returns an equal node, or null.
  static Ref<const Node> Find(size_t hash, const Op& op, absl::Span<const Node* const> operands,
                              absl::Span<const int64_t> attributes) {
    const Entry& entry = EntryOf(hash);
    if (entry.hash.load(std::memory_order_relaxed) != hash) return nullptr;
    std::lock_guard lock(LockOf(hash));
    const Node* node = entry.node.load(std::memory_order_acquire);
    if (node == nullptr || node->op_ != &op || !std::ranges::equal(node->attributes_, attributes) ||
        !std::ranges::equal(node->operands_, operands, {}, &Ref<const Node>::get))
      return nullptr;
    return Ref<const Node>(node);
  }
  static void Put(const Node* node) {
    Entry& entry = EntryOf(node->table_hash_);
    entry.node.store(node, std::memory_order_release);
    entry.hash.store(node->table_hash_, std::memory_order_relaxed);
  }
  static bool Hide(const Node* node) {
    Entry& entry = EntryOf(node->table_hash_);
    std::lock_guard lock(LockOf(node->table_hash_));
    if (!node->has_one_ref()) return false;
    if (entry.node.load(std::memory_order_relaxed) == node) {
      entry.hash.store(0, std::memory_order_relaxed);
      entry.node.store(nullptr, std::memory_order_relaxed);
    }
    return true;
  }

 private:
  struct Entry {
    std::atomic<size_t> hash;  // hash of the node, or of an earlier one
    std::atomic<const Node*> node;
  };
  struct alignas(64) Lock : SpinLock {};
  static Entry& EntryOf(size_t hash) { return entries_[hash % entries_.size()]; }
  static SpinLock& LockOf(size_t hash) { return locks_[hash % locks_.size()]; }
  static inline constinit std::array<Entry, 8192> entries_{};
  static inline constinit std::array<Lock, 32> locks_{};
};

namespace {

using Nodes = absl::Span<const Node* const>;

size_t TableHash(const Op& op, Nodes operands, absl::Span<const int64_t> attributes) {
  size_t hash = reinterpret_cast<uintptr_t>(&op) >> 4;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15, hash ^= hash >> 29;
  };
  for (const Node* operand : operands) mix(reinterpret_cast<uintptr_t>(operand) >> 4);
  for (int64_t attribute : attributes) mix(uint64_t(attribute));
  return hash == 0 ? 1 : hash;  // 0 means that it is not in the table
}

Hash HashOf(const Op& op, Nodes operands, absl::Span<const int64_t> attributes) {
  Hash hash = op.hash;
  for (int64_t attribute : attributes) hash = Mix(hash, uint64_t(attribute));
  for (const Node* operand : operands) hash = Mix(hash, operand->hash());
  return hash;
}

Hash LeafHash(const Op& op, const Shape& shape, const Attributes& sharding) {
  const Hash hash = Mix(Mix(op.hash, uint64_t(shape.dtype)), std::span<const int64_t>(shape.dims));
  return sharding.empty() ? hash : Mix(hash, std::span<const int64_t>(sharding));
}

Shape ShapeOf(const Op& op, Nodes operands, const Attributes& attributes,
              const std::source_location& location) {
  absl::InlinedVector<const Shape*, 3> shapes(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) shapes[i] = &operands[i]->shape();
  return ShapeOfResult(op, shapes, attributes, location);
}

}  // namespace

Shape ShapeOfResult(const Op& op, absl::Span<const Shape* const> operands,
                    const Attributes& attributes, const std::source_location& location) {
  try {
    return op.shape({operands.data(), operands.size()}, attributes);
  } catch (const Error& error) {
    std::string texts;
    for (const Shape* shape : operands) texts += (texts.empty() ? "" : ", ") + shape->ToText();
    Raise("{}({}): {}\n  at {} ({}:{})", op.name, texts, error.what(), FunctionName(location),
          location.file_name(), location.line());
  }
}

Node::Node(const Op& op, Nodes operands, absl::Span<const int64_t> attributes,
           std::source_location location, ScopeId scope, size_t table_hash)
    : op_(&op),
      attributes_(attributes.begin(), attributes.end()),
      shape_(ShapeOf(op, operands, attributes_, location)),
      operands_(operands.begin(), operands.end()),
      hash_(HashOf(op, operands, attributes)),
      location_(location),
      scope_(scope),
      table_hash_(table_hash) {}

Node::Node(Ref<Data> data, std::source_location location)
    : op_(&op::device_data),
      attributes_(data->sharding()),
      shape_(data->shape()),
      hash_(LeafHash(*op_, shape_, attributes_)),
      data_(std::move(data)),
      location_(location),
      scope_(CurrentScope()) {}

Ref<const Node> Node::Make(const Op& op, Nodes operands, absl::Span<const int64_t> attributes,
                           std::source_location location, ScopeId scope) {
  const size_t hash = TableHash(op, operands, attributes);
  if (Ref<const Node> known = NodeTable::Find(hash, op, operands, attributes)) return known;
  Ref<const Node> node =
      Ref<const Node>::First(new Node(op, operands, attributes, location, scope, hash));
  NodeTable::Put(node.get());
  return node;
}

Ref<const Node> Node::OfData(Ref<Data> data, std::source_location location) {
  return Ref<const Node>::First(new Node(std::move(data), location));
}

Ref<const Node> Node::Constant(double value, DType dtype, std::source_location location) {
  return Make(op::constant, {}, {AttributeOf(value), int64_t(dtype)}, location);
}

Ref<const Node> Node::Constant(int64_t value, DType dtype, std::source_location location) {
  return Make(op::constant, {}, {value, int64_t(dtype)}, location);
}

bool Node::Hide() const { return table_hash_ == 0 || NodeTable::Hide(this); }

// Destroys a chain of a million nodes in a loop, not by recursion.
Node::~Node() {
  if (operands_.empty()) return;
  using Waiting = absl::InlinedVector<Operands, 4>;
  constinit thread_local Waiting* busy = nullptr;
  if (busy != nullptr) {
    busy->push_back(std::move(operands_));
    return;
  }
  // This is on the stack, because static tensors are destroyed after the thread's variables.
  Waiting waiting;
  busy = &waiting;
  operands_.clear();
  while (!waiting.empty()) {
    const Operands next = std::move(waiting.back());
    waiting.pop_back();
  }
  busy = nullptr;
}

}  // namespace xlaprof::lazy
