#include <gmock/gmock.h>

#include "profiler/import/formats.h"
#include "tests/profiler/import/import_text.h"
#include "tests/profiler/import/torch_xla/debug_log_text.h"

namespace xlaprof {
extern const Dialect debug_log;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kExecutions =
    "SELECT ordinal, hash, cause, file, site.line, inputs FROM (SELECT e.*, g.hash, g.input_count "
    "AS inputs FROM "
    "execution e "
    "LEFT JOIN graph g ON g.id = graph_id) LEFT JOIN site ON site.id = site_id ORDER BY "
    "process_id, ordinal";
constexpr const char* kIssues = "SELECT code, count, first_line FROM import_issue ORDER BY code";
constexpr const char* kFallbacks =
    "SELECT op, count, site.line FROM fallback LEFT JOIN site ON site.id = site_id ORDER BY "
    "fallback.id";

TEST(DebugLog, ReadsABlockOfEachKind) {
  auto in = ImportText(debug_log, Compilation("ABCD01") +
                                      Post({"1.548000 GB", "0.500000 GB", "512.000000 MB",
                                            "Unknown  GB", "0.000000 GB"}) +
                                      Execution("abcd01"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT ordinal, cause, input_bytes, output_bytes, alias_bytes, temp_bytes, "
                      "program_bytes, "
                      "inferred FROM compile"),
              ElementsAre("0|user_sync|1662152344|536870912|536870912|-|0|0"));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|abcd01|user_sync|/x/train.py|5|35"));
  EXPECT_THAT(in.Rows("SELECT hash, input_count, output_count, printed_as FROM graph"),
              ElementsAre("abcd01|35|107|-"));
  EXPECT_THAT(in.Rows("SELECT function, line, owner FROM frame ORDER BY depth"),
              ElementsAre("sync|87|torch_xla", "step|5|user", "<module>|30|user"));
  EXPECT_THAT(in.Rows("SELECT table_name, offset, line, ordinal FROM provenance WHERE table_name "
                      "IN ('compile', "
                      "'execution') ORDER BY line"),
              ElementsAre("compile|1|2|0", testing::StartsWith("execution|")));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(DebugLog, ReadsNamesUnexpectedExecutionsAndLongStacks) {
  auto lines = BlockLines("Compilation", "ab", 5, "torch_xla.compile");
  lines.insert(lines.begin() + 3, "  Graph Name: my fn");
  lines.push_back("  ..........");
  auto in = ImportText(debug_log, Block("Compilation", lines) +
                                      Block("Unexpected Execution", BlockLines("Execution", "cd")));
  EXPECT_THAT(in.Rows("SELECT cause, function FROM compile"),
              ElementsAre("torch_xla_compile|my fn"));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|cd|unexpected|/x/train.py|5|35"));
  EXPECT_THAT(in.Rows("SELECT name FROM graph WHERE hash = 'ab'"), ElementsAre("my fn"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(DebugLog, ReadsTheFirstVersionAndLostIndentation) {
  auto in = ImportText(
      debug_log,
      Block("Execution",
            {"Execution Cause", "user mark_step", "Number of Graph Input: 3",
             "Number of Graph Output: 1", "Python Frame Triggered Execution:",
             "mark_step (/v/site-packages/torch_xla/core/xla_model.py:1)", "go (train.py:7)"}));
  EXPECT_THAT(
      in.Rows(
          "SELECT cause, graph_id, file, site.line FROM execution JOIN site ON site.id = site_id"),
      ElementsAre("user_sync|-|train.py|7"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(DebugLog, AsksTheFramesWhereTheCauseIsUnknown) {
  auto in = ImportText(debug_log, Block("Execution", BlockLines("Execution", "ab", 5,
                                                                "for a reason yet to be named")));
  EXPECT_THAT(in.Rows("SELECT cause FROM execution"), ElementsAre("user_sync"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("unknown_cause|1|4"));
}

TEST(DebugLog, ReadsLinesBehindPrefixes) {
  for (const char* prefix : {"2021-04-19 13:28:12 10.164.0.25 [0] ", "[rank0]:", "(worker 3) ",
                             "(train_loop pid=123) ", "stderr: "}) {
    auto in = ImportText(debug_log, Compilation("ab", prefix) + Execution("ab", prefix));
    EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|ab|user_sync|/x/train.py|5|35")) << prefix;
    EXPECT_THAT(in.Rows("SELECT count(*) FROM process"), ElementsAre("1")) << prefix;
  }
}

TEST(DebugLog, TellsProcessesApartByTheirPrefixes) {
  std::string a = Execution("aa", "2021-04-19 13:28:12 10.164.0.25 [0] "),
              b = Execution("bb", "2021-04-19 13:28:13 10.164.0.26 [8] ");
  std::string mixed;
  for (size_t i = 0, k = 0; i < a.size() || k < b.size();) {  // takes lines of both in turn
    for (auto [text, at] : {std::pair(&a, &i), std::pair(&b, &k)}) {
      if (*at >= text->size()) continue;
      size_t end = text->find('\n', *at) + 1;
      mixed += text->substr(*at, end - *at);
      *at = end;
    }
  }
  auto in = ImportText(debug_log, mixed);
  EXPECT_THAT(in.Rows("SELECT host, rank, hash FROM execution e JOIN process p ON p.id = "
                      "e.process_id JOIN graph g ON "
                      "g.id = graph_id ORDER BY rank"),
              ElementsAre("10.164.0.25|0|aa", "10.164.0.26|8|bb"));
  EXPECT_THAT(in.Rows("SELECT count(stack_id) FROM execution"), ElementsAre("2"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(DebugLog, KnowsTheProcessesOfPrefixes) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[rank3]: ", "-|-|3"},
      {"(worker 2) ", "worker 2|-|-"},
      {"(train_loop pid=123, ip=10.0.0.2) ", "-|123|-"},
      {"[7]:", "-|-|7"},
      {"[pod/a-1/main] ", "pod/a-1/main|-|-"},
      {"loss [3] ", "-|-|-"},
      {"2024-05-30T01:02:03.4Z stderr F ", "-|-|-"},
      {" 10%|#  | 1/10 [00:01<00:09]", "-|-|-"},
  };
  for (auto [prefix, expected] : kCases) {
    auto in = ImportText(
        debug_log,
        fmt::format("{}pt-xla-profiler: CompileTime too frequent: 8 counts during 12 steps\n",
                    prefix));
    EXPECT_THAT(in.Rows("SELECT host, pid, rank FROM process"), ElementsAre(expected)) << prefix;
  }
}

TEST(DebugLog, CountsBlocksThatInterleave) {
  std::string mixed;
  auto lines_a = BlockLines("Execution", "aa", 5), lines_b = BlockLines("Execution", "bb", 9);
  lines_a.insert(lines_a.begin(), kRuler), lines_b.insert(lines_b.begin(), kRuler);
  for (const std::string& end : {kDashes, kRuler}) lines_a.push_back(end), lines_b.push_back(end);
  for (size_t i = 0; i < lines_a.size(); ++i) {
    mixed += "Execution Analysis: " + lines_a[i] + "\nExecution Analysis: " + lines_b[i] + "\n";
  }
  auto in = ImportText(debug_log, mixed + Execution("cc"));
  // Both blocks are counted, but their frames are not assigned by guessing. The block after them is
  // whole.
  EXPECT_THAT(in.Rows("SELECT hash FROM graph ORDER BY hash"), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(in.Rows("SELECT count(*), count(stack_id) FROM execution"), ElementsAre("3|1"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), ElementsAre("interleaved_blocks"));
}

TEST(DebugLog, KeepsWhatFollowsABlockThatWasCutShort) {
  std::string killed = Execution("aa");
  killed.resize(killed.find("Graph Info"));
  auto in = ImportText(debug_log, killed + Compilation("bb") + Execution("bb") + Execution("bb"));
  EXPECT_THAT(in.Rows(kExecutions),
              ElementsAre("0|-|user_sync|-|-|-", "2|bb|user_sync|/x/train.py|5|35",
                          "3|bb|user_sync|/x/train.py|5|35"));
}

TEST(DebugLog, BeginsInsideABlock) {
  std::string text = Compilation("aa");
  auto in = ImportText(debug_log,
                       text.substr(text.find("Compilation Analysis:   sync")) + Execution("bb"));
  EXPECT_THAT(
      in.Rows("SELECT cause, graph_id, site.line FROM compile JOIN site ON site.id = site_id"),
      ElementsAre("user_sync|-|5"));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|bb|user_sync|/x/train.py|5|35"));
}

TEST(DebugLog, ReadsJsonLines) {
  std::string text =
      Compilation("ab") + Execution("ab") +
      "pt-xla-profiler: CompileTime too frequent: 8 counts during 12 steps\n" + kRuler +
      "\nUnlowered Op usage summary (more of these ops, lower performance)\n" + kDashes +
      "\nFRAME (count=2):\n" +
      "Unlowered Op: \"nonzero\"\nPython Frames:\n  body (/x/t.py:10)\n\n" + kRuler + "\n";
  std::string json;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    for (size_t quote = line.find('"'); quote != std::string::npos;
         quote = line.find('"', quote + 2))
      line.insert(quote, "\\");
    json +=
        "{\"log\":\"" + line + "\\n\",\"stream\":\"stderr\",\"time\":\"2024-01-01T00:00:00Z\"}\n";
    at = end + 1;
  }
  auto in = ImportText(debug_log, json);
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|ab|user_sync|/x/train.py|5|35"));
  EXPECT_THAT(in.Rows("SELECT rule, samples, steps FROM profiler_line"),
              ElementsAre("compile_frequent|8|12"));
  EXPECT_THAT(in.Rows(kFallbacks), ElementsAre("aten::nonzero|2|10"));
  // This message holds a whole block.
  in = ImportText(debug_log,
                  "{\"severity\": \"INFO\", \"message\": \"Execution Analysis: Execution "
                  "Cause\\nExecution Analysis:   "
                  "user mark_step\\n"
                  "Execution Analysis:   Graph Hash: ab\\nExecution Analysis: " +
                      kDashes + "\"}\n");
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("0|ab|user_sync|-|-|-"));
}

TEST(DebugLog, ReadsProfilerLinesAmongProgressBars) {
  auto in = ImportText(
      debug_log,
      "Epoch 1:  10%|#   | 1/10 [00:01<00:09]pt-xla-profiler: CompileTime too frequent: 429 counts "
      "during 493 steps\r"
      "Epoch 1:  20%|##  | 2/10\n"
      "WARNING:pt-xla-profiler:TransferFromServerTime too frequent: 30 counts during 31 steps"
      "pt-xla-profiler: TransferFromDeviceTime too frequent: 24 counts during 12 stepsloss 0.3\n"
      "pt-xla-profiler: CompileTime too slow: longest instance took 06m09s402ms746.001us. Please "
      "open a GitHub issue "
      "with "
      "the graph dump for our team to optimize.\n"
      "pt-xla-profiler: Op(s) not lowered: aten::_ctc_loss, aten::nonzero,  Please open a GitHub "
      "issue with the above "
      "op "
      "lowering requests.\n"
      "pt-xla-profiler: Following metrics too frequent: XrtCompaction (3 counts), during 11 steps. "
      "Note: XRT metrics\n"
      "pt-xla-profiler: hello\n");
  EXPECT_THAT(in.Rows("SELECT rule, samples, steps FROM profiler_line ORDER BY ordinal"),
              ElementsAre("compile_frequent|429|493", "transfer_from_frequent|30|31",
                          "transfer_from_frequent|24|12", "compile_slow|-|-", "not_lowered|-|-",
                          "xrt_frequent|-|11"));
  EXPECT_THAT(
      in.Rows("SELECT text FROM profiler_line WHERE ordinal = 2"),
      ElementsAre(
          "pt-xla-profiler: TransferFromDeviceTime too frequent: 24 counts during 12 steps"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("unknown_profiler_line|1|6"));
  EXPECT_THAT(in.Rows(kFallbacks), IsEmpty());
}

std::string Summary(std::string_view entries) {
  return kRuler +
         "\nUnlowered Op usage summary (more of these ops, lower performance)\nNote: "
         "_local_scalar_dense typically "
         "indicates CPU context "
         "access\n" +
         kDashes + "\n" + std::string(entries) + kRuler;
}

TEST(DebugLog, ReadsTheSummaryAtExit) {
  auto in = ImportText(debug_log,
                       Summary("FRAME (count=2):\nUnlowered Op: \"_local_scalar_dense\"\nPython "
                               "Frames:\n  item_fn (/x/train.py:12)\n"
                               "  <module> (/x/train.py:30)\n\nFRAME (count=1):\nUnlowered Op: "
                               "\"torchvision::nms\"\n\n\n"));
  EXPECT_THAT(in.Rows(kFallbacks),
              ElementsAre("aten::_local_scalar_dense|2|12", "torchvision::nms|1|-"));
  EXPECT_THAT(in.Rows("SELECT count(ordinal), count(stack_id) FROM fallback"), ElementsAre("0|1"));
}

TEST(DebugLog, ReadsTheSummaryThroughALogger) {
  std::string text = Summary(
      "FRAME (count=2):\nUnlowered Op: \"nonzero\"\nPython Frames:\n  f (/x/train.py:12)\n\n");
  auto in = ImportText(
      debug_log, "WARNING:pt-xla-profiler:" + text + "\nmore of the log\n  g (/x/other.py:9)\n");
  EXPECT_THAT(in.Rows(kFallbacks), ElementsAre("aten::nonzero|2|12"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(DebugLog, DoesNotCountTheSummarysTotalsTwice) {
  constexpr const char* kSites =
      "FRAME (count=12):\n  body (/x/train.py:10)\n\n\nFRAME (count=3):\nFrames:\n  body "
      "(/x/train.py:13)\n\n\n";
  auto in = ImportText(
      debug_log,
      Summary(std::string("FRAME (count=15):\nUnlowered Op: \"xla_fallback\"\n\n\n") + kSites));
  EXPECT_THAT(in.Rows(kFallbacks), ElementsAre("-|12|10", "-|3|13"));
  // The sites are assigned to an op if they can only belong to that op.
  in = ImportText(
      debug_log,
      Summary(std::string("FRAME (count=15):\nUnlowered Op: \"nonzero\"\n\n\n") + kSites));
  EXPECT_THAT(in.Rows(kFallbacks), ElementsAre("aten::nonzero|12|10", "aten::nonzero|3|13"));
  in = ImportText(debug_log,
                  Summary(std::string("FRAME (count=12):\nUnlowered Op: \"nonzero\"\n\nFRAME "
                                      "(count=3):\nUnlowered Op: \"histc\"\n\n") +
                          kSites));
  EXPECT_THAT(in.Rows(kFallbacks), ElementsAre("aten::nonzero|12|10", "aten::histc|3|13"));
}

// People who ask for help copy the end of the log: the summary's title is lost, and each line keeps
// its prefix.
TEST(DebugLog, TheSummaryMayBeginAtAnyFrame) {
  for (const char* mark : {"pt-xla-profiler: ", "WARNING:pt-xla-profiler:", ""}) {
    std::string text;
    for (const char* line :
         {"  _call (/v/site-packages/fire/core.py:41)", "  <module> (/x/cli.py:26)", "", "",
          "FRAME (count=20):", "  train (/x/train.py:15)", "  <module> (/x/cli.py:26)", "", "",
          "FRAME (count=20):", "  train (/x/tra"})
      text += fmt::format("{}{}\n", mark, line);
    EXPECT_EQ(RecognisedDialect(text), &debug_log) << mark;
    auto in = ImportText(debug_log, text);
    EXPECT_THAT(in.Rows(kFallbacks), ElementsAre("-|20|15")) << mark;
    if (*mark != 0) {
      EXPECT_THAT(in.Rows(kIssues), ElementsAre("headless_summary|2|1"));
    }
  }
}

// This is a line quoted in a question, with words made bold or code.
TEST(DebugLog, MarkdownInsideALine) {
  auto in = ImportText(debug_log,
                       "I got pt-xla-profiler: **Op(s) not lowered: `aten::frobnicate`**,  Please "
                       "open a GitHub issue with the above op lowering requests.\n");
  EXPECT_THAT(in.Rows("SELECT rule, text FROM profiler_line"),
              ElementsAre("not_lowered|pt-xla-profiler: Op(s) not lowered: aten::frobnicate,  "
                          "Please open a GitHub issue with the above op lowering requests."));
}

// The line is cut, but everything that it reports is still there.
TEST(DebugLog, ALineMayBeCutBehindWhatItTells) {
  constexpr const char* kRules = "SELECT rule FROM profiler_line";
  const std::string slow =
      "pt-xla-profiler: CompileTime too slow: longest instance took 06m01s100ms000.000us";
  EXPECT_THAT(ImportText(debug_log, slow + ". Please open a GitHub iss").Rows(kRules),
              ElementsAre("compile_slow"));
  EXPECT_THAT(ImportText(debug_log, slow).Rows(kIssues), ElementsAre("cut_file|1|1"));
}

// This is the tail of a log: the first block has only outer frames left, but the sizes below it are
// whole.
TEST(DebugLog, ATailKeepsTheSizesOfAProgram) {
  const std::string frames =
      "Compilation Analysis:   teardown (/v/site-packages/lightning/strategy.py:12)\n"
      "Compilation Analysis:   ..........\nCompilation Analysis: " +
      kDashes + "\nCompilation Analysis: " + kRuler + "\n";
  const std::string post = Post({"1 GB", "2 GB", "0 GB", "4 GB", "3 GB"});
  constexpr const char* kSizes =
      "SELECT cause, site_id, graph_id, input_bytes, program_bytes FROM compile";
  auto in = ImportText(debug_log, frames + post);
  EXPECT_THAT(in.Rows(kSizes), ElementsAre("-|-|-|1073741824|3221225472"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("headless_block|1|1"));
  in = ImportText(debug_log, post);
  EXPECT_THAT(in.Rows(kSizes), ElementsAre("-|-|-|1073741824|3221225472"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("post_without_compilation|1|2"));
  // Blocks of two threads alternate: the second Post belongs to a compilation that was already
  // counted.
  in = ImportText(debug_log, Compilation("aa") + Compilation("bb") + post + post);
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile"), ElementsAre("2"));
}

// A refusal that "looked for X" does not help if the file holds X.
TEST(DebugLog, ARefusalDoesNotDenyWhatIsThere) {
  auto in = ImportText(debug_log, "Execution Analysis: " + kDashes + "\n");
  EXPECT_THAT(std::string(Message(in.status)),
              testing::AllOf(HasSubstr("It contains 'Execution Analysis:'"), HasSubstr("missing")));
  in = ImportText(debug_log, "nothing of the kind\n");
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("looked for"));
}

TEST(DebugLog, SurvivesCutsOddBytesAndLineEnds) {
  std::string whole = Compilation("ab") + Execution("ab");
  std::string crlf;
  for (char c : whole) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  auto in = ImportText(debug_log, crlf);
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|ab|user_sync|/x/train.py|5|35"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
  in = ImportText(debug_log, whole.substr(0, whole.rfind("Number of Graph Outputs")));
  EXPECT_THAT(in.Rows(kExecutions), ElementsAre("1|ab|user_sync|-|-|35"));
  EXPECT_THAT(in.Rows("SELECT code, first_line FROM import_issue"), ElementsAre("cut_file|18"));
  for (size_t size = 0; size <= whole.size(); size += 7)
    ImportText(debug_log, whole.substr(0, size));  // must not crash
  in = ImportText(
      debug_log,
      Block("Execution", {"Execution Cause", "  user mark_step", "  Graph Hash: ab",
                          "Python Frame Triggered Execution: ", "  f (/x/\xff\xfe.py:3)"}));
  EXPECT_THAT(in.Rows("SELECT file FROM site"), ElementsAre("/x/\xEF\xBF\xBD\xEF\xBF\xBD.py"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("invalid_utf8|1|7"));
}

TEST(DebugLog, SurvivesLongLinesAndStacks) {
  std::string huge(10 << 20, 'x');
  std::vector<std::string> lines = BlockLines("Execution", "ab");
  for (int i = 0; i < 10'000; ++i) lines.push_back(fmt::format("  f{} (/x/train.py:{})", i, i + 1));
  auto in = ImportText(debug_log, huge + "\n" + Block("Execution", lines) + huge);
  EXPECT_THAT(in.Rows("SELECT count(*) FROM frame"), ElementsAre("10003"));
  EXPECT_THAT(in.Rows("SELECT offset, line FROM provenance WHERE table_name = 'execution'"),
              ElementsAre(fmt::format("{}|3", (10 << 20) + 2)));
}

TEST(DebugLog, SaysWhatItLookedForWhereNothingIs) {
  for (const char* text : {"", "epoch 1 loss 0.3\n", "\0\0\0"}) {
    auto in = ImportText(debug_log, text);
    EXPECT_FALSE(in.status.ok());
    EXPECT_THAT(std::string(Message(in.status)), HasSubstr("looked for 'Compilation Analysis:'"));
    EXPECT_THAT(std::string(Message(in.status)), HasSubstr("given.txt"));
  }
}

TEST(DebugLog, SniffsMarkersOnly) {
  EXPECT_GE(debug_log.sniff(Compilation("ab")), 90);
  EXPECT_GE(
      debug_log.sniff("pt-xla-profiler: CompileTime too frequent: 8 counts during 12 steps\n"), 80);
  EXPECT_GE(debug_log.sniff("Execution Analysis:   Graph Hash: ab\n"), 80);
  EXPECT_GE(debug_log.sniff(Summary("")), 80);
  EXPECT_LT(debug_log.sniff("we run with pt-xla-profiler enabled\nloss 0.3\n"), 10);
  EXPECT_EQ(debug_log.sniff("Analysis: the loss went down\n"), 0);
}

// torch_xla never ends its log with a line end.
TEST(DebugLog, ARuleAtTheEndIsNotCut) {
  const std::string log = Compilation("aa") + Execution("aa");
  const auto codes = [](const std::string& text) {
    return ImportText(debug_log, text)
        .Rows(
            "SELECT code FROM import_issue WHERE code = "
            "'no_line_end'");
  };
  EXPECT_THAT(codes(log + "pt-xla-profiler: " + kRuler), testing::IsEmpty());
  EXPECT_THAT(codes(log + kDashes + "\n" + kRuler), testing::IsEmpty());
  EXPECT_THAT(codes(log + "step 30, loss 0.12"), testing::ElementsAre("no_line_end"));
}

}  // namespace
}  // namespace xlaprof
