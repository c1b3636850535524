// Each fault that examples/mnist can plant is found at its line, with its reason and its cost.
// Without a planted fault, nothing above info is found.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/examples/line_of.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;

struct Planted {
  std::string pathology;
  std::string kind;
  std::string reason;  // "" means any
  std::string text;    // the line at fault; "" if none is reported
  int64_t steps = 60;
  std::string file = "train.cc";
};
constexpr int64_t kDefaultSteps = 300;  // in the demo
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.pathology; }

class Mnist : public ProgramTest, public testing::WithParamInterface<Planted> {
 protected:
  json Report(const std::string& pathology, int64_t steps) {
    const std::string option = pathology.empty() ? "" : " --pathology " + pathology;
    const Ran trained = Run("demo --steps " + std::to_string(steps) + option + " -o run.xlaprof");
    EXPECT_EQ(trained.status, 0) << trained.out;
    const Ran report = Run("report run.xlaprof --format json");
    EXPECT_EQ(report.status, 0) << report.out;
    return json::parse(report.out);
  }
};

TEST_P(Mnist, SinIsFound) {
  const Planted& planted = GetParam();
  const json report = Report(planted.pathology, planted.steps);
  std::string others;
  for (const json& finding : report["findings"]) {
    if (planted.pathology == "no_mark_step" && finding["kind"] == "recompilation") {
      EXPECT_EQ(finding["severity"], "info") << finding.dump(1);
    }
    for (const char* word : {"Python", "torch.", "torch_xla.", "xm.", "xp.", "jax", "if tensor"})
      EXPECT_THAT(finding.dump(1), testing::Not(testing::HasSubstr(word)));
    others += finding["title"].get<std::string>() + "\n";
    if (finding["kind"] != planted.kind || finding["severity"] == "info") continue;
    if (!planted.reason.empty() && finding["reason"]["type"] != planted.reason) continue;
    if (!planted.text.empty()) {
      EXPECT_EQ(finding["subject"]["line"], LineOf("mnist/" + planted.file, planted.text))
          << finding.dump(1);
      EXPECT_THAT(finding["subject"]["file"].get<std::string>(),
                  testing::EndsWith("examples/mnist/" + planted.file));
    }
    // The cost of a second copy of a weight cannot be measured.
    if (planted.pathology != "tied_weights") {
      EXPECT_TRUE(finding["cost_ns"].is_number() && finding["cost_ns"] > 0) << finding.dump(1);
    }
    return;
  }
  FAIL() << "found only:\n" << others;
}

INSTANTIATE_TEST_SUITE_P(
    Pathologies, Mnist,
    testing::Values(
        Planted{"changing_batch", "recompilation", "shape_change", "DeviceLoader loader("},
        Planted{"baked_scalar", "recompilation", "constant_change", "pad(output"},
        Planted{"loop_index", "recompilation", "constant_change", "schedule_.select(0",
                kDefaultSteps},
        Planted{"loop_count", "recompilation", "loop_count_change", "sum = sum * 0.5",
                kDefaultSteps},
        Planted{"nonzero", "fallback", "no_lowering", "nonzero(gt(output"},
        Planted{"mask", "fallback", "no_lowering", "masked_select(output"},
        Planted{"item", "sync_point", "value_access", "last_loss_ = loss.item()"},
        Planted{"print", "sync_point", "value_access", "loss.print()"},
        Planted{"clip_norm", "sync_point", "value_access", "squares += sum("},
        Planted{"slow_loader", "input_bound", "high", "loader.next()", 30},
        Planted{"host_work", "device_gap", "user_scope", "Trace named(", 30},
        Planted{"live_tensor", "recompilation", "live_tensors_change", "pool1 = max_pool2d",
                kDefaultSteps, "net.h"},
        Planted{"unlowered_op", "fallback", "no_lowering", "histc(output"},
        Planted{"tied_weights", "untied_weights", "tied_before_move", "mirror->to(Device"},
        Planted{"no_mark_step", "missing_step_mark", "no_step_mark", "  loss.item();", 200}),
    [](const auto& info) { return info.param.pathology; });

// Regression: the page showed another line and older words.
TEST_F(Mnist, ThePageOfTheLazyRuntimeShowsWhatTheDemoPrints) {
  std::ifstream file(XLAPROF_SOURCE_DIR "/docs/lazy_runtime.md");
  std::string page, word;
  while (file >> word) page += word + " ";
  const json report = Report("item", kDefaultSteps);
  const json& finding = report["findings"][0];
  for (const char* text : {"title", "advice"})
    EXPECT_THAT(page, testing::HasSubstr(finding[text].get<std::string>()));
  EXPECT_THAT(page, testing::HasSubstr(finding["reason"]["text"].get<std::string>()));
  EXPECT_THAT(page, testing::HasSubstr("examples/mnist/train.cc:" +
                                       std::to_string(LineOf("mnist/train.cc", "last_loss_ = ")) +
                                       ", in Training::Misbehave"));
}

// Clipping that decides on the device reads nothing.
TEST_F(Mnist, ClipGradNormIsNoSyncPoint) {
  const Ran trained = RunShell("XLAPROF_RECORD=run.xlaprof " XLAPROF_MNIST
                               " --pathology clip_norm --repaired --steps 60",
                               folder_);
  ASSERT_EQ(trained.status, 0) << trained.out;
  const json report = json::parse(Run("report run.xlaprof --format json").out);
  for (const json& finding : report["findings"]) {
    // The program reads the accuracy at its end.
    EXPECT_TRUE(finding["kind"] != "sync_point" || finding["severity"] == "info")
        << finding.dump(1);
  }
}

TEST_F(Mnist, WithoutAFaultNothingIsFound) {
  // On a busy machine, the loader's thread may not get a core for a while, and then this finding is
  // right.
  const auto waits_for_data = [](const json& finding) {
    return finding["kind"] == "input_bound" && finding["severity"] != "info";
  };
  json report;
  for (int run = 0; run < 3; ++run) {
    std::filesystem::remove(folder_ / "run.xlaprof");
    report = Report("", 60);
    if (std::none_of(report["findings"].begin(), report["findings"].end(), waits_for_data)) break;
  }
  for (const json& finding : report["findings"])
    EXPECT_EQ(finding["severity"], "info") << finding.dump(1);
  EXPECT_EQ(report["summary"]["steps"], 60);
}

TEST_F(Mnist, LearnsDigits) {
  const Ran trained = Run("demo -o run.xlaprof");
  ASSERT_EQ(trained.status, 0);
  double accuracy = 0;
  ASSERT_EQ(std::sscanf(trained.out.c_str(), "MNIST, 300 steps: %lf %%", &accuracy), 1)
      << trained.out;
  EXPECT_GT(accuracy, 95);
}

// Regression: a recording that lost its last twelfth, as a copy to a full disk does, still has its
// steps and compilations.
TEST_F(Mnist, ACutRecordingKeepsItsSteps) {
  ASSERT_EQ(Run("demo --pathology item -o run.xlaprof").status, 0);
  const auto summary = [&] {
    const Ran ran = Run("report run.xlaprof --format json");
    EXPECT_EQ(ran.status, 0) << ran.out;
    return json::parse(ran.out)["summary"];
  };
  const json whole = summary();
  const std::filesystem::path store = folder_ / "run.xlaprof";
  std::filesystem::resize_file(store, std::filesystem::file_size(store) * 550'000 / 602'112);
  const json cut = summary();
  EXPECT_EQ(cut["steps"], 300);
  EXPECT_EQ(cut["compile_count"], whole["compile_count"]);
  EXPECT_GE(cut["execution_count"], 500);
}

TEST_F(Mnist, KernelsTellTheirShapes) {
  ASSERT_EQ(Run("demo --steps 5 -o run.xlaprof").status, 0);
  const auto count = [&](const std::string& where) {
    const Ran ran =
        Run("query run.xlaprof --format csv \"SELECT count(*) AS n FROM event e JOIN arg "
            "s ON s.event_id = e.id AND s.key = 'shape' JOIN arg o ON o.event_id = e.id "
            "AND o.key = 'operands' WHERE e.category = 'op' AND " +
            where + "\"");
    EXPECT_EQ(ran.status, 0) << ran.out;
    return ran.out;
  };
  EXPECT_EQ(count("s.value NOT LIKE '%[%'"), "n\n0\n");
  EXPECT_NE(count("e.name = 'aten::mm' AND s.value LIKE 'f32[%,10]' AND o.value LIKE 'f32[%], "
                  "f32[%,10]'"),
            "n\n0\n");
}

TEST_F(Mnist, EachPartOfACutIsAScope) {
  ASSERT_EQ(Run("demo --steps 5 -o run.xlaprof").status, 0);
  const Ran ran = Run("query run.xlaprof --format csv \"SELECT DISTINCT name FROM event\"");
  for (const char* part :
       {"StepMarker", "SyncLiveTensorsGraph", "SyncTensorsGraph", "CollectSyncTensors",
        "RunPostOrder", "HashGraph", "LookupCachedCompile", "XLAGraphExecutor::Compile",
        "ScheduleSyncTensorsGraph", "TransferToDevice", "TransferFromDevice"})
    EXPECT_THAT(ran.out, testing::HasSubstr(std::string(part) + "\n"));
}

TEST_F(Mnist, IsRecordedOnTheNullBackend) {
  ASSERT_EQ(Run("demo --steps 5 -o run.xlaprof", "XLAPROF_DEVICE=null").status, 0);
  const Ran report = Run("report run.xlaprof --format json");
  EXPECT_LT(json::parse(report.out)["summary"]["wall_ns"], int64_t{600} * 1'000'000'000);
}

TEST_F(Mnist, TrainsInEachKeptType) {
  for (const char* variable : {"XLA_USE_BF16", "XLA_USE_F16", "XLA_USE_32BIT_LONG"}) {
    const Ran trained = Run("demo --force --steps 6 -o run.xlaprof", fmt::format("{}=1", variable));
    EXPECT_EQ(trained.status, 0) << variable << "\n" << trained.out;
  }
}

TEST_F(Mnist, WithoutADeviceNothingIsWritten) {
  const Ran ran = Run("demo -o run.xlaprof", "XLAPROF_DEVICE=tpu");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, testing::HasSubstr("Missing XLA configuration: XLAPROF_DEVICE=tpu is not a "));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.xlaprof"));

  ASSERT_EQ(Run("demo --steps 1 -o run.xlaprof").status, 0);
  const std::string older = Content("run.xlaprof");
  EXPECT_EQ(Run("demo --force -o run.xlaprof", "XLAPROF_DEVICE=tpu").status, 2);
  EXPECT_EQ(Content("run.xlaprof"), older);
}

TEST_F(Mnist, StepsAreFromOneToAMillion) {
  const Ran ran = RunShell(XLAPROF_MNIST " --steps 0", folder_);
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.out, testing::HasSubstr("--steps: Value 0 not in range 1 to 1000000\n"));
}

TEST_F(Mnist, WrongNamesAreToldWithTheRightOnes) {
  const Ran ran = Run("demo --pathology nonsense");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, testing::HasSubstr("Choose one of changing_batch, baked_scalar"));
}

}  // namespace
}  // namespace xlaprof
