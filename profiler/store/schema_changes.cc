#include "profiler/store/schema_changes.h"

#include <array>

namespace xlaprof {
namespace {

// For example "ALTER TABLE compile ADD COLUMN device TEXT". Schema 1 is the first that was released.
constexpr std::array kChanges = {
    // To 2: what torch.compile says of its compilations, and the dialects of a program's output.
    "ALTER TABLE compile_reason ADD COLUMN site_id INTEGER;"
    "ALTER TABLE compile_reason ADD COLUMN is_dynamic INTEGER;"
    "ALTER TABLE source ADD COLUMN dialects TEXT;"
    "CREATE TABLE compile_phase (compile_id INTEGER NOT NULL, phase TEXT NOT NULL, dur_ns INTEGER "
    "NOT NULL, PRIMARY KEY (compile_id, phase)) WITHOUT ROWID",
    // To 3: graph breaks, failed compilations, caches of programs, and torch.compile's numbers.
    "ALTER TABLE graph ADD COLUMN number TEXT;"
    "CREATE TABLE compile_failure (id INTEGER PRIMARY KEY, process_id INTEGER, ordinal INTEGER NOT "
    "NULL, function TEXT, site_id INTEGER, stack_id INTEGER, failed_site_id INTEGER, ts_ns "
    "INTEGER, dur_ns INTEGER, error TEXT, text TEXT);"
    "CREATE TABLE graph_break (id INTEGER PRIMARY KEY, process_id INTEGER, ordinal INTEGER NOT "
    "NULL, function TEXT, site_id INTEGER, stack_id INTEGER, code TEXT, reason TEXT NOT NULL, hint "
    "TEXT);"
    "CREATE TABLE cache_lookup (id INTEGER PRIMARY KEY, process_id INTEGER, ordinal INTEGER NOT "
    "NULL, compile_id INTEGER, cache TEXT NOT NULL, result TEXT NOT NULL, program TEXT, key TEXT, "
    "saved_ns INTEGER, is_stored INTEGER, not_stored TEXT, least_ns INTEGER)",
    // To 4: the kinds of sources, which followed from the formats.
    "ALTER TABLE source ADD COLUMN kind TEXT;"
    "UPDATE source SET kind = CASE WHEN format IN ('xspace', 'chrome', 'perfetto', 'recording') "
    "THEN 'timed' WHEN format IN ('debug_log', 'jax_log', 'torchtpu_log') THEN 'log' WHEN format = "
    "'ir_dump' THEN 'executed' WHEN format = 'jax_ir' THEN 'lowered' WHEN format = 'xla_dump' THEN "
    "'compiled' WHEN format IS NOT NULL THEN 'reports' END",
    // To 5: what xlaprof run records.
    "CREATE TABLE host_sample (id INTEGER PRIMARY KEY, process_id INTEGER, track_id INTEGER NOT "
    "NULL, ts_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL, stack_id INTEGER NOT NULL);"
    "CREATE TABLE observed_process (id INTEGER PRIMARY KEY, process_id INTEGER, command TEXT NOT "
    "NULL, ts_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL, ended INTEGER NOT NULL, steps INTEGER, "
    "step_unit TEXT, cpu_ns INTEGER, own_cpu_ns INTEGER, profile_moment TEXT, profile_ts_ns "
    "INTEGER, profile_dur_ns INTEGER, profile_first_step INTEGER, profile_end_step INTEGER, "
    "profile_error TEXT, problem TEXT)",
    // To 6: when such a process compiled.
    "CREATE TABLE observed_progress (id INTEGER PRIMARY KEY, process_id INTEGER, ts_ns INTEGER NOT "
    "NULL, steps INTEGER NOT NULL, compiles INTEGER NOT NULL)",
    // To 7: what loaders of the lazy runtime dropped.
    "CREATE TABLE loader_epoch (id INTEGER PRIMARY KEY, process_id INTEGER, ordinal INTEGER NOT "
    "NULL, devices INTEGER NOT NULL, batches INTEGER NOT NULL, dropped INTEGER NOT NULL, site_id "
    "INTEGER)",
    // To 8: how long each compilation of such a process took.
    "CREATE TABLE observed_compile (id INTEGER PRIMARY KEY, process_id INTEGER, ordinal INTEGER NOT "
    "NULL, ts_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL)",
    // To 9: where links lead.
    "ALTER TABLE source ADD COLUMN links_to TEXT",
};

static_assert(kOldestSchemaVersion + int(kChanges.size()) == kSchemaVersion,
              "kChanges must have the change from the version before to kSchemaVersion");

}  // namespace

SchemaChanges AllSchemaChanges() { return kChanges; }

absl::Status ChangeSchema(Store& store, int64_t version, SchemaChanges changes) {
  const auto apply = [&]() -> absl::Status {
    for (const char* change : changes.subspan(size_t(version - kOldestSchemaVersion)))
      XP_TRY(store.Exec(change));
    const int64_t newest = kOldestSchemaVersion + int64_t(changes.size());
    XP_TRY(store.Exec(fmt::format("PRAGMA user_version={}", newest)));
    XP_TRY(store.SetMeta("schema_version", fmt::to_string(newest)));
    return store.Commit();
  };
  XP_TRY(store.Begin());
  absl::Status status = apply();
  if (!status.ok()) store.Rollback();
  return status;
}

}  // namespace xlaprof
