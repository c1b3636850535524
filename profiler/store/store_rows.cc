// Writes and reads whole rows. The templates are instantiated here, once for each struct of rows.h,
// because otherwise every file that uses rows would compile them again.
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

absl::Status Insert(Statement& statement) {
  absl::Status status = internal::ToStatus(statement.Step());
  statement.Reset();
  return status;
}

}  // namespace

template <class Row>
absl::StatusOr<int64_t> Store::Add(const Row& row) {
  XP_TRY(Statement * statement, Cached(Row::kInsert));
  int index = 0;
  constexpr bool kHasId = requires { Row::id; };
  if constexpr (kHasId) statement->Bind(++index, row.id == 0 ? OptInt() : OptInt(row.id));
  Row::EachColumn(row, [&](const auto& value) { statement->Bind(++index, value); });
  XP_TRY(Insert(*statement));
  return kHasId ? int64_t(sqlite3_last_insert_rowid(db())) : 0;
}

template <class Row>
absl::StatusOr<std::vector<Row>> Store::TakeRows(Statement statement) {
  std::vector<Row> rows;
  while (true) {
    XP_TRY(bool more, statement.Step());
    if (!more) return rows;
    Row& row = rows.emplace_back();
    int column = 0;
    auto read = [&](auto& value) {
      value = statement.Column<std::decay_t<decltype(value)>>(column++);
    };
    if constexpr (requires { Row::id; }) read(row.id);
    Row::EachColumn(row, read);
  }
}

#define XLAPROF_INSTANTIATE(Row)                           \
  template absl::StatusOr<int64_t> Store::Add(const Row&); \
  template absl::StatusOr<std::vector<Row>> Store::TakeRows<Row>(Statement);
XLAPROF_EACH_ROW(XLAPROF_INSTANTIATE)

}  // namespace xlaprof
