#include "profiler/import/perfetto/perfetto_survey.h"

#include <algorithm>
#include <tuple>

#include "profiler/import/perfetto/perfetto_packets.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/trace/trace_rows.h"

namespace xlaprof::pftrace {
namespace {

struct Link {
  uint32_t from, to;
  auto operator<=>(const Link&) const = default;
};

}  // namespace

int64_t Flows::Connect(const Clocks& clocks, int64_t source_id) {
  for (Use& use : uses_) use.ns = clocks.ToTrace(use.clock, use.ns).value_or(use.ns);
  std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
    return std::tie(a.id, a.ns, a.event) < std::tie(b.id, b.ns, b.event);
  });
  std::vector<Link> links;
  for (size_t i = 1; i < uses_.size(); ++i) {
    const Use& from = uses_[i - 1];
    if (from.id == uses_[i].id && !from.last && from.event != uses_[i].event)
      links.push_back({from.event, uses_[i].event});
  }
  uses_ = {};
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  if (links.empty()) return 0;

  // A flow has the number of the event that it leaves, so that it may enter several. If several
  // flows enter one event and each of them enters no other, they have the number of that event.
  struct Counts {
    uint32_t in = 0, out = 0;
    bool shared = false;  // a flow that enters this event enters others, too
  };
  std::vector<uint32_t> events;
  for (const Link& link : links) events.insert(events.end(), {link.from, link.to});
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  auto place = [&](uint32_t event) {
    return size_t(std::lower_bound(events.begin(), events.end(), event) - events.begin());
  };
  std::vector<Counts> counts(events.size());
  for (const Link& link : links) ++counts[place(link.from)].out, ++counts[place(link.to)].in;
  for (const Link& link : links) counts[place(link.to)].shared |= counts[place(link.from)].out > 1;
  ends_.resize(events.size());
  for (size_t i = 0; i < events.size(); ++i) ends_[i].event = events[i];
  int64_t left_out = 0;
  for (const Link& link : links) {
    Ends& from = ends_[place(link.from)].ends;
    Ends& to = ends_[place(link.to)].ends;
    const Counts& entered = counts[place(link.to)];
    const bool by_target = entered.in > 1 && !entered.shared;
    const uint64_t number =
        MixedFlow({uint64_t(source_id), by_target ? link.to : link.from, by_target});
    if (to.in != 0 && to.in != number) {
      ++left_out;
      continue;
    }
    from.out = number;
    to.in = number;
  }
  return left_out;
}

namespace {

// Names and units are cut here; longer ones are damage.
constexpr size_t kMaxNameBytes = 4096;

std::string NameOf(std::string_view text) { return ToUtf8(text.substr(0, kMaxNameBytes)); }

std::string UnitOf(const TrackDescriptor& track) {
  if (!track.unit_name.empty()) return NameOf(track.unit_name);
  switch (track.unit) {
    case 1:
      return "ns";
    case 2:
      return "occurrences";
    case 3:
      return "bytes";
    default:
      return "";
  }
}

}  // namespace

uint64_t UuidOfThread(int64_t pid, int64_t tid) {
  // Writers make uuids with hashes; the top bits keep these apart from small ones.
  return (uint64_t(pid) * 0x9e3779b97f4a7c15 ^ uint64_t(tid)) | uint64_t(3) << 62;
}

Survey::Survey(std::string_view file, int64_t source_id) {
  PacketReader packets(file);
  Packet packet;
  while (packets.Next(&packet)) Take(packet);
  RelateClocks();
  flows_left_out_ = flows_.Connect(clocks_, source_id);
  sequences_.clear();
  if (is_own_) {
    writer_ = TraceWriter::kXlaprof;
  } else if (is_kineto_) {
    writer_ = TraceWriter::kKineto;
  } else if (is_xprof_) {
    writer_ = TraceWriter::kXprof;
  }
}

TrackInfo& Survey::TrackOfUuid(uint64_t uuid) {
  if (last_track_ != nullptr && last_track_->uuid == uuid) [[likely]]
    return *last_track_;
  std::unique_ptr<TrackInfo>& track = tracks_[uuid];
  if (track == nullptr) {
    track = std::make_unique<TrackInfo>();
    track->uuid = uuid;
  }
  last_track_ = track.get();
  return *track;
}

void Survey::Take(const Packet& packet) {
  Sequence& sequence = sequences_[packet.sequence];
  sequence.Take(packet);
  if (!packet.snapshot.empty()) TakeSnapshot(packet);
  if (!packet.interned.empty()) {
    (void)EachText(packet.interned, [&](Texts kind, uint64_t, std::string_view text) {
      SeeText(kind, text);
      return absl::OkStatus();
    });
  }
  if (TrackDescriptor track; !packet.track.empty() && Decode(packet.track, &track))
    TakeTrack(track);
  if (Thread thread; !packet.thread.empty() && Decode(packet.thread, &thread)) {
    TrackDescriptor track{.uuid = UuidOfThread(thread.pid, thread.tid)};
    track.is_thread = true;
    track.pid = thread.pid;
    track.tid = thread.tid;
    track.thread_name = thread.name;
    TakeTrack(track);
  }
  if (!packet.event.empty()) {
    TakeEvent(packet, sequence);
  } else if (packet.snapshot.empty()) {
    MomentOf(packet, nullptr, sequence, readings_);
  }
}

void Survey::TakeSnapshot(const Packet& packet) {
  constexpr size_t kMaxClocks = 1024;
  std::vector<std::pair<ClockKey, int64_t>> snapshot;
  readings_.Read(packet.snapshot, packet.sequence, [&](ClockKey key, int64_t ns) {
    if (key != 0 && snapshot.size() < kMaxClocks) snapshot.emplace_back(key, ns);
  });
  clocks_.Add(std::move(snapshot));
  wire::Reader in(packet.snapshot);
  while (in.Next()) {
    if (in.Is(2, wire::kVarint) && primary_clock_ == 0) primary_clock_ = uint32_t(in.uint());
  }
}

void Survey::TakeTrack(const TrackDescriptor& track) {
  TrackInfo& info = TrackOfUuid(track.uuid);
  info.described = true;
  if (track.has_parent) info.parent = track.parent, info.has_parent = true;
  if (track.is_process || track.is_thread) info.pid = track.pid;
  if (track.is_thread) info.tid = track.tid, info.is_thread = true;
  if (track.is_process) {
    info.is_process = true;
    auto& [name, labels] = processes_[track.pid];
    if (!track.process_name.empty()) name = NameOf(track.process_name);
    if (!track.labels.empty()) {
      labels.clear();
      for (std::string_view label : track.labels)
        labels += (labels.empty() ? "" : ", ") + NameOf(label);
    }
    is_xprof_ |= name == "/host:CPU" || name.starts_with("/device:");
  }
  if (track.is_counter) {
    info.is_counter = true;
    info.unit = UnitOf(track);
    info.multiplier = track.multiplier == 0 ? 1 : track.multiplier;
    info.incremental = track.incremental;
  }
  if (track.rank != 0) info.rank = track.rank;
  const std::string_view name =
      track.is_thread && !track.thread_name.empty() ? track.thread_name : track.name;
  if (!name.empty()) info.name = NameOf(name);
  is_own_ |= info.name == kOwnGroup && !info.has_parent && !info.is_thread;
}

void Survey::TakeEvent(const Packet& packet, Sequence& sequence) {
  const uint32_t number = event_count_++;
  const bool is_whole = Decode(packet.event, &event_);
  const std::optional<Moment> moment = MomentOf(packet, &event_, sequence, readings_);
  if (!is_whole || !moment || sequence.Lacks(packet)) return;
  const auto [clock, ns] = *moment;
  if (!is_kineto_) {
    for (std::string_view category : event_.categories) SeeText(Texts::kCategories, category);
    if (event_.has_name) SeeText(Texts::kNames, event_.name);
  }
  if (used_clock_ == nullptr || last_clock_ != clock) {
    std::unique_ptr<Used>& used = used_[clock];
    if (used == nullptr) used = std::make_unique<Used>();
    used_clock_ = used.get();
    last_clock_ = clock;
  }
  Used& used = *used_clock_;
  ++used.events;
  used.first_ns = std::min(used.first_ns, ns);
  for (uint64_t flow : event_.flows) flows_.Add(flow, number, clock, ns, false);
  for (uint64_t flow : event_.last_flows) flows_.Add(flow, number, clock, ns, true);
  TrackInfo& track = TrackOfUuid(TrackOf(event_, sequence));
  if (track.last_ns == INT64_MIN) track.clock = clock;
  if (track.clock != clock || ns < track.last_ns) track.in_order = false;
  track.last_ns = ns;
}

// Notes by which program's names the file goes (trace_kind.h).
void Survey::SeeText(Texts kind, std::string_view text) {
  if (kind == Texts::kCategories)
    is_kineto_ |= text == "cpu_op" || text == "cuda_runtime" || text == "dynamo_timed";
  if (kind == Texts::kNames) is_kineto_ |= text.starts_with("ProfilerStep#");
}

void Survey::RelateClocks() {
  clocks_.Relate(primary_clock_ != 0 ? primary_clock_ : kBoottime);
  const bool any_known =
      std::ranges::any_of(used_, [&](const auto& one) { return clocks_.Knows(one.first); });
  if (!any_known && !used_.empty()) {
    // No event has a time of the trace's clock. Then the clock that most of them have is taken.
    const auto most =
        std::max_element(used_.begin(), used_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second->events, b.first) < std::pair(b.second->events, a.first);
        });
    clocks_.Relate(most->first);
  }
  for (const auto& [clock, used] : used_) {
    const std::optional<int64_t> ns = clocks_.ToTrace(clock, used->first_ns);
    if (ns) first_ns_ = std::min(first_ns_.value_or(INT64_MAX), *ns);
  }
}

std::string Survey::ProcessName(int64_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? "" : found->second.first;
}

std::string Survey::ProcessLabels(int64_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? "" : found->second.second;
}

}  // namespace xlaprof::pftrace
