#include "cli/query_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "cli/input_options.h"
#include "cli/query_output.h"
#include "cli/query_views.h"
#include "cli/terminal.h"
#include "core/base/escape.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

struct QueryOptions {
  std::string path, sql, format = "table";
  InputOptions input;  // its paths are unused
};

// The requests that SQLite's authorizer saw while a statement was prepared.
struct Wishes {
  bool writes_temp = false;
  bool refused = false;
};

// Allows statements to read, and to write temporary tables. `where` is the database of the action.
int Authorize(void* context, int action, const char* first, const char* /*second*/,
              const char* where, const char* /*trigger*/) {
  auto& wishes = *static_cast<Wishes*>(context);
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_PRAGMA:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ANALYZE:
      return SQLITE_OK;
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_TRIGGER:
    case SQLITE_DROP_TEMP_VIEW:
      wishes.writes_temp = true;
      return SQLITE_OK;
    case SQLITE_ALTER_TABLE:  // `first` is the database
      if (first != nullptr && std::strcmp(first, "temp") == 0) {
        wishes.writes_temp = true;
        return SQLITE_OK;
      }
      break;
    case SQLITE_UPDATE:  // declaring a virtual table does this; a real update is not read-only
      if (first != nullptr && std::strcmp(first, "sqlite_master") == 0) return SQLITE_OK;
      [[fallthrough]];
    default:
      if (where != nullptr && std::strcmp(where, "temp") == 0) {
        wishes.writes_temp = true;
        return SQLITE_OK;
      }
  }
  wishes.refused = true;
  return SQLITE_DENY;
}

// Returns the line of `sql` with byte `offset`, and a caret under that byte.
std::string PointAt(std::string_view sql, size_t offset) {
  offset = std::min(offset, sql.size());
  size_t begin = offset == 0 ? 0 : sql.rfind('\n', offset - 1);
  begin = begin == std::string_view::npos ? 0 : sql[begin] == '\n' ? begin + 1 : begin;
  size_t end = std::min(sql.find('\n', offset), sql.size());
  std::string line(sql.substr(begin, end - begin));
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  auto before = sql.substr(begin, offset - begin);
  auto column = std::count_if(before.begin(), before.end(),
                              [](unsigned char c) { return (c & 0xc0) != 0x80; });
  return fmt::format("\n  {}\n  {:>{}}", line, '^', column + 1);
}

absl::Status SqlError(sqlite3* db, std::string_view sql, const char* statement) {
  const int code = sqlite3_errcode(db);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return SqliteError(db, "query");
  std::string message = sqlite3_errmsg(db);
  int offset = sqlite3_error_offset(db);
  std::string where =
      offset < 0 ? "" : PointAt(sql, size_t(statement - sql.data()) + size_t(offset));
  std::string hint;
  if (message.starts_with("no such table")) {
    hint =
        "\nTables: event, arg, flow, counter_sample, and those of SELECT name FROM sqlite_schema. "
        "Views: findings, steps, compiles_by_site, and others of SELECT name FROM "
        "sqlite_temp_schema";
  }
  return Invalid("{}{}{}", message, where, hint);
}

absl::Status Refusal(std::string_view sql, const char* statement) {
  size_t offset = size_t(statement - sql.data());
  while (offset < sql.size() && std::strchr(" \t\r\n", sql[offset]) != nullptr) ++offset;
  return Invalid("query only reads: tables can be written only where they are TEMP{}",
                 PointAt(sql, offset));
}

// Runs all statements. Sets `printed` when there is output.
absl::Status RunStatements(const Store& store, const std::string& sql, QueryOutput& output,
                           bool* printed) {
  Wishes wishes;
  sqlite3* db = store.db();
  sqlite3_set_authorizer(db, Authorize, &wishes);
  struct Unset {
    sqlite3* db;
    ~Unset() { sqlite3_set_authorizer(db, nullptr, nullptr); }
  } unset{db};
  const char* next = sql.c_str();
  while (*next != '\0') {
    wishes = {};
    const char* statement = next;
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, statement, -1, &raw, &next) != SQLITE_OK) {
      return wishes.refused ? Refusal(sql, statement) : SqlError(db, sql, statement);
    }
    if (raw == nullptr) continue;  // a comment, or blank
    Statement prepared(raw);
    if (!sqlite3_stmt_readonly(raw) && !wishes.writes_temp) return Refusal(sql, statement);
    bool prints = sqlite3_column_count(raw) > 0;
    int rc = sqlite3_step(raw);
    if (prints && (rc == SQLITE_ROW || rc == SQLITE_DONE)) {
      *printed = true;
      output.Begin(raw);
      for (; rc == SQLITE_ROW; rc = sqlite3_step(raw)) output.Row(raw);
      output.End();
    }
    if (rc != SQLITE_DONE)
      return wishes.refused ? Refusal(sql, statement) : SqlError(db, sql, statement);
  }
  return absl::OkStatus();
}

absl::Status QueryOn(const Store& store, const QueryOptions& options, bool* printed) {
  auto output = QueryOutput::Make(options.format, stdout);
  absl::Status status = RunStatements(store, options.sql, *output, printed);
  // Damage is not an error, because the rest was read. But the user must know that counts may be
  // too low.
  XP_TRY(std::string damage, DamageOf(store));
  if (!damage.empty()) std::fprintf(stderr, "xlaprof: %s\n", Printable(damage).c_str());
  XP_TRY(auto damaged, store.One<int64_t>("SELECT xlaprof_chunks_damaged()"));
  if (damaged.value_or(0) > 0) {
    std::fprintf(
        stderr,
        "xlaprof: %lld damaged chunks of this store were left out: the result lacks their events\n",
        static_cast<long long>(*damaged));
  }
  if (std::fflush(stdout) != 0 && status.ok())
    return IoError("cannot write the result: {}", std::strerror(errno));
  return status;
}

absl::Status Query(const QueryOptions& options) {
  bool printed = false;
  absl::Status status;
  XP_TRY(WithInput(options.input, [&](Store& store) {
    status = AddQueryViews(options.sql, store);
    if (status.ok()) status = QueryOn(store, options, &printed);
    // After rows were printed, the query is not repeated on recovered data, which would print them
    // again.
    return absl::IsDataLoss(status) && !printed ? status : absl::OkStatus();
  }));
  return status;
}

}  // namespace

void AddQueryCommand(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = app.add_subcommand("query", "Reads a store or any capture with SQL");
  command->add_option("PATH", options->path, "A store, a capture file, or a directory of them")
      ->required();
  command
      ->add_option("SQL", options->sql,
                   "One or more statements that read; temporary tables may be made")
      ->required();
  command->add_option("--format", options->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  AddRunOptions(*command, options->input);
  command->footer(
      "Example: xlaprof query run.xlaprof \"SELECT name, count(*), sum(dur_ns) FROM event GROUP BY "
      "name\"");
  command->callback([options, &exit_status] {
    options->input.paths = {options->path};
    exit_status = RunOnInput(options->input, [&] { return Query(*options); });
  });
}

}  // namespace xlaprof
