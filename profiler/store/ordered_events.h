// Reads the events of a track in order, across its chunks, with all their arguments. It serves
// readers that nest events or write out every one of them.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "profiler/store/events.h"

namespace xlaprof {

// All arguments of one chunk's events. An event has its own arguments and those that all events of
// its name share.
class ChunkArguments {
 public:
  // Returns the own arguments of the event with this index in its chunk, by key id.
  std::span<const Argument> Own(size_t index) const {
    if (first_own_.empty()) return {};
    return std::span(own_).subspan(first_own_[index], first_own_[index + 1] - first_own_[index]);
  }
  // Returns the index of the event's name in the chunk's dictionary, below name_count(). A caller
  // can keep under it what it has made of the name's arguments.
  size_t NameIndex(size_t index) const { return name_index_[index]; }
  size_t name_count() const { return name_count_; }
  // Returns whether some key occurs both among events' own arguments and among those of names. An
  // event's own value takes precedence then.
  bool keys_clash() const { return keys_clash_; }
  // Returns the arguments of all events of a name, by key id.
  std::span<const Argument> OfName(size_t name) const {
    if (first_of_name_.empty()) return {};
    return std::span(of_name_).subspan(first_of_name_[name],
                                       first_of_name_[name + 1] - first_of_name_[name]);
  }

 private:
  friend class OrderedEvents;
  std::vector<Argument> own_, of_name_;
  std::vector<uint32_t> first_own_, first_of_name_;  // empty: no arguments
  std::span<const uint16_t> name_index_;             // refers to the chunk's decoded columns
  size_t name_count_ = 0;
  bool keys_clash_ = false;
};

// Returns the tracks with a chunk that overlaps the times of the chosen part of the run and has an
// event with a flow. A track whose chunks are damaged may be among them. Costs little more than
// reading the bytes.
absl::StatusOr<absl::flat_hash_set<int64_t>> TracksWithFlows(const Store& store);

// Returns events by start, then the longest first; an event that never ended counts as endless.
// Respects the times of the chosen part of the run, as EventScanner does. Holds the chunks decoded
// that overlap at one point in time; that is a single chunk if the track was written in order.
class OrderedEvents {
 public:
  // `columns` are EventColumn bits; start and duration are always included. Call Open next.
  static absl::StatusOr<OrderedEvents> Make(const Store& store, uint32_t columns, bool arguments);
  OrderedEvents(OrderedEvents&&) noexcept;
  ~OrderedEvents();

  // Begins the events of a track. Opening one track after the other costs less than making an
  // OrderedEvents for each, because memory is used again.
  absl::Status Open(int64_t track_id);
  // Returns the next events: those of one chunk that come before any event of another chunk.
  // Returns false at the end. `batch` and `arguments` (null unless asked for) are valid until the
  // next call. The arguments of event i are those of batch.first_index + i. Damaged chunks are
  // skipped, and events whose arguments are damaged come without them.
  absl::StatusOr<bool> Next(EventBatch* batch, const ChunkArguments** arguments);

  // Counts for all tracks so far.
  int64_t skipped_chunks() const;     // damaged
  int64_t skipped_arguments() const;  // chunks whose arguments are damaged

 private:
  struct Impl;
  explicit OrderedEvents(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
