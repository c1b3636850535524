// The events of a track in order, whatever chunks they lie in, with all their arguments: for
// readers who nest events or write every one of them out.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "profiler/store/events.h"

namespace xlaprof {

// All arguments of one chunk's events. An event has those of its own and those that all events of
// its name share.
class ChunkArguments {
 public:
  // Of the event with this index in its chunk, by key id.
  std::span<const Argument> Own(size_t index) const {
    if (first_own_.empty()) return {};
    return std::span(own_).subspan(first_own_[index], first_own_[index + 1] - first_own_[index]);
  }
  // The place of the event's name in the chunk's dictionary, below name_count(): what is made of a
  // name's arguments can be kept under it.
  size_t NameIndex(size_t index) const { return name_index_[index]; }
  size_t name_count() const { return name_count_; }
  // Some key is both an event's own and of its name, or of another's: then an event's own value is
  // the one that holds.
  bool keys_clash() const { return keys_clash_; }
  // Of all events of a name, by key id.
  std::span<const Argument> OfName(size_t name) const {
    if (first_of_name_.empty()) return {};
    return std::span(of_name_).subspan(first_of_name_[name],
                                       first_of_name_[name + 1] - first_of_name_[name]);
  }

 private:
  friend class OrderedEvents;
  std::vector<Argument> own_, of_name_;
  std::vector<uint32_t> first_own_, first_of_name_;  // empty: no arguments
  std::span<const uint16_t> name_index_;             // into the chunk's decoded columns
  size_t name_count_ = 0;
  bool keys_clash_ = false;
};

// Tracks with an event that has a flow, inside the times of the store's slice; a track whose chunks
// are damaged may be among them. Costs little more than to read the bytes.
absl::StatusOr<absl::flat_hash_set<int64_t>> TracksWithFlows(const Store& store);

// By start, then the longest first; one that never ended counts as endless. Respects the times of
// the store's slice, as EventScanner does. Holds the chunks that overlap at one place in time
// decoded, which is one where a track was written in order.
class OrderedEvents {
 public:
  // `columns` are EventColumn bits; start and duration are always there. Open comes next.
  static absl::StatusOr<OrderedEvents> Make(const Store& store, uint32_t columns, bool arguments);
  OrderedEvents(OrderedEvents&&) noexcept;
  ~OrderedEvents();

  // Begins the events of a track. To open one track after the other costs less than an
  // OrderedEvents for each: the memory is used again.
  absl::Status Open(int64_t track_id);
  // The next events: as many as lie in one chunk before any other's. False at the end. `batch` and
  // `arguments` (null unless asked for) are good until the next call; arguments are asked for by
  // batch.first_index + i. Damaged chunks are skipped, and events whose arguments are damaged come
  // without them.
  absl::StatusOr<bool> Next(EventBatch* batch, const ChunkArguments** arguments);

  // Of all tracks so far.
  int64_t skipped_chunks() const;     // damaged
  int64_t skipped_arguments() const;  // chunks whose arguments are damaged

 private:
  struct Impl;
  explicit OrderedEvents(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
