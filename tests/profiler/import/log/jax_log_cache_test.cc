// Tests what a JAX log says about the persistent cache, and records that two handlers print.
#include <gmock/gmock.h>

#include "profiler/import/formats.h"
#include "profiler/import/jax/jax_log_label.h"
#include "profiler/import/jax/jax_log_line.h"
#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect jax_log;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kLookups =
    "SELECT c.function, l.result, l.key, l.is_stored, l.not_stored, l.least_ns FROM cache_lookup l "
    "LEFT JOIN compile c ON c.id = l.compile_id ORDER BY l.ordinal";
constexpr const char* kLoads =
    "SELECT function, dur_ns, persistent_hit FROM compile ORDER BY ordinal";

// Returns what JAX 0.12 prints for a call that finds no compiled program. `cache` stands before the end.
std::string CompileWith(const std::string& function, const std::string& cache,
                        const std::string& sec = "2.000000001") {
  return "Finished tracing " + function + " for jit in 0.250000000 sec\nCompiling jit(" + function +
         ") with global shapes and types (ShapedArray(float32[3]),). Argument mapping: "
         "(UnspecifiedValue,).\nFinished jaxpr to MLIR module conversion jit(" +
         function + ") in 0.125000000 sec\n" + cache + "Finished XLA compilation of jit(" +
         function + ") in " + sec + " sec\n";
}

std::string Miss(const std::string& module, const std::string& key) {
  return "PERSISTENT COMPILATION CACHE MISS for '" + module + "' with key '" + key + "'\n";
}

// Prints each record several times, as handlers with the same format do.
std::string Repeated(const std::string& log, int times = 2) {
  std::string repeated;
  for (size_t at = 0; at < log.size();) {
    size_t end = log.find('\n', at) + 1;
    // The other lines of an explanation are part of its record.
    while (end < log.size() && log.substr(end).starts_with("  ")) end = log.find('\n', end) + 1;
    for (int i = 0; i < times; ++i) repeated += log.substr(at, end - at);
    at = end;
  }
  return repeated;
}

TEST(JaxLogCache, SaysWhatIsInItAndWhatIsWrittenToIt) {
  const std::string log =
      CompileWith("big",
                  Miss("jit_big", "jit_big-1") +
                      "Writing jit_big to persistent compilation cache with key 'jit_big-1'\n") +
      CompileWith("small",
                  Miss("jit_small", "jit_small-2") +
                      "Not writing persistent cache entry for 'jit_small' because it took < 1.00 "
                      "seconds to compile (0.14s)\n") +
      CompileWith("known",
                  "Persistent compilation cache hit for 'jit_known' with key 'jit_known-3'\n",
                  "0.368545055") +
      CompileWith("<lambda>",
                  Miss("jit__lambda_", "jit__lambda_-4") +
                      "Not writing persistent cache entry with key 'jit__lambda_-4' since "
                      "its size (90 bytes) is less than threshold (100 bytes)\n");
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(
      in.Rows(kLookups),
      ElementsAre("big|miss|jit_big-1|1|-|-", "small|miss|jit_small-2|0|compiled_fast|1000000000",
                  "known|hit|jit_known-3|-|-|-", "<lambda>|miss|jit__lambda_-4|0|small|-"));
  EXPECT_THAT(in.Rows(kLoads), ElementsAre("big|2000000001|0", "small|2000000001|0",
                                           "known|368545055|1", "<lambda>|2000000001|0"));
}

TEST(JaxLogCache, SaysWhyItKeepsNothing) {
  const std::string log =
      CompileWith("f", Miss("jit_f", "jit_f-1") +
                           "Not writing persistent cache entry with key 'jit_f-1' since cache is "
                           "disabled/not initialized\n") +
      CompileWith("g", Miss("jit_g", "jit_g-1") +
                           "Not writing persistent cache entry since process_id != 0\n") +
      CompileWith("h", Miss("jit_h", "jit_h-1") +
                           "Writing jit_h to persistent compilation cache with key 'jit_h-1'\n"
                           "/p/jax/_src/compiler.py:865: UserWarning: Error writing persistent "
                           "compilation cache entry for 'jit_h': PermissionError: [Errno 13]\n"
                           "  warnings.warn(\n") +
      CompileWith("k", Miss("jit_k", "jit_k-1") +
                           "Not writing persistent cache entry for 'jit_k' because it uses host "
                           "callbacks (e.g. from jax.debug.print or breakpoint)\n") +
      CompileWith("m", Miss("jit_m", "jit_m-1"));
  EXPECT_THAT(ImportText(jax_log, log).Rows(kLookups),
              ElementsAre("f|miss|jit_f-1|0|disabled|-", "g|miss|jit_g-1|0|other_process|-",
                          "h|miss|jit_h-1|0|write_failed|-", "k|miss|jit_k-1|0|host_callback|-",
                          "m|miss|jit_m-1|-|-|-"));
}

// Two threads compile at the same time.
TEST(JaxLogCache, AnAnswerBelongsToTheCompilationOfThatProgram) {
  const std::string log =
      "Compiling jit(f) with global shapes and types (ShapedArray(int32[]),).\n"
      "Compiling jit(g) with global shapes and types (ShapedArray(int32[2]),).\n"
      "Persistent compilation cache hit for 'jit_f' with key 'jit_f-1'\n" +
      Miss("jit_g", "jit_g-2") +
      "Finished XLA compilation of jit(g) in 2 sec\nFinished XLA compilation of jit(f) in 1 sec\n";
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows(kLoads), ElementsAre("f|1000000000|1", "g|2000000000|0"));
  EXPECT_THAT(in.Rows(kLookups), ElementsAre("f|hit|jit_f-1|-|-|-", "g|miss|jit_g-2|-|-|-"));
}

// JAX explains a miss of the cache if it explains why it traces, so nothing asked a cache.
TEST(JaxLogCache, IsNotInUseIfTheLogWouldNameItsMisses) {
  const std::string explained =
      "TRACING CACHE MISS at /x/a.py:16:4 (<module>):\n  never seen function:\n    f id=1 defined at "
      "/x/a.py:5\n";
  const std::string compile = CompileWith("f", "");
  EXPECT_THAT(ImportText(jax_log, explained + compile).Rows(kLookups),
              ElementsAre("f|bypass|-|0|disabled|-"));
  EXPECT_THAT(ImportText(jax_log, compile).Rows(kLookups), IsEmpty());
  // Only the compilations that end show that their cache would have been named.
  EXPECT_THAT(ImportText(jax_log, explained).Rows(kLookups), IsEmpty());
  std::string old = explained;
  old.replace(old.find("):"), 2, ") costing 1.234 ms because:");
  EXPECT_THAT(ImportText(jax_log, old + compile).Rows(kLookups), IsEmpty());
  EXPECT_THAT(
      ImportText(jax_log, explained + CompileWith("f", Miss("jit_f", "jit_f-1"))).Rows(kLookups),
      ElementsAre("f|miss|jit_f-1|-|-|-"));
}

TEST(JaxLogRepeats, ARecordThatTwoHandlersPrintCountsOnce) {
  const std::string explained =
      "TRACING CACHE MISS at /x/a.py:16:4 (<module>):\n  for f defined at /x/a.py:5\n"
      "  all previously seen cache keys differ. For the closest previous key:\n"
      "  different input types:\n  * at x, now f32[3] and before f32[2]\n";
  const std::string log =
      "TRACING CACHE MISS at /x/a.py:16:4 (<module>):\n  never seen function:\n    f id=1 defined at "
      "/x/a.py:5\n" +
      CompileWith("f", Miss("jit_f", "jit_f-1"), "1.500000001") + explained +
      CompileWith("f", Miss("jit_f", "jit_f-2"), "1.600000001");
  auto once = ImportText(jax_log, log), twice = ImportText(jax_log, Repeated(log));
  for (const char* sql :
       {kLookups, kLoads, "SELECT compile_id, type, text FROM compile_reason ORDER BY 1"})
    EXPECT_EQ(twice.Rows(sql), once.Rows(sql)) << sql;
  EXPECT_THAT(twice.Rows("SELECT code, count FROM import_issue"),
              ElementsAre("repeated_message|12"));
  EXPECT_EQ(ImportText(jax_log, Repeated(log, 3)).Rows(kLoads), once.Rows(kLoads));
}

// Two compilations of one function print the same words, if these contain no time.
TEST(JaxLogRepeats, EqualLinesWithoutATimeAreNotRepeatedForSure) {
  const std::string line = "Compiling f with global shapes and types (ShapedArray(int32[]),).\n";
  EXPECT_THAT(ImportText(jax_log, line + line).Rows(kLoads), ElementsAre("f|-|-", "f|-|-"));
  // A prefix with a whole second does not distinguish them either, but one with milliseconds does.
  const std::string second = "2026-11-25 00:05:13 " + line,
                    fraction = "2026-11-25 00:05:13,030 " + line;
  EXPECT_THAT(ImportText(jax_log, second + second).Rows(kLoads), ElementsAre("f|-|-", "f|-|-"));
  EXPECT_THAT(ImportText(jax_log, fraction + fraction).Rows(kLoads), ElementsAre("f|-|-"));
  // JAX 0.12 explains nothing about a static argument.
  const std::string explained =
      "TRACING CACHE MISS at /x/a.py:16:4 (<module>):\n  for f defined at /x/a.py:5\n"
      "  all previously seen cache keys differ. For the closest previous key:\n"
      "  cache miss explanation unavailable\n";
  EXPECT_THAT(ImportText(jax_log, explained + explained).Rows(kLoads),
              ElementsAre("f|-|-", "f|-|-"));
}

TEST(JaxLogRepeats, RepeatedRecordsComeInARow) {
  RepeatedRecords records;
  EXPECT_FALSE(records.IsRepeated("", "Compiling f", false));
  EXPECT_FALSE(records.IsRepeated("", "Compiling f", false));
  EXPECT_FALSE(records.IsRepeated("", "Finished f in 0.100000001 sec", true));
  EXPECT_TRUE(records.IsRepeated("", "Finished f in 0.100000001 sec", true));
  EXPECT_FALSE(records.IsRepeated("", "Compiling g", false));
  EXPECT_TRUE(records.IsRepeated("", "Compiling g", false));
  // The second handler is gone.
  EXPECT_FALSE(records.IsRepeated("", "Finished g in 0.200000001 sec", true));
  EXPECT_FALSE(records.IsRepeated("", "Finished h in 0.300000001 sec", true));
  EXPECT_FALSE(records.IsRepeated("", "Compiling h", false));
  EXPECT_FALSE(records.IsRepeated("", "Compiling h", false));
  // The log ends inside of a record.
  EXPECT_TRUE(records.IsRepeated("WARNING:", "Compil", false, /*is_cut=*/true));
}

TEST(JaxLogRepeats, TheFirstMeasuredRecordShowsWhetherAllAreRepeated) {
  EXPECT_FALSE(BeginsWithRepeats(""));
  EXPECT_FALSE(BeginsWithRepeats(CompileWith("f", "")));
  EXPECT_TRUE(BeginsWithRepeats("step 1\n" + Repeated(CompileWith("f", ""))));
}

}  // namespace
}  // namespace xlaprof
