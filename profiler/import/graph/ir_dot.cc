// An example of a graph:
//
//   digraph G {
//     node0 [label="xla::device_data\nf32[2]{0}\nscope=a.1\nlocation=m.py:3\nxla_shape=f32[2]{0}"]
//     node1 [label="aten::add\nf32[2]{0}\nxla_shape=f32[2]{0}\nROOT=0"]
//     node0 -> node1 [label="i=1,o=0"]
//   }
//
// `\n` is a backslash and an n. Values of tags are cut to 64 characters and `...`. An edge goes
// from operand to user. i is the operand's place, printed if the user has several operands; o is
// the result that is read, printed if the producer has several results.
#include "profiler/import/graph/ir_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/numbers.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// Returns the text in quotes after `label=`, up to its closing quote, or nothing if there is none.
std::optional<std::string_view> LabelOf(std::string_view line) {
  constexpr std::string_view kLabel = "label=\"";
  size_t begin = line.find(kLabel);
  if (begin == kNone) return std::nullopt;
  begin += kLabel.size();
  for (size_t i = begin; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      return line.substr(begin, i - begin);
    }
  }
  return std::nullopt;
}

std::string_view TakeField(std::string_view* label) {
  size_t end = label->find("\\n");
  std::string_view field = label->substr(0, end);
  label->remove_prefix(end == kNone ? label->size() : end + 2);
  return field;
}

class IrDot {
 public:
  explicit IrDot(std::string_view text) : lines_(text) { graph_.printed_as = PrintedForm::kIrDot; }

  GraphText Parse() {
    while (lines_.Next()) {
      std::string_view line = Trim(lines_.line());
      if (line.empty() || line.starts_with("digraph ")) continue;
      if (line == "}") break;
      bool read = line.find("->") < line.find('[') ? Edge(line) : Node(line);
      if (!read) graph_.Odd("unreadable_node", lines_.offset(), lines_.number() - 1);
    }
    LinkOperands();
    int64_t roots = 0;
    for (const GraphNodeRow& node : graph_.nodes) roots += node.root.has_value();
    graph_.output_count = roots;
    return std::move(graph_);
  }

 private:
  struct EdgeText {
    int64_t user = 0, place = 0;
    std::optional<int64_t> output;
    std::string_view producer;
    int64_t offset = 0, line = 0;
  };

  bool Node(std::string_view line) {
    std::string_view name = Trim(line.substr(0, line.find('[')));
    auto label = LabelOf(line);
    if (!name.starts_with("node") || !label) return false;
    name.remove_prefix(4);
    GraphNodeRow node{.idx = int64_t(graph_.nodes.size()),
                      .op = std::string(TakeField(&*label)),
                      .shape = std::string(TakeField(&*label)),
                      .name = std::string(name)};
    if (node.op.empty()) return false;
    std::string attributes;
    while (!label->empty()) {
      std::string_view field = TakeField(&*label);
      size_t sign = field.find('=');
      std::string_view key = field.substr(0, sign),
                       value = sign == kNone ? "" : field.substr(sign + 1);
      std::string_view known = value;
      const bool cut = value.ends_with("...");
      if (cut) known.remove_suffix(3);
      const bool repeats =
          key == "xla_shape" &&
          (cut ? std::string_view(node.shape).starts_with(known) : value == node.shape);
      OptInt root;
      if (key == "scope" || key == "location") {
        (key == "scope" ? node.scope : node.location) = std::string(value);
        graph_.shows_debug = true;
      } else if (key == "ROOT" && (root = ParseInteger(value))) {
        node.root = root;
      } else if (key != "num_outputs" && !repeats) {
        AppendTo(attributes, field);
      }
      if (cut && !repeats) graph_.Odd("cut_labels", lines_.offset(), lines_.number() - 1);
    }
    if (!attributes.empty()) node.attributes = std::move(attributes);
    if (!names_.Add(name, node.idx))
      graph_.Odd("repeated_name", lines_.offset(), lines_.number() - 1);
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  bool Edge(std::string_view line) {
    size_t arrow = line.find("->");
    std::string_view producer = Trim(line.substr(0, arrow));
    std::string_view user = Trim(line.substr(
        arrow + 2, line.find('[', arrow) == kNone ? kNone : line.find('[', arrow) - arrow - 2));
    if (user.ends_with(';')) user = Trim(user.substr(0, user.size() - 1));
    if (!producer.starts_with("node") || !user.starts_with("node")) return false;
    EdgeText edge{
        .producer = producer.substr(4), .offset = lines_.offset(), .line = lines_.number() - 1};
    edge.user = names_.Find(user.substr(4));
    if (edge.user < 0) {
      graph_.Odd("unknown_operand", edge.offset, edge.line);
      return true;
    }
    if (auto label = LabelOf(line)) {
      while (!label->empty()) {
        std::string_view part = TakePiece(&*label, /*quotes=*/false);
        const OptInt value = part.size() > 2 ? ParseInteger(part.substr(2)) : OptInt();
        if (part.starts_with("i=") && value) edge.place = *value;
        if (part.starts_with("o=") && value) edge.output = *value;
      }
    }
    edges_.push_back(edge);
    return true;
  }

  void LinkOperands() {
    std::stable_sort(edges_.begin(), edges_.end(), [](const EdgeText& a, const EdgeText& b) {
      return std::tie(a.user, a.place) < std::tie(b.user, b.place);
    });
    for (const EdgeText& edge : edges_) {
      int64_t producer = names_.Find(edge.producer);
      if (producer < 0 || producer >= edge.user) {
        graph_.Odd("unknown_operand", edge.offset, edge.line);
        continue;
      }
      std::string& operands = graph_.nodes[size_t(edge.user)].operands;
      AppendTo(operands, std::to_string(producer), ",");
      if (edge.output) operands += fmt::format(".{}", *edge.output);
    }
  }

  Lines lines_;
  GraphText graph_;
  NodeNames names_;
  std::vector<EdgeText> edges_;
};

}  // namespace

GraphText ParseIrDot(std::string_view text) { return IrDot(text).Parse(); }

}  // namespace xlaprof
