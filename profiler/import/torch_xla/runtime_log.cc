#include "profiler/import/torch_xla/runtime_log.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/numbers.h"
#include "base/xla_shape.h"
#include "profiler/import/graph/graph_text.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

// With TF_CPP_VMODULE=tensor=5 (since 2.0 xla_graph_executor=5), which scripts/debug_run.py sets,
// torch_xla writes lines such as these, among much else (each is one line, folded here):
//   2022-02-09 23:33:25.457877: I /x/torch_xla/csrc/tensor.cpp:1575] Compiling IR graph hash fd31…
//       on device GPU:0 ...
//   2022-02-09 23:33:53.698418: I   23512 /x/tensor.cpp:1580] Compiling IR graph hash fd31…
//       on device GPU:0 done!
// The thread comes after the letter if TF_CPP_LOG_THREAD_ID is set. Executions are printed alike,
// also as "Executing (OpByOp) IR graph hash", "Executing Dynamo IR graph hash", and for several
// devices "Executing IR graph hash fd31… on devices: TPU:0,TPU:1 done!". Devices of one process
// write to one log. Newer builds of TensorFlow's logger print "I0209 23:33:25.457877   23512
// tensor.cpp:1]", and before it is set up "I0000 00:00:1644449605.457877   23512 tensor.cpp:1]".
constexpr std::string_view kGraphHash = "graph hash ";

// Returns the number that `digits` characters from `begin` on spell.
OptInt NumberAt(std::string_view text, size_t begin, size_t digits) {
  return begin + digits > text.size() ? OptInt() : ParseInteger(text.substr(begin, digits));
}

// Returns the number that the digits at the front of `text` spell.
OptInt LeadingCount(std::string_view text) {
  return ParseCount(text.substr(0, text.find_first_not_of("0123456789")));
}

// Finds the time anywhere before the message, because a log's prefix may come before it.
OptInt Time(std::string_view prefix) {
  constexpr size_t kBeforeDot = 19, kTime = 15;  // 2022-02-09 23:33:25; 23:33:25.457877
  for (size_t dot = prefix.find('.'); dot != std::string_view::npos;
       dot = prefix.find('.', dot + 1)) {
    if (dot >= kBeforeDot) {
      if (OptInt time = LogTime(prefix.substr(dot - kBeforeDot))) return time;
    }
    if (dot >= 14) {  // I0209 23:33:25.457877, which names no year. A leap year has each day.
      const std::string_view day = prefix.substr(dot - 13, 4), time = prefix.substr(dot - 8, kTime);
      if (OptInt ns = LogTime(fmt::format("1972-{}-{} {}", day.substr(0, 2), day.substr(2), time)))
        return ns;
    }
    constexpr std::string_view kUnset = "I0000 00:00:";
    if (size_t at = prefix.substr(0, dot).rfind(kUnset); at != std::string_view::npos) {
      const size_t begin = at + kUnset.size();
      OptInt seconds = NumberAt(prefix, begin, dot - begin), micros = NumberAt(prefix, dot + 1, 6);
      if (seconds && micros && *seconds < 9'000'000'000)
        return (*seconds * 1'000'000 + *micros) * 1000;
    }
  }
  return std::nullopt;
}

// Returns the number before the file's name: "I   23512 torch_xla/csrc/tensor.cpp:727] ".
OptInt Thread(std::string_view prefix) {
  prefix = Trim(prefix);
  if (!prefix.ends_with(']')) return std::nullopt;
  const size_t file = prefix.rfind(' ');
  if (file == std::string_view::npos) return std::nullopt;
  prefix = Trim(prefix.substr(0, file));
  const size_t begin = prefix.find_last_not_of("0123456789");
  if (begin == std::string_view::npos || begin + 1 == prefix.size() || prefix[begin] != ' ')
    return std::nullopt;
  const std::string_view digits = prefix.substr(begin + 1);
  return digits.size() < 18 ? ParseCount(digits) : std::nullopt;
}

// Reads "fd31… on device GPU:0 ...". Returns false if it is something else.
bool HashAndDevice(std::string_view rest, RuntimeLogLine* line) {
  const size_t digits = rest.find_first_not_of("0123456789abcdefABCDEF");
  if (digits == 0 || digits == std::string_view::npos) return false;
  for (char c : rest.substr(0, digits))
    line->hash += char(std::tolower(static_cast<unsigned char>(c)));
  rest.remove_prefix(digits);
  for (std::string_view label : {" on device ", " on devices: ", " on devices "}) {
    if (!rest.starts_with(label)) continue;
    rest.remove_prefix(label.size());
    const size_t end = std::min(rest.find(' '), rest.size());
    line->device = rest.substr(0, std::min(rest.find(','), end));
    const std::string_view state = Trim(rest.substr(end));
    line->done = state.starts_with("done");
    const bool begins = state.empty() ? label != " on device " : state.starts_with("...");
    return line->device.size() <= 20 && (line->done || begins);
  }
  return false;
}

// Reads "(p0: f32[16,32], p1: f32[]) -> (pred[32])".
bool ProgramShape(std::string_view rest, RuntimeLogLine* line) {
  if (!rest.starts_with('(')) return false;
  const size_t close = FindOutside(rest, 1, ')', false);
  if (close == std::string_view::npos) return false;
  for (std::string_view inputs = rest.substr(1, close - 1); !inputs.empty();) {
    std::string_view input = TakePiece(&inputs, false);
    if (size_t colon = input.find(": "); colon != std::string_view::npos)
      input = Trim(input.substr(colon + 2));
    if (!input.empty()) line->inputs.emplace_back(input);
  }
  constexpr std::string_view kArrow = " -> ";
  std::string_view result = rest.substr(close + 1);
  if (!result.starts_with(kArrow)) return true;
  result = Trim(result.substr(kArrow.size()));
  const std::optional<XlaShape> shape = XlaShape::Parse(result);
  line->count = shape ? int64_t(shape->result_count()) : 1;
  return true;
}

// Reads "CompiledMemoryStats(generated_code_size_in_bytes=512, argument_size_in_bytes=8, …)".
std::array<OptInt, 5> MemoryUsage(std::string_view rest) {
  static constexpr std::string_view kNames[] = {"argument", "output", "alias", "temp",
                                                "generated_code"};
  std::array<OptInt, 5> sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // The sizes of the host have the same names, after a word of their own.
    for (const char* before : {"(", " "}) {
      const std::string label = fmt::format("{}{}_size_in_bytes=", before, kNames[i]);
      const size_t at = rest.find(label);
      if (at == std::string_view::npos) continue;
      sizes[i] = LeadingCount(rest.substr(at + label.size()));
    }
  }
  return sizes;
}

struct LogLabel {
  std::string_view text;
  RuntimeLogLine::Kind kind;
};
constexpr LogLabel kLogLabels[] = {
    {"Trying to get the value of ", RuntimeLogLine::kReadValue},
    {" live tensors: devices=(", RuntimeLogLine::kLiveTensors},
    {"Trying to sync the value of ", RuntimeLogLine::kSyncValue},
    {"Compiled program shape ", RuntimeLogLine::kProgramShape},
    {"TensorsGraphSize=", RuntimeLogLine::kGraphSize},
    {"memory usage detail = ", RuntimeLogLine::kMemoryUsage},
};

}  // namespace

std::optional<RuntimeLogLine> ParseRuntimeLogLine(std::string_view text) {
  RuntimeLogLine line;
  size_t begin = 0;
  if (size_t at = text.find(kGraphHash); at != std::string_view::npos) {
    std::string_view before = text.substr(0, at);
    const std::string_view rest = text.substr(at + kGraphHash.size());
    struct Verb {
      std::string_view text;
      RuntimeLogLine::Kind kind;
      bool dynamo;
    };
    static constexpr Verb kVerbs[] = {
        {"Compiling IR ", RuntimeLogLine::kCompile, false},
        {"Executing IR ", RuntimeLogLine::kExecute, false},
        {"Executing (OpByOp) IR ", RuntimeLogLine::kExecute, false},
        {"Executing Dynamo IR ", RuntimeLogLine::kExecute, true},
        {"Executing Dynamo IR sharded ", RuntimeLogLine::kExecute, true},
        {"Parameter sequence ", RuntimeLogLine::kGraphIsNext, false},
    };
    const auto* verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                    [&](const Verb& v) { return before.ends_with(v.text); });
    if (verb == std::end(kVerbs)) return std::nullopt;
    line.kind = verb->kind;
    line.dynamo = verb->dynamo;
    if (line.kind == RuntimeLogLine::kGraphIsNext) {
      line.hash = Trim(rest);
    } else if (!HashAndDevice(rest, &line)) {
      return std::nullopt;
    }
    begin = at - verb->text.size();
  } else {
    const auto* label =
        std::find_if(std::begin(kLogLabels), std::end(kLogLabels), [&](const LogLabel& l) {
          begin = text.find(l.text);
          return begin != std::string_view::npos;
        });
    if (label == std::end(kLogLabels)) return std::nullopt;
    line.kind = label->kind;
    const std::string_view rest = text.substr(begin + label->text.size());
    if (line.kind == RuntimeLogLine::kProgramShape && !ProgramShape(rest, &line))
      return std::nullopt;
    if (line.kind == RuntimeLogLine::kGraphSize) line.count = LeadingCount(rest);
    if (line.kind == RuntimeLogLine::kMemoryUsage) line.sizes = MemoryUsage(rest);
    // The number of " live tensors" comes before these words.
    if (line.kind == RuntimeLogLine::kLiveTensors)
      begin = text.substr(0, begin).find_last_not_of("0123456789") + 1;
  }
  const std::string_view prefix = text.substr(0, begin);
  if (line.kind == RuntimeLogLine::kCompile || line.kind == RuntimeLogLine::kExecute)
    line.at_ns = Time(prefix);
  line.thread = Thread(prefix);
  return line;
}

std::string HexOfDecimal(const std::string& hash) {
  const auto value = ParseInteger<uint64_t>(hash);
  return value ? fmt::format("{:x}", *value) : hash;
}

namespace {

constexpr size_t kMaxBegun = 64;  // facts that no line has ended yet

OptInt Ordinal(std::string_view device) {  // 0 of TPU:0
  const size_t colon = device.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  device.remove_prefix(colon + 1);
  return TakeInteger(&device);
}

}  // namespace

void RuntimeLogReader::Take(const RuntimeLogLine& line, int64_t offset, int64_t line_number) {
  hexadecimal_ |= line.hash.find_first_of("abcdef") != std::string::npos;
  switch (line.kind) {
    case RuntimeLogLine::kReadValue:
      cause_[line.thread] = CutKind::kValueAccess;
      break;
    case RuntimeLogLine::kLiveTensors:
      cause_[line.thread] = CutKind::kSync;
      break;
    case RuntimeLogLine::kSyncValue:
      cause_.try_emplace(line.thread, CutKind::kValueAccess);
      break;
    case RuntimeLogLine::kGraphIsNext:
      if (auto mark = cause_.extract(line.thread)) cause_of_[line.hash] = mark.mapped();
      break;
    case RuntimeLogLine::kMemoryUsage:
      if (last_compile_ < facts_.size()) facts_[last_compile_].sizes = line.sizes;
      break;
    case RuntimeLogLine::kProgramShape:
      if (last_compile_ < facts_.size()) {
        facts_[last_compile_].input_shapes = line.inputs;
        facts_[last_compile_].inputs = int64_t(line.inputs.size());
        facts_[last_compile_].outputs = line.count;
      }
      break;
    case RuntimeLogLine::kGraphSize:
      if (last_compile_ < facts_.size()) facts_[last_compile_].nodes = line.count;
      last_compile_ = size_t(-1);
      break;
    case RuntimeLogLine::kCompile:
    case RuntimeLogLine::kExecute:
      line.done ? End(line, offset, line_number) : Begin(line, offset, line_number);
      break;
  }
}

void RuntimeLogReader::Begin(const RuntimeLogLine& line, int64_t offset, int64_t line_number) {
  auto device = std::find(devices_.begin(), devices_.end(), line.device);
  const int origin = int(device - devices_.begin());
  if (device == devices_.end()) devices_.push_back(line.device);
  const bool compiles = line.kind == RuntimeLogLine::kCompile;
  std::deque<Begun>& begun = begun_[{origin, compiles}];
  begun.push_back({facts_.size(), line.at_ns});
  if (begun.size() > kMaxBegun) begun.pop_front();
  DebugFact fact;
  fact.kind = compiles ? DebugFact::kCompile : DebugFact::kExecution;
  fact.origin = origin, fact.offset = offset, fact.line = line_number;
  fact.hash = line.hash;
  if (line.dynamo) fact.cause = CutKind::kDynamoExecute;
  if (auto cause = cause_of_.find(line.hash);
      cause != cause_of_.end() && fact.cause == CutKind::kUnknown)
    fact.cause = cause->second;
  if (compiles) last_compile_ = facts_.size();
  facts_.push_back(std::move(fact));
}

void RuntimeLogReader::End(const RuntimeLogLine& line, int64_t offset, int64_t line_number) {
  const auto device = std::ranges::find(devices_, line.device);
  std::deque<Begun>& begun =
      begun_[{int(device - devices_.begin()), line.kind == RuntimeLogLine::kCompile}];
  const auto same = std::find_if(begun.rbegin(), begun.rend(),
                                 [&](const Begun& b) { return facts_[b.fact].hash == line.hash; });
  if (same == begun.rend()) {  // its beginning is not in the log
    Begin(line, offset, line_number);
    begun.pop_back();
    return;
  }
  // Only the last one to begin gets a time, because a device does one thing at a time.
  if (same == begun.rbegin() && same->at_ns && line.at_ns && *line.at_ns >= *same->at_ns)
    facts_[same->fact].dur_ns = *line.at_ns - *same->at_ns;
  begun.erase(std::next(same).base());
}

void RuntimeLogReader::Finish(DebugLog& log) {
  if (facts_.empty()) return;
  if (!hexadecimal_) {
    for (DebugFact& fact : facts_) fact.hash = HexOfDecimal(fact.hash);
  }
  // By graph, the compilations that blocks describe, last to first.
  absl::flat_hash_map<std::string, std::vector<size_t>> told;
  bool blocks_execute = false;
  for (size_t i = log.facts.size(); i-- > 0;) {
    const DebugFact& fact = log.facts[i];
    if (fact.kind == DebugFact::kCompile) told[fact.hash].push_back(i);
    blocks_execute |= fact.kind == DebugFact::kExecution;
  }
  std::vector<int> origins;
  for (const std::string& device : devices_) {
    LogOrigin origin;
    origin.rank = Ordinal(device);
    auto found = std::find(log.origins.begin(), log.origins.end(), origin);
    origins.push_back(int(found - log.origins.begin()));
    if (found == log.origins.end()) log.origins.push_back(origin);
  }
  for (DebugFact& fact : facts_) {
    fact.origin = origins[size_t(fact.origin)];
    if (fact.kind == DebugFact::kExecution && blocks_execute) continue;
    auto same = told.find(fact.hash);
    if (fact.kind == DebugFact::kCompile && same != told.end() && !same->second.empty()) {
      DebugFact& block = log.facts[same->second.back()];
      same->second.pop_back();
      block.dur_ns = fact.dur_ns;
      block.input_shapes = std::move(fact.input_shapes);
      block.nodes = fact.nodes;
      for (size_t i = 0; i < fact.sizes.size(); ++i) {
        if (fact.sizes[i]) block.sizes[i] = fact.sizes[i];  // more exact: blocks round them
      }
      continue;
    }
    log.facts.push_back(std::move(fact));
  }
}

}  // namespace xlaprof
