// Keeps what the packets of one sequence have in common: texts with numbers (interned data),
// defaults, and how times count. All of it is valid until the sequence clears its state.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/import/perfetto/perfetto_clocks.h"
#include "profiler/import/perfetto/perfetto_wire.h"
#include "profiler/store/store.h"

namespace xlaprof::pftrace {

// The texts of one kind by number. Writers count from 1, so most are in a list.
class TextTable {
 public:
  // Returns the text's id in the store, or 0 if the number has no text.
  StringId Find(uint64_t iid) const {
    if (iid < list_.size()) [[likely]]
      return list_[iid];
    const auto found = others_.find(iid);
    return found == others_.end() ? 0 : found->second;
  }
  void Set(uint64_t iid, StringId id) {
    ++count_;
    if (iid < list_.size() || iid < 2 * count_ + 1024) {
      if (iid >= list_.size()) list_.resize(size_t(iid) + 1);
      list_[iid] = id;
    } else {
      others_[iid] = id;
    }
  }
  void Clear() {
    list_.clear();
    others_.clear();
    count_ = 0;
  }

 private:
  std::vector<StringId> list_;
  absl::flat_hash_map<uint64_t, StringId> others_;
  size_t count_ = 0;
};

// The kinds of texts that are read.
enum class Texts : uint8_t { kCategories, kNames, kKeys, kValues };
inline constexpr size_t kTextKinds = 4;

struct Sequence {
  // The state is valid: the sequence has cleared it, and has lost no packet since.
  bool valid = false;
  uint32_t clock = 0;  // that of packets which name none; 0: the trace's
  Defaults defaults;
  bool has_thread = false;
  Thread thread;  // of a sequence with a ThreadDescriptor; its name is not kept
  int64_t reference_us = 0;
  std::array<TextTable, kTextKinds> texts;

  // Takes what every packet says about the sequence's state. Returns whether packets were lost
  // before it.
  bool Take(const Packet& packet) {
    // The first packets of a sequence say so, too, because none comes before them.
    const bool lost = packet.dropped && valid;
    if (packet.dropped) valid = false;
    if (packet.cleared()) {
      valid = true;
      defaults = {};
      has_thread = false;
      reference_us = 0;
      for (TextTable& table : texts) table.Clear();
    }
    if (packet.has_defaults) Decode(packet.defaults, &defaults);
    if (!packet.thread.empty() && Decode(packet.thread, &thread)) {
      thread.name = {};
      has_thread = true;
      reference_us = thread.reference_us;
    }
    return lost;
  }
  // Returns whether the packet refers to state that the file does not have.
  bool Lacks(const Packet& packet) const { return (packet.flags & kNeedsState) != 0 && !valid; }
};

// A time by some clock.
struct Moment {
  ClockKey clock = 0;
  int64_t ns = 0;
};
// Returns the time of a packet, or of the event in it (null: it has none); nothing if it has no
// time, or an impossible one. Call it for each packet without a snapshot, because times may count
// from the packet before.
std::optional<Moment> MomentOf(const Packet& packet, const TrackEvent* event, Sequence& sequence,
                               ClockReadings& readings);

// Calls fn(kind, iid, text) for each text of InternedData that is read.
template <class Fn>
absl::Status EachText(std::string_view interned, Fn&& fn) {
  wire::Reader in(interned);
  InternedText text;
  while (in.Next()) {
    if (in.type() != wire::kBytes) continue;
    Texts kind;
    switch (in.number()) {
      case 1:
        kind = Texts::kCategories;
        break;
      case 2:
        kind = Texts::kNames;
        break;
      case 3:
        kind = Texts::kKeys;
        break;
      case 29:
        kind = Texts::kValues;
        break;
      default:
        continue;
    }
    if (Decode(in.bytes(), &text)) XP_TRY(fn(kind, text.iid, text.text));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof::pftrace
