// Tests debug output and metrics reports in one console log.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"
#include "tests/profiler/import/torch_xla/debug_log_text.h"

namespace xlaprof {
extern const Importer debug_log;
extern const Importer metrics_report;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Report(int marks) {
  return fmt::format(
      "Metric: CompileTime\n  TotalSamples: {0}\n  Accumulator: 001ms000.000us\n  Percentiles: "
      "50%=001ms000.000us\n"
      "Counter: MarkStep\n  Value: {0}\nCounter: aten::nonzero\n  Value: {0}\n",
      marks);
}

TEST(RuntimeText, BothKindsAreRead) {
  for (const Importer* importer : {&debug_log, &metrics_report}) {
    auto in = ImportText(
        *importer, "epoch 1\n" + Compilation("a0") + Execution("a0") + "loss 0.3\n" + Report(7) +
                       "pt-xla-profiler: CompileTime too frequent: 8 counts during 12 steps\n");
    ASSERT_TRUE(in.status.ok()) << in.status;
    EXPECT_THAT(in.Rows("SELECT (SELECT count(*) FROM compile), (SELECT count(*) FROM execution), "
                        "(SELECT count(*) FROM "
                        "profiler_line), "
                        "(SELECT count(*) FROM metric), (SELECT count(*) FROM counter), (SELECT "
                        "count(*) FROM process)"),
                ElementsAre("1|1|1|1|2|1"));
    EXPECT_THAT(in.Rows("SELECT op, count FROM fallback"), ElementsAre("aten::nonzero|7"));
    EXPECT_THAT(
        in.Rows("SELECT mark_step, r.process_id = e.process_id FROM metrics_report r, execution e"),
        ElementsAre("7|1"));
    EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
  }
}

TEST(RuntimeText, AReportIsOfTheRunAboveIt) {
  std::string run =
      Compilation("a0") + Execution("a0") + Execution("a0") + Compilation("b0") + Execution("b0");
  auto in = ImportText(debug_log, run + Report(9) + run + Report(3));
  EXPECT_THAT(in.Rows("SELECT segment, mark_step, f.count FROM process p JOIN metrics_report r ON "
                      "r.process_id = p.id "
                      "JOIN fallback f "
                      "ON f.process_id = p.id ORDER BY segment"),
              ElementsAre("0|9|9", "1|3|3"));
}

TEST(RuntimeText, AReportIsOfTheProcessOfItsPrefix) {
  auto prefixed = [](const std::string& prefix, const std::string& text) {
    std::string out;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin) + 1;
      out += prefix + text.substr(begin, end - begin);
      begin = end;
    }
    return out;
  };
  std::string text;
  for (const char* rank : {"[rank0]: ", "[rank1]: "})
    text += prefixed(rank, Compilation("a0") + Execution("a0"));
  for (const char* rank : {"[rank0]: ", "[rank1]: "})
    text += prefixed(rank, Report(rank == std::string_view("[rank0]: ") ? 7 : 8));
  auto in = ImportText(debug_log, text);
  EXPECT_THAT(in.Rows("SELECT rank, mark_step, (SELECT count(*) FROM execution e WHERE "
                      "e.process_id = p.id) FROM process p JOIN metrics_report r ON r.process_id = "
                      "p.id ORDER BY rank"),
              ElementsAre("0|7|1", "1|8|1"));
}

}  // namespace
}  // namespace xlaprof
