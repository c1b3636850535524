#include "cli/query_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/escape.h"
#include "base/say.h"
#include "cli/input_options.h"
#include "cli/query_output.h"
#include "cli/query_views.h"
#include "cli/terminal.h"
#include "profiler/store/read_sql.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

struct QueryOptions {
  std::string path, sql, format = "table";
  InputOptions input;  // its paths are unused
  bool raw = false;
};

absl::Status QueryOn(const Store& store, const QueryOptions& options, bool* printed) {
  auto output = QueryOutput::Make(options.format, stdout,
                                  options.raw ? CsvTexts::kExact : CsvTexts::kNoFormulas);
  absl::Status status = ReadSql(store, options.sql, *output, printed);
  // Damage is not an error, because the rest was read. But the user must know that counts may be
  // too low.
  XP_TRY(std::string damage, DamageOf(store));
  if (!damage.empty()) Say(fmt::format("xlaprof: {}\n", Printable(damage)));
  XP_TRY(auto damaged, store.One<int64_t>("SELECT xlaprof_chunks_damaged()"));
  if (damaged.value_or(0) > 0) {
    Say(fmt::format(
        "xlaprof: {} damaged chunks of this store were left out: the result lacks their events\n",
        *damaged));
  }
  XP_TRY(std::move(status));
  return Print("");
}

absl::Status Query(const QueryOptions& options) {
  bool printed = false;
  absl::Status status;
  XP_TRY(WithInput(options.input, [&](Store& store) {
    status = AddQueryViews(options.sql, SourceRoots(options.input, {}), store);
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
  command->add_flag(
      "--raw", options->raw,
      "Writes texts of CSV as they are, also those that a spreadsheet takes for formulas");
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
