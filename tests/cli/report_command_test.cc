#include "cli/report_command.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/sanitized.h"
#include "base/version.h"
#include "cli/input_options.h"
#include "cli/progress.h"
#include "profiler/import/formats.h"
#include "profiler/store/events.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Progress, LineFits) {
  EXPECT_THAT(ProgressLine(0.5, "vm.xplane.pb", 80), HasSubstr(" 50 %  vm.xplane.pb"));
  EXPECT_EQ(ProgressLine(2, "a\x1b[2Jb", 20).find('\x1b'), std::string::npos);
  for (int width : {20, 40, 80})
    EXPECT_LE(ProgressLine(0.3, std::string(300, 'x'), width).size(), size_t(width) + 2);
}

// Makes a store with ten steps of 1 ms and a read in each.
class ReportCommand : public ProgramTest {
 protected:
  void MakeStore(const std::string& name) {
    auto store = Store::Create(folder_ / name);
    ASSERT_TRUE(store.ok()) << store.status();
    auto exec = [&](const std::string& sql) {
      absl::Status status = store->Exec(sql);
      ASSERT_TRUE(status.ok()) << status;
    };
    exec(
        "BEGIN; INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'first', NULL, 1, 'only'); INSERT INTO meta (key, value) VALUES "
        "('run_label', 'first'), ('window_start_ns', '5000');"
        "INSERT INTO source (id, path, format, bytes, imported) VALUES (1, 'log.txt', 'debug_log', "
        "10, 1);"
        "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, 1, 0, 'vm', 4711, NULL, NULL);"
        "INSERT INTO site (id, function, file, line) VALUES (1, 'body', 'train.py', 2);");
    for (int i = 0; i < 10; ++i) {
      exec(fmt::format(
          "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES ({0}, 1, {1}, NULL, NULL, 5000 + {1} * 1000000, 1000000);"
          "INSERT INTO execution (process_id, ordinal, cause, site_id, step_id, ts_ns, dur_ns, "
          "host_wait_ns) VALUES "
          "(1, {2}, 'value_access', 1, {0}, 5000 + {1} * 1000000, 1000, 2000), (1, {2} + 1, "
          "'user_sync', NULL, {0}, 6000 + {1} * 1000000, 1000, 2000)",
          i + 1, i, 2 * i));
    }
    exec("COMMIT; PRAGMA journal_mode=DELETE");
  }
  json Json(const std::string& arguments) {
    Ran ran = Run("report --format json " + arguments);
    EXPECT_EQ(ran.status, 0) << ran.out;
    json report = json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(report.is_discarded()) << ran.out;
    return report;
  }
};

TEST_F(ReportCommand, APathWithoutACommandIsToldTheCommand) {
  MakeStore("run.xlaprof");
  const Ran ran = Run("run.xlaprof");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("`xlaprof report run.xlaprof`"));
  EXPECT_THAT(Run("absent.xlaprof").out, HasSubstr("absent.xlaprof: no such command"));
}

TEST_F(ReportCommand, QuotesTheLineFromTheWorkingDirectory) {
  MakeStore("a.xlaprof");
  Write("train.py", "one\ntwo = x.item()\n");
  Ran ran = Run("report a.xlaprof");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("2 | two = x.item()"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));  // not a terminal, so no colour
  EXPECT_THAT(Run("report a.xlaprof --colour always").out, HasSubstr("\x1b[1m"));
}

TEST_F(ReportCommand, DoesNotWriteBack) {
  MakeStore("a.xlaprof");
  std::string before = Content("a.xlaprof");
  auto modified = std::filesystem::last_write_time(folder_ / "a.xlaprof");
  Json("a.xlaprof");
  EXPECT_EQ(Content("a.xlaprof"), before);
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "a.xlaprof"), modified);
}

// Regression: a mistyped -o destroyed the recording.
TEST_F(ReportCommand, NeverReplacesWhatItReads) {
  MakeStore("a.xlaprof");
  const std::string before = Content("a.xlaprof");
  for (const char* format : {"text", "json", "html"}) {
    Ran ran = Run(std::string("report ./a.xlaprof -o a.xlaprof --format ") + format);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.out, HasSubstr("this file is being read"));
  }
  EXPECT_EQ(Run("import a.xlaprof -o a.xlaprof --force").status, 2);
  EXPECT_TRUE(Content("a.xlaprof") == before);
  Write("runs/metrics.txt", "Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: 01s000ms\n");
  // Parts of XLA's dumps are recognised by name.
  Write("runs/module_0001.jit_f.debug_options", "xla_a: 1\n");
  EXPECT_EQ(Run("report runs -o runs/module_0001.jit_f.debug_options --force").status, 2);
}

// Regression: std::bad_alloc aborted the program, on whichever thread it was thrown.
TEST_F(ReportCommand, TooLittleMemoryIsAnError) {
#ifdef XLAPROF_SANITIZED
  GTEST_SKIP() << "shadow memory has no limit";
#endif
  std::string trace = "[";
  for (int i = 0; i < 400'000; ++i) {
    trace += fmt::format(R"({}{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":1,"name":"event {}"}})",
                         i == 0 ? "" : ",", 2 * i, i);
  }
  Write("trace.json", trace + "]");
  ASSERT_EQ(RunShell("gzip trace.json", folder_).status, 0);
  bool failed = false;
  for (int limit_kb : {40'000, 60'000, 80'000, 100'000, 150'000}) {
    const Ran ran = RunShell(fmt::format("( ulimit -v {}; " XLAPROF_PROGRAM
                                         " import trace.json.gz -o run.xlaprof --force )",
                                         limit_kb),
                             folder_);
    if (ran.status == 0) continue;
    EXPECT_TRUE(ran.status == 2 || ran.status == 127) << ran.status << ran.out;  // 127: not loaded
    failed |= ran.out.find("not enough memory") != ran.out.npos;
  }
  EXPECT_TRUE(failed);
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".part");
}

TEST_F(ReportCommand, ReplacesAFileOnceItIsDone) {
  MakeStore("a.xlaprof");
  Write("report.txt", "old");
  EXPECT_EQ(Run("report no.xlaprof -o report.txt").status, 2);
  EXPECT_EQ(Content("report.txt"), "old");
  EXPECT_EQ(Run("report a.xlaprof -o report.txt").status, 2);
  EXPECT_EQ(Content("report.txt"), "old");
  EXPECT_EQ(Run("report a.xlaprof -o report.txt --force").status, 0);
  EXPECT_THAT(Content("report.txt"), HasSubstr("10 steps"));
  EXPECT_EQ(Run("report a.xlaprof -o /dev/null").status, 0);
  EXPECT_EQ(Run("report a.xlaprof -o no/such/folder").status, 2);
  // A link that leads to a pipe, which the test reads.
  std::filesystem::create_symlink("/proc/self/fd/1", folder_ / "out");
  EXPECT_THAT(Run("report a.xlaprof -o out").out, HasSubstr("10 steps"));
}

TEST_F(ReportCommand, Slices) {
  MakeStore("a.xlaprof");
  EXPECT_EQ(Json("a.xlaprof")["summary"]["execution_count"], 20);
  EXPECT_EQ(Json("a.xlaprof --steps 2:4")["summary"]["execution_count"], 6);
  EXPECT_EQ(Json("a.xlaprof --from 5ms --to 1s")["summary"]["execution_count"],
            10);  // since the start, at 5 us
  EXPECT_EQ(Json("a.xlaprof --process 4711")["summary"]["execution_count"], 20);
}

TEST_F(ReportCommand, WhatCannotBeDoneIsStatus2AndSaysWhatToTry) {
  MakeStore("a.xlaprof");
  Write("empty.log", "");
  Write("foreign.bin", std::string("\x7f"
                                   "ELF\x02\x01\x01",
                                   7));
  std::filesystem::create_directory(folder_ / "nothing");
  const std::pair<const char*, const char*> cases[] = {
      {"report missing.pb", "missing.pb"},
      {"report empty.log", "empty.log"},
      {"report foreign.bin", "foreign.bin"},
      {"report nothing", "nothing"},
      {"report a.xlaprof --steps 90:91", "0 to 9"},
      {"report a.xlaprof --steps x", "A:B"},
      {"report a.xlaprof --from soon", "1.5s"},
      {"report '" XLAPROF_SOURCE_DIR "/tests/golden/captures/jax_recompile' --from 100s",
       "the capture ends"},
      {"report a.xlaprof --from 2s --to 1s", "--to"},
      {"report a.xlaprof --process 99", "4711"},
      {"report a.xlaprof --run other", "first"},
      {"report a.xlaprof empty.log", "alone"},
      {"report a.xlaprof -o no/such/folder/x", "no/such/folder/x"},
      {"report a.xlaprof --format pdf", "pdf"},
      {"report", "PATH"},
      {"", "SUBCOMMAND"},
      {"frobnicate", "frobnicate"},
  };
  for (const auto& [arguments, part] : cases) {
    Ran ran = Run(arguments);
    EXPECT_EQ(ran.status, 2) << arguments << "\n" << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(part)) << arguments;
  }
}

TEST_F(ReportCommand, ListsTheRuns) {
  const auto save = [](int step) {
    return fmt::format(
        "[MetricsData; step={}]\nMetric: CompileTime\n  TotalSamples: 1\n  Accumulator: "
        "002ms500.000us\n  Percentiles: 50%=001ms000.000us\n",
        step);
  };
  Write("d/metrics.txt", save(1) + save(0));
  for (const char* command : {"report d", "export d --format chrome -o out", "import d -o out"}) {
    const Ran ran = Run(fmt::format("{} --run list", command));
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_EQ(ran.out,
              "  1 of 2     1 file  a restart mark in a file to which runs append\n"
              "* 2 of 2     1 file  a restart mark in a file to which runs append\n"
              "The run with * is read unless --run names another one.\n");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  MakeStore("a.xlaprof");
  EXPECT_EQ(Run("query a.xlaprof 'SELECT 1' --run list").out,
            "* first     1 file  only\nThe store holds the run with *.\n");
  EXPECT_EQ(Run("report nothing --run list").status, 2);
}

// The end of a store was lost in a copy. The rest is reported, and the loss is mentioned.
TEST_F(ReportCommand, CutStoreIsReportedOn) {
  MakeStore("a.xlaprof");
  std::filesystem::resize_file(folder_ / "a.xlaprof",
                               std::filesystem::file_size(folder_ / "a.xlaprof") - 8192);
  json report = Json("a.xlaprof");
  ASSERT_FALSE(report["issues"].empty());
  EXPECT_EQ(report["issues"][0]["code"], "damaged_store");
}

// Regression: `yes | xlaprof report -` filled the disk.
TEST_F(ReportCommand, StandardInputHasABound) {
  const Ran ran = RunShell("yes | " XLAPROF_PROGRAM " report -", folder_);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("standard input: more than 256 MiB came"));
  EXPECT_THAT(ran.out, HasSubstr("write it to a file first"));
}

TEST_F(ReportCommand, StandardInputMayBeAFile) {
  Write("log.txt",
        "skip\nMetric: CompileTime\n  TotalSamples: 1\n  Accumulator: 01s000ms000.000us\n");
  const Ran ran = RunShell(
      "{ head -c 5 > /dev/null; " XLAPROF_PROGRAM " report --format json -; } < log.txt", folder_);
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_EQ(RunShell(XLAPROF_PROGRAM " report - < /proc/self/status", folder_).status, 2);
}

TEST_F(ReportCommand, SaysWhereLinksLead) {
  Write("other/log.txt",
        "Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: 01s000ms000.000us\n");
  std::filesystem::create_directory(folder_ / "run");
  std::filesystem::create_symlink("../other/log.txt", folder_ / "run/a.txt");
  std::filesystem::create_symlink("/proc/self/pagemap", folder_ / "run/b");
  const json report = Json("run");
  std::map<std::string, json> links;
  for (const json& source : report["sources"])
    links[source["path"].get<std::string>()] = source["links_to"];
  EXPECT_EQ(links["run/a.txt"], (folder_ / "other/log.txt").string());
  EXPECT_THAT(links["run/b"].get<std::string>(), HasSubstr("/pagemap"));
  const Ran text = Run("report run");
  EXPECT_THAT(text.out, HasSubstr("a link to " + (folder_ / "other/log.txt").string()));
  EXPECT_THAT(text.out, HasSubstr("a file of the kernel"));
}

// Regression: each device read the tracks of all, so 30,000 devices took minutes. Kineto names the
// process of a device; without names, each device is of a process of its own.
TEST_F(ReportCommand, ManyDevicesTakeSeconds) {
  for (const bool has_names : {true, false}) {
    std::string events;
    for (int device = 0; device < 30'000; ++device) {
      if (has_names)
        events += fmt::format(
            R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":"python"}}}},{{"ph":"M","pid":{0},"name":"process_labels","args":{{"labels":"GPU {0}"}}}},)",
            device);
      events += fmt::format(
          R"({{"ph":"X","pid":{0},"tid":7,"ts":{0},"dur":5,"cat":"kernel","name":"k","args":{{"device":{0},"stream":7}}}},)",
          device);
    }
    events.pop_back();
    Write("gpus.json", R"({"schemaVersion":1,"traceEvents":[)" + events + "]}");
    const Ran ran =
        RunShell("timeout 60 " XLAPROF_PROGRAM " report gpus.json > report.txt", folder_);
    EXPECT_EQ(ran.status, 0) << has_names;
  }
}

TEST_F(ReportCommand, OutputFile) {
  MakeStore("a.xlaprof");
  EXPECT_EQ(Run("report a.xlaprof --format markdown -o out.md").out, "");
  EXPECT_THAT(Content("out.md"), HasSubstr("**xlaprof "));
}

TEST_F(ReportCommand, WidthIsTheTerminals) {
  MakeStore("a.xlaprof");
  std::string narrow = Run("report a.xlaprof", "COLUMNS=60").out,
              wide = Run("report a.xlaprof", "COLUMNS=120").out;
  EXPECT_GT(std::count(narrow.begin(), narrow.end(), '\n'),
            std::count(wide.begin(), wide.end(), '\n'));
}

TEST_F(ReportCommand, HelpListsWhatIsRegistered) {
  Ran ran = Run("--help");
  EXPECT_EQ(ran.status, 0);
  for (const char* name : {"xspace", "debug_log", "ir_dump", "metrics_report", "recompilation",
                           "sync_point", "report", "import"}) {
    EXPECT_THAT(ran.out, HasSubstr(name));
  }
  EXPECT_EQ(Run("report --help").status, 0);
}

TEST_F(ReportCommand, VersionNamesCommitSchemaAndFormats) {
  Ran ran = Run("--version");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, testing::MatchesRegex(fmt::format(
                           "xlaprof {}\ncommit (unknown|[0-9a-f]+(, with changes)?)\n"
                           "schema {}\nreads {}\n",
                           kVersion, kSchemaVersion, FormatNames())));
}

// Makes a folder with a capture and the file that it names, and an empty working directory.
class QuotedLines : public ReportCommand {
 protected:
  QuotedLines() {
    Write("secret/train.py", "import torch\npassword = 'the quoted line'\n");
    MakeStore("secret/run.xlaprof");
    auto store = Store::OpenForWriting(folder_ / "secret/run.xlaprof");
    const std::string file = folder_ / "secret/train.py";
    EXPECT_TRUE(store->Run("UPDATE site SET file = ?1", file).ok());
    EXPECT_TRUE(store->CloseLog().ok());
    std::filesystem::create_directory(folder_ / "work");
  }
  // Returns the formats of the report that quote the line. The working directory is `folder`.
  std::vector<std::string> FormatsThatQuote(const std::string& folder,
                                            const std::string& arguments) {
    std::vector<std::string> formats;
    for (const std::string format : {"text", "markdown", "json", "html"}) {
      const Ran ran =
          RunProgram("report --all --format " + format + " " + arguments, folder_ / folder);
      EXPECT_EQ(ran.status, 0) << ran.out;
      if (ran.out.find("the quoted line") != std::string::npos) formats.push_back(format);
    }
    return formats;
  }
};

// Regression: a line was quoted from the folder of a capture that is a file, which may hold anything.
TEST_F(QuotedLines, ComeFromRootsOnly) {
  EXPECT_THAT(FormatsThatQuote("work", "../secret/run.xlaprof"), testing::IsEmpty())
      << "an absolute path that a capture names is not enough";
  EXPECT_THAT(FormatsThatQuote("secret", "run.xlaprof"), Not(testing::IsEmpty()));
  const auto of_root = FormatsThatQuote("work", "../secret/run.xlaprof --source-root ../secret");
  EXPECT_THAT(of_root, testing::Contains("text"));
  EXPECT_THAT(of_root, testing::Contains("html"));
  const std::filesystem::path capture = folder_ / "secret";
  EXPECT_THAT(SourceRoots({.paths = {capture}}, {}), testing::Contains(capture));
  EXPECT_THAT(SourceRoots({.paths = {capture / "run.xlaprof"}}, {}),
              Not(testing::Contains(capture)));
}

}  // namespace
}  // namespace xlaprof
