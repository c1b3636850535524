// How `query` prints the rows of a statement: an aligned table, CSV or JSON.
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>

#include "profiler/store/sqlite.h"

namespace xlaprof {

// Prints the results of statements, one after the other, to a stream. Not thread-safe.
//   table: columns aligned, numbers to the right, NULL empty; a blank line between two results.
//          Control characters are escaped, so that no text of a capture can move the cursor.
//   csv:   RFC 4180 (CRLF, quotes doubled), with a header; NULL is an empty field, an empty text is
//          "". Text that a spreadsheet would take for a formula gets a ' before it. On a terminal,
//          control characters are escaped.
//   json:  an array of objects for each result, one object a line. Integers beyond 2^53 are
//          strings, because readers that hold numbers as doubles would round them; a column name
//          that comes twice gets _2 behind it.
// In all of them a BLOB is lower-case hex.
class QueryOutput {
 public:
  virtual ~QueryOutput() = default;
  // `stmt` stands before its first row, and has at least one column.
  virtual void Begin(sqlite3_stmt* stmt) = 0;
  // `stmt` stands on a row.
  virtual void Row(sqlite3_stmt* stmt) = 0;
  virtual void End() = 0;

  // `format`: table, csv or json; null for another.
  static std::unique_ptr<QueryOutput> Make(std::string_view format, std::FILE* out);
};

}  // namespace xlaprof
