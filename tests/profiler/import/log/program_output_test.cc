// Tests logs that hold several dialects.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"
#include "tests/profiler/import/torch_xla/debug_log_text.h"

namespace xlaprof {
extern const Dialect debug_log, metrics_report, jax_log, dynamo_log, xla_log;
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

TEST(ProgramOutput, BothKindsAreRead) {
  for (const Dialect* importer : {&debug_log, &metrics_report}) {
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

TEST(ProgramOutput, AReportIsOfTheRunAboveIt) {
  std::string run =
      Compilation("a0") + Execution("a0") + Execution("a0") + Compilation("b0") + Execution("b0");
  auto in = ImportText(debug_log, run + Report(9) + run + Report(3));
  EXPECT_THAT(in.Rows("SELECT segment, mark_step, f.count FROM process p JOIN metrics_report r ON "
                      "r.process_id = p.id "
                      "JOIN fallback f "
                      "ON f.process_id = p.id ORDER BY segment"),
              ElementsAre("0|9|9", "1|3|3"));
}

TEST(ProgramOutput, AReportIsOfTheProcessOfItsPrefix) {
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

// --- all dialects ---

const std::string kJaxLines =
    "Compiling jit(f) with global shapes and types (ShapedArray(float32[2])).\n"
    "Finished XLA compilation of jit(f) in 0.5 sec\n";
const std::string kAlarm =
    "E external/xla/xla/service/slow_operation_alarm.cc:65] Trying algorithm eng0 for conv.1 = "
    "f32[2] is taking a while...\n";
const std::string kDynamoLimit =
    "torch._dynamo hit config.recompile_limit (8)\n   function: 'g' (/home/u/train.py:19)\n"
    "   last reason: 0/7: tensor 'x' size mismatch\n";

const std::string kCallOnTheCpu =
    "[TAG xla_fallback From Thread 139703691627392]\nFrames:\n  f (/x/train.py:12)\n\nC++ Frames:\n"
    "*** Begin stack trace ***\n\tat::_ops::topk::call(at::Tensor)\n*** End stack trace ***\n\n";

// Lines of one run in all dialects.
std::string RunInAllDialects(int marks) {
  return "step 1\n" + Compilation("a0") + Execution("a0") + kJaxLines + Execution("a0") + kAlarm +
         "loss 0.3\n" + kDynamoLimit + kCallOnTheCpu + Compilation("b0") + Execution("b0") +
         Report(marks);
}

constexpr const char* kFactsOfProcesses =
    "SELECT segment, (SELECT count(*) FROM compile c WHERE c.process_id = p.id), (SELECT count(*) "
    "FROM execution e WHERE e.process_id = p.id), (SELECT mark_step FROM metrics_report r WHERE "
    "r.process_id = p.id), (SELECT count(*) FROM compile_alarm a WHERE a.process_id = p.id), "
    "(SELECT count(*) FROM dynamo_recompile d WHERE d.process_id = p.id), (SELECT total(count) FROM "
    "fallback f WHERE f.process_id = p.id AND op = 'aten::topk') FROM process p ORDER BY p.id";

TEST(ProgramOutput, AllDialectsAreReadWhicheverTheTextWasTakenFor) {
  const std::string log = RunInAllDialects(7);
  EXPECT_EQ(RecognisedDialect(log), &debug_log);
  for (const Dialect* dialect : AllDialects()) {
    const auto in = ImportText(*dialect, log);
    ASSERT_TRUE(in.status.ok()) << in.status;
    EXPECT_THAT(in.Rows(kFactsOfProcesses), ElementsAre("0|3|3|7|1|1|1.0")) << dialect->name;
    EXPECT_THAT(in.Rows("SELECT dialects FROM source"),
                ElementsAre("debug_log,metrics_report,jax_log,dynamo_log,fn_tracker,xla_log"));
    EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty()) << dialect->name;
  }
}

// The facts of one process are numbered in the order in which they happened.
TEST(ProgramOutput, OrdinalsFollowTheLines) {
  const auto in = ImportText(debug_log, RunInAllDialects(7));
  EXPECT_THAT(in.Rows("SELECT coalesce(function, hash) FROM (SELECT ordinal, function, graph_id "
                      "FROM compile UNION ALL SELECT ordinal, NULL, graph_id FROM execution) f "
                      "JOIN graph g ON g.id = f.graph_id ORDER BY ordinal"),
              ElementsAre("a0", "a0", "f", "a0", "b0", "b0"));
}

TEST(ProgramOutput, RestartMarksDivideAllDialects) {
  const auto in = ImportText(debug_log, RunInAllDialects(9) + RunInAllDialects(3));
  EXPECT_THAT(in.Rows(kFactsOfProcesses), ElementsAre("0|3|3|9|1|1|1.0", "1|3|3|3|1|1|1.0"));
}

// Without debug output, reports show where a run begins: their number falls.
TEST(ProgramOutput, ReportsDivideOtherDialects) {
  auto run = [](int saves) {
    std::string text = kAlarm;
    for (int save = 1; save <= saves; ++save)
      text += fmt::format("[MetricsData; step={}]\n{}\n", save, Report(save));
    return text;
  };
  const auto in = ImportText(metrics_report, run(3) + run(2) + kJaxLines);
  EXPECT_THAT(in.Rows("SELECT segment, (SELECT count(*) FROM metrics_report r WHERE r.process_id = "
                      "p.id), (SELECT count(*) FROM compile_alarm a WHERE a.process_id = p.id), "
                      "(SELECT count(*) FROM compile c WHERE c.process_id = p.id) FROM process p "
                      "ORDER BY segment"),
              ElementsAre("0|3|1|0", "1|2|1|1"));
}

TEST(ProgramOutput, DialectsShareTheProcesses) {
  std::string text;
  for (int rank : {1, 0}) {
    const std::string lines = Compilation("a0") + kJaxLines + kAlarm + kDynamoLimit;
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin) + 1;
      text += fmt::format("[rank{}]: {}", rank, lines.substr(begin, end - begin));
      begin = end;
    }
  }
  const auto in = ImportText(debug_log, text);
  EXPECT_THAT(in.Rows("SELECT rank, (SELECT count(*) FROM compile c WHERE c.process_id = p.id), "
                      "(SELECT count(*) FROM compile_alarm a WHERE a.process_id = p.id), (SELECT "
                      "count(*) FROM dynamo_recompile d WHERE d.process_id = p.id) FROM process p "
                      "ORDER BY rank"),
              ElementsAre("0|2|1|1", "1|2|1|1"));
}

TEST(ProgramOutput, TheFormatIsTheDialectThatTellsMost) {
  auto format = [](const Dialect& told, const std::string& text) {
    return ImportText(told, text).Rows("SELECT format, dialects, framework FROM source");
  };
  // Any program may print an alarm. Only JAX prints JAX's lines, wherever they are in the text.
  EXPECT_THAT(format(xla_log, kAlarm + kJaxLines), ElementsAre("jax_log|jax_log,xla_log|jax"));
  EXPECT_THAT(format(xla_log, kAlarm + kDynamoLimit), ElementsAre("xla_log|dynamo_log,xla_log|-"));
  EXPECT_THAT(format(jax_log, kJaxLines + Report(3)),
              ElementsAre("jax_log|metrics_report,jax_log|jax"));
  // The marks of debug output are there, but no fact.
  EXPECT_THAT(format(debug_log, "pt-xla-profiler: hello\n" + Report(3)),
              ElementsAre("metrics_report|metrics_report|pytorch_xla"));
}

TEST(ProgramOutput, ADialectThatIsAskedForMustBeThere) {
  const std::string log = kAlarm + Report(3);
  for (const Dialect* dialect : {&debug_log, &jax_log, &dynamo_log}) {
    const auto in = ImportText(*dialect, log, /*is_asked_for=*/true);
    EXPECT_EQ(in.status.code(), absl::StatusCode::kInvalidArgument) << dialect->name;
    EXPECT_THAT(in.Rows("SELECT id FROM process"), IsEmpty());
    EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
  }
  for (const Dialect* dialect : {&metrics_report, &xla_log}) {
    const auto in = ImportText(*dialect, log, /*is_asked_for=*/true);
    ASSERT_TRUE(in.status.ok()) << in.status;
    EXPECT_THAT(in.Rows("SELECT format = dialects, dialects FROM source"),
                ElementsAre("0|metrics_report,xla_log"));
    EXPECT_THAT(in.Rows("SELECT format FROM source"), ElementsAre(dialect->name));
  }
}

TEST(ProgramOutput, ColoursAndWebPagesHideNoDialect) {
  const std::string html =
      "<pre><span>Compiling jit(&lt;lambda&gt;) with global shapes and types "
      "(ShapedArray(float32[2])).</span><br>Finished XLA compilation of "
      "jit(&lt;lambda&gt;) in 0.5 sec\n</pre>\n";
  EXPECT_EQ(RecognisedDialect(html), &jax_log);
  EXPECT_THAT(ImportText(jax_log, html).Rows("SELECT function, dur_ns FROM compile"),
              ElementsAre("<lambda>|500000000"));
  const std::string colours =
      "\x1b[32mFinished\x1b[0m XLA \x1b[1mcompilation\x1b[0m of jit(f) in 0.5 sec\n";
  const auto in = ImportText(metrics_report, Report(3) + colours);
  EXPECT_THAT(in.Rows("SELECT dialects FROM source"), ElementsAre("metrics_report,jax_log"));
}

// A program prints what a subprocess printed.
TEST(ProgramOutput, AStringOfPythonIsItsLines) {
  std::string text = "b'";
  for (char c : kJaxLines) text += c == '\n' ? std::string("\\n") : std::string(1, c);
  EXPECT_THAT(ImportText(jax_log, text + "'\n").Rows("SELECT function, dur_ns FROM compile"),
              ElementsAre("f|500000000"));
}

}  // namespace
}  // namespace xlaprof
