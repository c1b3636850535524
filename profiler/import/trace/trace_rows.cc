#include "profiler/import/trace/trace_rows.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Numbers of up to kIdBits bits become a flow as they are; the source's id is in the bits from
// kSourceBits on.
constexpr int kIdBits = 38, kSourceBits = 44;

}  // namespace

// The top bit keeps these flows apart from those that are small numbers.
uint64_t MixedFlow(std::initializer_list<uint64_t> parts) {
  uint64_t hash = 0x243f6a8885a308d3;
  for (uint64_t part : parts) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash | uint64_t(1) << 63;
}

uint64_t TraceRows::FlowOfCorrelation(uint64_t correlation) const {
  const uint64_t source = uint64_t(context_.source_id) << kSourceBits;
  if (correlation < uint64_t(1) << kIdBits) return source | correlation;
  return MixedFlow({uint64_t(context_.source_id), correlation});
}

TraceKind TraceRows::KindOf(StringId cat, StringId name) {
  if (kinds_.size() <= name) kinds_.resize(std::max<size_t>(name + 1, 2 * kinds_.size()));
  Named& named = kinds_[name];
  if (named.known && named.cat == cat) [[likely]]
    return named.kind;
  const std::string_view cat_text = context_.store.Text(cat);
  const std::string_view name_text = context_.store.Text(name);
  if (writer_ == TraceWriter::kKineto) tracks_.KernelsMayBeOf(DeviceTypeOf(cat_text));
  named = {true, cat,
           writer_ == TraceWriter::kKineto  ? KindOfKineto(cat_text, name_text)
           : writer_ == TraceWriter::kXprof ? KindOfXprof(name_text)
                                            : KindOfOther(cat_text)};
  return named.kind;
}

// Returns the category that the event has in the store; 0: our own export gave it none.
absl::StatusOr<StringId> TraceRows::CategoryOf(const TraceEvent& event, Category category) {
  if (event.cat == 0 && writer_ == TraceWriter::kXlaprof) return StringId(0);
  StringId& known = categories_[size_t(category)];
  if (known == 0) {
    XP_TRY(known, context_.store.Intern(TextOf(category)));
  }
  return known;
}

absl::StatusOr<StringId> TraceRows::Add(const TraceEvent& event, const TraceArgs& args) {
  TraceKind kind = KindOf(event.cat, event.name);
  TraceTrack* track = event.track;
  if (writer_ == TraceWriter::kXprof && track != nullptr) kind = xprof_.KindOf(args, *track, kind);
  XP_TRY(StringId category, CategoryOf(event, kind.category));
  Event row{.ts_ns = event.ts_ns,
            .dur_ns = event.dur_ns,
            .name = event.name,
            .category = category,
            .flow_in = event.flow_in,
            .flow_out = event.flow_out};
  if (kind.calls_device) {
    row.flow_in = row.flow_out = 0;
    if (const uint64_t number = args.Id("correlation").value_or(0); number != 0)
      (kind.on_device ? row.flow_in : row.flow_out) = FlowOfCorrelation(number);
  }
  XP_TRY(context_.events.Add(event.track_id, row));
  ++event_count_;
  if (kind.category == Category::kPython) ++python_count_;
  if (track != nullptr) {
    ++track->events;
    // Waits that belong to no stream have the process -1.
    if (kind.on_device && !track->is_device && track->process->pid.value_or(0) >= 0) {
      track->is_device = true;
      track->device_type = DeviceTypeOf(context_.store.Text(event.cat));
    }
  }
  StringId given = 0;
  if (event.cat != 0 && event.cat != category) {
    if (cat_key_ == 0) {
      XP_TRY(cat_key_, context_.store.Intern("cat"));
    }
    given = cat_key_;
    context_.events.Label(cat_key_, Text{event.cat});
  }
  if (track != nullptr && has_facts()) XP_TRY(AddFacts(event, args, kind, row));
  return given;
}

absl::Status TraceRows::AddFacts(const TraceEvent& event, const TraceArgs& args, TraceKind kind,
                                 const Event& row) {
  if (writer_ == TraceWriter::kXprof)
    return xprof_.Add(args, *event.track, kind, row, event.offset);
  if (writer_ == TraceWriter::kXlaprof) return AddExportedFact(event, args, kind, row);
  return AddKinetoFact(event, args, kind, row);
}

absl::Status TraceRows::AddKinetoFact(const TraceEvent& event, const TraceArgs& args,
                                      TraceKind kind, const Event& row) {
  if (kind.dynamo != DynamoEvent::kNone)
    return torch_compile_.Add(kind.dynamo, args, event.track_id, row, event.offset);
  if (kind.role == XRole::kNone) return absl::OkStatus();
  const int64_t number = kind.role == XRole::kStep ? ProfilerStep(context_.store.Text(row.name))
                                                   : args.Int("bytes").value_or(-1);
  facts_.Add(XMark{.ts_ns = row.ts_ns,
                   .end_ns = row.ts_ns + std::max<int64_t>(0, row.dur_ns),
                   .role = kind.role,
                   .name = row.name,
                   .number = number,
                   .track_id = event.track_id,
                   .offset = event.offset,
                   .front = !kind.on_device});
  return absl::OkStatus();
}

absl::Status TraceRows::AddExportedFact(const TraceEvent& event, const TraceArgs& args,
                                        TraceKind kind, const Event& row) {
  const std::string_view name = context_.store.Text(row.name);
  // The export keeps a category of Kineto as an argument.
  if (const OptText of_kineto = args.Text("cat"))
    return AddKinetoFact(event, args, KindOfKineto(*of_kineto, name), row);
  TraceKind by_name = KindOfXprof(name);
  if (kind.category == Category::kStep) by_name = {Category::kStep, XRole::kStep};
  if (kind.category == Category::kScope) by_name = {Category::kScope, XRole::kScope};
  return xprof_.Add(args, *event.track, xprof_.KindOf(args, *event.track, by_name), row,
                    event.offset);
}

absl::Status TraceRows::Finish(OptText host, OptInt rank, OddInput& odd) {
  XP_TRY(tracks_.Finish(std::move(host), rank));
  // Facts of our own export do not say to which of its processes they belong.
  const bool is_sure = writer_ != TraceWriter::kXlaprof || tracks_.host_processes() <= 1;
  if (has_facts() && is_sure) {
    XP_TRY(torch_compile_.Write(facts_));
    XP_TRY(facts_.Write());
  }
  if (event_count_ == 0) {
    odd.Count(
        "empty_capture", Severity::kWarning,
        "The trace holds no events: nothing was recorded between its start and its end. Record while at least two steps run.",
        0);
  }
  return absl::OkStatus();
}

std::string TraceRows::PythonShare() const {
  if (python_count_ == 0) return "";
  return fmt::format("{} of {} events ({:.0f} %) are Python calls", python_count_, event_count_,
                     100.0 * double(python_count_) / double(event_count_));
}

absl::Status TraceRows::WriteSettings(bool with_stack, bool profile_memory) {
  const std::string share = PythonShare();
  std::string evidence = share;
  if (writer_ == TraceWriter::kKineto) {
    evidence = "torch.profiler(with_stack=True) records Python's stack at each operator";
    if (!share.empty()) evidence += "; " + share;
  }
  if (!share.empty()) {
    XP_TRY(WriteSetting(SettingName::kPythonTracer, std::move(evidence)));
  } else if (with_stack) {
    XP_TRY(WriteSetting(SettingName::kWithStack, std::move(evidence)));
  }
  if (!profile_memory) return absl::OkStatus();
  return WriteSetting(SettingName::kProfileMemory,
                      "torch.profiler(profile_memory=True) records each allocation");
}

absl::Status TraceRows::WriteSetting(SettingName name, std::string evidence) {
  XP_TRY(int64_t process_id, context_.ProcessId());
  return context_.store.Add(SettingRow{process_id, name, "on", std::move(evidence)}).status();
}

}  // namespace xlaprof
