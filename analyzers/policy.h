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

// --- all diagnoses ---
inline constexpr Threshold kNotOnce{
    int64_t{2}, Unit::kCount, "What happened less often is not a pattern.",
    "Anything may happen once: a checkpoint, a cold cache, an unusual step."};

// --- steps ---
inline constexpr Threshold kMinWarmUpSteps{
    int64_t{2}, Unit::kCount, "So many leading steps may compile in a clean program.",
    "State that the first step makes, such as an optimizer's buffers, is an input of the second."};
inline constexpr Threshold kMaxWarmUpShare{
    0.25, Unit::kShare, "At most this share of the steps is warm-up, if more of them compile.",
    "A program that compiles in every step has no warm-up that explains it."};

// --- reads and fallbacks (sync_point, fallback) ---
inline constexpr Threshold kOftenPerStep{
    0.1, Unit::kPerStep, "What happens so often is a warning.",
    "Reading a value every tenth step is the usual advice; what is rarer costs little."};
inline constexpr Threshold kOftenWithoutSteps{
    int64_t{3}, Unit::kCount, "If no step is known, so many occurrences are a warning.",
    "Three occurrences are a pattern."};
inline constexpr Threshold kReadShareOfStep{
    0.01, Unit::kShare, "Reads that block for a smaller share of the steps are only mentioned.",
    "Less is lost in the spread of step times."};
inline constexpr Threshold kBytesOfNumber{8.0, Unit::kBytes,
                                          "Fetches of at most this mean size are numbers.",
                                          "The largest numbers are f64 and s64."};

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
inline constexpr Threshold kFewRecompiles{
    int64_t{2}, Unit::kCount, "So many recompiles that have stopped are no warning.",
    "Two changes happen in any run, such as a last batch and an evaluation."};
inline constexpr Threshold kMostlyCompilingShare{
    0.5, Unit::kShare, "Recompiling is an error from this share of the time on.",
    "The run then does little else."};
inline constexpr Threshold kDearCompilingShare{
    0.1, Unit::kShare,
    "Compiling that has stopped, or that no step can be told for, is a warning from this share of "
    "the time (or of all compiling) on.",
    "It was worth avoiding, and the next run pays for it again."};
inline constexpr Threshold kDearCompilingNs{
    int64_t{1'000'000'000}, Unit::kNs, "If no step is known, less compiling is no warning.",
    "Nobody waits noticeably for less than a second in all."};
inline constexpr Threshold kCheapCompilingShare{
    0.002, Unit::kShare, "If no step is known, a smaller share of all compiling is no warning.",
    "A change of the program would not pay."};
inline constexpr Threshold kRareSizeShare{
    0.2, Unit::kShare, "A smaller size that comes in at most this share of the executions is rare.",
    "The last batch of an epoch is such a size."};
inline constexpr Threshold kBurstCompiles{int64_t{3}, Unit::kCount, "Fewer compiles are no burst.",
                                          "Two changes of shape happen in any run."};
inline constexpr Threshold kBurstSteps{int64_t{5}, Unit::kCount,
                                       "A burst takes at most so many steps.",
                                       "What takes longer is a phase of the run."};
inline constexpr Threshold kBurstPartOfRun{
    int64_t{20}, Unit::kFactor, "In a long run a burst takes at most the steps divided by this.",
    "A twentieth of a long run is still short."};
inline constexpr Threshold kCleanStepsAfterBurst{
    int64_t{3}, Unit::kCount, "A burst is over after so many clean steps.",
    "Fewer may only be a pause. It also needs as many clean steps as the burst took."};

// --- recompilation, told from counts ---
inline constexpr Threshold kReportsWithWindows{
    int64_t{4}, Unit::kCount, "From so many reports on, the run is divided into windows.",
    "That is one report for each quarter."};
inline constexpr Threshold kCompilesBeyondClean{
    int64_t{2}, Unit::kCount, "So many compiles more than a clean program's are a pattern.",
    "One more is a last batch or an evaluation."};
inline constexpr Threshold kCompilesPerStep{
    0.05, Unit::kPerStep, "Counted compiles are a warning above this rate.",
    "One compile in twenty steps is felt if it takes seconds."};
inline constexpr Threshold kCompileTimeShare{
    0.2, Unit::kShare, "Above this share of compile and execute time, the rate does not matter.",
    "Then compiling is felt at any rate."};
inline constexpr Threshold kManyCompilesBeyondClean{
    int64_t{10}, Unit::kCount,
    "At a low rate, so many compiles more than a clean program's are needed.",
    "Fewer may be one more phase, such as an evaluation."};
inline constexpr Threshold kNewGraphShare{
    0.5, Unit::kShare,
    "Without steps, the program recompiles if so many of its executions are of a new graph.",
    "A program with C cuts in a step compiles about 2C graphs, so that after five steps fewer than "
    "half of its executions are of a new one."};
inline constexpr Threshold kManyCompiles{
    int64_t{10}, Unit::kCount,
    "Without steps, fewer compiles are not judged by the share of new graphs.",
    "They may be the set-up and the first steps."};
inline constexpr Threshold kManyGraphs{int64_t{50}, Unit::kCount,
                                       "So many graphs are more than one program has.",
                                       "Only a program that recompiles has as many."};
inline constexpr Threshold kStartOfRunSteps{
    int64_t{5}, Unit::kCount,
    "Steps before the first report are the start of the run if they are fewer.",
    "Their compiles are then spread over these steps."};
inline constexpr Threshold kLatePartOfRun{
    int64_t{4}, Unit::kFactor,
    "Reports begin late if the first one is behind the steps divided by this.",
    "What the first report counts may then be from anywhere before it."};
inline constexpr Threshold kExpectedCompiles{
    int64_t{3}, Unit::kCount, "A window without compiles is no accident if it would have so many.",
    "At the rate before it, three were to be expected."};
inline constexpr Threshold kLaterUploadsPart{
    int64_t{4}, Unit::kFactor,
    "Reports are of one process if the later ones upload at most the first one's uploads divided by "
    "this.",
    "Only the first report of a process holds its weights; ranks upload about as much as one another."};

// --- recompilation, operations outside of jit ---
inline constexpr Threshold kManyOperations{int64_t{10}, Unit::kCount,
                                           "So many programs of single operations are a finding.",
                                           "A clean start makes fewer."};
inline constexpr Threshold kSureOperationNames{
    int64_t{2}, Unit::kCount, "So many names that only JAX uses make short names JAX's, too.",
    "A user's function may be called add as well."};
inline constexpr Threshold kRepeatedOperation{
    int64_t{2}, Unit::kCount, "The same operation at one line repeats if it compiles more often.",
    "A start makes each program once or twice."};
inline constexpr Threshold kOperationInputs{
    int64_t{4}, Unit::kCount, "A program with more inputs is a function of the user's.",
    "Operations have no more, except those that take any number."};

// --- slow_compile ---
inline constexpr Threshold kSlowCompileNs{
    int64_t{300'000'000'000}, Unit::kNs, "A compilation that takes longer is a warning.",
    "torch_xla itself asks for a bug report with the graph from here on."};
inline constexpr Threshold kCompileSteps{int64_t{1000}, Unit::kCount,
                                         "A compilation as long as so many steps is a warning.",
                                         "A thousand steps are a tenth of an epoch of 10,000."};
inline constexpr Threshold kNoticeableCompileNs{
    int64_t{30'000'000'000}, Unit::kNs,
    "A shorter compilation is no warning, however fast steps are.",
    "It is long enough for a person to notice that they wait."};
inline constexpr Threshold kLongAlarmNs{int64_t{10'000'000'000}, Unit::kNs,
                                        "What XLA complains of is a warning from here on.",
                                        "A person waits for it when the program starts."};
inline constexpr Threshold kAmortisedShare{
    0.05, Unit::kShare, "Compiling is paid back when it is at most this share of the run.",
    "The report names the step at which that is so."};
inline constexpr Threshold kTracingPartOfCompile{
    int64_t{4}, Unit::kFactor,
    "Tracing is named as large if it takes at least the compile time divided by this.",
    "A quarter more is felt; where tracing is longer than compiling, the remedy is less tracing."};

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

// --- settings of the capture (device_gap, tracing_bound) ---
inline constexpr Threshold kTracedOperationNs{
    int64_t{250'000}, Unit::kNs,
    "Time in a scope is the capture's if so long for each operation that the scope traces explains it.",
    "With XLA_IR_DEBUG an operation took 30 to 120 us on a two-core machine, and 2 to 15 us without; "
    "this is twice the worst."};
inline constexpr Threshold kFallbackStackNs{
    int64_t{10'000'000}, Unit::kNs,
    "Time in a scope is the capture's if so long for each value that the scope reads explains it.",
    "Writing the C++ stack of a fallback took 2 to 5 ms; this is twice the worst."};

// --- device_gap ---
inline constexpr Threshold kDeviceIdleShare{
    0.05, Unit::kShare,
    "Idle time of one cause is a finding from this share of the steady time on.",
    "XProf calls input moderate from 5 % of a step on, and less drowns in the spread of step times."};
inline constexpr Threshold kRecurringGapShare{
    0.1, Unit::kShare,
    "Idle time is a warning if its cause lies in gaps of this share of the steps (else executions).",
    "What does not come back is an incident, such as a checkpoint, and not a pattern."};
inline constexpr Threshold kPythonTracerCallNs{
    int64_t{1500}, Unit::kNs,
    "Idle time is the Python tracer's if so long for each of its calls explains half of a gap.",
    "A call under the Python tracer costs 0.3 to 1.5 us more (measured)."};

// --- device_wait ---
inline constexpr Threshold kDeviceWaitInfoShare{
    0.05, Unit::kShare, "Waiting in ops is a finding from this share of the busy time on.",
    "XProf calls waiting of this share moderate."};
inline constexpr Threshold kDeviceWaitShare{
    0.10, Unit::kShare, "Waiting in ops is a warning from this share of the busy time on.",
    "XProf speaks of barriers from 10 % of a step on."};
inline constexpr Threshold kLateDeviceShare{
    0.5, Unit::kShare,
    "A device that waits less than this share of the longest wait is the one that the others wait "
    "for.",
    "All that take part in a collective operation end together, so the one that waits least came last."};
inline constexpr Threshold kHostMemoryOpPart{
    int64_t{10}, Unit::kFactor,
    "A copy is one of the host's memory if an op of that kind has the waiting divided by this.",
    "Smaller ops do not explain the time."};

// --- input_bound ---
inline constexpr Threshold kInputShare{
    0.05, Unit::kShare, "Waiting for data is a finding from this share of the steady time on.",
    "XProf calls a program moderately input bound from here on."};
inline constexpr Threshold kHighInputShare{
    0.20, Unit::kShare, "The reason is `high` instead of `moderate` from this share on.",
    "XProf calls a program highly input bound from here on."};
inline constexpr Threshold kStepsThatWaitShare{
    0.5, Unit::kShare, "It is a warning if this share of the steps waits.",
    "Waiting in fewer steps comes from the end of an epoch or a cold cache."};
inline constexpr Threshold kWaitShareOfStep{
    0.01, Unit::kShare, "A step waits if it waits for this share of the median step.",
    "Shorter waits are part of asking for the next batch."};

// --- tracing_bound ---
inline constexpr Threshold kTracingOfStep{
    0.95, Unit::kShare, "Tracing takes about the whole step from this share of it on.",
    "Users of torch_xla asked for a rule of within 5 % of the step time (torchprime issue 149)."};
inline constexpr Threshold kLeastTracingOfStep{
    0.05, Unit::kShare,
    "Tracing that takes longer than the device is busy is a finding from this share of the step on.",
    "XProf calls waiting of this share moderate; less does not bound a step."};

// --- large_transfer ---
inline constexpr Threshold kCopyShare{
    0.05, Unit::kShare,
    "Copies are a finding if the device has nothing to do during this share of the steady time, or "
    "if their bytes need this share of the execution time at the speed of the link.",
    "XProf calls waiting for input moderate from here on."};
inline constexpr Threshold kLinkBytesPerSecond{
    20e9, Unit::kBytesPerSecond, "A copy without a time is taken to be so fast.",
    "PCIe 4.0 x16 gives 20 to 25 GB/s, and pageable memory half of that."};
inline constexpr Threshold kCopiesPerStep{
    0.5, Unit::kPerStep, "Rarer copies are only mentioned.",
    "A checkpoint or a log every tenth step is not a pattern."};
inline constexpr Threshold kManySmallUploads{int64_t{100}, Unit::kCount,
                                             "Fewer uploads of single values are not judged.",
                                             "Setting a program up uploads some values as well."};
inline constexpr Threshold kSmallUploadShare{
    0.5, Unit::kShare,
    "Uploads of single values are a finding from this share of the execution on.",
    "Each upload costs a call, however few its bytes are."};
inline constexpr Threshold kManyTimedUploads{
    int64_t{10}, Unit::kCount, "Fewer uploads whose bytes are not known are not judged.",
    "They may all be the weights."};
inline constexpr Threshold kTimedUploadShare{
    0.3, Unit::kShare,
    "Uploads whose bytes are not known are a finding from this share of uploading, executing and "
    "compiling on.",
    "Without bytes only a large share shows that uploading matters."};
inline constexpr Threshold kMostlyUploadsShare{
    0.5, Unit::kShare, "Uploads whose bytes are not known are a warning from this share on.",
    "The program then uploads longer than it computes."};
inline constexpr Threshold kYoungRunSteps{
    int64_t{20}, Unit::kCount, "In a run of fewer steps, uploads are only mentioned.",
    "In so short a run the weights may be most of what was uploaded."};

// --- incomplete_capture ---
inline constexpr Threshold kEventsOfOldProfilers{
    int64_t{1'000'000}, Unit::kCount, "A profile of exactly so many events is taken for a full one.",
    "The profilers of torch_xla and of older XProf versions stop there."};
inline constexpr Threshold kEventsOfNewProfilers{
    int64_t{5'000'000}, Unit::kCount, "A profile of exactly so many events is taken for a full one.",
    "Newer profilers of XProf stop there."};

}  // namespace policy
}  // namespace xlaprof
