// All numbers that decide something: whether something is a finding, how severe it is, and which
// facts belong together. Each has its unit and its reason here, and docs/diagnoses/ prints those of
// each diagnosis. What a framework does (how many samples it keeps, how it rounds), the number of
// rows that a finding cites, and bounds of time and memory stay where they are used.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

enum class Unit : uint8_t {
  kShare,    // 0.05 is 5 %
  kFactor,   // times
  kPerStep,  // occurrences in one step
  kCount,    // occurrences, compiles, steps, reports: the meaning says which
  kNs,       // nanoseconds
  kBytes,
  kBytesPerSecond,
};

// One threshold, which code uses as a number. Only a test may give it another value.
template <class T>
class Threshold {
 public:
  constexpr Threshold(T value, Unit unit, std::string_view meaning, std::string_view reason)
      : unit(unit), meaning(meaning), reason(reason), value_(value) {}
  constexpr operator T() const { return value_; }  // NOLINT: a threshold is a number

  Unit unit;
  std::string_view meaning;  // one sentence: what the threshold decides
  std::string_view reason;   // one sentence: why it has this value

 private:
  friend class ThresholdOfTest;  // tests/policy_test.cc
  T value_;
};

// A threshold in the form that docs/diagnoses/ prints.
struct PrintedThreshold {
  double value = 0;
  Unit unit = Unit::kCount;
  std::string_view meaning, reason;

  template <class T>
  constexpr PrintedThreshold(const Threshold<T>& of)  // NOLINT: implicit, so that lists are short
      : value(double(T(of))), unit(of.unit), meaning(of.meaning), reason(of.reason) {}
};

namespace policy {

// --- all diagnoses ---
inline constinit Threshold kNotOnce{
    int64_t{2}, Unit::kCount, "Something that happened less often is not a pattern.",
    "Anything may happen once: a checkpoint, a cold cache, an unusual step."};

// --- severity ---
inline constinit Threshold kMostOfRunShare{
    0.5, Unit::kShare, "What goes on and can be avoided is an error from this share of the run on.",
    "More than half of the run could be avoided."};
inline constinit Threshold kNoticeableShare{
    0.001, Unit::kShare,
    "What does not occur in every step is not a warning below this share of the run.",
    "A change of the program would not be worth the effort."};

// --- intervals of costs and savings ---
inline constinit Threshold kRecompileSavingError{
    0.3, Unit::kShare, "A saving of recompiles is given with an interval of this share around it.",
    "Predicted and measured savings of recompilation differ by up to a fifth (docs/savings.md)."};
inline constinit Threshold kEstimateError{
    0.5, Unit::kShare,
    "Other savings, and costs that are not measured, are given with an interval of this share around them.",
    "Host and device overlap in part, which a capture does not show before the change is made."};

// --- links between findings ---
inline constinit Threshold kPrecededShare{
    0.8, Unit::kShare,
    "An op explains recompiles if it ran before at least this share of them, in the same step.",
    "A few compiles may come first, such as those of the first step."};

// --- steps ---
inline constinit Threshold kMinWarmUpSteps{
    int64_t{2}, Unit::kCount, "This many steps at the start may compile in a clean program.",
    "State that the first step makes, such as an optimizer's buffers, is an input of the second."};
inline constinit Threshold kMaxWarmUpShare{
    0.25, Unit::kShare,
    "If more of the first steps compile, at most this share of all steps counts as warm-up.",
    "A program that compiles in every step has no warm-up that explains it."};

// --- the ops of a device ---
inline constinit Threshold kBusyDeviceShare{
    0.5, Unit::kShare, "A device that is busy for this share of its time is asked what it does.",
    "If it is idle for longer, the idle time is the question."};
inline constinit Threshold kTopOpShare{
    0.02, Unit::kShare, "Ops of a smaller share of the busy time are not listed by name.",
    "Making such an op twice as fast saves 1 %."};

// --- the unit of a run without steps ---
inline constinit Threshold kUnitShare{
    0.66, Unit::kShare,
    "If no step is known, a program whose executions take this share of all execution time is the unit of the run.",
    "If another program takes more than a third, the run has two kinds of work."};
inline constinit Threshold kUnitExecutions{int64_t{10}, Unit::kCount,
                                           "A program with fewer executions is not the unit.",
                                           "A few executions may all be different work."};

// --- reads and fallbacks (sync_point, fallback) ---
inline constinit Threshold kOftenPerStep{
    0.1, Unit::kPerStep, "Something that happens at least this often is a warning.",
    "The usual advice is to read a value every tenth step; rarer reads cost little."};
inline constinit Threshold kEveryStep{
    0.9, Unit::kPerStep, "Something that happens at least this often happens in every step.",
    "The first and the last step of a loop often lack it."};
inline constinit Threshold kOftenWithoutSteps{
    int64_t{3}, Unit::kCount, "If no step is known, this many occurrences are a warning.",
    "Three occurrences are a pattern."};
inline constinit Threshold kLeastShareOfCalls{
    0.05, Unit::kShare,
    "A line that cuts the graph less often than this share of an op's calls is not named as the op's line.",
    "A line that runs once cannot be that of an op that runs in every step."};
inline constinit Threshold kReadShareOfStep{
    0.01, Unit::kShare, "Reads that block for a smaller share of the steps are only mentioned.",
    "Smaller costs cannot be distinguished from the variation of step times."};
inline constinit Threshold kNodesOfCheapRead{
    0.01, Unit::kShare,
    "A read that is not in every step and whose time is not known is only mentioned if it evaluates at most this share of the nodes of the run's largest graph.",
    "Such a graph divides or adds a few numbers that the step has already computed."};
inline constinit Threshold kFetchesOfSeveralValues{
    2.0, Unit::kPerStep,
    "Fetches after the step mark are a finding from this number on, if the metrics count them and their time is noticeable.",
    "Many programs fetch one loss a step after its mark, when the device has nothing else to do with it."};
inline constinit Threshold kArrayReadShareOfStep{
    0.05, Unit::kShare,
    "JAX's reads are a warning only if the device has nothing to do in them for this share of the steps.",
    "Waiting for a device that works costs nothing, and the copy of a number is short."};
inline constinit Threshold kInputsOfRounds{
    int64_t{8}, Unit::kCount,
    "If a read evaluates a graph with at least this many inputs of one shape from one line, they may be the rounds of a loop without a step mark.",
    "Fewer may be the layers of a model."};
inline constinit Threshold kBytesOfNumber{
    8.0, Unit::kBytes, "Fetches count as reads of numbers if their mean size is at most this.",
    "The largest numbers are f64 and s64."};

// --- graph_fragmentation ---
inline constinit Threshold kPiecesPerStep{
    3.0, Unit::kPerStep, "A finding needs at least this many executions in the median step.",
    "One or two early executions in a step have their own findings (sync_point, fallback)."};
inline constinit Threshold kManyPiecesPerStep{
    4.0, Unit::kPerStep, "A warning needs at least this many executions in the median step.",
    "From the fourth execution on, the number itself is the problem, whatever cuts the graph."};
inline constinit Threshold kStepsWithMedianPieces{int64_t{3}, Unit::kCount,
                                                  "Runs with fewer steps are not judged.",
                                                  "With fewer steps, warm-up decides the median."};

// --- missing_step_mark ---
inline constinit Threshold kReadsThatShowGrowth{
    int64_t{3}, Unit::kCount, "With fewer reads, the growth of the graph is not judged.",
    "At least three points are needed to distinguish growth from warm-up."};
inline constinit Threshold kGraphGrowth{
    1.5, Unit::kFactor, "The graph grows if its last size is at least this many times its first.",
    "In a loop that marks its steps, the graph keeps its size."};
inline constinit Threshold kReadsOfSeveralSteps{
    int64_t{6}, Unit::kCount, "This many reads or more belong to several steps.",
    "Fewer reads may all be in one step, whose graph also grows from read to read."};
inline constinit Threshold kTracedOperationsOfLoop{
    int64_t{1000}, Unit::kCount,
    "At least this many traced operations without a step mark are a finding.",
    "Code that only sets up a program traces fewer."};

// --- recompilation ---
inline constinit Threshold kFewRecompiles{
    int64_t{2}, Unit::kCount, "At most this many recompiles that have stopped are not a warning.",
    "Any run may have two changes, such as a last batch and an evaluation."};
inline constinit Threshold kSettledBeforeShare{
    0.75, Unit::kShare,
    "The compilations of a place have stopped if all of them were before this share of the run.",
    "Then at least a quarter of the run shows no such compilation."};
inline constinit Threshold kFirstStepsShare{
    0.05, Unit::kShare,
    "A few sizes of an input that were all compiled in this share of the steps, from the first that uses one, are not a warning.",
    "They are the sizes that the program uses on purpose, and each is compiled once."};
inline constinit Threshold kFewSizes{
    int64_t{8}, Unit::kCount,
    "At most this many sizes of an input, all compiled in the first steps that use them, are a few.",
    "A program pads to such sizes on purpose, to a power of two or to any other bound."};
inline constinit Threshold kTakesTurnsShare{
    0.25, Unit::kShare,
    "Programs of one place take turns if this share of its executions runs another one than the execution before it.",
    "An evaluation after each epoch, or a step that also logs, changes the program less often."};
inline constinit Threshold kDearCompilingShare{
    0.1, Unit::kShare,
    "Compiling that has stopped, or whose steps are not known, is a warning from this share of the time (or of all compiling) on.",
    "It was worth avoiding, and the next run pays for it again."};
inline constinit Threshold kDearCompilingNs{
    int64_t{1'000'000'000}, Unit::kNs, "If no step is known, less compile time is not a warning.",
    "Nobody notices a wait of less than a second in total."};
inline constinit Threshold kCheapCompilingShare{
    0.002, Unit::kShare,
    "If no step is known, a smaller share of all compile time is not a warning.",
    "A change of the program would not be worth the effort."};
inline constinit Threshold kRareSizeShare{
    0.2, Unit::kShare,
    "A smaller size is rare if it occurs in at most this share of the executions.",
    "The last batch of an epoch has such a size."};
inline constinit Threshold kBurstCompiles{int64_t{3}, Unit::kCount,
                                          "Fewer compiles are not a burst.",
                                          "Any run may have two changes of shape."};
inline constinit Threshold kBurstSteps{int64_t{5}, Unit::kCount,
                                       "A burst lasts at most this many steps.",
                                       "Something longer is a phase of the run."};
inline constinit Threshold kBurstPartOfRun{
    int64_t{20}, Unit::kFactor,
    "In a long run, a burst lasts at most the number of steps divided by this.",
    "A twentieth of a long run is still short."};
inline constinit Threshold kCleanStepsAfterBurst{
    int64_t{3}, Unit::kCount, "A burst is over after this many clean steps.",
    "Fewer may only be a pause. In addition, at least as many steps must be clean as the burst lasted."};

inline constinit Threshold kRoundsOfPieces{
    int64_t{3}, Unit::kCount,
    "Graphs that run in the same order this many times are pieces of one iteration.",
    "Fewer rounds may only be a change of shape and back."};
inline constinit Threshold kStepsWithPieces{
    0.8, Unit::kShare,
    "Graphs that one line executes in the same order in this share of its steps are pieces of the step.",
    "The first steps and evaluations execute other graphs."};

// --- recompilation, derived from counts ---
inline constinit Threshold kSeveralReports{
    int64_t{4}, Unit::kCount,
    "At least this many metrics reports show whether a program continues to compile.",
    "Fewer may be those of set-up, training and evaluation."};
inline constinit Threshold kCompilesBeyondClean{
    int64_t{2}, Unit::kCount,
    "At least this many compiles more than in a clean program are a pattern.",
    "One more may be a last batch or an evaluation."};
inline constinit Threshold kCompilesPerStep{
    0.05, Unit::kPerStep, "Compiles that are only counted are a warning above this rate.",
    "One compile in twenty steps is noticeable if it takes seconds."};
inline constinit Threshold kCompileTimeShare{
    0.2, Unit::kShare,
    "Above this share of compile and execute time, even a low rate of compiles counts.",
    "So much compile time is noticeable at any rate."};
inline constinit Threshold kManyCompilesBeyondClean{
    int64_t{10}, Unit::kCount,
    "At a low rate, a pattern needs at least this many compiles more than in a clean program.",
    "Fewer may come from another phase, such as an evaluation."};
inline constinit Threshold kNewGraphShare{
    0.5, Unit::kShare,
    "If no step is known, the program recompiles if this share of its executions has a new graph.",
    "A program with C cuts per step compiles about 2C graphs, so after five steps fewer than half of its executions have a new graph."};
inline constinit Threshold kManyCompiles{
    int64_t{10}, Unit::kCount,
    "If no step is known, fewer compiles are not judged by the share of new graphs.",
    "They may come from the set-up and the first steps."};
inline constinit Threshold kManyGraphs{
    int64_t{50}, Unit::kCount, "A program that compiles at least this many graphs recompiles.",
    "A program without recompilation has fewer graphs."};
inline constinit Threshold kLaterUploadsPart{
    int64_t{4}, Unit::kFactor,
    "Reports come from one process if the later ones upload at most the first one's uploads divided by this.",
    "Only the first report of a process includes its weights; different ranks upload about equally much."};

// --- cache_not_used ---
inline constinit Threshold kUncachedCompilingShare{
    0.1, Unit::kShare,
    "Programs that a cache could keep are a warning from this share of the run on; if its length is not known, of all compiling and tracing.",
    "Less is lost in the rest of the run."};
inline constinit Threshold kUncachedCompilingNs{
    int64_t{10'000'000'000}, Unit::kNs,
    "Programs that compile for less time in all are not a warning.",
    "Every program of JAX makes some small programs, and a start that is a few seconds longer bothers nobody."};
inline constinit Threshold kMissedCompilingNs{
    int64_t{1'000'000'000}, Unit::kNs,
    "Programs that the next run will find in the cache are mentioned from this compile time on.",
    "Nobody notices a wait of less than a second in total."};
inline constinit Threshold kRunsWithOtherKeys{
    int64_t{3}, Unit::kCount,
    "A program that has another key in each of this many runs is a warning.",
    "Between two runs, somebody may have changed the program."};

// --- recompilation, operations outside of jit ---
inline constinit Threshold kManyOperations{
    int64_t{10}, Unit::kCount, "At least this many programs of single operations are a finding.",
    "A clean program makes fewer when it starts."};
inline constinit Threshold kSureOperationNames{
    int64_t{2}, Unit::kCount,
    "If a process uses at least this many names that only JAX uses, short names are taken for JAX's, too.",
    "A user's function may also be called add."};
inline constinit Threshold kRepeatedLoop{
    int64_t{2}, Unit::kCount,
    "A loop outside of jit has a recompilation of its own if one line compiles it more often than this.",
    "The start of a program compiles each loop once or twice."};
inline constinit Threshold kManyUnpricedOperations{
    int64_t{100}, Unit::kCount,
    "If no source times compiles, at least this many programs of single operations are a warning if they are most of the programs.",
    "Compiling each takes some hundredths of a second, so together they take seconds. Setting up a clean program compiles a few dozen."};
inline constinit Threshold kMostPrograms{
    0.5, Unit::kShare,
    "If no source times compiles, programs of single operations are a warning only above this share of all programs.",
    "Such a program runs mostly outside of jit."};
inline constinit Threshold kOperationInputs{
    int64_t{4}, Unit::kCount, "A program with more inputs is a user's function.",
    "Operations do not have more, except those that take any number."};

// --- slow_compile ---
inline constinit Threshold kSlowCompileNs{int64_t{120'000'000'000}, Unit::kNs,
                                          "A compilation that takes longer is a warning.",
                                          "XLA itself warns after two minutes."};
inline constinit Threshold kLongCompileNs{
    int64_t{10'000'000'000}, Unit::kNs,
    "The longest first compilation is mentioned by itself from this time on.",
    "Below that, the account of the start says enough (cold_start)."};
inline constinit Threshold kCompileOfRounds{
    3.0, Unit::kFactor,
    "The graph of a read that takes so many times as long to compile as that of any step most likely holds several rounds of a loop without a step mark.",
    "A step with its gradients is more work than an evaluation of one batch."};
inline constinit Threshold kUnrolledCompileNs{
    int64_t{5'000'000'000}, Unit::kNs,
    "Compiling a program with an unrolled loop is a warning from this time on.",
    "A loop that is not unrolled compiles in a second, so most of this can be avoided."};
inline constinit Threshold kCapturedCompileNs{
    int64_t{1'000'000'000}, Unit::kNs,
    "Compiling a program with a large array as a constant is a warning from this time on.",
    "The same program without the array mostly compiles in less."};
inline constinit Threshold kCapturedArrayBytes{
    int64_t{16'000'000}, Unit::kBytes,
    "A constant of a program is a large array from this size on.",
    "Smaller ones hardly change how long the program compiles."};
inline constinit Threshold kShareOfReadGraph{
    0.5, Unit::kShare,
    "A graph exists only for a read if the step's graph contains at least this share of its nodes.",
    "Otherwise, the step's graph would have to be compiled for the rest without the read, too."};
inline constinit Threshold kCompileSteps{int64_t{1000}, Unit::kCount,
                                         "A compilation as long as this many steps is a warning.",
                                         "A thousand steps are a tenth of an epoch of 10,000."};
inline constinit Threshold kNoticeableCompileNs{
    int64_t{30'000'000'000}, Unit::kNs,
    "A shorter compilation is not a warning, however fast steps are.",
    "A person notices a wait of this length."};
inline constinit Threshold kLongAlarmNs{
    int64_t{10'000'000'000}, Unit::kNs,
    "Slow operations that XLA's alarms report are a warning from this time on.",
    "A person waits for them when the program starts."};
inline constinit Threshold kAmortisedShare{
    0.05, Unit::kShare, "Compiling has paid off when it is at most this share of the run.",
    "The report names the step after which this is true."};
inline constinit Threshold kTracingPartOfCompile{
    int64_t{4}, Unit::kFactor,
    "Tracing is named as large if it takes at least the compile time divided by this.",
    "A quarter more is noticeable. If tracing takes longer than compiling, the remedy is less tracing."};

// --- slow_execution ---
inline constinit Threshold kSlowExecutionNs{
    int64_t{30'000'000'000}, Unit::kNs, "An execution that takes longer is too slow.",
    "From this length on, torch_xla's own profiler reports a single execution."};
inline constinit Threshold kOutlierFactor{
    5.0, Unit::kFactor,
    "An execution that takes at least this many times the median of its graph is an outlier.",
    "Execution times vary by less than this even on shared machines."};
inline constinit Threshold kOutlierCostShare{
    0.05, Unit::kShare,
    "Outliers are a finding if their time above the median is at least this share of all execution time.",
    "A smaller share would not be noticeable in the length of the run."};
inline constinit Threshold kRareOutlierShare{
    0.2, Unit::kShare, "If more of a graph's executions are long, they are not outliers.",
    "A length that every fifth execution has is usual: the graph does different work, or waits."};
inline constinit Threshold kExecutionsWithUsualLength{
    int64_t{5}, Unit::kCount, "A graph with fewer executions has no outliers.",
    "The median of fewer executions does not show their usual length."};

// --- settings of the capture (device_gap, tracing_bound) ---
inline constinit Threshold kTracedOperationNs{
    int64_t{250'000}, Unit::kNs,
    "Time in a scope is blamed on the capture's settings if this much per operation that the scope traces explains it.",
    "With XLA_IR_DEBUG, an operation took 30 to 120 us on a two-core machine, and 2 to 15 us without it; this is twice the longest time."};
inline constinit Threshold kFallbackStackNs{
    int64_t{10'000'000}, Unit::kNs,
    "Time in a scope is blamed on the capture's settings if this much per value that the scope reads explains it.",
    "Writing the C++ stack of a fallback took 2 to 5 ms; this is twice the longest time."};

// --- sampled stacks ---
inline constinit Threshold kFewestSamples{
    5, Unit::kCount, "So many samples of the host's stack are needed before they name what it did.",
    "Fewer samples may all lie in one place by chance."};
inline constinit Threshold kSampledShare{
    0.5, Unit::kShare,
    "A function, or the framework, names what the host did if at least this share of the samples is in it.",
    "With less, it is not most of the time. A function is named, too, if the idle time in it would be a warning by itself."};
inline constinit Threshold kWholeStepShare{
    0.9, Unit::kShare,
    "Gaps in a function that is on the stack in this share of all samples are judged as those of code that nothing names.",
    "Such a function holds the loop over the steps, or a whole step."};
inline constinit Threshold kTracingIdleShare{
    0.5, Unit::kShare,
    "Idle time in which samples of the host's stack show the framework is a warning from this share of the steady time on.",
    "From there on, the host prepares work for longer than the device does it."};
inline constinit Threshold kFewestLoaderSamples{
    40, Unit::kCount,
    "So many samples of steady steps are needed before their share in a data loader is taken as the share of the time.",
    "With 40 samples, a true share of 10 % is seen as 5 % or less only once in five times, and never as 30 %."};

// --- device_gap ---
inline constinit Threshold kDeviceIdleShare{
    0.05, Unit::kShare,
    "Idle time of one cause is reported if it takes at least this share of the steady time.",
    "XProf calls a program moderately input bound from 5 % of a step on. Less cannot be distinguished from the variation of step times."};
inline constinit Threshold kRecurringGapShare{
    0.1, Unit::kShare,
    "Idle time recurs as far as this share of the run's parts has it: of its steady steps, or of groups of consecutive gaps if there are no steps. A part with more counts no more than that.",
    "A cause that does not recur is an incident, such as start-up or a checkpoint, and not a pattern."};
inline constinit Threshold kRegularGaps{
    int64_t{4}, Unit::kCount,
    "Rarer idle time recurs, too, if at least this many long gaps lie at regular distances from the start of the run to its end.",
    "A loop around the steps, such as one that makes images, has such gaps. Three distances are rarely alike by chance."};
inline constinit Threshold kRegularDistance{
    2.0, Unit::kFactor,
    "Distances are regular if the longest is at most this many times the shortest.",
    "Rounds of a loop take about the same time, and rarely twice as long."};
inline constinit Threshold kOnceFactor{
    3.0, Unit::kFactor,
    "A gap is reported apart if it is longer than this many times the recurring idle time of a part of the run.",
    "It is a multiple of what other parts of the run have, so it is not a part of the pattern."};
inline constinit Threshold kShortestWindowNs{
    int64_t{20'000'000}, Unit::kNs,
    "Without marked steps, idle time in a shorter time than this is only mentioned.",
    "Such captures hold one or two calls, of which the first is slow."};
inline constinit Threshold kLongKernelWaitNs{
    int64_t{1'000'000}, Unit::kNs,
    "If a kernel waits for longer than this after its launch, and no stream of its device works, then it waits for something that the file does not show.",
    "Scheduling a kernel takes a few microseconds. Longer waits are for other work: that of another process or another device, or a part of the trace that is missing."};
inline constinit Threshold kCopyShareOfGap{
    0.1, Unit::kShare, "Copies that take this share of a gap may be what a kernel waits for.",
    "A copy of 10 us does not explain a gap of a millisecond."};
inline constinit Threshold kOperationsPerFunction{
    10.0, Unit::kFactor,
    "This many executions of single operations for each execution of the jitted function are a finding.",
    "A few operations prepare the inputs and read the results of a jitted function. Each execution costs some ten microseconds on the host."};
inline constinit Threshold kCallbackShare{
    0.05, Unit::kShare,
    "Callbacks into Python are a finding if they take this share of the device's busy time.",
    "Shorter ones cannot be distinguished from the variation of step times."};
inline constinit Threshold kGrowingSizes{
    int64_t{4}, Unit::kCount,
    "An input that grows by the same amount this many times in a row is one that steps append to.",
    "Sizes of batches vary in both directions."};
inline constinit Threshold kGrowingShare{
    0.75, Unit::kShare,
    "Inputs grow in number if this share of the recompiles takes the same number more than the compile before.",
    "Programs that take another path each time have more inputs in one compile and fewer in the next."};
inline constinit Threshold kStartOfExecutionNs{
    int64_t{50'000}, Unit::kNs, "The start of an execution is taken to cost the host this.",
    "Hosts take 20 to 100 us, and the profile of a short execution does not show it."};
inline constinit Threshold kStartsShare{
    0.01, Unit::kShare,
    "Operations outside of jit are a warning if starting them takes this share of the run.",
    "A change of the program would not be worth the effort."};
inline constinit Threshold kNodesOfListInput{
    int64_t{30}, Unit::kCount,
    "Inputs that grow in number are those of a loop that runs more often, and not a list, if the graph grows by more nodes than this for each.",
    "What uses the tensors of a list takes a few nodes for each. A layer of a model takes more."};
inline constinit Threshold kUnnamedIdleShare{
    0.2, Unit::kShare,
    "Idle time during host code that nothing names is a warning from this share of the steady time on.",
    "No line or scope says what to change, so a small share is not worth the search. XProf calls a program highly input bound from this share on."};
inline constinit Threshold kTellingShareOfGaps{
    0.05, Unit::kShare,
    "The call in the longest gap is named if that gap has this share of the time of all gaps with this cause.",
    "Below it, one of thousands of gaps says nothing about the others."};
inline constinit Threshold kLargeUploadBytes{
    int64_t{65'536}, Unit::kBytes,
    "The host's unrecorded time before uploads is taken for their preparation from this usual size on.",
    "Smaller ones are numbers and indices, which Python makes in no time; it traces the graph meanwhile."};
inline constinit Threshold kBatchBytes{int64_t{256}, Unit::kBytes,
                                       "Uploads of this size may be those of a batch.",
                                       "Smaller ones are numbers that an optimizer uses."};
inline constinit Threshold kBeforeBatchShare{
    0.8, Unit::kShare,
    "The host's unrecorded time is that of making a batch if this share of it comes before the first upload of a step.",
    "Python that traces the graph runs after the batch has been uploaded."};
inline constinit Threshold kSmallExecutionNs{
    int64_t{100'000}, Unit::kNs, "Executions that take less than this on average are small.",
    "A host needs tens of microseconds to start one, so the device waits for the host."};
inline constinit Threshold kManySmallExecutions{
    int64_t{1000}, Unit::kCount,
    "Idle time between small executions is judged from this number on.",
    "Fewer are over in a moment."};
inline constinit Threshold kSmallExecutionsPerUnit{
    8.0, Unit::kPerStep,
    "Small executions are a finding from this number on for each step, or for each execution of the main program.",
    "A small model has small executions, too, but only one or a few in each step."};
inline constinit Threshold kPythonTracerCallNs{
    int64_t{1500}, Unit::kNs,
    "Idle time is blamed on the Python tracer if this much per traced call explains half of the gaps.",
    "The Python tracer adds 0.3 to 1.5 us to each call (measured)."};

// --- device_wait ---
inline constinit Threshold kDeviceWaitInfoShare{
    0.05, Unit::kShare,
    "Waiting in ops is reported if it takes at least this share of the device's busy time.",
    "XProf calls this share of waiting moderate."};
inline constinit Threshold kDeviceWaitShare{
    0.10, Unit::kShare, "Waiting in ops is a warning from this share of the device's busy time on.",
    "XProf reports barriers from 10 % of a step on."};
inline constinit Threshold kLateDeviceShare{
    0.5, Unit::kShare,
    "A device that waits less than this share of the longest wait is the straggler that the others wait for.",
    "All devices in a collective operation end it together, so the one that waits least arrived last."};
inline constinit Threshold kHostMemoryOpPart{
    int64_t{10}, Unit::kFactor,
    "Waiting for copies counts as host offload if an op that copies host memory takes at least the waiting time divided by this.",
    "Shorter ops do not explain the time."};

// --- double_precision ---
inline constinit Threshold kDoubleShare{
    0.5, Unit::kShare,
    "Ops in double precision are reported if they take at least this share of the busy time.",
    "A program may compute a sum or a loss in float64 on purpose."};
inline constinit Threshold kDoubleSaving{
    0.5, Unit::kShare, "This share of their time is saved if they compute in float32.",
    "A CPU handles twice as many values of half the size at once."};

// --- missing_donation ---
inline constinit Threshold kDonationShare{
    0.05, Unit::kShare,
    "Copies of inputs that are not donated are reported if they take at least this share of the device's time, from its first to its last work.",
    "Less cannot be distinguished from the variation of step times."};
inline constinit Threshold kRepeatedExecutions{
    int64_t{3}, Unit::kCount, "A program with fewer executions is not judged.",
    "Setting up a program also copies its inputs once or twice."};
inline constinit Threshold kCountedCopyBytes{
    double{1 << 28}, Unit::kBytes,
    "Copies without times are mentioned if they copy at least this much in each execution.",
    "A device needs about 0.1 ms to copy 256 MiB, and a CPU needs 50 ms."};

inline constinit Threshold kKeptBytes{
    double{1 << 27}, Unit::kBytes,
    "Inputs that a program replaces without copying them are mentioned if they have at least this size.",
    "A result of 128 MiB needs 32,768 new pages on a CPU, which takes tens of milliseconds, and 1 % of the memory of a small GPU."};
inline constinit Threshold kKeptShare{
    0.5, Unit::kShare,
    "Such inputs are mentioned if they are at least this share of the bytes of all inputs.",
    "A step of training replaces most of its inputs, and a model that predicts replaces none of its weights."};

// --- input_bound ---
inline constinit Threshold kInputShare{
    0.05, Unit::kShare,
    "Waiting for data is reported if it takes at least this share of the steady time, and a warning unless one wait is most of it and the others are a smaller share.",
    "XProf calls a program moderately input bound from this share on. One long wait, such as that for the first batch of an epoch, is not a pattern."};
inline constinit Threshold kFewestBatches{
    4, Unit::kCount,
    "Without marked steps, the batches of a loader are the steps if it handed out this many.",
    "Two periods remain without that of the first batch, in which the loader's workers start."};
inline constinit Threshold kHighInputShare{
    0.20, Unit::kShare, "The reason is `high` instead of `moderate` from this share on.",
    "XProf calls a program highly input bound from this share on."};
inline constinit Threshold kReadyBatchNs{
    int64_t{5'000'000}, Unit::kNs,
    "A moderate wait of up to this time a batch is no warning if the loader has worker processes.",
    "Taking a ready batch from another process takes some milliseconds, too: its tensors are received and mapped."};
inline constinit Threshold kStepsWithoutWaitShare{
    0.5, Unit::kShare, "If no step waits in this last share of the steps, it is not a warning.",
    "The loader was slow only at first, for example because a cache was cold."};
inline constinit Threshold kWaitShareOfStep{
    0.01, Unit::kShare,
    "A step counts as waiting if it waits longer than this share of the median step.",
    "Fetching the next batch always takes a short time."};

// --- tracing_bound ---
inline constinit Threshold kTracingOfStep{
    0.95, Unit::kShare, "Tracing counts as about the whole step from this share of the step on.",
    "Users of torch_xla asked for a rule of within 5 % of the step time (torchprime issue 149)."};
inline constinit Threshold kLeastTracingOfStep{
    0.05, Unit::kShare,
    "Tracing that takes longer than the device is busy is reported if it takes at least this share of the step.",
    "XProf calls this share of waiting moderate; less does not limit a step."};

// --- large_transfer ---
inline constinit Threshold kCopyShare{
    0.05, Unit::kShare,
    "Copies are a finding if the device has nothing to do during this share of the steady time, or if their bytes need this share of the execution time at the speed of the link.",
    "XProf calls a program moderately input bound from this share on."};
inline constinit Threshold kLinkBytesPerSecond{
    20e9, Unit::kBytesPerSecond, "A copy without a time is assumed to have this speed.",
    "PCIe 4.0 x16 reaches 20 to 25 GB/s, and half of that from pageable memory."};
inline constinit Threshold kCopiesPerStep{
    0.5, Unit::kPerStep, "Rarer copies are only mentioned.",
    "A checkpoint or a log every tenth step is not a pattern."};
inline constinit Threshold kShortCopyNs{
    int64_t{100'000}, Unit::kNs,
    "Copies of unknown size that are shorter than this on average are only mentioned.",
    "They may be of single numbers, whose time is that of the call and of the profiler."};
inline constinit Threshold kManySmallUploads{int64_t{100}, Unit::kCount,
                                             "Fewer uploads of single values are not judged.",
                                             "Setting up a program also uploads some values."};
inline constinit Threshold kSmallUploadShare{
    0.5, Unit::kShare,
    "Uploads of single values are a finding if they take more than this share of the execution time.",
    "Each upload costs a call, however few its bytes are."};
inline constinit Threshold kBurstPauseNs{
    int64_t{1'000'000}, Unit::kNs, "Uploads with a longer pause between them are not one by one.",
    "A loop in Python makes and uploads a small tensor in less than this time."};
inline constinit Threshold kUploadsOfBurst{int64_t{16}, Unit::kCount,
                                           "Fewer uploads right after each other are not judged.",
                                           "A batch may well have a dozen tensors."};
inline constinit Threshold kUploadsOneByOne{
    32.0, Unit::kPerStep, "From this number on, uploads one by one are a warning.",
    "The batch of a recommender may have some thirty tensors."};
inline constinit Threshold kManyTimedUploads{
    int64_t{10}, Unit::kCount, "Fewer uploads whose bytes are not known are not judged.",
    "They may all be the weights."};
inline constinit Threshold kTimedUploadShare{
    0.3, Unit::kShare,
    "Uploads whose bytes are not known are reported if they take at least this share of uploading, executing and compiling.",
    "If the bytes are not known, only a large share shows that uploading matters."};
inline constinit Threshold kMostlyUploadsShare{
    0.5, Unit::kShare, "Uploads whose bytes are not known are a warning from this share on.",
    "Such a program spends more time on uploads than on computing."};
inline constinit Threshold kYoungRunSteps{
    int64_t{20}, Unit::kCount, "In a run of fewer steps, uploads are only mentioned.",
    "In so short a run the weights may be most of what was uploaded."};

// --- dropped_batches ---
inline constinit Threshold kDroppedShare{
    0.05, Unit::kShare,
    "Batches that a loader drops at the end are a warning from this share of the epochs' batches on. An epoch without a step is a warning in any case.",
    "Only an epoch with fewer than nineteen full rounds, in each of which every device gets a batch, can lose so much of its data."};

// --- graph_break ---
inline constinit Threshold kManyGraphBreaks{
    int64_t{2}, Unit::kCount,
    "From this number of places in one function on, breaks that read no value are a warning.",
    "A single one, such as a backward pass at the end, may cost nothing."};

// --- incomplete_capture ---
inline constinit Threshold kOpenCompileNs{
    int64_t{1'000'000'000}, Unit::kNs,
    "A compilation that a profile shows in part is reported from this time on.",
    "Shorter ones hide little of the program."};
inline constinit Threshold kOpenCompileShare{
    0.5, Unit::kShare, "Such a compilation is a warning from this share of the profile on.",
    "The profile then shows the compiler, not the program."};
inline constinit Threshold kEventsOfOldProfilers{
    int64_t{1'000'000}, Unit::kCount,
    "A profile with exactly this many events is assumed to be full.",
    "The profilers of torch_xla and of older XProf versions stop there."};
inline constinit Threshold kEventsOfNewProfilers{
    int64_t{5'000'000}, Unit::kCount,
    "A profile with exactly this many events is assumed to be full.",
    "Newer profilers of XProf stop there."};

// --- graphs that are compared ---
inline constinit Threshold kNodesOfTurns{
    int64_t{32}, Unit::kCount,
    "A graph may have more turns of a loop than another if it has at least this many nodes more.",
    "The numbers of fewer nodes may be proportional by chance."};
inline constinit Threshold kKindsOfTurns{
    int64_t{8}, Unit::kCount,
    "The nodes of added turns have at least this many different operations and shapes.",
    "The numbers of a few kinds may be proportional by chance."};
inline constinit Threshold kAddedTurns{
    int64_t{4}, Unit::kCount, "More added turns are not recognised by the numbers of nodes.",
    "With many turns, almost any two numbers have such a proportion."};
inline constinit Threshold kTurnsPerInput{
    int64_t{8}, Unit::kFactor,
    "Multiplications with one weight are turns of a loop if they are at least this many times the inputs of its shape.",
    "A model without a loop uses each weight once or a few times."};
inline constinit Threshold kTurnsPerLack{
    int64_t{16}, Unit::kFactor,
    "An operation is in each turn of a loop if at most one of this many turns lacks it.",
    "The first or the last turn may lack some operations."};
inline constinit Threshold kSimilarOperations{
    0.9, Unit::kShare,
    "A number of turns explains a graph as well as another if it explains this share of its operations.",
    "The turns of an inner loop explain nearly as many operations as those of the outer one."};
inline constinit Threshold kRoundsInGraph{
    int64_t{8}, Unit::kCount,
    "A graph with at least this many equal turns may hold the rounds of a loop without a step mark.",
    "Fewer may be the layers of a model."};
inline constinit Threshold kMadeStateShare{
    0.8, Unit::kShare,
    "New inputs are state that the first step made if the graph before filled this share of their shapes itself.",
    "The optimizer's buffers are filled in the first step and are inputs of the second. A few others may be inputs for another reason."};
inline constinit Threshold kLastWithNewState{
    int64_t{2}, Unit::kCount,
    "Up to this compile of a place, counted from 0, a graph may read state that the first step made.",
    "The set-up may compile at the place before the first step does."};
inline constinit Threshold kGraphsInCache{
    int64_t{2048}, Unit::kCount,
    "A graph that is compiled again was evicted if at least this many others came between.",
    "torch_xla keeps so many by default (XLA_COMPILATION_CACHE_SIZE)."};
inline constinit Threshold kUnknownGraphsPart{
    int64_t{10}, Unit::kFactor,
    "How often each graph runs is not judged if the executions of unknown graphs are more than all divided by this.",
    "The unknown ones might change which graph is rare."};
inline constinit Threshold kUnlikeOthers{
    2.0, Unit::kFactor,
    "A graph is unlike those with which it shares a compile time if its size differs from their mean by more than this.",
    "Compile time grows with the size of a graph, so an equal share would be wrong."};
inline constinit Threshold kLinesFromSize{
    int64_t{10}, Unit::kCount,
    "A number that is read decides the size of an input if the input is made at most this many lines later.",
    "Such code reads a size, slices with it and passes the slice on."};

// --- recompilation, when it happens ---
inline constinit Threshold kEarlyShare{
    0.25, Unit::kShare,
    "Recompiles that stopped before this share of the run are not a warning because of their number.",
    "Most of the run is without them."};
inline constinit Threshold kQuietPartOfRun{
    int64_t{4}, Unit::kFactor,
    "Compiles that are only counted have stopped if their number did not rise in the last steps (or reports), from all divided by this on.",
    "A quarter of the run without a compile is no accident."};

// --- metrics reports ---
inline constinit Threshold kLongestPercentile{
    90.0, Unit::kCount, "The last percentile is taken for the longest sample from this one on.",
    "A percentile of few samples is the longest of them."};
inline constinit Threshold kTrimPercentile{
    95.0, Unit::kCount, "Samples of tracing beyond this percentile do not count.",
    "A few of the samples contain a compilation or a wait."};
inline constinit Threshold kSameSizeShare{
    0.02, Unit::kShare, "Sizes are the same if they differ by at most this share.",
    "Metrics reports print sizes with three digits."};

// --- whose uploads they are ---
inline constinit Threshold kSameUploadsShare{
    0.25, Unit::kShare,
    "Uploads are those of a line's inputs if their number a step differs by at most this share.",
    "Steps also upload batches, and step marks without a graph are counted."};
inline constinit Threshold kOtherUploadsShare{
    0.1, Unit::kShare, "Other threads upload, too, if they make more than this share of the uploads.",
    "Any thread may upload something when the program starts."};
inline constinit Threshold kFewestInputsOfUploads{
    0.5, Unit::kShare,
    "Lines make the tensors that are uploaded one by one if their inputs are at least this share of them.",
    "Python may upload numbers that are no inputs of the graph."};
inline constinit Threshold kMostInputsOfUploads{
    1.25, Unit::kFactor,
    "Lines make the tensors that are uploaded one by one if their inputs are at most this many times as many.",
    "More inputs are the weights, which are uploaded only once."};
inline constinit Threshold kLinesToFetch{
    int64_t{2}, Unit::kCount,
    "A tensor is fetched where it is made if the fetch is at most this many lines later.",
    "Further away, other code makes tensors of the same type."};

// --- what a capture shows ---
inline constinit Threshold kEdgeOfCaptureShare{
    0.05, Unit::kShare,
    "A call is at an edge of the capture if at most this share of its length lies between them.",
    "The profiler itself does a little before and after its own calls."};
inline constinit Threshold kPassPipelines{
    int64_t{3}, Unit::kCount,
    "Events are the passes of a compilation if they name this many pipelines for one module.",
    "Other events with a word in brackets have fewer names."};
inline constinit Threshold kStepsOfLaterWork{
    int64_t{3}, Unit::kCount,
    "The report mentions work after the last step if it takes longer than this many steps.",
    "The work of the last step or two always ends later."};
inline constinit Threshold kLaterWorkOfStep{
    1.5, Unit::kFactor,
    "Work after the last step is that of the steps if the device is busy for this many times a step for each.",
    "A host that waits in its steps does not queue their work, so later work has another origin."};
inline constinit Threshold kListedPartOfStep{
    0.001, Unit::kShare, "Smaller parts of a steady step are not listed.",
    "They are rounded to nothing."};
inline constinit Threshold kStepsOfPercentile{
    int64_t{100}, Unit::kCount,
    "With fewer steps, their 99th percentile is the longest, so a longer mean has time between the steps.",
    "One of a hundred steps is beyond the percentile."};
inline constinit Threshold kMostlyShare{
    0.9, Unit::kShare, "Idle time is called \"mostly\" of one cause if less than this share is of it.",
    "A tenth that has another cause is not worth a word."};

}  // namespace policy
}  // namespace xlaprof
