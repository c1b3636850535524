#include "profiler/import/runtime_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "import_text.h"

namespace xlaprof {
extern const Importer debug_log;
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
  EXPECT_TRUE(line->compiles);
  EXPECT_FALSE(line->done);
  EXPECT_EQ(line->hash, "ab12");
  EXPECT_EQ(line->device, "TPU:3");
  EXPECT_EQ(line->at_ns, 86401000002000);
  line = ParseRuntimeLogLine("Executing IR graph hash ab12 on device TPU:3 done!");
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->compiles);
  EXPECT_TRUE(line->done);
  EXPECT_EQ(line->at_ns, std::nullopt);
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

// A hunt for recompilation of 2022 pasted the C++ log only: two devices compile, each by itself,
// and one graph twice.
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
