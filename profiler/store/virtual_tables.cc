#include "profiler/store/virtual_tables.h"

#include <algorithm>
#include <cmath>

#include "profiler/store/virtual_tables_internal.h"

namespace xlaprof {

extern const char* const kVirtualTablesSql;

absl::Status RegisterVirtualTables(sqlite3* db, std::shared_ptr<int64_t> interned) {
  auto connection = std::make_shared<sql::Connection>(db, std::move(interned));
  XP_TRY(sql::RegisterEvent(db, connection));
  XP_TRY(sql::RegisterArg(db, connection));
  XP_TRY(sql::RegisterFlow(db, connection));
  XP_TRY(sql::RegisterCounterSample(db, connection));
  auto add = [&](const char* name, void (*function)(sqlite3_context*, int, sqlite3_value**)) {
    auto* shared = new std::shared_ptr<sql::Connection>(connection);
    int rc = sqlite3_create_function_v2(
        db, name, 0, SQLITE_UTF8, shared, function, nullptr, nullptr,
        [](void* p) { delete static_cast<std::shared_ptr<sql::Connection>*>(p); });
    return rc == SQLITE_OK ? absl::OkStatus() : SqliteError(db, "registering functions");
  };
  XP_TRY(add("xlaprof_chunks_read", [](sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_int64(
        context,
        (*static_cast<std::shared_ptr<sql::Connection>*>(sqlite3_user_data(context)))->chunks_read);
  }));
  XP_TRY(add("xlaprof_chunks_damaged", [](sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_int64(
        context, (*static_cast<std::shared_ptr<sql::Connection>*>(sqlite3_user_data(context)))
                     ->chunks_damaged);
  }));
  return absl::OkStatus();
}

namespace sql {

std::string Declaration(std::string_view name) {
  std::string_view all = kVirtualTablesSql;
  size_t begin = all.find(fmt::format("CREATE TABLE {} (", name));
  XP_CHECK(begin != std::string_view::npos);
  return std::string(all.substr(begin, all.find("\n);", begin) + 2 - begin));
}

int Fail(sqlite3_vtab* table, const absl::Status& status) {
  if (status.ok()) return SQLITE_OK;
  sqlite3_free(table->zErrMsg);
  std::string message(Message(status));
  table->zErrMsg = sqlite3_mprintf("%s", message.c_str());
  // A status that SqliteError made of a code becomes that code again, so that callers find the same
  // advice.
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      return SQLITE_FULL;
    case absl::StatusCode::kDataLoss:
      return SQLITE_CORRUPT;
    case absl::StatusCode::kPermissionDenied:
      return SQLITE_READONLY;
    default:
      return SQLITE_ERROR;
  }
}

void ResultText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
}

// --- constraints ---

void Range::Narrow(int op, sqlite3_value* value) {
  int64_t low, high;  // the integers that may equal the value lie between them
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      none = true;
      return;
    case SQLITE_INTEGER:
      low = high = sqlite3_value_int64(value);
      break;
    case SQLITE_FLOAT: {
      constexpr double kLimit = 9.2e18;  // a little inside int64
      double real = sqlite3_value_double(value);
      low = real < -kLimit  ? INT64_MIN
            : real > kLimit ? int64_t(kLimit)
                            : int64_t(std::floor(real));
      high = real < -kLimit  ? int64_t(-kLimit)
             : real > kLimit ? INT64_MAX
                             : int64_t(std::ceil(real));
      break;
    }
    default:
      return;
  }
  bool exact = low == high;
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      from = std::max(from, low), to = std::min(to, high);
      break;
    case SQLITE_INDEX_CONSTRAINT_GT:
      if (exact && low == INT64_MAX) none = true;
      from = std::max(from, exact && low < INT64_MAX ? low + 1 : low);
      break;
    case SQLITE_INDEX_CONSTRAINT_GE:
      from = std::max(from, low);
      break;
    case SQLITE_INDEX_CONSTRAINT_LT:
      if (exact && high == INT64_MIN) none = true;
      to = std::min(to, exact && high > INT64_MIN ? high - 1 : high);
      break;
    case SQLITE_INDEX_CONSTRAINT_LE:
      to = std::min(to, high);
      break;
  }
}

std::vector<Constraint> TakeConstraints(sqlite3_index_info* info, uint64_t range_columns,
                                        uint64_t text_columns) {
  std::vector<Constraint> taken;
  std::string packed;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    int column = constraint.iColumn < 0 ? 0 : constraint.iColumn;
    if (!constraint.usable || column > 62) continue;
    bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    bool compares = equal || constraint.op == SQLITE_INDEX_CONSTRAINT_GT ||
                    constraint.op == SQLITE_INDEX_CONSTRAINT_GE ||
                    constraint.op == SQLITE_INDEX_CONSTRAINT_LT ||
                    constraint.op == SQLITE_INDEX_CONSTRAINT_LE;
    bool by_range = compares && (range_columns >> column & 1) != 0;
    bool by_text = equal && (text_columns >> column & 1) != 0 &&
                   sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
    if (!by_range && !by_text) continue;
    taken.push_back({column, constraint.op});
    info->aConstraintUsage[i].argvIndex = int(taken.size());
    packed += fmt::format("{},{};", column, int(constraint.op));
  }
  info->idxStr = sqlite3_mprintf("%s", packed.c_str());
  info->needToFreeIdxStr = 1;
  return taken;
}

std::vector<Constraint> ParseConstraints(const char* idx_str) {
  std::vector<Constraint> taken;
  int column, op, used;
  while (idx_str != nullptr && std::sscanf(idx_str, "%d,%d;%n", &column, &op, &used) == 2) {
    taken.push_back({column, op});
    idx_str += used;
  }
  return taken;
}

bool Takes(const std::vector<Constraint>& taken, int column, bool equal) {
  return std::any_of(taken.begin(), taken.end(), [&](const Constraint& constraint) {
    return constraint.column == column && (constraint.op == SQLITE_INDEX_CONSTRAINT_EQ) == equal;
  });
}

void SetCost(sqlite3_index_info* info, double cost, double rows, bool unique) {
  info->estimatedCost = std::max(1.0, cost);
  info->estimatedRows = std::max<sqlite3_int64>(1, sqlite3_int64(rows));
  if (unique) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}

}  // namespace sql
}  // namespace xlaprof
