// Tests that a forked process gets an error from the runtime, and does not wait for threads that
// only its parent has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Calls `f` in a forked process, and returns the error that it raises there.
std::string ErrorInFork(const std::function<void()>& f) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::string text = "nothing was raised";
    try {
      f();
    } catch (const Error& error) {
      text = error.what();
    }
    const bool written = write(ends[1], text.data(), text.size()) == ssize_t(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text(1000, ' ');
  text.resize(size_t(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : "the fork hung";
}

TEST(Fork, GetsAnErrorFromEachCall) {
  const Tensor recorded = ones({2}) + 2, computed = ones({});
  unlazy(std::vector{computed});
  const std::function<void()> calls[] = {[&] { recorded.to_cpu(); },
                                         [&] { computed.item(); },
                                         [&] { (void)(recorded + 1); },
                                         [&] { unlazy(std::vector{recorded}); },
                                         [] { ones({3}); },
                                         [] { mark_step(); },
                                         [] { sync(true); },
                                         [] { wait_device_ops(); }};
  for (const auto& call : calls) {
    EXPECT_THAT(ErrorInFork(call),
                AllOf(HasSubstr("forked after its parent had used the lazy runtime"),
                      HasSubstr("Fork before the first use"), HasSubstr("fork_test.cc:")));
  }
  EXPECT_EQ(sum(recorded).item(), 6);  // the parent goes on
}

TEST(Fork, DestroysWhatTheParentMade) {
  std::optional<Tensor> recorded = ones({2}) + 2;
  std::optional<DeviceLoader> loader(std::in_place, [] { return std::nullopt; });
  EXPECT_FALSE(loader->next());
  const auto destroy = [&] {
    recorded.reset();
    loader.reset();
  };
  EXPECT_EQ(ErrorInFork(destroy), "nothing was raised");
}

// Its thread waits for the first batch to be taken.
TEST(Fork, DestroysALoaderWithBatches) {
  std::optional<DeviceLoader> loader(
      std::in_place, [] { return DeviceLoader::HostBatch{}; }, Device::Default(), 1);
  loader->next();
  usleep(20000);  // most often enough to read the next batch
  EXPECT_EQ(ErrorInFork([&] { loader.reset(); }), "nothing was raised");
}

// Another thread records while this one forks.
TEST(Fork, OfSeveralThreadsDestroysWhatTheParentMade) {
  std::optional<Tensor> recorded = ones({2}) + 2;
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) sum(ones({3}) * 2).item();
  });
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(ErrorInFork([&] { recorded.reset(); }), "nothing was raised");
  stop = true;
  other.join();
}

// A death test of this style runs in a new process, which has not used the runtime.
TEST(Fork, BeforeTheFirstUseMayUseIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto use = [] {
    const std::string error = ErrorInFork([] { EXPECT_EQ((ones({}) + 2).item(), 3); });
    std::_Exit(error == "nothing was raised" ? 0 : 1);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace xlaprof::lazy
