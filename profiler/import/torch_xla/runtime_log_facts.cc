#include "profiler/import/torch_xla/runtime_log_facts.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "base/numbers.h"

namespace xlaprof {
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
