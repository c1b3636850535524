// Tests tensors that a step uploads one by one.
#include "analyzers/kinds.h"
#include "analyzers/run/uploads.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

// Makes ten steps of 10 ms. Each makes `uploads` uploads, of which one begins every `every_us`, on
// `thread`, and then runs for 2 ms.
class Uploading {
 public:
  Uploading(int uploads, int64_t every_us, bool in_background = false, int64_t dur_us = 5) {
    const int64_t host = run_.HostThread(), loader = run_.HostThread("loader");
    const int64_t device = run_.Device();
    run_.Exec(
        "INSERT INTO graph (id, hash, printed_as) VALUES (1, 'a', 'ir_text');"
        "INSERT INTO site (id, file, line, function) VALUES (1, '/app/batching.py', 20, 'batch');");
    for (int64_t step = 0; step < 10; ++step) {
      const int64_t begin_us = 10'000 * step;
      run_.Step(host, begin_us, 10'000);
      for (int64_t i = 0; i < uploads; ++i)
        Upload(in_background ? loader : host, begin_us + i * every_us, dur_us);
      run_.Event(host, TextOf(Category::kExecute), "ExecuteComputation", begin_us + 7900, 50);
      run_.Event(device, TextOf(Category::kModule), "SyncTensorsGraph", begin_us + 8000, 2000);
      run_.Exec(fmt::format(
          "INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device) VALUES (1, "
          "{}, 1, {}, 2000000, 'TPU:0')",
          step, (begin_us + 8000) * 1000));
    }
  }
  // Adds `count` inputs of the graph at one line.
  void Inputs(int64_t line, std::string_view shape, int count) {
    for (int i = 0; i < count; ++i) {
      run_.Exec(fmt::format(
          "INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) VALUES (1, {}, "
          "'xla::device_data', '{}', '', 'batch@batching.py:{}')",
          nodes_++, shape, line));
    }
  }
  Findings Find() { return run_.Run(large_transfer); }
  TimedRun& run() { return run_; }

 private:
  void Upload(int64_t thread, int64_t ts_us, int64_t dur_us) {
    run_.Event(thread, TextOf(Category::kTransfer), "TransferToDevice", ts_us, dur_us);
    run_.Exec(fmt::format(
        "INSERT INTO transfer (process_id, ordinal, track_id, direction, ts_ns, dur_ns) VALUES (1, "
        "{}, {}, 'to_device', {}, {})",
        ordinal_++, thread, ts_us * 1000, dur_us * 1000));
  }
  TimedRun run_;
  int nodes_ = 0, ordinal_ = 100;
};

TEST(UploadBursts, ManyUploadsInEachStepNeedFixing) {
  const Findings findings = Uploading(64, 100).Find();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].needs_fixing);
  EXPECT_EQ(findings[0].per_step, 64);
  const int64_t steps = *findings[0].count / 64;
  EXPECT_EQ(findings[0].cost_ns, steps * (63 * 100 + 5) * 1000);
  EXPECT_FALSE(findings[0].subject.file);
}

TEST(UploadBursts, ABatchOfThirtyTensorsIsFine) {
  const Findings findings = Uploading(30, 100).Find();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_FALSE(findings[0].needs_fixing);
}

TEST(UploadBursts, ALoaderUploadsBesideTheSteps) {
  EXPECT_TRUE(Uploading(64, 100, true).Find().empty());
}

TEST(UploadBursts, UploadsWithPausesAreNotOneByOne) {
  EXPECT_TRUE(Uploading(5, 1500).Find().empty());
}

TEST(UploadBursts, NumbersOfOperationsThatRunInBetweenAreNotOneByOne) {
  Uploading uploading(64, 100);
  for (int64_t step = 0; step < 10; ++step) {
    for (int64_t i = 0; i < 64; i += 2)
      uploading.run().Exec(fmt::format(
          "INSERT INTO execution (process_id, ordinal, graph_id, enqueue_ts_ns) VALUES (1, {}, 1, {})",
          1000 + 64 * step + i, (10'000 * step + i * 100 + 50) * 1000));
  }
  EXPECT_TRUE(uploading.Find().empty());
}

TEST(UploadBursts, ALineIsNamedIfItsInputsAreAsManyAsTheUploads) {
  for (const int inputs : {10, 64, 200}) {
    Uploading uploading(64, 100);
    uploading.Inputs(20, "s64[24]", inputs);
    const Findings findings = uploading.Find();
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].subject.line, inputs == 64 ? OptInt(20) : OptInt()) << inputs;
  }
}

TEST(UploadBursts, InputsOfSizesThatWereNotUploadedAreOthers) {
  Uploading uploading(64, 100);
  uploading.Inputs(20, "s64[24]", 32), uploading.Inputs(21, "s64[48]", 32);
  uploading.Inputs(30, "f32[1024,1024]", 40);
  uploading.run().Metric(uploading.run().Report(10), "OutboundData", MetricUnit::kBytes, 640, 1e5,
                         {{1, 192}, {99, 384}});
  const xlaprof::Run run(uploading.run().store());
  const UploadBursts* bursts = *run.Get<UploadBursts>();
  ASSERT_EQ(bursts->lines.size(), 2u);
  EXPECT_EQ(bursts->lines[0].place.line, 20);
  EXPECT_EQ(bursts->lines[1].place.line, 21);
}

}  // namespace
}  // namespace xlaprof
