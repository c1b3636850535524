// Tests programs that one process compiles and another finds. Here each process is a device,
// because a device does not have what was compiled for another.
#include "core/exec/persistent_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/temporary_folder.h"
#include "core/metrics/metrics.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"
#include "tests/read_file.h"

namespace xlaprof::lazy {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int64_t CounterValue(std::string_view name) { return counter_value(name).value_or(0); }
int64_t Samples(std::string_view name) {
  const auto data = metric_data(name);
  return data ? data->count : 0;
}

// Measures what the rest of a test adds to the counters.
struct Since {
  const int64_t compiled = CounterValue("UncachedCompile"), timed = Samples("CompileTime"),
                hits = CounterValue("PersistentCacheHit"),
                misses = CounterValue("PersistentCacheMiss"),
                failures = CounterValue("PersistentCacheDeserializeFailure");
  std::string Text() const {
    return fmt::format("{} compiled, {} timed, {} hits, {} misses, {} failures",
                       CounterValue("UncachedCompile") - compiled, Samples("CompileTime") - timed,
                       CounterValue("PersistentCacheHit") - hits,
                       CounterValue("PersistentCacheMiss") - misses,
                       CounterValue("PersistentCacheDeserializeFailure") - failures);
  }
};
constexpr const char* kCompiled = "1 compiled, 1 timed, 0 hits, 1 misses, 0 failures";
constexpr const char* kFound = "0 compiled, 0 timed, 1 hits, 0 misses, 0 failures";
constexpr const char* kCompiledAgain = "1 compiled, 1 timed, 0 hits, 1 misses, 1 failures";

class PersistentCacheTest : public ::testing::Test {
 protected:
  // Computes the same program on a device that has compiled nothing yet and whose cache is in
  // `folder`.
  std::vector<float> Compute(const fs::path& folder, bool read_only = false) {
    Device& device = *new Device("CPU:0", MakeNativeBackend(1));
    const std::vector<float> values{1, 2, 3};
    const Tensor x = Tensor::FromHost<float>(values, {3}, device);
    initialize_cache(folder, read_only, device);
    const HostTensor host = exp(x * x - x).to_cpu();
    return {host.values<float>().begin(), host.values<float>().end()};
  }
  std::vector<fs::path> Files() const {
    if (!fs::exists(folder_)) return {};
    return {fs::directory_iterator(folder_), fs::directory_iterator()};
  }
  void Write(const fs::path& path, std::string_view text) const {
    std::ofstream(path, std::ios::binary) << text;
  }
  const std::vector<float> expected_{1, std::exp(2.0f), std::exp(6.0f)};
  const TemporaryFolder temporary_ = *TemporaryFolder::Make("persistent-cache-test");
  const fs::path folder_ = temporary_.path() / "made" / "here";
};

class Compiles final : public Listener {
 public:
  std::vector<observe::Compilation> compiles;
  void OnCompile(const observe::Compilation& compile) override { compiles.push_back(compile); }
};

TEST_F(PersistentCacheTest, AnotherProcessFindsWhatOneCompiled) {
  const Since start;
  EXPECT_EQ(Compute(folder_), expected_);
  EXPECT_EQ(start.Text(), kCompiled);
  ASSERT_EQ(Files().size(), 1);

  static Compiles& observer = *new Compiles;
  observe::observer = &observer;
  const Since second;
  const int64_t loads = Samples("PersistentCacheLoad"), cached = CounterValue("CachedCompile");
  EXPECT_EQ(Compute(folder_), expected_);
  observe::observer = nullptr;
  EXPECT_EQ(second.Text(), kFound);
  EXPECT_EQ(Samples("PersistentCacheLoad"), loads + 1);
  EXPECT_EQ(CounterValue("CachedCompile"), cached + 1);
  ASSERT_EQ(observer.compiles.size(), 1);
  EXPECT_EQ(observer.compiles[0].persistent_hit, true);
}

TEST_F(PersistentCacheTest, WithoutOneNobodyAsks) {
  static Compiles& observer = *new Compiles;
  observe::observer = &observer;
  Device& device = *new Device("CPU:0", MakeNativeBackend(1));
  const Since start;
  EXPECT_EQ(sum(ones({3}, DType::kF32, device)).item(), 3);
  observe::observer = nullptr;
  EXPECT_EQ(start.Text(), "1 compiled, 1 timed, 0 hits, 0 misses, 0 failures");
  ASSERT_EQ(observer.compiles.size(), 1);
  EXPECT_EQ(observer.compiles[0].persistent_hit, std::nullopt);
}

TEST_F(PersistentCacheTest, ReadOnlyWritesNothing) {
  const Since start;
  EXPECT_EQ(Compute(folder_, /*read_only=*/true), expected_);
  EXPECT_EQ(start.Text(), kCompiled);
  EXPECT_THAT(Files(), IsEmpty());
  Compute(folder_);
  const Since second;
  EXPECT_EQ(Compute(folder_, /*read_only=*/true), expected_);
  EXPECT_EQ(second.Text(), kFound);
}

TEST_F(PersistentCacheTest, DamagedFilesAreMissesAndAreMadeAnew) {
  Compute(folder_);
  const fs::path path = Files()[0];
  const std::string whole = ReadFile(path);
  std::vector<std::string> damaged{"", "\n", "something else", whole + " ", whole + whole};
  for (size_t i = 1; i < whole.size(); i += 23) {
    damaged.push_back(whole.substr(0, i));
    damaged.push_back(whole);
    damaged.back()[i] ^= 0x20;
  }
  for (const std::string& bytes : damaged) {
    Write(path, bytes);
    const Since start;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(Compute(folder_), expected_);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(path.string()));
    EXPECT_EQ(start.Text(), kCompiledAgain);
    ASSERT_EQ(ReadFile(path), whole);
  }
  EXPECT_THAT(Files(), ElementsAre(path));  // no partly written file is left
}

TEST_F(PersistentCacheTest, AFolderOfThatNameIsAMiss) {
  Compute(folder_);
  const fs::path path = Files()[0];
  fs::remove(path);
  fs::create_directory(path);
  const Since start;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Compute(folder_, /*read_only=*/true), expected_);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(path.string()));
  EXPECT_EQ(start.Text(), kCompiledAgain);
}

TEST_F(PersistentCacheTest, AnotherVersionsFilesAreMisses) {
  Compute(folder_);
  const fs::path path = Files()[0];
  std::string older = ReadFile(path);
  const size_t version = older.find("version ");
  older.replace(version, older.find('\n', version) - version, "version 0.0.0");
  Write(path, older);
  const Since start;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Compute(folder_, /*read_only=*/true), expected_);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("by another version"));
  EXPECT_EQ(start.Text(), kCompiledAgain);
  EXPECT_EQ(ReadFile(path), older);
}

TEST_F(PersistentCacheTest, WhereNothingCanBeWrittenProgramsRun) {
  Write(temporary_.path() / "file", "");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Compute(temporary_.path() / "file" / "below"), expected_);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("cannot be written"));
}

TEST_F(PersistentCacheTest, ABackendMayHaveNoSuchForm) {
  Device& device = *new Device("NULL:0", MakeNullBackend());
  initialize_cache(folder_, false, device);
  const Since start;
  sum(ones({3}, DType::kF32, device)).item();
  EXPECT_EQ(start.Text(), kCompiled);
  EXPECT_THAT(Files(), IsEmpty());
}

}  // namespace
}  // namespace xlaprof::lazy
