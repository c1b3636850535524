// Builds XSpaces field by field, and shows what an import of one finds.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/store/events.h"
#include "tests/profiler/import/import_text.h"

namespace xlaprof {

extern const Importer xspace;

// A protobuf message under construction.
class Wire {
 public:
  Wire& Raw(uint64_t varint) {
    for (; varint >= 0x80; varint >>= 7) out_ += char(varint | 0x80);
    out_ += char(varint);
    return *this;
  }
  Wire& Int(uint32_t field, int64_t value) { return Raw(field << 3).Raw(uint64_t(value)); }
  Wire& Text(uint32_t field, std::string_view text) {
    Raw(field << 3 | 2).Raw(text.size());
    out_ += text;
    return *this;
  }
  Wire& Real(uint32_t field, double value) {
    Raw(field << 3 | 1);
    out_.append(reinterpret_cast<const char*>(&value), 8);
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

struct Ref {
  std::string text;  // a reference to an interned text
};
struct Blob {
  std::string bytes;
};
struct Gzip {
  std::string bytes;
};
using StatValue = std::variant<int64_t, uint64_t, double, std::string, Ref, Blob, Gzip>;
using Stats = std::vector<std::pair<std::string, StatValue>>;

class Plane {
 public:
  explicit Plane(std::string name) : name_(std::move(name)) {}

  Plane& Line(int64_t id, const std::string& name, int64_t timestamp_ns = 0) {
    lines_.emplace_back(Wire().Int(1, id).Text(2, name).Int(3, timestamp_ns));
    return *this;
  }
  // Adds an event; times are in nanoseconds.
  Plane& Event(const std::string& name, int64_t start_ns, int64_t dur_ns, const Stats& stats = {}) {
    return EventPs(name, start_ns * 1000, dur_ns * 1000, stats);
  }
  Plane& EventPs(const std::string& name, int64_t start_ps, int64_t dur_ps,
                 const Stats& stats = {}) {
    Wire event = Wire().Int(1, NameId(name)).Int(2, start_ps).Int(3, dur_ps);
    for (const auto& stat : stats) event.Text(4, Stat(stat));
    return RawEvent(event);
  }
  Plane& RawEvent(const Wire& event) {
    lines_.back().Text(4, event.str());
    return *this;
  }
  // Sets the statistics of a name. If `again`, another entry with the same name is made.
  Plane& Name(const std::string& name, const Stats& stats, bool again = false) {
    if (again) names_.erase(name);
    for (const auto& stat : stats)
      metadata_stats_[NameId(name)] += Wire().Text(5, Stat(stat)).str();
    return *this;
  }
  Plane& PlaneStat(const std::string& key, const StatValue& value) {
    plane_stats_ += Wire().Text(6, Stat({key, value})).str();
    return *this;
  }
  int64_t NameId(const std::string& name) {
    auto [it, is_new] = names_.emplace(name, int64_t(entries_.size()) + 1);
    if (is_new) entries_.push_back(name);
    return it->second;
  }
  std::string Build() const {
    Wire plane = Wire().Int(1, 0).Text(2, name_);
    for (const Wire& line : lines_) plane.Text(3, line.str());
    for (size_t i = 0; i < entries_.size(); ++i) {
      int64_t id = int64_t(i) + 1;
      auto stats = metadata_stats_.find(id);
      Wire metadata = Wire().Int(1, id).Text(2, entries_[i]);
      plane.Text(
          4, Wire()
                 .Int(1, id)
                 .Text(2, metadata.str() + (stats == metadata_stats_.end() ? "" : stats->second))
                 .str());
    }
    for (const auto& [name, id] : stat_ids_) {
      plane.Text(5, Wire().Int(1, id).Text(2, Wire().Int(1, id).Text(2, name).str()).str());
    }
    return plane.str() + plane_stats_;
  }

 private:
  int64_t StatId(const std::string& name) {
    return stat_ids_.emplace(name, int64_t(stat_ids_.size()) + 1).first->second;
  }
  std::string Stat(const std::pair<std::string, StatValue>& stat) {
    Wire out = Wire().Int(1, StatId(stat.first));
    if (auto* i = std::get_if<int64_t>(&stat.second)) out.Int(4, *i);
    if (auto* u = std::get_if<uint64_t>(&stat.second)) out.Int(3, int64_t(*u));
    if (auto* d = std::get_if<double>(&stat.second)) out.Real(2, *d);
    if (auto* s = std::get_if<std::string>(&stat.second)) out.Text(5, *s);
    if (auto* r = std::get_if<Ref>(&stat.second)) out.Int(7, StatId(r->text));
    if (auto* b = std::get_if<Blob>(&stat.second)) out.Text(6, b->bytes);
    if (auto* z = std::get_if<Gzip>(&stat.second)) out.Text(8, z->bytes);
    return out.str();
  }

  std::string name_;
  std::vector<Wire> lines_;
  std::vector<std::string> entries_;
  std::map<std::string, int64_t> names_, stat_ids_;
  std::map<int64_t, std::string> metadata_stats_;
  std::string plane_stats_;
};

inline std::string XSpaceOf(const std::vector<Plane>& planes) {
  Wire space;
  for (const Plane& plane : planes) space.Text(1, plane.Build());
  return space.str();
}

inline Plane TaskEnvironment(int64_t start_ns) {
  Plane plane("Task Environment");
  plane.PlaneStat("profile_start_time", uint64_t(start_ns));
  return plane;
}

struct ImportedXSpace : ImportedText {
  // Returns "track|ts|dur|category|name|in>out|key=value ..." for every event, ordered by track and
  // time.
  std::vector<std::string> Events() const {
    std::vector<std::string> rows;
    auto scanner = EventScanner::Make(*store, {});
    EventBatch batch;
    while (scanner.ok() && scanner->Next(&batch).value_or(false)) {
      for (size_t i = 0; i < batch.size; ++i) {
        std::string track =
            Rows(fmt::format("SELECT name FROM track WHERE id = {}", batch.track_id)).at(0);
        std::string row = fmt::format("{}|{}|{}|{}|{}", track, batch.ts_ns[i], batch.dur_ns[i],
                                      store->Text(batch.category[i]), store->Text(batch.name[i]));
        if (batch.flow_in[i] != 0 || batch.flow_out[i] != 0)
          row += fmt::format("|{}>{}", batch.flow_in[i], batch.flow_out[i]);
        auto arguments = ReadArguments(*store, batch.chunk_id, int64_t(i));
        for (const Argument& argument : arguments.value_or(std::vector<Argument>())) {
          row += fmt::format("|{}={}", store->Text(argument.key), Print(argument.value));
        }
        rows.push_back(row);
      }
    }
    return rows;
  }
  std::string Print(const ArgValue& value) const {
    if (auto* i = std::get_if<int64_t>(&value)) return fmt::to_string(*i);
    if (auto* u = std::get_if<uint64_t>(&value)) return fmt::format("{}u", *u);
    if (auto* d = std::get_if<double>(&value)) return fmt::to_string(*d);
    if (auto* t = std::get_if<xlaprof::Text>(&value)) return std::string(store->Text(t->id));
    return "bytes";
  }
};

inline ImportedXSpace ImportXSpace(std::string_view bytes) {
  ImportedXSpace out;
  out.store = std::make_unique<Store>(Store::CreateTemporary().value());
  XP_CHECK(out.store->Begin().ok());
  EventWriter events(*out.store);
  ImportContext context(*out.store, events, 1);
  out.status = xspace.read({"given.pb", bytes}, context);
  XP_CHECK(events.Flush().ok());
  XP_CHECK(out.store->Commit().ok());
  return out;
}

inline ImportedXSpace ImportXSpace(const std::vector<Plane>& planes) {
  std::string bytes = XSpaceOf(planes);
  return ImportXSpace(bytes);
}

}  // namespace xlaprof
