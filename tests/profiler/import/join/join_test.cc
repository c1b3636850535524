// Tests that the facts of several sources about one process are joined.
#include "profiler/import/join/join.h"

#include <gtest/gtest.h>

#include "profiler/import/formats.h"
#include "profiler/import/import.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

class Sources {
 public:
  Sources() {
    Exec(
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'old', NULL, 0, ''), (2, 'new', NULL, 1, '')");
  }
  void Exec(const std::string& sql) {
    absl::Status status = store->Exec(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Adds a source with one process; the facts that follow belong to that process.
  void Source(int id, const std::string& format, int run = 2, int segment = 0, int source = 0) {
    process_ = id, ordinal_ = 0;
    if (source == 0)
      Exec(fmt::format(
          "INSERT INTO source (id, path, format, imported, kind) VALUES ({0}, '{0}', '{1}', 1, "
          "'{2}')",
          id, format, TextOf(FormatNamed(format)->kind)));
    Exec(fmt::format(
        "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES ({}, {}, {}, {}, NULL, NULL, NULL, NULL)",
        id, run, source == 0 ? id : source, segment));
  }
  void Compile(const std::string& hash, const std::string& dur_ns = "NULL") {
    Exec(
        fmt::format("INSERT INTO compile (process_id, ordinal, graph_id, ts_ns, dur_ns, inferred) "
                    "VALUES ({}, {}, {}, {}, {}, 0)",
                    process_, ordinal_, Graph(hash),
                    dur_ns == "NULL" ? "NULL" : fmt::to_string(ordinal_ * 100), dur_ns));
    ++ordinal_;
  }
  void Execute(const std::string& hash, const std::string& cause, const std::string& ts_ns = "NULL",
               const std::string& step = "NULL") {
    Exec(
        fmt::format("INSERT INTO execution (process_id, ordinal, graph_id, cause, ts_ns, step_id) "
                    "VALUES ({}, {}, {}, '{}', {}, {})",
                    process_, ordinal_++, Graph(hash), cause, ts_ns, step));
  }
  std::string Graph(const std::string& hash) {
    Exec(fmt::format("INSERT INTO graph (process_id, hash) VALUES ({}, nullif('{}', ''))", process_,
                     hash));
    return fmt::to_string(sqlite3_last_insert_rowid(store->db()));
  }
  void Join() {
    absl::Status status = JoinSources(*store);
    ASSERT_TRUE(status.ok()) << status;
  }
  std::string All(const std::string& sql) {
    std::string out;
    absl::Status status = store->Each(sql, [&](std::optional<std::string> value) {
      out += (out.empty() ? "" : " ") + value.value_or("-");
    });
    EXPECT_TRUE(status.ok()) << status;
    return out;
  }
  absl::StatusOr<Store> store = Store::CreateTemporary();

 private:
  int process_ = 0, ordinal_ = 0;
};

constexpr const char* kStory =
    "SELECT coalesce(g.hash, '?') || '@' || coalesce(e.ts_ns, '-') FROM execution e LEFT JOIN "
    "graph g ON g.id = e.graph_id ORDER BY e.process_id, e.ordinal";

TEST(Join, LogAndDumpAreOneProcess) {
  Sources sources;
  sources.Source(1, "debug_log");
  sources.Compile("a"), sources.Execute("a", "user_sync"), sources.Execute("a", "user_sync");
  sources.Source(2, "ir_dump");
  sources.Compile("a"), sources.Execute("a", "user_sync"), sources.Execute("a", "user_sync");
  sources.Join();
  EXPECT_EQ(sources.All(kStory), "a@- a@-");
  EXPECT_EQ(sources.All("SELECT count(*) FROM compile"), "1");
  EXPECT_EQ(sources.All("SELECT count(*) FROM process"), "1");
}

TEST(Join, TwoLogsAreTwoProcesses) {
  Sources sources;
  for (int id : {1, 2}) {
    sources.Source(id, "debug_log");
    sources.Compile("a"), sources.Execute("a", "user_sync");
  }
  sources.Join();
  EXPECT_EQ(sources.All(kStory), "a@- a@-");
  EXPECT_EQ(sources.All("SELECT count(*) FROM process"), "2");
}

TEST(Join, AWindowIsLaidOverTheRunByItsCompiles) {
  Sources sources;
  sources.Source(1, "debug_log");
  for (const char* hash : {"a", "b", "c"}) {
    sources.Compile(hash);
    sources.Execute(hash, "value_access"), sources.Execute(hash, "step_trace_exit");
  }
  sources.Source(
      2, "xspace");  // sees the last of a's executions, b's compile and both of b's executions
  sources.Execute("", "sync", "10");
  sources.Compile("b", "70");
  sources.Execute("", "value_access", "20"), sources.Execute("b", "sync", "30");
  sources.Join();
  EXPECT_EQ(sources.All(kStory), "a@- a@10 b@20 b@30 c@- c@-");
  EXPECT_EQ(sources.All("SELECT dur_ns FROM compile ORDER BY ordinal"), "- 70 -");
  // The XSpace knew the program of that execution but not its hash. The join adds the hash.
  EXPECT_EQ(sources.All("SELECT count(*) FROM graph WHERE hash IS NULL"), "0");
  EXPECT_EQ(sources.All("SELECT cause FROM execution ORDER BY ordinal LIMIT 2"),
            "value_access step_trace_exit");
}

// Regression: a log has no executions of the autograd thread, so the profile's steps were added to those
// of the log, and all counts per step were too small.
TEST(Join, AWindowWithMoreCutsThanTheLogIsLaidByItsStepMarks) {
  for (const bool knows_step : {true, false}) {
    Sources sources;
    sources.Source(1, "debug_log");
    for (int i = 0; i < 8; ++i) sources.Execute("a", "user_sync");
    sources.Source(2, "xspace");
    if (knows_step)
      sources.Exec(
          "INSERT INTO observed_process (process_id, command, ts_ns, dur_ns, ended, profile_first_step) VALUES (2, 'python', 0, 1000, 1, 4)");
    for (int i = 0; i < 3; ++i) {
      sources.Execute("", "value_access", fmt::to_string(100 * i + 10));
      sources.Execute("", "sync", fmt::to_string(100 * i + 20));
    }
    sources.Join();
    EXPECT_EQ(sources.All("SELECT count(*) FROM execution WHERE cause <> 'value_access'"),
              knows_step ? "8" : "11");
    EXPECT_EQ(sources.All("SELECT count(*) FROM execution WHERE cause = 'value_access'"), "3");
    if (!knows_step) continue;
    EXPECT_EQ(sources.All(kStory), "a@- a@- a@- a@- ?@10 a@20 ?@110 a@120 ?@210 a@220 a@-");
  }
}

TEST(Join, AWindowThatLacksReadsOfTheLogIsNotLaidByItsStepMarks) {
  Sources sources;
  sources.Source(1, "debug_log");
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 2; ++k) sources.Execute("b", "value_access");
    sources.Execute("a", "user_sync");
  }
  sources.Source(2, "xspace");
  sources.Exec(
      "INSERT INTO observed_process (process_id, command, ts_ns, dur_ns, ended, profile_first_step) VALUES (2, 'python', 0, 1000, 1, 4)");
  for (int i = 0; i < 3; ++i) {
    sources.Execute("", "value_access", fmt::to_string(100 * i + 10));
    sources.Execute("", "sync", fmt::to_string(100 * i + 20));
  }
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution"), "30");
}

TEST(Join, AWindowWithoutCompilesIsLaidAtTheEndAndItIsSaid) {
  Sources sources;
  sources.Source(1, "debug_log");
  for (int i = 0; i < 4; ++i) sources.Execute("a", "user_sync");
  sources.Source(2, "xspace");
  for (int i = 0; i < 2; ++i) sources.Execute("", "sync", fmt::to_string(10 * i));
  sources.Join();
  EXPECT_EQ(sources.All(kStory), "a@- a@- a@0 a@10");
  EXPECT_EQ(
      sources.All("SELECT note FROM source WHERE id = 2"),
      "aligned by guess: no compile shows the position in the run, 3 positions fit equally well, and the last one was chosen");
}

// Regression: the log of one program and the profile of another were in one folder, and became one
// process.
TEST(Join, AWindowThatCompiledOtherGraphsIsAnotherProgram) {
  Sources sources;
  sources.Source(1, "debug_log");
  sources.Compile("a");
  for (int i = 0; i < 4; ++i) sources.Execute("a", "user_sync");
  sources.Source(2, "xspace");
  sources.Compile("b", "70");
  sources.Execute("b", "sync", "10");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution GROUP BY process_id"), "4 1");
  EXPECT_EQ(sources.All("SELECT note FROM source WHERE id = 1"),
            "compiled nothing that the profile compiled, so it counts as another program");
}

// So many executions that a search among all facts would give up.
TEST(Join, CompilesOfALongRunAreAllAligned) {
  Sources sources;
  for (int id : {1, 2}) {
    sources.Source(id, id == 1 ? "debug_log" : "xspace");
    for (const char* hash : {"a", "b", "c"}) {
      sources.Compile(hash, id == 1 ? "NULL" : "70");
      for (int i = 0; i < 400; ++i) sources.Execute(id == 1 ? hash : "", "user_sync");
    }
  }
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM compile WHERE dur_ns = 70"), "3");
  EXPECT_EQ(sources.All("SELECT count(*) FROM compile"), "3");
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution"), "1200");
}

// Adds what a replica does in three steps: it compiles and runs graph a, which reads a value, and b.
void AddReplica(Sources& sources, bool compiles) {
  for (int step = 0; step < 3; ++step) {
    for (const char* hash : {"a", "b"}) {
      if (step == 0 && compiles) sources.Compile(hash);
      sources.Execute(hash, hash[0] == 'a' ? "value_access" : "user_sync");
    }
  }
}

TEST(Join, DumpsOfReplicasOfOneProcessAreOneProcess) {
  Sources sources;
  sources.Source(1, "debug_log");  // two threads write it
  sources.Compile("a"), sources.Compile("a");
  sources.Execute("a", "value_access"), sources.Execute("a", "value_access");
  sources.Compile("b"), sources.Execute("b", "user_sync");
  sources.Compile("b"), sources.Execute("a", "value_access"), sources.Execute("b", "user_sync");
  for (const char* hash : {"b", "a", "a", "b", "a", "b", "b"})
    sources.Execute(hash, hash[0] == 'a' ? "value_access" : "user_sync");
  for (int rank : {0, 1}) {
    sources.Source(2 + rank, "ir_dump");
    sources.Exec(fmt::format("UPDATE process SET rank = {} WHERE id = {}", rank, 2 + rank));
    AddReplica(sources, /*compiles=*/true);
  }
  // The profile sees both threads, and has their cuts in another order.
  sources.Source(4, "xspace");
  sources.Compile("b", "70"), sources.Compile("b", "80");
  for (const char* cause : {"sync", "value_access", "value_access", "sync", "sync", "value_access",
                            "sync", "value_access", "sync"})
    sources.Execute("", cause, "5");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM process"), "1");
  EXPECT_EQ(sources.All("SELECT count(*) FROM compile"), "4");
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution"), "12");
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution WHERE ts_ns = 5"), "9");
  EXPECT_EQ(sources.All("SELECT count(*) FROM step"), "6");
}

TEST(Join, TheLogOfOneOfSeveralProcessesIsNotOfAllDumps) {
  Sources sources;
  sources.Source(1, "debug_log");
  AddReplica(sources, /*compiles=*/true);
  for (int rank : {0, 1}) {
    sources.Source(2 + rank, "ir_dump");
    sources.Exec(fmt::format("UPDATE process SET rank = {} WHERE id = {}", rank, 2 + rank));
    AddReplica(sources, /*compiles=*/true);
  }
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM process"), "2");
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution"), "12");
}

TEST(Join, OtherRunsOfAnAppendedFileAreDropped) {
  Sources sources;
  sources.Source(1, "debug_log", /*run=*/1, /*segment=*/0);
  sources.Compile("a"), sources.Execute("a", "user_sync"), sources.Execute("a", "user_sync"),
      sources.Execute("a", "user_sync");
  sources.Source(2, "debug_log", /*run=*/2, /*segment=*/1, /*source=*/1);
  sources.Compile("a"), sources.Execute("a", "user_sync");
  sources.Join();
  EXPECT_EQ(sources.All(kStory), "a@-");
  EXPECT_EQ(sources.All("SELECT count(*) FROM compile"), "1");
}

TEST(Join, ADumpIsDividedWhereTheLogWas) {
  Sources sources;
  sources.Source(1, "debug_log", /*run=*/1, /*segment=*/0);
  sources.Compile("a"), sources.Execute("a", "user_sync"), sources.Execute("a", "user_sync");
  sources.Source(2, "debug_log", /*run=*/2, /*segment=*/1, /*source=*/1);
  sources.Compile("a"), sources.Execute("a", "user_sync");
  sources.Source(3, "ir_dump");
  sources.Compile("a");
  for (int i = 0; i < 3; ++i) sources.Execute("a", "user_sync");
  ASSERT_TRUE(DivideRuns(*sources.store).ok());
  EXPECT_EQ(sources.All("SELECT segment || ':' || (SELECT count(*) FROM execution e WHERE "
                        "e.process_id = p.id) || ':' || "
                        "(SELECT count(*) FROM compile c WHERE c.process_id = p.id) FROM process p "
                        "WHERE source_id = 3 ORDER BY segment"),
            "0:2:1 1:1:1");
}

// The script was edited between two runs, so its first graph changed; only the metrics show the
// restart.
TEST(Join, ALogIsDividedWhereTheMetricsWere) {
  Sources sources;
  sources.Source(1, "debug_log");
  sources.Compile("a"), sources.Execute("a", "user_sync"), sources.Compile("b"),
      sources.Execute("b", "user_sync"), sources.Execute("b", "user_sync");
  sources.Source(2, "metrics_report", /*run=*/1, /*segment=*/0);
  sources.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, save_number, mark_step) VALUES (1, 2, 2, 0, 0, 1); INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, "
      "'ExecuteTime', 'ns', 1, 1, NULL, NULL, '')");
  sources.Source(3, "metrics_report", /*run=*/2, /*segment=*/1, /*source=*/2);
  sources.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, save_number, mark_step) VALUES (2, 2, 3, 0, 0, 1); INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (2, 2, "
      "'ExecuteTime', 'ns', 2, 1, NULL, NULL, '')");
  ASSERT_TRUE(DivideRuns(*sources.store).ok());
  EXPECT_EQ(sources.All("SELECT segment || ':' || (SELECT count(*) FROM execution e WHERE "
                        "e.process_id = p.id) || ':' || "
                        "(SELECT count(*) FROM compile c WHERE c.process_id = p.id) FROM process p "
                        "WHERE source_id = 1 ORDER BY segment"),
            "0:1:1 1:2:1");
}

TEST(Join, StepsComeFromTheMarksThatRepeat) {
  Sources sources;
  sources.Source(1, "debug_log");
  sources.Execute("init", "parallel_loader");
  for (int i = 0; i < 4; ++i)
    sources.Execute("r", "value_access"), sources.Execute("a", "step_trace_exit");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM step"), "4");
  EXPECT_EQ(sources.All("SELECT (SELECT ordinal FROM step s WHERE s.id = e.step_id) FROM execution "
                        "e ORDER BY ordinal"),
            "- 0 0 1 1 2 2 3 3");
}

TEST(Join, StepsOutsideTheWindowGetTheirPlace) {
  Sources sources;
  sources.Source(1, "debug_log");
  sources.Compile("a"), sources.Execute("a", "step_trace_exit");
  sources.Compile("b"), sources.Execute("b", "step_trace_exit");
  sources.Execute("b", "step_trace_exit");
  sources.Source(2, "xspace");
  sources.Exec(
      "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES (77, 2, 0, 1, 'train', 100, 50)");
  sources.Compile("b", "5");
  sources.Execute("b", "sync", "120", "77");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT coalesce(number, '?') FROM step ORDER BY ordinal"), "? 1 ?");
  EXPECT_EQ(sources.All("SELECT (SELECT ordinal FROM step s WHERE s.id = e.step_id) FROM execution "
                        "e ORDER BY ordinal"),
            "0 1 2");
}

TEST(Join, CompileCostsComeFromTheDeltasOfTheAccumulator) {
  Sources sources;
  sources.Source(1, "debug_log");
  for (const char* hash : {"a", "b", "c", "d"})
    sources.Compile(hash), sources.Execute(hash, "user_sync");
  sources.Source(2, "metrics_report");
  sources.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, save_number, mark_step) VALUES (1, 2, 2, 0, 0, 1), (2, 2, 2, 1, 1, 2), (3, 2, 2, 2, 2, "
      "4);"
      "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, 'CompileTime', 'ns', 1, 100, NULL, NULL, ''), (2, 2, "
      "'CompileTime', 'ns', 2, 150, NULL, NULL, ''),"
      "(3, 3, 'CompileTime', 'ns', 4, 350, NULL, NULL, '')");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT dur_ns || dur_from FROM compile ORDER BY ordinal"),
            "100metrics 50metrics 100metrics_share 100metrics_share");
}

// `xlaprof run` records the times of single compilations, at least of the newest.
TEST(Join, CompileCostsComeFromTheTimesThatRunRecorded) {
  const auto costs = [](int compiles) {
    Sources sources;
    sources.Source(1, "debug_log");
    for (int i = 0; i < compiles; ++i) {
      const std::string hash = fmt::format("g{}", i);
      sources.Compile(hash), sources.Execute(hash, "user_sync");
    }
    sources.Source(2, "metrics_report");
    sources.Exec(
        "INSERT INTO metrics_report (id, source_id, process_id, ordinal) VALUES (1, 2, 2, 0);"
        "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, "
        "'CompileTime', 'ns', 4, 1000, '');"
        "INSERT INTO observed_compile (process_id, ordinal, ts_ns, dur_ns) VALUES (2, 2, 50, 600), "
        "(2, 3, 700, 100)");
    sources.Join();
    return sources.All("SELECT coalesce(dur_ns || dur_from, '?') FROM compile ORDER BY ordinal");
  };
  EXPECT_EQ(costs(4), "150metrics_share 150metrics_share 600metrics 100metrics");
  // The log lacks one, so nobody knows which time belongs to which program.
  EXPECT_EQ(costs(3), "? ? ?");
}

// Regression: with a report after every step and one at the end, every fallback was counted twice.
TEST(Join, CumulativeCountsOfOneProcessAreNotAdded) {
  Sources sources;
  sources.Source(1, "metrics_report");
  sources.Exec(
      "INSERT INTO fallback (process_id, op, count) VALUES (1, 'aten::nonzero', 12), (1, "
      "'aten::histc', 3)");
  sources.Source(2, "metrics_report");
  sources.Exec(
      "INSERT INTO fallback (process_id, op, count) VALUES (2, 'aten::nonzero', 12), (2, "
      "'aten::histc', 4)");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT op || count FROM fallback ORDER BY op"),
            "aten::histc4 aten::nonzero12");
}

// Regression: one compile more in the log than the metric counts left all of them without a time.
TEST(Join, ACompileThatOnlyOneSourceCountsLeavesEqualShares) {
  Sources sources;
  sources.Source(1, "debug_log");
  for (int i = 0; i < 10; ++i) sources.Compile(fmt::format("g{}", i), i == 3 ? "60" : "NULL");
  sources.Source(2, "metrics_report");
  sources.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, save_number, mark_step) VALUES (1, 2, 2, 0, 0, 1); INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, "
      "'CompileTime', 'ns', 9, 460, NULL, NULL, '')");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT DISTINCT dur_ns FROM compile ORDER BY ordinal <> 3, dur_ns"), "60 50");
}

// Regression: a profile that begins while the program compiles does not know this compile's name, so it
// was counted twice.
TEST(Join, TheCompileWithWhichAProfileBeginsIsTheLastOneBefore) {
  for (const int between : {1, 4}) {
    Sources sources;
    sources.Source(1, "debug_log");
    for (const char* hash : {"a", "b", "c"}) {
      sources.Compile(hash);
      for (int i = 0; i < (*hash == 'b' ? between : 1); ++i) sources.Execute(hash, "step_trace_exit");
    }
    sources.Source(2, "xspace");
    sources.Compile("", "70");
    sources.Execute("", "value_access", "20"), sources.Execute("", "sync", "30");
    sources.Exec("UPDATE execution SET graph_id = (SELECT graph_id FROM compile WHERE dur_ns = 70) WHERE ts_ns = 20");
    sources.Compile("c", "80");
    sources.Execute("c", "sync", "40");
    sources.Join();
    // If more ran since than the profile saw, the compile is another one.
    EXPECT_EQ(sources.All("SELECT coalesce(dur_ns, '?') FROM compile ORDER BY ordinal"),
              between == 1 ? "? 70 80" : "? ? 70 80");
  }
}

TEST(Join, NoCostsWhereTheCountsDiffer) {
  Sources sources;
  sources.Source(1, "debug_log");
  sources.Compile("a");
  sources.Source(2, "metrics_report");
  sources.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, save_number, mark_step) VALUES (1, 2, 2, 0, 0, 1); INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, "
      "'CompileTime', 'ns', 2, 100, NULL, NULL, '')");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT dur_ns FROM compile"), "-");
}

// JAX has no graph hashes. Compiles are matched by the function, whose name is spelled differently
// in a module.
TEST(Join, CompilesOfJaxMatchByFunction) {
  Sources run;
  auto compile = [&](const std::string& function, const std::string& graph_as, int dur_ns) {
    run.Compile("", dur_ns > 0 ? fmt::to_string(dur_ns) : "NULL");
    run.Exec(
        fmt::format("UPDATE compile SET function = '{}' WHERE id = (SELECT max(id) FROM "
                    "compile); UPDATE graph SET printed_as = '{}' WHERE id = (SELECT max(id) "
                    "FROM graph)",
                    function, graph_as));
  };
  run.Source(1, "jax_log");
  compile("step", "signature", 0);
  run.Exec(
      "INSERT INTO compile_reason (compile_id, idx, stated_by, type, input, before, after, text) VALUES (1, 0, 'jax_explanation', 'shape_change', 'x', 'a', 'b', 'words')");
  compile("<lambda>", "signature", 0);
  run.Source(2, "xla_dump");
  compile("step", "hlo", 0);
  compile("_lambda", "hlo", 0);
  run.Source(3, "xspace");
  compile("_lambda", "hlo_optimized", 7);
  run.Join();
  EXPECT_EQ(run.All("SELECT function FROM compile ORDER BY ordinal"), "step <lambda>");
  EXPECT_EQ(run.All("SELECT dur_ns FROM compile ORDER BY ordinal"), "- 7");
  // The programs are kept because they hold more than the lists of inputs.
  EXPECT_EQ(run.All("SELECT g.printed_as FROM compile c JOIN graph g ON g.id = c.graph_id"),
            "hlo hlo");
  EXPECT_EQ(run.All("SELECT count(*) FROM process"), "1");
  EXPECT_EQ(run.All("SELECT r.input FROM compile_reason r JOIN compile c ON c.id = r.compile_id"),
            "x");
}

// One source knows only hashes and another one only functions, as TorchTPU's log and its profile.
class NamedDifferently : public testing::Test {
 protected:
  void AddLog(std::initializer_list<int> starts_ms) {
    run.Source(1, "torchtpu_log");
    for (int ms : starts_ms) {
      run.Compile(fmt::format("hash{}", ms), fmt::to_string(kLengthMs * 1000000));
      Place(ms);
    }
  }
  void AddProfile(int id, std::initializer_list<int> starts_ms) {
    run.Source(id, "xspace");
    for (int ms : starts_ms) {
      run.Compile("", fmt::to_string(kLengthMs * 1000000 - 3));
      Place(ms);
      run.Exec("UPDATE compile SET function = 'add' WHERE id = (SELECT max(id) FROM compile)");
    }
  }
  Sources run;

 private:
  static constexpr int kLengthMs = 100;
  void Place(int ms) {
    run.Exec(fmt::format(
        "UPDATE compile SET ts_ns = {}000000 WHERE id = (SELECT max(id) FROM compile)", ms));
  }
};

TEST_F(NamedDifferently, CompilesAreMatchedByTheClock) {
  AddLog({0, 300, 600, 900});
  AddProfile(2, {302, 603});  // it began later
  run.Join();
  EXPECT_EQ(run.All("SELECT coalesce(function, '-') || ':' || hash FROM compile c JOIN graph g ON "
                    "g.id = c.graph_id ORDER BY ordinal"),
            "-:hash0 add:hash300 add:hash600 -:hash900");
  EXPECT_EQ(run.All("SELECT count(*) FROM process"), "1");
  EXPECT_EQ(run.All("SELECT note FROM source WHERE id = 2"),
            "aligned with the other sources by the times of 2 compiles");
}

TEST_F(NamedDifferently, CompilesAtOtherTimesAreAnotherPrograms) {
  AddLog({0, 300, 600, 900});
  AddProfile(2, {302, 660, 10000});
  run.Join();
  EXPECT_EQ(run.All("SELECT count(*) FROM compile"), "7");
  EXPECT_EQ(run.All("SELECT count(*) FROM process"), "2");
}

TEST_F(NamedDifferently, TheProfileWithTheSameTimesIsChosen) {
  AddLog({0, 300, 600, 900});
  AddProfile(2, {150, 480, 790, 1100});
  AddProfile(3, {2, 301, 603, 905});
  run.Join();
  EXPECT_EQ(run.All("SELECT process_id || ':' || count(*) FROM compile GROUP BY process_id"),
            "2:4 3:4");
}

// The trace beside the log names the functions, too. They are compiled for each size, so the names of a
// profile of later steps are those of the first steps, too.
TEST_F(NamedDifferently, TheClockTellsCompilesOfOneFunctionApart) {
  AddLog({0, 300, 600, 900});
  run.Exec("UPDATE compile SET function = 'add'");
  AddProfile(2, {602, 903});
  run.Exec(
      "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 2, 'host_thread', 't', 1); "
      "UPDATE compile SET track_id = 1 WHERE process_id = 2");
  run.Join();
  EXPECT_EQ(run.All("SELECT hash || ':' || coalesce(track_id, '-') FROM compile c JOIN graph g ON "
                    "g.id = c.graph_id ORDER BY ordinal"),
            "hash0:- hash300:- hash600:1 hash900:1");
}

// The XSpace and the JSON of one session of torch.profiler under TorchTPU.
class TwoFilesOfASession : public NamedDifferently {
 protected:
  void AddJson(const std::string& host, const std::string& pid,
               std::initializer_list<int> starts_ms) {
    AddProfile(2, {0, 300, 600, 900});
    run.Exec("UPDATE process SET host = 'vm_0', pid = 7 WHERE id = 2");
    AddProfile(3, starts_ms);
    run.Exec("UPDATE source SET format = 'chrome', path = 'prof/kineto.json' WHERE id = 3");
    run.Exec(fmt::format("UPDATE process SET host = '{}', pid = {} WHERE id = 3", host, pid));
    run.Exec(
        "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 2, 'host_thread', 't', 1), "
        "(2, 3, 'host_thread', 't', 2)");
    run.Join();
  }
};

TEST_F(TwoFilesOfASession, AreOneProcess) {
  AddJson("vm", "7", {0, 300, 600, 900});
  EXPECT_EQ(run.All("SELECT id || host || pid FROM process"), "2vm7");
  EXPECT_EQ(run.All("SELECT count(*) FROM compile"), "4");
  EXPECT_EQ(run.All("SELECT process_id FROM track"), "2");
  EXPECT_EQ(run.All("SELECT note FROM source WHERE id = 3"),
            "shows the same events as 2, so they count once");
}

TEST_F(TwoFilesOfASession, OtherTimesAreAnotherSession) {
  AddJson("vm", "7", {1200, 1500});
  EXPECT_EQ(run.All("SELECT count(*) FROM compile"), "6");
}

TEST_F(TwoFilesOfASession, OtherHostsHaveTheSamePids) {
  AddJson("vm_1", "7", {0, 300, 600, 900});
  EXPECT_EQ(run.All("SELECT count(*) FROM process"), "2");
}

TEST_F(TwoFilesOfASession, OtherPidsAreOtherProcesses) {
  AddJson("vm", "8", {0, 300, 600, 900});
  EXPECT_EQ(run.All("SELECT count(*) FROM process"), "2");
}

// XLA does not know the hashes of torch_xla's graphs. If the number of compiles is equal, they are
// matched in order.
TEST(Join, ADumpOfXlaMatchesALogByCount) {
  for (int dumped : {2, 3}) {
    Sources run;
    run.Source(1, "debug_log");
    run.Compile("aa");
    run.Compile("bb");
    run.Source(2, "xla_dump");
    for (int i = 0; i < dumped; ++i) {
      run.Compile("");
      run.Exec(
          "UPDATE compile SET function = 'SyncTensorsGraph', temp_bytes = id WHERE id = "
          "(SELECT max(id) FROM compile)");
    }
    run.Join();
    EXPECT_EQ(run.All("SELECT count(*) FROM process"), dumped == 2 ? "1" : "2");
    EXPECT_EQ(run.All("SELECT count(*) FROM compile"), dumped == 2 ? "2" : "5");
    EXPECT_EQ(run.All("SELECT temp_bytes FROM compile WHERE temp_bytes IS NOT NULL ORDER BY id"),
              dumped == 2 ? "3 4" : "3 4 5");
  }
}

// Two logs are two processes, even though both compile `step`.
TEST(Join, LogsOfJaxAreProcesses) {
  Sources run;
  for (int id : {1, 2}) {
    run.Source(id, "jax_log");
    run.Compile("");
    run.Exec("UPDATE compile SET function = 'step'");
  }
  run.Join();
  EXPECT_EQ(run.All("SELECT count(*) FROM process"), "2");
}

// The programs of torch.compile, with the number of each and the start in milliseconds; "" and -1 if
// they are unknown.
class Programs : public Sources {
 public:
  void Process(int id, const std::string& format, const std::string& pid) {
    Source(id, format);
    Exec(fmt::format("UPDATE process SET pid = {} WHERE id = {}", pid, id));
    process_ = id, ordinal_ = 0;
  }
  void Compile(const std::string& number, int ms, const std::string& from) {
    Exec(fmt::format(
        "INSERT INTO compile (process_id, ordinal, graph_id, ts_ns, dur_ns, dur_from, cause, "
        "inferred) VALUES ({}, {}, {}, {}, 1000, '{}', 'compiled_function', 0)",
        process_, ordinal_++, Program(number), ms < 0 ? "NULL" : fmt::to_string(ms * 1000000),
        from));
  }
  void Execute(const std::string& number, int ms) {
    Exec(fmt::format(
        "INSERT INTO execution (process_id, ordinal, graph_id, cause, enqueue_ts_ns) "
        "VALUES ({}, {}, {}, 'compiled_function', {})",
        process_, ordinal_++, Program(number), ms < 0 ? "NULL" : fmt::to_string(ms * 1000000)));
  }
  // Returns the facts of all processes in order: "1:+0/0" for a compile of process 1, "1:0/0" for an
  // execution.
  std::string Order() {
    return All(
        "SELECT p || ':' || text FROM (SELECT c.process_id AS p, '+' || coalesce(g.number, '?') AS "
        "text, c.ordinal AS o FROM compile c LEFT JOIN graph g ON g.id = c.graph_id UNION ALL "
        "SELECT e.process_id, coalesce(g.number, '?'), e.ordinal FROM execution e LEFT JOIN graph g "
        "ON g.id = e.graph_id) ORDER BY p, o");
  }

 private:
  std::string Program(const std::string& number) {
    if (number.empty()) return "NULL";
    const std::string known = All(fmt::format(
        "SELECT id FROM graph WHERE process_id = {} AND number = '{}'", process_, number));
    if (!known.empty()) return known;
    Exec(fmt::format("INSERT INTO graph (process_id, number) VALUES ({}, '{}')", process_, number));
    return fmt::to_string(sqlite3_last_insert_rowid(store->db()));
  }
  int process_ = 0, ordinal_ = 0;
};

TEST(JoinPrograms, ALogAndAProfileAreJoinedByNumberAndClock) {
  Programs sources;
  sources.Process(1, "torch_trace", "7");
  sources.Compile("0/0", 100, "log"), sources.Compile("0/1", 300, "log");
  sources.Process(2, "chrome", "7");
  sources.Compile("0/0", 101, "profile"), sources.Execute("0/0", 200), sources.Execute("0/0", 250);
  sources.Compile("", 302, "profile"), sources.Execute("0/1", 400);
  sources.Join();
  EXPECT_EQ(sources.Order(), "2:+0/0 2:0/0 2:0/0 2:+0/1 2:0/1");
  EXPECT_EQ(sources.All("SELECT count(*) FROM graph"), "2");
  EXPECT_EQ(sources.All("SELECT DISTINCT dur_from FROM compile"), "log");
}

// A log of recompilations has reasons and no times, and a profile has times and no reasons.
TEST(JoinPrograms, ALogWithoutTimesGivesReasons) {
  Programs sources;
  sources.Process(1, "dynamo_log", "7");
  sources.Compile("0/0", -1, "log"), sources.Compile("0/1", -1, "log");
  sources.Exec("UPDATE compile SET dur_ns = NULL, dur_from = NULL, function = 'step'");
  sources.Exec(
      "INSERT INTO compile_reason (compile_id, idx, stated_by, type, text) SELECT id, 0, 'guard', 'shape_change', 'x' "
      "FROM compile WHERE ordinal = 1");
  sources.Process(2, "chrome", "7");
  sources.Compile("0/0", 101, "profile"), sources.Execute("0/0", 200);
  sources.Compile("0/1", 302, "profile"), sources.Execute("0/1", 400);
  sources.Join();
  EXPECT_EQ(sources.Order(), "2:+0/0 2:0/0 2:+0/1 2:0/1");
  EXPECT_EQ(
      sources.All("SELECT function || ts_ns || r.type FROM compile c JOIN compile_reason r ON "
                  "r.compile_id = c.id"),
      "step302000000shape_change");
}

// TORCH_TRACE knows more of a reason than the log does, whichever is read first.
TEST(JoinPrograms, TheReasonOfTheSourceWithTimesStays) {
  for (const bool log_is_first : {false, true}) {
    Programs sources;
    for (const int id : {1, 2}) {
      const bool is_log = log_is_first == (id == 1);
      sources.Process(id, is_log ? "dynamo_log" : "torch_trace", "7");
      sources.Compile("0/1", is_log ? -1 : 100, "log");
      sources.Exec(fmt::format(
          "INSERT INTO compile_reason (compile_id, idx, stated_by, type, text) SELECT id, 0, 'guard', 'shape_change', "
          "'{}' FROM compile WHERE process_id = {}",
          is_log ? "log" : "trace", id));
    }
    sources.Join();
    EXPECT_EQ(sources.All("SELECT text FROM compile_reason"), "trace");
    EXPECT_EQ(sources.All("SELECT count(*) FROM compile"), "1");
  }
}

TEST(JoinPrograms, AFailureThatTwoSourcesTellCountsOnce) {
  Programs sources;
  sources.Process(1, "dynamo_log", "7");
  sources.Process(2, "torch_trace", "7");
  sources.Exec(
      "INSERT INTO compile_failure (process_id, ordinal, function, type, ts_ns) VALUES (1, 0, 'f', 'unknown', NULL), "
      "(1, 1, 'g', 'unknown', NULL), (2, 0, 'f', 'unknown', 5), (2, 1, 'f', 'unknown', 6)");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT function FROM compile_failure ORDER BY function"), "f f g");
}

TEST(JoinPrograms, OtherProcessesHaveTheSameNumbers) {
  Programs sources;
  sources.Process(1, "torch_trace", "7");
  sources.Compile("0/0", 100, "log");
  sources.Process(2, "torch_trace", "8");
  sources.Compile("0/0", 100, "log");
  sources.Process(3, "chrome", "8");
  sources.Compile("0/0", 101, "profile"), sources.Execute("0/0", 200);
  sources.Process(4, "chrome", "9");  // another run, which compiled at another time
  sources.Compile("0/0", 900, "profile");
  sources.Join();
  EXPECT_EQ(sources.Order(), "1:+0/0 3:+0/0 3:0/0 4:+0/0");
}

TEST(JoinPrograms, AProfileOfLaterStepsFollowsTheLogsCompiles) {
  Programs sources;
  sources.Process(1, "torch_trace", "7");
  sources.Compile("0/0", 100, "log"), sources.Compile("0/1", 900, "log");
  sources.Process(2, "chrome", "7");
  sources.Execute("0/0", 500), sources.Execute("0/0", 600);
  sources.Join();
  EXPECT_EQ(sources.Order(), "2:+0/0 2:0/0 2:0/0 2:+0/1");
}

TEST(JoinPrograms, CopiesOfALogAreNotCountedAgain) {
  Programs sources;
  sources.Process(1, "torch_trace", "7");
  sources.Compile("0/0", 100, "log");
  sources.Process(2, "chrome", "NULL");  // the times of the log
  sources.Compile("0/0", 100, "profile");
  sources.Process(3, "chrome", "7");  // a profile
  sources.Compile("0/0", 101, "profile"), sources.Execute("0/0", 200);
  sources.Process(4, "torch_trace", "7");
  sources.Compile("0/0", 100, "log");
  sources.Join();
  EXPECT_EQ(sources.All("SELECT count(*) FROM compile"), "1");
  EXPECT_EQ(sources.All("SELECT count(*) FROM process"), "1");
  EXPECT_EQ(sources.All("SELECT count(*) FROM execution"), "1");
}

TEST(JoinPrograms, WhatFailedIsNoCompile) {
  Programs sources;
  sources.Process(1, "torch_trace", "7");
  sources.Exec(
      "INSERT INTO compile_failure (process_id, ordinal, type, ts_ns) VALUES (1, 0, 'unknown', 100000000)");
  sources.Compile("0/1", 300, "log");
  sources.Process(2, "chrome", "7");
  sources.Compile("0/0", 101, "profile"), sources.Compile("0/1", 302, "profile");
  sources.Execute("0/1", 400);
  sources.Join();
  EXPECT_EQ(sources.Order(), "2:+0/1 2:0/1");
}

TEST(JoinPrograms, TimedExecutionsReplaceAListWithoutTimes) {
  Programs sources;
  sources.Process(1, "torch_trace", "7");
  sources.Compile("0/0", 100, "log"), sources.Execute("0/0", -1), sources.Execute("0/0", -1);
  sources.Process(2, "chrome", "7");
  sources.Compile("0/0", 101, "profile"), sources.Execute("0/0", 200);
  sources.Join();
  EXPECT_EQ(sources.Order(), "2:+0/0 2:0/0");
}

}  // namespace
}  // namespace xlaprof
