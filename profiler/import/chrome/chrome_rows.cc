#include "profiler/import/chrome/chrome_rows.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/base/numbers.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

using json::Kind;
using json::Value;

// Times beyond this (thirty-six years) are damage, and their differences would overflow.
constexpr int64_t kMaxTimeNs = int64_t(1) << 60;
// Ids of up to kIdBits bits become a flow as they are; the source's id is in the bits from
// kSourceBits on.
constexpr int kIdBits = 38, kSourceBits = 44;

// Returns the end of an event, from its exact start and length.
int64_t EndNs(Picoseconds ts, Picoseconds dur) {
  return ts.ns + dur.ns + (ts.ps + dur.ps >= 1000 ? 1 : 0);
}

// Flows that are not small numbers are hashed. The top bit keeps them apart from those that are.
uint64_t Mix(std::initializer_list<uint64_t> parts) {
  uint64_t hash = 0x243f6a8885a308d3;
  for (uint64_t part : parts) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash | uint64_t(1) << 63;
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

// Returns whether the end of an event gives an argument again: the same value, or a time on the
// thread's clock.
bool IsRepeatOfBegin(const ChromeArgs::Arg& arg, const ChromeEvent& begin) {
  const std::string_view key = arg.key.raw();
  if (key == "tts" || key == "tdur" || key == "tidelta") return true;
  const Value* before = begin.Arg(key);
  return before != nullptr && before->raw() == arg.value.raw();
}

}  // namespace

ChromeRows::ChromeRows(const Input& input, ImportContext& context, ChromeWriter writer,
                       int64_t shift_ns)
    : context_(context),
      writer_(writer),
      shift_ns_(shift_ns),
      texts_(context.store, input.bytes, odd_),
      tracks_(context, writer),
      pairs_(input.bytes),
      facts_(context),
      xprof_(context, facts_),
      torch_compile_(context) {}

std::optional<int64_t> ChromeRows::StartOf(const ChromeEvent& event) {
  if (!event.ts.valid) {
    odd_.Count("event_without_time", Severity::kWarning,
               "Events whose `ts` is missing or is not a number of microseconds were left out.",
               event.offset);
    return {};
  }
  int64_t ts_ns = 0;
  if (!__builtin_add_overflow(event.ts.ns, shift_ns_, &ts_ns) && ts_ns >= -kMaxTimeNs &&
      ts_ns <= kMaxTimeNs) [[likely]]
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
  if (writer_ == ChromeWriter::kXlaprof && event.cat.raw().starts_with("xlaprof."))
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
    if (dur.ns > kMaxTimeNs) {
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
  if (event.name.raw() == "[memory]" && writer_ != ChromeWriter::kXlaprof)
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
    ++event_count_;
    any = true;
  }
  if (event.args.left_out()) LeftOutArgs(event);
  if (!any) {
    odd_.Count("counter_without_number", Severity::kWarning,
               "Counter events (ph C) without any number were left out.", event.offset);
  }
  return absl::OkStatus();
}

uint64_t ChromeRows::FlowOfCorrelation(uint64_t correlation) const {
  const uint64_t source = uint64_t(context_.source_id) << kSourceBits;
  if (correlation < uint64_t(1) << kIdBits) return source | correlation;
  return Mix({uint64_t(context_.source_id), correlation});
}

absl::StatusOr<uint64_t> ChromeRows::FlowOf(const Value& id, StringId cat, StringId name,
                                            StringId scope) {
  std::optional<uint64_t> number = IdNumber(id);
  if (!number) {
    XP_TRY(StringId text, texts_.Of(id));
    number = uint64_t(text) | uint64_t(1) << 40;
  }
  if (scope != 0) return Mix({uint64_t(context_.source_id), *number, cat, name, scope});
  return Mix({uint64_t(context_.source_id), *number, cat, name});
}

uint64_t ChromeRows::LeaveFlow(uint64_t flow, int64_t ts_ns) {
  auto found = flows_.find(flow);
  if (found == flows_.end()) return flow;
  FlowLinks& links = found->second;
  if (links.end_ns <= ts_ns) links.first = links.last = Mix({links.last, 1});
  return links.first;
}

uint64_t ChromeRows::EnterFlow(uint64_t flow, int64_t ts_ns) {
  FlowLinks& links = flows_.try_emplace(flow, FlowLinks{flow, flow, ts_ns}).first->second;
  links.end_ns = ts_ns;
  return links.last;
}

uint64_t ChromeRows::PassFlow(uint64_t flow) {
  uint64_t& last = flows_.find(flow)->second.last;
  return last = Mix({last});
}

absl::Status ChromeRows::AddFlow(const ChromeEvent& event, Picoseconds ts) {
  if (writer_ == ChromeWriter::kKineto && IsCorrelationFlow(event.cat.raw()))
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

ChromeKind ChromeRows::KindOf(StringId cat, StringId name) {
  if (kinds_.size() <= name) kinds_.resize(std::max<size_t>(name + 1, 2 * kinds_.size()));
  Named& named = kinds_[name];
  if (named.known && named.cat == cat) [[likely]]
    return named.kind;
  const std::string_view cat_text = context_.store.Text(cat);
  const std::string_view name_text = context_.store.Text(name);
  if (writer_ == ChromeWriter::kKineto) tracks_.KernelsMayBeOf(DeviceTypeOf(cat_text));
  named = {true, cat,
           writer_ == ChromeWriter::kKineto  ? KindOfKineto(cat_text, name_text)
           : writer_ == ChromeWriter::kXprof ? KindOfXprof(name_text)
                                             : KindOfOther(cat_text)};
  return named.kind;
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
  ChromeKind kind = KindOf(cat, name);
  if (writer_ == ChromeWriter::kXprof && where.track != nullptr)
    kind = xprof_.KindOf(event, *where.track, kind);
  StringId category = 0;
  if (cat != 0 || writer_ != ChromeWriter::kXlaprof) {
    StringId& known = categories_[size_t(kind.category)];
    if (known == 0) {
      XP_TRY(known, context_.store.Intern(TextOf(kind.category)));
    }
    category = known;
  }

  Event row{.ts_ns = ts_ns, .dur_ns = dur_ns, .name = name, .category = category};
  if (kind.calls_device) {
    if (const Value* id = event.Arg("correlation"); id != nullptr) {
      if (const uint64_t number = IdNumber(*id).value_or(0); number != 0)
        (kind.on_device ? row.flow_in : row.flow_out) = FlowOfCorrelation(number);
    }
  } else if ((event.flow_in || event.flow_out) && event.bind_id.kind() != Kind::kNone) {
    XP_TRY(uint64_t flow, FlowOf(event.bind_id, 0, 0, 0));
    if (event.flow_in) row.flow_in = EnterFlow(flow, ts_ns);
    if (event.flow_out) row.flow_out = event.flow_in ? PassFlow(flow) : LeaveFlow(flow, ts_ns);
  }
  XP_TRY(context_.events.Add(where.track_id, row));
  ++event_count_;
  if (kind.category == Category::kPython) ++python_count_;
  if (where.track != nullptr) {
    ++where.track->events;
    // Waits that belong to no stream have the process -1.
    if (kind.on_device && !where.track->is_device && where.track->process->pid.value_or(0) >= 0) {
      where.track->is_device = true;
      where.track->device_type = DeviceTypeOf(event.cat.raw());
    }
  }

  keys_.clear();
  if (cat != 0 && cat != category) {
    if (cat_key_ == 0) {
      XP_TRY(cat_key_, context_.store.Intern("cat"));
    }
    keys_.push_back(cat_key_);
    context_.events.Label(cat_key_, Text{cat});
  }
  XP_TRY(AddArgs(event, nullptr));
  if (end != nullptr) XP_TRY(AddArgs(*end, &event));

  if (where.track == nullptr || !has_facts()) return absl::OkStatus();
  if (writer_ == ChromeWriter::kXprof) return xprof_.Add(event, *where.track, kind, row);
  if (writer_ == ChromeWriter::kXlaprof)
    return AddExportedFact(event, end, *where.track, kind, row);
  return AddKinetoFact(event, end, where.track_id, kind, row);
}

absl::Status ChromeRows::AddKinetoFact(const ChromeEvent& event, const ChromeEvent* end,
                                       int64_t track_id, ChromeKind kind, const Event& row) {
  if (kind.dynamo != DynamoEvent::kNone)
    return torch_compile_.Add(kind.dynamo, event, end, track_id, row);
  if (kind.role == XRole::kNone) return absl::OkStatus();
  int64_t number = -1;
  if (kind.role == XRole::kStep) {
    number = ProfilerStep(context_.store.Text(row.name));
  } else if (const Value* bytes = event.Arg("bytes")) {
    number = bytes->Int().value_or(-1);
  }
  facts_.Add(XMark{.ts_ns = row.ts_ns,
                   .end_ns = row.ts_ns + std::max<int64_t>(0, row.dur_ns),
                   .role = kind.role,
                   .name = row.name,
                   .number = number,
                   .track_id = track_id,
                   .offset = event.offset,
                   .front = !kind.on_device});
  return absl::OkStatus();
}

absl::Status ChromeRows::AddExportedFact(const ChromeEvent& event, const ChromeEvent* end,
                                         const TraceTrack& track, ChromeKind kind,
                                         const Event& row) {
  const std::string_view name = context_.store.Text(row.name);
  // The export keeps a category of Kineto as an argument.
  if (const Value* of_kineto = event.Arg("cat")) {
    return AddKinetoFact(event, end, track.id, KindOfKineto(json::Decode(*of_kineto), name), row);
  }
  ChromeKind by_name = KindOfXprof(name);
  if (kind.category == Category::kStep) by_name = {Category::kStep, XRole::kStep};
  if (kind.category == Category::kScope) by_name = {Category::kScope, XRole::kScope};
  return xprof_.Add(event, track, xprof_.KindOf(event, track, by_name), row);
}

std::string ChromeRows::PythonShare() const {
  if (python_count_ == 0) return "";
  return fmt::format("{} of {} events ({:.0f} %) are Python calls", python_count_, event_count_,
                     100.0 * double(python_count_) / double(event_count_));
}

absl::Status ChromeRows::Finish(OptText host, OptInt rank) {
  XP_TRY(pairs_.EmitThreads(odd_,
                            [&](const ChromePairs::Pair& pair) { return AddPair(pair, false); }));
  XP_TRY(
      pairs_.EmitAsyncs(odd_, [&](const ChromePairs::Pair& pair) { return AddPair(pair, true); }));
  XP_TRY(tracks_.Finish(std::move(host), rank));
  // Facts of our own export do not say to which of its processes they belong.
  const bool is_sure = writer_ != ChromeWriter::kXlaprof || tracks_.host_processes() <= 1;
  if (has_facts() && is_sure) {
    XP_TRY(torch_compile_.Write(facts_));
    XP_TRY(facts_.Write());
  }
  if (event_count_ == 0) {
    odd_.Count(
        "empty_capture", Severity::kWarning,
        "The trace holds no events: nothing was recorded between its start and its end. Record while at least two steps run.",
        0);
  }
  return odd_.Write(context_);
}

}  // namespace xlaprof
