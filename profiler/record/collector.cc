#include "profiler/record/collector.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "profiler/record/forked.h"
#include "profiler/record/record.h"
#include "profiler/store/open_scope.h"

namespace xlaprof::record {
namespace {

// Returns the sum of a count over all segments. Another process may have written the ring, so the
// sum wraps instead of overflowing.
uint64_t SumOver(RingFile& file, std::atomic<uint64_t> ThreadHeader::* count) {
  uint64_t sum = 0;
  for (const Segment& segment : file.segments())
    sum += (segment.header->*count).load(std::memory_order_relaxed);
  return sum;
}

static_assert(size_t{kMaxArgs} * EventWriter::kChunkEvents <= kChunkArguments);
// Slots are prefetched this far ahead, because they lie in another core's cache or in no cache. A
// prefetch beyond the ends of the ring does nothing.
constexpr ptrdiff_t kSlotsAhead = 40;

// Returns a site's category. Anybody may have written the file, so unknown numbers become kScope.
Category CategoryOf(const SiteEntry* site) {
  return site != nullptr && site->category < kCategoryCount ? Category(site->category)
                                                            : Category::kScope;
}

// Returns whether `a` comes before `b`, as EventBefore does. If both have the same times, the outer
// one comes first. An open event ends last.
bool Before(const Slot* a, const Slot* b) {
  if (a->begin != b->begin) return a->begin < b->begin;
  return a->end != b->end ? a->end - 1 > b->end - 1 : a->depth() < b->depth();
}

// Returns how many of the dropped events found no room because the disk could not be written.
uint64_t DroppedByDisk(RingFile& file) {
  return std::min(SumOver(file, &ThreadHeader::dropped_by_disk),
                  SumOver(file, &ThreadHeader::dropped));
}

}  // namespace

int64_t WaitingEvents(const RingFile& file) {
  int64_t events = 0;
  for (const Segment& segment : file.segments()) {
    const ThreadHeader& header = *segment.header;
    const uint64_t tail = header.tail.load(std::memory_order_acquire);
    uint64_t at = header.head.load(std::memory_order_relaxed);
    if (tail - at > SlotsBelow(header.level.load(std::memory_order_acquire) + 1)) continue;
    Segment::Stretch stretch = segment.From(at);
    for (; at < tail; ++events) {
      if (at >= stretch.end) stretch = segment.From(at);
      const Slot& slot = stretch[at];
      at += 1 + (slot.plain() ? 0 : uint64_t(slot.arg_slots()));
    }
  }
  return events;
}

int64_t DroppedEvents(RingFile& file) {
  return int64_t(file.header().ringless_events.load(std::memory_order_relaxed) +
                 SumOver(file, &ThreadHeader::dropped));
}

Collector::Collector(Store& store, RingFile& file, Clock& clock, int64_t recording_id,
                     int64_t process_id)
    : store_(store),
      file_(file),
      clock_(clock),
      recording_id_(recording_id),
      process_id_(process_id),
      rows_(store.db()),
      samples_(store),
      threads_(kMaxSegments),
      losses_{
          {"dropped_events",
           "Events were dropped, because they came faster than they could be written. Times summed by name are too low. Set XLAPROF_RING_BYTES to more than 16777216, or record fewer scopes.",
           [](RingFile& file) {
             return SumOver(file, &ThreadHeader::dropped) - DroppedByDisk(file);
           },
           0},
          {"unwritten_events",
           "Events were dropped, because the disk could not be written, for example because it was full. Times summed by name are too low. Free space on the disk, or record elsewhere.",
           DroppedByDisk, 0},
          {"unrecorded_events",
           "Events of some threads were not recorded, because those threads had no ring. Times summed by name are too low. Free space on the disk, or record elsewhere.",
           [](RingFile& file) { return file.header().ringless_events.load(); }, 0},
          {kForkedEvents, kForkedEventsAdvice,
           [](RingFile& file) { return file.header().forked_events.load(); }, 0},
          {"lost_texts",
           "The recording's tables were full, so some names or argument texts were replaced by \"(not kept: ...)\". Record numbers instead of texts that differ each time.",
           [](RingFile& file) { return file.header().lost_texts.load(); }, 0},
          {"dropped_arguments", "Scopes keep eight arguments. Further ones were dropped.",
           [](RingFile& file) { return SumOver(file, &ThreadHeader::dropped_args); }, 0}} {
  strings_.reserve(256);
  sites_.reserve(256);
}

absl::Status Collector::Restore() {
  XP_TRY(store_.Each(
      "SELECT segment, first_slot, track_id, taken_slots, events FROM recording_thread WHERE "
      "recording_id = ?1 ORDER BY first_slot",
      [&](int64_t segment, int64_t first, int64_t track_id, int64_t taken, int64_t events) {
        if (segment < 0 || segment >= int64_t(threads_.size())) return;
        Thread& thread = threads_[size_t(segment)];
        thread.first = uint64_t(first), thread.track_id = track_id;
        thread.taken = uint64_t(taken), thread.events = events;
        ++thread_count_, events_ += events;
      },
      recording_id_));
  for (const auto& [kind, tracks] :
       {std::pair("counter", &counter_tracks_), std::pair("async", &slice_tracks_)}) {
    XP_TRY(store_.Each(
        "SELECT id, name FROM track WHERE process_id = ?1 AND kind = ?2 ORDER BY id DESC",
        [&](int64_t id, std::string name) -> absl::Status {
          XP_TRY(StringId text, store_.Intern(name));
          (*tracks)[text] = id;
          return absl::OkStatus();
        },
        process_id_, std::string_view(kind)));
  }
  XP_TRY(auto steps, store_.One<int64_t>("SELECT max(ordinal) + 1 FROM step WHERE process_id = ?1",
                                         process_id_));
  next_step_ = steps.value_or(0);
  for (Loss& loss : losses_) {
    XP_TRY(auto told, store_.One<int64_t>("SELECT count FROM import_issue i JOIN process p ON "
                                          "p.source_id = i.source_id WHERE p.id = ?1 AND code = ?2",
                                          process_id_, loss.code));
    loss.told = uint64_t(told.value_or(0));
  }
  return absl::OkStatus();
}

absl::Status Collector::TellLosses() {
  for (Loss& loss : losses_) {
    const uint64_t count = loss.count(file_);
    if (count <= loss.told) continue;
    XP_TRY(auto source,
           store_.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process_id_));
    XP_TRY(store_.AddIssue(source, loss.code, Severity::kWarning, loss.advice, {}, {},
                           int64_t(count - loss.told)));
    loss.told = count;
  }
  return absl::OkStatus();
}

int64_t Collector::dropped() const { return DroppedEvents(file_); }

bool Collector::finished(uint32_t segment) const {
  const ThreadHeader& header = *file_.segments()[segment].header;
  return header.ended.load(std::memory_order_acquire) != 0 &&
         header.tail.load(std::memory_order_acquire) == threads_[segment].taken &&
         DroppedOf(segment) == threads_[segment].dropped;
}

// Returns the count of dropped events of the thread whose slots are being taken. If another thread
// has the segment now, the count stays as it was.
int64_t Collector::DroppedOf(uint32_t segment) const {
  const ThreadHeader& header = *file_.segments()[segment].header;
  const uint64_t before = header.dropped_before.load(std::memory_order_acquire);
  const uint64_t dropped = header.dropped.load(std::memory_order_relaxed);
  if (header.first.load(std::memory_order_acquire) != threads_[segment].first)
    return threads_[segment].dropped;
  return int64_t(dropped - before);
}

bool Collector::has_news() const {
  for (uint32_t i = 0; i < file_.segments().size(); ++i) {
    const Thread& thread = threads_[i];
    if (thread.changed || (thread.track_id != 0 && DroppedOf(i) != thread.dropped)) return true;
  }
  return std::ranges::any_of(losses_,
                             [&](const Loss& loss) { return loss.count(file_) > loss.told; });
}

// Adds a track for a thread that was not seen before. Its segment is new, or another thread has
// left it.
absl::Status Collector::Begin(uint32_t segment) {
  Thread& thread = threads_[segment];
  const ThreadHeader& header = *file_.segments()[segment].header;
  thread.first = header.first.load();
  thread.taken = std::max(thread.taken, thread.first);
  thread.events = thread.dropped = 0;
  ++thread_count_;
  thread.name = header.name.load(std::memory_order_acquire);
  const std::string_view name = file_.String(thread.name);
  const std::string_view device = file_.String(header.device.load(std::memory_order_acquire));
  TrackRow track{.process_id = process_id_,
                 .kind = TrackKind::kHostThread,
                 .name = std::string(name),
                 .tid = device.empty() ? OptInt(header.tid.load()) : OptInt(),
                 .sort = int64_t(segment)};
  if (!device.empty()) {
    track.kind = TrackKind::kDevice;
    track.name = device;
    track.device = track.name;
  } else if (name.empty()) {
    track.name = fmt::format("thread {}", header.tid.load());
  }
  XP_TRY(thread.track_id, store_.Add(track));
  return absl::OkStatus();
}

// Updates the track's name, because a thread may be named after its first event.
absl::Status Collector::Rename(uint32_t segment) {
  Thread& thread = threads_[segment];
  const ThreadHeader& header = *file_.segments()[segment].header;
  const uint32_t name = header.name.load(std::memory_order_acquire);
  if (thread.track_id == 0 || name == thread.name || name == 0 || header.device.load() != 0 ||
      header.first.load(std::memory_order_acquire) != thread.first)
    return absl::OkStatus();
  thread.name = name;
  return store_.Run("UPDATE track SET name = ?2 WHERE id = ?1", thread.track_id,
                    file_.String(name));
}

absl::StatusOr<uint64_t> Collector::Take(uint32_t segment, uint64_t max_slots) {
  const Segment& from = file_.segments()[segment];
  Thread& thread = threads_[segment];
  const uint64_t tail = from.header->tail.load(std::memory_order_acquire);
  const uint64_t first = from.header->first.load(std::memory_order_acquire);
  if (tail == thread.taken && thread.first == first) return 0;
  if (thread.first != first) {
    if (tail == first) return 0;
    XP_TRY(Begin(segment));
  }
  const uint64_t most = SlotsBelow(from.header->level.load(std::memory_order_acquire) + 1);
  if (tail - thread.taken > most) {
    return DataLoss("{}: the rings of a thread hold {} slots, but its header claims that {} wait",
                    file_.path().string(), most, tail - thread.taken);
  }
  const uint64_t begin = thread.taken, end = std::min(tail, begin + max_slots);
  const size_t first_new = thread.slots.size();
  uint64_t at = begin;
  int64_t events = 0;
  bool damaged = false;
  Segment::Stretch stretch = from.From(at);
  for (uint64_t next = 0; at < end; at = next, ++events) {
    if (at >= stretch.end) stretch = from.From(at);
    const Slot& slot = stretch[at];
    __builtin_prefetch(&stretch[at + kSlotsAhead]);
    next = at + 1;
    if (!slot.plain()) {
      next += uint64_t(slot.arg_slots());
      damaged = slot.arg_slots() > kMaxArgs / 2 || next > tail;
      if (damaged) break;
      if (slot.kind() == kCounter) {
        XP_TRY(AddCounter(slot));
        continue;
      }
      if (slot.kind() == kSlice) {
        XP_TRY(AddSlice(from, slot));
        continue;
      }
    }
    thread.slots.push_back(&slot);
  }
  if (thread.slots.size() > first_new) {
    thread.last_begin = thread.slots.back()->begin, thread.last_site = thread.slots.back()->site();
    last_end_ = std::max(last_end_, thread.slots.back()->end);
    if (!open_.empty()) {
      for (const Slot* slot : std::span(thread.slots).subspan(first_new))
        Forget(slot->begin, slot->site());
    }
  }
  thread.taken = at;
  thread.changed = true;
  thread.events += events, events_ += events, pending_ += size_t(events);
  if (damaged) {
    return DataLoss("{}: slot {} of part {} is not an event", file_.path().string(), at, segment);
  }
  return at - begin;
}

absl::Status Collector::AddCounter(const Slot& slot) {
  XP_TRY(Sited * site, SiteOf(slot.site()));
  if (site->counter_track == 0) {
    int64_t& track = counter_tracks_[site->name];
    if (track == 0) {
      XP_TRY(track, store_.Add(TrackRow{.process_id = process_id_,
                                        .kind = TrackKind::kCounter,
                                        .name = std::string(store_.Text(site->name))}));
    }
    site->counter_track = track;
  }
  return samples_.Counter(site->counter_track, clock_.Ns(slot.begin),
                          std::bit_cast<double>(slot.value));
}

absl::StatusOr<int64_t> Collector::TrackOf(StringId name) {
  int64_t& track = slice_tracks_[name];
  if (track == 0) {
    XP_TRY(track, store_.Add(TrackRow{.process_id = process_id_,
                                      .kind = TrackKind::kAsync,
                                      .name = std::string(store_.Text(name))}));
  }
  return track;
}

absl::Status Collector::AddSlice(const Segment& from, const Slot& slot) {
  XP_TRY(const Sited* found, SiteOf(slot.site()));
  const Sited site = *found;
  StringId track_name = site.name;
  if (slot.value != 0) {
    XP_TRY(track_name, StringOf(uint32_t(slot.value)));
  }
  XP_TRY(const int64_t track, TrackOf(track_name));
  const int64_t ts_ns = clock_.Ns(slot.begin);
  const auto length_ns = int64_t(uint64_t(clock_.Ns(slot.end)) - uint64_t(ts_ns));
  XP_TRY(samples_.Add(track, Event{.ts_ns = ts_ns,
                                   .dur_ns = std::max<int64_t>(0, length_ns),
                                   .name = site.name,
                                   .category = site.category}));
  if (site.file != 0) {
    samples_.Arg(file_key_, Text{site.file});
    samples_.Arg(line_key_, site.line);
  }
  if (site.label != 0) samples_.Arg(label_key_, Text{site.label});
  return EachArg(from, slot, [&](StringId key, ArgType type, uint64_t bits) {
    if (type > ArgType::kString) return;  // a slice has no flows
    switch (type) {
      case ArgType::kInt:
        return samples_.Arg(key, int64_t(bits));
      case ArgType::kDouble:
        return samples_.Arg(key, std::bit_cast<double>(bits));
      case ArgType::kString:
        return samples_.Arg(key, Text{StringId(bits)});
      default:
        return samples_.Arg(key, bits);
    }
  });
}

bool Collector::has_open(uint32_t segment) const {
  const ThreadHeader& header = *file_.segments()[segment].header;
  const uint32_t depth = header.depth.load(std::memory_order_acquire);
  if (header.open_deeper.load(std::memory_order_relaxed) > 0) return true;
  const auto open = std::span(header.open).first(std::min<size_t>(depth, ThreadHeader::kMaxOpen));
  return std::ranges::any_of(open, [](const auto& one) { return one.begin.load() != 0; });
}

void Collector::LookForOpen() {
  for (uint32_t i = 0; i < file_.segments().size(); ++i) {
    const ThreadHeader& header = *file_.segments()[i].header;
    const uint32_t depth = header.depth.load(std::memory_order_acquire);
    for (uint32_t at = 0; at < std::min<uint32_t>(depth, ThreadHeader::kMaxOpen); ++at) {
      const uint64_t begin = header.open[at].begin.load(std::memory_order_acquire);
      if (begin == 0) continue;  // it has ended already
      const uint32_t site = header.open[at].site.load();
      const bool is_step = (site & ThreadHeader::Opened::kIsStep) != 0;
      const uint32_t id = site & ~ThreadHeader::Opened::kIsStep;
      open_.emplace(
          std::pair(begin, id),
          std::pair(i, Slot{.begin = begin,
                            .end = 0,
                            .value = is_step ? header.open[at].step.load() : 0,
                            .what = Slot::What(id, uint16_t(at), is_step ? kStep : kScope)}));
    }
  }
  // Forgets each thread's last scope if it was published but not yet closed; the thread has
  // published nothing after it.
  for (const Thread& thread : threads_) Forget(thread.last_begin, thread.last_site);
}

void Collector::Forget(uint64_t begin, uint32_t site) {
  if (auto open = open_.find({begin, site}); open != open_.end()) open_.erase(open);
}

absl::Status Collector::TakeOpen(OptInt alive_ns) {
  std::map<uint32_t, std::vector<Slot>> by_segment;
  for (const auto& [place, open] : open_) by_segment[open.first].push_back(open.second);
  if (alive_ns && !open_.empty()) {
    // The process also ran when its last scopes began and ended.
    alive_ns_ = std::max(*alive_ns, clock_.Ns(std::max(last_end_, open_.rbegin()->first.first)));
    XP_TRY(open_key_, store_.Intern(kOpenNsArgument));
  }
  open_.clear();
  for (auto& [segment, slots] : by_segment) {
    Thread& thread = threads_[segment];
    if (thread.first != file_.segments()[segment].header->first.load()) XP_TRY(Begin(segment));
    // Sorts the scopes into the order in which they would end.
    std::ranges::sort(slots, std::greater(), &Slot::depth);
    thread.open = std::move(slots);
    for (const Slot& slot : thread.open) thread.slots.push_back(&slot);
    const auto count = int64_t(thread.open.size());
    thread.events += count, events_ += count, pending_ += size_t(count);
    thread.changed = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<StringId> Collector::StringOf(uint32_t id) {
  if (id > kStringBytes) id = 0;  // no table can hold so many
  if (id >= strings_.size()) strings_.resize(id + 1);
  if (strings_[id] == 0) {
    XP_TRY(strings_[id], store_.Intern(file_.String(id)));
  }
  return strings_[id];
}

absl::StatusOr<Collector::Sited*> Collector::SiteOf(uint32_t id) {
  if (id > kMaxSites) id = 0;
  if (id >= sites_.size()) sites_.resize(id + 1);
  Sited& sited = sites_[id];
  if (sited.known) return &sited;
  const SiteEntry* site = file_.Site(id);
  XP_TRY(sited.name, StringOf(site == nullptr ? 0 : site->name));
  XP_TRY(sited.category, store_.Intern(TextOf(CategoryOf(site))));
  if (file_key_ == 0) {
    XP_TRY(file_key_, store_.Intern("source_file"));
    XP_TRY(line_key_, store_.Intern("source_line"));
    XP_TRY(label_key_, store_.Intern("category"));
  }
  if (site != nullptr && site->line > 0) {
    XP_TRY(sited.file, StringOf(site->file));
    sited.line = site->line;
  }
  if (site != nullptr && site->label != 0) {
    XP_TRY(sited.label, StringOf(site->label));
  }
  AddPlace(sited);
  sited.known = true;
  return &sited;
}

// Stores a site's place and the user's category with its name. If one name is used at two places or
// in two categories, neither is stored, because it would be wrong for the other.
void Collector::AddPlace(const Sited& site) {
  std::vector<BufferedArg> args;
  if (site.file != 0) {
    args.push_back({site.file, file_key_, ArgType::kString});
    args.push_back({uint64_t(site.line), line_key_, ArgType::kInt});
  }
  if (site.label != 0) args.push_back({site.label, label_key_, ArgType::kString});
  if (args.empty()) return;
  auto [place, added] = places_->try_emplace(site.name, args);
  if (added) return;
  const bool same_label = std::ranges::any_of(place->second, [&](const BufferedArg& arg) {
    return arg.key == label_key_ && arg.bits == site.label;
  });
  std::erase_if(place->second,
                [&](const BufferedArg& arg) { return arg.key != label_key_ || !same_label; });
}

absl::Status Collector::WriteEvents() {
  for (uint32_t i = 0; i < file_.segments().size(); ++i)
    XP_TRY(WriteThread(threads_[i], file_.segments()[i]));
  pending_ = 0;
  return absl::OkStatus();
}

absl::Status Collector::Write() {
  XP_TRY(WriteEvents());
  for (uint32_t i = 0; i < file_.segments().size(); ++i) {
    Thread& thread = threads_[i];
    XP_TRY(Rename(i));
    const int64_t dropped = DroppedOf(i);
    if (thread.track_id == 0 || (!thread.changed && dropped == thread.dropped)) continue;
    thread.dropped = dropped;
    XP_TRY(store_.Run(
        "INSERT INTO recording_thread VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE "
        "SET taken_slots = ?5, events = ?6, dropped = ?7",
        recording_id_, int64_t(i), int64_t(thread.first), thread.track_id, int64_t(thread.taken),
        thread.events, dropped));
    thread.changed = false;
  }
  XP_TRY(WriteSteps());
  XP_TRY(TellLosses());
  return samples_.Flush();
}

absl::Status Collector::WriteSteps() {
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const StepRow& a, const StepRow& b) { return *a.ts_ns < *b.ts_ns; });
  for (StepRow& step : steps_) {
    step.ordinal = next_step_++;
    XP_TRY(store_.Add(step));
  }
  steps_.clear();
  return absl::OkStatus();
}

// Sorts slots by their begins. They come in the order in which scopes end. They are read backwards,
// and a scope waits as long as it may enclose the next one; the innermost is last in the queue. A
// scope that began after the next one cannot enclose it, and is placed.
void Collector::SortByBegin(std::span<const Slot*> slots) {
  if (waiting_.size() < slots.size()) waiting_.resize(slots.size());
  const Slot** const none = waiting_.data();
  const Slot** waiting = none;  // points behind the innermost
  const Slot** place = slots.data() + slots.size();
  uint64_t earliest = UINT64_MAX;
  bool nested = true;
  auto place_innermost = [&] {
    *--place = *--waiting;
    nested &= (*place)->begin <= earliest;
    earliest = (*place)->begin;
  };
  for (const Slot** next = place; next != slots.data();) {
    const Slot* slot = *--next;
    __builtin_prefetch(slot - kSlotsAhead);
    while (waiting != none && !Before(waiting[-1], slot)) place_innermost();
    *waiting++ = slot;
  }
  while (waiting != none) place_innermost();
  if (!nested) std::stable_sort(slots.begin(), slots.end(), Before);  // device events may overlap
}

absl::Status Collector::WriteThread(Thread& thread, const Segment& from) {
  SortByBegin(thread.slots);
  for (size_t at = 0; at < thread.slots.size(); at += EventWriter::kChunkEvents) {
    const size_t count = std::min<size_t>(thread.slots.size() - at, EventWriter::kChunkEvents);
    XP_TRY(WriteChunk(thread.track_id, from, std::span(thread.slots).subspan(at, count)));
  }
  thread.slots.clear();
  thread.open.clear();
  return absl::OkStatus();
}

absl::Status Collector::WriteChunk(int64_t track_id, const Segment& from,
                                   std::span<const Slot* const> slots) {
  EventColumns& events = chunk_.events;
  events.Resize(slots.size());
  chunk_.first_arg.clear();
  chunk_.args.clear();
  // These are read once, because the compiler cannot know that writing to one column does not move
  // another.
  int64_t* const ts_ns = events.ts_ns.data();
  int64_t* const dur_ns = events.dur_ns.data();
  StringId* const name = events.name.data();
  StringId* const category = events.category.data();
  uint16_t* const depth = events.depth.data();
  std::span<const Sited> sites = sites_;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = *slots[i];
    __builtin_prefetch(&slot + kSlotsAhead);
    size_t site = slot.site();
    if (site >= sites.size() || !sites[site].known) [[unlikely]] {
      XP_TRY(const Sited* found, SiteOf(slot.site()));
      sites = sites_;
      site = size_t(found - sites.data());
    }
    ts_ns[i] = clock_.Ns(slot.begin);
    // The subtraction is unsigned because the ends of a damaged slot may differ by more than
    // int64_t holds.
    const auto length_ns = int64_t(uint64_t(clock_.Ns(slot.end)) - uint64_t(ts_ns[i]));
    dur_ns[i] = slot.end == 0 ? kUnknownDuration : std::max<int64_t>(0, length_ns);
    name[i] = sites[site].name;
    category[i] = sites[site].category;
    depth[i] = slot.depth();
    if (!slot.plain() || slot.end == 0) XP_TRY(AddRest(from, slot, i));
  }
  if (!chunk_.first_arg.empty())
    chunk_.first_arg.resize(slots.size(), uint32_t(chunk_.args.size()));
  chunk_.track_id = track_id;
  chunk_.name_args = places_;
  packer_.Pack(chunk_, &packed_);
  return rows_.Insert(packed_);
}

void Collector::SetFlow(std::vector<uint64_t>& column, size_t at, uint64_t flow) {
  column.resize(chunk_.events.size);
  column[at] = flow;
}

// Adds the parts that few events have beside time and name. `at` is the event's index in its chunk.
absl::Status Collector::AddRest(const Segment& from, const Slot& slot, size_t at) {
  EventColumns& events = chunk_.events;
  if (slot.bits() & kFlowIn) SetFlow(events.flow_in, at, slot.value);
  if (slot.bits() & kFlowOut) SetFlow(events.flow_out, at, slot.value);
  if (slot.kind() == kStep) {
    steps_.push_back({.process_id = process_id_,
                      .number = int64_t(slot.value),
                      .name = std::string(store_.Text(events.name[at])),
                      .ts_ns = events.ts_ns[at],
                      .dur_ns = slot.end == 0 ? OptInt() : OptInt(events.dur_ns[at])});
  }
  const bool was_open = slot.end == 0 && alive_ns_;
  if (slot.args() == 0 && !was_open) return absl::OkStatus();
  chunk_.first_arg.resize(at + 1, uint32_t(chunk_.args.size()));  // those in between have none
  if (was_open) {
    // The subtraction is unsigned because times of a damaged file may differ by more than int64_t
    // holds.
    const auto open_ns = int64_t(uint64_t(*alive_ns_) - uint64_t(events.ts_ns[at]));
    chunk_.args.push_back({uint64_t(std::max<int64_t>(0, open_ns)), open_key_, ArgType::kInt});
    return absl::OkStatus();  // the arguments of a scope are written when it ends
  }
  return AddArgs(from, slot, at);
}

// Calls `fn` with the key, type and bits of each argument. Flows have the key 0, and the type
// kFlowInType or kFlowOutType.
template <class Fn>
absl::Status Collector::EachArg(const Segment& from, const Slot& slot, Fn fn) {
  // An event and its arguments lie in one ring.
  const auto place = uint64_t(&slot - from.slots);
  const auto level = uint32_t(std::bit_width(place / kSmallestRing + 1)) - 1;
  const Slot* const ring = from.slots + SlotsBelow(level);
  const uint64_t at_in_ring = place - SlotsBelow(level), mask = SlotsAt(level) - 1;
  for (int i = 0; i < std::min(slot.args(), kMaxArgs); ++i) {
    ArgSlot pair;
    std::memcpy(&pair, &ring[(at_in_ring + 1 + uint64_t(i) / 2) & mask], sizeof pair);
    uint64_t bits = pair.bits[i % 2];
    if (pair.type[i % 2] == kFlowInType || pair.type[i % 2] == kFlowOutType) {
      fn(0, ArgType(pair.type[i % 2]), bits);
      continue;
    }
    XP_TRY(const StringId key, StringOf(pair.key[i % 2]));
    const auto type = ArgType(std::min<uint8_t>(pair.type[i % 2], 3));
    if (type == ArgType::kString) {
      XP_TRY(bits, StringOf(uint32_t(bits)));
    }
    fn(key, type, bits);
  }
  return absl::OkStatus();
}

absl::Status Collector::AddArgs(const Segment& from, const Slot& slot, size_t at) {
  return EachArg(from, slot, [&](StringId key, ArgType type, uint64_t bits) {
    if (uint32_t(type) == kFlowInType || uint32_t(type) == kFlowOutType) {
      const bool is_in = uint32_t(type) == kFlowInType;
      SetFlow(is_in ? chunk_.events.flow_in : chunk_.events.flow_out, at, bits);
    } else {
      chunk_.args.push_back({bits, key, type});
    }
  });
}

}  // namespace xlaprof::record
