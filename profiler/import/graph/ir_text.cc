// A node is one line:
//
//   %8 = (f32[64,10]{1,0}, u32[64,10]{1,0}) aten::max_pool2d(%7), num_outputs=2,
//       scope=train.1/fwd.1, location=_max_pool2d@functional.py:823,
//       xla_shape=(f32[64,10]{1,0}, u32[64,10]{1,0}), ROOT=0
//
// (one line; folded here). It has a number, the shape with layout, the op, and operands: `%8`, or
// `%8.1` for the second result of a node that has several. Tags follow. Which ones are there
// depends on the version and on XLA_IR_DEBUG: today's versions print no attributes of the op, older
// ones do (value=1, dim=0, scale=0.125, groups=(), device=TPU:0). ROOT=k makes the node a result.
// `dynamic_dims: (...)` has a colon in place of the sign.
#include "profiler/import/graph/ir_text.h"

#include <optional>

#include "base/numbers.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the length of the name in `name=` or `name: ` at the front of `text`, or 0 if it is not a
// tag.
size_t TagNameLength(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsWord(text[n])) ++n;
  if (n == 0 || n == text.size()) return 0;
  return text[n] == '=' || (text[n] == ':' && n + 1 < text.size() && text[n + 1] == ' ') ? n : 0;
}

// Takes the next `name=value` off `tags`. A comma belongs to the value unless a tag follows it. A
// path with an unpaired bracket hides the commas after it. From there on, brackets do not count,
// and `nested` becomes false.
std::string_view TakeTag(std::string_view* tags, bool* nested) {
  while (!tags->empty() && (tags->front() == ',' || tags->front() == ' ')) tags->remove_prefix(1);
  size_t end = 0;
  while ((end = *nested ? FindOutside(*tags, end, ',', /*quotes=*/false) : tags->find(',', end)) !=
         kNone) {
    if (TagNameLength(Trim(tags->substr(end + 1))) > 0) break;
    ++end;
  }
  if (end == kNone && *nested) end = tags->find(", xla_shape="), *nested = false;
  std::string_view tag = Trim(tags->substr(0, end));
  tags->remove_prefix(std::min(tags->size(), end));
  return tag;
}

// Takes the next tag that is neither a scope nor a source place off `tags`. Returns "" if none is
// left.
std::string_view TakeContentTag(std::string_view* tags, bool* nested) {
  while (!tags->empty()) {
    const std::string_view tag = TakeTag(tags, nested), key = tag.substr(0, TagNameLength(tag));
    if (!tag.empty() && key != "scope" && key != "location" && key != "callers") return tag;
  }
  return "";
}

struct NodeLine {
  std::string_view name, shape, op, operands, tags;
};

std::optional<NodeLine> SplitNode(std::string_view line) {
  size_t sign = line.find(" = ");
  if (sign == kNone) return std::nullopt;
  std::string_view rest = Trim(line.substr(sign + 3));
  size_t shape_end = FindOutside(rest, 0, ' ', /*quotes=*/false);
  if (shape_end == kNone) return std::nullopt;
  size_t open = rest.find('(', shape_end);
  if (open == kNone) return std::nullopt;
  size_t close = FindOutside(rest, open + 1, ')', /*quotes=*/false);
  if (close == kNone) return std::nullopt;
  NodeLine node{.name = line.substr(1, sign - 1),
                .shape = rest.substr(0, shape_end),
                .op = Trim(rest.substr(shape_end, open - shape_end)),
                .operands = rest.substr(open + 1, close - open - 1),
                .tags = rest.substr(close + 1)};
  if (node.op.empty() || node.name.empty()) return std::nullopt;
  return node;
}

// Returns whether two lines of nodes differ in nothing but scopes and source places.
bool HaveSameContent(std::string_view a, std::string_view b) {
  if (!a.starts_with('%') || !b.starts_with('%')) return false;
  auto left = SplitNode(a), right = SplitNode(b);
  if (!left || !right || left->name != right->name || left->shape != right->shape ||
      left->op != right->op || left->operands != right->operands)
    return false;
  bool left_nested = true, right_nested = true;
  while (!left->tags.empty() || !right->tags.empty()) {
    if (TakeContentTag(&left->tags, &left_nested) != TakeContentTag(&right->tags, &right_nested))
      return false;
  }
  return true;
}

class IrText {
 public:
  explicit IrText(std::string_view text) : lines_(text) {
    graph_.printed_as = PrintedForm::kIrText;
  }

  GraphText Parse() {
    int64_t roots = 0;
    while (lines_.Next()) {
      std::string_view line = Trim(lines_.line());
      if (line.starts_with('%')) {
        if (!Node(line)) Odd("unreadable_node");
        if (!graph_.nodes.empty() && graph_.nodes.back().root) ++roots;
      } else if (line == "}") {
        break;
      } else if (!line.empty() && line != "IR {") {
        Odd("unreadable_node");
      }
    }
    graph_.output_count = roots;
    return std::move(graph_);
  }

 private:
  void Odd(const char* code) { graph_.Odd(code, lines_.offset(), lines_.number() - 1); }

  bool Node(std::string_view line) {
    const std::optional<NodeLine> split = SplitNode(line);
    if (!split) return false;
    GraphNodeRow node{.idx = int64_t(graph_.nodes.size()),
                      .op = std::string(split->op),
                      .shape = std::string(split->shape),
                      .name = std::string(split->name)};
    Operands(split->operands, node);
    Tags(split->tags, node);
    if (!names_.Add(split->name, node.idx)) Odd("repeated_name");
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  void Operands(std::string_view list, GraphNodeRow& node) {
    while (!list.empty()) {
      std::string_view operand = TakePiece(&list, /*quotes=*/false);
      if (operand.empty()) continue;
      if (operand.starts_with('%')) operand.remove_prefix(1);
      size_t dot = operand.find('.');
      int64_t idx = names_.Find(operand.substr(0, dot));
      if (idx < 0 || (dot != kNone && !ParseCount(operand.substr(dot + 1)))) {
        Odd("unknown_operand");
        continue;
      }
      AppendTo(node.operands, std::to_string(idx), ",");
      if (dot != kNone) node.operands += operand.substr(dot);
    }
  }

  void Tags(std::string_view tags, GraphNodeRow& node) {
    std::string attributes;
    bool nested = true;
    while (!tags.empty()) {
      std::string_view tag = TakeTag(&tags, &nested);
      if (tag.empty()) continue;
      size_t length = TagNameLength(tag);
      std::string_view key = tag.substr(0, length),
                       value = length > 0 ? Trim(tag.substr(length + 1)) : tag;
      OptInt root;
      if (key == "scope" || key == "location") {
        (key == "scope" ? node.scope : node.location) = std::string(value);
        graph_.shows_debug = true;
      } else if (key == "callers") {
        // Only the innermost place of a node is kept.
      } else if (key == "ROOT" && (root = ParseCount(value))) {
        node.root = root;
      } else if (key != "num_outputs" && !(key == "xla_shape" && value == node.shape)) {
        AppendTo(attributes, key);
        if (!key.empty()) attributes += '=';
        attributes += value;
      }
    }
    if (!attributes.empty()) node.attributes = std::move(attributes);
  }

  Lines lines_;
  GraphText graph_;
  NodeNames names_;
};

}  // namespace

GraphText ParseIrText(std::string_view text) { return IrText(text).Parse(); }

bool HaveSameIrContent(std::string_view a, std::string_view b) {
  Lines left(a), right(b);
  while (left.Next()) {
    if (!right.Next()) return false;
    if (left.line() != right.line() && !HaveSameContent(Trim(left.line()), Trim(right.line())))
      return false;
  }
  return !right.Next();
}

}  // namespace xlaprof
