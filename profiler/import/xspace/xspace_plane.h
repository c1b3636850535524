// Reads one plane of an XSpace: its tables of names, and its lines as tracks, events and facts.
//
// A plane holds id, name, lines, then two tables that give the events' names and the statistics'
// keys their meaning, then statistics of the plane itself. The tables come after the lines in the
// file, so a plane is walked more than once. Each walk skips what it does not need, and none builds
// an object per event.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/xspace/xspace_facts.h"
#include "profiler/import/xspace/xspace_names.h"
#include "profiler/import/xspace/xspace_wire.h"

namespace xlaprof {

// The state that all planes of one file share.
struct XFile {
  explicit XFile(std::string_view bytes, ImportContext& context) : bytes(bytes), context(context) {}

  int64_t Offset(const char* at) const { return at - bytes.data(); }
  // Interns `text` as valid UTF-8; invalid bytes become U+FFFD and are counted.
  absl::StatusOr<StringId> Intern(std::string_view text);
  // Returns a dense id of a flow, which a file names by context type and number.
  uint64_t Flow(int64_t type, uint64_t id) {
    auto [it, is_new] = flows.try_emplace({type, id}, flows.size() + 1);
    return it->second;
  }

  std::string_view bytes;
  ImportContext& context;
  std::array<StringId, kCategoryCount> categories{};
  absl::flat_hash_map<std::pair<int64_t, uint64_t>, uint64_t> flows;
  int64_t relative_offset_ns = 0;  // added to times since profile start
  int64_t epoch_offset_ns = 0;     // added to times since 1970
  int64_t event_count = 0, python_count = 0;
  std::vector<int64_t> track_ids;
};

class XPlane {
 public:
  // Walks over the plane once: names, tables, statistics. With `cut`, the file ends inside it.
  XPlane(std::string_view bytes, bool cut, XFile& file);

  const std::string& name() const { return name_; }
  bool is_device() const { return name_.starts_with("/device:"); }
  bool is_cut() const { return cut_; }
  // Returns a statistic of the plane by its key, or -1 if it is not there.
  int64_t IntStat(std::string_view key) const;
  // Returns the earliest timestamp_ns of its lines that counts from 1970, or INT64_MAX if there is
  // none.
  int64_t FirstEpochNs() const { return first_epoch_ns_; }

  struct HloProto {
    std::string_view module;  // name(program id)
    std::string_view bytes;
  };
  // Returns the `Hlo Proto`s of the event table, which /host:metadata holds.
  std::vector<HloProto> HloProtos() const;

  // Writes tracks and events, and gives marks and device work to `facts`. `index` is that of the
  // plane in the file, for the order of display.
  absl::Status Read(int64_t process_id, int64_t index, XFacts& facts);

 private:
  enum class Key : uint8_t {
    kOther,
    kProducerType,
    kProducerId,
    kConsumerType,
    kConsumerId,
    kRoot,
    kStepNumber,
    kGraphHash,
    kModuleName,
    kSize,
    kRunId,
    kDeviceOrdinal,
    kHloOp,
    kCorrelation,
    kProgramId,
    kCounterValue,
    kDeviceOffset,
    kDeviceDuration,
    kCategory,
    kEndless,
  };
  struct StatName {
    std::string_view name;
    Key key = Key::kOther;
    bool is_ours = false;  // our own exporter's, for readers: not an argument of the event
    StringId id = 0;       // interned on first use
    StringId value = 0;    // as the value of a ref
  };
  struct EventMetadata {
    std::string_view message;  // bytes of the XEventMetadata, for its statistics
    std::string_view name, display_name;
    XName what;
    bool resolved = false;
    bool stage = false;  // a stage of a compilation
    bool user = false;   // a user's annotation (Survey)
    bool seen_as_user = false, seen_as_runtime = false;
    StringId id = 0;         // interned, as events carry it
    StringId long_name = 0;  // HLO text, if the name is one
    bool has_op = false;     // hlo_op among its own statistics
    OptInt program_id;       // among its own statistics
    int64_t last_track = 0;  // track on which its by-name arguments were given last
    bool has_stats = false;
    bool per_event = false;  // another entry of this name differs, so its arguments go to each
                             // event
    // Set if our own exporter gave the category; otherwise it follows from name and place.
    bool has_category = false;
    Category category = Category::kNone;  // kNone: one that XLA's profiles do not have
    std::string_view category_text;
    StringId category_id = 0;
  };
  // A table by id: an array if the ids are small, as they mostly are, otherwise a hash map.
  class Ids {
   public:
    void Add(int64_t id, uint32_t index);
    void Pack();
    uint32_t Find(int64_t id) const {  // UINT32_MAX: none
      if (uint64_t(id) < dense_.size()) return dense_[size_t(id)];
      auto found = sparse_.find(id);
      return found == sparse_.end() ? UINT32_MAX : found->second;
    }

   private:
    std::vector<uint32_t> dense_;
    absl::flat_hash_map<int64_t, uint32_t> sparse_;
  };
  // The statistics of one event that matter for flows and facts.
  struct EventStats {
    int64_t producer_type = 0, consumer_type = 0;
    uint64_t producer_id = 0, consumer_id = 0;
    bool produces = false, consumes = false, is_root = false, has_op = false;
    bool is_call = false;  // a call of a GPU's driver
    int64_t step_number = -1, size = -1, run_id = -1, device_ordinal = -1;
    OptInt program_id;
    double counter = 0;
    bool has_counter = false, is_endless = false;
    StringId hash = 0, module = 0, op = 0;
  };
  // An event that was written, for the facts that follow from it.
  struct WrittenEvent {
    const EventMetadata& metadata;
    const EventStats& stats;
    const Event& event;
    int64_t end_ns = 0;
    Category category = Category::kNone;
    bool is_op = false;
    int64_t offset = 0;  // in the file
  };
  struct LineState {
    TrackRow track;
    int64_t track_id = 0;  // negative: not in the store, because no event needs it
    int64_t tid = 0;
    std::string_view name;
    int64_t timestamp_ns = 0, shift_ns = 0;
    Category category = Category::kHost;  // category of a device's line
    bool device = false, front = false;
    XFacts* facts = nullptr;
  };

  static Key KeyOf(std::string_view name);
  absl::Status ReadStats();
  Category CategoryOf(const EventMetadata& event, const LineState& line, bool is_root, bool is_op,
                      bool is_launch) const;
  void FindDifferingNames();
  void Survey();
  void SurveyLine(std::string_view bytes, size_t number);
  StatName* StatOf(int64_t metadata_id);
  absl::StatusOr<EventMetadata*> AddNameless(int64_t metadata_id);  // for ids that the table lacks
  absl::Status Resolve(EventMetadata& event);
  absl::Status WriteEntryArguments(EventMetadata& event, int64_t track_id);
  absl::StatusOr<StringId> KeyId(StatName& stat);
  absl::StatusOr<bool> Value(const wire::Stat& stat, ArgValue* value);
  void Note(StatName& name, const wire::Stat& stat, EventStats* stats);
  absl::Status ReadLine(std::string_view bytes, bool cut, size_t number, XFacts& facts);
  absl::Status AddTrack(LineState& line);
  absl::Status ReadEvent(std::string_view bytes, LineState& line, XFacts& facts);
  absl::Status AddTotals(const wire::Event& in, int64_t ts_ns, const LineState& line,
                         StringId name);
  absl::Status WriteArguments(const wire::Event& in, bool is_ours, EventStats* stats);
  void AddDeviceFacts(const WrittenEvent& written, XFacts& facts) const;
  absl::Status AddHostFacts(const WrittenEvent& written, const LineState& line, XFacts& facts);
  absl::StatusOr<int64_t> CounterTrack(const LineState& line, StringId name, std::string_view unit);
  absl::StatusOr<StringId> CategoryId(EventMetadata& event, Category category);
  absl::Status Damaged(const wire::Reader& in, std::string_view where);

  std::string_view bytes_;
  bool cut_ = false;
  XFile& file_;
  std::string name_;
  bool has_lines_ = false;
  bool has_modules_line_ = false;
  int64_t first_epoch_ns_ = INT64_MAX;
  absl::flat_hash_map<int64_t, int64_t> lines_left_;  // by id, lines that are still to be read
  std::vector<StatName> stats_;
  Ids stat_ids_;
  std::vector<EventMetadata> events_;
  Ids event_ids_;
  std::vector<wire::Stat> plane_stats_;
  // The ids of lines that our own exporter added, and of lines that are of no thread.
  absl::flat_hash_set<int64_t> added_lines_, async_lines_;
  std::vector<bool> front_;  // for each line, whether its thread runs the user's code

  int64_t process_id_ = 0, sort_base_ = 0, device_track_id_ = 0;
  StringId device_ = 0;                                                   // TPU:0
  int64_t device_ordinal_ = -1;                                           // 0
  absl::flat_hash_map<std::pair<int64_t, std::string>, int64_t> tracks_;  // by line id and name
  // By the line's track and the counter's name.
  absl::flat_hash_map<std::pair<int64_t, std::string>, int64_t> counters_;
  std::vector<std::pair<StatName*, wire::Stat>> arguments_;  // arguments of the event being read
  std::string scratch_;
};

}  // namespace xlaprof
