// One event of Chrome's Trace Event Format ("JSON Object Format", 2016): an object with `ph` for
// its phase and members that depend on it. Members come in any order; what is missing is kNone.
#pragma once

#include <array>
#include <vector>

#include "profiler/import/json_scan.h"

namespace xlaprof {

struct ChromeEvent {
  // X complete, B and E its ends, i I R instants, C counter, M metadata, s t f flow, b n e and the
  // older S T p F asynchronous, N O D objects, P sample, and others; 0: none given.
  char phase = 0;
  json::Value name, cat, pid, tid, ts, dur, id, id_local, id_global, bind_id, bind_point;
  bool flow_in = false, flow_out = false;  // of bind_id
  bool bad_args = false;                   // args is there and no object
  struct Member {
    json::Value key, value;
  };
  std::vector<Member> args;  // and members of the event that the format does not know
};

class ChromeEventReader {
 public:
  // Reads the object that begins at the next byte. False: it is no well-formed object; the scanner
  // then stands where that shows, or is cut(). `event` is reused: nothing of before is left in it.
  bool Read(json::Scanner& in, ChromeEvent* event);

 private:
  // Where the value of a member goes.
  enum class Slot : uint8_t;
  struct Known {
    json::Between between;
    Slot slot;
  };
  static constexpr size_t kKinds = 8, kMembers = 16, kArgs = 32;

  bool ReadMember(json::Scanner& in, Slot slot, const json::Value& key, ChromeEvent* event);
  bool ReadArgs(json::Scanner& in, ChromeEvent* event);

  // What stood between the values of earlier events, by their kind (a hash of `cat`) and place.
  std::array<std::array<Known, kMembers>, kKinds> members_{};
  std::array<std::array<json::Between, kArgs>, kKinds> args_{};
  size_t kind_ = 0;
  json::Value scratch_;
};

}  // namespace xlaprof
