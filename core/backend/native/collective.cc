// Operations in which all ranks take part. Each rank reads what it needs from the others' memory.
// Only local_part needs nothing of the others.
#include <algorithm>

#include "core/backend/native/strided.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {
namespace {

// The ranks of a collective, from its attributes (op.h).
struct Groups {
  int64_t ranks = 1, size = 1;
  Dims listed;  // group by group; empty: all ranks are one group

  static Groups Of(const Task& task, size_t first) {
    const Attributes& all = task.instruction.attributes;
    return {all[first], all[first + 1], {all.begin() + int64_t(first) + 2, all.end()}};
  }
  // Returns the ranks of the group that contains `rank`, in order.
  Dims GroupOf(int64_t rank) const {
    Dims group;
    if (listed.empty()) {
      for (int64_t i = 0; i < ranks; ++i) group.push_back(i);
      return group;
    }
    const int64_t at = std::ranges::find(listed, rank) - listed.begin();
    const auto begin = listed.begin() + at / size * size;
    return {begin, begin + size};
  }
  // Returns the place of a rank in its group.
  int64_t PlaceOf(int64_t rank) const {
    return listed.empty() ? rank : (std::ranges::find(listed, rank) - listed.begin()) % size;
  }
};

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>, float, T>;

// Combines element i of each input for i in [begin, end), in the order of the inputs.
template <class T, class Combine>
void ReduceRange(std::span<const char* const> inputs, T* out, int64_t begin, int64_t end,
                 Combine combine) {
  constexpr int64_t kBlock = 1024;
  Wide<T> sums[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t count = std::min(kBlock, end - at);
    const T* first = reinterpret_cast<const T*>(inputs[0]) + at;
    for (int64_t i = 0; i < count; ++i) sums[i] = Wide<T>(first[i]);
    for (const char* input : inputs.subspan(1)) {
      const T* next = reinterpret_cast<const T*>(input) + at;
      for (int64_t i = 0; i < count; ++i) sums[i] = combine(sums[i], Wide<T>(next[i]));
    }
    for (int64_t i = 0; i < count; ++i) out[at - begin + i] = T(sums[i]);
  }
}

// Reduces elements [begin, end) of the inputs into `out`.
void Reduce(ReduceOp kind, DType type, std::span<const char* const> inputs, char* out,
            int64_t begin, int64_t end) {
  VisitDType(type, [&](auto t) {
    using T = decltype(t);
    using W = Wide<T>;
    const auto with = [&](auto combine) {
      ReduceRange(inputs, reinterpret_cast<T*>(out), begin, end, combine);
    };
    // A NaN counts as both the smallest and the largest.
    switch (kind) {
      case ReduceOp::kSum:
        return with([](W a, W b) { return W(a + b); });
      case ReduceOp::kMul:
        return with([](W a, W b) { return W(a * b); });
      case ReduceOp::kMin:
        return with([](W a, W b) { return b < a || b != b ? b : a; });
      case ReduceOp::kMax:
        return with([](W a, W b) { return b > a || b != b ? b : a; });
    }
  });
}

class OfRanks : public Thunk {
 public:
  OfRanks(const Task& task, int64_t ranks)
      : what_(Describe(task)),
        in_(task.operands[0].slot),
        out_(task.result.slot),
        bytes_(task.shape(0).bytes()),
        ranks_(ranks),
        place_(task.index),
        meetings_(task.meetings),
        pool_(task.pool) {}

  void Run(char* const* memory) override { meetings_->status = Exchange(memory); }

 protected:
  // Makes the result of the values of all ranks, or of this rank's own if it needs no others.
  virtual void Make(int64_t rank, std::span<const std::span<const char>> values, char* out) = 0;
  virtual bool needs_others() const { return true; }
  ThreadPool& pool() const { return pool_; }
  void Join(Meetings* meetings) { meetings_ = meetings; }

 private:
  absl::Status Exchange(char* const* memory) {
    const std::span<const char> own(memory[in_], size_t(bytes_));
    Peers* peers = meetings_->peers;
    if (peers == nullptr && ranks_ == 1) {
      Make(0, std::span(&own, 1), memory[out_]);
      return absl::OkStatus();
    }
    if (peers == nullptr || peers->size() != ranks_)
      return Invalid("{}: it was recorded for {} ranks, but runs among {}", what_, ranks_,
                     peers == nullptr ? 1 : peers->size());
    if (!needs_others()) {
      Make(peers->rank(), std::span(&own, 1), memory[out_]);
      return absl::OkStatus();
    }
    XP_TRY(auto values, peers->Meet(place_, what_, own));
    Make(peers->rank(), values, memory[out_]);
    return peers->Leave();
  }

  const std::string what_;
  const int32_t in_, out_;
  const int64_t bytes_, ranks_, place_;
  Meetings* meetings_;
  ThreadPool& pool_;
};

class AllReduce final : public Cloned<AllReduce, OfRanks> {
 public:
  AllReduce(const Task& task, Groups groups)
      : Cloned(task, groups.ranks),
        groups_(std::move(groups)),
        kind_(ReduceOp(task.attribute(0))),
        shape_(task.shape(0)) {}

 private:
  void Make(int64_t rank, std::span<const std::span<const char>> values, char* out) override {
    std::vector<const char*> inputs;
    for (int64_t peer : groups_.GroupOf(rank)) inputs.push_back(values[size_t(peer)].data());
    pool().For(shape_.elements(), kGrain, [&](int64_t begin, int64_t end) {
      Reduce(kind_, shape_.dtype, inputs, out + begin * ByteSize(shape_.dtype), begin, end);
    });
  }

  const Groups groups_;
  const ReduceOp kind_;
  const Shape shape_;
};

class AllGather final : public Cloned<AllGather, OfRanks> {
 public:
  AllGather(const Task& task, Groups groups)
      : Cloned(task, groups.ranks), groups_(std::move(groups)) {
    const size_t dim = size_t(task.attribute(0));
    const Shape& part = task.shape(0);
    for (int64_t i = 0; i < groups_.size; ++i) {
      Strided to = Strided::Of(task.result.shape);
      to.offset = i * part.dims[dim] * to.strides[dim];
      to.dims = part.dims;
      copies_.emplace_back(Strided::Of(part), to, ByteSize(part.dtype));
    }
  }

 private:
  void Make(int64_t rank, std::span<const std::span<const char>> values, char* out) override {
    const Dims group = groups_.GroupOf(rank);
    for (size_t i = 0; i < group.size(); ++i)
      copies_[i].Run(values[size_t(group[i])].data(), out, pool());
  }

  const Groups groups_;
  std::vector<StridedCopy> copies_;  // by place in the group
};

class ReduceScatter final : public Cloned<ReduceScatter, OfRanks> {
 public:
  ReduceScatter(const Task& task, Groups groups)
      : Cloned(task, groups.ranks),
        groups_(std::move(groups)),
        kind_(ReduceOp(task.attribute(0))),
        type_(task.shape(0).dtype),
        around_(task.shape(0), size_t(task.attribute(1))) {}

 private:
  void Make(int64_t rank, std::span<const std::span<const char>> values, char* out) override {
    const Dims group = groups_.GroupOf(rank);
    std::vector<const char*> inputs;
    for (int64_t peer : group) inputs.push_back(values[size_t(peer)].data());
    const int64_t place = groups_.PlaceOf(rank);
    const int64_t part = around_.size / groups_.size * around_.inner;
    for (int64_t i = 0; i < around_.outer; ++i) {
      const int64_t begin = (i * groups_.size + place) * part;
      Reduce(kind_, type_, inputs, out + i * part * ByteSize(type_), begin, begin + part);
    }
  }

  const Groups groups_;
  const ReduceOp kind_;
  const DType type_;
  const Around around_;  // the dimension that is scattered
};

class LocalPart final : public Cloned<LocalPart, OfRanks> {
 public:
  LocalPart(const Task& task, Groups groups)
      : Cloned(task, groups.ranks), groups_(std::move(groups)) {
    const size_t dim = size_t(task.attribute(0));
    for (int64_t i = 0; i < groups_.size; ++i) {
      Strided from = Strided::Of(task.shape(0));
      from.offset = i * task.result.shape.dims[dim] * from.strides[dim];
      from.dims = task.result.shape.dims;
      copies_.emplace_back(from, Strided::Of(task.result.shape), ByteSize(task.result.shape.dtype));
    }
  }

 private:
  bool needs_others() const override { return false; }
  void Make(int64_t rank, std::span<const std::span<const char>> values, char* out) override {
    copies_[size_t(groups_.PlaceOf(rank))].Run(values[0].data(), out, pool());
  }

  const Groups groups_;
  std::vector<StridedCopy> copies_;  // by place in the group
};

class Broadcast final : public Cloned<Broadcast, OfRanks> {
 public:
  explicit Broadcast(const Task& task)
      : Cloned(task, task.attribute(1)), root_(size_t(task.attribute(0))) {}

 private:
  void Make(int64_t, std::span<const std::span<const char>> values, char* out) override {
    std::ranges::copy(values[root_], out);
  }

  const size_t root_;
};

}  // namespace

ThunkOr MakeCollective(const Task& task) {
  const Op* op = task.instruction.op;
  if (op == &op::all_reduce) return std::make_unique<AllReduce>(task, Groups::Of(task, 1));
  if (op == &op::all_gather) return std::make_unique<AllGather>(task, Groups::Of(task, 1));
  if (op == &op::local_part) return std::make_unique<LocalPart>(task, Groups::Of(task, 1));
  if (op == &op::reduce_scatter) return std::make_unique<ReduceScatter>(task, Groups::Of(task, 2));
  return std::make_unique<Broadcast>(task);
}

}  // namespace xlaprof::lazy
