// Tests what is read from torch.compile's warnings about recompilation.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect dynamo_log;
namespace {

using testing::ElementsAre;

constexpr const char* kRows =
    "SELECT d.function, s.file, s.line, d.programs, d.reason FROM dynamo_recompile d LEFT JOIN "
    "site s ON s.id = d.site_id ORDER BY d.id";

TEST(DynamoLog, LimitOfPrograms) {
  const std::string prefix =
      "W1124 23:12:41.123000 4012 torch/_dynamo/convert_frame.py:1358] [0/8] ";
  const std::string log =
      "step 7 loss 2.31\n" + prefix + "torch._dynamo hit config.recompile_limit (8)\n" + prefix +
      "   function: 'step' (/home/u/app/train.py:19)\n" + prefix +
      "   last reason: 0/7: tensor 'x' size mismatch at index 0. expected 24, actual 31\n" +
      prefix + "To log all recompilation reasons, use TORCH_LOGS=\"recompiles\".\nstep 8\n";
  EXPECT_GT(dynamo_log.sniff(log), 0);
  const auto in = ImportText(dynamo_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kRows),
              ElementsAre("step|/home/u/app/train.py|19|8|tensor 'x' size mismatch at index 0. "
                          "expected 24, actual 31"));
}

// torch 2.0 prints other words, and no prefix.
TEST(DynamoLog, LimitOfTheCache) {
  const auto in = ImportText(
      dynamo_log,
      "[2023-06-01 10:00:00,123] torch._dynamo.convert_frame: [WARNING] torch._dynamo hit "
      "config.cache_size_limit (64)\n   function: 'forward' (model.py:120)\n   reasons:  "
      "L['n'] == 3\nto diagnose recompilation issues, see https://pytorch.org/docs\n");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kRows), ElementsAre("forward|model.py|120|64|L['n'] == 3"));
}

constexpr const char* kDynamoCompiles =
    "SELECT g.number, c.function, c.inferred, r.type, r.input, r.before, r.after FROM compile c JOIN "
    "graph g ON g.id = c.graph_id LEFT JOIN compile_reason r ON r.compile_id = c.id ORDER BY "
    "c.process_id, c.ordinal";

// Returns the lines of a message that has `prefix` and the mark of recompilations.
std::string Recompiles(std::string_view prefix, std::string_view place,
                       std::initializer_list<std::string_view> failures) {
  const auto line = [&](std::string_view text) {
    return fmt::format("{} [__recompiles] {}\n", prefix, text);
  };
  std::string log = line(fmt::format("Recompiling function {}", place)) +
                    line("    triggered by the following guard failure(s):");
  for (std::string_view text : failures) log += line(fmt::format("    - {}", text));
  return log;
}
std::string DynamoPrefixOf(std::string_view id, int pid = 4012) {
  return fmt::format("V1124 23:12:41.100000 {} torch/_dynamo/guards.py:2813] [{}]", pid, id);
}

TEST(DynamoLog, EachRecompilation) {
  const std::string log =
      Recompiles(DynamoPrefixOf("0/1"), "step in /home/u/app/train.py:19",
                 {"0/0: tensor 'x' size mismatch at index 0. expected 64, actual 48"}) +
      "loss 2.1\n" +
      Recompiles(DynamoPrefixOf("0/2"), "step in /home/u/app/train.py:19",
                 {"0/1: tensor 'x' size mismatch at index 0. expected 48, actual 17",
                  "0/0: tensor 'x' size mismatch at index 0. expected 64, actual 17"}) +
      Recompiles(DynamoPrefixOf("1/1"), "act in /home/u/app/train.py:40",
                 {"1/0: name == 'relu'    # if name == 'relu':  # app/train.py:42 in act",
                  "User stack trace:", "  File \"/home/u/app/train.py\", line 42, in act",
                  "    if name == 'relu':"});
  const auto in = ImportText(dynamo_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  // The first programs have no message, but later ones name them.
  EXPECT_THAT(in.Rows(kDynamoCompiles),
              ElementsAre("0/0|step|1|-|-|-|-", "0/1|step|0|shape_change|x|64|48",
                          "0/2|step|0|shape_change|x|48|17", "1/0|act|1|-|-|-|-",
                          "1/1|act|0|constant_change|name|'relu'|-"));
  EXPECT_THAT(
      in.Rows("SELECT s.file, s.line FROM compile_reason r JOIN site s ON s.id = r.site_id"),
      ElementsAre("/home/u/app/train.py|42"));
  EXPECT_THAT(in.Rows(kRows), ElementsAre());
  EXPECT_THAT(in.Rows("SELECT pid, rank FROM process"), ElementsAre("4012|-"));
}

// The value is printed with TORCH_LOGS=guards.
TEST(DynamoLog, GuardsTellTheNewValue) {
  const std::string log =
      Recompiles(DynamoPrefixOf("1/1"), "act in train.py:40", {"1/0: n == 2"}) +
      DynamoPrefixOf("1/1") +
      " [__guards] | | +- EQUALS_MATCH: L['n'] == 3              # n + 1  # app/train.py:42 in act\n";
  EXPECT_THAT(ImportText(dynamo_log, log).Rows(kDynamoCompiles),
              ElementsAre("1/0|act|1|-|-|-|-", "1/1|act|0|constant_change|n|2|3"));
}

// At the limit, a message about a recompilation is printed that makes no program.
TEST(DynamoLog, ProgramsThatWereNotMadeAreNoCompiles) {
  const std::string limit = DynamoPrefixOf("0/2") +
                            " torch._dynamo hit config.recompile_limit (2)\n" +
                            DynamoPrefixOf("0/2") + "    function: 'f' (a.py:1)\n" +
                            DynamoPrefixOf("0/2") + "    last reason: 0/1: n == 1\n";
  const std::string failure =
      "W1124 23:12:42.1 4012 torch/_dynamo/convert_frame.py:2493] WON'T CONVERT f a.py line 1\n";
  const std::string first = Recompiles(DynamoPrefixOf("0/1"), "f in a.py:1", {"0/0: n == 0"}),
                    second = Recompiles(DynamoPrefixOf("0/2"), "f in a.py:1",
                                        {"0/1: n == 1", "0/0: n == 0"});
  const auto at_limit = ImportText(dynamo_log, first + second + limit);
  EXPECT_THAT(at_limit.Rows(kDynamoCompiles),
              ElementsAre("0/0|f|1|-|-|-|-", "0/1|f|0|constant_change|n|0|1"));
  EXPECT_THAT(at_limit.Rows(kRows), ElementsAre("f|a.py|1|2|n == 1"));
  EXPECT_THAT(ImportText(dynamo_log, first + second + failure).Rows(kDynamoCompiles),
              ElementsAre("0/0|f|1|-|-|-|-", "0/1|f|0|constant_change|n|0|1"));
}

TEST(DynamoLog, InterleavedProcessesAreToldApart) {
  const auto message = [](int rank, std::string_view size) {
    return Recompiles(
        fmt::format("[rank{}]:V1124 23:12:41.{}00000 {} torch/_dynamo/guards.py:2813] [0/1]", rank,
                    rank, 70 + rank),
        "step in a.py:3",
        {fmt::format("0/0: tensor 'x' size mismatch at index 0. expected 64, actual {}", size)});
  };
  const std::string one = message(0, "48"), two = message(1, "43");
  std::string log;
  size_t in_one = 0, in_two = 0;
  while (in_one < one.size() || in_two < two.size()) {
    for (auto [text, at] : {std::pair(&one, &in_one), std::pair(&two, &in_two)}) {
      const size_t end = std::min(text->find('\n', *at), text->size() - 1) + 1;
      if (*at < text->size()) log += text->substr(*at, end - *at);
      *at = std::max(*at, end);
    }
  }
  const auto in = ImportText(dynamo_log, log);
  EXPECT_THAT(in.Rows("SELECT pid, rank FROM process ORDER BY rank"), ElementsAre("70|0", "71|1"));
  EXPECT_THAT(
      in.Rows("SELECT p.rank, r.before, r.after FROM compile_reason r JOIN compile c ON c.id "
              "= r.compile_id JOIN process p ON p.id = c.process_id ORDER BY p.rank"),
      ElementsAre("0|64|48", "1|64|43"));
}

// Two runs that wrote into one file number their programs alike.
TEST(DynamoLog, NumbersThatBeginAgainAreAnotherRuns) {
  const std::string one = Recompiles("[0/1]", "f in a.py:1", {"0/0: n == 0"}) +
                          Recompiles("[0/2]", "f in a.py:1", {"0/1: n == 1", "0/0: n == 0"});
  const auto in = ImportText(dynamo_log, one + one);
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile GROUP BY process_id"), ElementsAre("3", "3"));
}

TEST(DynamoLog, FunctionsThatCannotBeCompiled) {
  std::string log = "step 1\n";
  for (std::string_view text :
       {"WON'T CONVERT custom /home/u/prog/tc_fails.py line 18 ",
        "due to: ", "Traceback (most recent call last):",
        "  File \"/x/torch/_dynamo/output_graph.py\", line 3292, in _call_user_compiler",
        "    compiled_fn = compiler_fn(gm, example_inputs)",
        "torch._dynamo.exc.BackendCompilerFailed: backend='bad_backend' raised:",
        "RuntimeError: this backend has no kernel for you", "",
        "Set TORCHDYNAMO_VERBOSE=1 for the full Dynamo stack trace"})
    log +=
        fmt::format("W1124 23:39:46.182000 17957 torch/_dynamo/convert_frame.py:2493] {}\n", text);
  EXPECT_GT(dynamo_log.sniff(log), 0);
  EXPECT_EQ(dynamo_log.sniff("He WON'T CONVERT it\n"), 0);
  EXPECT_THAT(ImportText(dynamo_log, log)
                  .Rows("SELECT f.function, s.file, s.line, f.error, f.text FROM compile_failure f "
                        "JOIN site s ON s.id = f.site_id"),
              ElementsAre("custom|/home/u/prog/tc_fails.py|18|BackendCompilerFailed|backend='bad_"
                          "backend' raised:\nRuntimeError: this backend has no kernel for you"));
}

// Regression: a log that begins late has few blocks, but its ids count all recompilations.
TEST(DynamoLog, IdsCountEarlierPrograms) {
  constexpr const char* kEarlier = "SELECT earlier FROM dynamo_recompile ORDER BY id";
  const auto earlier = [&](std::string_view id) {
    const std::string prefix = fmt::format(
        "[rank0]:V0820 17:07:24.3 63 torch/_dynamo/guards.py:3006] {}[__recompiles] ", id);
    const std::string log =
        prefix + "Recompiling function f in a.py:3\n" + prefix + "    - n == 3\n";
    return ImportText(dynamo_log, log).Rows(kEarlier);
  };
  EXPECT_THAT(earlier("[3/36] "), ElementsAre("36"));
  EXPECT_THAT(earlier("[3/36_1] "), ElementsAre("36"));
  EXPECT_THAT(earlier("[!0/3/36] "), ElementsAre("-"));
  EXPECT_THAT(earlier("[3/x] "), ElementsAre("-"));
  EXPECT_THAT(earlier(""), ElementsAre("-"));
}

// Regression: logs of torch 2.0 to 2.2 were not recognised.
TEST(DynamoLog, LogsBeforeTorch23) {
  const std::string mark = "[2023-11-21 19:02:13,073] torch._dynamo.guards.__recompiles: [DEBUG] ";
  const std::string log = "0\n" + mark + "Recompiling function step in train.py:6\n" + mark +
                          "    triggered by the following guard failure(s):\nepoch 1\n" + mark +
                          "    - L['end'] == 10   # for i in range(end):\n1\n";
  EXPECT_GT(dynamo_log.sniff(log), 0);
  EXPECT_THAT(ImportText(dynamo_log, log).Rows(kRows),
              ElementsAre("step|train.py|6|-|L['end'] == 10   # for i in range(end):"));
  const std::string oldest =
      "[2023-04-13 21:42:57,808] torch._dynamo.convert_frame.__recompiles: [DEBUG] ('Recompiling "
      "function step in /x/train.py', \"triggered by the following guard failure: L['t'] == 0\")\n";
  EXPECT_GT(dynamo_log.sniff(oldest), 0);
  EXPECT_THAT(ImportText(dynamo_log, oldest).Rows(kRows),
              ElementsAre("step|/x/train.py|-|-|L['t'] == 0"));
}

TEST(DynamoLog, GraphBreaksHaveTheirPlaces) {
  const auto lines = [](std::string_view id, std::initializer_list<std::string_view> texts) {
    std::string log;
    for (std::string_view text : texts) {
      log += fmt::format(
          "V1124 23:28:41.307000 9520 torch/_dynamo/symbolic_convert.py:611] [{}] "
          "[__graph_breaks] {}\n",
          id, text);
    }
    return log;
  };
  const std::string log =
      lines("0/0",
            {"Graph break in user code at /home/u/train.py:14",
             "Graph Break Reason: Failed to trace builtin operator",
             "  Hint: Avoid calling builtin `print`.", "",
             " For more details about this graph break, please visit: https://x/gb/gb0059.html",
             "User code traceback:", "  File \"/home/u/train.py\", line 28, in main",
             "    loss = block(x)", "  File \"/home/u/train.py\", line 14, in forward", ""}) +
      "epoch 1\n" +
      lines("0/1",
            {"Graph break (user stack suppressed due to duplicate graph break) in user code at "
             "/home/u/train.py:14",
             "Graph Break Reason: Failed to trace builtin operator"}) +
      // Another attempt meets the same break.
      lines("0/1_1",
            {"Graph break (user stack suppressed due to duplicate graph break) in user code at "
             "/home/u/train.py:14",
             "Graph Break Reason: Failed to trace builtin operator"});
  EXPECT_GT(dynamo_log.sniff(log), 0);
  const auto in = ImportText(dynamo_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT s.function, s.file, s.line, b.reason FROM graph_break b JOIN site s "
                      "ON s.id = b.site_id ORDER BY b.ordinal"),
              ElementsAre("forward|/home/u/train.py|14|Failed to trace builtin operator",
                          "forward|/home/u/train.py|14|Failed to trace builtin operator"));
  EXPECT_THAT(in.Rows("SELECT code, hint FROM graph_break ORDER BY ordinal"),
              ElementsAre("gb0059|Avoid calling builtin `print`.", "-|-"));
}

TEST(DynamoLog, CutAndEmptyLogs) {
  EXPECT_THAT(ImportText(dynamo_log,
                         "torch._dynamo hit config.recompile_limit (8)\n   function: 'f' (a.py:1)")
                  .Rows(kRows),
              ElementsAre("f|a.py|1|8|-"));
  EXPECT_FALSE(
      ImportText(dynamo_log, "torch._dynamo hit config.recompile_limit (8)\n").status.ok());
  EXPECT_FALSE(ImportText(dynamo_log, DynamoPrefixOf("0/1") +
                                          " [__recompiles] Recompiling function f in a.py:1\n")
                   .status.ok());
  EXPECT_FALSE(ImportText(dynamo_log, "hello\n").status.ok());
}

// With TORCH_LOGS=guards, the log has the whole shape of a tensor whose size differs.
TEST(DynamoLog, ShapesInGuards) {
  const auto guard = [](std::string_view id, std::string_view shape) {
    return fmt::format(
        "{} [__guards] | | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU), "
        "torch.float32, device=None, requires_grad=False, size=[{}], stride=[1])  # f(x)\n",
        DynamoPrefixOf(id), shape);
  };
  const auto recompiles = [](std::string_view id, std::string_view failure) {
    return Recompiles(DynamoPrefixOf(id), "step in /x/train.py:19", {failure});
  };
  const std::string first =
      recompiles("0/1", "0/0: tensor 'x' size mismatch at index 1. expected 64, actual 48");
  const auto values = [](const std::string& log) {
    return ImportText(dynamo_log, log).Rows("SELECT before, after FROM compile_reason");
  };
  EXPECT_THAT(values(guard("0/0_1", "8, 64") + first + guard("0/1", "8, 48")),
              ElementsAre("f32[8,64]|f32[8,48]"));
  // A dynamic dimension has no size.
  EXPECT_THAT(values(guard("0/0", "8, 64") + first + guard("0/1", "None, None")),
              ElementsAre("f32[8,64]|f32[?,48]"));
  // Without the shapes of both programs, and with others, only the sizes are certain.
  for (const std::string& log :
       {guard("0/0", "8, 64") + first, first + guard("0/1", "8, 48"),
        guard("0/0", "8, 32") + first + guard("0/1", "8, 48"),
        guard("0/0", "64") + first + guard("0/1", "8, 48"),
        guard("0/0", "8, 64") + guard("0/0", "9, 64") + first + guard("0/1", "8, 48"),
        guard("0/0", "8, what") + first + guard("0/1", "8, 48")})
    EXPECT_THAT(values(log), ElementsAre("64|48")) << log;
}

// A log that ends inside a message is cut.
TEST(DynamoLog, LogThatEndsInsideAMessage) {
  const auto recompiles = [](std::string_view id) {
    return Recompiles(DynamoPrefixOf(id), "step in /x/train.py:19",
                      {"0/0: tensor 'x' size mismatch at index 0. expected 24, actual 31"});
  };
  const auto guards = [](std::string_view id, std::string_view text) {
    return fmt::format("{} [__guards] {}\n", DynamoPrefixOf(id), text);
  };
  const auto cut_at = [](const std::string& log) {
    return ImportText(dynamo_log, log).Rows("SELECT code, first_line FROM import_issue");
  };
  const std::string log = guards("0/0", "TREE_GUARD_MANAGER:") +
                          guards("0/0", "| +- EQUALS_MATCH: L['n'] == 2") +
                          guards("0/0", "Guard eval latency = 91.87 us") + recompiles("0/1");
  const std::string begun = guards("0/1", "TREE_GUARD_MANAGER:");
  EXPECT_THAT(cut_at(log), IsEmpty());
  // People paste a text without the end of its last line.
  EXPECT_THAT(cut_at(log.substr(0, log.size() - 1)), IsEmpty());
  EXPECT_THAT(cut_at(log + "step 3"), IsEmpty());
  EXPECT_THAT(cut_at(log + begun), ElementsAre("cut_file|7"));
  EXPECT_THAT(cut_at(log + begun.substr(0, begun.find("torch/"))), ElementsAre("cut_file|7"));
  EXPECT_THAT(cut_at(log + begun.substr(0, begun.find("TREE"))), ElementsAre("cut_file|7"));
  EXPECT_THAT(cut_at(log + begun + guards("0/1", "Guard eval latency = 91.87 us")), IsEmpty());
  const std::string next = recompiles("0/2");
  const size_t second = next.find('\n') + 1;
  EXPECT_THAT(cut_at(log + next.substr(0, second)), ElementsAre("cut_file|7"));
  EXPECT_THAT(cut_at(log + next.substr(0, next.find('\n', second) + 1)), ElementsAre("cut_file|8"));
  // torch 2.9 does not print how long guards take, or a filter removed it.
  EXPECT_THAT(cut_at(recompiles("0/1") + begun), IsEmpty());
}

}  // namespace
}  // namespace xlaprof
