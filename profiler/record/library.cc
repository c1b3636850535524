// The C functions of include/xlaprof/record.h. A scope or slice lives in the caller's memory.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "profiler/record/categories.h"
#include "profiler/record/current.h"
#include "profiler/record/record.h"

struct xlaprof_recording {
  xlaprof::Recording recording;
};

namespace xlaprof {
namespace {

// These types are part of the library's interface, and their members must stay where they are.
static_assert(sizeof(Trace) <= sizeof(xlaprof_scope) && alignof(Trace) <= alignof(xlaprof_scope));
static_assert(sizeof(AsyncTrace) <= sizeof(xlaprof_slice) &&
              alignof(AsyncTrace) <= alignof(xlaprof_slice));
static_assert(sizeof(StepTrace) == sizeof(Trace));
static_assert(int{XLAPROF_MAX_ARGS} == record::kMaxArgs);
static_assert(offsetof(xlaprof_site, kind) == 36 && sizeof(xlaprof_site) == 88);

std::string& LastError() {
  thread_local std::string error;
  return error;
}

std::string_view TextOf(const char* text) { return text != nullptr ? text : ""; }

// Returns whether a site of the user's is recorded while its category is on.
bool IsOff(Site& site) { return site.category != nullptr && !record::IsOn(site); }
bool IsRecording() { return record::recording.load(std::memory_order_relaxed) != 0; }

// Returns the object in the caller's memory, if it began.
Trace& TraceIn(xlaprof_scope* scope) {
  return *std::launder(reinterpret_cast<Trace*>(scope->words));
}
AsyncTrace& TraceIn(xlaprof_slice* slice) {
  return *std::launder(reinterpret_cast<AsyncTrace*>(slice->words));
}
// The first word of a scope or slice, which is not 0 if it began.
using Word [[gnu::may_alias]] = uint64_t;
template <class Event>
Word& FirstWord(Event* event) {
  return *reinterpret_cast<Word*>(event->words);
}
template <class Event>
bool HasBegun(Event* event) {
  return FirstWord(event) != 0;
}

record::Value ValueOf(uint32_t type, uint64_t bits) {
  return {bits, type > XLAPROF_TEXT ? uint32_t{XLAPROF_UINT} : type};
}

}  // namespace

extern "C" {

xlaprof_recording* xlaprof_start(const char* path, const xlaprof_options* given) {
  LastError().clear();
  RecordOptions options;
  if (given != nullptr) {
    // A program that was compiled with an earlier header has fewer members.
    xlaprof_options all{};
    std::memcpy(&all, given, std::min(given->struct_bytes, sizeof all));
    if (all.ring_bytes != 0) options.ring_bytes = all.ring_bytes;
    if (all.commit_interval_ns != 0) options.commit_interval_ns = all.commit_interval_ns;
    options.label = TextOf(all.label);
  }
  auto recording = StartRecording(TextOf(path), std::move(options));
  if (!recording.ok()) {
    LastError() = Message(recording.status());
    return nullptr;
  }
  return new xlaprof_recording{*std::move(recording)};
}

int xlaprof_stop(xlaprof_recording* recording, xlaprof_stats* stats) {
  LastError().clear();
  if (recording == nullptr) {
    LastError() = "xlaprof_stop: there is no recording. xlaprof_start returned NULL";
    return -1;
  }
  auto stopped = recording->recording.Stop();
  delete recording;
  if (!stopped.ok()) {
    LastError() = Message(stopped.status());
    return -1;
  }
  if (stats != nullptr) {
    const xlaprof_stats all{stats->struct_bytes,     stopped->events,  stopped->dropped,
                            stopped->forked,         stopped->threads, stopped->drain_cpu_ns,
                            stopped->committed_bytes};
    std::memcpy(stats, &all, std::min(stats->struct_bytes, sizeof all));
  }
  return 0;
}

int xlaprof_commit(const char* copy, xlaprof_current* current) {
  LastError().clear();
  const auto now = copy != nullptr ? CopyRecording(copy) : CommitRecording();
  if (absl::IsNotFound(now.status())) return 1;
  if (!now.ok()) {
    LastError() = Message(now.status());
    return -1;
  }
  if (current == nullptr) return 0;
  thread_local std::string path;
  path = now->path.string();
  const RecordStats& stats = now->stats;
  const xlaprof_current all{current->struct_bytes,
                            path.c_str(),
                            now->now_ns,
                            {sizeof(xlaprof_stats), stats.events, stats.dropped, stats.forked,
                             stats.threads, stats.drain_cpu_ns, stats.committed_bytes}};
  std::memcpy(current, &all, std::min(current->struct_bytes, sizeof all));
  return 0;
}

const char* xlaprof_error(void) { return LastError().c_str(); }

void xlaprof_name_thread(const char* name) { NameThread(TextOf(name)); }
void xlaprof_name_process(const char* name) { NameProcess(TextOf(name)); }

void xlaprof_switch_categories(const char* switches) {
  record::Categories::Get().Apply(TextOf(switches));
}
int xlaprof_category_is_on(const char* category) {
  return __atomic_load_n(record::Categories::Get().SwitchOf(TextOf(category)), __ATOMIC_RELAXED) !=
         0;
}

void xlaprof_scope_begin(xlaprof_scope* scope, xlaprof_site* site) {
  if (!IsRecording() || IsOff(*site)) {
    FirstWord(scope) = 0;
  } else {
    new (scope->words) Trace(*site);
  }
}
void xlaprof_scope_begin_named(xlaprof_scope* scope, const char* name, size_t bytes) {
  new (scope->words) Trace(std::string_view(name, bytes));
}
void xlaprof_step_begin(xlaprof_scope* scope, xlaprof_site* site, int64_t number) {
  if (!IsRecording() || IsOff(*site)) {
    FirstWord(scope) = 0;
  } else {
    new (scope->words) StepTrace(*site, number);
  }
}
void xlaprof_step_begin_named(xlaprof_scope* scope, const char* name, size_t bytes,
                              int64_t number) {
  new (scope->words) StepTrace(std::string_view(name, bytes), number);
}
void xlaprof_scope_arg(xlaprof_scope* scope, uint32_t key, uint32_t type, uint64_t bits) {
  if (HasBegun(scope)) TraceIn(scope).Put(key, ValueOf(type, bits));
}
void xlaprof_scope_flow_out(xlaprof_scope* scope, uint64_t flow) {
  if (HasBegun(scope)) TraceIn(scope).FlowOut(flow);
}
void xlaprof_scope_flow_in(xlaprof_scope* scope, uint64_t flow) {
  if (HasBegun(scope)) TraceIn(scope).FlowIn(flow);
}
void xlaprof_scope_end(xlaprof_scope* scope) {
  if (!HasBegun(scope)) return;
  TraceIn(scope).~Trace();
  FirstWord(scope) = 0;
}

void xlaprof_slice_begin(xlaprof_slice* slice, xlaprof_site* site, uint32_t track) {
  if (!IsRecording() || IsOff(*site)) {
    FirstWord(slice) = 0;
  } else {
    new (slice->words) AsyncTrace(*site, Track(track));
  }
}
void xlaprof_slice_begin_named(xlaprof_slice* slice, const char* name, size_t bytes,
                               uint32_t track) {
  new (slice->words) AsyncTrace(std::string_view(name, bytes), Track(track));
}
void xlaprof_slice_arg(xlaprof_slice* slice, uint32_t key, uint32_t type, uint64_t bits) {
  if (HasBegun(slice)) TraceIn(slice).Put(key, ValueOf(type, bits));
}
void xlaprof_slice_end(xlaprof_slice* slice) {
  if (HasBegun(slice)) TraceIn(slice).End();
}

void xlaprof_counter(xlaprof_site* site, double value) {
  if (IsRecording() && !IsOff(*site)) Counter(*site, value);
}
void xlaprof_counter_named(const char* name, size_t bytes, double value) {
  Counter(std::string_view(name, bytes), value);
}
void xlaprof_instant(xlaprof_site* site) {
  if (IsRecording() && !IsOff(*site)) Instant(*site);
}
void xlaprof_instant_named(const char* name, size_t bytes) {
  Instant(std::string_view(name, bytes));
}

uint32_t xlaprof_text(const char* text, size_t bytes) {
  return RecordedString(std::string_view(text, bytes));
}

}  // extern "C"

}  // namespace xlaprof
