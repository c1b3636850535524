#include "profiler/import/torch_xla/runtime_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"
#include "tests/profiler/import/torch_xla/debug_log_text.h"

namespace xlaprof {
extern const Dialect debug_log;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Line(const std::string& time, const std::string& what) {
  return fmt::format("2022-03-01 {}: I 812 /x/torch_xla/csrc/tensor.cpp:15] {}\n", time, what);
}

TEST(RuntimeLog, ReadsTheFourLines) {
  auto line = ParseRuntimeLogLine(
      "1970-01-02 00:00:01.000002: I /x/tensor.cpp:1575] Compiling IR graph hash AB12 on device "
      "TPU:3 ...");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, RuntimeLogLine::kCompile);
  EXPECT_FALSE(line->done);
  EXPECT_EQ(line->hash, "ab12");
  EXPECT_EQ(line->device, "TPU:3");
  EXPECT_EQ(line->at_ns, 86401000002000);
  line = ParseRuntimeLogLine("Executing IR graph hash ab12 on device TPU:3 done!");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, RuntimeLogLine::kExecute);
  EXPECT_TRUE(line->done);
  EXPECT_EQ(line->at_ns, std::nullopt);
}

TEST(RuntimeLog, ReadsTheOtherSpellings) {
  auto line = ParseRuntimeLogLine(
      "2026-11-21 19:03:39.906688: I   23512 torch_xla/csrc/xla_graph_executor.cpp:1492] "
      "Executing Dynamo IR graph hash 873d on device CPU:0 ...");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, RuntimeLogLine::kExecute);
  EXPECT_TRUE(line->dynamo);
  EXPECT_EQ(line->thread, 23512);
  line = ParseRuntimeLogLine(
      "I1121 18:30:39.337353    8627 tensor.cpp:579] Executing IR graph hash ab on devices: "
      "TPU:0,TPU:1 done!");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->device, "TPU:0");
  EXPECT_TRUE(line->done);
  EXPECT_EQ(line->thread, 8627);
  auto later = ParseRuntimeLogLine(
      "I1121 18:30:40.337353    8627 tensor.cpp:579] Executing IR graph hash ab on devices: TPU:0");
  ASSERT_TRUE(later && later->at_ns && line->at_ns);
  EXPECT_FALSE(later->done);
  EXPECT_EQ(*later->at_ns - *line->at_ns, 1'000'000'000);
  line = ParseRuntimeLogLine(
      "I0000 00:00:1644449605.457877  12 tensor.cpp:1] Compiling IR graph hash a on device TPU:0 "
      "...");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->at_ns, 1644449605457877000);
  line = ParseRuntimeLogLine(
      "x.cpp:1] Compiled program shape (p0: f32[16,32], p1: s32[]) -> "
      "(pred[32], f32[2,2])");
  ASSERT_TRUE(line);
  EXPECT_THAT(line->inputs, ElementsAre("f32[16,32]", "s32[]"));
  EXPECT_EQ(line->count, 2);
}

// The cause, shapes and sizes are on lines around the compilation.
TEST(RuntimeLog, MarksAroundACompilation) {
  std::string log = Line("10:00:00.000000", "Trying to get the value of 1 tensor(s)") +
                    Line("10:00:00.100000", "Parameter sequence graph hash aa") +
                    Line("10:00:00.200000", "Compiling IR graph hash aa on device TPU:0 ...") +
                    Line("10:00:00.700000", "Compiling IR graph hash aa on device TPU:0 done!") +
                    Line("10:00:00.700001", "Compiled program shape (p0: f32[16,32]) -> (f32[])") +
                    Line("10:00:00.700002", "TensorsGraphSize=29") +
                    Line("10:00:00.800000", "Executing IR graph hash aa on device TPU:0 ...") +
                    Line("10:00:01.000000", "9 live tensors: devices=()") +
                    Line("10:00:01.100000", "Trying to sync the value of 9 tensor(s)") +
                    Line("10:00:01.200000", "Parameter sequence graph hash bb") +
                    Line("10:00:01.300000", "Executing IR graph hash bb on device TPU:0 ...");
  auto in = ImportText(debug_log, log);
  EXPECT_THAT(
      in.Rows("SELECT g.hash, c.cause, c.dur_ns, g.node_count, g.input_count, "
              "g.output_count, g.printed_as FROM compile c JOIN graph g ON g.id = graph_id"),
      ElementsAre("aa|value_access|500000000|29|1|1|signature"));
  EXPECT_THAT(in.Rows("SELECT op, shape FROM graph_node"), ElementsAre("parameter|f32[16,32]"));
  EXPECT_THAT(in.Rows("SELECT g.hash, cause FROM execution JOIN graph g ON g.id = graph_id"),
              ElementsAre("aa|value_access", "bb|sync"));
}

// Until March 2020 hashes were printed in decimal.
TEST(RuntimeLog, TurnsDecimalHashesToHexadecimal) {
  std::string log =
      Line("10:00:00.000000", "Compiling IR graph hash 18446744073709551615 on device TPU:0 ...") +
      Line("10:00:01.000000", "Executing IR graph hash 255 on device TPU:0 ...");
  EXPECT_THAT(ImportText(debug_log, log).Rows("SELECT hash FROM graph ORDER BY id"),
              ElementsAre("ffffffffffffffff", "ff"));
  log += Line("10:00:02.000000", "Executing IR graph hash 2a55 on device TPU:0 ...");
  EXPECT_THAT(ImportText(debug_log, log).Rows("SELECT hash FROM graph ORDER BY id"),
              ElementsAre("18446744073709551615", "255", "2a55"));
}

// Regression: a paste or a filter that kept only the ends was not recognised as a log.
TEST(RuntimeLog, CountsWhatOnlyEnds) {
  std::string log = Line("10:00:00.700000", "Compiling IR graph hash aa on device TPU:0 done!") +
                    Line("10:00:00.800000", "Compiling IR graph hash aa on device TPU:0 ...") +
                    Line("10:00:00.900000", "Compiling IR graph hash bb on device TPU:0 ...") +
                    Line("10:00:01.000000", "Compiling IR graph hash aa on device TPU:0 done!") +
                    Line("10:00:01.100000", "Compiling IR graph hash bb on device TPU:0 done!") +
                    Line("10:00:01.200000", "Executing IR graph hash cc on device TPU:0 done!");
  auto in = ImportText(debug_log, log);
  EXPECT_THAT(in.Rows("SELECT g.hash, dur_ns FROM compile JOIN graph g ON g.id = graph_id"),
              ElementsAre("aa|-", "aa|-", "bb|200000000"));
  EXPECT_THAT(in.Rows("SELECT g.hash, dur_ns FROM execution JOIN graph g ON g.id = graph_id"),
              ElementsAre("cc|-"));
}

// PT_XLA_DEBUG and TF_CPP_VMODULE in one log report the same compilations.
TEST(RuntimeLog, AddsToTheBlocksOfTheSameLog) {
  std::string log = Compilation("aa") +
                    Line("10:00:00.200000", "Compiling IR graph hash aa on device TPU:0 ...") +
                    Line("10:00:00.700000", "Compiling IR graph hash aa on device TPU:0 done!") +
                    Execution("aa") +
                    Line("10:00:00.800000", "Executing IR graph hash aa on device TPU:0 ...");
  auto in = ImportText(debug_log, log);
  EXPECT_THAT(in.Rows("SELECT cause, dur_ns, dur_from FROM compile"),
              ElementsAre("user_sync|500000000|log"));
  EXPECT_THAT(in.Rows("SELECT cause FROM execution"), ElementsAre("user_sync"));
}

TEST(RuntimeLog, LeavesOtherLinesAlone) {
  for (const char* text :
       {"", "Graph hash ab is computation hash cd", "Compiling IR graph hash ",
        "Compiling IR graph hash ab on device ", "Compiling IR graph hash on device TPU:0 ...",
        "Parameter IR graph hash ab on device TPU:0 ...",
        "Compiling IR graph hash ab on device TPU:0 perhaps"}) {
    EXPECT_FALSE(ParseRuntimeLogLine(text)) << text;
  }
}

// Someone who investigated recompilation in 2022 pasted only the C++ log: two devices each compile,
// and one graph is compiled twice.
TEST(RuntimeLog, CompilesOfEachDevice) {
  std::string log = Line("10:00:00.000000", "Compiling IR graph hash aa on device TPU:0 ...") +
                    Line("10:00:01.000000", "Compiling IR graph hash aa on device TPU:1 ...") +
                    Line("10:00:03.500000", "Compiling IR graph hash aa on device TPU:1 done!") +
                    Line("10:00:04.000000", "Compiling IR graph hash aa on device TPU:0 done!") +
                    Line("10:00:04.100000", "TensorsGraphSize=4639") +
                    Line("10:00:05.000000", "Executing IR graph hash aa on device TPU:0 ...") +
                    Line("10:00:06.000000", "Executing IR graph hash aa on device TPU:0 done!") +
                    Line("10:00:07.000000", "Compiling IR graph hash bb on device TPU:0 ...");
  EXPECT_GE(debug_log.sniff(log), 60);
  auto in = ImportText(debug_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT rank, hash, dur_ns, dur_from, cause FROM compile c JOIN graph g ON g.id = "
              "graph_id JOIN process p ON p.id = c.process_id ORDER BY rank, ordinal"),
      ElementsAre("0|aa|4000000000|log|-", "0|bb|-|-|-", "1|aa|2500000000|log|-"));
  EXPECT_THAT(in.Rows("SELECT rank, hash FROM execution e JOIN graph g ON g.id = graph_id JOIN "
                      "process p ON p.id = e.process_id"),
              ElementsAre("0|aa"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
}

}  // namespace
}  // namespace xlaprof
