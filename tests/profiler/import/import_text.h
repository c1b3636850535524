// Runs an importer, or all dialects of the output of programs, on a text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/import/formats.h"
#include "profiler/import/importer.h"
#include "profiler/import/log/program_output.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct ImportedText {
  std::unique_ptr<Store> store;
  absl::Status status;

  // Returns the rows of a query, with columns joined by '|' and NULL as "-".
  std::vector<std::string> Rows(std::string_view sql) const {
    std::vector<std::string> rows;
    auto statement = store->Prepare(sql);
    if (!statement.ok()) return {std::string(Message(statement.status()))};
    while (*statement->Step()) {
      std::string& row = rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement->get()); ++i) {
        if (i > 0) row += '|';
        row += statement->IsNull(i) ? "-" : std::string(statement->Column<std::string_view>(i));
      }
    }
    return rows;
  }
};

// Calls read(input, context) for a source with id 1.
template <class Read>
ImportedText ImportTextWith(std::string_view text, const Read& read) {
  ImportedText out;
  out.store = std::make_unique<Store>(Store::CreateTemporary().value());
  XP_CHECK(out.store->Begin().ok());
  EventWriter events(*out.store);
  ImportContext context(*out.store, events, 1);
  XP_CHECK(out.store->Add(SourceRow{.id = 1, .path = "given.txt"}).ok());
  out.status = read(Input{"given.txt", text}, context);
  if (out.status.ok()) out.status = events.Flush();
  return out;
}

inline ImportedText ImportText(const Importer& importer, std::string_view text) {
  return ImportTextWith(text, importer.read);
}

// Reads the output of a program that was taken for this dialect, or that the user said is of this
// dialect.
inline ImportedText ImportText(const Dialect& dialect, std::string_view text,
                               bool is_asked_for = false) {
  return ImportTextWith(text, [&](const Input& input, ImportContext& context) {
    return ReadProgramOutput(input, context, &dialect, is_asked_for);
  });
}

// Returns the dialect that a text is taken for, or null.
inline const Dialect* RecognisedDialect(std::string_view text) {
  const Format* format = Recognise(text).format;
  return format == nullptr ? nullptr : format->dialect;
}

}  // namespace xlaprof
