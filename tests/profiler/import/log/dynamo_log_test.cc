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

TEST(DynamoLog, EachRecompilation) {
  std::string log;
  for (int i = 1; i <= 2; ++i) {
    const std::string prefix = fmt::format(
        "V1124 23:12:4{}.1 4012 torch/_dynamo/guards.py:2813] [0/{}] [__recompiles] ", i, i);
    log +=
        prefix + "Recompiling function step in /home/u/app/train.py:19\n" + prefix +
        "    triggered by the following guard failure(s):\n" + prefix +
        fmt::format("    - 0/{}: tensor 'x' dtype mismatch. expected Half, actual Float\n", i - 1) +
        prefix + "    - 0/9: another\n";
  }
  const auto in = ImportText(dynamo_log, log);
  ASSERT_TRUE(in.status.ok()) << in.status;
  const std::string row =
      "step|/home/u/app/train.py|19|-|tensor 'x' dtype mismatch. expected Half, actual Float";
  EXPECT_THAT(in.Rows(kRows), ElementsAre(row, row));
}

// Regression: a log that begins late has few blocks, but its ids count all recompilations.
TEST(DynamoLog, IdsCountEarlierPrograms) {
  constexpr const char* kEarlier = "SELECT earlier FROM dynamo_recompile ORDER BY id";
  const auto earlier = [&](std::string_view id) {
    const std::string prefix = fmt::format(
        "[rank0]:V0820 17:07:24.3 63 torch/_dynamo/guards.py:3006] {}[__recompiles] ", id);
    return ImportText(dynamo_log, prefix + "Recompiling function f in a.py:3\n").Rows(kEarlier);
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
  EXPECT_FALSE(ImportText(dynamo_log, "hello\n").status.ok());
}

}  // namespace
}  // namespace xlaprof
