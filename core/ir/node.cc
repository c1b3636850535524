#include "core/ir/node.h"

#include <array>
#include <thread>

#include "core/base/source_location.h"
#include "core/exec/data.h"
#include "core/ir/error.h"

namespace xlaprof::lazy {

// The nodes that were made last, so that the same operation is found again: an entry is overwritten
// by what comes to its place. Forgetting one costs an equal node, never a wrong one.
class NodeTable {
 public:
  // A node that equals what is asked for; null: none is known.
  static Ref<const Node> Find(size_t hash, const Op& op, const Node::Operands& operands,
                              const Attributes& attributes) {
    Shard& shard = ShardOf(hash);
    Lock lock(shard);
    const Node* node = shard.nodes[(hash >> kShardBits) % kSlots];
    if (node == nullptr || node->table_hash_ != hash || node->op_ != &op ||
        node->operands_ != operands || node->attributes_ != attributes)
      return nullptr;
    return Ref<const Node>::IfAlive(node);
  }
  static void Put(const Node* node) {
    Shard& shard = ShardOf(node->table_hash_);
    Lock lock(shard);
    shard.nodes[(node->table_hash_ >> kShardBits) % kSlots] = node;
  }
  // From a node's destructor: until then, Find may look at it.
  static void Remove(const Node* node) {
    Shard& shard = ShardOf(node->table_hash_);
    Lock lock(shard);
    const Node*& slot = shard.nodes[(node->table_hash_ >> kShardBits) % kSlots];
    if (slot == node) slot = nullptr;
  }

 private:
  static constexpr size_t kShardBits = 5, kSlots = 256;
  struct alignas(64) Shard {
    std::atomic_flag busy;
    std::array<const Node*, kSlots> nodes{};
  };
  // Held for some nanoseconds.
  struct Lock {
    explicit Lock(Shard& shard) : shard(shard) {
      while (shard.busy.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    ~Lock() { shard.busy.clear(std::memory_order_release); }
    Shard& shard;
  };
  static Shard& ShardOf(size_t hash) {
    static auto& shards = *new std::array<Shard, size_t(1) << kShardBits>;
    return shards[hash % shards.size()];
  }
};

namespace {

// Of an operation's name: two names are never the same operation.
Hash HashOfOp(const Op& op) { return Mix(Hash{}, op.name); }

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
  return Mix(Mix(HashOfOp(op), uint64_t(shape.dtype)), std::span<const int64_t>(shape.dims));
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
                           std::source_location location) {
  const size_t hash = TableHash(op, operands, attributes);
  if (Ref<const Node> known = NodeTable::Find(hash, op, operands, attributes)) return known;

  absl::InlinedVector<const Shape*, 3> shapes;
  for (const NodePtr& operand : operands) shapes.push_back(&operand->shape());
  Ref<Node> node(new Node);
  try {
    node->shape_ = op.shape(shapes, attributes);
  } catch (const Error& error) {
    RaiseAbout(op, operands, error.what(), location);
  }
  // A name is hashed once an operation.
  thread_local const Op* last_op = nullptr;
  thread_local Hash last_hash;
  if (last_op != &op) last_hash = HashOfOp(op), last_op = &op;
  node->hash_ = last_hash;
  for (int64_t attribute : attributes) node->hash_ = Mix(node->hash_, uint64_t(attribute));
  for (const NodePtr& operand : operands) node->hash_ = Mix(node->hash_, operand->hash());
  node->op_ = &op;
  node->operands_ = std::move(operands);
  node->attributes_ = std::move(attributes);
  node->location_ = location;
  node->scope_ = CurrentScope();
  node->table_hash_ = hash;
  NodeTable::Put(node.get());
  return node;
}

Ref<const Node> Node::OfData(Ref<Data> data, std::source_location location) {
  Ref<Node> node(new Node);
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
  if (table_hash_ != 0) NodeTable::Remove(this);
  if (operands_.empty()) return;
  thread_local std::vector<Operands> waiting;
  thread_local bool busy = false;
  if (busy) {
    waiting.push_back(std::move(operands_));
    return;
  }
  busy = true;
  operands_.clear();
  while (!waiting.empty()) {
    const Operands next = std::move(waiting.back());
    waiting.pop_back();
  }
  busy = false;
}

}  // namespace xlaprof::lazy
