// One event of Chrome's Trace Event Format ("JSON Object Format", 2016): an object with `ph` for
// its phase and members that depend on it. Members come in any order; what is missing is kNone.
#pragma once

#include <vector>

#include "profiler/import/chrome_shapes.h"
#include "profiler/import/json_scan.h"

namespace xlaprof {

struct ChromeEvent {
  // X complete, B and E its ends, i I R instants, C counter, M metadata, s t f flow, b n e and the
  // older S T p F asynchronous, N O D objects, P sample, and others; 0: none given.
  char phase = 0;
  bool flow_in = false, flow_out = false;  // of bind_id
  bool bad_args = false;                   // args is there and no object
  bool has_ids = false;                    // one of the last five values is given
  struct Member {
    json::Value key, value;
  };
  std::vector<Member> args;  // and members of the event that the format does not know
  json::Value name, cat, pid, tid, ts, dur;
  json::Value id, id_local, id_global, bind_id, bind_point;

  // As if new, but for the memory of `args`. Does not touch what most events lack: they go from
  // one core to another, which each cache line delays.
  void Clear();
};

class ChromeEventReader {
 public:
  // Reads the object that begins at the next byte. False: it is no well-formed object; the scanner
  // then stands where that shows, or is cut(). `event` is reused: nothing of before is left in it.
  bool Read(json::Scanner& in, ChromeEvent* event);

 private:
  // Member by member.
  bool ReadObject(json::Scanner& in, ChromeEvent* event);
  bool ReadMember(json::Scanner& in, size_t from, const json::Value& key, ChromeEvent* event);
  bool ReadArgs(json::Scanner& in, size_t from, ChromeEvent* event);
  bool ReadValue(json::Scanner& in, size_t from, ChromeSlot slot, const json::Value& key,
                 ChromeEvent* event);

  ChromeShapes shapes_;
  // Of the event that is being read: how it is written; false where that cannot be learnt.
  std::vector<ChromeShapes::Piece> pieces_;
  bool plain_ = true;
  size_t value_end_ = 0;  // of the value that was read last
};

}  // namespace xlaprof
