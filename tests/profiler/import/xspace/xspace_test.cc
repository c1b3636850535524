#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/profiler/import/xspace_builder.h"

namespace xlaprof {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int64_t kEpoch = 1'700'000'000'000'000'000;
constexpr const char* kIssues = "SELECT code, severity, count FROM import_issue ORDER BY code";

Plane Host() { return Plane("/host:CPU"); }

TEST(XSpaceSniff, KnowsAnXSpaceByItsBytes) {
  std::string bytes =
      XSpaceOf({Host().Line(1, "python").Event("a", 0, 1), TaskEnvironment(kEpoch)});
  EXPECT_GE(xspace.sniff(bytes), 90);
  EXPECT_GE(xspace.sniff(bytes.substr(0, 30)), 90);  // the head of a longer file
  EXPECT_GE(xspace.sniff(XSpaceOf({Plane("/device:TPU:0")})), 90);
}

TEST(XSpaceSniff, IsNotFooledByTextOrOtherProtobuf) {
  EXPECT_EQ(xspace.sniff(""), 0);
  EXPECT_EQ(xspace.sniff("\nCompilation Analysis: ====\nCompilation Analysis: Compilation Cause\n"),
            0);
  EXPECT_EQ(xspace.sniff("\n\n\n\n\n\n"), 0);
  EXPECT_EQ(xspace.sniff("{\"traceEvents\": []}"), 0);
  EXPECT_EQ(xspace.sniff("SQLite format 3"), 0);
  // The first field of these messages is another one that holds only small numbers.
  EXPECT_EQ(xspace.sniff(Wire().Text(1, Wire().Real(3, 1.5).str()).str()), 0);
  EXPECT_EQ(xspace.sniff(Wire().Int(1, 5).Text(2, "/host:CPU").str()), 0);
}

TEST(XSpace, AnswersAFileThatWentThroughATextCodec) {
  std::string broken = "\n\xef\xbf\xbd\x01\x12\x09/host:CPU";
  for (int i = 0; i < 40; ++i) broken += "\x1a\xef\xbf\xbd\xef\xbf\xbd\x10";
  EXPECT_GT(xspace.sniff(broken), 0);
  auto in = ImportXSpace(broken);
  EXPECT_THAT(in.status.ToString(), HasSubstr("UTF-8 replacement characters at byte 1"));
  EXPECT_THAT(in.status.ToString(), HasSubstr("Copy it again in binary"));
}

TEST(XSpace, KeepsNamesWithReplacementCharactersOfAnIntactFile) {
  std::string name;
  for (int i = 0; i < 40; ++i) name += "\xef\xbf\xbd";
  auto in = ImportXSpace({Host().Line(1, "python").Event(name, 0, 1)});
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Events(), ElementsAre("python|0|1|scope|" + name));
}

TEST(XSpace, PlacesRelativeTimesByTheTaskEnvironmentThatComesLast) {
  auto in = ImportXSpace(
      {Host().Line(7, "worker/7", 100).EventPs("X::a", 1'999, 2).EventPs("X::b", 1'999, 1'001),
       TaskEnvironment(kEpoch)});
  ASSERT_TRUE(in.status.ok()) << in.status;
  // Starts and ends are floored separately: 1.999 to 2.001 ns touches two nanoseconds, and 1.999 to
  // 3.000 ns also ends at 3.
  EXPECT_THAT(in.Events(), ElementsAre("worker/7|101|2|host|X::b", "worker/7|101|1|host|X::a"));
  EXPECT_THAT(in.Rows("SELECT value FROM meta WHERE key = 'base_epoch_ns'"),
              ElementsAre(fmt::to_string(kEpoch)));
  EXPECT_THAT(in.Rows("SELECT kind, name, tid FROM track"), ElementsAre("host_thread|worker/7|7"));
}

TEST(XSpace, PlacesEpochTimesWithAndWithoutTaskEnvironment) {
  auto planes = [](bool environment) {
    std::vector<Plane> planes = {Host().Line(1, "worker", kEpoch + 500).Event("X::a", 20, 1)};
    if (environment) planes.push_back(TaskEnvironment(kEpoch));
    return planes;
  };
  EXPECT_THAT(ImportXSpace(planes(true)).Events(), ElementsAre("worker|520|1|host|X::a"));
  EXPECT_THAT(ImportXSpace(planes(false)).Events(), ElementsAre("worker|20|1|host|X::a"));
}

// Regression: the sum of such a clock and any time of the capture overflowed.
TEST(XSpace, DoesNotBelieveAClockAtTheEndOfTime) {
  auto in =
      ImportXSpace({Host().Line(1, "worker").Event("X::a", 5, 1), TaskEnvironment(INT64_MAX)});
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Events(), ElementsAre("worker|5|1|host|X::a"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("unbelievable_clock|warning|1"));
  EXPECT_THAT(in.Rows("SELECT value FROM meta WHERE key = 'base_epoch_ns'"), ElementsAre());
}

std::string Packed(std::string text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data()), stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data()), stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(XSpace, SaysThatACompressedArgumentIsCut) {
  constexpr size_t kMiB = 1 << 20;
  for (const size_t size : {kMiB, kMiB + 1}) {
    auto in =
        ImportXSpace({Host()
                          .Line(-5, "worker")
                          .Event("X::a", 5, 0, {{"z", Gzip{Packed(std::string(size, 'z'))}}})});
    EXPECT_THAT(in.Rows("SELECT max(length(text)) FROM string"), ElementsAre("1048576"));
    EXPECT_THAT(in.Rows("SELECT count(*) FROM import_issue WHERE code = 'cut_argument'"),
                ElementsAre(size == kMiB ? "0" : "1"));
  }
}

TEST(XSpace, KeepsEveryKindOfStatistic) {
  auto in = ImportXSpace({Host()
                              .Line(-5, "worker")
                              .Event("X::a", 5, 0,
                                     {{"i", int64_t(-3)},
                                      {"u", uint64_t(4)},
                                      {"d", 0.5},
                                      {"s", "text"},
                                      {"r", Ref{"interned"}},
                                      {"b", Blob{"\x01\x02"}},
                                      {"z", Gzip{Packed("a long text")}}})});
  EXPECT_THAT(
      in.Events(),
      ElementsAre("worker|5|0|host|X::a|b=bytes|d=0.5|i=-3|r=interned|s=text|u=4u|z=a long text"));
  EXPECT_THAT(in.Rows("SELECT tid FROM track"), ElementsAre("-5"));
}

TEST(XSpace, MakesFlowsOfProducersAndConsumers) {
  auto in =
      ImportXSpace({Host()
                        .Line(1, "worker")
                        .Event("X::post", 0, 1, {{"_pt", int64_t(15)}, {"_p", uint64_t(77)}})
                        .Line(2, "pool")
                        .Event("X::run", 5, 1, {{"_ct", int64_t(15)}, {"_c", uint64_t(77)}})
                        .Event("X::other", 9, 1, {{"_ct", int64_t(5)}, {"_c", uint64_t(77)}})});
  EXPECT_THAT(in.Events(),
              ElementsAre("worker|0|1|host|X::post|0>1|_pt=15", "pool|5|1|host|X::run|1>0|_ct=15",
                          "pool|9|1|host|X::other|2>0|_ct=5"));
}

TEST(XSpace, CallsDeviceOpsByTheirInstructionAndGivesWhatTheirNameCarries) {
  Plane tpu("/device:TPU:0");
  tpu.Line(2, "XLA Ops")
      .Event("%copy-done.2 = f32[5]{0} copy-done(%copy-start)", 10, 5,
             {{"device_offset_ps", uint64_t(10'000)}, {"device_duration_ps", uint64_t(4'999)}});
  tpu.Name("%copy-done.2 = f32[5]{0} copy-done(%copy-start)",
           {{"hlo_category", "copy-done"}, {"flops", int64_t(3)}});
  tpu.Line(3, "XLA Modules").Event("jit_f(12)", 10, 5, {{"run_id", uint64_t(1)}});
  tpu.Line(4, "Steps").Event("0", 10, 5);
  tpu.Line(5, "Async XLA Ops");
  auto in = ImportXSpace({tpu});
  EXPECT_THAT(in.Rows("SELECT name, kind, device, parent_id FROM track ORDER BY sort"),
              ElementsAre("TPU:0|device|TPU:0|-", "Steps|device_stream|TPU:0|1",
                          "XLA Modules|device_stream|TPU:0|1", "XLA Ops|device_stream|TPU:0|1"));
  EXPECT_THAT(
      in.Events(),
      ElementsAre(
          "XLA Ops|10|5|op|copy-done.2|device_duration_ps=4999u|flops=3|hlo_category=copy-done|"
          "long_name=%copy-done.2 = f32[5]{0} copy-done(%copy-start)",
          "XLA Modules|10|5|module|jit_f(12)|run_id=1u", "Steps|10|5|step|0"));
  EXPECT_THAT(in.Rows("SELECT device, ts_ns, dur_ns FROM execution"), ElementsAre("TPU:0|10|5"));
  EXPECT_THAT(in.Rows("SELECT number, ts_ns, dur_ns FROM step"), ElementsAre("0|10|5"));
}

TEST(XSpace, TellsApartOpsOfTwoProgramsWithOneName) {
  Plane tpu("/device:TPU:0");
  tpu.Line(2, "XLA Ops").Name("add.1", {{"flops", int64_t(3)}}).Event("add.1", 0, 1);
  tpu.Name("add.1", {{"flops", int64_t(7)}}, /*again=*/true).Event("add.1", 5, 1);
  EXPECT_THAT(ImportXSpace({tpu}).Events(),
              ElementsAre("XLA Ops|0|1|op|add.1|flops=3", "XLA Ops|5|1|op|add.1|flops=7"));
}

TEST(XSpace, JoinsADevicesProgramsWithTheHostsEnqueue) {
  auto in = ImportXSpace(
      {Plane("/device:TPU:1")
           .Line(3, "XLA Modules")
           .Event("jit_f(9)", 50, 5, {{"run_id", uint64_t(3)}}),
       Host()
           .Line(1, "main/1")
           .Event("PjitFunction(f)", 20, 20)
           .Line(2, "pool/2")
           .Event("DoEnqueueProgram", 31, 2,
                  {{"run_id", uint64_t(3 + (1 << 28))}, {"device_ordinal", int64_t(1)}})});
  EXPECT_THAT(in.Rows("SELECT device, enqueue_ts_ns, ts_ns, cause FROM execution"),
              ElementsAre("TPU:1|31|50|call"));
}

TEST(XSpace, CountsOccurrencesWithoutMakingEvents) {
  Plane host = Host();
  host.Line(1, "worker", 40);
  host.RawEvent(Wire().Int(1, host.NameId("X::often")).Int(5, 12).Int(3, 5'000'000));
  auto in = ImportXSpace({host});
  EXPECT_THAT(in.Events(), IsEmpty());
  std::vector<std::string> samples;
  ASSERT_TRUE(EachCounterBatch(*in.store, [&](const CounterBatch& batch) {
                samples.push_back(fmt::format(
                    "{}|{}|{}",
                    in.Rows(fmt::format("SELECT name FROM track WHERE id = {}", batch.track_id))[0],
                    batch.ts_ns[0], batch.value[0]));
                return absl::OkStatus();
              }).ok());
  EXPECT_THAT(samples, testing::UnorderedElementsAre("X::often (occurrences)|40|12",
                                                     "X::often (ns in all)|40|5000"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(XSpace, DropsTimesThatCannotBe) {
  constexpr int64_t kFar = INT64_MAX;
  auto in = ImportXSpace({Host()
                              .Line(1, "worker", 1)
                              .EventPs("X::a", kFar, 1)
                              .EventPs("X::b", kFar - 5, kFar)
                              .EventPs("X::c", INT64_MIN, 0)
                              .EventPs("X::d", 0, INT64_MIN)
                              .EventPs("X::e", -1, 2)
                              .Line(2, "far", kFar)
                              .Event("X::f", 1, 1)});
  // -0.001 ns belongs to the nanosecond before zero; 2^63 ps are three months, which is possible.
  EXPECT_THAT(in.Events(), ElementsAre("worker|-9223372036854775|0|host|X::c",
                                       "worker|0|1|host|X::e", "worker|1|0|host|X::d"));
  EXPECT_THAT(in.Rows(kIssues),
              ElementsAre("negative_duration|warning|1", "time_out_of_range|warning|3"));
}

TEST(XSpace, ReplacesInvalidUtf8AndCounts) {
  auto in = ImportXSpace({Host().Line(1, "worker").Event("X::\xff\xe4z", 0, 1)});
  EXPECT_THAT(in.Events(), ElementsAre("worker|0|1|host|X::\xef\xbf\xbd\xef\xbf\xbdz"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("invalid_utf8|warning|1"));
}

TEST(XSpace, KeepsWhatStandsBeforeACut) {
  std::string whole = XSpaceOf(
      {Host().Line(1, "worker").Event("X::a", 0, 1).Event("X::b", 5, 1), TaskEnvironment(kEpoch)});
  auto all = ImportXSpace(whole);
  ASSERT_EQ(all.Events().size(), 2u);
  size_t most = 0;
  for (size_t length = 1; length < whole.size(); ++length) {
    auto in = ImportXSpace(std::string_view(whole).substr(0, length));
    ASSERT_TRUE(in.status.ok()) << length << in.status;
    size_t events = in.Events().size();
    EXPECT_GE(events, most) << length;
    most = events;
    // A cut between two messages cannot be detected.
    if (length !=
        Wire()
            .Text(1, Host().Line(1, "worker").Event("X::a", 0, 1).Event("X::b", 5, 1).Build())
            .str()
            .size()) {
      EXPECT_THAT(in.Rows("SELECT code, first_offset FROM import_issue"),
                  Contains(fmt::format("cut_file|{}", length)));
    }
  }
  EXPECT_EQ(most, 2u);
}

TEST(XSpace, SaysWhichNamesACutTookAway) {
  std::string whole = XSpaceOf({Host().Line(1, "worker").Event("X::a", 0, 1)});
  auto in = ImportXSpace(std::string_view(whole).substr(0, whole.find("X::a") - 8));
  EXPECT_THAT(in.Events(), ElementsAre("worker|0|1|host|#1"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue ORDER BY 1"),
              ElementsAre("cut_file", "nameless_events"));
}

TEST(XSpace, SkipsUnknownFieldsAndCountsDamage) {
  Plane host = Host();
  host.Line(1, "worker");
  host.RawEvent(Wire()
                    .Int(1, host.NameId("X::a"))
                    .Int(99, 5)
                    .Text(98, "later")
                    .Real(97, 1)
                    .Int(2, 3'000)
                    .Int(3, 1'000));
  host.RawEvent(
      Wire().Int(1, host.NameId("X::b")).Raw(7 << 3 | 3));  // a group, an obsolete wire type
  auto in = ImportXSpace({host});
  EXPECT_THAT(in.Events(), ElementsAre("worker|3|1|host|X::a"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("damaged_event|warning|1"));
}

TEST(XSpace, RepeatsWhatTheProfilerItselfSaid) {
  std::string bytes = XSpaceOf({Host().Line(1, "worker").Event("X::a", 0, 1)}) +
                      Wire().Text(2, "CUPTI failed").Text(3, "dropped 7").Text(4, "box").str();
  auto in = ImportXSpace(bytes);
  EXPECT_THAT(in.Rows("SELECT code, severity, advice FROM import_issue ORDER BY 1"),
              ElementsAre("profiler_error|error|The profiler itself reported: CUPTI failed",
                          "profiler_warning|warning|The profiler itself reported: dropped 7"));
  EXPECT_THAT(in.Rows("SELECT host FROM process"), ElementsAre("box"));
}

TEST(XSpace, SaysThatACaptureIsEmpty) {
  auto in = ImportXSpace({Host(), TaskEnvironment(kEpoch)});
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT code, advice FROM import_issue"),
              ElementsAre(testing::AllOf(StartsWith("empty_capture|"), HasSubstr("duration_ms"))));
}

TEST(XSpace, ReadsPlanesOfTwoProcessesAsTwo) {
  auto in = ImportXSpace({Plane("/host:CPU")
                              .PlaneStat("process_id", uint64_t(11))
                              .Line(1, "worker")
                              .Event("X::a", 0, 1),
                          Plane("/host:CPU")
                              .PlaneStat("process_id", uint64_t(12))
                              .Line(1, "worker")
                              .Event("X::b", 0, 1)});
  EXPECT_THAT(in.Rows("SELECT pid, count(t.id) FROM process p JOIN track t ON t.process_id = p.id "
                      "GROUP BY p.id"),
              ElementsAre("11|1", "12|1"));
  auto one = ImportXSpace({Plane("/host:CPU")
                               .PlaneStat("process_id", uint64_t(11))
                               .Line(1, "worker")
                               .Event("X::a", 0, 1),
                           Plane("/host:metadata").PlaneStat("process_id", uint64_t(11))});
  EXPECT_THAT(one.Rows("SELECT pid FROM process"), ElementsAre("11"));
}

TEST(XSpace, TellsTheUsersScopesFromTheRuntime) {
  auto in = ImportXSpace({Host()
                              .Line(1, "python")
                              .Event("forward pass", 0, 50)
                              .Event("StepMarker", 100, 100)
                              .Event("algsimp-2", 110, 5)  // inside a sync
                              .Event("algsimp-2", 300, 5)  // the same name elsewhere
                              .Event("from pool", 320, 5)  // this name also comes from a pool
                              .Event("has source", 340, 5, {{"_src", "x.cc"}})
                              .Event("$train.py:3 step", 360, 5)
                              .Event("aten::add", 380, 1)
                              .Event("load", 400, 9, {{"batch", int64_t(7)}})
                              .Line(2, "pool/2")
                              .Event("from pool", 0, 5)});
  EXPECT_THAT(in.Events(),
              ElementsAre("python|0|50|scope|forward pass", "python|100|100|host|StepMarker",
                          "python|110|5|host|algsimp-2", "python|300|5|host|algsimp-2",
                          "python|320|5|host|from pool", "python|340|5|host|has source|_src=x.cc",
                          "python|360|5|python|$train.py:3 step", "python|380|1|host|aten::add",
                          "python|400|9|scope|load|batch=7", "pool/2|0|5|host|from pool"));
  EXPECT_THAT(in.Rows("SELECT name, value, evidence FROM setting"),
              ElementsAre("python_tracer|on|1 of 10 events (10 %) are Python calls"));
}

TEST(XSpace, TakesNoStageOfAnUnfinishedCompileForAScope) {
  // The window ends while XLA compiles: the compile's own event is missing, and only its passes are
  // there.
  auto in = ImportXSpace({Host()
                              .Line(1, "python")
                              .Event("epoch", 0, 50)
                              .Event("StepMarker", 60, 10)
                              .Event("sharding-removal", 100, 5)
                              .Event("my-odd-pass", 110, 5)
                              .Event("Codegen", 120, 5)
                              .Event("another odd pass", 130, 5)});
  EXPECT_THAT(in.Events(), ElementsAre("python|0|50|scope|epoch", testing::_, testing::_,
                                       "python|110|5|host|my-odd-pass", testing::_,
                                       "python|130|5|host|another odd pass"));
}

// Builds a torch_xla program on CPU: each step has a read in a scope and a mark at its end, which
// compiles.
Plane LazySteps() {
  Plane host = Host();
  host.Line(1, "python")
      .Event("train", 1'000, 900, {{"_r", int64_t(1)}, {"step_num", int64_t(4)}})
      .Event("debug", 1'010, 200)
      .Event("SyncTensorsGraph", 1'020, 60)
      .Event("SyncTensorsGraphInternal", 1'020, 59)
      .Event("ScheduleSyncTensorsGraph", 1'070, 5)
      .Event("PjRtComputationClient::TransferFromDevice", 1'085, 100)
      .Event("StepMarker", 1'400, 400)
      .Event("SyncTensorsGraphInternal", 1'401, 390)
      .Event("XLAGraphExecutor::Compile", 1'420, 300, {{"graph_hash", Ref{"abc123"}}})
      .Event("PjRtComputationClient::Compile", 1'430, 280)
      .Event("PjRtCpuClient::Compile", 1'431, 270)
      .Event("CpuCompiler::RunBackend", 1'500, 100, {{"name", Ref{"SyncTensorsGraph.9"}}})
      .Event("ScheduleSyncTensorsGraph", 1'780, 5);
  host.Line(2, "tf_pytorchxla/2")
      .Event("PjRtComputationClient::ExecuteComputation", 1'075, 4)
      .Event("PjRtComputationClient::ExecuteComputation", 1'786, 4);
  auto op = [](int64_t program, uint64_t flow) {
    return Stats{{"hlo_op", "dot.1"},
                 {"hlo_module", Ref{"m"}},
                 {"program_id", program},
                 {"_pt", int64_t(0)},
                 {"_p", flow}};
  };
  host.Line(3, "tf_XLAEigen/3")
      .Event("dot.1", 1'090, 20, op(3, 1))
      .Event("end: dot.1", 1'150, 1, {{"_ct", int64_t(0)}, {"_c", uint64_t(1)}});
  host.Event("dot.1", 1'800, 30, op(7, 2));
  return host;
}

TEST(XSpaceFacts, ReadsStepsCompilesExecutionsAndReadsOfTorchXla) {
  auto in = ImportXSpace({LazySteps()});
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT ordinal, number, name, ts_ns, dur_ns FROM step"),
              ElementsAre("0|4|train|1000|900"));
  EXPECT_THAT(in.Rows("SELECT ordinal, hash, ts_ns, dur_ns, dur_from, cause, step_id, inferred "
                      "FROM compile JOIN graph g ON g.id = graph_id"),
              ElementsAre("2|abc123|1420|300|profile|step_trace_exit|1|0"));
  EXPECT_THAT(in.Rows("SELECT ordinal, enqueue_ts_ns, ts_ns, dur_ns, host_wait_ns, device, cause, "
                      "step_id, scope FROM execution"),
              ElementsAre("0|1070|1090|61|100|CPU:0|value_access|1|train/debug",
                          "3|1780|1800|30|-|CPU:0|step_trace_exit|1|train"));
  EXPECT_THAT(in.Rows("SELECT ordinal, direction, ts_ns, dur_ns, bytes, scope FROM transfer"),
              ElementsAre("1|from_device|1085|100|-|train/debug"));
  EXPECT_THAT(in.Rows("SELECT table_name, count(offset) FROM provenance GROUP BY 1 ORDER BY 1"),
              ElementsAre("compile|1", "execution|2", "graph|1", "step|1", "transfer|1"));
}

TEST(XSpaceFacts, AMarkThatIsNotTheLastOfItsStepIsASync) {
  auto sync = [](Plane& plane, int64_t at) {
    plane.Event("StepMarker", at, 20)
        .Event("SyncTensorsGraphInternal", at + 1, 18)
        .Event("ScheduleSyncTensorsGraph", at + 5, 2);
  };
  Plane host = Host();
  host.Line(1, "python").Event("train", 0, 100, {{"_r", int64_t(1)}});
  sync(host, 10);
  sync(host, 60);
  sync(host, 200);
  auto in = ImportXSpace({host});
  EXPECT_THAT(in.Rows("SELECT cause, ts_ns FROM execution"),
              ElementsAre("sync|-", "step_trace_exit|-", "sync|-"));
  EXPECT_THAT(in.Rows("SELECT number, name FROM step"), ElementsAre("-|train"));
}

// The profiler does not record a step mark that was open when it began or ended, but it does record
// the calls in it.
TEST(XSpaceFacts, AtTheEdgesOfAProfileNobodyKnowsWhyTheGraphWasCut) {
  Plane host = Host();
  host.Line(1, "python");
  for (int64_t at : {0, 100, 300})
    host.Event("SyncTensorsGraphInternal", at, 18).Event("ScheduleSyncTensorsGraph", at + 5, 2);
  host.Event("PjRtComputationClient::TransferFromDevice", 120, 10);
  auto in = ImportXSpace({host});
  EXPECT_THAT(in.Rows("SELECT enqueue_ts_ns, cause FROM execution"),
              ElementsAre("5|unknown", "105|value_access", "305|unknown"));
}

TEST(XSpaceFacts, DividesADevicesWorkIntoExecutions) {
  // Two executions of one program are in flight together on two threads, and a loop's op runs twice
  // in each.
  Plane host = Host();
  host.Line(1, "python");
  for (int64_t at : {0, 10}) {
    host.Event("StepMarker", at, 8)
        .Event("SyncTensorsGraphInternal", at + 1, 6)
        .Event("ScheduleSyncTensorsGraph", at + 2, 2);
  }
  Stats op = {{"hlo_op", "x"}, {"program_id", int64_t(1)}};
  host.Line(2, "tf_XLAEigen/2")
      .Event("first", 20, 5, op)
      .Event("loop", 30, 2, op)
      .Event("loop", 35, 2, op)
      .Event("last", 60, 10, op);
  host.Line(3, "tf_XLAEigen/3")
      .Event("first", 40, 5, op)
      .Event("loop", 50, 2, op)
      .Event("loop", 55, 2, op)
      .Event("last", 80, 10, op);
  EXPECT_THAT(ImportXSpace({host}).Rows("SELECT ts_ns, dur_ns FROM execution"),
              ElementsAre("20|50", "40|50"));
}

// The profile began after the first op of an execution. Counted from the start, each execution would
// have the last op of one and the first of the next.
TEST(XSpaceFacts, AProfileMayBeginWithinAnExecution) {
  constexpr int64_t kStepNs = 400'000'000;
  Plane host = Host();
  const Stats op = {{"hlo_op", "x"}, {"program_id", int64_t(1)}};
  host.Line(1, "python");
  for (int64_t at : {kStepNs, 2 * kStepNs}) host.Event("ScheduleSyncTensorsGraph", at, 10);
  host.Line(2, "tf_pytorchxla/2");
  for (int64_t at : {kStepNs, 2 * kStepNs})
    host.Event("PjRtComputationClient::ExecuteComputation", at + 20, 10);
  host.Line(3, "tf_XLAEigen/3").Event("last", 50, 40, op);
  for (int64_t at : {kStepNs, 2 * kStepNs})
    host.Event("first", at + 30, 10, op).Event("last", at + 50, 40, op);
  EXPECT_THAT(ImportXSpace({host}).Rows("SELECT ts_ns, dur_ns FROM execution"),
              ElementsAre("400000030|60", "800000030|60"));
}

// Two programs have one name but other ops, so that their executions look like one. The ops of a
// small program may also lie far apart for their length.
TEST(XSpaceFacts, WorkWithLongPausesIsNoExecution) {
  const auto execution = [](int64_t last_ns) {
    Plane host = Host();
    host.Line(1, "python").Event("ScheduleSyncTensorsGraph", 0, 2);
    const auto op = [](const char* name) {
      return Stats{{"hlo_op", Ref{name}}, {"program_id", int64_t(1)}};
    };
    host.Line(2, "tf_XLAEigen/2")
        .Event("first", 20, 5, op("first"))
        .Event("other", last_ns, 5, op("other"));
    return ImportXSpace({host}).Rows("SELECT ts_ns, dur_ns FROM execution");
  };
  EXPECT_THAT(execution(2'000'000'000), ElementsAre("-|-"));
  EXPECT_THAT(execution(900), ElementsAre("20|885"));
}

// A GPU's driver is called on host threads, with the number of the call and the op that it launches.
TEST(XSpaceFacts, ALaunchIsNoDeviceWork) {
  const Stats op = {{"hlo_op", "fusion.1"}, {"program_id", int64_t(3)}};
  Stats launch = op;
  launch.emplace_back("correlation_id", int64_t(6));
  Plane host = Host();
  host.Line(1, "Host Threads/1")
      .Event("cuLaunchKernel", 10, 5, launch)
      .Event("cuLaunchKernel", 110, 5, launch);
  Plane gpu("/device:GPU:0");
  gpu.Line(16, "Stream #16(Kernel)")
      .Event("fusion_1", 20, 30, launch)
      .Event("fusion_1", 120, 30, launch);
  EXPECT_THAT(ImportXSpace({host, gpu}).Rows("SELECT device, ts_ns, dur_ns FROM execution"),
              ElementsAre("GPU:0|20|30", "GPU:0|120|30"));
  // The device's plane may have been left out of the profile.
  auto alone = ImportXSpace({host});
  EXPECT_THAT(alone.Rows("SELECT count(*) FROM execution"), ElementsAre("0"));
  EXPECT_THAT(alone.Events()[0], testing::StartsWith("Host Threads/1|10|5|execute|cuLaunchKernel"));
}

TEST(XSpaceFacts, OpsOfAProgramMayShareAKernel) {
  Plane gpu("/device:GPU:0");
  gpu.Line(16, "Stream #16(Kernel)");
  auto op = [](const char* name) {
    return Stats{{"hlo_op", Ref{name}}, {"program_id", int64_t(3)}};
  };
  for (int64_t at : {0, 100, 200}) {
    gpu.Event("transpose.kd", at, 5, op("transpose.1"))
        .Event("transpose.kd", at + 10, 5, op("transpose.2"));
    gpu.Event("im2col.kd", at + 20, 5, op("conv.1")).Event("gemm.kd", at + 30, 20, op("conv.1"));
  }
  EXPECT_THAT(ImportXSpace({Host(), gpu}).Rows("SELECT ts_ns, dur_ns FROM execution"),
              ElementsAre("0|50", "100|50", "200|50"));
}

TEST(XSpaceFacts, JaxDispatchesAProgramToEachDevice) {
  Plane host = Host();
  host.Line(1, "py_xla_execute/1");
  std::vector<Plane> planes;
  for (int device : {0, 1}) {
    Plane& gpu = planes.emplace_back(fmt::format("/device:GPU:{}", device));
    gpu.Line(16, "Stream #16(Kernel)");
    for (int64_t at : {0, 100}) {
      host.Event("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", at + device, 1);
      gpu.Event("fusion.kd", at + 10 + device, 5,
                {{"hlo_op", Ref{"fusion"}}, {"program_id", int64_t(3)}});
    }
  }
  planes.push_back(host);
  EXPECT_THAT(ImportXSpace(planes).Rows("SELECT device, count(*) FROM execution GROUP BY 1"),
              ElementsAre("GPU:0|2", "GPU:1|2"));
}

TEST(XSpaceFacts, OpsOnHostThreadsAreWorkOnlyWithoutAnotherDevice) {
  const Stats op = {{"hlo_op", "dot.1"}, {"program_id", int64_t(3)}};
  Plane host = Host();
  host.Line(1, "tf_XLAEigen/1").Event("dot.1", 500, 10, op);
  Plane gpu("/device:GPU:0");  // listed, but nothing ran on it
  EXPECT_THAT(ImportXSpace({gpu, host}).Rows("SELECT device, ts_ns FROM execution"),
              ElementsAre("CPU:0|500"));
  gpu.Line(16, "Stream #16(Kernel)").Event("fusion_1", 20, 30, op);
  EXPECT_THAT(ImportXSpace({gpu, host}).Rows("SELECT device, ts_ns FROM execution"),
              ElementsAre("GPU:0|20"));
}

TEST(XSpaceFacts, ReadsCompilesAndCallsOfJax) {
  Plane host = Host();
  Stats op = {{"hlo_op", "x"}, {"program_id", int64_t(22)}, {"run_id", int64_t(5)}};
  host.Line(1, "python")
      .Event("train", 0, 900, {{"_r", int64_t(1)}, {"step_num", int64_t(0)}})
      .Event("PjitFunction(train_step)", 10, 500)
      .Event("PjitFunction(train_step)", 11, 498)
      .Event("backend_compile_and_load", 100, 300)
      .Event("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 450, 20)
      .Event("np.asarray(jax.Array)", 600, 50);
  host.Line(2, "tf_PjRtCompilerThreadPool/2")
      .Event("PjRtCpuClient::Compile", 120, 200)
      .Event("CpuCompiler::RunBackend", 150, 100, {{"name", Ref{"jit_train_step"}}});
  host.Line(3, "tf_XLAPjRtCpuClient/3").Event("x", 480, 10, op);
  auto in = ImportXSpace({host});
  EXPECT_THAT(in.Rows("SELECT ts_ns, dur_ns, function, cause, step_id FROM compile"),
              ElementsAre("100|300|train_step|call|1"));
  EXPECT_THAT(
      in.Rows("SELECT enqueue_ts_ns, ts_ns, dur_ns, host_wait_ns, cause, scope FROM execution"),
      ElementsAre("450|480|10|50|call|train"));
  EXPECT_THAT(in.Rows("SELECT direction, dur_ns FROM transfer"), ElementsAre("from_device|50"));
}

// TorchTPU compiles on a thread of its own. No call of a function asks for it, and graphs of one name
// may have different shapes.
TEST(XSpaceFacts, ReadsCompilesAndTasksOfTorchTpu) {
  auto in =
      ImportXSpace({Host()
                        .Line(1, "python")
                        .Event("CompileTraversal", 5, 4)
                        .Event("ExecutionTask::Run", 12, 80)
                        .Line(2, "tf_tt_compile/7")
                        .Event("PjRtCApiClient::CompileAndLoad(tt_jit_linear_backward)", 10, 30)
                        .Event("PjRtCApiClient::CompileAndLoad(tt_jit_linear_backward)", 50, 20)});
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT c.ts_ns, c.dur_ns, c.cause, c.function, g.name, g.hash FROM compile c "
              "JOIN graph g ON g.id = c.graph_id ORDER BY c.ts_ns"),
      ElementsAre("10|30|-|linear_backward|tt_jit_linear_backward|-",
                  "50|20|-|linear_backward|tt_jit_linear_backward|-"));
  EXPECT_THAT(in.Rows("SELECT enqueue_ts_ns, ts_ns, cause FROM execution"), ElementsAre("12|-|-"));
}

// The copy to a device has no size of its own. What it copies is named inside of it.
TEST(XSpaceFacts, ReadsCopiesOfTorchTpu) {
  auto in = ImportXSpace({Host()
                              .Line(1, "python")
                              .Event("TpuMallocAndMemcpyHtoD", 10, 20)
                              .Event("PjRtCApiCompiler::BufferFromHostBuffer(f32[64,32])", 15, 10)
                              .Event("CopyTpuToCpu", 40, 5)
                              .Event("PjRtCApiCompiler::BufferFromHostBuffer(f32[])", 50, 2)
                              .Event("TpuMallocAndMemcpyHtoD", 60, 20)
                              .Event("PjRtCApiCompiler::BufferFromHostBuffer(what[?])", 65, 10)
                              .Line(2, "pt_autograd_0")
                              .Event("PjRtCApiCompiler::BufferFromHostBuffer(s64[8])", 16, 2)});
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT direction, bytes, ts_ns, dur_ns FROM transfer ORDER BY ts_ns"),
              ElementsAre("to_device|8192|10|20", "from_device|-|40|5", "to_device|-|60|20"));
}

TEST(XSpaceFacts, MeetsSyncsWithTheProgramsOfEachDevice) {
  Plane host = Host();
  host.Line(1, "python");
  for (int64_t at : {0, 100}) {
    host.Event("StepMarker", at, 20)
        .Event("SyncTensorsGraphInternal", at + 1, 18)
        .Event("ScheduleSyncTensorsGraph", at + 2, 2);
  }
  auto tpu = [](int n) {
    return Plane(fmt::format("/device:TPU:{}", n))
        .Line(3, "XLA Modules")
        .Event("reduce(1)", 20, 5)
        .Event("SyncTensorsGraph.9(2)", 50 + n, 5)
        .Event("SyncTensorsGraph.9(2)", 150 + n, 5);
  };
  EXPECT_THAT(ImportXSpace({tpu(0), tpu(1), host})
                  .Rows("SELECT device, enqueue_ts_ns, ts_ns, cause FROM execution ORDER BY ts_ns"),
              ElementsAre("TPU:0|-|20|-", "TPU:1|-|20|-", "TPU:0|2|50|sync", "TPU:1|2|51|sync",
                          "TPU:0|102|150|sync", "TPU:1|102|151|sync"));
}

}  // namespace
}  // namespace xlaprof
