#include "profiler/record/drain.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock_ns.h"
#include "base/numbers.h"
#include "base/sqlite_files.h"
#include "base/unfinished_file.h"
#include "profiler/record/mapped_path.h"
#include "profiler/record/marked_steps.h"
#include "profiler/record/own_streams.h"
#include "profiler/record/recover.h"
#include "profiler/record/sites.h"
#include "profiler/record/truncation.h"

namespace xlaprof::record {
namespace {

// If events come fast, this many make a chunk.
constexpr size_t kWriteEvents = EventWriter::kChunkEvents;
// If this share of the largest ring waits for COMMIT, the drain commits without waiting for the
// interval.
constexpr uint64_t kCrowdedPart = 8;
constexpr auto kPollTime = std::chrono::milliseconds(1);
// After an error the store is reopened at this interval.
constexpr auto kRetryTime = std::chrono::milliseconds(200);
// A thread's ring is kept free of page faults for this many slots ahead.
constexpr uint64_t kLeastReadySlots = 2048, kReadySlots = (size_t(4) << 20) / sizeof(Slot);
// The drain checks at this interval that the store's file is still there. If the file is deleted,
// SQLite goes on writing to a file that nobody can find.
constexpr int64_t kLookNs = 500'000'000;

// Returns the rank that launch(), torchrun and others give to a process by RANK and WORLD_SIZE.
OptInt RankOfProcess() {
  const char* const rank = std::getenv("RANK");
  if (rank == nullptr || std::getenv("WORLD_SIZE") == nullptr) return {};
  return ParseInteger(rank);
}

std::string ProgramName() {
  return program_invocation_short_name != nullptr ? program_invocation_short_name : "program";
}

}  // namespace

Drain::Drain(std::filesystem::path path, std::string given, RecordOptions options, Store store,
             std::unique_ptr<RingFile> file, int64_t origin_ns, uint32_t number)
    : path_(std::move(path)),
      given_(std::move(given)),
      options_(std::move(options)),
      store_(std::move(store)),
      file_(std::move(file)),
      origin_ns_(origin_ns),
      number_(number),
      identity_(IdentityOf(path_)),
      clock_(file_->header().first) {}

absl::Status Drain::Start() {
  if (absl::Status added = AddRows(); !added.ok()) {
    file_->Unlink();
    store_.reset();
    RemoveFile(path_, identity_);
    return added;
  }
  Collect();
  RuntimeFacts::Get().Take();  // drops facts from before the recording
  facts_.emplace(process_id_, origin_ns_);
  // The rate of the counter must be known before the first event is written.
  timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  nanosleep(&pause, nullptr);
  AddAnchor();
  if (auto network = store_->Meta("network_file_system"); network.ok() && *network)
    Tell(fmt::format("{}: {}", path_.string(), **network));
  // The thread blocks all signals, because they are for the program's threads: for their handlers,
  // or for a thread that waits in sigwait.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);  // truncation.h handles it, also on this thread
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return absl::OkStatus();
}

absl::StatusOr<RecordStats> Drain::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  thread_.join();
  requests_->Answer(UINT64_MAX, Stats());  // later requests need not wait
  RecordStats stats;
  if (error_.ok()) error_ = Finish(&stats);
  if (!error_.ok() && gone_.ok()) {  // the program may have closed the store's descriptors
    Recover();
    if (error_.ok()) error_ = Finish(&stats);
  }
  if (!gone_.ok() && left_ != Left::kParts) file_->Unlink();
  if (!error_.ok()) {
    file_->header().is_unwritten = 1;
    error_ = WhatIsLost();
  }
  collector_.reset();
  store_.reset();
  file_->Release();
  disk_fails = false;
  if (!error_.ok()) return error_;
  return stats;
}

// Returns the error that ended the recording, with the number of events that no readable store has.
absl::Status Drain::WhatIsLost() const {
  const std::string_view why = Message(error_);
  const int64_t waiting = WaitingEvents(*file_);
  std::string text(why);
  if (is_complete_) {
    text += fmt::format(
        ". Its last events are in {}-wal. Run `xlaprof recover {}` once the disk works again",
        path_.string(), path_.string());
  } else if (gone_.ok()) {
    text += fmt::format(
        ". The last {} events are in {}. Run `xlaprof recover {}` to add them once the disk works again",
        waiting, file_->path().string(), path_.string());
  } else if (left_ == Left::kNothing) {
    text += fmt::format(". {} events are lost", committed_ + waiting + DroppedEvents(*file_));
  } else if (waiting > 0) {
    text += fmt::format(". The last {} events are not in the store", waiting);
  }
  return absl::Status(error_.code(), text);
}

absl::Status Drain::AddRows() {
  XP_TRY(store_->Begin());
  XP_TRY(store_->SetMeta("base_epoch_ns", fmt::to_string(file_->header().base_epoch_ns)));
  const std::string label = options_.label.empty() ? ProgramName() : options_.label;
  XP_TRY(store_->SetMeta("run_label", label));
  XP_TRY(store_->SetMeta("clock", uses_tsc.load() ? "tsc" : "monotonic"));
  XP_TRY(int64_t run_id, store_->Add(RunRow{.label = label,
                                            .started_epoch_ns = file_->header().base_epoch_ns,
                                            .selected = true,
                                            .why = "recorded"}));
  XP_TRY(int64_t source_id, store_->Add(SourceRow{.path = given_,
                                                  .format = "recording",
                                                  .clock_offset_ns = 0,
                                                  .imported = true,
                                                  .kind = SourceKind::kTimed}));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  XP_TRY(process_id_, store_->Add(ProcessRow{.run_id = run_id,
                                             .source_id = source_id,
                                             .host = std::string(host),
                                             .pid = getpid(),
                                             .rank = RankOfProcess(),
                                             .name = ProgramName()}));
  XP_TRY(recording_id_, store_->Add(RecordingRow{.process_id = process_id_,
                                                 .ring = file_->path().filename().string(),
                                                 .ring_key = file_->Key(),
                                                 .clock = uses_tsc.load() ? "tsc" : "monotonic"}));
  XP_TRY(store_->Commit());
  return store_->Begin();
}

std::unique_ptr<Ring> Drain::NewRing() {
  std::lock_guard lock(mutex_);
  Segment segment;
  if (!free_segments_.empty()) {
    segment = file_->segments()[free_segments_.back()];
    free_segments_.pop_back();
    ThreadHeader& header = *segment.header;
    header.first.store(header.tail.load(), std::memory_order_release);
    header.dropped_before.store(header.dropped.load(), std::memory_order_release);
    header.depth.store(0);
    header.open_deeper.store(0);
    header.name.store(0);
    header.device.store(0);
    header.ended.store(0);
  } else {
    auto added = file_->AddSegment();
    if (!added.ok()) {
      if (!std::exchange(told_ringless_, true)) {
        Tell(fmt::format(
            "one thread cannot be recorded at the moment, so its events are counted as dropped: {}",
            std::string_view(Message(added.status()))));
      }
      return nullptr;
    }
    segment = *added;
  }
  // glibc has the function gettid only since 2.30.
  const pid_t thread = pid_t(syscall(SYS_gettid));
  segment.header->tid = thread;
  if (thread == getpid()) segment.header->name.store(Sites::Get().String("main", Sites::kMadeName));
  return std::make_unique<Ring>(number_, segment.header, segment.slots);
}

void Drain::RenameProcess(std::string_view name) {
  std::lock_guard lock(mutex_);
  new_name_ = name;
}

absl::StatusOr<RecordStats> Drain::Stats() const {
  if (!error_.ok()) return error_;
  return RecordStats{.events = collector_->events(),
                     .dropped = collector_->dropped(),
                     .forked = int64_t(file_->header().forked_events.load()),
                     .threads = collector_->threads(),
                     .drain_cpu_ns = drain_cpu_ns_};
}

// Adds an anchor when nothing waits to be written, so that the times of one write come from one
// line, or when the machine has slept.
void Drain::AddAnchor() {
  FileHeader& header = file_->header();
  const Anchor anchor = Clock::ReadAnchor(origin_ns_);
  clock_.Add(anchor);
  const uint32_t count = header.anchor_count.load(std::memory_order_relaxed);
  header.newest[(count + 1) % 2] = anchor;
  header.ns_per_tick.store(clock_.ns_per_tick(), std::memory_order_relaxed);
  header.anchor_count.store(count + 1, std::memory_order_release);
}

absl::Status Drain::WriteName() {
  std::optional<std::string> name;
  {
    std::lock_guard lock(mutex_);
    name = std::exchange(new_name_, std::nullopt);
  }
  if (!name) return absl::OkStatus();
  return store_->Run("UPDATE process SET name = ?2 WHERE id = ?1", process_id_, *name);
}

absl::Status Drain::Commit() {
  XP_TRY(WriteName());
  XP_TRY(facts_->Write(*store_));
  if (!collector_->has_news() && !facts_->has_news()) {
    AddAnchor();
    last_commit_ns_ = ClockNs(CLOCK_MONOTONIC);
    return absl::OkStatus();
  }
  XP_TRY(collector_->Write());
  XP_TRY(store_->Run("UPDATE recording SET drain_cpu_ns = ?2 WHERE id = ?1", recording_id_,
                     ClockNs(CLOCK_THREAD_CPUTIME_ID)));
  XP_TRY(store_->Commit());
  facts_->Committed();
  committed_ = collector_->events();
  XP_TRY(store_->Begin());
  for (uint32_t i = 0; i < file_->segments().size(); ++i)
    file_->segments()[i].header->head.store(collector_->taken(i), std::memory_order_release);
  AddAnchor();
  last_commit_ns_ = ClockNs(CLOCK_MONOTONIC);
  return absl::OkStatus();
}

absl::Status Drain::Look() {
  if (!gone_.ok()) return gone_;
  const std::string path = path_.string(), name = path_.filename().string(),
                    ring = file_->path().filename().string();
  if (WasTruncated()) {
    End(Left::kStore,
        fmt::format(
            "{}: the ring of the recording, {}, was truncated by another program. The recording ended there, and the last events are lost. What was committed before can be read",
            path, ring));
    return gone_;
  }
  if (IdentityOf(path_) == identity_) return absl::OkStatus();
  if (const std::filesystem::path now = MappedPath(identity_); !now.empty()) {
    absl::Status ended = EndHere();
    // The log is at the old place.
    if (ended.ok()) ended = store_->Exec("PRAGMA wal_checkpoint(TRUNCATE)");
    if (ended.ok()) {
      End(Left::kStore,
          fmt::format(
              "{}: was moved to {} during the recording, which ended there. What was recorded until then can be read. Move it after the program has ended",
              path, now.string()));
    } else {
      End(Left::kParts,
          fmt::format(
              "{}: was moved to {} during the recording, which ended there, because nothing can be written to it any more ({}). Move {}-wal and {} beside it, and run `xlaprof recover`",
              path, now.string(), std::string_view(Message(ended)), name, ring));
    }
  } else if (const absl::Status written = WriteAgain(); written.ok()) {
    End(Left::kStore,
        fmt::format(
            "{}: was deleted, or moved to another file system, during the recording, which ended there. What was recorded until then was written to {} again. Move it after the program has ended",
            path, name));
  } else {
    End(Left::kNothing,
        fmt::format(
            "{}: was deleted, replaced, or moved to another file system during the recording, and could not be written again ({}). The recording ended there. Its events are lost, unless it was moved together with the files beside it, {}-wal and {}. Record to a folder that is not cleaned up",
            path, std::string_view(Message(written)), name, ring));
  }
  return gone_;
}

// Ends the recording before it is stopped.
void Drain::End(Left left, std::string why) {
  left_ = left;
  gone_ = absl::NotFoundError(why);
  uint32_t number = number_;
  recording.compare_exchange_strong(number, 0);
}

// Commits what waits, as the last. SQLite still writes to the file and to its log, wherever they are.
absl::Status Drain::EndHere() {
  XP_TRY(Commit());
  XP_TRY(store_->Run("UPDATE recording SET ended = 1 WHERE id = ?1", recording_id_));
  return store_->Commit();
}

// Writes the store, whose file has no name any more, to its path. Closes it if that succeeds.
absl::Status Drain::WriteAgain() {
  if (IdentityOf(path_).exists) return Invalid("another file has its name");
  if (!collector_) return IoError("it could not be opened again after an error");
  XP_TRY(EndHere());
  XP_TRY(UnfinishedFile again, UnfinishedFile::Create(path_));
  XP_TRY(store_->Run("VACUUM INTO ?1", again.path().string()));
  collector_.reset();
  store_.reset();
  // A reader would take the deleted file's log for the new file's.
  std::error_code error;
  for (const char* suffix : kSqliteSuffixes)
    std::filesystem::remove(path_.string() + suffix, error);
  return again.Finish();
}

// Populates the ring ahead of a thread, so that page faults hit this thread and not the recorded
// ones.
void Drain::KeepReady(uint32_t segment) {
  const Segment& of = file_->segments()[segment];
  if (ready_.size() <= segment) ready_.resize(segment + 1);
  const uint64_t tail = of.header->tail.load(std::memory_order_relaxed);
  const uint32_t level = of.header->level.load(std::memory_order_relaxed);
  Ready& ready = ready_[segment];
  if (ready.level != level) {
    ready = {level, level == of.header->first_level ? SlotsAt(level) : tail};
  }
  // Populates more the more the thread has written, because most threads write little.
  const uint64_t ahead =
      std::min(SlotsAt(level), std::clamp(tail - of.header->first.load(std::memory_order_relaxed),
                                          kLeastReadySlots, kReadySlots));
  const uint64_t from = std::max(ready.slot, tail);
  if (tail + ahead < from + ahead / 2) return;
  file_->Populate(of, from, tail + ahead - from);
  ready.slot = tail + ahead;
}

// Takes what is published, a chunk at a time. Commits when a ring fills, or when events have waited
// for long, because a COMMIT costs as much as some ten thousand events.
absl::Status Drain::Round(bool all) {
  const bool is_due = ClockNs(CLOCK_MONOTONIC) - last_look_ns_ >= kLookNs;
  if (WasTruncated() || all || is_due) {
    last_look_ns_ = ClockNs(CLOCK_MONOTONIC);
    XP_TRY(Look());
  }
  if (clock_.HasJumped({Now(), ClockNs(CLOCK_MONOTONIC) - origin_ns_})) AddAnchor();
  file_->header().ringless_events.store(ringless_events.load() - ringless_before_);
  const std::span<const Segment> segments = file_->segments();
  bool more = true;
  // If many threads have ended, commits early, because their memory is free for new threads only
  // then.
  constexpr ptrdiff_t kManyEnded = 8;
  bool crowded = std::ranges::count_if(segments, [](const Segment& segment) {
                   return segment.header->ended.load(std::memory_order_relaxed) == 1;
                 }) >= kManyEnded;
  while (more) {
    more = false;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      KeepReady(i);
      const uint64_t room = kWriteEvents - collector_->pending();
      XP_TRY(uint64_t slots, collector_->Take(i, room));
      more |= slots >= room;
      const ThreadHeader& header = *segments[i].header;
      const uint64_t waiting =
          header.tail.load(std::memory_order_relaxed) - header.head.load(std::memory_order_relaxed);
      // A ring that cannot grow, because the disk is full, is emptied early.
      const uint64_t ring = SlotsAt(header.level.load(std::memory_order_relaxed));
      const bool drops = header.dropped.load(std::memory_order_relaxed) !=
                         header.dropped_before.load(std::memory_order_relaxed);
      crowded |= waiting > SlotsAt(file_->levels() - 1) / kCrowdedPart ||
                 (drops && waiting > ring / kCrowdedPart);
      if (collector_->pending() < kWriteEvents) continue;
      XP_TRY(collector_->WriteEvents());
      if (std::exchange(crowded, false)) XP_TRY(Commit());
    }
  }
  const int64_t waited_ns = ClockNs(CLOCK_MONOTONIC) - last_commit_ns_;
  if (all || crowded || waited_ns >= options_.commit_interval_ns) XP_TRY(Commit());
  FreeSegments();
  return absl::OkStatus();
}

// Gives the memory of ended threads to new ones. Scopes that they left open may end on another
// thread, or are written at the end, so the memory of some such threads is kept.
void Drain::FreeSegments() {
  constexpr int kMostKept = 64;
  int kept = 0;
  const std::span<const Segment> segments = file_->segments();
  std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < segments.size(); ++i) {
    ThreadHeader& header = *segments[i].header;
    if (header.ended.load(std::memory_order_acquire) == 1 && collector_->finished(i) &&
        header.head.load(std::memory_order_relaxed) == collector_->taken(i)) {
      if (collector_->has_open(i) && ++kept <= kMostKept) continue;
      header.ended.store(2);
      free_segments_.push_back(i);
    }
  }
}

// Reopens the store after an error. Events that were not committed are still in the rings.
void Drain::Recover() {
  if (error_ = Look(); !error_.ok()) return;
  collector_.reset();
  store_.reset();
  auto opened = Store::OpenForWriting(path_);
  if (!opened.ok()) {
    error_ = opened.status();
    return;
  }
  store_.emplace(*std::move(opened));
  facts_->RolledBack();
  Collect();
  error_ = collector_->Restore();
  if (error_.ok()) error_ = store_->Begin();
}

// Does a round. If that fails, reopens the store and tries once more at once, because the program
// may only have closed the store's descriptors, as daemons do.
void Drain::Attempt(bool all) {
  for (int tries = error_.ok() ? 2 : 1; tries > 0; --tries) {
    if (!error_.ok()) Recover();
    if (error_.ok()) error_ = Round(all);
    if (error_.ok() || !gone_.ok()) break;
  }
  // An error that the thread met in a truncated ring follows from that.
  if (!error_.ok() && WasTruncated()) error_ = Look();
  disk_fails = !error_.ok() && gone_.ok();
}

void Drain::Run() {
  pthread_setname_np(pthread_self(), "xlaprof record");
  last_commit_ns_ = ClockNs(CLOCK_MONOTONIC);
  while (true) {
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, error_.ok() ? kPollTime : kRetryTime, [&] { return stopping_; });
      last = stopping_;
    }
    const CommitRequests::Waiting waiting = requests_->waiting();
    Attempt(last || waiting.any);
    drain_cpu_ns_ = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    if (waiting.any) requests_->Answer(waiting.asked, Stats());
    if (!error_.ok() && !std::exchange(told_, true)) {
      Tell(fmt::format(
          "{}{}", std::string_view(Message(error_)),
          gone_.ok()
              ? ". The program continues. Events that wait for the disk stay in memory while there is room, and are then dropped and counted"
              : ""));
    }
    if (last) return;
  }
}

// Writes everything that was completed. If that succeeds, a second call only closes the store.
absl::Status Drain::Finish(RecordStats* stats) {
  if (!is_complete_) XP_TRY(Complete(stats));
  is_complete_ = true;
  collector_.reset();
  store_->Rollback();  // Recover begins a transaction
  XP_TRY(store_->CloseLog());
  file_->Finish(forked_);
  std::error_code none;
  stats->committed_bytes = int64_t(std::filesystem::file_size(path_, none));
  return absl::OkStatus();
}

absl::Status Drain::Complete(RecordStats* stats) {
  forked_ = file_->header().forked_events;
  XP_TRY(WriteName());
  XP_TRY(facts_->Write(*store_));
  // exit() does not leave blocks, so scopes may still be open. Other threads that go on are still
  // in theirs, or end them meanwhile.
  collector_->LookForOpen();
  for (uint32_t i = 0; i < file_->segments().size(); ++i) {
    while (true) {
      XP_TRY(uint64_t slots, collector_->Take(i, kWriteEvents));
      if (slots == 0) break;
      XP_TRY(collector_->WriteEvents());
    }
  }
  XP_TRY(collector_->TakeOpen());
  XP_TRY(collector_->Write());  // also writes what was dropped since
  XP_TRY(UniteSteps(*store_, process_id_));
  XP_TRY(*stats, Stats());
  XP_TRY(store_->Run("UPDATE recording SET ended = 1, drain_cpu_ns = ?2 WHERE id = ?1",
                     recording_id_, drain_cpu_ns_));
  return store_->Commit();
}

}  // namespace xlaprof::record
