// The result of a statement in columns, whose buffers have Arrow's layout, so that other libraries
// use them without copies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/read_sql.h"

namespace xlaprof::python {

enum class ColumnType { kNull, kInt, kDouble, kText, kBytes };

// A column of one type, which is that of its values. SQLite's values have a type each: integers
// among reals become doubles, and numbers among texts become texts. A column without values has the
// type that the table declares, or none.
class Column {
 public:
  Column(std::string name, ColumnType declared) : name(std::move(name)), type(declared) {}

  // Adds the value of a column of the current row of `stmt`.
  void Add(sqlite3_stmt* stmt, int index);

  bool IsNull(size_t row) const { return (valid[row / 8] >> (row % 8) & 1) == 0; }
  std::string_view Text(size_t row) const {
    return std::string_view(bytes).substr(size_t(ends[row]), size_t(ends[row + 1] - ends[row]));
  }

  std::string name;
  ColumnType type;
  std::vector<uint8_t> valid;  // one bit per row, the lowest first
  int64_t nulls = 0, rows = 0;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<int64_t> ends{0};  // where the texts end; the first begins at 0
  std::string bytes;

 private:
  // Makes this a column of `wanted`, which holds all that it held.
  void Become(ColumnType wanted);
  void AddText(std::string_view text);
  bool has_values_ = false;
};

struct Columns {
  std::vector<Column> columns;
  int64_t rows = 0;
};

// Keeps the last result.
class ColumnsOfResult : public SqlResults {
 public:
  void Begin(sqlite3_stmt* stmt) override;
  bool Row(sqlite3_stmt* stmt) override;
  void End() override {}
  std::shared_ptr<const Columns> Take() { return std::move(columns_); }

 private:
  std::shared_ptr<Columns> columns_ = std::make_shared<Columns>();
};

}  // namespace xlaprof::python
