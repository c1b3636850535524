// Tests the wording of cache_not_used findings.
#include "analyzers/cache_not_used.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::HasSubstr;

struct CacheCase {
  ReasonType reason;
  std::optional<NotStored> why;
  bool was_asked;
  const char *title, *advice;
};

TEST(CacheNotUsedWords, NameWhatToChange) {
  const CacheCase cases[] = {
      {ReasonType::kBelowThreshold, NotStored::kCompiledFast, true,
       "does not keep 2 programs that compile in less than 1 s, so every run compiles them again",
       "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0"},
      {ReasonType::kBelowThreshold, NotStored::kSmall, true, "2 programs that are small",
       "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1"},
      {ReasonType::kNoCache, NotStored::kWriteFailed, true, "could not write 2 programs",
       "writable"},
      {ReasonType::kNoCache, NotStored::kDisabled, true, "is off or could not be opened",
       "JAX_ENABLE_COMPILATION_CACHE"},
      {ReasonType::kNoCache, NotStored::kDisabled, false, "no cache keeps compiled programs",
       "Set JAX_COMPILATION_CACHE_DIR"},
      {ReasonType::kNoCache, NotStored::kHostCallback, true, "2 programs that call Python",
       "jax.debug.print"},
      {ReasonType::kEmptyCache,
       {},
       true,
       "2 programs were not in JAX's persistent cache",
       "Nothing needs to change"},
      {ReasonType::kUnstableKeys, {}, true, "2 programs have another key", "compare"}};
  for (const CacheCase& one : cases) {
    Finding finding{.count = 2, .cost_ns = 900'000'000, .reason = Reason{.type = one.reason}};
    finding.figures = CacheNotUsedFigures{.caches = {ProgramCache::kJaxPersistent},
                                          .why = one.why,
                                          .was_asked = one.was_asked,
                                          .least_ns = 1'000'000'000,
                                          .longest = {{"f", 600'000'000}, {"g", 300'000'000}}};
    const Words words = SayCacheNotUsed(finding, Framework::kJax);
    EXPECT_THAT(words.title, HasSubstr(one.title));
    EXPECT_THAT(words.title, HasSubstr("(900 ms)"));
    EXPECT_THAT(words.why, HasSubstr("The longest to compile are f (600 ms) and g (300 ms)."));
    EXPECT_THAT(words.advice, HasSubstr(one.advice));
  }
}

TEST(CacheNotUsedWords, NameTheCacheOfTorchCompile) {
  Finding finding{.count = 1, .reason = Reason{.type = ReasonType::kEmptyCache}};
  finding.figures = CacheNotUsedFigures{.caches = {ProgramCache::kInductor}, .untimed = 1};
  const Words words = SayCacheNotUsed(finding, Framework::kPytorch);
  EXPECT_EQ(words.title, "1 program was not in Inductor's cache");
  EXPECT_THAT(words.advice, HasSubstr("TORCHINDUCTOR_CACHE_DIR"));
  EXPECT_THAT(words.cost_note, HasSubstr("not measured"));
}

}  // namespace
}  // namespace xlaprof
