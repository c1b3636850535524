#include "exporters/sqlite/row_inserter.h"

namespace xlaprof {

absl::StatusOr<RowInserter> RowInserter::Make(sqlite3* db, const std::string& table,
                                              size_t columns) {
  RowInserter inserter(db, fmt::format("INSERT OR IGNORE INTO {} VALUES ", table), columns);
  inserter.cells_.reserve(kRowsAStatement * columns);
  XP_TRY(inserter.many_, inserter.Prepare(kRowsAStatement));
  return inserter;
}

absl::StatusOr<Statement> RowInserter::Prepare(size_t rows) const {
  std::string row = "(";
  for (size_t i = 0; i < columns_; ++i) row += i == 0 ? "?" : ",?";
  row += ")";
  std::string sql = head_;
  for (size_t i = 0; i < rows; ++i) sql += (i == 0 ? "" : ",") + row;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql.data(), int(sql.size()), &statement, nullptr) != SQLITE_OK)
    return SqliteError(db_, "export");
  return Statement(statement);
}

absl::Status RowInserter::Insert(Statement& statement) {
  sqlite3_stmt* raw = statement.get();
  auto data = [](std::string_view text) { return text.data() == nullptr ? "" : text.data(); };
  for (size_t i = 0; i < cells_.size(); ++i) {
    const int at = int(i) + 1;
    const Cell& cell = cells_[i];
    if (auto* integer = std::get_if<int64_t>(&cell)) {
      sqlite3_bind_int64(raw, at, *integer);
    } else if (auto* text = std::get_if<std::string_view>(&cell)) {
      sqlite3_bind_text64(raw, at, data(*text), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else if (auto* real = std::get_if<double>(&cell)) {
      sqlite3_bind_double(raw, at, *real);
    } else if (auto* view = std::get_if<BytesView>(&cell)) {
      sqlite3_bind_blob64(raw, at, data(view->bytes), view->bytes.size(), SQLITE_STATIC);
    } else {
      sqlite3_bind_null(raw, at);
    }
  }
  cells_.clear();
  const bool done = sqlite3_step(raw) == SQLITE_DONE;
  absl::Status status = done ? absl::OkStatus() : SqliteError(db_, "export");
  sqlite3_reset(raw);
  return status;
}

absl::Status RowInserter::Finish() {
  if (cells_.empty()) return absl::OkStatus();
  XP_TRY(Statement last, Prepare(cells_.size() / columns_));
  return Insert(last);
}

}  // namespace xlaprof
