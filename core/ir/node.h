// A value in a graph that was recorded and is not computed yet. Immutable, and mostly made once: the
// same operation on the same operands is the same node while a table remembers it, and in every
// walked graph (WalkGraph).
#pragma once

#include <absl/types/span.h>

#include <source_location>

#include "core/base/pooled.h"
#include "core/base/ref.h"
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
  // Of the operation and all that it needs: structure, attributes and the leaves' shapes; neither
  // values nor buffers, places or names.
  const Hash& hash() const { return hash_; }
  // The user's line, always known, and the Trace scopes that were open.
  const std::source_location& location() const { return location_; }
  ScopeId scope() const { return scope_; }
  // Of a device_data; else null.
  const Ref<Data>& data() const { return data_; }

  // The node for this operation. Raises an Error that names operation, shapes and `location`.
  static Ref<const Node> Make(const Op& op, absl::Span<const Node* const> operands,
                              absl::Span<const int64_t> attributes, std::source_location location,
                              ScopeId scope = CurrentScope());
  // A leaf.
  static Ref<const Node> OfData(Ref<Data> data, std::source_location location);
  // A scalar that is part of the graph.
  static Ref<const Node> Constant(double value, DType dtype, std::source_location location);
  static Ref<const Node> Constant(int64_t value, DType dtype, std::source_location location);

  // Of walks over graphs, one walk at a time: the last that came here, the node's place in it, and
  // whether an execution had the node already: after a read, a step computes it again.
  struct Mark {
    uint64_t walk = 0;
    int32_t place = 0;
    bool executed = false;
  };
  Mark& mark() const { return mark_; }

  // From the table of nodes.
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
  mutable Operands operands_;  // taken out by the destructor only
  const Hash hash_;
  const Ref<Data> data_;
  const std::source_location location_;
  const ScopeId scope_;
  const size_t table_hash_ = 0;  // 0: no table knows it
  mutable Mark mark_;
};

using NodePtr = Ref<const Node>;

}  // namespace xlaprof::lazy
