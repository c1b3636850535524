#include "profiler/import/torch/dynamo_graph.h"

#include <algorithm>
#include <cctype>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/torch/guard_failure.h"

namespace xlaprof {
namespace {

// Returns the name of an input in a graph that Dynamo prints: L_x_ for L['x']. Dynamo replaces all
// characters in a row that a name cannot have by one mark.
std::string NameInGraph(std::string_view input) {
  // An input's own name is its first part: args for args[0].
  const size_t end = std::min(input.find_first_of(".["), input.size());
  const std::string source = fmt::format("L['{}']{}", input.substr(0, end), input.substr(end));
  std::string name;
  bool replaces = false;
  for (char c : source) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (is_word || !replaces) name += is_word ? c : '_';
    replaces = !is_word;
  }
  return name;
}

// Returns the name that Dynamo's graphs have for an element type of torch's; "" for an unknown one.
std::string_view TypeInGraph(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"},   {"bfloat16", "bf16"},
      {"int64", "i64"},   {"int32", "i32"},   {"int16", "i16"},     {"int8", "i8"},
      {"uint8", "u8"},    {"bool", "b8"},     {"complex64", "c64"}, {"complex128", "c128"}};
  const auto* found =
      std::ranges::find(kTypes, type, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kTypes) ? std::string_view() : found->second;
}

}  // namespace

std::optional<std::pair<std::string, XlaShape>> ShapeInGuard(std::string_view text) {
  constexpr std::string_view kMatch = "TENSOR_MATCH: check_tensor(", kTensor = ", Tensor, ",
                             kType = "torch.", kSize = ", size=[";
  const size_t match = text.find(kMatch);
  if (match == kNone) return {};
  text.remove_prefix(match + kMatch.size());
  const size_t tensor = text.find(kTensor), size = text.find(kSize, std::min(tensor, text.size()));
  if (size == kNone) return {};
  const size_t type = text.find(kType, tensor), end = text.find(']', size);
  if (type > size || end == kNone) return {};
  std::string_view dtype = text.substr(type + kType.size());
  std::string shape(TypeInGraph(dtype.substr(0, dtype.find(','))));
  if (shape.empty()) return {};
  shape += '[';
  std::string_view sizes = text.substr(size + kSize.size(), end - size - kSize.size());
  while (!sizes.empty()) {
    const std::string_view one = Trim(sizes.substr(0, sizes.find(',')));
    if (one != "None" && !ParseCount(one)) return {};
    if (!shape.ends_with('[')) shape += ',';
    shape += one == "None" ? "?" : one;
    sizes.remove_prefix(std::min(sizes.find(','), sizes.size() - 1) + 1);
  }
  std::optional<XlaShape> parsed = XlaShape::Parse(shape + "]");
  if (!parsed) return {};
  return std::pair(NameInFailures(text.substr(0, tensor)), *std::move(parsed));
}

std::optional<XlaShape> ShapeInGraph(std::string_view graph, std::string_view input) {
  if (input.empty()) return {};
  const std::string label = NameInGraph(input) + ": \"";
  const size_t at = graph.find(label);
  if (at == kNone) return {};
  std::string_view type = graph.substr(at + label.size());
  type = type.substr(0, std::min(type.find(']'), type.find('"')) + 1);
  std::string text;
  for (size_t i = 0; i < type.size(); ++i) {
    if (type[i] == ' ') continue;
    // A dimension that is dynamic is a symbol, such as s27.
    const bool is_symbol = i > 0 && (type[i - 1] == '[' || type[i - 1] == ' ') && type[i] == 's';
    if (is_symbol) {
      text += '?';
      while (i + 1 < type.size() && type[i + 1] != ',' && type[i + 1] != ']') ++i;
      continue;
    }
    text += type[i];
  }
  return XlaShape::Parse(text);
}

std::optional<std::string> WithSize(const XlaShape& shape, int64_t dimension,
                                    std::string_view size) {
  if (dimension < 0 || size_t(dimension) >= shape.rank() || !ParseCount(size)) return {};
  std::string text = fmt::format("{}[", shape.element_type());
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (d > 0) text += ',';
    if (d == size_t(dimension)) {
      text += size;
    } else if (shape.dimensions()[d] == XlaShape::kUnknownSize) {
      text += '?';
    } else {
      text += fmt::format("{}", shape.dimensions()[d]);
    }
  }
  return text + "]";
}

}  // namespace xlaprof
