// Records scopes, steps, counters and slices of a C++17 or C program into one file, which
// `xlaprof report` and all other commands read. Link xlaprof::record (CMake) or xlaprof
// (pkg-config).
//
//   #include <xlaprof/record.h>
//
//   int main() {
//     xlaprof::Recording recording("run.xlaprof");  // or XLAPROF_RECORD=run.xlaprof ./program
//     for (int step = 0; step < 100; ++step) {
//       XLAPROF_STEP("train", step);
//       XLAPROF_TRACE("forward", "layer", 7);  // until the end of the block
//       XLAPROF_COUNTER("loss", loss);
//     }
//   }
//
// A scope costs two reads of the clock, two function calls and about a nanosecond. A full ring drops
// events and counts them; it never blocks. If a process is killed, the events that it had completed
// are in the ring file beside the store, and `xlaprof recover run.xlaprof` adds them. Compiled with
// XLAPROF_NO_RECORD, the macros and classes leave no code.
//
// Environment: XLAPROF_RECORD=PATH records the whole program to PATH, in which %p stands for the
// process id. If PATH is a directory, the file in it is PROGRAM.NUMBER.xlaprof, or
// PROGRAM.NUMBER.2.xlaprof and so on if that exists. If PATH does not exist, it becomes a
// directory, with its parents, if it ends in a slash, or if its name has neither an extension nor
// %p: `runs`, but not `run.xlaprof`. XLAPROF_REPORT=1 prints the findings when the program ends. It
// runs XLAPROF_PROGRAM if that is set. Otherwise it runs the `xlaprof` that was installed with this
// library, that is beside the program, or that is on the system's PATH. XLAPROF_CATEGORIES switches
// categories off and on (xlaprof_switch_categories).
//
// Everything here may be called from any thread, but not from a signal handler. Names are UTF-8.
// Leave scopes the way C++ does: a scope that longjmp leaves stays open in the recording. A child
// that was forked from a recorded process records into a file of its own if XLAPROF_RECORD names a
// directory. Otherwise its events are counted, and the parent's report says how many are missing.
#ifndef XLAPROF_RECORD_H
#define XLAPROF_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define XLAPROF_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// ---- Recording ----

// Options of a recording. Set struct_bytes to sizeof(xlaprof_options). Other members that are 0 have
// their defaults.
typedef struct xlaprof_options {
  size_t struct_bytes;
  // Most bytes of a recording thread's ring: a power of two, at least 4096. A ring begins with
  // 64 KiB and doubles when it is full. 16 MiB unless given.
  size_t ring_bytes;
  // An event is committed at most this long after it was completed. 100 ms unless given.
  int64_t commit_interval_ns;
  const char* label;  // the run's label; the program's name unless given
} xlaprof_options;

// Counts of what a recording holds. Set struct_bytes to sizeof(xlaprof_stats).
typedef struct xlaprof_stats {
  size_t struct_bytes;
  int64_t events;           // events committed
  int64_t dropped;          // events whose ring was full, or that had no ring
  int64_t forked;           // events of forked children, which are not recorded here
  int64_t threads;          // threads that recorded
  int64_t drain_cpu_ns;     // CPU time of the writing thread
  int64_t committed_bytes;  // size of the store's file
} xlaprof_stats;

typedef struct xlaprof_recording xlaprof_recording;

// Starts to record all threads of this process into a new store at `path`. `options` may be NULL.
// Returns NULL if the file exists, if it cannot be created, or if another recording runs;
// xlaprof_error then says why.
XLAPROF_API xlaprof_recording* xlaprof_start(const char* path, const xlaprof_options* options);
// Ends the recording, and frees it. Everything completed before is then in the store, which is a
// single file. `stats` may be NULL. Returns 0, or -1 if the store could not be written; xlaprof_error
// then says why.
XLAPROF_API int xlaprof_stop(xlaprof_recording* recording, xlaprof_stats* stats);
// The recording that runs in this process, whoever started it. Set struct_bytes to
// sizeof(xlaprof_current).
typedef struct xlaprof_current {
  size_t struct_bytes;
  const char* path;     // the store; valid until the calling thread's next xlaprof_commit
  int64_t now_ns;       // the time of the call, as the store has times
  xlaprof_stats stats;  // up to the commit
} xlaprof_current;
// Commits everything that was completed until now. If `copy` is not NULL, then copies the store to
// that new file. Other code of this process must not open the store itself while its recording
// runs, unless it uses this library's SQLite: closing a file would release the recording's locks.
// Returns 0, 1 if nothing is being recorded, or -1 if it failed; xlaprof_error then says why.
XLAPROF_API int xlaprof_commit(const char* copy, xlaprof_current* current);
// Returns why the calling thread's last call of a function above failed, or "". The text is valid
// until the thread's next call of one.
XLAPROF_API const char* xlaprof_error(void);

// Names the calling thread's track. Before the thread's first event, the name is kept until then.
XLAPROF_API void xlaprof_name_thread(const char* name);
// Names this process in this recording and later ones. Until then it has the program's name.
XLAPROF_API void xlaprof_name_process(const char* name);

// ---- Categories ----

// Switches categories off and on, as the environment's XLAPROF_CATEGORIES does before the program
// begins. `switches` is a list with commas, applied from left to right: `-io` switches category io
// off, `io` switches it on, and * stands for all categories. "-*,io" records only what is in
// category io, or in none. All categories are on unless switched off.
XLAPROF_API void xlaprof_switch_categories(const char* switches);
// Returns 1 if a category is on, and 0 if it is off.
XLAPROF_API int xlaprof_category_is_on(const char* category);

// ---- Events ----

enum { XLAPROF_SCOPE_SITE = 0, XLAPROF_STEP_SITE = 1, XLAPROF_COUNTER_SITE = 2 };
enum { XLAPROF_INT = 0, XLAPROF_UINT = 1, XLAPROF_DOUBLE = 2, XLAPROF_TEXT = 3 };
enum { XLAPROF_MAX_ARGS = 8 };

// A place that events come from: one object per place, with static storage. XLAPROF_SITE makes one.
typedef struct xlaprof_site {
  const char* name;
  const char* file;
  const char* function;
  const char* category;  // NULL: none, so that the site cannot be switched off
  int32_t line;          // 0: unknown
  uint32_t kind;         // XLAPROF_SCOPE_SITE and so on
  // The library sets the following members, which begin as 0.
  uint32_t id;
  uint32_t keys[XLAPROF_MAX_ARGS];
  const uint32_t* is_on;
} xlaprof_site;

// The memory of a scope. It may be uninitialised before it begins, and must not move until it ends.
typedef struct xlaprof_scope {
  uint64_t words[24];
} xlaprof_scope;

// A scope begins here and ends on the same thread; scopes nest.
XLAPROF_API void xlaprof_scope_begin(xlaprof_scope* scope, xlaprof_site* site);
XLAPROF_API void xlaprof_scope_begin_named(xlaprof_scope* scope, const char* name, size_t bytes);
// A step is a scope with the user's number, which the report counts as a step.
XLAPROF_API void xlaprof_step_begin(xlaprof_scope* scope, xlaprof_site* site, int64_t number);
XLAPROF_API void xlaprof_step_begin_named(xlaprof_scope* scope, const char* name, size_t bytes,
                                          int64_t number);
// Adds an argument to a scope that is open. `key` is the number that xlaprof_text returned, and
// `type` one of XLAPROF_INT and so on. `bits` are those of an int64_t, a uint64_t or a double, or the
// number of a text. Arguments beyond XLAPROF_MAX_ARGS are dropped and counted.
XLAPROF_API void xlaprof_scope_arg(xlaprof_scope* scope, uint32_t key, uint32_t type,
                                   uint64_t bits);
// Draws an arrow from a scope to the scopes that call xlaprof_scope_flow_in with the same number, on
// any thread. A scope has room for one. A step's flow, and the second flow of a scope, count as
// arguments.
XLAPROF_API void xlaprof_scope_flow_out(xlaprof_scope* scope, uint64_t flow);
XLAPROF_API void xlaprof_scope_flow_in(xlaprof_scope* scope, uint64_t flow);
XLAPROF_API void xlaprof_scope_end(xlaprof_scope* scope);

// The memory of an asynchronous slice. It may be copied while the slice is open, if only one copy
// is ended. All zeros are a slice that did not begin.
typedef struct xlaprof_slice {
  uint64_t words[24];
} xlaprof_slice;

// An asynchronous slice begins here and ends on any thread; such slices overlap. It lies on the
// track that `track` names, which is a number that xlaprof_text returned, or on the track of its
// own name if `track` is 0. It is recorded when it ends.
XLAPROF_API void xlaprof_slice_begin(xlaprof_slice* slice, xlaprof_site* site, uint32_t track);
XLAPROF_API void xlaprof_slice_begin_named(xlaprof_slice* slice, const char* name, size_t bytes,
                                           uint32_t track);
XLAPROF_API void xlaprof_slice_arg(xlaprof_slice* slice, uint32_t key, uint32_t type,
                                   uint64_t bits);
XLAPROF_API void xlaprof_slice_end(xlaprof_slice* slice);

// Records a value at this moment. Integers beyond 2^53 are rounded, and a NaN is a value that is
// not known.
XLAPROF_API void xlaprof_counter(xlaprof_site* site, double value);
XLAPROF_API void xlaprof_counter_named(const char* name, size_t bytes, double value);
// Records a moment.
XLAPROF_API void xlaprof_instant(xlaprof_site* site);
XLAPROF_API void xlaprof_instant_named(const char* name, size_t bytes);

// Returns the number of a text, for keys and values of arguments and for tracks. It is valid until
// the process ends. Each call looks the text up.
XLAPROF_API uint32_t xlaprof_text(const char* text, size_t bytes);

#ifdef __cplusplus
}  // extern "C"
#endif

#define XLAPROF_JOIN_(a, b) a##b
#define XLAPROF_JOIN(a, b) XLAPROF_JOIN_(a, b)
// Defines a site of this place, in `variable`. `name` and `category` must be literals, and
// `category` may be a null pointer.
#define XLAPROF_SITE(variable, kind, name, category)                                \
  static xlaprof_site variable = {(name), __FILE__, __func__, (category), __LINE__, \
                                  (kind), 0,        {0},      0}

#ifdef __cplusplus

#include <string_view>
#include <type_traits>
#include <utility>

namespace xlaprof {

// The arguments of a macro, which are keys and values in turn. Keys are literals, so that their
// numbers are kept in the site.
template <class Event>
void AddArgs(Event&, xlaprof_site&, int) {}
template <class Event, size_t kBytes, class T, class... Rest>
void AddArgs(Event& event, xlaprof_site& site, int at, const char (&key)[kBytes], const T& value,
             const Rest&... rest) {
  uint32_t number = __atomic_load_n(&site.keys[at], __ATOMIC_RELAXED);
  if (number == 0) {
    number = xlaprof_text(key, kBytes - 1);
    __atomic_store_n(&site.keys[at], number, __ATOMIC_RELAXED);
  }
  event.Arg(number, value);
  AddArgs(event, site, at + 1, rest...);
}

#if defined(XLAPROF_NO_RECORD)

// These classes have their own namespace, because another file of the same program may be compiled
// with the recorder.
inline namespace unrecorded {

struct Track {
  explicit Track(std::string_view) {}
};
class Trace {
 public:
  explicit Trace(xlaprof_site&) {}
  explicit Trace(std::string_view) {}
  template <class K, class T>
  Trace& Arg(const K&, const T&) {
    return *this;
  }
  Trace& FlowOut(uint64_t) { return *this; }
  Trace& FlowIn(uint64_t) { return *this; }
};
class StepTrace : public Trace {
 public:
  StepTrace(xlaprof_site& site, int64_t) : Trace(site) {}
  StepTrace(std::string_view name, int64_t) : Trace(name) {}
};
class AsyncTrace {
 public:
  AsyncTrace() = default;
  explicit AsyncTrace(xlaprof_site&) {}
  explicit AsyncTrace(std::string_view) {}
  AsyncTrace(xlaprof_site&, Track) {}
  AsyncTrace(std::string_view, Track) {}
  AsyncTrace(AsyncTrace&&) noexcept {}
  AsyncTrace& operator=(AsyncTrace&&) noexcept { return *this; }
  template <class K, class T>
  AsyncTrace& Arg(const K&, const T&) {
    return *this;
  }
  void End() {}
};
inline void Counter(xlaprof_site&, double) {}
inline void Counter(std::string_view, double) {}
inline void Instant(xlaprof_site&) {}
inline void Instant(std::string_view) {}
inline void NameThread(std::string_view) {}
inline void NameProcess(std::string_view) {}

}  // namespace unrecorded

#elif !defined(XLAPROF_INLINE_RECORDER)

// These classes call the library. Inside xlaprof, profiler/record/record.h has classes of the same
// names instead, in which the recording of a scope is inline.
inline namespace linked {

// The value of an argument, as the functions above take it.
struct RecordedValue {
  uint32_t type;
  uint64_t bits;

  template <class T>
  static RecordedValue Of(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      const double wide = double(value);
      uint64_t bits = 0;
      __builtin_memcpy(&bits, &wide, sizeof bits);
      return {XLAPROF_DOUBLE, bits};
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return {std::is_unsigned_v<T> ? uint32_t(XLAPROF_UINT) : uint32_t(XLAPROF_INT),
              uint64_t(value)};
    } else {
      const std::string_view text(value);
      return {XLAPROF_TEXT, xlaprof_text(text.data(), text.size())};
    }
  }
};

// A track of the user's own, such as that of a queue. Any thread may put slices on it.
class Track {
 public:
  explicit Track(std::string_view name) : number_(xlaprof_text(name.data(), name.size())) {}
  uint32_t number() const { return number_; }

 private:
  uint32_t number_;
};

// A scope from here to the end of the object, however the block is left.
class Trace {
 public:
  explicit Trace(xlaprof_site& site) { xlaprof_scope_begin(&scope_, &site); }
  explicit Trace(std::string_view name) {
    xlaprof_scope_begin_named(&scope_, name.data(), name.size());
  }
  // The scope of XLAPROF_TRACE.
  template <class... Pairs>
  Trace(xlaprof_site& site, const char* /*name*/, const Pairs&... pairs) : Trace(site) {
    static_assert(sizeof...(pairs) % 2 == 0, "a name is followed by keys and values in turn");
    static_assert(sizeof...(pairs) <= 2 * XLAPROF_MAX_ARGS, "a scope keeps eight arguments");
    if (is_recorded()) AddArgs(*this, site, 0, pairs...);
  }
  ~Trace() {
    if (is_recorded()) xlaprof_scope_end(&scope_);
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Adds an argument to the scope: a number, an enumerator or a text. Arguments beyond eight are
  // dropped and counted.
  template <class T>
  Trace& Arg(uint32_t key, const T& value) {
    if (is_recorded()) {
      const RecordedValue arg = RecordedValue::Of(value);
      xlaprof_scope_arg(&scope_, key, arg.type, arg.bits);
    }
    return *this;
  }
  template <class T>
  Trace& Arg(std::string_view key, const T& value) {
    return is_recorded() ? Arg(xlaprof_text(key.data(), key.size()), value) : *this;
  }
  // Draws an arrow from this scope to the scopes that call FlowIn with the same number, on any
  // thread.
  Trace& FlowOut(uint64_t flow) {
    xlaprof_scope_flow_out(&scope_, flow);
    return *this;
  }
  Trace& FlowIn(uint64_t flow) {
    xlaprof_scope_flow_in(&scope_, flow);
    return *this;
  }

 protected:
  Trace() {}  // StepTrace begins the scope
  bool is_recorded() const { return scope_.words[0] != 0; }

  xlaprof_scope scope_;
};

// A training step: a scope with the user's number, which the report counts as a step.
class StepTrace : public Trace {
 public:
  StepTrace(xlaprof_site& site, int64_t step) { xlaprof_step_begin(&scope_, &site, step); }
  StepTrace(std::string_view name, int64_t step) {
    xlaprof_step_begin_named(&scope_, name.data(), name.size(), step);
  }
};

// An asynchronous slice from here to End, to the end of the object or to an assignment, on any
// thread. Such slices overlap. They lie on a track of their own, or on `track`.
class AsyncTrace {
 public:
  AsyncTrace() : slice_{} {}
  explicit AsyncTrace(xlaprof_site& site) { xlaprof_slice_begin(&slice_, &site, 0); }
  explicit AsyncTrace(std::string_view name) {
    xlaprof_slice_begin_named(&slice_, name.data(), name.size(), 0);
  }
  AsyncTrace(xlaprof_site& site, Track track) {
    xlaprof_slice_begin(&slice_, &site, track.number());
  }
  AsyncTrace(std::string_view name, Track track) {
    xlaprof_slice_begin_named(&slice_, name.data(), name.size(), track.number());
  }
  // The slice of XLAPROF_TRACE_ON.
  template <class... Pairs>
  AsyncTrace(xlaprof_site& site, Track track, const char* /*name*/, const Pairs&... pairs)
      : AsyncTrace(site, track) {
    static_assert(sizeof...(pairs) % 2 == 0, "a name is followed by keys and values in turn");
    static_assert(sizeof...(pairs) <= 2 * XLAPROF_MAX_ARGS, "a slice keeps eight arguments");
    if (is_recorded()) AddArgs(*this, site, 0, pairs...);
  }
  AsyncTrace(AsyncTrace&& other) noexcept : slice_(std::exchange(other.slice_, {})) {}
  AsyncTrace& operator=(AsyncTrace&& other) noexcept {
    if (this == &other) return *this;
    End();
    slice_ = std::exchange(other.slice_, {});
    return *this;
  }
  ~AsyncTrace() { End(); }

  template <class T>
  AsyncTrace& Arg(uint32_t key, const T& value) {
    if (is_recorded()) {
      const RecordedValue arg = RecordedValue::Of(value);
      xlaprof_slice_arg(&slice_, key, arg.type, arg.bits);
    }
    return *this;
  }
  template <class T>
  AsyncTrace& Arg(std::string_view key, const T& value) {
    return is_recorded() ? Arg(xlaprof_text(key.data(), key.size()), value) : *this;
  }
  // Ends the slice. Later calls do nothing.
  void End() {
    if (is_recorded()) xlaprof_slice_end(&slice_);
  }

 private:
  bool is_recorded() const { return slice_.words[0] != 0; }

  xlaprof_slice slice_;
};

template <class... Pairs>
Trace ScopeFor(const char*, const Pairs&...);

inline void Counter(xlaprof_site& site, double value) { xlaprof_counter(&site, value); }
inline void Counter(std::string_view name, double value) {
  xlaprof_counter_named(name.data(), name.size(), value);
}
inline void Instant(xlaprof_site& site) { xlaprof_instant(&site); }
inline void Instant(std::string_view name) { xlaprof_instant_named(name.data(), name.size()); }
inline void NameThread(const char* name) { xlaprof_name_thread(name); }
inline void NameProcess(const char* name) { xlaprof_name_process(name); }

// A recording from here to Stop or the end of the object, unless it could not start.
class Recording {
 public:
  Recording() : recording_(nullptr) {}
  explicit Recording(const char* path) : recording_(xlaprof_start(path, nullptr)) {}
  Recording(const char* path, const xlaprof_options& options)
      : recording_(xlaprof_start(path, &options)) {}
  Recording(Recording&& other) noexcept : recording_(std::exchange(other.recording_, nullptr)) {}
  Recording& operator=(Recording&& other) noexcept {
    if (this == &other) return *this;
    Stop();
    recording_ = std::exchange(other.recording_, nullptr);
    return *this;
  }
  ~Recording() { Stop(); }

  // Returns whether the recording runs. If it does not, xlaprof_error says why, until the thread's
  // next recording.
  explicit operator bool() const { return recording_ != nullptr; }
  // Ends the recording. Returns false if it did not run or could not be written; xlaprof_error then
  // says why.
  bool Stop(xlaprof_stats* stats = nullptr) {
    return recording_ != nullptr && xlaprof_stop(std::exchange(recording_, nullptr), stats) == 0;
  }

 private:
  xlaprof_recording* recording_;
};

}  // namespace linked

#endif

// A site whose category is switched at run time, so that its macro reads the switch.
struct SwitchedSite {
  xlaprof_site& site;
  operator xlaprof_site&() const { return site; }
};

#define XLAPROF_FIRST_(first, ...) first
#ifndef XLAPROF_NO_RECORD

// Variables are named by macro and line, so that inline functions are the same in every file.
// Therefore a line can have only one of each macro. `name`, `category` and keys must be literals.
#define XLAPROF_TRACE_(variable, site, ...)                                       \
  XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, XLAPROF_FIRST_(__VA_ARGS__, ), nullptr); \
  decltype(::xlaprof::ScopeFor(__VA_ARGS__)) variable(site, __VA_ARGS__)
#define XLAPROF_TRACE_IN_(variable, site, category, ...)                           \
  XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, XLAPROF_FIRST_(__VA_ARGS__, ), category); \
  decltype(::xlaprof::ScopeFor(__VA_ARGS__)) variable(::xlaprof::SwitchedSite{site}, __VA_ARGS__)
#define XLAPROF_TRACE_ON_(variable, site, track, ...)                             \
  XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, XLAPROF_FIRST_(__VA_ARGS__, ), nullptr); \
  ::xlaprof::AsyncTrace variable(site, track, __VA_ARGS__)
#define XLAPROF_STEP_(variable, site, name, step)       \
  XLAPROF_SITE(site, XLAPROF_STEP_SITE, name, nullptr); \
  ::xlaprof::StepTrace variable(site, step)

// XLAPROF_TRACE(name, key, value...): a scope from here to the end of the block, with up to eight
// arguments.
#define XLAPROF_TRACE(...)                               \
  XLAPROF_TRACE_(XLAPROF_JOIN(xlaprof_trace_, __LINE__), \
                 XLAPROF_JOIN(xlaprof_trace_site_, __LINE__), __VA_ARGS__)
// XLAPROF_TRACE_IN(category, name, key, value...): a scope that is recorded while its category is
// on.
#define XLAPROF_TRACE_IN(category, ...)                        \
  XLAPROF_TRACE_IN_(XLAPROF_JOIN(xlaprof_trace_in_, __LINE__), \
                    XLAPROF_JOIN(xlaprof_trace_in_site_, __LINE__), category, __VA_ARGS__)
// XLAPROF_TRACE_ON(track, name, key, value...): a slice from here to the end of the block, on an
// xlaprof::Track.
#define XLAPROF_TRACE_ON(track, ...)                        \
  XLAPROF_TRACE_ON_(XLAPROF_JOIN(xlaprof_slice_, __LINE__), \
                    XLAPROF_JOIN(xlaprof_slice_site_, __LINE__), track, __VA_ARGS__)
// XLAPROF_STEP(name, number): a step from here to the end of the block.
#define XLAPROF_STEP(name, step)                                                                   \
  XLAPROF_STEP_(XLAPROF_JOIN(xlaprof_step_, __LINE__), XLAPROF_JOIN(xlaprof_step_site_, __LINE__), \
                name, step)
#define XLAPROF_COUNTER(name, value)                                            \
  do {                                                                          \
    XLAPROF_SITE(xlaprof_site_of_counter, XLAPROF_COUNTER_SITE, name, nullptr); \
    ::xlaprof::Counter(xlaprof_site_of_counter, value);                         \
  } while (false)
#define XLAPROF_INSTANT(name)                                                 \
  do {                                                                        \
    XLAPROF_SITE(xlaprof_site_of_instant, XLAPROF_SCOPE_SITE, name, nullptr); \
    ::xlaprof::Instant(xlaprof_site_of_instant);                              \
  } while (false)

#else

// Values are not computed, but used in an unevaluated operand so that compilers do not warn.
template <class... T>
int Unused(const T&...);
#define XLAPROF_TRACE(...) static_cast<void>(sizeof(::xlaprof::Unused(__VA_ARGS__)))
#define XLAPROF_TRACE_IN(category, ...) XLAPROF_TRACE(category, __VA_ARGS__)
#define XLAPROF_TRACE_ON(track, ...) XLAPROF_TRACE(track, __VA_ARGS__)
#define XLAPROF_STEP(name, step) XLAPROF_TRACE(name, step)
#define XLAPROF_COUNTER(name, value) XLAPROF_TRACE(name, value)
#define XLAPROF_INSTANT(name) XLAPROF_TRACE(name)

#endif

// The site of this place, for an AsyncTrace: AsyncTrace request(XLAPROF_HERE("request"));
#define XLAPROF_HERE(name)                                              \
  ([]() -> xlaprof_site& {                                              \
    XLAPROF_SITE(xlaprof_site_here, XLAPROF_SCOPE_SITE, name, nullptr); \
    return xlaprof_site_here;                                           \
  }())

}  // namespace xlaprof

#else  // C

// Adds an argument to a scope or slice in C. The key is looked up at each call.
static inline uint64_t xlaprof_bits_of(double value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
#define XLAPROF_KEY_(key) xlaprof_text((key), __builtin_strlen(key))
#define xlaprof_scope_int(scope, key, value) \
  xlaprof_scope_arg((scope), XLAPROF_KEY_(key), XLAPROF_INT, (uint64_t)(int64_t)(value))
#define xlaprof_scope_double(scope, key, value) \
  xlaprof_scope_arg((scope), XLAPROF_KEY_(key), XLAPROF_DOUBLE, xlaprof_bits_of(value))
#define xlaprof_scope_text(scope, key, value) \
  xlaprof_scope_arg((scope), XLAPROF_KEY_(key), XLAPROF_TEXT, XLAPROF_KEY_(value))

#ifndef XLAPROF_NO_RECORD

// The compiler ends these scopes at the end of their block.
#define XLAPROF_SCOPE_(variable) __attribute__((cleanup(xlaprof_scope_end))) xlaprof_scope variable
#define XLAPROF_TRACE_IN_(variable, site, category, name) \
  XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, name, category); \
  XLAPROF_SCOPE_(variable);                               \
  xlaprof_scope_begin(&variable, &site)
#define XLAPROF_STEP_(variable, site, name, number)  \
  XLAPROF_SITE(site, XLAPROF_STEP_SITE, name, NULL); \
  XLAPROF_SCOPE_(variable);                          \
  xlaprof_step_begin(&variable, &site, (number))
#define XLAPROF_TRACE(name)                                 \
  XLAPROF_TRACE_IN_(XLAPROF_JOIN(xlaprof_trace_, __LINE__), \
                    XLAPROF_JOIN(xlaprof_trace_site_, __LINE__), NULL, name)
#define XLAPROF_TRACE_IN(category, name)                       \
  XLAPROF_TRACE_IN_(XLAPROF_JOIN(xlaprof_trace_in_, __LINE__), \
                    XLAPROF_JOIN(xlaprof_trace_in_site_, __LINE__), category, name)
#define XLAPROF_STEP(name, number)                                                                 \
  XLAPROF_STEP_(XLAPROF_JOIN(xlaprof_step_, __LINE__), XLAPROF_JOIN(xlaprof_step_site_, __LINE__), \
                name, number)
#define XLAPROF_COUNTER(name, value)                                         \
  do {                                                                       \
    XLAPROF_SITE(xlaprof_site_of_counter, XLAPROF_COUNTER_SITE, name, NULL); \
    xlaprof_counter(&xlaprof_site_of_counter, (value));                      \
  } while (0)
#define XLAPROF_INSTANT(name)                                              \
  do {                                                                     \
    XLAPROF_SITE(xlaprof_site_of_instant, XLAPROF_SCOPE_SITE, name, NULL); \
    xlaprof_instant(&xlaprof_site_of_instant);                             \
  } while (0)

#else

#define XLAPROF_TRACE(name) ((void)sizeof(name))
#define XLAPROF_TRACE_IN(category, name) ((void)sizeof(name))
#define XLAPROF_STEP(name, number) ((void)sizeof(number))
#define XLAPROF_COUNTER(name, value) ((void)sizeof(value))
#define XLAPROF_INSTANT(name) ((void)sizeof(name))

#endif
#endif  // C
#endif  // XLAPROF_RECORD_H
