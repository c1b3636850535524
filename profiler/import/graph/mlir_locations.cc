// Locations of a module that JAX dumped:
//
//   %1 = stablehlo.tanh %0 : tensor<64x4xf32> loc(#loc25)
//   #loc3 = loc("/x/train.py":4:17 to :22)                a place in a file
//   #loc10 = loc("train_step"(#loc3))                     inside of a stack: a frame's function
//   #loc18 = loc(callsite(#loc10 at #loc17))              a stack: the callee at its caller
//   #loc25 = loc("jit(train_step)/tanh"(#loc18))          outermost: the operation's name
//   #loc = loc(unknown)
//
// Until 2024 the name was printed around the place itself. fused[...] holds several locations, of
// which the first counts.
#include "profiler/import/graph/mlir_locations.h"

#include "base/numbers.h"
#include "profiler/import/graph/graph_text.h"
#include "profiler/import/text/lines.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

constexpr int kMaxParts = 1024;  // limit for one location, because aliases may name each other
// Limit for all locations, per byte of the module. A stack of forty frames takes about ten.
constexpr uint64_t kMaxBytesAByte = 256;

// Returns the text between the bracket at `open` and its partner.
std::string_view Inside(std::string_view text, size_t open) {
  if (open >= text.size()) return {};
  const char closing = text[open] == '(' ? ')' : ']';
  const size_t close = FindOutside(text, open + 1, closing, /*quotes=*/true);
  return text.substr(open + 1, close == kNone ? kNone : close - open - 1);
}

// Returns the place of the quote that closes the one at 0.
size_t ClosingQuote(std::string_view text) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at;
  }
  return kNone;
}

// Returns `a\22b\C3\A9` as it was before MLIR printed it.
std::string Unescaped(std::string_view text) {
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
    } else if (i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += char(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[++i];
    }
  }
  return ToUtf8(out);
}

// Returns the place of " at " outside brackets and quotes.
size_t FindAt(std::string_view text) {
  for (size_t from = 0; from < text.size();) {
    const size_t at = FindOutside(text, from, ' ', /*quotes=*/true);
    if (at == kNone || text.substr(at).starts_with(" at ")) return at;
    from = at + 1;
  }
  return kNone;
}

}  // namespace

MlirLocations::MlirLocations(std::string_view text) : bytes_left_(kMaxBytesAByte * text.size()) {
  constexpr std::string_view kAlias = "#loc";
  for (size_t at = text.starts_with(kAlias) ? 0 : text.find("\n#loc"); at != kNone;
       at = text.find("\n#loc", at + 1)) {
    std::string_view line = text.substr(at + (text[at] == '\n'));
    line = line.substr(0, line.find('\n'));
    const size_t equals = line.find(" = loc(");
    if (equals != kNone) aliases_[line.substr(0, equals)] = Inside(line, equals + 6);
  }
}

MlirLocation MlirLocations::Of(std::string_view location) {
  MlirLocation out;
  std::vector<std::string_view> rest{location};
  std::string_view function;  // function of the place that comes next
  bool outermost = true;
  for (int parts = 0; !rest.empty() && parts < kMaxParts; ++parts) {
    std::string_view text = Trim(rest.back());
    rest.pop_back();
    if (text.size() > bytes_left_) break;
    bytes_left_ -= text.size();
    if (text.starts_with('#')) {
      if (auto alias = aliases_.find(text); alias != aliases_.end()) rest.push_back(alias->second);
    } else if (text.starts_with("loc(")) {
      rest.push_back(Inside(text, 3));
    } else if (text.starts_with("callsite(")) {
      outermost = false, function = {};
      const std::string_view both = Inside(text, 8);
      const size_t at = FindAt(both);
      if (at == kNone) continue;
      rest.push_back(both.substr(at + 4));
      rest.push_back(both.substr(0, at));
    } else if (text.starts_with("fused")) {
      const size_t open = text.find('[');
      if (open == kNone) continue;
      std::string_view all = Inside(text, open);
      rest.push_back(TakePiece(&all, /*quotes=*/true));
    } else if (text.starts_with('"')) {
      const size_t quote = ClosingQuote(text);
      if (quote == kNone) continue;
      const std::string_view quoted = text.substr(1, quote - 1), behind = text.substr(quote + 1);
      if (behind.starts_with(':')) {
        std::string_view number = behind.substr(1);
        const int64_t line = TakeInteger(&number).value_or(0);
        out.stack.push_back({Unescaped(std::exchange(function, {})), Unescaped(quoted),
                             std::max<int64_t>(0, line), OwnerOf(quoted)});
      } else {
        if (outermost) {
          out.name = Unescaped(quoted);
        } else {
          function = quoted;
        }
        if (behind.starts_with('(')) rest.push_back(Inside(behind, 0));
      }
      outermost = false;
    }
  }
  return out;
}

}  // namespace xlaprof
