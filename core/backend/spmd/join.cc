#include "core/backend/spmd/join.h"

#include <algorithm>
#include <map>

#include "base/status.h"

namespace xlaprof::lazy {
namespace {

// Copying more than this takes longer than another exchange, in bytes.
constexpr int64_t kSmall = 128 << 10;

bool IsSmallExchange(const Instruction& it) {
  return it.op == &op::all_reduce && it.shape.bytes() <= kSmall && it.shape.elements() > 0;
}

class Joiner {
 public:
  explicit Joiner(const Program& program)
      : program_(program),
        places_(program.instructions.size(), -1),
        group_of_(program.instructions.size(), -1) {
    FindGroups();
  }

  Program Run() {
    if (groups_.empty()) return program_;
    made_ = program_;
    made_.instructions.clear();
    for (size_t i = 0; i < program_.instructions.size(); ++i)
      if (!Place(i)) delayed_.push_back(i);
    XP_CHECK(delayed_.empty());
    for (int32_t& parameter : made_.parameters) parameter = places_[size_t(parameter)];
    for (int32_t& result : made_.results) result = places_[size_t(result)];
    return std::move(made_);
  }

 private:
  struct Group {
    std::vector<size_t> members;
    size_t ready = 0;  // members whose operand is there
  };

  // Groups exchanges that have equally many exchanges before them, so that none needs another one.
  void FindGroups() {
    std::vector<int32_t> before(program_.instructions.size(), 0);
    std::map<std::tuple<int32_t, DType, Attributes>, std::vector<size_t>> alike;
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& it = program_.instructions[i];
      for (int32_t operand : it.operands) before[i] = std::max(before[i], before[size_t(operand)]);
      if (!IsSmallExchange(it)) continue;
      ++before[i];
      alike[{before[i], it.shape.dtype, it.attributes}].push_back(i);
    }
    for (auto& [key, members] : alike) {
      if (members.size() < 2) continue;
      for (size_t member : members) group_of_[member] = int32_t(groups_.size());
      groups_.push_back({std::move(members)});
    }
  }

  // Adds an instruction. Returns false if it needs an exchange that has not been made.
  bool Place(size_t i) {
    Instruction it = program_.instructions[i];
    for (int32_t& operand : it.operands) {
      operand = places_[size_t(operand)];
      if (operand < 0) return false;
    }
    if (group_of_[i] < 0) {
      places_[i] = made_.Append(std::move(it));
      return true;
    }
    Group& group = groups_[size_t(group_of_[i])];
    if (++group.ready < group.members.size()) return true;
    Exchange(group);
    // The instructions that waited for the exchange keep their order.
    std::vector<size_t> waiting = std::move(delayed_);
    delayed_.clear();
    for (size_t waits : waiting)
      if (!Place(waits)) delayed_.push_back(waits);
    return true;
  }

  // Exchanges the members' operands as one tensor, of which each member's result is a slice.
  void Exchange(const Group& group) {
    const Instruction& last = program_.instructions[group.members.back()];
    const auto add = [&](const Op& op, const std::vector<int32_t>& operands,
                         const Attributes& attributes) {
      return made_.Append(op, operands, attributes, last);
    };
    std::vector<int32_t> flat;
    for (size_t member : group.members) {
      const Instruction& it = program_.instructions[member];
      flat.push_back(add(op::view, {places_[size_t(it.operands[0])]}, {it.shape.elements()}));
    }
    const int32_t all = add(op::all_reduce, {add(op::cat, flat, {0})}, last.attributes);
    int64_t begin = 0;
    for (size_t member : group.members) {
      const Shape& shape = program_.instructions[member].shape;
      const int64_t end = begin + shape.elements();
      const int32_t part = add(op::slice, {all}, {0, begin, end, 1});
      places_[member] = add(op::view, {part}, {shape.dims.begin(), shape.dims.end()});
      begin = end;
    }
  }

  const Program& program_;
  Program made_;
  std::vector<int32_t> places_;    // of the old instructions in the new program; -1: not there yet
  std::vector<int32_t> group_of_;  // of an instruction; -1: none
  std::vector<Group> groups_;
  std::vector<size_t> delayed_;  // instructions that need exchanges
};

}  // namespace

Program WithJoinedExchanges(const Program& program) { return Joiner(program).Run(); }

}  // namespace xlaprof::lazy
