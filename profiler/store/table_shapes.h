// Tells from a record of a damaged store which table of a store it may belong to. Internal to
// damaged_store.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/store/damaged_file.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct ColumnShape {
  std::string name;
  char affinity = 0;  // 'i'nteger, 'r'eal, 't'ext, 'b'lob, or '*': anything
  bool nullable = true;
  bool is_rowid = false;
};

// A table or an index, and what its records look like in the order in which they are stored.
struct Shape {
  std::string table;                      // name of the table, or of the index itself
  bool is_index = false;                  // holds no rows that are not in a table
  bool by_rowid = true;                   // in a table tree, else an index tree
  std::vector<ColumnShape> columns;       // stored order
  uint32_t root = 0;                      // root page in a fresh store
  int chunk_blob = -1, chunk_count = -1;  // positions of the blob of a chunk and of its count
  std::string insert;
};

// Returns the shapes of all tables and indexes of a fresh store.
absl::StatusOr<std::vector<Shape>> Shapes(const Store& store);

// Returns whether a record has the number and the types of values that rows of this table have.
bool Fits(const Shape& shape, const PageRecord& record);

// Returns the table or index whose rows an orphan page holds, or null.
const Shape* Recognise(const std::vector<Shape>& shapes, const RecordPage& page);

}  // namespace xlaprof
