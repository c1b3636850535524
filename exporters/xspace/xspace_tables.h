// The two tables of a plane: names of events, and keys (and texts) of statistics. They are filled
// while the plane's lines are written, and follow them in the file.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <span>
#include <string>

#include "exporters/output/proto_file.h"
#include "profiler/store/events.h"

namespace xlaprof {

// The description, in the table, of statistics that do not come from the store. They are for XProf,
// or for our importer.
inline constexpr const char* kAddedStat = "added by xlaprof export";

class XSpaceTables {
 public:
  explicit XSpaceTables(const Store& store) : store_(store) {}

  // Return numbers for statistics: of a key in the store, which may also be a text value, and of a
  // key that only this file has.
  int64_t Key(StringId key) { return KeyNumber(key); }
  int64_t Added(std::string_view key);

  // Append an XStat to an event (field 4), a plane (6) or a name (5).
  void Put(uint32_t field, const Argument& argument, ProtoText& to);
  void PutInt(uint32_t field, int64_t key, int64_t value, ProtoText& to);
  void PutUint(uint32_t field, int64_t key, uint64_t value, ProtoText& to);
  void PutText(uint32_t field, int64_t key, StringId text, ProtoText& to);
  void PutString(uint32_t field, int64_t key, std::string_view text, ProtoText& to);

  // Returns the number of an event's name together with the statistics that all its events share.
  int64_t Name(StringId name, StringId category, std::span<const Argument> shared);
  int64_t Name(std::string_view name);  // without statistics

  void Write(ProtoFile& file) const;

 private:
  int64_t KeyNumber(StringId id);
  int64_t NameNumber(std::string_view fields);

  const Store& store_;
  absl::flat_hash_map<StringId, int64_t> keys_;
  absl::flat_hash_map<std::string, int64_t> added_;
  absl::flat_hash_map<std::string, int64_t> names_;  // by the fields of the XEventMetadata
  int64_t last_key_ = 0;
  ProtoText stat_;
};

}  // namespace xlaprof
