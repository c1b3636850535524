// A value in a graph that was recorded and is not computed yet. Nodes are immutable, and mostly
// unique: the same operation on the same operands is the same node while a table remembers it, and
// in every walked graph (WalkGraph).
#pragma once

#include <absl/types/span.h>

#include <source_location>

#include "base/pooled.h"
#include "base/ref.h"
#include "core/ir/call_stack.h"
#include "core/ir/op.h"
#include "core/ir/scope.h"

namespace xlaprof::lazy {

class Data;

class Node final : public RefCounted, public Pooled<Node> {
 public:
  using Operands = absl::InlinedVector<Ref<const Node>, 3>;

  const Op& op() const { return *op_; }
  const Shape& shape() const { return shape_; }
  const Attributes& attributes() const { return attributes_; }
  const Operands& operands() const { return operands_; }
  // Returns a hash of the operation and everything that it needs: structure, attributes and the
  // leaves' shapes. It does not depend on values, buffers, locations or names.
  const Hash& hash() const { return hash_; }
  // Return the user's line, which is always known, the Trace scopes that were open, and the calls
  // that led to the line if they are recorded.
  const std::source_location& location() const { return location_; }
  ScopeId scope() const { return scope_; }
  CallStackId call_stack() const { return call_stack_; }
  // Returns a device_data node's data; null for other nodes.
  const Ref<Data>& data() const { return data_; }

  // Returns the node of this operation. If shapes do not fit, raises an Error that names the
  // operation, its shapes and `location`.
  static Ref<const Node> Make(const Op& op, absl::Span<const Node* const> operands,
                              absl::Span<const int64_t> attributes, std::source_location location,
                              ScopeId scope = CurrentScope());
  // Returns a leaf.
  static Ref<const Node> OfData(Ref<Data> data, std::source_location location);
  // Return a scalar that is part of the graph.
  static Ref<const Node> Constant(double value, DType dtype, std::source_location location);
  static Ref<const Node> Constant(int64_t value, DType dtype, std::source_location location);

  // State of walks over graphs, of which only one may run at a time: the last walk that visited the
  // node, the node's place in it, and whether an execution already contained it. After a read, a
  // step computes such nodes again.
  struct Mark {
    uint64_t walk = 0;
    int32_t place = 0;
    bool executed = false;
  };
  Mark& mark() const { return mark_; }

  // Removes this node from the table of nodes.
  bool Hide() const;
  ~Node() override;

 private:
  friend class NodeTable;
  Node(const Op& op, absl::Span<const Node* const> operands, absl::Span<const int64_t> attributes,
       std::source_location location, ScopeId scope, size_t table_hash);
  Node(Ref<Data> data, std::source_location location);

  const Op* const op_;
  const Attributes attributes_;
  const Shape shape_;
  mutable Operands operands_;  // only the destructor changes them
  const Hash hash_;
  const Ref<Data> data_;
  const std::source_location location_;
  const ScopeId scope_;
  const CallStackId call_stack_ = CurrentCallStack();
  const size_t table_hash_ = 0;  // 0: it is in no table
  mutable Mark mark_;
};

using NodePtr = Ref<const Node>;

// Returns the shape of an operation's result. If the operands do not fit, raises an Error that names
// the operation, their shapes and `location`.
Shape ShapeOfResult(const Op& op, absl::Span<const Shape* const> operands,
                    const Attributes& attributes, const std::source_location& location);

}  // namespace xlaprof::lazy
