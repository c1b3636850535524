// A graph is a list of lines:
//
//   # Graph: 2 ops, 3 inputs, reason: synchronize()
//   %0: f32[64, 32] = input
//   %1: f32[64] = input
//   %2, %3: f32[64, 64], f32[0] = linear_backward(%0, %1)    # /x/train.py:14 in train_step
//   return %2, %3
//
// Numbers that are arguments of an operation (bounds, dimensions, eps) are not printed. Operations
// of a backward pass have no line, except for the first.
#include "profiler/import/graph/torchtpu_ops.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// Turns "i64[8, 4]" into "s64[8,4]".
std::string ShapeOfPrinted(std::string_view printed) {
  std::string shape;
  for (char c : printed) {
    if (c != ' ') shape += c;
  }
  if (shape.size() > 1 && shape[0] == 'i' && IsDigit(shape[1])) shape[0] = 's';
  return shape;
}

class TorchtpuOps {
 public:
  explicit TorchtpuOps(std::string_view text) : lines_(text) {
    graph_.printed_as = PrintedForm::kTorchtpuOps;
  }

  GraphText Parse() {
    while (lines_.Next()) {
      const std::string_view line = Trim(lines_.line());
      if (line.empty() || line.starts_with('#')) continue;
      if (line == "return" || line.starts_with("return ")) {
        Return(line);
      } else if (!Node(line)) {
        Odd("unreadable_node");
      }
    }
    graph_.input_count = inputs_;
    return std::move(graph_);
  }

 private:
  struct Value {
    int64_t node = 0;
    OptInt result;  // which of several
  };

  void Odd(const char* code) { graph_.Odd(code, lines_.offset(), lines_.number() - 1); }

  bool Node(std::string_view line) {
    const size_t sign = line.find(" = "), colon = line.substr(0, sign).find(": ");
    if (!line.starts_with('%') || sign == kNone || colon == kNone) return false;
    GraphNodeRow node{.idx = int64_t(graph_.nodes.size())};
    if (!Body(line.substr(sign + 3), node)) return false;
    std::vector<std::string> shapes;
    for (std::string_view rest = line.substr(colon + 2, sign - colon - 2); !rest.empty();)
      shapes.push_back(ShapeOfPrinted(TakePiece(&rest, /*quotes=*/false)));
    if (shapes.empty()) return false;
    const bool is_one = shapes.size() == 1;
    node.shape = is_one ? shapes[0] : fmt::format("({})", fmt::join(shapes, ", "));
    int64_t result = 0;
    for (std::string_view rest = line.substr(0, colon); !rest.empty(); ++result) {
      std::string_view name = TakePiece(&rest, /*quotes=*/false);
      if (!name.starts_with('%')) return false;
      name.remove_prefix(1);
      if (result == 0) node.name = std::string(name);
      const Value value{node.idx, is_one ? OptInt() : OptInt(result)};
      if (!values_.insert_or_assign(name, value).second) Odd("repeated_name");
    }
    if (node.op == "parameter") node.attributes = fmt::format("parameter={}", inputs_++);
    graph_.shows_debug |= node.location.has_value();
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  // Reads "input", or "linear(%0, %1)    # /x/train.py:14 in train_step".
  bool Body(std::string_view body, GraphNodeRow& node) {
    if (Trim(body) == "input") {
      node.op = "parameter";
      return true;
    }
    const size_t open = body.find('(');
    const size_t close = open == kNone ? kNone : FindOutside(body, open + 1, ')', /*quotes=*/false);
    if (close == kNone || open == 0) return false;
    node.op = std::string(Trim(body.substr(0, open)));
    Operands(body.substr(open + 1, close - open - 1), node);
    std::string_view place = Trim(body.substr(close + 1));
    if (!place.starts_with("# ")) return true;
    place = Trim(place.substr(2));
    const size_t in = place.rfind(" in ");
    node.location = in == kNone
                        ? std::string(place)
                        : fmt::format("{}@{}", Trim(place.substr(in + 4)), place.substr(0, in));
    return true;
  }

  // Takes the next value that `text` names from `*at` on; null if it is not printed above.
  const Value* TakeValue(std::string_view text, size_t* at) const {
    const size_t begin = *at + 1;
    size_t end = begin;
    while (end < text.size() && IsDigit(text[end])) ++end;
    *at = end;
    const auto value = values_.find(text.substr(begin, end - begin));
    return value == values_.end() ? nullptr : &value->second;
  }

  void Operands(std::string_view list, GraphNodeRow& node) {
    for (size_t at = 0; (at = list.find('%', at)) != kNone;) {
      const Value* value = TakeValue(list, &at);
      if (value == nullptr) {
        Odd("unknown_operand");
        continue;
      }
      AppendTo(node.operands, std::to_string(value->node), ",");
      if (value->result) node.operands += fmt::format(".{}", *value->result);
    }
  }

  void Return(std::string_view line) {
    int64_t count = 0;
    for (size_t at = 0; (at = line.find('%', at)) != kNone; ++count) {
      const Value* value = TakeValue(line, &at);
      if (value == nullptr) {
        Odd("unknown_operand");
        continue;
      }
      OptInt& root = graph_.nodes[size_t(value->node)].root;
      if (!root) root = count;
    }
    graph_.output_count = count;
  }

  Lines lines_;
  GraphText graph_;
  absl::flat_hash_map<std::string_view, Value> values_;  // by name
  int64_t inputs_ = 0;
};

}  // namespace

GraphText ParseTorchtpuOps(std::string_view text) { return TorchtpuOps(text).Parse(); }

}  // namespace xlaprof
