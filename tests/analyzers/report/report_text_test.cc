#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyzers/report/report_layout.h"
#include "analyzers/report/report_words.h"
#include "tests/analyzers/report/report_sample.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    lines.emplace_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(lines.back().size() + 1);
  }
  return lines;
}

// Regression: a short recording was said to take 39671 % of a core.
TEST(RecordingWords, AShareOfACoreIsOneOfAllOfTheTime) {
  RecordingCost cost{.program = "train", .ended = true, .threads = 1, .events = 15};
  cost.drain_cpu_ns = 493'000, cost.span_ns = 1'000;
  EXPECT_THAT(RecordingText(cost), Not(HasSubstr("of a core")));
  cost.span_ns = 4'930'000;
  EXPECT_THAT(RecordingText(cost), HasSubstr("493 us of CPU (10 % of a core)"));
}

// Regression: after a full disk, the report said that a ring was full.
TEST(RecordingWords, EachCauseOfALossHasItsCount) {
  RecordingCost cost{.program = "train", .ended = true, .threads = 1, .events = 15, .dropped = 9};
  EXPECT_THAT(RecordingText(cost), HasSubstr("9 more dropped because a ring was full"));
  cost.unwritten = 9;
  EXPECT_THAT(RecordingText(cost),
              HasSubstr("9 more dropped because the disk could not be written"));
  cost.unwritten = 4, cost.ringless = 2;
  EXPECT_THAT(
      RecordingText(cost),
      HasSubstr(
          "9 more dropped: 3 because a ring was full, 4 because the disk could not be written, 2 because their threads had no ring"));
}

TEST(ReportText, TellsAll) {
  EXPECT_EQ(ReportText(SampleReport(), {.width = 80}),
            R"(/runs/7: 2 files (debug_log, xspace; 1.24 MB), run 2026_11_21, 10 steps, window
of 1 s

Where a step goes
  first step      400 ms  from the capture's start to the end of the first step
  warm-up         200 ms  median of the first 2 steps, which compile
  steady step      60 ms  median of 8; the longest takes 90 ms
    mean of 8 steady steps, 60 ms; what the device does overlaps the rest:
    tracing          45 ms     75 %  ██████████████████████████████
    your code        15 ms     25 %  ██████████
    device busy      20 ms     33 %  █████████████▍
    device idle      40 ms     67 %  ██████████████████████████▋
  of the 1 s in the window (activities overlap): tracing 100 ms, compile 500
    ms, device busy 250 ms, device idle 750 ms
  10 steps, 7 compilations, 10 executions (1 a step)

2 findings, most expensive first

 1  warning: compiled 5 times after warm-up
    /home/u/train.py:7, in step
    why    shape_change, ongoing: the batch varies
             xla::device_data, near train.py:7
           - f32[64,784]
           + f32[48,784]
    cost   400 ms, 40 ms a step, 67 % of a steady step: measured
    saves  about 380 ms: one compile stays
    fix    Pad the last batch.

 2  warning: a value is read
    /home/u/train.py:9
    cost   unmeasured: no profile
    fix    as in 1

Also seen (--all shows more)
  slow_compile        7 graphs took 500 ms

What these files do not show
  - no source holds the graphs. Dump them.

What slowed the recorded run
  - ir_debug: frames in the dump.

Which file saw what
                                 steps   compiles executions     events
  log.txt (debug_log)               10          7         10          -
  tb/vm.xplane.pb (xspace)          10          7         10     12,345
      from 0 s to 1 s

Problems in the input
  - log.txt:120: cut_block, 2 times: a block ends early

Not in this report
  - made from other files, not counted twice: tb/vm.trace.json.gz
  - not recognised: looks like text: notes.md
  - other runs (--run LABEL; this one: folder): 2026_11_20
)");
}

// Regression: a line of a library with the finding's number passed for the finding's line.
TEST(ReportText, CallersStandBehindTheFindingsLine) {
  const auto frame = [](std::string file, int64_t line, bool is_user) {
    return CallFrame{.place = {.file = std::move(file), .line = line}, .is_user = is_user};
  };
  Finding finding{.subject = {.file = "/home/u/train.py", .line = 7}};
  finding.stack.frames = {frame("/usr/lib/python3/site-packages/torch/nn/loss.py", 7, false),
                          frame("/home/u/model.py", 5, true), frame("/home/u/train.py", 7, true),
                          frame("/home/u/main.py", 9, true)};
  EXPECT_THAT(CallerTexts(finding), testing::ElementsAre("called from /home/u/main.py:9"));
}

TEST(ReportText, CleanRunSaysSoAndWhatWasLookedAt) {
  Report report = CleanReport();
  report.summary.optimized_programs = report.summary.torch_compile = true;
  report.summary.lazy_runtime = true;
  const std::string text = ReportText(report, {.width = 1000}),
                    all = ReportText(report, {.width = 100, .all = true});
  EXPECT_THAT(text, HasSubstr("Nothing found that needs fixing"));
  EXPECT_THAT(text, HasSubstr("\n  Looked for recompilation, recompile_limit, "));
  for (const Analyzer* analyzer : AllAnalyzers()) {
    EXPECT_THAT(text, HasSubstr(analyzer->name));
    EXPECT_THAT(all, HasSubstr(fmt::format("\n  {} ", analyzer->name)));
  }
}

TEST(ReportText, TheReportOfAKilledProgramSaysThatItHasNoEnd) {
  Report report = CleanReport();
  report.observed.push_back({.row = {.command = "train.py", .ended = true}});
  EXPECT_THAT(ReportText(report, {.width = 1000}), HasSubstr("Nothing found that needs fixing"));
  report.observed.push_back({.row = {.command = "train.py", .ended = false}});
  EXPECT_THAT(ReportText(report, {.width = 1000}),
              HasSubstr("the end of the program was not recorded"));
  report.command = {.words = "python train.py", .exit_status = 137, .signal = 9};
  EXPECT_THAT(ReportText(report, {.width = 1000}),
              HasSubstr("No check gave a warning, but the command was ended by signal 9 (Killed)."));
  // A child process without an end says nothing of a program that ended by itself.
  report.command = {.words = "python train.py", .exit_status = 0};
  EXPECT_THAT(ReportText(report, {.width = 1000}), HasSubstr("Nothing found that needs fixing"));
}

TEST(ReportText, SeveralProcessesThatDidNotWorkAreOneText) {
  const auto helper = [](int64_t pid, bool ended) {
    return Observed{.row = {.command = "python -c ...", .ended = ended}, .pid = pid};
  };
  const Observed train{.row = {.command = "train.py", .ended = true, .steps = 9}, .worked = true};
  ObservedCommand command{.words = "python train.py", .exit_status = 0};
  const std::vector<Observed> all = {train, helper(7, true), helper(8, false), helper(9, true)};
  const std::vector<std::string> texts = ObservedTexts(command, all);
  ASSERT_EQ(texts.size(), 3);
  EXPECT_EQ(texts[0], "python train.py: the command ended with status 0.");
  EXPECT_THAT(texts[1], HasSubstr("train.py: 9 steps"));
  EXPECT_EQ(texts[2],
            "3 processes ran without a step, a compilation or an execution: pid 7, 8 and 9.");
  // One without an end may be where the program failed.
  command.exit_status = 1;
  EXPECT_EQ(ObservedTexts(command, all).size(), 4);
  EXPECT_EQ(ObservedTexts(command, {train, helper(7, true)}).size(), 3);
}

TEST(ReportText, AProfileWithACompilationIsNotSaidToBeWithoutOne) {
  Observed observed{.row = {.command = "train.py", .ended = true}};
  observed.row.profile_moment = ProfileMoment::kSteady;
  observed.row.profile_ts_ns = 0, observed.row.profile_dur_ns = 3'000'000'000;
  EXPECT_THAT(ObservedText(observed), HasSubstr(" The profile covers 3 s."));
  observed.stopped_compiling = true;
  EXPECT_THAT(ObservedText(observed),
              HasSubstr(" The profile covers 3 s, when the program had stopped compiling."));
  observed.compiled_in_profile = true;
  EXPECT_THAT(ObservedText(observed),
              HasSubstr(" The profile covers 3 s, in which the program compiled."));
  observed.row.profile_moment = ProfileMoment::kAsked;
  EXPECT_THAT(ObservedText(observed),
              HasSubstr(" The profile covers 3 s, as asked, in which the program compiled."));
}

TEST(ReportText, TheMeanOfStepsNamesTheTimeBetweenThem) {
  Report report = SampleReport();
  report.steady.steps = 8, report.steady.step_ns = 60'000'000;
  EXPECT_THAT(SteadySharesTitle(report), StartsWith("mean of 8 steady steps, 60 ms"));
  EXPECT_THAT(SteadySharesTitle(report), Not(HasSubstr("between them")));
  report.steady.step_ns = 95'000'000;
  EXPECT_THAT(SteadySharesTitle(report),
              StartsWith("mean of 8 steady steps, 95 ms with the time between them"));
}

TEST(ReportText, NamesTheUnitAndTheTopOps) {
  Report report = CleanReport();
  report.summary.unit = WorkUnit::Program{"jit_decode", 62, 14'000'000, 0.87};
  report.top_ops.devices = {
      {.label = "TPU:0",
       .busy_share = 0.9,
       .span_ns = 2'000'000,
       .ops = {{.name = "RPA",
                .category = "custom-call",
                .location = "/x/attention.py:12",
                .count = 64,
                .self_ns = 576'000,
                .share = 0.32},
               {.name = "all-reduce", .scope = "jit(f)/mlp", .count = 1, .share = 0.05}},
       .other_names = 3,
       .other_share = 0.6,
       .unnamed_share = 0.03}};
  EXPECT_EQ(
      UnitText(report.summary),
      "No step is marked, so the unit is one execution of `jit_decode`: 62 executions, median "
      "14 ms, 87 % of the time of all executions");
  Finding finding{.analyzer = &sync_point, .count = 10, .cost_ns = 62'000'000};
  report.summary.timed_steps = report.summary.steps = std::nullopt;
  EXPECT_EQ(CostText(report, finding), "62 ms");  // not known to lie in the window
  const std::string text = ReportText(report, {.width = 100});
  EXPECT_THAT(text, HasSubstr(UnitText(report.summary).substr(0, 40)));
  EXPECT_THAT(text, HasSubstr(TopTitle(report) +
                              "\n      32 %  RPA: 64 times, custom-call, at attention.py:12"
                              "\n     5.0 %  all-reduce: once, in jit(f)/mlp"
                              "\n      60 %  3 others"
                              "\n     3.0 %  between ops\n"));
  EXPECT_THAT(ReportMarkdown(report, {}), HasSubstr("| RPA | 32 % | 64 times, custom-call, at"));
  const auto json = nlohmann::json::parse(ReportJson(report));
  EXPECT_EQ(json["summary"]["unit"]["executions"], 62);
  EXPECT_EQ(json["summary"]["top_ops"][0]["device"], "TPU:0");
  EXPECT_EQ(json["summary"]["top_ops"][0]["ops"][0]["share"], 0.32);
}

// Regression: only host events were left of a cut profile, and the report said that all was well. A
// compilation of 46 ms in eight steps was "5.8 ms a step, 32 % of a steady step".
TEST(ReportText, WhatIsPaidOnceHasNoShareOfAStep) {
  Report report = SampleReport();
  report.summary.timed_steps = report.summary.steps;
  Finding finding{.analyzer = &slow_compile, .count = 1, .cost_ns = 46'000'000};
  EXPECT_EQ(CostText(report, finding), "46 ms, 4.6 % of the window");
  finding.analyzer = &sync_point, finding.count = 10, finding.per_step = 1;
  EXPECT_EQ(CostText(report, finding), "46 ms, 4.6 ms a step, 7.7 % of a steady step");
}

TEST(ReportText, WithoutAPriceNothingIsDearest) {
  Report report = SampleReport();
  for (Finding& finding : report.findings) finding.cost_ns.reset();
  const std::string text = ReportText(report, {.width = 80});
  EXPECT_THAT(text, HasSubstr("\n2 findings\n"));
}

TEST(ReportText, TooLittleIsNoCleanRun) {
  Report report = CleanReport();
  report.issues.push_back({.path = "a.xplane.pb", .code = "cut_file", .count = 1});
  EXPECT_THAT(ReportText(report, {.width = 200}),
              AllOf(HasSubstr("Nothing found"), HasSubstr("the missing part may hold more")));
  report.summary = {};
  report.findings.clear();
  EXPECT_THAT(ReportText(report, {.width = 200}),
              AllOf(HasSubstr("Too little was read to judge"), Not(HasSubstr("Nothing found"))));
  EXPECT_THAT(ReportMarkdown(report, {}),
              AllOf(HasSubstr("Too little was read to judge"), Not(HasSubstr("Looked for"))));
}

// An offset into the content of a compressed file is no place in the file itself.
TEST(ReportText, OffsetsOfCompressedFiles) {
  Report report = CleanReport();
  report.issues.push_back({.path = "a.log", .code = "odd", .count = 1, .offset = 12});
  EXPECT_THAT(ReportText(report, {.width = 200}), HasSubstr("a.log, byte 12: odd"));
  report.issues.back().is_packed = true;
  EXPECT_THAT(ReportText(report, {.width = 200}),
              HasSubstr("a.log, byte 12 of its decompressed content: odd"));
}

// An archive of which a member was read is not missing.
TEST(ReportText, ArchivesThatWereReadAreNotListed) {
  Report report = CleanReport();
  report.sources.push_back({.path = "a.ipynb", .note = "an archive"});
  EXPECT_THAT(ReportText(report, {.width = 200}), HasSubstr("an archive: a.ipynb"));
  report.sources.push_back({.path = "a.ipynb!cell_1.txt", .format = "debug_log", .imported = true});
  EXPECT_THAT(ReportText(report, {.width = 200}), Not(HasSubstr("an archive")));
}

TEST(ReportText, FitsTheWidth) {
  for (int width : {40, 60, 80, 100, 160}) {
    for (bool all : {false, true}) {
      for (const std::string& line :
           Lines(ReportText(HostileReport(), {.width = width, .all = all}))) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
    }
  }
}

TEST(ReportText, NoControlCharacterComesThrough) {
  for (bool colour : {false, true}) {
    std::string text = ReportText(HostileReport(), {.colour = colour, .all = true});
    EXPECT_THAT(text, Not(HasSubstr("\x1b[2J")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
    EXPECT_EQ(text.find('\x1b') != std::string::npos, colour);
  }
}

TEST(ReportText, AllShowsInfoInFullWithEvidence) {
  std::string text = ReportText(SampleReport(), {.all = true});
  EXPECT_THAT(text, HasSubstr("3  info: 7 graphs took 500 ms"));
  EXPECT_THAT(text, HasSubstr("compile 3, 4"));
}

TEST(ReportText, WithoutClockThereAreCounts) {
  Report report = SampleReport();
  report.summary = {.steps = 10, .compile_count = 3, .execution_count = 40};
  report.steady = {};
  std::string text = ReportText(report, {});
  EXPECT_THAT(text, HasSubstr("10 steps, 3 compilations, 40 executions (4 a step)"));
  EXPECT_THAT(text, HasSubstr("no source has times"));
  report.summary.compile_ns = 500'000'000;  // from the metrics
  EXPECT_THAT(ReportText(report, {}), HasSubstr("compile         500 ms      50 ms a step"));
  EXPECT_THAT(text, Not(HasSubstr("█")));
}

TEST(ReportText, SliceIsSaid) {
  Report report = SampleReport();
  report.slice = {.first_step = 3, .last_step = 5, .process_id = 2};
  std::string text = ReportText(report, {});
  EXPECT_THAT(text, HasSubstr("Only process 2, steps 3 to 5"));
  EXPECT_THAT(text, Not(HasSubstr("first step  ")));  // it is not among these
}

TEST(ReportText, ProcessesOfTheRunAreNamed) {
  Report report = SampleReport();
  report.processes = {{.id = 1, .run_id = 1},
                      {.id = 2, .run_id = 2, .rank = 0},
                      {.id = 3, .run_id = 2, .host = "vm", .pid = 77, .rank = 1}};
  EXPECT_THAT(ReportText(report, {}),
              HasSubstr("2 processes; choose one with --process: 2 rank 0; 3 rank 1 on vm pid 77"));
  report.processes.pop_back();
  EXPECT_THAT(ReportText(report, {}), Not(HasSubstr("--process")));
}

TEST(ReportText, WithoutTimedStepsTheWindowIsShown) {
  Report report = SampleReport();
  report.steady = {};
  report.summary.devices.push_back({"CPU:1", 500'000'000, 1'000'000'000});
  std::string text = ReportText(report, {});
  EXPECT_THAT(text, HasSubstr("of the 1 s in the window (activities overlap):"));
  EXPECT_THAT(text, HasSubstr("mean device idle    375 ms     38 %"));
  EXPECT_THAT(text, HasSubstr("CPU:1 was busy for 50.00 % of the 1 s from its first to its last work"));
}

// A cost outside of the profile's window may not be divided by that window.
TEST(ReportText, NoShareOfAWindowThatSawLess) {
  Report report = SampleReport();
  report.summary.timed_steps = 3;
  EXPECT_THAT(ReportText(report, {}), HasSubstr("cost   400 ms: measured"));
}

}  // namespace
}  // namespace xlaprof
