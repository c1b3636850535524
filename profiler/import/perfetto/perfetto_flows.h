// Finds which events the flows of a Perfetto trace connect. Events with the same flow id are
// connected in the order of time, up to the one that terminates the flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xlaprof::pftrace {

class Clocks;

class Flows {
 public:
  // Adds a flow of the event with this number. Events are numbered in the order of the file.
  void Add(uint64_t id, uint32_t event, uint64_t clock, int64_t ns, bool last) {
    uses_.push_back({id, ns, clock, event, last});
  }
  // Connects the events, when all have been added. An event of the store has one flow that enters
  // it and one that leaves it: returns how many connections more there are.
  int64_t Connect(const Clocks& clocks, int64_t source_id);

  struct Ends {
    uint64_t in = 0, out = 0;  // 0: none
  };
  // Returns the flows of an event. Call it for rising numbers of events.
  Ends Of(uint32_t event) {
    while (next_ < ends_.size() && ends_[next_].event < event) ++next_;
    return next_ < ends_.size() && ends_[next_].event == event ? ends_[next_].ends : Ends();
  }

 private:
  struct Use {
    uint64_t id;
    int64_t ns;
    uint64_t clock;
    uint32_t event;
    bool last;
  };
  struct EventEnds {
    uint32_t event;
    Ends ends;
  };
  std::vector<Use> uses_;
  std::vector<EventEnds> ends_;  // by event
  size_t next_ = 0;
};

}  // namespace xlaprof::pftrace
