#include "profiler/store/chunk_packer.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Constant arguments of some names are moved out of a column only if that saves this many values,
// because each column is a row of its own.
constexpr size_t kWorthOwnColumn = 16;
// If there are more columns than this, none is kept for the next chunk.
constexpr size_t kMaxKeptColumns = 1024;

}  // namespace

void ChunkPacker::Pack(const ChunkInput& input, PackedChunk* packed) {
  packed->track_id = input.track_id;
  packed->count = input.events.size;
  encoder_.Events(input.events, &packed->events);
  packed->columns.clear();
  TakeArgs(input);

  const EncodedEvents& encoded = packed->events;
  const size_t names = encoded.names.size();
  Constants constants;
  if (input.name_args != nullptr && !input.name_args->empty()) {
    for (uint32_t name = 0; name < names; ++name) {
      auto found = input.name_args->find(encoded.names[name]);
      if (found == input.name_args->end()) continue;
      for (const BufferedArg& arg : found->second) {
        Column& column = constants[{arg.key, arg.type}];
        column.index.push_back(name);
        column.bits.push_back(arg.bits);
      }
    }
  }
  std::vector<uint32_t> of_name;  // number of events of each name
  for (auto& [key, column] : columns_) {
    if (column->index.empty()) continue;
    if (of_name.empty()) {
      of_name.resize(names);
      for (uint16_t name : encoded.name_index) ++of_name[name];
    }
    TakeConstants(encoded, of_name, key, *column, constants);
    if (!column->index.empty()) Write(key, false, *column, input.events.size, packed);
  }
  for (const auto& [key, column] : constants) Write(key, true, column, names, packed);
  if (columns_.size() > kMaxKeptColumns) {
    columns_.clear();
    columns_by_place_ = {};
  }
}

void ChunkPacker::TakeArgs(const ChunkInput& input) {
  for (auto& [key, column] : columns_) column->index.clear(), column->bits.clear();
  // Other events may give the label's key as an argument. Both go into one column, event by event.
  Column* const of_labels =
      input.labels.empty() ? nullptr : &ColumnOf({input.label_key, ArgType::kString});
  for (size_t i = 0; i < std::max(input.labels.size(), input.first_arg.size()); ++i) {
    if (of_labels != nullptr && input.labels[i] != 0) {
      of_labels->index.push_back(uint32_t(i));
      of_labels->bits.push_back(input.labels[i]);
    }
    if (input.first_arg.empty()) continue;
    const size_t from = input.first_arg[i];
    const size_t to = i + 1 < input.first_arg.size() ? input.first_arg[i + 1] : input.args.size();
    for (size_t at = from; at < to; ++at) {
      const BufferedArg& arg = input.args[at];
      Column& column = ColumnAt(at - from, {arg.key, arg.type});
      column.index.push_back(uint32_t(i));
      column.bits.push_back(arg.bits);
    }
  }
}

ChunkPacker::Column& ChunkPacker::ColumnAt(size_t place, ColumnKey key) {
  auto& [known, column] = columns_by_place_[place % columns_by_place_.size()];
  if (column == nullptr || known != key) {
    known = key;
    column = &ColumnOf(key);
  }
  return *column;
}

ChunkPacker::Column& ChunkPacker::ColumnOf(ColumnKey key) {
  auto& slot = columns_[key];
  if (slot == nullptr) slot = std::make_unique<Column>();
  return *slot;
}

// Moves the values that all events of a name share from `column` to the by_name column of `key`.
void ChunkPacker::TakeConstants(const EncodedEvents& encoded, const std::vector<uint32_t>& of_name,
                                ColumnKey key, Column& column, Constants& constants) {
  struct Seen {
    uint64_t bits = 0;
    uint32_t count = 0, last_event = UINT32_MAX;
    bool varies = false;
  };
  std::vector<Seen> seen(of_name.size());
  for (size_t i = 0; i < column.index.size(); ++i) {
    Seen& name = seen[encoded.name_index[column.index[i]]];
    name.varies |=
        (name.count > 0 && name.bits != column.bits[i]) || name.last_event == column.index[i];
    name.bits = column.bits[i];
    name.last_event = column.index[i];
    ++name.count;
  }
  auto given = constants.find(key);
  if (given != constants.end()) {  // NameArg gave these names a value of their own
    for (uint32_t name : given->second.index) seen[name].varies = true;
  }
  auto constant = [&](uint32_t name) {
    return !seen[name].varies && seen[name].count == of_name[name];
  };
  size_t moved = 0, moved_names = 0;
  for (uint32_t name = 0; name < seen.size(); ++name) {
    if (seen[name].count > 0 && constant(name)) moved += seen[name].count, ++moved_names;
  }
  if (moved_names == 0 || (moved < column.index.size() && moved - moved_names < kWorthOwnColumn))
    return;

  Column merged;
  const Column none;
  const Column& before = given == constants.end() ? none : given->second;
  size_t next = 0;
  for (uint32_t name = 0; name < seen.size(); ++name) {
    if (next < before.index.size() && before.index[next] == name) {
      merged.index.push_back(name);
      merged.bits.push_back(before.bits[next++]);
    } else if (seen[name].count > 0 && constant(name)) {
      merged.index.push_back(name);
      merged.bits.push_back(seen[name].bits);
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < column.index.size(); ++i) {
    if (constant(encoded.name_index[column.index[i]])) continue;
    column.index[kept] = column.index[i];
    column.bits[kept++] = column.bits[i];
  }
  column.index.resize(kept);
  column.bits.resize(kept);
  constants[key] = std::move(merged);
}

void ChunkPacker::Write(ColumnKey key, bool by_name, const Column& column, size_t limit,
                        PackedChunk* packed) {
  packed->columns.push_back(
      {.key = key.first,
       .type = key.second,
       .by_name = by_name,
       .count = int64_t(column.index.size()),
       .blob = encoder_.Arguments(key.second, column.index, column.bits, limit)});
}

}  // namespace xlaprof
