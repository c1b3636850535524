// Prints the rows of `query`: as an aligned table, CSV or JSON.
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>

#include "base/escape.h"
#include "profiler/store/read_sql.h"

namespace xlaprof {

// Prints the results of statements to a stream, one after the other. Takes no more rows if the
// stream cannot be written. Not thread-safe.
//   table: columns are aligned, numbers to the right; NULL is empty. A blank line separates two
//          results. Control characters are escaped, so that no text of a capture can move the
//          cursor.
//   csv:   RFC 4180 (CRLF, quotes doubled), with a header. NULL is an empty field, an empty text is
//          "". Text that a spreadsheet would take for a formula gets a ' before it, unless `texts`
//          asks for the text as it is. On a terminal, control characters are escaped.
//   json:  an array of objects per result, one object per line. Integers beyond 2^53 are strings,
//          because readers that hold numbers as doubles would round them. A column name that occurs
//          twice gets the suffix _2.
// All formats print a BLOB as lower-case hex.
class QueryOutput : public SqlResults {
 public:
  // Returns the output for `format`: table, csv or json. Returns null for other formats.
  static std::unique_ptr<QueryOutput> Make(std::string_view format, std::FILE* out,
                                           CsvTexts texts = CsvTexts::kNoFormulas);
};

}  // namespace xlaprof
