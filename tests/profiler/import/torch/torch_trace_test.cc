// Tests what is read from torch's structured log.
#include <gmock/gmock.h>

#include "profiler/import/torch/trace_records.h"
#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer torch_trace;
namespace {

using testing::ElementsAre;

// Writes a log as torch does.
class Trace {
 public:
  Trace() {
    Record(R"({"str": ["/home/u/train.py", 1]})");
    Record(R"({"str": ["/x/site-packages/torch/_dynamo/eval_frame.py", 2]})");
  }
  Trace& Record(const std::string& header, std::string_view payload = "") {
    text += "V1124 23:27:38.807000 8074 torch/_dynamo/utils.py:1952] " + header + "\n";
    for (size_t at = 0; at < payload.size();) {
      const size_t end = std::min(payload.find('\n', at), payload.size());
      text += fmt::format("\t{}\n", payload.substr(at, end - at));
      at = end + 1;
    }
    return *this;
  }
  // Begins to compile `step`, line 10, which main calls at line 22.
  Trace& Start(int program) {
    return Record(fmt::format(
        R"({{"dynamo_start": {{"stack": [{{"line": 22, "name": "main", "filename": 1}}, {{"line": 5, "name": "compile_wrapper", "filename": 2}}, {{"line": 10, "name": "step", "filename": 1}}]}}, {}}})",
        Id(program)));
  }
  Trace& Reasons(int program, std::string_view reasons) {
    return Record(
        fmt::format(
            R"({{"artifact": {{"name": "recompile_reasons", "encoding": "json"}}, {}, "has_payload": "0"}})",
            Id(program)),
        reasons);
  }
  Trace& Graph(int program, int rows) {
    return Record(
        fmt::format(R"({{"dynamo_output_graph": {{"sizes": {{}}}}, {}, "has_payload": "0"}})",
                    Id(program)),
        fmt::format("class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: \"f32[{}, "
                    "16][16, 1]cpu\"):",
                    rows));
  }
  Trace& End(int program, int64_t us, std::string_view more = "") {
    return Record(fmt::format(
        R"({{"compilation_metrics": {{"compile_id": "0/{}", "co_name": "step", "start_time_us": {}, "duration_us": {}, "aot_autograd_cumulative_compile_time_us": {}, "inductor_cumulative_compile_time_us": {}, "inductor_code_gen_cumulative_compile_time_us": {}{}}}, {}}})",
        program, 1795562858000000 + program * 1000000, us, us - 100, us - 300, us - 600, more,
        Id(program)));
  }
  Trace& Backward(int program, int64_t us) {
    return Record(fmt::format(
        R"({{"bwd_compilation_metrics": {{"duration_us": {}, "is_forward": false, "inductor_cumulative_compile_time_us": {}}}, {}}})",
        us, us - 10, Id(program)));
  }
  std::string text;

 private:
  static std::string Id(int program) {
    return fmt::format(R"("frame_id": 0, "frame_compile_id": {}, "attempt": 0)", program);
  }
};

constexpr const char* kCompiles =
    "SELECT c.function, s.file, s.line, c.ts_ns, c.dur_ns, c.cause FROM compile c LEFT JOIN site s "
    "ON s.id = c.site_id ORDER BY c.ordinal";
constexpr const char* kReasons =
    "SELECT compile_id, type, input, before, after FROM compile_reason ORDER BY compile_id, idx";

TEST(TorchTrace, ACompileHasItsTimesAndCallers) {
  const Trace trace = Trace().Start(0).Graph(0, 64).End(0, 1000).Backward(0, 200);
  EXPECT_GT(torch_trace.sniff(trace.text), 90);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles),
              ElementsAre("step|/home/u/train.py|10|0|1200000|compiled_function"));
  EXPECT_THAT(in.Rows("SELECT phase, dur_ns FROM compile_phase ORDER BY dur_ns"),
              ElementsAre("dynamo|100000", "aot_autograd|210000", "code_generation|400000",
                          "inductor|490000"));
  EXPECT_THAT(in.Rows("SELECT function, line, owner FROM frame ORDER BY depth"),
              ElementsAre("step|10|user", "compile_wrapper|5|torch", "main|22|user"));
  EXPECT_THAT(in.Rows("SELECT pid, rank FROM process"), ElementsAre("8074|-"));
}

// Each program fails at its first check. The one that ran last need not be the nearest.
TEST(TorchTrace, TheReasonIsWhatNoEarlierProgramWasCompiledFor) {
  Trace trace;
  trace.Start(0).Graph(0, 64).End(0, 1000);
  // A single reason is no JSON since torch 2.15.
  trace.Reasons(1, "0/0: GLOBAL_STATE changed: grad_mode ").Start(1).Graph(1, 64).End(1, 1000);
  trace
      .Reasons(2,
               "[\n\"0/1: GLOBAL_STATE changed: grad_mode \",\n\"0/0: tensor 'x' size mismatch at "
               "index 0. expected 64, actual 48\"\n]")
      .Start(2)
      .Graph(2, 48)
      .End(2, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kReasons), ElementsAre("2|environment_change|grad_mode|-|-",
                                             "3|shape_change|x|f32[64,16]|f32[48,16]"));
}

// A constant's new value is in the guards of its own program, or in a later failure of it.
TEST(TorchTrace, NewValuesOfConstantsAreFound) {
  Trace trace;
  trace.Start(0).End(0, 1000);
  trace.Reasons(1, "0/0: n == 2   # for i in range(n):  # u/train.py:12 in step").Start(1);
  trace.Record(
      R"({"dynamo_cpp_guards_str": {}, "frame_id": 0, "frame_compile_id": 1, "attempt": 0, "has_payload": "0"})",
      "| +- EQUALS_MATCH: L['n'] == 5          # for i in range(n):  # u/train.py:12 in step");
  trace.End(1, 1000);
  trace.Reasons(2, "[\"0/1: n == 5\",\"0/0: n == 2\"]").Start(2).End(2, 1000);
  trace.Reasons(3, "[\"0/2: n == 7\",\"0/1: n == 5\",\"0/0: n == 2\"]").Start(3).End(3, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kReasons), ElementsAre("2|constant_change|n|2|5", "3|constant_change|n|5|7",
                                             "4|constant_change|n|7|-"));
  EXPECT_THAT(
      in.Rows("SELECT s.file, s.line FROM compile_reason r JOIN site s ON s.id = r.site_id"),
      ElementsAre("/home/u/train.py|12"));
}

// torch and the program have only "/" in common, so that the first character of the path is lost, too.
TEST(TorchTrace, APathThatLostItsBeginningIsThatOfTheProgramsFolder) {
  Trace trace;
  trace.Start(0).End(0, 1000);
  trace.Reasons(1, "0/0: n == 2   # for i in range(n):  # ome/u/layers.py:7 in forward");
  trace.Start(1).End(1, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT s.file, s.line FROM compile_reason r JOIN site s ON s.id = r.site_id"),
      ElementsAre("/home/u/layers.py|7"));
}

// A number that becomes a symbol serves other values, unless the code needs one value of it.
TEST(TorchTrace, WhatBecomesDynamicIsKnown) {
  const auto dynamic = [](bool is_specialized) {
    const std::string id = R"("frame_id": 0, "frame_compile_id": 1, "attempt": 0)";
    Trace trace;
    trace.Start(0).End(0, 1000).Reasons(1, "0/0: n == 2").Start(1);
    trace.Record(
        R"({"create_symbol": {"symbol": "s7", "val": "3", "source": "L['n']", "user_stack": [], "stack": []}, )" +
        id + "}");
    if (is_specialized)
      trace.Record(
          R"({"symbolic_shape_specialization": {"symbol": "s7", "sources": ["L['n']"], "value": "3"}, )" +
          id + "}");
    trace.End(1, 1000);
    return ImportText(torch_trace, trace.text)
        .Rows("SELECT before, after, is_dynamic FROM compile_reason");
  };
  EXPECT_THAT(dynamic(false), ElementsAre("2|3|1"));
  EXPECT_THAT(dynamic(true), ElementsAre("2|3|-"));
}

// At its limit of programs a function has one more reason, but is not compiled. A compile that failed
// is tried again without a reason.
TEST(TorchTrace, FailuresAndTheLimitAreNoCompiles) {
  Trace trace;
  trace.Start(0).End(
      0, 1000,
      R"(, "fail_type": "Unsupported", "fail_reason": "Data-dependent branching\n  Hint: none", "fail_user_frame_filename": "train.py", "fail_user_frame_lineno": 12)");
  trace.Start(1).End(1, 1000);
  trace.Reasons(2, "0/1: n == 2")
      .End(
          2, 20,
          R"(, "fail_type": "RecompileLimitExceeded", "dynamo_config": "{\"recompile_limit\": 2}")");
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_EQ(in.Rows(kCompiles).size(), 1u);
  EXPECT_THAT(in.Rows(kReasons), testing::IsEmpty());
  EXPECT_THAT(
      in.Rows("SELECT f.function, s.line, b.file, b.line, f.ts_ns, f.dur_ns, f.error, "
              "substr(f.text, 1, 14) FROM compile_failure f JOIN site s ON s.id = f.site_id "
              "JOIN site b ON b.id = f.failed_site_id"),
      ElementsAre("step|10|/home/u/train.py|12|0|1000000|Unsupported|Data-dependent"));
  EXPECT_THAT(in.Rows("SELECT d.function, s.line, d.programs, d.earlier, d.reason FROM "
                      "dynamo_recompile d JOIN site s ON s.id = d.site_id"),
              ElementsAre("step|10|2|2|n == 2"));
}

// PyTorch 2.15 says the limit in the message of the failure, whose type is that of other failures.
TEST(TorchTrace, TheLimitIsReadFromItsMessage) {
  Trace trace;
  trace.Start(0).End(0, 1000);
  trace.End(
      8, 20,
      R"(, "fail_type": "Unsupported", "fail_reason": "Dynamo recompile limit exceeded\n  Explanation: Dynamo attempted to recompile the code object too many times, exceeding the recompile_limit cache size limit (currently set to 5).")");
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT function, programs FROM dynamo_recompile"), ElementsAre("step|5"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile_failure"), ElementsAre("0"));
}

// An analysis that begins again meets the same break again.
TEST(TorchTrace, EachCompileHasEachOfItsBreaksOnce) {
  constexpr std::string_view kBreak =
      "Graph break in user code at train.py:12\nGraph Break Reason: Unsupported Tensor.item() "
      "call\n\nUser code traceback:\n  File \"train.py\", line 12, in step\n    x.item()\n";
  const std::string header =
      R"({"artifact": {"name": "dynamo_graph_break_reason"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "0"})";
  Trace trace;
  trace.Start(0).Record(header, kBreak).Record(header, kBreak).End(0, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT b.function, s.file, s.line, s.function, b.reason, b.code FROM "
                      "graph_break b JOIN site s ON s.id = b.site_id"),
              ElementsAre("step|/home/u/train.py|12|step|Unsupported Tensor.item() call|-"));
  // The line that calls the function follows from the record of its begin.
  EXPECT_THAT(in.Rows("SELECT f.file, f.line FROM graph_break b JOIN frame f ON f.stack_id = "
                      "b.stack_id WHERE f.owner = 'user' ORDER BY f.depth"),
              ElementsAre("/home/u/train.py|12", "/home/u/train.py|22"));
}

// The files that Inductor compiles while it generates its first code are trials of the compiler.
TEST(TorchTrace, TrialsOfTheCompilerAreAPartOfTheirOwn) {
  const std::string header =
      R"({"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "0"})";
  const auto event = [](std::string_view name, int64_t us, std::string_view phase) {
    return fmt::format("{{\n\"name\": \"{}\",\n\"ts\": {}.5,\n\"ph\": \"{}\"\n}}", name, us, phase);
  };
  Trace trace;
  trace.Start(0);
  trace.Record(header, event("Scheduler.codegen", 10, "B"));
  trace.Record(header, event("compile_file", 20, "B"))
      .Record(header, event("compile_file", 70, "E"));
  trace.Record(header, event("Scheduler.codegen", 80, "E"));
  trace.Record(header, event("compile_file", 90, "B"))
      .Record(header, event("compile_file", 99, "E"));
  trace.End(0, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT phase, dur_ns FROM compile_phase ORDER BY phase"),
              ElementsAre("aot_autograd|200000", "code_generation|350000", "dynamo|100000",
                          "inductor|300000", "toolchain_probe|50000"));
}

TEST(TorchTrace, CachesAnswer) {
  const auto header = [](std::string_view name) {
    return fmt::format(
        R"({{"artifact": {{"name": "{}", "encoding": "json"}}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "0"}})",
        name);
  };
  Trace trace;
  trace.Start(0);
  trace.Record(header("fx_graph_cache_miss"),
               R"({"key": "fabc", "cache_state": "miss", "components": ["\"key\": \"no\""]})");
  trace.Record(header("aotautograd_cache_hit"),
               R"({"time_saved_ms": 22347.5, "key": "adef", "cache_state": "hit"})");
  trace.Record(header("fx_graph_cache_of_another_kind"), "{}");
  trace.End(0, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT compile_id, cache, result, key, saved_ns FROM cache_lookup ORDER BY ordinal"),
      ElementsAre("1|inductor|miss|fabc|-", "1|aot_autograd|hit|adef|22347500000"));
}

constexpr const char* kFactsInOrder =
    "SELECT 'compile', g.number, g.name, c.ordinal AS o FROM compile c JOIN graph g ON g.id = "
    "c.graph_id UNION ALL SELECT 'execution', g.number, g.name, e.ordinal FROM execution e LEFT "
    "JOIN graph g ON g.id = e.graph_id ORDER BY o";

// Torch knows only the programs that it compiled since it began to list executions, so each of them
// was compiled just before its first execution.
TEST(TorchTrace, AProgramIsCompiledBeforeItsFirstExecution) {
  Trace trace;
  trace.Start(0).End(0, 1000).Start(1).End(1, 1000);
  trace.Record(
      R"({"artifact": {"name": "graph_execution", "encoding": "json"}, "stack": [], "has_payload": "0"})",
      "{\n\"graph_execution_order\": [\n{\"compile_id\": null},\n{\"compile_id\": \"0/0\"},\n"
      "{\"compile_id\": \"0/1\"},\n{\"compile_id\": \"0/0\"}\n]\n}");
  trace.Start(2).End(2, 1000);
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kFactsInOrder),
              ElementsAre("execution|-|-|0", "compile|0/0|step|1", "execution|0/0|step|2",
                          "compile|0/1|step|3", "execution|0/1|step|4", "execution|0/0|step|5",
                          "compile|0/2|step|6"));
  EXPECT_THAT(in.Rows("SELECT DISTINCT cause, ts_ns, enqueue_ts_ns FROM execution"),
              ElementsAre("compiled_function|-|-"));
}

TEST(TorchTrace, OddListsOfExecutionsAreLeftOut) {
  Trace trace;
  trace.Start(0).End(0, 1000);
  for (const char* payload : {"", "{", "[]", "7", R"({"graph_execution_order": 7})",
                              R"({"graph_execution_order": {"a": 1}})"})
    trace.Record(
        R"({"artifact": {"name": "graph_execution", "encoding": "json"}, "has_payload": "0"})",
        payload);
  trace.Record(R"({"artifact": {"name": "graph_execution", "encoding": "json"}})",
               R"({"graph_execution_order": [7, {"compile_id": "x/y"}, {"compile_id": "9/9"}]})");
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT graph_id FROM execution"), ElementsAre("-", "-", "-"));
}

TEST(TorchTrace, DamagedLogsAreRead) {
  Trace trace;
  trace.Start(0).End(0, 1000);
  const std::string whole = trace.text;
  // Lines of another program, and a record that is no JSON.
  trace.text = "step 1\n" + whole +
               "V1124 23:27:38.807000 8074 a.py:1] {\"dynamo_start\": {\"stack\": [}, "
               "\"frame_id\": 0}\n";
  const auto in = ImportText(torch_trace, trace.text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_EQ(in.Rows(kCompiles).size(), 1u);
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue ORDER BY code"),
              ElementsAre("odd_line|1", "odd_record|1"));
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto cut = ImportText(torch_trace, std::string_view(whole).substr(0, size));
    EXPECT_TRUE(cut.status.ok() || cut.Rows(kCompiles).empty()) << size;
  }
  const auto none = ImportText(torch_trace, "no trace\n");
  EXPECT_EQ(none.status.code(), absl::StatusCode::kInvalidArgument);
}

// tlparse writes each record as an object with sorted keys, and payloads to files of their own.
TEST(TorchTrace, TlparsesObjectsAreRead) {
  const std::string log =
      R"({"string_table":["/home/u/train.py"]}
{"attempt":0,"dynamo_start":{"stack":[{"filename":0,"line":22,"name":"main"},{"filename":0,"line":10,"name":"step"}]},"frame_compile_id":1,"frame_id":0,"lineno":309,"pathname":" torch/_dynamo/convert_frame.py","thread":5881,"timestamp":"2026-11-25T00:06:19.553000Z"}
{"attempt":0,"compilation_metrics":{"start_time_us":1795562858000000,"duration_us":1000,"recompile_reason":"0/0: tensor 'x' size mismatch at index 0. expected 64, actual 48"},"frame_compile_id":1,"frame_id":0,"thread":5881}
{"attempt":0,"a \"key\"":"}","frame_id":0}
{"attempt":0,"cut)";
  EXPECT_GT(torch_trace.sniff(log), 90);
  const auto in = ImportText(torch_trace, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles),
              ElementsAre("step|/home/u/train.py|10|0|1000000|compiled_function"));
  EXPECT_THAT(in.Rows(kReasons), ElementsAre("1|shape_change|x|64|48"));
  EXPECT_THAT(in.Rows("SELECT pid FROM process"), ElementsAre("5881"));
  for (size_t size = 0; size < log.size(); ++size)
    ImportText(torch_trace, std::string_view(log).substr(0, size));
}

TEST(TraceRecords, PayloadsAreTheLinesAfterTabs) {
  const std::string log =
      "V1124 23:27:38.807000 8074 a.py:1] {\"artifact\": {}}\n\t{\n\t\tx\n\t\n"
      "V1124 23:27:38.807000 8075 a.py:1] {\"str\": [\"f\", 1]}\n";
  TraceRecords records(log);
  TraceRecord record;
  ASSERT_TRUE(records.Next(&record));
  EXPECT_EQ(record.type, "artifact");
  EXPECT_EQ(TextOfPayload(record.payload), "{\n\tx\n");
  ASSERT_TRUE(records.Next(&record));
  EXPECT_EQ(record.type, "str");
  EXPECT_EQ(record.pid, 8075);
  EXPECT_EQ(record.line, 5);
  EXPECT_EQ(record.payload, "");
  EXPECT_FALSE(records.Next(&record));
}

}  // namespace
}  // namespace xlaprof
