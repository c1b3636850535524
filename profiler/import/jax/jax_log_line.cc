#include "profiler/import/jax/jax_log_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/numbers.h"
#include "profiler/import/graph/graph_text.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// Returns the nanoseconds of "0.125" in "0.125 sec".
OptInt Seconds(std::string_view text) {
  const OptReal seconds = TakeReal(&text);
  if (!seconds || *seconds < 0 || *seconds > 1e9) return std::nullopt;
  return OptInt(std::llround(*seconds * 1e9));
}

// Turns jit(f) into f. Names of Python functions hold no brackets but those of <lambda>.
std::string_view WithoutWrapper(std::string_view name) {
  for (std::string_view wrapper : {"jit(", "pjit(", "pmap(", "xmap("}) {
    if (name.starts_with(wrapper) && name.ends_with(')'))
      return name.substr(wrapper.size(), name.size() - wrapper.size() - 1);
  }
  return name;
}

// Reads "NAME for jit in 0.1 sec" or "NAME in 0.1 sec".
bool NameAndTime(std::string_view rest, JaxLogLine* line) {
  constexpr std::string_view kIn = " in ";
  const size_t sec = rest.find(" sec");
  if (sec == std::string_view::npos) return false;
  const size_t in = rest.substr(0, sec).rfind(kIn);
  if (in == std::string_view::npos) return false;
  const std::string_view number = rest.substr(in + kIn.size(), sec - in - kIn.size());
  line->dur_ns = Seconds(number);
  const size_t point = number.find('.');
  line->is_exact =
      point != std::string_view::npos && number.size() - point > 6 && line->dur_ns.value_or(0) > 0;
  std::string_view name = rest.substr(0, in);
  if (size_t by = name.rfind(" for "); by != std::string_view::npos && line->kind == line->kTraced)
    name = name.substr(0, by);
  line->function = WithoutWrapper(name);
  return true;
}

// Returns the brackets after "Argument mapping: ", or "" if they have no end.
std::string_view MappingOf(std::string_view rest) {
  constexpr std::string_view kLabel = "Argument mapping: ";
  const size_t at = rest.find(kLabel);
  if (at == std::string_view::npos) return {};
  rest.remove_prefix(at + kLabel.size());
  if (rest.empty() || (rest[0] != '(' && rest[0] != '[')) return {};
  const size_t close = FindOutside(rest, 1, rest[0] == '(' ? ')' : ']', false);
  return close == std::string_view::npos ? std::string_view() : rest.substr(0, close + 1);
}

// Shortens a sharding. NamedSharding(mesh=Mesh('data': 4, axis_types=(Auto,)),
// spec=PartitionSpec('data',), ...) becomes P('data',), GSPMDSharding({replicated}) becomes
// {replicated}, and UnspecifiedValue becomes "". Meshes are left out, because a program with
// several would see another number of devices, too.
std::string ShortSharding(std::string_view text) {
  constexpr std::string_view kSpec = "spec=", kLongName = "PartitionSpec(",
                             kGspmd = "GSPMDSharding(";
  if (text.starts_with("Unspecified")) return "";
  if (text.starts_with(kGspmd) && text.ends_with(')'))
    return std::string(text.substr(kGspmd.size(), text.size() - kGspmd.size() - 1));
  const size_t at = text.find(kSpec);
  if (at == std::string_view::npos) return std::string(text);
  text.remove_prefix(at + kSpec.size());
  std::string_view rest = text;
  std::string_view spec = TakePiece(&rest, false);
  if (std::ranges::count(spec, ')') > std::ranges::count(spec, '(')) spec.remove_suffix(1);
  if (spec.starts_with(kLongName)) return "P(" + std::string(spec.substr(kLongName.size()));
  return std::string(spec);
}

// Reads "NAME with global shapes and types (...). Argument mapping: ...", and the wordings of older
// versions: "NAME (140…) for args (...).", "NAME (140…) for 8 devices with args (...).", "NAME
// (140…) for 900 args.", "NAME for with global shapes and types [...]."
bool Compiling(std::string_view rest, JaxLogLine* line) {
  static constexpr std::array<std::string_view, 3> kBeforeTypes = {
      " with global shapes and types ", " for args ", " devices with args "};
  size_t name_end = std::string_view::npos;
  for (std::string_view label : kBeforeTypes) {
    const size_t at = rest.find(label);
    if (at == std::string_view::npos) continue;
    std::string_view types = rest.substr(at + label.size());
    if (types.empty() || (types[0] != '(' && types[0] != '[')) continue;
    const size_t close = FindOutside(types, 1, types[0] == '(' ? ')' : ']', false);
    line->inputs_cut = close == std::string_view::npos;
    if (!line->inputs_cut) {
      line->inputs = types.substr(0, close + 1);
      line->mapping = MappingOf(types.substr(close + 1));
    }
    name_end = at;
    break;
  }
  if (name_end == std::string_view::npos) {
    const size_t counted = rest.find(" args.");
    const size_t before =
        counted == std::string_view::npos ? counted : rest.substr(0, counted).rfind(" for ");
    if (before == std::string_view::npos) return false;
    line->input_count = ParseInteger(rest.substr(before + 5, counted - before - 5));
    if (!line->input_count) return false;
    name_end = before;
  }
  std::string_view name = rest.substr(0, name_end);
  if (name.ends_with(" for")) name.remove_suffix(4);
  // " for 8" and " for ('x', 2) mesh" say what the program runs on.
  if (size_t by = name.rfind(" for "); by != std::string_view::npos) name = name.substr(0, by);
  // " (140378206182176" is the function's id, whose bracket some versions forgot to close.
  const size_t open = name.rfind(" (");
  if (open != std::string_view::npos && name.size() > open + 2 && IsDigit(name[open + 2]))
    name = name.substr(0, open);
  line->function = WithoutWrapper(name);
  return !line->function.empty();
}

// Returns the text between `before` and the next quote, or "" if there is none.
std::string_view QuotedAfter(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  const size_t close = text.find('\'');
  return close == std::string_view::npos ? std::string_view() : text.substr(0, close);
}

// Reads "jit_f' with key 'jit_f-1bac…'".
bool ProgramAndKey(std::string_view rest, JaxLogLine* line) {
  const size_t end = rest.find('\'');
  if (end == std::string_view::npos || end == 0) return false;
  line->function = rest.substr(0, end);
  line->key = QuotedAfter(rest.substr(end), "' with key '");
  return true;
}

// Reads why a program was not written to the persistent cache: " for 'jit_f' because it took < 1.00
// seconds to compile (0.14s)", " for 'jit_f' because it uses host callbacks …" (until 0.11), " with key
// 'jit_f-1bac…' since its size (90 bytes) is less than threshold (100 bytes)", " with key … since cache
// is disabled/not initialized" or " since process_id != 0".
bool NotWritten(std::string_view rest, JaxLogLine* line) {
  auto says = [&](std::string_view words) { return rest.find(words) != std::string_view::npos; };
  line->function = QuotedAfter(rest, " for '");
  line->key = QuotedAfter(rest, " with key '");
  constexpr std::string_view kFaster = "it took < ";
  if (const size_t at = rest.find(kFaster); at != std::string_view::npos) {
    line->why = NotStored::kCompiledFast;
    line->least_ns = Seconds(rest.substr(at + kFaster.size()));
  } else if (says("is less than threshold")) {
    line->why = NotStored::kSmall;
  } else if (says("cache is disabled")) {
    line->why = NotStored::kDisabled;
  } else if (says("process_id != 0")) {
    line->why = NotStored::kOtherProcess;
  } else if (says("host callbacks")) {
    line->why = NotStored::kHostCallback;
  } else {
    return false;
  }
  return true;
}

// Reads "Writing jit_f to persistent compilation cache with key 'jit_f-1bac…'", whose marked words are
// at `at`.
bool Written(std::string_view text, size_t at, JaxLogLine* line) {
  constexpr std::string_view kWriting = "Writing ";
  const size_t begin = text.substr(0, at).rfind(kWriting);
  if (begin == std::string_view::npos) return false;
  line->begin = begin;
  line->function = text.substr(begin + kWriting.size(), at - begin - kWriting.size());
  line->key = QuotedAfter(text.substr(at), " with key '");
  return !line->function.empty();
}

// A warning of Python's, which comes instead of an exception.
constexpr std::string_view kWriteError = "Error writing persistent compilation cache entry for '";

struct Label {
  std::string_view text;
  JaxLogLine::Kind kind;
};
constexpr Label kLabels[] = {
    {"Finished tracing + transforming ", JaxLogLine::kTraced},
    {"Finished tracing ", JaxLogLine::kTraced},
    {"Finished jaxpr to MLIR module conversion ", JaxLogLine::kLowered},
    {"Finished XLA compilation of ", JaxLogLine::kCompiled},
    {"PERSISTENT COMPILATION CACHE MISS for '", JaxLogLine::kPersistentMiss},
    {"Persistent compilation cache hit for '", JaxLogLine::kPersistentHit},
    {" to persistent compilation cache with key '", JaxLogLine::kWritten},
    {"Not writing persistent cache entry", JaxLogLine::kNotWritten},
    {kWriteError, JaxLogLine::kNotWritten},
    {"TRACING CACHE MISS at ", JaxLogLine::kExplanation},
    {"Compiling ", JaxLogLine::kCompiling},
};

// Turns float32 into f32, JAX's own short form of a type.
std::string ShortType(std::string_view type) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"bfloat16", "bf16"}, {"float", "f"}, {"complex", "c"}, {"uint", "u"}, {"int", "i"}};
  for (const auto& [word, shorter] : kWords) {
    if (type.starts_with(word)) return std::string(shorter) + std::string(type.substr(word.size()));
  }
  return std::string(type);
}

}  // namespace

std::optional<JaxLogLine> ParseJaxLogLine(std::string_view text) {
  for (const Label& label : kLabels) {
    const size_t at = text.find(label.text);
    if (at == std::string_view::npos) continue;
    JaxLogLine line{.kind = label.kind, .begin = at};
    const std::string_view rest = text.substr(at + label.text.size());
    bool parsed = false;
    switch (label.kind) {
      case JaxLogLine::kTraced:
      case JaxLogLine::kLowered:
      case JaxLogLine::kCompiled:
        parsed = NameAndTime(rest, &line);
        break;
      case JaxLogLine::kCompiling:
        parsed = Compiling(rest, &line);
        break;
      case JaxLogLine::kPersistentHit:
      case JaxLogLine::kPersistentMiss:
        parsed = ProgramAndKey(rest, &line);
        break;
      case JaxLogLine::kWritten:
        parsed = Written(text, at, &line);
        break;
      case JaxLogLine::kNotWritten:
        if (label.text == kWriteError) {
          line.why = NotStored::kWriteFailed;
          parsed = ProgramAndKey(rest, &line);
        } else {
          parsed = NotWritten(rest, &line);
        }
        break;
      case JaxLogLine::kExplanation:
        parsed = true;
        break;
    }
    if (parsed) return line;
    return std::nullopt;
  }
  return std::nullopt;
}

bool BeginsJaxLogLine(std::string_view text) {
  return std::any_of(std::begin(kLabels), std::end(kLabels),
                     [&](const Label& label) { return text.find(label.text) != text.npos; });
}

bool EndsInJaxLogWords(std::string_view text, size_t least) {
  return std::ranges::any_of(kLabels, [&](const Label& label) {
    for (size_t size = std::min(text.size(), label.text.size() - 1); size >= least; --size) {
      if (text.ends_with(label.text.substr(0, size))) return true;
    }
    return false;
  });
}

std::vector<std::string_view> SplitOutside(std::string_view list) {
  std::vector<std::string_view> pieces;
  while (!list.empty()) {
    std::string_view piece = TakePiece(&list, false);
    if (!piece.empty()) pieces.push_back(piece);
  }
  return pieces;
}

std::vector<JaxInput> ParseJaxInputs(std::string_view list) {
  std::vector<JaxInput> inputs;
  if (list.empty()) return inputs;
  list.remove_prefix(1);
  if (list.ends_with(')') || list.ends_with(']')) list.remove_suffix(1);
  for (std::string_view piece : SplitOutside(list)) {
    JaxInput input;
    constexpr std::string_view kArray = "ShapedArray(";
    // In 2020 this was `ArgSpec(aval=ShapedArray(float32[2]), lazy_expr=…, xla_shape=f32[2]{0})`.
    constexpr std::string_view kSpec = "ArgSpec(aval=";
    if (piece.starts_with(kSpec) && piece.ends_with(')')) {
      std::string_view spec = piece.substr(kSpec.size(), piece.size() - kSpec.size() - 1);
      piece = TakePiece(&spec, false);
    }
    if (piece.starts_with(kArray) && piece.ends_with(')'))
      piece = piece.substr(kArray.size(), piece.size() - kArray.size() - 1);
    std::string_view rest = piece;
    input.shape = ShortType(TakePiece(&rest, false));
    input.attributes = Trim(rest);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void AddJaxShardings(std::string_view mapping, std::vector<JaxInput>* inputs) {
  if (mapping.size() < 2) return;
  const auto pieces = SplitOutside(mapping.substr(1, mapping.size() - 2));
  if (pieces.size() != inputs->size()) return;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string sharding = ShortSharding(pieces[i]);
    if (sharding.empty()) continue;
    std::string& attributes = (*inputs)[i].attributes;
    attributes += (attributes.empty() ? "sharding=" : ", sharding=") + sharding;
  }
}

}  // namespace xlaprof
