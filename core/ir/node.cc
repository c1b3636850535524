#include "core/ir/node.h"

#include <absl/container/inlined_vector.h>

#include <array>
#include <mutex>

#include "core/base/source_location.h"
#include "core/base/spin_lock.h"
#include "core/exec/data.h"
#include "core/ir/error.h"

namespace xlaprof::lazy {
namespace {

constexpr size_t kShards = 32, kSlots = 256;
struct alignas(64) Shard {
  SpinLock lock;
  std::array<const Node*, kSlots> nodes{};
};
constinit std::array<Shard, kShards> shards{};

}  // namespace

// The nodes that were made last, so that the same operation is found again: an entry is overwritten
// by what comes to its place. Forgetting one costs an equal node, never a wrong one.
class NodeTable {
 public:
  // Where a node of this hash is, if it is known; nobody else looks there meanwhile.
  class Place {
   public:
    explicit Place(size_t hash)
        : hash_(hash),
          shard_(shards[hash % kShards]),
          lock_(shard_.lock),
          node_(shard_.nodes[hash / kShards % kSlots]) {}

    // A node that equals what is asked for, or null.
    Ref<const Node> Find(const Op& op, const Node::Operands& operands,
                         const Attributes& attributes) const {
      if (node_ == nullptr || node_->table_hash_ != hash_ || node_->op_ != &op ||
          node_->operands_ != operands || node_->attributes_ != attributes)
        return nullptr;
      return Ref<const Node>::IfAlive(node_);
    }
    void Put(const Node* node) { node_ = node; }
    // From a node's destructor: until then, Find may look at it.
    void Remove(const Node* node) {
      if (node_ == node) node_ = nullptr;
    }

   private:
    const size_t hash_;
    Shard& shard_;
    const std::lock_guard<SpinLock> lock_;
    const Node*& node_;
  };
};

namespace {

size_t TableHash(const Op& op, const Node::Operands& operands, const Attributes& attributes) {
  size_t hash = reinterpret_cast<uintptr_t>(&op) >> 4;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15, hash ^= hash >> 29;
  };
  for (const NodePtr& operand : operands) mix(reinterpret_cast<uintptr_t>(operand.get()) >> 4);
  for (int64_t attribute : attributes) mix(uint64_t(attribute));
  return hash;
}

Hash LeafHash(const Op& op, const Shape& shape) {
  return Mix(Mix(op.hash, uint64_t(shape.dtype)), std::span<const int64_t>(shape.dims));
}

[[noreturn]] void RaiseAbout(const Op& op, const Node::Operands& operands, std::string_view why,
                             const std::source_location& location) {
  std::string shapes;
  for (const NodePtr& operand : operands)
    shapes += (shapes.empty() ? "" : ", ") + operand->shape().ToText();
  Raise("{}({}): {}\n  at {} ({}:{})", op.name, shapes, why, FunctionName(location),
        location.file_name(), location.line());
}

}  // namespace

Ref<const Node> Node::Make(const Op& op, Operands operands, Attributes attributes,
                           std::source_location location, ScopeId scope) {
  const size_t hash = TableHash(op, operands, attributes);
  NodeTable::Place place(hash);
  if (Ref<const Node> known = place.Find(op, operands, attributes)) return known;

  absl::InlinedVector<const Shape*, 3> shapes;
  for (const NodePtr& operand : operands) shapes.push_back(&operand->shape());
  Ref<Node> node = Ref<Node>::First(new Node);
  try {
    node->shape_ = op.shape(shapes, attributes);
  } catch (const Error& error) {
    RaiseAbout(op, operands, error.what(), location);
  }
  node->hash_ = op.hash;
  for (int64_t attribute : attributes) node->hash_ = Mix(node->hash_, uint64_t(attribute));
  for (const NodePtr& operand : operands) node->hash_ = Mix(node->hash_, operand->hash());
  node->op_ = &op;
  node->operands_ = std::move(operands);
  node->attributes_ = std::move(attributes);
  node->location_ = location;
  node->scope_ = scope;
  node->table_hash_ = hash;
  place.Put(node.get());
  return node;
}

Ref<const Node> Node::OfData(Ref<Data> data, std::source_location location) {
  Ref<Node> node = Ref<Node>::First(new Node);
  node->op_ = &op::device_data;
  node->shape_ = data->shape();
  node->hash_ = LeafHash(op::device_data, node->shape_);
  node->data_ = std::move(data);
  node->location_ = location;
  node->scope_ = CurrentScope();
  return node;
}

Ref<const Node> Node::Constant(double value, DType dtype, std::source_location location) {
  return Make(op::constant, {}, {AttributeOf(value), int64_t(dtype)}, location);
}

Ref<const Node> Node::Constant(int64_t value, DType dtype, std::source_location location) {
  return Make(op::constant, {}, {value, int64_t(dtype)}, location);
}

// A chain of a million nodes is taken apart in a loop, not by a call in a call.
Node::~Node() {
  if (table_hash_ != 0) NodeTable::Place(table_hash_).Remove(this);
  if (operands_.empty()) return;
  using Waiting = absl::InlinedVector<Operands, 4>;
  constinit thread_local Waiting* busy = nullptr;
  if (busy != nullptr) {
    busy->push_back(std::move(operands_));
    return;
  }
  // On the stack: a static tensor is destroyed after the thread's own variables.
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
