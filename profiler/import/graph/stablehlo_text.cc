// An example of a module:
//
//   module @IrToHlo.12 attributes {mhlo.cross_program_prefetches = []} {
//     func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {
//       %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc3)
//       %0 = stablehlo.add %arg0, %cst : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//       return %0, %arg1 : tensor<2xf32>, tensor<f32>
//     }
//   }
//
// The type is a single one for operands and results, or `(operands) -> result`. `%5:2` has two
// results, read as `%5#1`. Operations with regions span several lines and are not read.
#include "profiler/import/graph/stablehlo_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/xla_shape.h"
#include "profiler/import/graph/hlo_metadata.h"
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/graph/mlir_locations.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"

namespace xlaprof {
namespace {

// Turns tensor<2x?xf32> into f32[2,?]; other types stay as they are.
std::string ShapeOf(std::string_view type) {
  type = Trim(type);
  const std::optional<XlaShape> shape = XlaShape::ParseMlir(type);
  return shape ? shape->text() : std::string(type);
}

std::string_view TokenAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && text.substr(end, 1).find_first_of(" ,:()[]{}=<>") == kNone) ++end;
  return text.substr(at, end - at);
}

// Replaces a long dense<"0x…"> by a hash, which is enough to distinguish two of them.
std::string WithShortLiterals(std::string_view attributes) {
  constexpr std::string_view kDense = "dense<";
  constexpr size_t kMaxLiteralBytes = 1024;
  const size_t open = attributes.find(kDense);
  const size_t begin = open == kNone ? kNone : open + kDense.size();
  const size_t end = begin == kNone ? kNone : attributes.find('>', begin);
  if (end == kNone || end - begin <= kMaxLiteralBytes) return std::string(attributes);
  return fmt::format("{}{}{}", attributes.substr(0, begin),
                     HashOfLiteral(attributes.substr(begin, end - begin)), attributes.substr(end));
}

// Returns the [{"data"}] of `tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}`, and
// the {replicated} of `{mhlo.sharding = "{replicated}"}`.
std::string_view ShardingOf(std::string_view argument) {
  constexpr std::string_view kSdy = "sdy.sharding = #sdy.sharding<", kMhlo = "mhlo.sharding = \"";
  if (size_t at = argument.find(kMhlo); at != kNone) {
    argument.remove_prefix(at + kMhlo.size());
    return argument.substr(0, argument.find('"'));
  }
  const size_t at = argument.find(kSdy);
  if (at == kNone) return {};
  argument.remove_prefix(at + kSdy.size());
  argument = argument.substr(0, argument.find("]>") + 1);
  return argument.substr(std::min(argument.find('['), argument.size()));
}

class StableHlo {
 public:
  explicit StableHlo(std::string_view text) : lines_(text), locations_(text) {
    graph_.printed_as = PrintedForm::kStablehlo;
  }

  GraphText Parse() {
    while (lines_.Next()) {
      std::string_view line = Trim(lines_.line());
      if (line.empty() || line.starts_with('#') || line.starts_with("//")) continue;
      if (line.starts_with("module ")) {
        if (size_t at = line.find('@'); at != kNone)
          graph_.name = std::string(TokenAt(line, at + 1));
      } else if (line.starts_with("func.func ")) {
        Function(line);
      } else if (line == "}" || line.starts_with("} loc(")) {
        if (region_ > 0) --region_;
      } else if (region_ == 0 && main_ && line.starts_with('%')) {
        if (!Operation(line)) Odd("unread_stablehlo");
      } else if (region_ == 0 && main_ &&
                 (line.starts_with("return ") || line.starts_with("func.return "))) {
        Return(line);
      } else if (line != "return") {
        Odd("unread_stablehlo");
        if (line.ends_with('{'))
          region_ += line.starts_with('}') ? 0 : 1;
        else if (line.starts_with('}') && region_ > 0)
          --region_;
      }
    }
    return std::move(graph_);
  }

 private:
  void Odd(const char* code) { graph_.Odd(code, lines_.offset(), lines_.number() - 1); }

  GraphNodeRow& Add(std::string_view name, std::string_view op, std::string shape) {
    GraphNodeRow node{.idx = int64_t(graph_.nodes.size()),
                      .op = std::string(op),
                      .shape = std::move(shape),
                      .name = std::string(name)};
    if (!names_.Add(name, node.idx)) Odd("repeated_name");
    return graph_.nodes.emplace_back(std::move(node));
  }

  void Function(std::string_view line) {
    main_ = line.find("@main(") != kNone;
    size_t open = line.find('(');
    size_t close = open == kNone ? kNone : FindOutside(line, open + 1, ')', /*quotes=*/true);
    if (!main_ || close == kNone) return Odd("unread_stablehlo");
    std::string_view list = line.substr(open + 1, close - open - 1);
    int64_t count = 0;
    while (!list.empty()) {
      // TakePiece cannot be used: the commas of tensor<2xf32, #encoding> are between < and >, which
      // are not brackets for it.
      size_t end = std::min(list.find(", %"), list.size());
      std::string_view piece = list.substr(0, end);
      list.remove_prefix(std::min(list.size(), end + 2));
      size_t colon = piece.find(':');
      if (!piece.starts_with('%') || colon == kNone) continue;
      std::string_view type = Trim(piece.substr(colon + 1));
      const size_t loc = type.find(" loc(");
      GraphNodeRow& node = Add(Trim(piece.substr(1, colon - 1)), "parameter",
                               ShapeOf(type.substr(0, std::min(type.find(" {"), loc))));
      node.attributes = fmt::format("parameter={}", count++);
      if (const std::string_view sharding = ShardingOf(type.substr(0, loc)); !sharding.empty())
        *node.attributes += fmt::format(", sharding={}", sharding);
      // In this location, JAX prints the name that the function has for its argument.
      if (loc == kNone) continue;
      if (std::string name = locations_.Of(Trim(type.substr(loc))).name; !name.empty())
        node.name = std::move(name);
    }
    graph_.input_count = count;
  }

  bool Operation(std::string_view line) {
    size_t sign = line.find(" = ");
    if (sign == kNone) return false;
    std::string_view name = line.substr(1, sign - 1), rest = Trim(line.substr(sign + 3));
    name = name.substr(0, name.find(':'));
    if (rest.ends_with('{')) {
      ++region_;
      return false;
    }
    MlirLocation location;
    if (size_t loc = rest.rfind(" loc("); loc != kNone) {
      location = locations_.Of(Trim(rest.substr(loc)));
      rest = rest.substr(0, loc);
    }
    size_t type_at = rest.rfind(" : ");
    if (type_at == kNone || name.empty()) return false;
    std::string_view type = Trim(rest.substr(type_at + 3)), body = Trim(rest.substr(0, type_at));
    if (size_t arrow = type.rfind("-> "); arrow != kNone) type = type.substr(arrow + 3);
    size_t op_end = std::min(body.find_first_of(" ("), body.size());
    std::string_view op = body.substr(0, op_end);
    if (op.starts_with('"')) op = op.substr(1, op.find('"', 1) - 1);

    std::string operands, attributes;
    for (size_t i = op_end; i < body.size();) {
      if (body[i] != '%') {
        attributes += body[i++];
        continue;
      }
      std::string_view operand = TokenAt(body, i);
      i += operand.size();
      operand.remove_prefix(1);
      size_t output = operand.find('#');
      int64_t idx = names_.Find(operand.substr(0, output));
      if (idx < 0) {
        Odd("unknown_operand");
        continue;
      }
      AppendTo(operands, std::to_string(idx), ",");
      if (output != kNone) operands += fmt::format(".{}", operand.substr(output + 1));
      while (i < body.size() && (body[i] == ',' || body[i] == ' ')) ++i;
    }
    GraphNodeRow& node = Add(name, op, ShapeOf(type));
    node.operands = std::move(operands);
    std::string_view left = Trim(attributes);
    while (left.starts_with(',')) left = Trim(left.substr(1));
    if (!left.empty()) node.attributes = WithShortLiterals(left);
    Place(location, node);
    return true;
  }

  void Place(const MlirLocation& location, GraphNodeRow& node) {
    if (std::string_view scope = ScopeOf(location.name); !scope.empty())
      node.scope = std::string(scope);
    if (std::string line = NearestLine(location.stack); !line.empty())
      node.location = std::move(line);
    if (graph_.call_site.file.empty()) graph_.call_site = CallSite(location.stack, graph_.name);
    graph_.shows_debug |= node.scope.has_value() || node.location.has_value();
  }

  void Return(std::string_view line) {
    line = line.substr(0, line.find(" : "));
    int64_t count = 0;
    for (size_t at = 0; (at = line.find('%', at)) != kNone; ++at) {
      std::string_view name = TokenAt(line, at + 1);
      int64_t idx = names_.Find(name.substr(0, name.find('#')));
      if (idx < 0) {
        Odd("unknown_operand");
      } else if (!graph_.nodes[size_t(idx)].root) {
        graph_.nodes[size_t(idx)].root = count;
      }
      ++count;
    }
    graph_.output_count = count;
  }

  Lines lines_;
  MlirLocations locations_;
  GraphText graph_;
  NodeNames names_;
  bool main_ = false;   // inside @main
  int64_t region_ = 0;  // depth inside an operation's regions
};

}  // namespace

GraphText ParseStableHloText(std::string_view text) { return StableHlo(text).Parse(); }

}  // namespace xlaprof
