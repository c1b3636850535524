// Our readers of torch_xla's files must find the same compilations, executions, causes and lines in
// the runtime's files as in the recording of the same run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DebugFiles : public ProgramTest, public testing::WithParamInterface<std::string> {
 protected:
  // Runs the program, recorded, with torch_xla's variables and those of `more`.
  void RunDebugged(const std::string& what, const std::string& more) {
    const Ran ran = RunShell("mkdir -p files && XLAPROF_RECORD=run.xlaprof " + more + " " +
                                 XLAPROF_DEBUGGED_PROGRAM + " " + what,
                             folder_);
    ASSERT_EQ(ran.status, 0) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(" events of ")) << "the recording has ended well";
  }
  // Returns the rows of a query over a file or directory.
  json Rows(const std::string& path, const std::string& sql) {
    const Ran ran = Run("query " + path + " --format json \"" + sql + "\"");
    EXPECT_EQ(ran.status, 0) << ran.out;
    json rows = json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(rows.is_discarded()) << ran.out;
    return rows;
  }
  json Report(const std::string& path) {
    const Ran ran = Run("report " + path + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.out;
    return json::parse(ran.out, nullptr, false);
  }
  void ExpectSame(const std::string& path, const std::string& sql) {
    const json recorded = Rows("run.xlaprof", sql);
    EXPECT_FALSE(recorded.empty()) << sql;
    EXPECT_EQ(Rows(path, sql).dump(1), recorded.dump(1)) << path << ": " << sql;
  }
};

std::string CutsOf(const std::string& table) {
  return "SELECT f.cause, s.function, s.file, s.line, g.hash, count(*) AS times FROM " + table +
         " f JOIN site s ON s.id = f.site_id JOIN graph g ON g.id = f.graph_id GROUP BY 1, 2, 3, "
         "4, 5 ORDER BY 1, 2, 3, 4, 5";
}

// Selects the user's frames of each execution.
constexpr char kStacks[] =
    "SELECT DISTINCT e.cause, g.hash, f.function, f.file, f.line FROM execution e JOIN graph g ON "
    "g.id = e.graph_id JOIN frame f ON f.stack_id = e.stack_id WHERE f.owner = 'user' ORDER BY 1, 2, 3, 5";

constexpr char kAll[] =
    "PT_XLA_DEBUG=1 PT_XLA_DEBUG_FILE=files/debug.log XLA_SAVE_TENSORS_FILE=files/save.ir "
    "XLA_METRICS_FILE=files/metrics.txt";

TEST_P(DebugFiles, TellWhatTheRecordingTells) {
  RunDebugged(GetParam(), kAll);
  for (const std::string path : {"files", "files/debug.log", "files/save.ir.0"}) {
    ExpectSame(path, CutsOf("compile"));
    ExpectSame(path, CutsOf("execution"));
    ExpectSame(path, kStacks);
    EXPECT_EQ(Rows(path, "SELECT code, advice FROM import_issue").dump(), "[]") << path;
  }
  ExpectSame("files",
             "SELECT hash, node_count, input_count, output_count FROM graph ORDER BY hash");
  std::string sizes;
  for (const char* of : {"input", "output", "alias", "temp", "program"})
    sizes += fmt::format(", CAST(round({}_bytes / 1073.741824) AS INTEGER) AS {}", of, of);
  ExpectSame("files/debug.log",
             "SELECT ordinal - ordinal AS zero" + sizes + " FROM compile ORDER BY ordinal");
}

INSTANTIATE_TEST_SUITE_P(Programs, DebugFiles, testing::Values("cuts", "mnist", "item", "nonzero"),
                         [](const auto& info) { return info.param; });

TEST_F(DebugFiles, FramesNameOnlyFilesOfThePrograms) {
  RunDebugged("cuts", kAll);
  for (const char* file : {"files/debug.log", "files/save.ir.0"}) {
    EXPECT_THAT(Content(file), Not(HasSubstr(".py:"))) << file;
    EXPECT_THAT(Content(file), ContainsRegex("Trainer::Step [(].*debugged_program.cc:")) << file;
  }
  EXPECT_THAT(Content("files/save.ir.0"),
              ContainsRegex("\n  xlaprof::lazy::sync [(]core/trace/step.cc:[1-9][0-9]*[)]\n  Cuts "
                            "[(].*debugged_program.cc:"));
}

TEST_F(DebugFiles, EachFormOfAGraphTellsIt) {
  for (const std::string format : {"text", "hlo", "dot", "stablehlo"}) {
    std::filesystem::remove_all(folder_ / "files");
    std::filesystem::remove(folder_ / "run.xlaprof");
    RunDebugged("cuts", "XLA_SAVE_TENSORS_FILE=files/save XLA_SAVE_TENSORS_FMT=" + format);
    ExpectSame("files/save.0", CutsOf("compile"));
    ExpectSame("files/save.0", CutsOf("execution"));
    EXPECT_EQ(Rows("files/save.0", "SELECT code, advice FROM import_issue").dump(), "[]") << format;
  }
}

constexpr char kFallbacks[] =
    "SELECT f.op, s.function, s.file, s.line, sum(f.count) AS times FROM fallback f JOIN site s "
    "ON s.id = f.site_id GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4";

TEST_F(DebugFiles, FallbacksAreSummedUpAtTheEnd) {
  RunDebugged("cuts", std::string(kAll) + " XLA_FNTRACKER_FILE=files/calls.txt");
  ExpectSame("files/debug.log", kFallbacks);
  ExpectSame("files", kFallbacks);  // two files report each call
  // The input was computed before, so the cost of the calls is the transfers at their line.
  const json transfers =
      Rows("run.xlaprof",
           "SELECT sum(t.dur_ns) AS ns, count(*) AS n FROM transfer t JOIN fallback f ON f.site_id "
           "= t.site_id AND f.op = 'aten::nonzero' AND f.id = (SELECT min(id) FROM fallback WHERE "
           "op = f.op)");
  EXPECT_EQ(transfers[0].at("n"), 4) << "two calls, both ways";
  const json report = Report("run.xlaprof");
  for (const json& finding : report.at("findings")) {
    if (finding.at("kind") == "fallback") {
      EXPECT_EQ(finding.at("cost_ns"), transfers[0].at("ns"));
    }
  }
  EXPECT_THAT(Rows("files", "SELECT text FROM profiler_line WHERE rule = 'not_lowered'").dump(),
              HasSubstr("Op(s) not lowered: aten::nonzero,  Please"));
}

// Memory is sampled at the end of each execution.
TEST_F(DebugFiles, MemoryAndItsPeakAreCounted) {
  RunDebugged("cuts", "");
  const json samples =
      Rows("run.xlaprof",
           "SELECT t.name, count(*) AS n, max(s.value) AS most, max(s.value) FILTER (WHERE s.ts_ns "
           "= (SELECT max(ts_ns) FROM counter_sample WHERE track_id = t.id)) AS last, (SELECT "
           "count(*) FROM execution) AS executions FROM track t JOIN counter_sample s ON "
           "s.track_id = t.id WHERE t.kind = 'counter' GROUP BY t.name ORDER BY t.name");
  ASSERT_EQ(samples.size(), 2) << samples.dump(1);
  const json &used = samples[0], &peak = samples[1];
  EXPECT_EQ(used.at("name"), "memory in use (bytes)");
  EXPECT_EQ(peak.at("name"), "peak memory in use (bytes)");
  for (const json& counter : samples) EXPECT_EQ(counter.at("n"), counter.at("executions"));
  EXPECT_GT(used.at("most"), 0);
  EXPECT_GE(peak.at("last"), used.at("most"));
  EXPECT_EQ(peak.at("last"), peak.at("most")) << "it never falls";
}

TEST_F(DebugFiles, FallbacksAreTrackedOneByOne) {
  RunDebugged("cuts", "XLA_FNTRACKER_FILE=files/calls.txt");
  ExpectSame("files/calls.txt", kFallbacks);
  EXPECT_EQ(Rows("files", "SELECT code, advice FROM import_issue").dump(), "[]");
  EXPECT_THAT(Content("files/calls.txt"), HasSubstr("\n[TAG nonzero From Thread "));
  EXPECT_THAT(Content("files/calls.txt"), HasSubstr("\txlaprof::lazy::nonzero()\n"));
}

TEST_F(DebugFiles, LevelAndListChooseWhatIsTracked) {
  RunDebugged("cuts", "XLA_FNTRACKER_FILE=files/calls.txt XLA_FNTRACKER_LEVEL=2");
  EXPECT_EQ(Content("files/calls.txt"), "") << "fallbacks are of level 3";
  std::filesystem::remove(folder_ / "run.xlaprof");
  RunDebugged("cuts", "XLA_FNTRACKER_FILE=files/calls.txt XLA_FNTRACKER_LIST=sort:nonzero");
  ExpectSame("files/calls.txt",
             std::string("SELECT * FROM (") + kFallbacks + ") WHERE op = 'aten::nonzero'");
  EXPECT_THAT(Content("files/calls.txt"), Not(HasSubstr("[TAG _local_scalar_dense")));
}

constexpr char kCppLog[] =
    "TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=xla_graph_executor=5,pjrt_computation_client=3 "
    "TF_CPP_LOG_THREAD_ID=1 TF_CPP_VLOG_FILENAME=files/cpp.log";

// The C++ log has the kind of a cut, but not its line.
TEST_F(DebugFiles, TheCppLogTellsTheSameGraphs) {
  RunDebugged("cuts", kCppLog);
  for (const std::string table : {"compile", "execution"}) {
    ExpectSame("files/cpp.log",
               "SELECT iif(f.cause = 'value_access', f.cause, 'sync') AS cut, g.hash, count(*) AS "
               "times FROM " +
                   table + " f JOIN graph g ON g.id = f.graph_id GROUP BY 1, 2 ORDER BY 1, 2");
  }
  ExpectSame("files/cpp.log",
             "SELECT g.hash, g.input_count, g.output_count, c.input_bytes, c.output_bytes, "
             "c.alias_bytes, c.temp_bytes, c.program_bytes FROM compile c JOIN graph g ON g.id = "
             "c.graph_id ORDER BY c.ordinal");
  EXPECT_EQ(Rows("files/cpp.log", "SELECT code, advice FROM import_issue").dump(), "[]");
  EXPECT_EQ(Rows("files/cpp.log",
                 "SELECT count(*) AS n FROM compile WHERE dur_ns IS NULL OR cause IS NULL")
                .dump(),
            R"([{"n":0}])");
}

// Both logs in one file report each compile once: causes come from the blocks, exact sizes from the
// lines.
TEST_F(DebugFiles, BothLogsAreOne) {
  RunDebugged("cuts",
              std::string(kCppLog) + " PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=files/cpp.log");
  ExpectSame("files/cpp.log", CutsOf("compile"));
  ExpectSame("files/cpp.log", CutsOf("execution"));
  ExpectSame("files/cpp.log",
             "SELECT ordinal - ordinal AS zero, input_bytes, temp_bytes, program_bytes FROM "
             "compile ORDER BY ordinal");
}

TEST_F(DebugFiles, LevelsChooseLinesOfTheCppLog) {
  const auto log = [&](const std::string& variables) {
    return RunShell("env " + variables + " " + XLAPROF_DEBUGGED_PROGRAM + " cuts", folder_).out;
  };
  EXPECT_EQ(log("TF_CPP_VMODULE=xla_graph_executor=5"), "24\n24\n")
      << "TF_CPP_MIN_LOG_LEVEL is 1 where torch_xla was imported";
  const std::string some =
      log("TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=tensor=5,xla_graph_executor=3");
  EXPECT_THAT(some, ContainsRegex("\n[-0-9]{10} [:0-9]{8}[.][0-9]{6}: I "
                                  "core/debug/debug.cc:[1-9][0-9]+] Compiling IR graph hash "
                                  "[0-9a-f]+ on device CPU:0 [.]{3}\n"));
  EXPECT_THAT(some, Not(HasSubstr("Parameter sequence")));
  EXPECT_THAT(some, Not(HasSubstr("memory usage")));
  const std::string all = log("TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_MAX_VLOG_LEVEL=4");
  EXPECT_THAT(all, HasSubstr("] Parameter sequence graph hash "));
  EXPECT_THAT(all, HasSubstr("] memory usage detail = CompiledMemoryStats("));
  EXPECT_THAT(all, Not(HasSubstr("TensorsGraphSize=")));
  const std::string former =
      log("TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=tensor=5,computation_client=3");
  EXPECT_THAT(former, HasSubstr("] TensorsGraphSize="));
  EXPECT_THAT(former, HasSubstr("] memory usage detail = "));
}

TEST_F(DebugFiles, LevelsChooseMessages) {
  const auto log = [&](const std::string& variables) {
    return RunShell("env PT_XLA_DEBUG=yes XLA_METRICS_FILE=no/m " + variables + " " +
                        XLAPROF_DEBUGGED_PROGRAM + " cuts",
                    folder_)
        .out;
  };
  constexpr char kInformation[] = ": I core/exec/device.cc:[1-9][0-9]+] device CPU:0 uses the ",
                 kWarning[] = ": W core/environment.cc:[1-9][0-9]+] PT_XLA_DEBUG=yes is not a ",
                 kError[] = ": E core/debug/append.cc:[1-9][0-9]+] XLA_METRICS_FILE=no/m: cannot ";
  const std::string all = log("TF_CPP_MIN_LOG_LEVEL=0");
  for (const char* message : {kInformation, kWarning, kError})
    EXPECT_THAT(all, ContainsRegex(message));
  const std::string usual = log("");
  EXPECT_THAT(usual, Not(ContainsRegex(kInformation)));
  EXPECT_THAT(usual, ContainsRegex(kWarning));
  const std::string errors = log("TF_CPP_MIN_LOG_LEVEL=2 TF_CPP_LOG_THREAD_ID=1");
  EXPECT_THAT(errors, Not(ContainsRegex(": W")));
  EXPECT_THAT(errors, ContainsRegex(": E +[0-9]+ core/debug/append.cc:"));
  EXPECT_EQ(log("TF_CPP_MIN_LOG_LEVEL=3"), "24\n24\n");
}

TEST_F(DebugFiles, LevelsAndRanksChooseBlocks) {
  const auto log = [&](const std::string& variables) {
    return RunShell("env " + variables + " " + XLAPROF_DEBUGGED_PROGRAM + " cuts", folder_).out;
  };
  EXPECT_EQ(log(""), "24\n24\n") << "nothing is printed where nothing is asked";
  const std::string compiles = log("PT_XLA_DEBUG_LEVEL=1");
  EXPECT_THAT(compiles, HasSubstr("\nPost Compilation Analysis: Graph input size: 0.0"));
  EXPECT_THAT(compiles, HasSubstr("\n\nComputation hash: "));
  EXPECT_THAT(compiles, Not(HasSubstr("\nExecution Analysis")));
  EXPECT_THAT(compiles, Not(HasSubstr("pt-xla-profiler")));
  EXPECT_THAT(log("PT_XLA_DEBUG_LEVEL=2"), HasSubstr("\nExecution Analysis"));
  EXPECT_THAT(log("PT_XLA_DEBUG=1 PT_XLA_DEBUG_LEVEL=0"), Not(HasSubstr("Compilation Analysis")));
  const std::string other = log("PT_XLA_DEBUG=true PJRT_LOCAL_PROCESS_RANK=1");
  EXPECT_THAT(other, Not(HasSubstr("Compilation Analysis")));
  EXPECT_THAT(other, HasSubstr("pt-xla-profiler: Op(s) not lowered: aten::nonzero"));
  EXPECT_THAT(other, HasSubstr("pt-xla-profiler: Unlowered Op: \"nonzero\"\n"));
  EXPECT_THAT(log("PT_XLA_DEBUG=1 PT_XLA_DEBUG_MAX_FRAME=1"),
              ContainsRegex("/debugged_program.cc:[1-9][0-9]+[)]\nExecution Analysis:   "
                            "[.]{10}\n"));
}

TEST_F(DebugFiles, WhatCannotBeDoneIsTold) {
  const Ran ran = RunShell(
      std::string("env PT_XLA_DEBUG_LEVEL=1 PT_XLA_DEBUG_FILE=no/log XLA_SAVE_TENSORS_FMT=svg ") +
          XLAPROF_DEBUGGED_PROGRAM + " cuts",
      folder_);
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("] XLA_SAVE_TENSORS_FMT=svg is not one of text, hlo, dot, "
                                 "stablehlo: the default is used\n"));
  EXPECT_THAT(ran.out, HasSubstr("] PT_XLA_DEBUG_FILE=no/log: cannot be written\n"
                                 "\nCompilation Analysis: ===="));
}

// Debug information has the lines of inlined calls, but not always their names.
TEST_F(DebugFiles, ScopesAndStacksAreInGraphsWhenAsked) {
  RunDebugged("cuts", "XLA_IR_DEBUG=1 XLA_SAVE_TENSORS_FILE=files/save PT_XLA_DEBUG_LEVEL=1 "
                      "PT_XLA_DEBUG_FILE=files/debug.log");
  EXPECT_THAT(Content("files/save.0"),
              ContainsRegex("scope=train.1/backward.2, "
                            "location=Trainer::Forward@debugged_program.cc:[0-9]+, "
                            "callers=[(]([A-Za-z:]+@debugged_program.cc:[1-9][0-9]+, ){2}"
                            "main@debugged_program.cc:[1-9][0-9]+[)], xla_shape="));
  EXPECT_THAT(Content("files/debug.log"),
              ContainsRegex("Analysis:   Trainer::Step [(].*/debugged_program.cc:[1-9][0-9]+[)]\n"
                            "Compilation Analysis:   .* [(].*/debugged_program.cc:[1-9][0-9]+[)]\n"
                            "Compilation Analysis:   main [(].*/debugged_program.cc:[1-9][0-9]+"
                            "[)]\nCompilation Analysis: ----"));
  EXPECT_EQ(Rows("files", "SELECT code, advice FROM import_issue").dump(), "[]");
}

TEST_F(DebugFiles, StacksAreInMetadataWhenAsked) {
  RunDebugged("cuts",
              "XLA_HLO_DEBUG=1 XLA_SAVE_TENSORS_FILE=files/save XLA_SAVE_TENSORS_FMT=hlo");
  EXPECT_THAT(Content("files/save.0"), HasSubstr("\nStackFrames\n1 {file_location_id=1 "
                                                 "parent_frame_id=1}\n2 {file_location_id="));
  EXPECT_THAT(Content("files/save.0"), ContainsRegex("source_line=[0-9]+ stack_frame_id=[0-9]+}"));
}

TEST_F(DebugFiles, ProgramsThatDoNotCompileAreKept) {
  const Ran ran = RunShell(
      std::string(
          "env XLA_SAVE_HLO_FILE=hlo.txt XLA_DUMP_HLO_GRAPH=1 XLA_SAVE_TENSORS_FILE=save ") +
          XLAPROF_DEBUGGED_PROGRAM + " fails",
      folder_);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, StartsWith("this backend compiles nothing\n>>> Dumping Computation 0\n"
                                  "HloModule SyncTensorsGraph.1"));
  EXPECT_THAT(Content("hlo.txt"), StartsWith("[HLO Graph 0 From Thread "));
  EXPECT_THAT(Content("hlo.txt"), HasSubstr("]\nHloModule SyncTensorsGraph.1"));
  EXPECT_THAT(Content("save.0"), HasSubstr("aten::add("));
  EXPECT_THAT(Content("save.0"), Not(HasSubstr("END_GRAPH")));
  EXPECT_EQ(Rows("save.0", "SELECT code, (SELECT count(*) FROM execution) AS ran FROM import_issue")
                .dump(),
            R"([{"code":"torn_section","ran":0}])");
}

TEST_F(DebugFiles, ProgramsThatDoNotRunAreKept) {
  const Ran ran = RunShell(std::string("env ASAN_OPTIONS=allocator_may_return_null=1 "
                                       "XLA_SAVE_HLO_FILE=hlo.txt XLA_DUMP_HLO_GRAPH=1 ") +
                               XLAPROF_DEBUGGED_PROGRAM + " breaks",
                           folder_);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("\n>>> Dumping Computation 0\nHloModule SyncTensorsGraph.1"));
  EXPECT_THAT(Content("hlo.txt"), HasSubstr("]\nHloModule SyncTensorsGraph.1"));
}

// `xlaprof run` records a C++ program as it is, and its archive holds everything.
TEST_F(DebugFiles, AnArchiveOfARunIsReadBack) {
  const Ran ran = Run(std::string("run -o run --archive run.tar.gz --tidy -- ") +
                      XLAPROF_DEBUGGED_PROGRAM + " cuts");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  const json summary = Report("run.tar.gz").at("summary");
  RunDebugged("cuts", "");
  const json recorded = Report("run.xlaprof").at("summary");
  for (const char* key : {"steps", "compile_count", "execution_count"})
    EXPECT_EQ(summary.at(key), recorded.at(key)) << key;
}

// Compares the report on the files with the report on the recording.
TEST_F(DebugFiles, ReportsAgree) {
  RunDebugged("item", kAll);
  const json files = Report("files"), recorded = Report("run.xlaprof");
  for (const char* key : {"steps", "compile_count", "execution_count"})
    EXPECT_EQ(files.at("summary").at(key), recorded.at("summary").at(key)) << key;
  const auto reads = [](const json& report) {
    std::map<int64_t, json> reads;  // by line
    for (const json& finding : report.at("findings")) {
      if (finding.at("kind") == "sync_point")
        reads[finding.at("subject").at("line")] = {finding.at("title"), finding.at("count"),
                                                   finding.at("subject"), finding.at("reason")};
    }
    return reads;
  };
  EXPECT_EQ(reads(files).size(), 2);
  EXPECT_EQ(reads(files), reads(recorded));
}

}  // namespace
}  // namespace xlaprof
