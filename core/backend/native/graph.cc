#include "core/backend/native/graph.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <queue>

#include "base/status.h"

namespace xlaprof::lazy {
namespace {

// More operations would need more registers than fit into the core's first cache.
constexpr size_t kMaxFused = 64;

bool OnlyMoves(const Op* op) {
  return op == &op::expand || op == &op::permute || op == &op::slice || op == &op::flip;
}

bool SwapsLastTwo(const Instruction& instruction) {
  const Attributes& order = instruction.attributes;
  if (instruction.op != &op::permute || order.size() < 2) return false;
  const int64_t rank = int64_t(order.size());
  for (int64_t i = 0; i < rank - 2; ++i)
    if (order[size_t(i)] != i) return false;
  return order[size_t(rank) - 1] == rank - 2;
}

// Returns whether the last two sizes are equal. Then the product of the earlier ones is equal, too.
bool SameMatrices(const Shape& a, const Shape& b) {
  return a.rank() >= 2 && std::equal(a.dims.end() - 2, a.dims.end(), b.dims.end() - 2);
}

// Returns a unit's position in the program. A fused unit has that of its last member.
int32_t PlaceOf(const Unit& unit) {
  return unit.fused ? unit.members.back() : unit.members.front();
}

bool IsProduct(const Op* op) { return op == &op::mm || op == &op::bmm; }

void Add(std::vector<int32_t>* list, int32_t value) {
  if (std::find(list->begin(), list->end(), value) == list->end()) list->push_back(value);
}

}  // namespace

Code CodeOf(const Op* op) {
  static const absl::flat_hash_map<const Op*, Code> codes = {
      {&op::neg, Code::kNeg},         {&op::abs, Code::kAbs},
      {&op::exp, Code::kExp},         {&op::log, Code::kLog},
      {&op::log1p, Code::kLog1p},     {&op::tanh, Code::kTanh},
      {&op::sqrt, Code::kSqrt},       {&op::rsqrt, Code::kRsqrt},
      {&op::sigmoid, Code::kSigmoid}, {&op::relu, Code::kRelu},
      {&op::sin, Code::kSin},         {&op::cos, Code::kCos},
      {&op::floor, Code::kFloor},     {&op::round, Code::kRound},
      {&op::erf, Code::kErf},
      {&op::logical_not, Code::kNot}, {&op::add, Code::kAdd},
      {&op::sub, Code::kSub},         {&op::mul, Code::kMul},
      {&op::div, Code::kDiv},         {&op::pow, Code::kPow},
      {&op::maximum, Code::kMaximum}, {&op::minimum, Code::kMinimum},
      {&op::eq, Code::kEq},           {&op::remainder, Code::kRemainder},
      {&op::ne, Code::kNe},           {&op::lt, Code::kLt},
      {&op::le, Code::kLe},           {&op::gt, Code::kGt},
      {&op::ge, Code::kGe},           {&op::logical_and, Code::kAnd},
      {&op::logical_or, Code::kOr},   {&op::where, Code::kWhere},
  };
  auto found = codes.find(op);
  return found == codes.end() ? Code::kCount : found->second;
}

Graph::Graph(const Program& program) : program_(program), nodes_(program.instructions.size()) {
  FindLive();
  const int32_t count = int32_t(nodes_.size());
  for (int32_t i = 0; i < count; ++i) {
    if (node(i).live) Classify(i);
  }
  FindMemory();
  Sink();
  for (Node& node : nodes_) node.in_memory = false;
  FindMemory();
  MakeUnits();
}

void Graph::FindLive() {
  for (int32_t result : program_.results) node(result).live = true;
  for (int32_t i = int32_t(nodes_.size()); i-- > 0;) {
    if (!node(i).live) continue;
    for (int32_t operand : instruction(i).operands) node(operand).live = true;
  }
}

Graph::Source Graph::SourceOf(int32_t operand, bool fused) const {
  const int32_t value = root(operand);
  const Node& node = nodes_[size_t(value)];
  // A product cannot use a swap that it sees with other matrix sizes: [18,16] of [3,6,16].
  const bool elsewhere =
      fused ? node.reads_elsewhere
            : node.swaps && SameMatrices(instruction(operand).shape, instruction(value).shape);
  if (elsewhere) return {root(instruction(value).operands[0]), value};
  return {value};
}

void Graph::Classify(int32_t i) {
  const Instruction& it = instruction(i);
  Node& self = node(i);
  self.root = i;
  if (it.op == &op::device_data) return;
  if (Fold(i)) return;
  const bool same_type =
      it.op == &op::cast && instruction(it.operands[0]).shape.dtype == it.shape.dtype;
  if (it.op == &op::view || same_type) {
    self.root = root(it.operands[0]);
    return;
  }
  if (OnlyMoves(it.op)) {
    const Shape& from = instruction(it.operands[0]).shape;
    Strided view = ViewOf(it, from);
    Simplify(&view);
    const bool whole = view.offset == 0 && from.elements() == it.shape.elements();
    if (whole && view.dims.size() == 1 && view.strides[0] == 1) {
      self.root = root(it.operands[0]);
      return;
    }
    self.swaps = SwapsLastTwo(it);
    // With any other stride a block could not be read in runs.
    self.reads_elsewhere = view.strides.back() == 0 || view.strides.back() == 1;
  }
  self.fusable = it.op->elementwise;
  if (self.fusable) return Group(i);
  const bool product = IsProduct(it.op);
  for (size_t k = 0; k < it.operands.size(); ++k) {
    const int32_t from = product ? SourceOf(it.operands[k], false).value : root(it.operands[k]);
    self.level = std::max(self.level, node(from).level + 1);
  }
}

// Computes values that are the same for all elements.
bool Graph::Fold(int32_t i) {
  const Instruction& it = instruction(i);
  Node& self = node(i);
  const Loops& loops = ThisCpusLoops();
  const DType dtype = it.shape.dtype;
  if (it.op == &op::constant) {
    const int64_t bits = it.attributes[0];
    const double real = RealOf(bits);
    const void* in[] = {IsFloat(dtype) ? static_cast<const void*>(&real) : &bits};
    loops.CastOf(IsFloat(dtype) ? DType::kF64 : DType::kI64, dtype)(in, self.splat.bytes, 1);
  } else {
    if (it.operands.empty() || it.shape.elements() == 0) return false;
    if (!OnlyMoves(it.op) && it.op != &op::view && !it.op->elementwise) return false;
    const void* in[3];
    for (size_t k = 0; k < it.operands.size(); ++k) {
      const Splat* value = splat(it.operands[k]);
      if (value == nullptr) return false;
      in[k] = value->bytes;
    }
    const DType from = instruction(it.operands.back()).shape.dtype;
    const Code code = CodeOf(it.op);
    const Loops::Elementwise compute =
        code != Code::kCount ? loops.elementwise[size_t(code)][size_t(ComputedAs(from))]
                             : loops.CastOf(from, dtype);
    if (compute == nullptr) return false;  // an error is reported when the unit is made
    compute(in, self.splat.bytes, 1);
  }
  const void* rounded[] = {self.splat.bytes};
  if (IsShort(dtype)) loops.round[size_t(dtype)](rounded, self.splat.bytes, 1);
  return self.is_splat = true;
}

// Puts an elementwise operation into the group of its operands. A level is the largest number of
// kernels that must run before it, one after the other. Groups of one level and number of elements
// cannot depend on each other through a third, so joining them never makes a cycle.
void Graph::Group(int32_t i) {
  const Instruction& it = instruction(i);
  Node& self = node(i);
  const int64_t elements = it.shape.elements();
  auto joins = [&](const Source& source) {
    return source.view < 0 && node(source.value).fusable &&
           instruction(source.value).shape.elements() == elements;
  };
  self.level = 0;
  for (int32_t operand : it.operands) {
    if (splat(operand) != nullptr) continue;
    const Source source = SourceOf(operand, true);
    self.level = std::max(self.level, node(source.value).level + (joins(source) ? 0 : 1));
  }
  std::vector<int32_t> joined;
  size_t size = 1;
  for (int32_t operand : it.operands) {
    if (splat(operand) != nullptr) continue;
    const Source source = SourceOf(operand, true);
    if (!joins(source) || node(source.value).level != self.level) continue;
    const int32_t group = node(source.value).group;
    if (std::find(joined.begin(), joined.end(), group) != joined.end()) continue;
    joined.push_back(group);
    size += groups_[size_t(group)].size();
  }
  if (size > kMaxFused) {
    ++self.level;
    joined.clear();
  }
  if (joined.empty()) {
    joined.push_back(int32_t(groups_.size()));
    groups_.emplace_back();
  }
  self.group = joined[0];
  for (size_t k = 1; k < joined.size(); ++k) {
    for (int32_t member : groups_[size_t(joined[k])]) {
      node(member).group = self.group;
      groups_[size_t(self.group)].push_back(member);
    }
    groups_[size_t(joined[k])].clear();
  }
  groups_[size_t(self.group)].push_back(i);
}

// Finds the values that must be in memory, and thereby the views that are never made.
void Graph::FindMemory() {
  for (int32_t result : program_.results) node(root(result)).in_memory = true;
  for (int32_t i = int32_t(nodes_.size()); i-- > 0;) {
    Node& self = node(i);
    if (!self.live || self.root != i || self.is_splat) continue;
    const Instruction& it = instruction(i);
    if (!self.fusable && !self.in_memory) continue;
    for (int32_t operand : it.operands) {
      const bool from_elsewhere = self.fusable || IsProduct(it.op);
      const Source source =
          from_elsewhere ? SourceOf(operand, self.fusable) : Source{root(operand)};
      Node& from = node(source.value);
      const bool inside = self.fusable && source.view < 0 &&
                          (from.is_splat || (from.fusable && from.group == self.group));
      if (!inside) from.in_memory = true;
    }
  }
}

// Moves operations into the only group that uses them, which saves writing their values. They then
// run later, so that their operands may stay in memory for longer.
void Graph::Sink() {
  constexpr int32_t kNone = -1, kSeveral = -2;
  std::vector<int32_t> user(nodes_.size(), kNone);
  std::vector<bool> result(nodes_.size());
  for (int32_t r : program_.results) result[size_t(root(r))] = true;
  for (int32_t i = int32_t(nodes_.size()); i-- > 0;) {
    Node& self = node(i);
    if (!self.live || self.root != i || self.is_splat) continue;
    const Instruction& it = instruction(i);
    if (!self.fusable && !self.in_memory) continue;
    const int32_t to = user[size_t(i)];
    if (self.fusable && to >= 0 && to != self.group && !result[size_t(i)]) {
      auto& group = groups_[size_t(to)];
      if (group.size() < kMaxFused &&
          instruction(group[0]).shape.elements() == it.shape.elements()) {
        std::erase(groups_[size_t(self.group)], i);
        group.push_back(i);
        self.group = to;
      }
    }
    for (int32_t operand : it.operands) {
      const bool from_elsewhere = self.fusable || IsProduct(it.op);
      const Source source =
          from_elsewhere ? SourceOf(operand, self.fusable) : Source{root(operand)};
      int32_t& known = user[size_t(source.value)];
      const int32_t now = self.fusable && source.view < 0 ? self.group : kSeveral;
      known = known == kNone || known == now ? now : kSeveral;
    }
  }
}

// Adds an output of an operation to the last of `units` with outputs of the same operation. Returns
// false if it is the first.
bool Graph::JoinsOutputs(int32_t i, Outputs* outputs, std::vector<Unit>& units) const {
  const Instruction& it = instruction(i);
  if (it.op->outputs == 1) return false;
  std::vector<int32_t> operands;
  for (int32_t operand : it.operands) operands.push_back(root(operand));
  const std::vector<int64_t> attributes(it.attributes.begin(), it.attributes.end() - 1);
  auto [at, is_new] = outputs->try_emplace({it.op, operands, attributes}, units.size());
  if (is_new) return false;
  auto place = [this](int32_t member) { return instruction(member).attributes.back(); };
  std::vector<int32_t>& members = units[at->second].members;
  const auto behind = std::lower_bound(members.begin(), members.end(), i,
                                       [&](int32_t a, int32_t b) { return place(a) < place(b); });
  if (behind != members.end() && place(*behind) == place(i)) {  // a duplicate: another kernel
    at->second = units.size();
    return false;
  }
  members.insert(behind, i);
  return true;
}

void Graph::MakeUnits() {
  std::vector<Unit> units;
  Outputs outputs;
  for (auto& group : groups_) {
    if (group.empty()) continue;
    std::sort(group.begin(), group.end());
    units.push_back({.fused = true, .members = group});
  }
  for (int32_t i = 0; i < int32_t(nodes_.size()); ++i) {
    const Node& self = node(i);
    const bool made = self.live && self.root == i && self.in_memory && !self.fusable &&
                      instruction(i).op != &op::device_data;
    if (made && !JoinsOutputs(i, &outputs, units))
      units.push_back({.fused = self.is_splat, .members = {i}});
  }
  for (Unit& unit : units) {
    for (int32_t member : unit.members) {
      const Node& self = node(member);
      // Values that are used only inside need no memory.
      if (!unit.fused || self.is_splat || self.in_memory) unit.outputs.push_back(member);
      if (self.is_splat) continue;
      const Op* op = instruction(member).op;
      for (int32_t operand : instruction(member).operands) {
        const Source source =
            unit.fused || IsProduct(op) ? SourceOf(operand, unit.fused) : Source{root(operand)};
        const Node& from = node(source.value);
        const bool inside = unit.fused && source.view < 0 &&
                            (from.is_splat || (from.fusable && from.group == self.group));
        if (!inside) Add(&unit.inputs, source.value);
      }
    }
  }
  Order(std::move(units));
}

// Orders the units close to the program's own order, in which memory is freed soonest.
void Graph::Order(std::vector<Unit> units) {
  std::vector<int32_t> maker(nodes_.size(), -1);
  for (size_t u = 0; u < units.size(); ++u)
    for (int32_t output : units[u].outputs) maker[size_t(output)] = int32_t(u);
  std::vector<int32_t> waits(units.size());
  std::vector<std::vector<int32_t>> users(units.size());
  using Entry = std::pair<int32_t, int32_t>;  // place, unit
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (size_t u = 0; u < units.size(); ++u) {
    for (int32_t input : units[u].inputs) {
      const int32_t before = maker[size_t(input)];
      if (before < 0) continue;
      users[size_t(before)].push_back(int32_t(u));
      ++waits[u];
    }
    if (waits[u] == 0) ready.emplace(PlaceOf(units[u]), int32_t(u));
  }
  while (!ready.empty()) {
    const int32_t u = ready.top().second;
    ready.pop();
    for (int32_t user : users[size_t(u)]) {
      if (--waits[size_t(user)] == 0) ready.emplace(PlaceOf(units[size_t(user)]), user);
    }
    units_.push_back(std::move(units[size_t(u)]));
  }
  XP_CHECK(units_.size() == units.size());
}

}  // namespace xlaprof::lazy
