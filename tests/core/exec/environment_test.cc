#include "core/environment.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "core/exec/device.h"

namespace xlaprof::lazy {
namespace {

// The environment is read once per process, so this reads it in a process of its own.
void ExpectFlags(const char* value, const char* said) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (const char* name : {"XLA_SYNC_WAIT", "XLA_USE_BF16", "PT_XLA_DEBUG"})
          setenv(name, value, 1);
        const Environment& e = environment();
        fmt::print(stderr, "{} {} {}.", e.sync_wait, e.use_bf16, e.debug);
        _exit(0);
      },
      testing::ExitedWithCode(0), said);
}

// Regression: XLA_SYNC_WAIT=2 was refused.
// Regression: the advice was launch(), which this backend refuses, too.
TEST(Environment, ABackendWithoutSpmdNamesWhatItCanDo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("XLAPROF_DEVICE", "pjrt", 1);
        const absl::Status status = Device::UseSpmd();
        std::fputs(std::string(status.message()).c_str(), stderr);
        std::exit(status.ok() ? 1 : 0);
      },
      testing::ExitedWithCode(0),
      "the backend pjrt does not divide tensors.*run_ranks.*or nn::DataParallel");
}

TEST(Environment, FlagsAreNumbersAsInTorchXla) {
  for (const char* value : {"1", "2", "-1", "true"}) ExpectFlags(value, "^true true true\\.$");
  for (const char* value : {"0", "", "false"}) ExpectFlags(value, "^false false false\\.$");
  ExpectFlags("yes",
              ": W core/environment.cc:[0-9]+] XLA_SYNC_WAIT=yes is not a number: 0 is used\n"
              "(.|\n)*false false");
}

}  // namespace
}  // namespace xlaprof::lazy
