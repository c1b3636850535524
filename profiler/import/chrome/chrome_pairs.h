// Pairs events that come in two parts: B and E of a thread, and b and e of an asynchronous
// operation (S and F in older files). The instants of the latter (n; T and p) belong to the
// operations that are open then. Parts may come out of order, so they are sorted when all have been
// seen, and are read again then. 32 bytes are kept of each.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <string>
#include <vector>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/chrome/microseconds.h"
#include "profiler/import/odd_input.h"

namespace xlaprof {

class ChromePairs {
 public:
  // One operation: `begin` as read again, and `end` if it ended; or an instant, which has no end.
  // `outermost` is the name of the outermost operation around it, or else its own. Valid during the
  // call.
  struct Pair {
    const ChromeEvent& begin;
    const ChromeEvent* end;
    bool instant;
    Picoseconds ts, end_ts;
    std::string_view outermost;
  };
  using Emit = std::function<absl::Status(const Pair&)>;

  explicit ChromePairs(std::string_view file) : file_(file) {}

  void AddThread(const ChromeEvent& event, Picoseconds ts);
  void AddAsync(const ChromeEvent& event, Picoseconds ts);

  // These match all parts and hand the pairs over, by thread or operation and time. An end closes
  // the innermost open one of its name, or of any name if it gives none. An end without a beginning
  // is counted and left out.
  absl::Status EmitThreads(OddInput& odd, const Emit& emit) { return Match(threads_, odd, emit); }
  absl::Status EmitAsyncs(OddInput& odd, const Emit& emit) { return Match(asyncs_, odd, emit); }

 private:
  struct Mark {
    int64_t ts_ns;
    int32_t ts_ps;
    uint32_t group;  // thread or operation
    int64_t offset;  // offset of its object in the text
    enum : uint8_t { kBegin, kEnd, kInstant } what;
  };
  // The operations of a group that have begun and not ended.
  class OpenMarks;
  struct Marks {
    std::vector<Mark> all;
    absl::flat_hash_map<std::string, uint32_t> groups;
    std::string key;  // scratch
    void Add(const ChromeEvent& event, Picoseconds ts);
  };
  absl::Status Match(Marks& marks, OddInput& odd, const Emit& emit);

  std::string_view file_;
  ChromeEventReader reader_;
  Marks threads_, asyncs_;
};

}  // namespace xlaprof
