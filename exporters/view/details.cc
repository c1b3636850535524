#include "exporters/view/details.h"

#include <algorithm>
#include <variant>

#include "base/category.h"
#include "exporters/view/short_text.h"
#include "exporters/view/slices.h"
#include "exporters/view/totals.h"
#include "exporters/view/varint.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxTextBytes = 4096;
constexpr size_t kMaxNamesOfLane = 100'000;  // those with the longest totals
constexpr size_t kMaxArrows = 4'000'000;     // many ends of one flow make many more arrows

enum class Type : uint8_t { kInt, kUint, kDouble, kString, kBytes };

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string hex;
  for (unsigned char byte : bytes) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return hex;
}

class ArgumentEncoder {
 public:
  explicit ArgumentEncoder(const Store& store) : store_(store) {}

  // Adds the events of one batch, whose ids are consecutive.
  void Add(const EventBatch& batch, const ChunkArguments& arguments) {
    Block block;
    for (size_t i = 0; i < batch.size; ++i) {
      const size_t index = size_t(batch.first_index) + i;
      const std::span<const Argument> own = arguments.Own(index),
                                      of_name = arguments.OfName(arguments.NameIndex(index));
      if (own.empty() && of_name.empty()) continue;
      const int64_t id = EventId(batch, i);
      if (block.bytes.empty()) {
        block.first_id = id;
      } else {
        PutSigned(Apart(id, block.last_id), &block.bytes);
      }
      block.last_id = id;
      AddEvent(own, of_name, &block.bytes);
    }
    if (!block.bytes.empty()) blocks_.push_back(std::move(block));
  }

  std::string Finish() {
    if (blocks_.empty()) return "";
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.first_id < b.first_id; });
    std::string out;
    int64_t last_id = 0;
    for (Block& block : blocks_) {
      // A damaged store may repeat an id, and id 0 would end the list.
      if (block.first_id <= last_id) continue;
      PutSigned(Apart(block.first_id, last_id), &out);
      out += std::exchange(block.bytes, "");
      last_id = block.last_id;
    }
    PutSigned(Apart(0, last_id), &out);  // id 0 ends the list
    PutVarint(texts_.size(), &out);
    for (const auto& [id, type] : texts_) {
      const std::string_view text = store_.Text(id);
      PutVarint(id, &out);
      PutText(
          ShortText(type == Type::kBytes ? Hex(text.substr(0, kMaxTextBytes)) : std::string(text),
                    kMaxTextBytes),
          &out);
    }
    return out;
  }

 private:
  // Arguments of events whose ids no other block interrupts. The first id is written when all
  // blocks are in order.
  struct Block {
    int64_t first_id = 0, last_id = 0;
    std::string bytes;
  };

  void AddEvent(std::span<const Argument> own, std::span<const Argument> of_name,
                std::string* out) {
    // The event's own value hides that of its name.
    auto is_own = [&](const Argument& argument) {
      return std::any_of(own.begin(), own.end(),
                         [&](const Argument& other) { return other.key == argument.key; });
    };
    const auto hidden = size_t(std::count_if(of_name.begin(), of_name.end(), is_own));
    PutVarint(own.size() + of_name.size() - hidden, out);
    for (const Argument& argument : own) Put(argument, out);
    for (const Argument& argument : of_name) {
      if (hidden == 0 || !is_own(argument)) Put(argument, out);
    }
  }

  void Put(const Argument& argument, std::string* out) {
    Use(argument.key, Type::kString);
    PutVarint(argument.key, out);
    out->push_back(char(argument.value.index()));
    if (const auto* value = std::get_if<int64_t>(&argument.value)) return PutSigned(*value, out);
    if (const auto* value = std::get_if<uint64_t>(&argument.value)) return PutVarint(*value, out);
    if (const auto* value = std::get_if<double>(&argument.value)) return PutDouble(*value, out);
    const auto* bytes = std::get_if<Bytes>(&argument.value);
    const StringId id = bytes != nullptr ? bytes->id : std::get<Text>(argument.value).id;
    Use(id, bytes != nullptr ? Type::kBytes : Type::kString);
    PutVarint(id, out);
  }
  void Use(StringId id, Type type) {
    if (used_.insert(id).second) texts_.emplace_back(id, type);
  }

  const Store& store_;
  std::vector<Block> blocks_;
  absl::flat_hash_set<StringId> used_;
  std::vector<std::pair<StringId, Type>> texts_;
};

}  // namespace

absl::StatusOr<EncodedArguments> EncodeArguments(const Store& store, const ViewLanes& lanes) {
  ArgumentEncoder encoder(store);
  XP_TRY(OrderedEvents events, OrderedEvents::Make(store, kName, true));
  for (const ViewLane& lane : lanes.lanes()) {
    if (lane.kind == TrackKind::kCounter) continue;
    XP_TRY(events.Open(lane.id));
    EventBatch batch;
    const ChunkArguments* arguments = nullptr;
    while (true) {
      XP_TRY(bool more, events.Next(&batch, &arguments));
      if (!more) break;
      if (arguments != nullptr) encoder.Add(batch, *arguments);
    }
  }
  return EncodedArguments{encoder.Finish(), events.skipped_arguments()};
}

absl::StatusOr<EncodedFlows> EncodeFlows(const Store& store) {
  EncodedFlows flows;
  std::vector<std::pair<int64_t, int64_t>> arrows;
  XP_TRY(store.Each(
      fmt::format("SELECT from_event_id, to_event_id FROM flow LIMIT {}", kMaxArrows + 1),
      [&](int64_t from, int64_t to) { arrows.emplace_back(from, to); }));
  flows.more = arrows.size() > kMaxArrows;
  if (flows.more) arrows.pop_back();
  if (arrows.empty()) return flows;
  std::sort(arrows.begin(), arrows.end());
  PutVarint(arrows.size(), &flows.bytes);
  int64_t last_from = 0;
  for (const auto& [from, to] : arrows) {
    PutSigned(Apart(from, last_from), &flows.bytes);
    PutSigned(Apart(to, from), &flows.bytes);
    last_from = from;
  }
  return flows;
}

absl::StatusOr<std::string> EncodeTotals(const Store& store, const ViewLanes& lanes) {
  std::string out;
  std::vector<StringId> names;
  absl::flat_hash_set<StringId> used;
  for (const ViewLane& lane : lanes.lanes()) {
    if (lane.kind == TrackKind::kCounter || lane.events <= kWholeLaneEvents) continue;
    XP_TRY(std::vector<NameTotals> all,
           TotalsByName(store, lanes, {lane.id}, 0, lanes.end_ns() + 1));
    const size_t left_out = all.size() - std::min(all.size(), kMaxNamesOfLane);
    all.resize(all.size() - left_out);
    PutVarint(uint64_t(lane.id), &out);
    PutVarint(left_out, &out);
    PutVarint(all.size(), &out);
    for (const NameTotals& totals : all) {
      if (used.insert(totals.name).second) names.push_back(totals.name);
      PutVarint(totals.name, &out);
      PutVarint(uint64_t(ParseWord<Category>(store.Text(totals.category))), &out);
      for (int64_t figure : {totals.count, totals.total_ns, totals.p99_ns, totals.max_ns})
        PutVarint(uint64_t(figure), &out);
      PutSigned(totals.self_ns, &out);
    }
  }
  PutVarint(0, &out);  // no lane has this id
  PutVarint(names.size(), &out);
  for (StringId name : names) {
    PutVarint(name, &out);
    PutText(ShortText(store.Text(name), kShownNameBytes), &out);
  }
  return out;
}

}  // namespace xlaprof
