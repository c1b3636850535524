#include "profiler/import/jax/jax_explanation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/source_place.h"
#include "base/xla_shape.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"

namespace xlaprof {
namespace {

// As printed by 0.10, 0.6 to 0.7 and 0.4.30 to 0.5 (the lines after the first are alternatives):
//   TRACING CACHE MISS at /x/train.py:39:23 (main):            [... costing 1.234 ms because:]
//     never seen function:
//       train_step id=140378206182176 defined at /x/train.py:14
//     but seen another function defined on the same line; maybe the function is
//     being re-defined repeatedly, preventing caching?
//     for train_step defined at /x/train.py:14
//     all previously seen cache keys differ. For the closest previous key:
//     different input types:                            [* key with different input types:]
//     * at x, now f32[7,16] and before f32[8,16]        [* at x, seen f32[8], but now given f32[7]]
//     different input pytree:
//     * at input path [0][1], now <class '...Static'> with pytree metadata Static(val=1) and before
//       <class '...Static'> with pytree metadata Static(val=0), so the pytree node metadata ...
//     Tracing context doesn't match, e.g. due to config or context manager.
//     * jax_default_matmul_precision differs: now float32 and before None
//     different value of static args:
//       now 1 and before 0
// Only the first line carries the log's prefix, unless a collector puts one before each.

constexpr size_t kMaxDifferences = 64;
constexpr size_t kMaxWords = 2000;

// Returns what makes two types of one input different. How a dimension is divided over devices is
// not part of its size.
ReasonType KindOfTypes(std::string_view before, std::string_view after) {
  const std::optional<XlaShape> from = XlaShape::Parse(before), to = XlaShape::Parse(after);
  if (!from || !to) return ReasonType::kUnknown;
  if (from->dimensions() != to->dimensions()) return ReasonType::kShapeChange;
  if (from->element_type() != to->element_type() ||
      before.find("weak_type") != std::string_view::npos)
    return ReasonType::kDtypeChange;
  return ReasonType::kShardingChange;
}

// Returns "3" for "Static(val=3)".
std::string_view StaticValue(std::string_view text) {
  constexpr std::string_view kVal = "Static(val=";
  const size_t at = text.find(kVal);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + kVal.size());
  const size_t close = value.rfind(')');
  return value.substr(0, close);
}

// Leaves the static fields of a class in both values and returns the class: state.TrainState for
// "<class 'state.TrainState'> with pytree metadata (0,)". Returns "" if something else differs.
std::string TakeClass(JaxDifference& difference) {
  constexpr std::string_view kClass = "<class '", kMetadata = "'> with pytree metadata ";
  const size_t end = difference.after.find(kMetadata);
  if (!difference.after.starts_with(kClass) || end == std::string::npos) return "";
  const std::string printed = difference.after.substr(0, end + kMetadata.size());
  if (!difference.before.starts_with(printed)) return "";
  difference.before.erase(0, printed.size());
  difference.after.erase(0, printed.size());
  return printed.substr(kClass.size(), end - kClass.size());
}

// Returns "argument 1" for "[0][1]" and "argument n" for "[1]['n']". The first index is 0 for args
// and 1 for kwargs.
std::string PathInWords(std::string_view path) {
  for (std::string_view prefix : {"args", "kwargs", "[0]", "[1]"}) {
    if (!path.starts_with(prefix)) continue;
    path.remove_prefix(prefix.size());
    break;
  }
  if (path.size() > 2 && path.front() == '[' && path.find(']') == path.size() - 1) {
    path = path.substr(1, path.size() - 2);
    if (path.size() > 2 && path.front() == '\'') path = path.substr(1, path.size() - 2);
  }
  return path.empty() ? "" : fmt::format("argument {}", path);
}

// Returns whether a line such as "[6]: now ..." describes a position in the key of the cache.
bool IsPosition(std::string_view line) {
  const size_t close = line.find_first_not_of("0123456789", 1);
  return line.starts_with('[') && close > 1 && close != line.npos &&
         line.substr(close).starts_with("]: now ");
}

// Parses "/x/train.py:39:23 (main)".
Store::Frame CallOf(std::string_view text) {
  SourcePlace place = SourcePlace::Parse(text);
  if (!place.line) return {};
  const CodeOwner owner = OwnerOf(place.file);
  return {std::move(place.function), std::move(place.file), *place.line, owner};
}

}  // namespace

JaxExplanationReader::JaxExplanationReader(std::string_view first) {
  first = Trim(first);
  if (first.ends_with(':')) first.remove_suffix(1);
  if (first.ends_with(" because")) first.remove_suffix(8);
  constexpr std::string_view kCosting = " costing ";
  if (size_t at = first.rfind(kCosting); at != std::string_view::npos) {
    std::string_view number = first.substr(at + kCosting.size());
    if (const OptReal ms = TakeReal(&number); ms && *ms >= 0 && *ms < 1e12)
      out_.trace_ns = std::llround(*ms * 1e6);
    first = first.substr(0, at);
  }
  out_.call_text = Trim(first);
  out_.call = CallOf(out_.call_text);
}

bool JaxExplanationReader::Take(std::string_view raw) {
  if (Trim(raw).empty()) return false;
  // Words that a line begins with if a collector put its prefix before it, or if the indentation
  // was lost.
  static constexpr std::string_view kBegins[] = {"never seen",
                                                 "but seen another",
                                                 "being re-defined",
                                                 "all previously seen",
                                                 "closest seen",
                                                 "different ",
                                                 "Tracing context",
                                                 "tracing context",
                                                 "Debug info",
                                                 "cache miss explana",
                                                 "explanation unav",
                                                 "compare to tuple",
                                                 "where weak_type",
                                                 "weak_type=False",
                                                 "See https://",
                                                 "found differences",
                                                 "  * ",
                                                 "  for ",
                                                 "  now ",
                                                 "types now:",
                                                 "  ["};
  const bool indented = raw.starts_with("  ");
  std::string_view line = Trim(raw);
  bool known = line.starts_with("* ") || line.starts_with("for ") || line.starts_with("now") ||
               IsPosition(line) || line.starts_with("before:");
  if (!indented && !known) {
    for (std::string_view begin : kBegins) {
      const size_t at = raw.find(begin);
      if (at == std::string_view::npos) continue;
      line = Trim(raw.substr(at));
      known = true;
      break;
    }
  }
  if (std::exchange(names_function_, false)) {
    constexpr std::string_view kId = " id=", kDefined = " defined at ";
    const size_t id = line.find(kId);
    if (id != std::string_view::npos) {
      std::string_view name = line.substr(0, id);
      if (size_t prefix = name.rfind("    "); prefix != std::string_view::npos)
        name = name.substr(prefix + 4);
      out_.function = Trim(name);
      const std::string_view number = line.substr(id + kId.size());
      out_.object_id = number.substr(0, number.find(' '));
      if (size_t at = line.find(kDefined, id); at != std::string_view::npos)
        out_.defined_at = line.substr(at + kDefined.size());
      known = true;
    }
  } else if (std::exchange(has_detail_, false) && !known) {
    known = true;  // types, keys or positions
  } else if (line.starts_with("never seen function")) {
    out_.never_seen = names_function_ = true;
  } else if (line.starts_with("but seen another")) {
    out_.redefined = true;
  } else if (line.starts_with("for ")) {
    constexpr std::string_view kDefined = " defined at ";
    const std::string_view rest = line.substr(4);
    const size_t at = rest.find(kDefined);
    out_.function = rest.substr(0, std::min(at, rest.find(" at ")));
    if (at != std::string_view::npos) out_.defined_at = rest.substr(at + kDefined.size());
  } else {
    has_detail_ = line.ends_with(':') && line.find("mismatches") == std::string_view::npos &&
                  (line.starts_with("never seen") || line.starts_with("closest seen"));
    if (known || indented) Difference(line);
  }
  if (!known && !indented) return false;
  announces_ = line.ends_with(':');
  if (out_.words.size() < kMaxWords) {
    if (!out_.words.empty()) out_.words += "; ";
    out_.words += line;
  }
  return true;
}

void JaxExplanationReader::Difference(std::string_view line) {
  if (line.starts_with("* ")) line.remove_prefix(2);
  if (line.starts_with("key with ")) line.remove_prefix(9);
  if (out_.differences.size() >= kMaxDifferences) return;
  JaxDifference difference{.text = std::string(line)};
  std::string_view values = line;
  constexpr std::string_view kDiffers = " differs: ";
  if (line.starts_with("at ")) {
    const size_t comma = std::min(line.find(", now "), line.find(", seen "));
    if (comma == std::string_view::npos) return;
    difference.input = line.substr(3, comma - 3);
    values = line.substr(comma + 2);
  } else if (size_t at = line.find(kDiffers); at != std::string_view::npos) {
    difference.input = line.substr(0, at);
    values = line.substr(at + kDiffers.size());
    title_ = "context";
  } else if (size_t at = line.find("]: now "); line.starts_with('[') && at < line.size()) {
    difference.input = "position " + std::string(line.substr(1, at - 1));
    values = line.substr(at + 3);
  } else if (line.starts_with("now: ")) {
    now_ = Trim(line.substr(5));
    return;
  } else if (size_t before = line.find("before: "); before <= 3 && !now_.empty()) {
    values = {};
    difference.before = Trim(line.substr(before + 8));
    difference.after = std::move(now_);
    now_.clear();
  } else if (!line.starts_with("now ")) {
    for (std::string_view word : {"different ", "seen ", "context", "Debug info", "unavailable"}) {
      if (line.find(word) != std::string_view::npos && !line.starts_with("compare to"))
        title_ = line;
    }
    return;
  }
  constexpr std::string_view kBefore = " and before ", kGiven = ", but now given ";
  if (values.starts_with("now ")) {
    const size_t at = values.find(kBefore);
    if (at == std::string_view::npos) return;
    difference.after = values.substr(4, at - 4);
    difference.before = values.substr(at + kBefore.size());
  } else if (values.starts_with("seen ")) {
    const size_t at = values.find(kGiven);
    if (at == std::string_view::npos) return;
    difference.before = values.substr(5, at - 5);
    difference.after = values.substr(at + kGiven.size());
  } else if (!values.empty()) {
    return;
  }
  for (std::string* value : {&difference.before, &difference.after}) {
    // The value ends before these: why pytrees differ, or a link after weak types.
    for (std::string_view end : {", so ", ",      so ", "https://", ", and"})
      *value = value->substr(0, value->find(end));
    if (value->ends_with('.')) value->pop_back();
  }
  auto title = [&](std::string_view word) { return title_.find(word) != std::string::npos; };
  if (title("static")) {
    difference.type = ReasonType::kConstantChange;
    difference.input = "static argument";
  } else if (title("pytree") || difference.input.starts_with("input path")) {
    std::string_view path = difference.input;
    if (path.starts_with("input path ")) path.remove_prefix(11);
    std::string words = PathInWords(path);
    if (!StaticValue(difference.after).empty() && !StaticValue(difference.before).empty()) {
      difference.type = ReasonType::kConstantChange;
      difference.before = std::string(StaticValue(difference.before));
      difference.after = std::string(StaticValue(difference.after));
      words = "static " + words;
    } else {
      difference.type = ReasonType::kInputStructureChange;
      difference.of_class = TakeClass(difference);
    }
    difference.input = std::move(words);
  } else if (title("context")) {
    difference.type = ReasonType::kEnvironmentChange;
  } else if (title("type")) {
    difference.type = KindOfTypes(difference.before, difference.after);
  } else {
    difference.type = ReasonType::kUnknown;
  }
  out_.differences.push_back(std::move(difference));
}

bool JaxExplanationReader::IsWhole() const {
  const bool has_reason = out_.never_seen || !out_.differences.empty() || !title_.empty();
  return has_reason && !out_.function.empty() && !announces_ && now_.empty();
}

JaxExplanation JaxExplanationReader::Finish() && {
  auto has = [&](std::string_view word) { return title_.find(word) != std::string::npos; };
  if (out_.differences.empty() && !out_.never_seen && !title_.empty()) {
    JaxDifference only{.type = ReasonType::kUnknown, .text = title_};
    if (has("explanation unavailable")) only.type = ReasonType::kUnprintedChange;
    if (has("context")) only.type = ReasonType::kEnvironmentChange;
    if (has("pytree") || has("positional args") || has("keyword args") || has("args and kwargs"))
      only.type = ReasonType::kInputStructureChange;
    out_.differences.push_back(std::move(only));
  }
  return std::move(out_);
}

}  // namespace xlaprof
