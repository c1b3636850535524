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

// Calls `fn`, a function of Result(Args...), with the first columns of the statement's row.
template <class Result, class... Args>
struct RowCall {
  using Returned = Result;
  static Result Call(auto& fn, const Statement& row) {
    return [&]<size_t... I>(std::index_sequence<I...>) -> Result {
      return fn(row.Column<std::decay_t<Args>>(int(I))...);
    }(std::index_sequence_for<Args...>());
  }
};
template <class Fn>
struct RowCallOf : RowCallOf<decltype(&std::remove_reference_t<Fn>::operator())> {};
template <class C, class R, class... Args>
struct RowCallOf<R (C::*)(Args...) const> : RowCall<R, Args...> {};
template <class C, class R, class... Args>
struct RowCallOf<R (C::*)(Args...)> : RowCall<R, Args...> {};

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

template <class... Params>
void Statement::BindAll(const Params&... params) {
  int index = 0;
  (Bind(++index, params), ...);
}

template <class Row, class... Params>
absl::StatusOr<std::vector<Row>> Store::ReadRows(std::string_view schema, std::string_view rest,
                                                 const Params&... params) const {
  XP_TRY(Statement statement,
         Prepare(fmt::format("SELECT {} FROM {}{} {}", Row::kColumns, schema, Row::kTable, rest)));
  statement.BindAll(params...);
  return TakeRows<Row>(std::move(statement));
}

template <class... Params>
absl::Status Store::Run(std::string_view sql, const Params&... params) const {
  XP_TRY(Statement statement, Prepare(sql));
  statement.BindAll(params...);
  return internal::ToStatus(statement.Step());
}

template <class Fn, class... Params>
absl::Status Store::Each(std::string_view sql, Fn&& fn, const Params&... params) const {
  using Call = internal::RowCallOf<Fn>;
  XP_TRY(Statement statement, Prepare(sql));
  statement.BindAll(params...);
  while (true) {
    XP_TRY(bool row, statement.Step());
    if (!row) return absl::OkStatus();
    if constexpr (std::is_void_v<typename Call::Returned>) {
      Call::Call(fn, statement);
    } else {
      XP_TRY(Call::Call(fn, statement));
    }
  }
}

template <class Fn, class... Params>
auto Store::Collect(std::string_view sql, Fn&& fn, const Params&... params) const {
  using Call = internal::RowCallOf<Fn>;
  auto run = [&]() -> absl::StatusOr<std::vector<typename Call::Returned>> {
    std::vector<typename Call::Returned> out;
    XP_TRY(Statement statement, Prepare(sql));
    statement.BindAll(params...);
    while (true) {
      XP_TRY(bool row, statement.Step());
      if (!row) return out;
      out.push_back(Call::Call(fn, statement));
    }
  };
  return run();
}

template <class T, class... Params>
absl::StatusOr<std::optional<T>> Store::One(std::string_view sql, const Params&... params) const {
  XP_TRY(Statement statement, Prepare(sql));
  statement.BindAll(params...);
  XP_TRY(bool row, statement.Step());
  if (!row) return std::optional<T>();
  return statement.Column<std::optional<T>>(0);
}

}  // namespace xlaprof
