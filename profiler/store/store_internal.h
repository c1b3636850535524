// Template bodies of store.h.
#pragma once

#include "profiler/store/store.h"

namespace xlaprof {
namespace internal {

void BindInt(sqlite3_stmt* stmt, int index, int64_t value);
void BindReal(sqlite3_stmt* stmt, int index, double value);
void BindText(sqlite3_stmt* stmt, int index, std::string_view value);
void BindNull(sqlite3_stmt* stmt, int index);
int64_t ColumnInt(sqlite3_stmt* stmt, int index);
double ColumnReal(sqlite3_stmt* stmt, int index);
std::string_view ColumnText(sqlite3_stmt* stmt, int index);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class Fn>
struct Signature : Signature<decltype(&std::remove_reference_t<Fn>::operator())> {};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) const> {
  using Result = R;
  using Tuple = std::tuple<std::decay_t<Args>...>;
};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...)> : Signature<R (C::*)(Args...) const> {};

template <class Tuple, size_t... I>
Tuple ReadRow(const Statement& statement, std::index_sequence<I...>) {
  return Tuple{statement.Column<std::tuple_element_t<I, Tuple>>(int(I))...};
}

}  // namespace internal

template <class T>
void Statement::Bind(int index, const T& value) {
  if constexpr (internal::IsOptional<T>::value) {
    if (value) {
      Bind(index, *value);
    } else {
      internal::BindNull(stmt_, index);
    }
  } else if constexpr (HasWords<T>) {
    internal::BindText(stmt_, index, TextOf(value));
  } else if constexpr (std::is_integral_v<T>) {
    internal::BindInt(stmt_, index, int64_t(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    internal::BindReal(stmt_, index, value);
  } else if constexpr (std::is_same_v<T, std::nullopt_t> || std::is_null_pointer_v<T>) {
    internal::BindNull(stmt_, index);
  } else {
    internal::BindText(stmt_, index, std::string_view(value));
  }
}

template <class T>
T Statement::Column(int index) const {
  if constexpr (internal::IsOptional<T>::value) {
    if (IsNull(index)) return std::nullopt;
    return Column<typename T::value_type>(index);
  } else if constexpr (HasWords<T>) {
    return ParseWord<T>(internal::ColumnText(stmt_, index));
  } else if constexpr (std::is_same_v<T, bool>) {
    return internal::ColumnInt(stmt_, index) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return T(internal::ColumnInt(stmt_, index));
  } else if constexpr (std::is_floating_point_v<T>) {
    return internal::ColumnReal(stmt_, index);
  } else {
    return T(internal::ColumnText(stmt_, index));
  }
}

template <class Row>
absl::StatusOr<int64_t> Store::Add(const Row& row) {
  // Never destroyed, because a recording may end after the program's statics are destroyed.
  static const std::string& sql = *new std::string([] {
    std::string names, marks;
    auto add = [&](const char* name) {
      names += names.empty() ? "" : ",";
      marks += marks.empty() ? "?" : ",?";
      names += name;
    };
    if constexpr (requires { Row::id; }) add("id");
    Row empty;
    Row::EachColumn(empty, [&](const char* name, const auto&) { add(name); });
    return fmt::format("INSERT INTO main.{} ({}) VALUES ({})", Row::kTable, names, marks);
  }());
  XP_TRY(Statement * statement, Cached(sql));
  int index = 0;
  if constexpr (requires { Row::id; }) {
    statement->Bind(++index, row.id == 0 ? OptInt() : OptInt(row.id));
  }
  Row::EachColumn(row, [&](const char*, const auto& value) { statement->Bind(++index, value); });
  absl::Status status = internal::ToStatus(statement->Step());
  statement->Reset();
  XP_TRY(std::move(status));
  if constexpr (requires { Row::id; }) {
    return row.id != 0 ? row.id : int64_t(sqlite3_last_insert_rowid(db()));
  }
  return 0;
}

template <class Row, class... Params>
absl::StatusOr<std::vector<Row>> Store::ReadRows(std::string_view table, std::string_view rest,
                                                 const Params&... params) const {
  Row empty;
  std::string columns;
  auto add = [&](const char* name, const auto&) {
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", name);
  };
  if constexpr (requires { Row::id; }) add("id", 0);
  Row::EachColumn(empty, add);
  XP_TRY(Statement statement, Prepare(fmt::format("SELECT {} FROM {} {}", columns, table, rest)));
  int index = 0;
  (statement.Bind(++index, params), ...);
  std::vector<Row> rows;
  while (true) {
    XP_TRY(bool more, statement.Step());
    if (!more) return rows;
    Row& row = rows.emplace_back();
    int column = 0;
    auto read = [&](const char*, auto& value) {
      value = statement.Column<std::decay_t<decltype(value)>>(column++);
    };
    if constexpr (requires { Row::id; }) read("id", row.id);
    Row::EachColumn(row, read);
  }
}

template <class... Params>
absl::Status Store::Run(std::string_view sql, const Params&... params) const {
  XP_TRY(Statement statement, Prepare(sql));
  int index = 0;
  (statement.Bind(++index, params), ...);
  return internal::ToStatus(statement.Step());
}

template <class Fn, class... Params>
absl::Status Store::Each(std::string_view sql, Fn&& fn, const Params&... params) const {
  using Tuple = typename internal::Signature<Fn>::Tuple;
  using Result = typename internal::Signature<Fn>::Result;
  XP_TRY(Statement statement, Prepare(sql));
  int index = 0;
  (statement.Bind(++index, params), ...);
  while (true) {
    XP_TRY(bool row, statement.Step());
    if (!row) return absl::OkStatus();
    Tuple values =
        internal::ReadRow<Tuple>(statement, std::make_index_sequence<std::tuple_size_v<Tuple>>());
    if constexpr (std::is_void_v<Result>) {
      std::apply(fn, std::move(values));
    } else {
      XP_TRY(std::apply(fn, std::move(values)));
    }
  }
}

template <class Fn, class... Params>
auto Store::Collect(std::string_view sql, Fn&& fn, const Params&... params) const {
  using Sig = internal::Signature<Fn>;
  using Tuple = typename Sig::Tuple;
  using Result = typename Sig::Result;
  auto run = [&]() -> absl::StatusOr<std::vector<Result>> {
    std::vector<Result> out;
    XP_TRY(Statement statement, Prepare(sql));
    int index = 0;
    (statement.Bind(++index, params), ...);
    while (true) {
      XP_TRY(bool row, statement.Step());
      if (!row) return out;
      out.push_back(
          std::apply(fn, internal::ReadRow<Tuple>(
                             statement, std::make_index_sequence<std::tuple_size_v<Tuple>>())));
    }
  };
  return run();
}

template <class T, class... Params>
absl::StatusOr<std::optional<T>> Store::One(std::string_view sql, const Params&... params) const {
  XP_TRY(Statement statement, Prepare(sql));
  int index = 0;
  (statement.Bind(++index, params), ...);
  XP_TRY(bool row, statement.Step());
  if (!row) return std::optional<T>();
  return statement.Column<std::optional<T>>(0);
}

}  // namespace xlaprof
