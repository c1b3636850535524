// Tests what is read from the records of TorchTPU's cuts. They have the form of torch-tpu 0.2.0.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer torch_trace;
namespace {

using testing::ElementsAre;

constexpr const char* kTorchtpuExecutions =
    "SELECT e.ordinal, e.enqueue_ts_ns, e.cause, g.name FROM execution e LEFT JOIN graph g ON g.id = "
    "e.graph_id ORDER BY e.ordinal";

// Returns the records of one cut. `ops` is empty if the program was in the cache.
std::string Cut(std::string_view op, int64_t ts_us, int64_t dur_us, std::string_view reason,
                std::string_view ops = "", std::string_view module = "") {
  const std::string prefix =
      "V1124 23:31:49.031000 11490 torch_tpu/_internal/tracing/__init__.py:54] ";
  std::string text = fmt::format(
      "{0}{{\"chromium_event\": {{}}, \"has_payload\": \"a\"}}\n\t{{\"name\":\"torchtpu_eager/{1}\",\"ph\":\"X\","
      "\"ts\":{2},\"dur\":{3},\"cat\":\"torchtpu_eager\",\"pid\":11490,\"tid\":0,\"args\":{{"
      "\"cache_hit\":{4},\"compile_failed\":false,\"reason\":\"{5}\"}}}}\n",
      prefix, op, ts_us, dur_us, ops.empty(), reason);
  const auto artifact = [&](std::string_view name, std::string payload) {
    for (size_t at = 0; (at = payload.find('\n', at)) != payload.npos; ++at)
      payload.insert(at + 1, "\t");
    text += fmt::format(
        "{}{{\"artifact\": {{\"name\": \"{}\", \"encoding\": \"string\", \"op_name\": "
        "\"torchtpu_eager/{}\"}}, \"has_payload\": \"b\"}}\n\t{}\n",
        prefix, name, op, payload);
  };
  artifact("torchtpu_eager_aten_graph", std::string(ops));
  artifact("torchtpu_eager_stablehlo",
           module.empty()
               ? ""
               : fmt::format("module @tt_jit_{} {{\n  func.func @main(%arg0: tensor<2xf32>) "
                             "-> tensor<2xf32> {{\n    return %arg0 : tensor<2xf32>\n  }}\n}}",
                             module));
  return text;
}

std::string Ops(std::string_view op) {
  return fmt::format(
      "# Graph: 1 ops, 1 inputs, reason: x\n%0: f32[2] = input\n%1: f32[2] = {}(%0)    # "
      "/home/u/a.py:14 in f\nreturn %1",
      op);
}

// The identity of a graph is that of its StableHLO, so an operation list alone is not kept.
TEST(TorchtpuCuts, ALogThatEndsInsideAGraph) {
  const std::string log = Cut("linear", 1000, 500, "synchronize()", Ops("linear"), "linear"),
                    last = Cut("add", 1505, 100, "synchronize()", Ops("add"), "add");
  const size_t module = last.find("torchtpu_eager_stablehlo"),
               module_record = last.rfind('\n', module) + 1;
  for (const size_t end : {last.find("%1: "), module_record, last.find('\n', module) + 1,
                           last.find("    return"), last.size() - 3}) {
    const auto in = ImportText(torch_trace, log + last.substr(0, end));
    ASSERT_TRUE(in.status.ok()) << in.status;
    EXPECT_THAT(in.Rows(kTorchtpuExecutions),
                ElementsAre(testing::EndsWith("|tt_jit_linear"), testing::EndsWith("|-")));
    EXPECT_THAT(in.Rows("SELECT count(*) FROM compile"), ElementsAre("2"));
  }
}

// Parts of one synchronize() lie back to back, and only the last one has the cause.
TEST(TorchtpuCuts, PartsOfOneRequest) {
  const auto in = ImportText(
      torch_trace, Cut("linear", 1000, 500, "synchronize()", Ops("linear"), "linear") +
                       Cut("add", 1505, 100, "synchronize()", Ops("add"), "add") +
                       Cut("linear", 3000, 10, "synchronize()") +
                       Cut("add", 3012, 10, "synchronize()") + Cut("linear", 3500, 10, ".cpu()"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows(kTorchtpuExecutions),
      ElementsAre("1|0|-|tt_jit_linear", "3|505000|sync|tt_jit_add", "4|2000000|-|tt_jit_linear",
                  "5|2012000|sync|tt_jit_add", "6|2500000|value_access|tt_jit_linear"));
  EXPECT_THAT(
      in.Rows("SELECT ordinal, ts_ns, dur_ns, trace_ns, cause, function, site_id FROM compile"),
      ElementsAre("0|0|-|-|sync|linear|-", "2|505000|-|-|sync|add|-"));
  EXPECT_THAT(in.Rows("SELECT framework FROM source"), ElementsAre("torchtpu"));
}

// A hit names only its first operation, with which several graphs may begin.
TEST(TorchtpuCuts, GraphOfAHit) {
  const auto in =
      ImportText(torch_trace, Cut("linear", 1000, 500, "synchronize()", Ops("linear"), "a") +
                                  Cut("linear", 3000, 10, "synchronize()") +
                                  Cut("linear", 5000, 10, "synchronize()", Ops("linear"), "b") +
                                  Cut("linear", 7000, 10, "synchronize()") +
                                  Cut("relu", 9000, 10, "new reason"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kTorchtpuExecutions),
              ElementsAre("1|0|sync|tt_jit_a", "2|2000000|sync|tt_jit_a", "4|4000000|sync|tt_jit_b",
                          "5|6000000|sync|-", "6|8000000|-|-"));
}

TEST(TorchtpuCuts, EqualProgramsAreOneGraph) {
  const auto in =
      ImportText(torch_trace, Cut("linear", 1000, 5, "synchronize()", Ops("linear"), "a") +
                                  Cut("linear", 2000, 5, ".cpu()", Ops("linear"), "a"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT printed_as, count(*) FROM graph GROUP BY 1 ORDER BY 1"),
              ElementsAre("stablehlo|1", "torchtpu_ops|1"));
}

// Without laziness, the line of an operation is the one that ran it, and the steps show only in the
// repetition.
TEST(TorchtpuCuts, StrictEager) {
  std::string log = Cut("mm", 1000, 5, "debug_mode", Ops("mm"), "mm") +
                    Cut("add", 1010, 5, "debug_mode", Ops("add"), "add");
  for (int64_t step = 1; step < 4; ++step)
    log += Cut("mm", 1000 + 100 * step, 5, "debug_mode") +
           Cut("add", 1010 + 100 * step, 5, "debug_mode");
  const auto in = ImportText(torch_trace, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT s.file, s.line, s.function, c.cause FROM compile c JOIN site s ON s.id = "
              "c.site_id"),
      ElementsAre("/home/u/a.py|14|f|eager_operation", "/home/u/a.py|14|f|eager_operation"));
  EXPECT_THAT(
      in.Rows("SELECT s.ordinal, s.ts_ns, s.dur_ns, count(*) FROM step s JOIN execution e ON "
              "e.step_id = s.id GROUP BY s.id"),
      ElementsAre("0|0|100000|2", "1|100000|100000|2", "2|200000|100000|2", "3|300000|15000|2"));
}

TEST(TorchtpuCuts, FailedAndDamagedRecords) {
  std::string failed = Cut("mm", 1000, 5, ".cpu()", Ops("mm"), "mm");
  failed.replace(failed.find("\"compile_failed\":false"), 22, "\"compile_failed\":true");
  std::string damaged = Cut("mm", 2000, 5, ".cpu()");
  damaged.replace(damaged.find("\"ts\":2000"), 9, "\"ts\":\"x\"");
  const auto in = ImportText(torch_trace, failed + damaged + Cut("mm", 3000, 5, ".cpu()"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile"), ElementsAre("0"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM execution"), ElementsAre("1"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue ORDER BY code"),
              ElementsAre("failed_graph|1", "odd_record|1"));
}

}  // namespace
}  // namespace xlaprof
