// Every threshold by which a rule decides whether something is a finding, and how severe it is. A
// threshold has its unit and its reason here, and docs/diagnoses/ prints both. How many rows a
// finding cites, or how many names it lists, is no threshold and stays with its rule.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

enum class Unit : uint8_t {
  kShare,           // 0.05 is 5 %
  kFactor,          // times
  kPerStep,         // occurrences in one step
  kCount,           // occurrences, compiles, steps, reports: the meaning says which
  kNs,              // nanoseconds
  kBytes,
  kBytesPerSecond,
};

// One threshold, which code uses as a number.
template <class T>
struct Threshold {
  T value;
  Unit unit;
  std::string_view meaning;  // one sentence: what happens at this value
  std::string_view reason;   // one sentence: why this value

  constexpr operator T() const { return value; }  // NOLINT: a threshold is a number
};
template <class T>
Threshold(T, Unit, std::string_view, std::string_view) -> Threshold<T>;

// A threshold as docs/diagnoses/ prints it.
struct PrintedThreshold {
  double value = 0;
  Unit unit = Unit::kCount;
  std::string_view meaning, reason;

  template <class T>
  constexpr PrintedThreshold(const Threshold<T>& of)  // NOLINT: made where a list of them is wanted
      : value(double(of.value)), unit(of.unit), meaning(of.meaning), reason(of.reason) {}
};

namespace policy {

// --- steps ---

// --- reads and fallbacks (sync_point, fallback) ---

// --- graph_fragmentation ---
inline constexpr Threshold kPiecesPerStep{
    3.0, Unit::kPerStep, "So many executions in the usual step are a finding.",
    "One or two early cuts in a step have findings of their own (sync_point, fallback)."};
inline constexpr Threshold kManyPiecesPerStep{
    4.0, Unit::kPerStep, "So many executions in the usual step are a warning.",
    "From the fourth execution on the number itself is the pattern, whatever cuts the graph."};
inline constexpr Threshold kStepsWithMedianPieces{int64_t{3}, Unit::kCount,
                                                  "Runs with fewer steps are not judged.",
                                                  "With fewer steps, warm-up decides the median."};

// --- missing_step_mark ---
inline constexpr Threshold kReadsThatShowGrowth{
    int64_t{3}, Unit::kCount, "With fewer reads the growth of the graph is not judged.",
    "Growth needs at least three points to be told from warm-up."};
inline constexpr Threshold kGraphGrowth{
    1.5, Unit::kFactor, "The graph grows if its last size is so many times its first.",
    "In a loop that marks its steps, the graph keeps its size."};
inline constexpr Threshold kReadsOfSeveralSteps{
    int64_t{6}, Unit::kCount, "So many reads belong to more than one step.",
    "Fewer reads may all be of one step, whose graph grows from read to read as well."};
inline constexpr Threshold kTracedOperationsOfLoop{
    int64_t{1000}, Unit::kCount,
    "So many traced operations without any step mark are a finding.",
    "Code that only sets a program up traces fewer."};

// --- recompilation ---

// --- recompilation, told from counts ---

// --- recompilation, operations outside of jit ---

// --- slow_compile ---

// --- slow_execution ---
inline constexpr Threshold kSlowExecutionNs{
    int64_t{30'000'000'000}, Unit::kNs, "An execution that takes longer is too slow.",
    "torch_xla's own profiler complains of a single execution from here on."};
inline constexpr Threshold kOutlierFactor{
    5.0, Unit::kFactor,
    "An execution that takes so many times the median of its graph is an outlier.",
    "Execution times spread by less than this on machines that are shared with others."};
inline constexpr Threshold kOutlierCostShare{
    0.05, Unit::kShare,
    "Outliers are a finding if their time above the median is this share of all execution time.",
    "Less would not be noticed in the length of the run."};
inline constexpr Threshold kExecutionsWithUsualLength{
    int64_t{5}, Unit::kCount, "A graph with fewer executions has no outliers.",
    "The median of fewer executions is not their usual length."};

// --- device_gap ---

// --- device_wait ---

// --- input_bound ---

// --- tracing_bound ---

// --- large_transfer ---

// --- incomplete_capture ---
inline constexpr Threshold kEventsOfOldProfilers{
    int64_t{1'000'000}, Unit::kCount, "A profile of exactly so many events is taken for a full one.",
    "The profilers of torch_xla and of older XProf versions stop there."};
inline constexpr Threshold kEventsOfNewProfilers{
    int64_t{5'000'000}, Unit::kCount, "A profile of exactly so many events is taken for a full one.",
    "Newer profilers of XProf stop there."};

}  // namespace policy
}  // namespace xlaprof
