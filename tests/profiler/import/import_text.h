// Runs one importer on a text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/import/importer.h"
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

inline ImportedText ImportText(const Importer& importer, std::string_view text) {
  ImportedText out;
  out.store = std::make_unique<Store>(Store::CreateTemporary().value());
  XP_CHECK(out.store->Begin().ok());
  EventWriter events(*out.store);
  ImportContext context(*out.store, events, 1);
  out.status = importer.read({"given.txt", text}, context);
  if (out.status.ok()) out.status = events.Flush();
  return out;
}

}  // namespace xlaprof
