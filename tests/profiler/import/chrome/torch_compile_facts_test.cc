// Tests what is read of torch.compile from PyTorch's profiler and from tlparse's copy of its log.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer chrome;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kCompiles =
    "SELECT g.number, c.ts_ns, c.dur_ns, c.dur_from, c.cause FROM compile c LEFT JOIN graph g ON "
    "g.id = c.graph_id ORDER BY c.ordinal";
constexpr const char* kExecutions =
    "SELECT g.number, e.enqueue_ts_ns, e.host_wait_ns, e.ts_ns, e.dur_ns, e.cause FROM execution e "
    "LEFT JOIN graph g ON g.id = e.graph_id ORDER BY e.ordinal";

// Writes a trace as PyTorch's profiler does. Times are in microseconds.
class Kineto {
 public:
  Kineto& Event(std::string_view name, int ts, int dur, std::string_view cat = "cpu_op",
                std::string_view args = "", int tid = 2) {
    events_ += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":7,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        events_.empty() ? "" : ",\n", cat, name, tid, ts, dur, args);
    return *this;
  }
  Kineto& Lookup(int ts) { return Event("TorchDynamo Cache Lookup", ts, 1); }
  Kineto& Region(std::string_view number, int ts, int dur) {
    return Event(fmt::format("Torch-Compiled Region: {}", number), ts, dur);
  }
  Kineto& Timed(std::string_view name, int ts, int dur, int tid = 2) {
    return Event(fmt::format("{} (dynamo_timed)", name), ts, dur, "user_annotation", "", tid);
  }
  Kineto& Op(std::string_view name, int ts, int dur, int sequence, int tid = 2) {
    return Event(name, ts, dur, "cpu_op", fmt::format(R"("Sequence number":{})", sequence), tid);
  }
  ImportedText Read() const {
    return ImportText(
        chrome, R"({"schemaVersion":1,"deviceProperties":[],"traceEvents":[)" + events_ + "]}");
  }

 private:
  std::string events_;
};

TEST(TorchCompileFacts, AProgramThatRunsWithoutLookupIsTheCompiledOne) {
  const auto in = Kineto()
                      .Lookup(0)
                      .Timed("_compile.compile_inner", 10, 100)
                      .Region("0/0", 120, 20)
                      .Lookup(150)
                      .Region("0/0", 152, 5)
                      .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("0/0|10000|100000|profile|compiled_function"));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("0/0|120000|20000|-|-|compiled_function",
                                                "0/0|152000|5000|-|-|compiled_function"));
  EXPECT_THAT(in.Rows("SELECT number, name, hash, printed_as FROM graph"),
              ElementsAre("0/0|-|-|-"));
}

// The compilation may have failed, and the program that runs next was compiled before.
TEST(TorchCompileFacts, AProgramThatIsLookedUpWasNotCompiledJustBefore) {
  const auto in = Kineto()
                      .Lookup(0)
                      .Timed("_compile.compile_inner", 10, 100)
                      .Lookup(115)
                      .Region("1/0", 120, 20)
                      .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("-|10000|100000|profile|compiled_function"));
}

TEST(TorchCompileFacts, ACompilationUnderTwoNamesIsOne) {
  const auto in =
      Kineto()
          .Event("entire_frame_compile", 10, 100)
          .Event("entire_frame_compile_data: fn_name=_compile.compile_inner, compile_id=0/1", 11, 1,
                 "user_annotation")
          .Event("_compile.compile_inner (dynamo_timed)", 12, 97)
          .Event("entire_backward_compile", 200, 50)
          .Event(
              "entire_backward_compile_data: fn_name=backward._backward_impl, is_backward=True, "
              "compile_id=0/1",
              201, 1, "user_annotation")
          .Event("backward._backward_impl (dynamo_timed)", 202, 47)
          .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("0/1|10000|150000|profile|compiled_function"));
}

TEST(TorchCompileFacts, ABackwardGraphBelongsToItsForwardGraph) {
  Kineto trace;
  trace.Lookup(0)
      .Timed("_compile.compile_inner", 10, 100)
      .Region("0/0", 120, 20)
      .Op("CompiledFunction", 125, 10, 31)
      .Op("CompiledFunctionBackward", 200, 60, 31, 3)
      .Timed("backward._backward_impl", 205, 50, 3);
  EXPECT_THAT(trace.Read().Rows(kCompiles),
              ElementsAre("0/0|10000|150000|profile|compiled_function"));
  // Of a backward graph that is not known, only the events tell.
  trace.Op("CompiledFunctionBackward", 300, 60, 77, 3).Timed("backward._backward_impl", 305, 50, 3);
  const auto in = trace.Read();
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("0/0|10000|150000|profile|compiled_function"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"),
              ElementsAre("backward_compile_not_placed|1"));
}

// After a graph break, the rest of the function is compiled and run inside the first part's region.
TEST(TorchCompileFacts, ARegionsTimeIsWithoutWhatIsInside) {
  const auto in = Kineto()
                      .Region("0/0", 100, 100)
                      .Lookup(105)
                      .Timed("_compile.compile_inner", 110, 50)
                      .Region("1/0", 165, 20)
                      .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("1/0|110000|50000|profile|compiled_function"));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("0/0|100000|30000|-|-|compiled_function",
                                                "1/0|165000|20000|-|-|compiled_function"));
}

TEST(TorchCompileFacts, ReadsTheEventsThatTlparseCopies) {
  constexpr std::string_view kEvent =
      R"({{"name": "{}", "ts": {}, "args": {{"compile_id": "{}"{}}}, "ph": "{}", "cat": "dynamo_timed", "tid": 0, "pid": 0}})";
  std::string events;
  const auto add = [&](std::string_view name, int64_t us, std::string_view id, char phase,
                       std::string_view more = "") {
    events += events.empty() ? "" : ",\n  ";
    events += fmt::format(fmt::runtime(kEvent), name, 1795563120000000 + us, id, more, phase);
  };
  add("dynamo", 0, "0/0", 'B');
  add("entire_frame_compile", 100, "0/0", 'B');
  add("backend_compile", 200, "0/0", 'B');
  add("backend_compile", 800, "0/0", 'E');
  add("entire_frame_compile", 1100, "0/0", 'E');
  add("dynamo", 1200, "0/0", 'E', R"(, "co_name": "step", "fail_type": null)");
  add("entire_backward_compile", 2000, "0/0", 'B');
  add("entire_backward_compile", 2500, "0/0", 'E');
  add("dynamo", 3000, "1/0", 'B');
  add("entire_frame_compile", 3100, "1/0", 'B');
  add("entire_frame_compile", 3900, "1/0", 'E');
  add("dynamo", 4000, "1/0", 'E', R"(, "co_name": "other", "fail_type": "Unsupported")");
  const std::string text = "[\n  " + events + "\n]";
  EXPECT_GT(chrome.sniff(text), 50);
  const auto in = ImportText(chrome, text);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT g.number, c.function, c.dur_ns, c.dur_from, c.track_id FROM compile c "
              "JOIN graph g ON g.id = c.graph_id"),
      ElementsAre("0/0|step|1500000|log|-"));
  EXPECT_THAT(in.Rows("SELECT pid FROM process"), ElementsAre("-"));
}

TEST(TorchCompileFacts, OddNumbersAreNotBelieved) {
  const auto in = Kineto()
                      .Lookup(0)
                      .Timed("_compile.compile_inner", 10, 100)
                      .Region("Unknown", 120, 20)
                      .Event("Torch-Compiled Region", 150, 20)
                      .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("-|10000|100000|profile|compiled_function"));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("-|120000|20000|-|-|compiled_function"));
  EXPECT_THAT(in.Rows("SELECT id FROM graph"), IsEmpty());
}

}  // namespace
}  // namespace xlaprof
