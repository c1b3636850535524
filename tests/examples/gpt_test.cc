// Generates text with both caches of examples/gpt.
#include <gmock/gmock.h>

#include "tests/examples/recorded_example.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Gpt : public RecordedExample {
 protected:
  Ran Continued(const std::string& options) {
    return RunShell(XLAPROF_GPT " --texts 4 " + options, folder_);
  }
};

// Returns the texts, without the times behind them.
std::string Texts(const Ran& ran) { return ran.out.substr(0, ran.out.find("\n\n")); }

TEST_F(Gpt, BothCachesWriteTheSame) {
  const Ran trained = RunShell(XLAPROF_GPT " --train 24 --weights gpt.safetensors", folder_);
  double took_s = 0, loss = 0;
  ASSERT_EQ(std::sscanf(trained.out.c_str(),
                        "24 steps of training took %lf s; the last loss was %lf", &took_s, &loss),
            2)
      << trained.out;
  EXPECT_LT(loss, 3.1);  // without training it is 3.3
  const Ran growing = Continued("--weights gpt.safetensors --cache growing"),
            fixed = Continued("--weights gpt.safetensors --cache static");
  EXPECT_EQ(growing.status, 0) << growing.out;
  EXPECT_EQ(Texts(growing).size(), 4 * (16 + 112) + 3u) << growing.out;
  EXPECT_EQ(Texts(growing), Texts(fixed));
  // The last graph joins the characters.
  EXPECT_THAT(growing.out, HasSubstr(": 113 graphs were compiled\n"));
  EXPECT_THAT(fixed.out, HasSubstr(": 3 graphs were compiled\n"));
}

TEST_F(Gpt, TheGrowingCacheIsFoundAtItsLine) {
  const json report = ReportOf(XLAPROF_GPT " --texts 4 --cache growing");
  const json fault = Fault(report, "recompilation", "shape_change");
  ExpectLine(fault, "gpt/cache.cc", "seen.keys = cat(");
  EXPECT_EQ(fault["count"], 110);
  EXPECT_EQ(fault["reason"]["state"], "ongoing");
  ExpectOnPage(fault);
}

TEST_F(Gpt, TheStaticCacheHasNoFaultOfTheProgram) {
  const json report = ReportOf(XLAPROF_GPT " --texts 4 --cache static");
  EXPECT_EQ(report["summary"]["compile_count"], 4);  // one makes the random weights
  // A model this small keeps a device less busy than the host, which the report says.
  for (const json& finding : report["findings"]) {
    EXPECT_TRUE(finding["severity"] == "info" || finding["kind"] == "tracing_bound" ||
                finding["kind"] == "device_gap")
        << finding.dump(1);
  }
}

}  // namespace
}  // namespace xlaprof
