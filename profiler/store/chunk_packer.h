// Packs the events of a chunk and their arguments into the blobs of its rows. It only computes and
// does not use SQLite, so that a thread of its own can do it. Internal to profiler/store.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/store/chunk.h"

namespace xlaprof {

struct BufferedArg {
  uint64_t bits;
  StringId key;
  ArgType type;
};
// The arguments that all events of a name have, by name.
using NameArgs = absl::flat_hash_map<StringId, std::vector<BufferedArg>>;

struct ChunkInput {
  int64_t track_id = 0;
  EventColumns events;              // 1 to kChunkEvents, in the order of EventBefore
  std::vector<uint32_t> first_arg;  // for each event, its first in args; empty: there are no args
  std::vector<BufferedArg> args;    // at most kChunkArguments
  std::vector<StringId> labels;     // for each event, 0: none; empty: no event has one
  StringId label_key = 0;
  std::shared_ptr<const NameArgs> name_args;
};

struct PackedColumn {
  StringId key = 0;
  ArgType type = ArgType::kInt;
  bool by_name = false;
  int64_t count = 0;
  std::string blob;
};

struct PackedChunk {
  int64_t track_id = 0;
  size_t count = 0;  // number of events
  EncodedEvents events;
  std::vector<PackedColumn> columns;
};

// Keeps buffers between calls, so only one thread at a time may use it.
class ChunkPacker {
 public:
  void Pack(const ChunkInput& input, PackedChunk* packed);

 private:
  // The values of one key and type.
  struct Column {
    std::vector<uint32_t> index;
    std::vector<uint64_t> bits;
  };
  using ColumnKey = std::pair<StringId, ArgType>;
  using Columns = absl::flat_hash_map<ColumnKey, std::unique_ptr<Column>>;
  using Constants = absl::flat_hash_map<ColumnKey, Column>;

  void TakeArgs(const ChunkInput& input);
  Column& ColumnAt(size_t place, ColumnKey key);
  Column& ColumnOf(ColumnKey key);
  static void TakeConstants(const EncodedEvents& encoded, const std::vector<uint32_t>& of_name,
                            ColumnKey key, Column& column, Constants& constants);
  void Write(ColumnKey key, bool by_name, const Column& column, size_t limit, PackedChunk* packed);

  ChunkEncoder encoder_;
  Columns columns_;
  // The column of the n-th argument of the event before, because the n-th argument of the next
  // event mostly goes into the same column.
  std::array<std::pair<ColumnKey, Column*>, 8> columns_by_place_{};
};

}  // namespace xlaprof
