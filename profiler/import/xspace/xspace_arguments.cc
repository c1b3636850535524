// Finds names and arguments of events in the tables of a plane.
#include "profiler/import/inflate.h"
#include "profiler/import/xspace/xspace_plane.h"

namespace xlaprof {
namespace {

using wire::Reader;

// Longer decompressed texts are cut here.
constexpr size_t kMaxInflatedBytes = size_t(1) << 20;
// Larger values of a statistic are whole files (HLO, symbol maps), not arguments.
constexpr size_t kMaxArgumentBytes = size_t(1) << 20;

// Returns the name that is shown for an event. If the event's name is a whole HLO text, this is the
// instruction's name.
std::string_view ShownName(std::string_view name, std::string_view display_name) {
  if (name.empty()) return display_name;
  if (std::string_view instruction = ShortHloName(name); !instruction.empty()) return instruction;
  // name#key=value,...# is a TraceMe whose metadata was not parsed.
  if (size_t hash = name.find('#');
      hash != std::string_view::npos && hash > 0 && name.ends_with('#'))
    return name.substr(0, hash);
  return name;
}

}  // namespace

absl::StatusOr<StringId> XPlane::KeyId(StatName& stat) {
  if (stat.id == 0) {
    XP_TRY(stat.id, file_.Intern(stat.name.empty() ? "?" : stat.name));
  }
  return stat.id;
}

// Finds the name and the arguments that all events of this table entry share. A device's ops are
// named by their whole HLO text. They are shown by the instruction's name, and keep the text as
// `long_name`.
absl::Status XPlane::Resolve(EventMetadata& event) {
  event.resolved = true;
  if (!ShortHloName(event.name).empty()) {
    XP_TRY(event.long_name, file_.Intern(event.name));
  }
  XP_TRY(event.id, file_.Intern(ShownName(event.name, event.display_name)));
  Reader in(event.message);
  while (in.Next()) {
    if (!in.Is(5, wire::kBytes)) continue;
    wire::Stat stat;
    wire::Decode(in.bytes(), &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr) continue;
    if (key->key == Key::kCategory && key->is_ours) {
      const StatName* text = stat.kind == wire::Stat::kRef ? StatOf(stat.int64()) : nullptr;
      if (text == nullptr) continue;
      event.has_category = true;
      event.category_text = text->name;
      event.user = text->name == TextOf(Category::kScope);
      event.category = ParseWord<Category>(text->name);
      continue;
    }
    event.has_stats = true;
    if (key->key == Key::kHloOp) event.has_op = true;
    if (key->key == Key::kProgramId &&
        (stat.kind == wire::Stat::kUint || stat.kind == wire::Stat::kInt))
      event.program_id = stat.int64();
  }
  return absl::OkStatus();
}

// Arguments are normally stored once per name. Entries that share a name, such as an op of two
// programs, store them on each event instead, because their values may differ.
void XPlane::FindDifferingNames() {
  absl::flat_hash_map<std::string_view, uint32_t> first;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    EventMetadata& event = events_[i];
    std::string_view name = ShownName(event.name, event.display_name);
    auto [it, is_new] = first.emplace(name, i);
    if (is_new) continue;
    event.per_event = events_[it->second].per_event = true;
  }
}

absl::StatusOr<bool> XPlane::Value(const wire::Stat& stat, ArgValue* value) {
  switch (stat.kind) {
    case wire::Stat::kNone:
      return false;
    case wire::Stat::kDouble:
      *value = stat.real();
      return true;
    case wire::Stat::kUint:
      *value = stat.number;
      return true;
    case wire::Stat::kInt:
      *value = stat.int64();
      return true;
    case wire::Stat::kRef: {
      StatName* text = StatOf(stat.int64());
      if (text == nullptr) return false;
      if (text->value == 0) {
        XP_TRY(text->value, file_.Intern(text->name));
      }
      *value = Text{text->value};
      return true;
    }
    case wire::Stat::kGzip: {
      std::string text;
      Inflate(stat.bytes, kMaxInflatedBytes + 1, &text);
      const bool is_cut = text.size() > kMaxInflatedBytes;
      if (is_cut) text.resize(kMaxInflatedBytes);
      XP_TRY(StringId id, file_.Intern(text));
      if (is_cut) {
        XP_TRY(file_.context.Issue("cut_argument", Severity::kInfo,
                                   "Compressed arguments larger than 1 MiB were cut.",
                                   file_.Offset(stat.bytes.data())));
      }
      *value = Text{id};
      return true;
    }
    case wire::Stat::kText:
    case wire::Stat::kBytes:
      if (stat.bytes.size() > kMaxArgumentBytes) {
        XP_TRY(file_.context.Issue("large_argument", Severity::kInfo,
                                   "Arguments larger than 1 MiB were left out.",
                                   file_.Offset(stat.bytes.data())));
        return false;
      }
      if (stat.kind == wire::Stat::kText) {
        XP_TRY(StringId id, file_.Intern(stat.bytes));
        *value = Text{id};
      } else {
        XP_TRY(StringId id, file_.context.store.Intern(stat.bytes, /*bytes=*/true));
        *value = Bytes{id};
      }
      return true;
  }
  return false;
}

absl::Status XPlane::WriteEntryArguments(EventMetadata& event, int64_t track_id) {
  EventWriter& events = file_.context.events;
  auto give = [&](StringId key, const ArgValue& value) {
    if (event.per_event) {
      events.Arg(key, value);
    } else {
      events.NameArg(track_id, event.id, key, value);
    }
  };
  if (event.long_name != 0) {
    XP_TRY(StringId key, file_.context.store.Intern("long_name"));
    give(key, Text{event.long_name});
  }
  Reader in(event.message);
  while (event.has_stats && in.Next()) {
    if (!in.Is(5, wire::kBytes)) continue;
    wire::Stat stat;
    wire::Decode(in.bytes(), &stat);
    StatName* key = StatOf(stat.metadata_id);
    if (key == nullptr || key->is_ours) continue;
    ArgValue value;
    XP_TRY(bool there, Value(stat, &value));
    if (!there) continue;
    XP_TRY(StringId id, KeyId(*key));
    give(id, value);
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
