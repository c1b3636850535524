#include "profiler/import/chrome/chrome_rows.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/numbers.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using json::Kind;
using json::Value;

// Returns the end of an event, from its exact start and length.
int64_t EndNs(Picoseconds ts, Picoseconds dur) {
  return ts.ns + dur.ns + (ts.ps + dur.ps >= 1000 ? 1 : 0);
}

// JSON has no plus sign, but some writers print one.
OptReal Real(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseReal(text);
}

// Reads an id such as "12" or "0x1f", in the form that most writers print.
std::optional<uint64_t> IdNumber(const Value& id) {
  std::string_view text = id.raw();
  int base = 10;
  if (text.starts_with("0x")) text.remove_prefix(2), base = 16;
  return ParseInteger<uint64_t>(text, base);
}

// The arguments of an event, and of the event that ends it (null: it is no pair).
class ArgsOf final : public TraceArgs {
 public:
  ArgsOf(const ChromeEvent& event, const ChromeEvent* end) : event_(event), end_(end) {}

  bool Has(std::string_view key) const override { return Find(key) != nullptr; }
  OptInt Int(std::string_view key) const override {
    const Value* value = Find(key);
    return value == nullptr ? OptInt() : value->Int();
  }
  std::optional<uint64_t> Id(std::string_view key) const override {
    const Value* value = Find(key);
    return value == nullptr ? std::nullopt : IdNumber(*value);
  }
  OptText Text(std::string_view key) const override {
    const Value* value = Find(key);
    return value == nullptr || value->kind() == Kind::kNull ? OptText() : json::Decode(*value);
  }

 private:
  const Value* Find(std::string_view key) const {
    const Value* value = event_.Arg(key);
    return value == nullptr && end_ != nullptr ? end_->Arg(key) : value;
  }

  const ChromeEvent& event_;
  const ChromeEvent* end_;
};

// Returns whether the end of an event gives an argument again: the same value, or a time on the
// thread's clock.
bool IsRepeatOfBegin(const ChromeArgs::Arg& arg, const ChromeEvent& begin) {
  const std::string_view key = arg.key.raw();
  if (key == "tts" || key == "tdur" || key == "tidelta") return true;
  const Value* before = begin.Arg(key);
  return before != nullptr && before->raw() == arg.value.raw();
}

}  // namespace

ChromeRows::ChromeRows(const Input& input, ImportContext& context, TraceWriter writer,
                       int64_t shift_ns)
    : context_(context),
      shift_ns_(shift_ns),
      texts_(context.store, input.bytes, odd_),
      rows_(context, writer),
      tracks_(rows_.tracks()),
      pairs_(input.bytes) {}

std::optional<int64_t> ChromeRows::StartOf(const ChromeEvent& event) {
  if (!event.ts.valid) {
    odd_.Count("event_without_time", Severity::kWarning,
               "Events whose `ts` is missing or is not a number of microseconds were left out.",
               event.offset);
    return {};
  }
  int64_t ts_ns = 0;
  if (!__builtin_add_overflow(event.ts.ns, shift_ns_, &ts_ns) && ts_ns >= -kMaxTraceTimeNs &&
      ts_ns <= kMaxTraceTimeNs) [[likely]]
    return ts_ns;
  odd_.Count("time_out_of_range", Severity::kWarning,
             "Events with impossible times (decades away) were left out.", event.offset);
  return {};
}

absl::Status ChromeRows::Add(const ChromeEvent& event) {
  if (event.phase == 'M') {
    if (!tracks_.TakeMetadata(event)) {
      odd_.Count("metadata_not_read", Severity::kInfo,
                 "Metadata events that name neither a process nor a thread were not read.",
                 event.offset);
    }
    return absl::OkStatus();
  }
  // XProf ends its list with {}.
  if (event.phase == 0 && !event.ts.given && event.name.kind() == Kind::kNone)
    return absl::OkStatus();
  // These are the steps and findings that our export added to the events. Both are found again.
  if (rows_.writer() == TraceWriter::kXlaprof && event.cat.raw().starts_with("xlaprof."))
    return absl::OkStatus();
  if (event.bad_args) {
    odd_.Count("bad_args", Severity::kWarning,
               "Some events have an `args` that is not an object. They were kept without it.",
               event.offset);
  }
  const std::optional<int64_t> ts_ns = StartOf(event);
  if (!ts_ns) return absl::OkStatus();
  const Picoseconds ts{*ts_ns, event.ts.ps};
  switch (event.phase) {
    case 'X':
      return AddComplete(event, ts);
    case 'B':
    case 'E':
      pairs_.AddThread(event, ts);
      return absl::OkStatus();
    case 'b':
    case 'e':
    case 'S':
    case 'F':
    case 'n':  // inside an operation; T and p in older files
    case 'T':
    case 'p':
      pairs_.AddAsync(event, ts);
      return absl::OkStatus();
    case 's':
    case 't':
    case 'f':
      return AddFlow(event, ts);
    case 'C':
      return AddCounter(event, ts);
    case 'i':  // instant, as it is written since 2012; I before that
    case 'I':
    case 'R':  // mark
    case 'P':  // sample
    case 'N':  // object: new, snapshot, deleted
    case 'O':
    case 'D':
    case 'v':  // memory dump, of the process and of all
    case 'V':
    case 'c':  // clock sync
    case '(':  // context
    case ')':
    case '=':  // a link between ids
      return AddInstant(event, ts);
    default:
      odd_.Count("unknown_phase", Severity::kWarning,
                 "Events whose phase `ph` is missing or unknown to the format were left out.",
                 event.offset);
      return absl::OkStatus();
  }
}

absl::Status ChromeRows::AddComplete(const ChromeEvent& event, Picoseconds ts) {
  int64_t dur_ns = kUnknownDuration;
  if (event.dur.valid) [[likely]] {
    Picoseconds dur = event.dur.value();
    if (dur.ns < 0) {
      odd_.Count("negative_duration", Severity::kWarning,
                 "Events of negative duration were read as instants.", event.offset);
      dur = {};
    }
    if (dur.ns > kMaxTraceTimeNs) {
      odd_.Count("time_out_of_range", Severity::kWarning,
                 "Events with impossible times (decades away) were left out.", event.offset);
      return absl::OkStatus();
    }
    dur_ns = EndNs(ts, dur) - ts.ns;
  } else {
    odd_.Count("missing_duration", Severity::kWarning,
               "Complete events (ph X) have no `dur`, so their duration is unknown.", event.offset);
  }
  XP_TRY(TraceTrack * track, tracks_.Of(event));
  return AddRow(event, nullptr, {track, track->id}, ts.ns, dur_ns);
}

absl::Status ChromeRows::AddInstant(const ChromeEvent& event, Picoseconds ts) {
  // Our own export has these counters in addition.
  if (event.name.raw() == "[memory]" && rows_.writer() != TraceWriter::kXlaprof)
    XP_TRY(AddMemory(event, ts));
  XP_TRY(TraceTrack * track, tracks_.Of(event));
  return AddRow(event, nullptr, {track, track->id}, ts.ns, 0);
}

// Adds what PyTorch's allocator holds after one of its calls.
absl::Status ChromeRows::AddMemory(const ChromeEvent& event, Picoseconds ts) {
  const Value* total = event.Arg("Total Allocated");
  const Value* device = event.Arg("Device Id");
  const OptReal value = total == nullptr ? OptReal() : Real(total->raw());
  if (!value) return absl::OkStatus();
  const int64_t index = device == nullptr ? -1 : device->Int().value_or(-1);
  XP_TRY(int64_t track_id,
         tracks_.Counter(event, index < 0 ? std::string("allocated bytes")
                                          : fmt::format("allocated bytes, GPU:{}", index)));
  return context_.events.Counter(track_id, ts.ns, *value);
}

absl::Status ChromeRows::AddCounter(const ChromeEvent& event, Picoseconds ts) {
  std::string base = json::Decode(event.name);
  if (event.id.kind() != Kind::kNone) base += fmt::format(" [{}]", event.id.raw());
  bool any = false;
  for (const ChromeArgs::Arg& arg : event.args) {
    const bool number = arg.value.kind() == Kind::kNumber || arg.value.kind() == Kind::kText;
    const OptReal value = number ? Real(arg.value.raw()) : OptReal();
    if (!value) continue;
    const bool alone = event.args.size() == 1 && arg.key.raw() == "value";
    XP_TRY(
        int64_t track_id,
        tracks_.Counter(event, alone ? base : fmt::format("{} {}", base, json::Decode(arg.key))));
    XP_TRY(context_.events.Counter(track_id, ts.ns, *value));
    rows_.CountSample();
    any = true;
  }
  if (event.args.left_out()) LeftOutArgs(event);
  if (!any) {
    odd_.Count("counter_without_number", Severity::kWarning,
               "Counter events (ph C) without any number were left out.", event.offset);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ChromeRows::FlowOf(const Value& id, StringId cat, StringId name,
                                            StringId scope) {
  std::optional<uint64_t> number = IdNumber(id);
  if (!number) {
    XP_TRY(StringId text, texts_.Of(id));
    number = uint64_t(text) | uint64_t(1) << 40;
  }
  if (scope != 0) return MixedFlow({uint64_t(context_.source_id), *number, cat, name, scope});
  return MixedFlow({uint64_t(context_.source_id), *number, cat, name});
}

uint64_t ChromeRows::LeaveFlow(uint64_t flow, int64_t ts_ns) {
  auto found = flows_.find(flow);
  if (found == flows_.end()) return flow;
  FlowLinks& links = found->second;
  if (links.end_ns <= ts_ns) links.first = links.last = MixedFlow({links.last, 1});
  return links.first;
}

uint64_t ChromeRows::EnterFlow(uint64_t flow, int64_t ts_ns) {
  FlowLinks& links = flows_.try_emplace(flow, FlowLinks{flow, flow, ts_ns}).first->second;
  links.end_ns = ts_ns;
  return links.last;
}

uint64_t ChromeRows::PassFlow(uint64_t flow) {
  uint64_t& last = flows_.find(flow)->second.last;
  return last = MixedFlow({last});
}

absl::Status ChromeRows::AddFlow(const ChromeEvent& event, Picoseconds ts) {
  if (rows_.writer() == TraceWriter::kKineto && IsCorrelationFlow(event.cat.raw()))
    return absl::OkStatus();
  XP_TRY(StringId cat, texts_.Of(event.cat));
  XP_TRY(StringId name, texts_.Of(event.name));
  const Value& id = event.id.kind() != Kind::kNone          ? event.id
                    : event.id_global.kind() != Kind::kNone ? event.id_global
                                                            : event.id_local;
  StringId scope = 0;
  if (&id == &event.id_local) {
    XP_TRY(scope, texts_.Of(event.pid));
  }
  XP_TRY(uint64_t flow, FlowOf(id, cat, name, scope));
  XP_TRY(TraceTrack * track, tracks_.Of(event));
  auto end_at = [&](uint64_t link, FlowEnd end) {
    context_.events.Flow(track->id, ts.ns, link, end, event.offset);
  };
  if (event.phase == 's') {
    end_at(LeaveFlow(flow, ts.ns), FlowEnd::kOut);
    return absl::OkStatus();
  }
  end_at(EnterFlow(flow, ts.ns), event.phase == 't' || event.bind_point.raw() == "e"
                                     ? FlowEnd::kInEnclosing
                                     : FlowEnd::kInNext);
  if (event.phase == 't') end_at(PassFlow(flow), FlowEnd::kOut);
  return absl::OkStatus();
}

absl::Status ChromeRows::AddPair(const ChromePairs::Pair& pair, bool async) {
  const int64_t dur_ns = pair.instant          ? 0
                         : pair.end == nullptr ? kUnknownDuration
                                               : pair.end_ts.ns - pair.ts.ns;
  Where where;
  if (async) {
    const Value name(Kind::kText, pair.outermost, /*escaped=*/true);
    XP_TRY(where.track_id, tracks_.Async(pair.begin, json::Decode(name)));
  } else {
    XP_TRY(where.track, tracks_.Of(pair.begin));
    where.track_id = where.track->id;
  }
  return AddRow(pair.begin, pair.end, where, pair.ts.ns, dur_ns);
}

absl::Status ChromeRows::AddArg(StringId key, const Value& value) {
  if (value.kind() == Kind::kNumber) {
    if (const OptInt number = ParseInteger(value.raw())) [[likely]] {
      context_.events.Arg(key, *number);
      return absl::OkStatus();
    }
    if (const auto large = ParseInteger<uint64_t>(value.raw())) {
      context_.events.Arg(key, *large);
      return absl::OkStatus();
    }
    if (const OptReal real = Real(value.raw())) {
      context_.events.Arg(key, *real);
      return absl::OkStatus();
    }
  }
  XP_TRY(StringId text, texts_.Of(value));
  context_.events.Arg(key, Text{text});
  return absl::OkStatus();
}

void ChromeRows::LeftOutArgs(const ChromeEvent& event) {
  odd_.Count("too_many_arguments", Severity::kWarning,
             fmt::format("Events keep {} arguments. Further ones were left out.", ChromeArgs::kMax),
             event.offset);
}

absl::Status ChromeRows::AddArgs(const ChromeEvent& event, const ChromeEvent* begin) {
  bool left_out = event.args.left_out();
  for (const ChromeArgs::Arg& arg : event.args) {
    if (arg.value.kind() == Kind::kNull) continue;
    if (keys_.size() >= ChromeArgs::kMax) {
      left_out = true;
      break;
    }
    XP_TRY(StringId key, texts_.Of(arg.key));
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) {
      if (begin != nullptr && IsRepeatOfBegin(arg, *begin)) continue;
      odd_.Count("repeated_argument", Severity::kInfo,
                 "Events have several arguments of the same name. The first was kept.",
                 event.offset);
      continue;
    }
    keys_.push_back(key);
    XP_TRY(AddArg(key, arg.value));
  }
  if (left_out) LeftOutArgs(event);
  return absl::OkStatus();
}

absl::Status ChromeRows::AddRow(const ChromeEvent& event, const ChromeEvent* end, Where where,
                                int64_t ts_ns, int64_t dur_ns) {
  StringId name = 0, cat = 0;
  if (event.name.kind() != Kind::kNone) {
    XP_TRY(name, texts_.Of(event.name));
  } else {
    XP_TRY(name, context_.store.Intern(""));
  }
  if (event.cat.kind() != Kind::kNone && !event.cat.raw().empty()) {
    XP_TRY(cat, texts_.Of(event.cat));
  }
  TraceEvent row{.name = name,
                 .cat = cat,
                 .track = where.track,
                 .track_id = where.track_id,
                 .ts_ns = ts_ns,
                 .dur_ns = dur_ns,
                 .offset = event.offset};
  if ((event.flow_in || event.flow_out) && event.bind_id.kind() != Kind::kNone) {
    XP_TRY(uint64_t flow, FlowOf(event.bind_id, 0, 0, 0));
    if (event.flow_in) row.flow_in = EnterFlow(flow, ts_ns);
    if (event.flow_out) row.flow_out = event.flow_in ? PassFlow(flow) : LeaveFlow(flow, ts_ns);
  }
  XP_TRY(const StringId given, rows_.Add(row, ArgsOf(event, end)));
  keys_.clear();
  if (given != 0) keys_.push_back(given);
  XP_TRY(AddArgs(event, nullptr));
  return end == nullptr ? absl::OkStatus() : AddArgs(*end, &event);
}

absl::Status ChromeRows::Finish(OptText host, OptInt rank) {
  XP_TRY(pairs_.EmitThreads(odd_,
                            [&](const ChromePairs::Pair& pair) { return AddPair(pair, false); }));
  XP_TRY(
      pairs_.EmitAsyncs(odd_, [&](const ChromePairs::Pair& pair) { return AddPair(pair, true); }));
  XP_TRY(rows_.Finish(std::move(host), rank, odd_));
  return odd_.Write(context_);
}

}  // namespace xlaprof
