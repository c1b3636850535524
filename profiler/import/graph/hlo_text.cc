// A module:
//
//   HloModule IrToHlo.17, is_scheduled=true, entry_computation_layout={(...)->(...)}
//   (tables of stack frames, see hlo_metadata.cc)
//   %region_0.4 (a.1: f32[], b.2: f32[]) -> f32[] {
//     %a.1 = f32[] parameter(0)
//     ...
//   }
//   ENTRY %main.17 (p0.1: f32[64,128]) -> (f32[1,128]) {
//     %slice.2 = f32[1,128]{1,0} slice(f32[64,128]{1,0} %p0.1), slice={[1:2], ...}, metadata={...}
//     ROOT %tuple.16 = (f32[1,128]{1,0}) tuple(f32[1,128]{1,0} %slice.2)
//   }
//
// An instruction is `[ROOT ]name = shape opcode(operands), attribute=value, ...`. The short form
// has no `%`, no parameters after the name of a computation and no shapes before operands. Layouts
// nest (`{1,0:T(8,128)S(5)}`), and long tuples hold comments (`/*index=5*/`). Strings may hold any
// bracket, and a literal may span several lines.
#include "profiler/import/graph/hlo_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/numbers.h"
#include "base/xla_shape.h"
#include "profiler/import/graph/hlo_metadata.h"
#include "profiler/import/graph/jit_call_site.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// Longer literals are replaced by a hash, which is enough to distinguish two of them.
constexpr size_t kMaxLiteralBytes = 1024;

// Attributes whose value names computations or instructions, whose numbers differ in each module.
constexpr std::string_view kNaming[] = {"to_apply",
                                        "calls",
                                        "body",
                                        "condition",
                                        "select",
                                        "scatter",
                                        "called_computations",
                                        "branch_computations",
                                        "true_computation",
                                        "false_computation",
                                        "control-predecessors"};

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

// Turns region_0.15 into region_0.
std::string_view WithoutNumber(std::string_view name) {
  while (true) {
    size_t digits = name.find_last_not_of("0123456789");
    if (digits == kNone || digits == 0 || digits + 1 == name.size() || name[digits] != '.')
      return name;
    name = name.substr(0, digits);
  }
}

// Turns `{%a.1, %b.2}` into `{a, b}`.
std::string WithoutNumbers(std::string_view names) {
  std::string out;
  for (size_t i = 0; i < names.size();) {
    size_t end = i;
    while (end < names.size() && IsNamePart(names[end])) ++end;
    if (end > i) {
      out += WithoutNumber(names.substr(i, end - i));
      i = end;
    } else {
      if (names[i] != '%') out += names[i];
      ++i;
    }
  }
  return out;
}

// Returns the text without /* comments */ and with one space for each run of spaces, except in
// strings.
std::string WithoutCommentsAndNewlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      out += c;
      if (c == '\\' && i + 1 < text.size())
        out += text[++i];
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      size_t end = text.find("*/", i + 2);
      if (end == kNone) break;
      i = end + 1;
      continue;
    }
    quoted = c == '"';
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

// Returns how many brackets a line leaves open. Strings end with their line.
int64_t OpenBrackets(std::string_view line) {
  int64_t depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\') ++i;
      }
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    }
  }
  return depth;
}

// Returns whether a line begins with `%name = ` or `ROOT `: an instruction, whatever follows.
bool BeginsInstruction(std::string_view line) {
  if (line.starts_with("ROOT ")) return true;
  size_t i = line.starts_with('%') ? 1 : 0, begin = i;
  while (i < line.size() && (IsNamePart(line[i]) || line[i] == ':')) ++i;
  return i > begin && line.substr(i).starts_with(" = ");
}

std::string Shifted(std::string_view operands, int64_t by) {
  std::string out;
  while (!operands.empty()) {
    size_t comma = std::min(operands.find(','), operands.size());
    AppendTo(out, std::to_string(ParseInteger(operands.substr(0, comma)).value_or(0) + by), ",");
    operands.remove_prefix(std::min(operands.size(), comma + 1));
  }
  return out;
}

class HloText {
 public:
  explicit HloText(std::string_view text) : text_(text), lines_(text) {
    graph_.printed_as = PrintedForm::kHlo;
  }

  GraphText Parse() {
    while (lines_.Next()) {
      std::string_view line = Trim(lines_.line());
      if (line.empty()) continue;
      if (in_computation_) {
        if (line.starts_with('}')) {
          in_computation_ = false;
        } else if (line.ends_with('{') && !BeginsInstruction(line) &&
                   (line.starts_with("ENTRY ") || line.find(" -> ") != kNone)) {
          BeginComputation(line);  // the computation before it has no end
        } else if (!Instruction()) {
          Odd("unreadable_node");
        }
      } else if (line.starts_with("HloModule ")) {
        offset_ = lines_.offset(), line_ = lines_.number() - 1;
        if (!graph_.name.empty()) {
          Odd("more_modules");
          break;
        }
        ModuleLine(line);
      } else if (frames_.TakeLine(line)) {
        continue;
      } else if (line.ends_with('{') && !BeginsInstruction(line)) {
        BeginComputation(line);
      }
    }
    return Finish();
  }

 private:
  struct Computation {
    std::string name;
    bool entry = false;
    size_t begin = 0;  // index of its first node
  };

  void Odd(const char* code) { graph_.Odd(code, offset_, line_); }

  void ModuleLine(std::string_view line) {
    line = Trim(line.substr(10));
    graph_.name = std::string(Trim(line.substr(0, line.find_first_of(", "))));
    if (line.find(", is_scheduled=true") != kNone) graph_.printed_as = PrintedForm::kHloOptimized;
    Donations(line);
  }

  // Reads `input_output_alias={ {1}: (0, {}, may-alias) }`, with which result 1 takes the memory of
  // parameter 0, and `buffer_donor={ (2, {}) }`, with which no result takes that of parameter 2.
  void Donations(std::string_view line) {
    auto list = [&](std::string_view key) -> std::string_view {
      const size_t at = line.find(key);
      if (at == kNone) return {};
      const size_t begin = at + key.size(), end = FindOutside(line, begin, '}', /*quotes=*/false);
      return line.substr(begin, end == kNone ? kNone : end - begin);
    };
    for (std::string_view rest = list(", buffer_donor={"); !rest.empty();) {
      const std::string_view piece = TakePiece(&rest, /*quotes=*/false);
      if (auto parameter = FirstNumber(piece, '(')) donated_[*parameter] = -1;
    }
    for (std::string_view rest = list(", input_output_alias={"); !rest.empty();) {
      const std::string_view piece = TakePiece(&rest, /*quotes=*/false);
      if (auto parameter = FirstNumber(piece, '('))
        donated_[*parameter] = FirstNumber(piece, '{').value_or(0);
    }
  }

  // Returns the number after the first `open`; nothing if there is none.
  static std::optional<int64_t> FirstNumber(std::string_view text, char open) {
    const size_t at = text.find(open);
    if (at == kNone) return {};
    text.remove_prefix(at + 1);
    return ParseInteger(Trim(text.substr(0, text.find_first_of(",})"))));
  }

  void BeginComputation(std::string_view line) {
    Computation computation{.begin = graph_.nodes.size()};
    if (line.starts_with("ENTRY ")) {
      computation.entry = true;
      line = Trim(line.substr(6));
    }
    if (line.starts_with('%')) line.remove_prefix(1);
    computation.name = std::string(line.substr(0, line.find_first_of(" (")));
    computations_.push_back(std::move(computation));
    names_.Clear();
    in_computation_ = true;
  }

  // Returns the whole instruction that begins in this line; a literal may continue in the next
  // lines.
  std::string_view WholeInstruction() {
    std::string_view line = lines_.line();
    const size_t begin = size_t(lines_.offset());
    size_t end = begin + line.size();
    int64_t open = OpenBrackets(line);
    while (open > 0 && lines_.Next()) {
      std::string_view more = lines_.line(), trimmed = Trim(more);
      if (trimmed == "}" || trimmed.starts_with("} //") || trimmed.starts_with("ENTRY ") ||
          BeginsInstruction(trimmed)) {
        lines_.Unread();
        break;
      }
      open += OpenBrackets(more);
      end = size_t(lines_.offset()) + more.size();
    }
    return Trim(text_.substr(begin, end - begin));
  }

  bool Instruction() {
    offset_ = lines_.offset(), line_ = lines_.number() - 1;
    const std::string_view whole = WholeInstruction();
    std::string_view text = whole;
    std::string plain;
    if (text.find("/*") != kNone || text.find('\n') != kNone)
      text = plain = WithoutCommentsAndNewlines(text);
    GraphNodeRow node{.idx = int64_t(graph_.nodes.size())};
    if (text.starts_with("ROOT ")) {
      text = Trim(text.substr(5));
      node.root = 0;
    }
    size_t sign = text.find(" = ");
    if (sign == kNone) return false;
    std::string_view name = text.substr(0, sign), rest = Trim(text.substr(sign + 3));
    if (name.starts_with('%')) name.remove_prefix(1);
    size_t shape_end = FindOutside(rest, 0, ' ', /*quotes=*/false);
    if (shape_end == kNone) return false;
    size_t open = rest.find('(', shape_end);
    if (open == kNone) return false;
    size_t close = FindOutside(rest, open + 1, ')', /*quotes=*/true);
    std::string_view op = Trim(rest.substr(shape_end, open - shape_end));
    if (close == kNone || op.empty() || name.empty() || op.find_first_of(" ={}[]\"") != kNone)
      return false;

    node.op = std::string(op);
    node.shape = std::string(rest.substr(0, shape_end));
    metadata_ = {};
    std::string attributes;
    std::string_view between = rest.substr(open + 1, close - open - 1);
    if (op == "constant") {
      attributes = "literal=" + Literal(between);
    } else if (op == "parameter") {
      attributes = "parameter=" + std::string(Trim(between));
    } else {
      Operands(between, node);
    }
    Attributes(rest.substr(close + 1), attributes, node);
    if (op == "parameter" && computations_.back().entry)
      AppendParameter(DonatedTo(Trim(between)), metadata_.op_type, metadata_.op_name, attributes);
    if (!attributes.empty()) node.attributes = std::move(attributes);

    const Computation& computation = computations_.back();
    if (!computation.entry) node.computation = computation.name;
    node.name = std::string(name);
    // The map needs the name at a stable address: in the file, or in odd_names_ if a comment is
    // inside it.
    const size_t at = whole.find(name);
    name = at != kNone ? whole.substr(at, name.size())
                       : std::string_view(odd_names_.emplace_back(name));
    if (!names_.Add(name, int64_t(graph_.nodes.size() - computation.begin))) Odd("repeated_name");
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  static std::string Literal(std::string_view text) {
    text = Trim(text);
    if (text.size() <= kMaxLiteralBytes) return std::string(text);
    return HashOfLiteral(text);
  }

  void Operands(std::string_view list, GraphNodeRow& node) {
    while (!list.empty()) {
      std::string_view operand = TakePiece(&list, /*quotes=*/true);
      if (size_t space = operand.rfind(' '); space != kNone) operand.remove_prefix(space + 1);
      if (operand.starts_with('%')) operand.remove_prefix(1);
      if (operand.empty()) continue;
      int64_t place = names_.Find(operand);
      if (place < 0) {
        Odd("unknown_operand");
        continue;
      }
      AppendTo(node.operands, std::to_string(place), ",");
    }
  }

  void Attributes(std::string_view list, std::string& attributes, GraphNodeRow& node) {
    while (!list.empty()) {
      std::string_view piece = TakePiece(&list, /*quotes=*/true);
      if (piece.empty()) continue;
      size_t sign = piece.find('=');
      std::string_view key = Trim(piece.substr(0, sign)),
                       value = sign == kNone ? "" : Trim(piece.substr(sign + 1));
      if (key == "metadata") {
        Metadata(value, node);
      } else if (std::find(std::begin(kNaming), std::end(kNaming), key) != std::end(kNaming)) {
        AppendTo(attributes, key);
        attributes += '=';
        attributes += WithoutNumbers(value);
      } else {
        AppendTo(attributes, piece);
      }
    }
  }

  void Metadata(std::string_view text, GraphNodeRow& node) {
    HloMetadata metadata = ParseHloMetadata(text);
    if (std::string_view scope = ScopeOf(metadata.op_name); !scope.empty())
      node.scope = std::string(scope);
    if (std::string op = FrameworkOp(metadata.op_type, metadata.op_name); !op.empty())
      node.framework_op = std::move(op);
    if (graph_.call_site.file.empty() && metadata.stack_frame_id > 0)
      graph_.call_site = CallSite(frames_.Stack(metadata), graph_.name);
    if (std::string location = frames_.Location(metadata); !location.empty())
      node.location = std::move(location);
    graph_.shows_debug |= node.scope.has_value() || node.location.has_value();
    metadata_ = std::move(metadata);
  }

  // Moves the entry to the end. Operands, which were counted within a computation, become numbers
  // of nodes.
  GraphText Finish() {
    auto entry = std::find_if(computations_.begin(), computations_.end(),
                              [](const Computation& c) { return c.entry; });
    if (entry == computations_.end()) {
      graph_.Odd("no_entry", 0, 0);
    } else {
      const size_t begin = entry->begin, end = entry + 1 == computations_.end()
                                                   ? graph_.nodes.size()
                                                   : (entry + 1)->begin;
      std::rotate(graph_.nodes.begin() + int64_t(begin), graph_.nodes.begin() + int64_t(end),
                  graph_.nodes.end());
      for (auto later = entry + 1; later != computations_.end(); ++later)
        later->begin -= end - begin;
      entry->begin = graph_.nodes.size() - (end - begin);
      std::rotate(entry, entry + 1, computations_.end());
      graph_.input_count = 0, graph_.output_count = 0;
    }
    size_t next = 0;
    int64_t base = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphNodeRow& node = graph_.nodes[i];
      while (next < computations_.size() && computations_[next].begin <= i)
        base = int64_t(computations_[next++].begin);
      node.idx = int64_t(i);
      if (base > 0) node.operands = Shifted(node.operands, base);
      if (node.computation) {
        node.root.reset();
      } else {
        if (node.op == "parameter") ++*graph_.input_count;
        if (!node.root) continue;
        const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
        graph_.output_count = shape ? int64_t(shape->result_count()) : 1;
      }
    }
    return std::move(graph_);
  }

  OptInt DonatedTo(std::string_view parameter) const {
    const auto found = donated_.find(ParseInteger(parameter).value_or(-1));
    return found == donated_.end() ? OptInt() : found->second;
  }

  std::string_view text_;
  Lines lines_;
  GraphText graph_;
  std::map<int64_t, int64_t> donated_;  // the result that takes each donated parameter, or -1
  HloMetadata metadata_;                // of this instruction; empty if it has none
  HloStackFrames frames_;
  std::vector<Computation> computations_;
  bool in_computation_ = false;
  NodeNames names_;                    // nodes of this computation, counted from its first
  std::deque<std::string> odd_names_;  // its names that are not in the text as they are
  int64_t offset_ = 0, line_ = 0;      // place of the instruction
};

}  // namespace

GraphText ParseHloText(std::string_view text) { return HloText(text).Parse(); }

}  // namespace xlaprof
