// Tests XLA's alarms about slow operations, alone and inside other logs.
#include <gmock/gmock.h>

#include "profiler/import/formats.h"
#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect xla_log, jax_log, debug_log, metrics_report;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAlarms =
    "SELECT operation, subject, op, shape, scope, s.file, s.line, least_ns, dur_ns FROM "
    "compile_alarm a LEFT JOIN site s ON s.id = a.site_id ORDER BY a.id";

std::string Rings(const std::string& body, int line = 65) {
  return fmt::format(
      "2025-01-02 10:00:00.100000: E external/xla/xla/service/slow_operation_alarm.cc:{}] {}\n",
      line, body);
}
std::string Ends(const std::string& took, const std::string& body) {
  return Rings(fmt::format("The operation took {}\n{}", took, body), 133);
}
std::string Folding(const std::string& instruction, const std::string& least = "1s") {
  return fmt::format(
      "Constant folding an instruction is taking > {}:\n\n  {}\n\nThis isn't necessarily a bug; "
      "constant-folding is a trade-off.\n\nIf you'd like to file a bug, run with envvar "
      "XLA_FLAGS=--xla_dump_to=/tmp/foo and attach the results.",
      least, instruction);
}
std::string Module(const std::string& name) {
  return fmt::format(
      "\n********************************\n[Compiling module {}] Very slow compile? If you want to "
      "file a bug, run with envvar XLA_FLAGS=--xla_dump_to=/tmp/foo and attach the "
      "results.\n********************************",
      name);
}
const std::string kReduce =
    "%reduce.8 = f64[2000,10]{1,0} reduce(f64[2000,10,10]{2,1,0} %broadcast.2, f64[] %constant.3), "
    "dimensions={2}, to_apply=%region_0.4, metadata={op_name=\"jit(f)/jit(main)/reduce_sum\" "
    "source_file=\"/home/ann/f.py\" source_line=13}";

std::vector<std::string> Alarms(const std::string& text) {
  return ImportText(xla_log, text).Rows(kAlarms);
}

TEST(XlaLog, AnInstructionThatIsFoldedHasItsLineAndLength) {
  const std::string log =
      "epoch 1\n" + Rings(Folding(kReduce)) + "loss 0.5\n" + Ends("6.728977s", Folding(kReduce));
  const std::string row =
      "constant_folding|reduce.8|reduce|f64[2000,10]{1,0}|jit(f)/jit(main)|/home/ann/f.py|13|"
      "1000000000|6728977000";
  EXPECT_THAT(Alarms(log), ElementsAre(row));
  EXPECT_EQ(RecognisedDialect(log), &xla_log);
  auto in = ImportText(xla_log, log);
  EXPECT_THAT(in.Rows("SELECT line FROM provenance"), ElementsAre("2"));
}

// The innermost frame belongs to a library, so the user cannot change that line.
TEST(XlaLog, LinesOfLibrariesAreNoSites) {
  std::string library = kReduce;
  library.replace(library.find("/home/ann/f.py"), 14, "/v/lib/python3.11/site-packages/ops.py");
  EXPECT_THAT(Alarms(Rings(Folding(library))), ElementsAre(HasSubstr("jit(f)/jit(main)|-|-|")));
}

TEST(XlaLog, InstructionsThatAreNotShown) {
  const std::string hidden =
      "slice.22 (displaying the full instruction incurs a runtime overhead. Raise your logging "
      "level to 4 or above).";
  EXPECT_THAT(Alarms(Rings(Folding(hidden, "8s"))),
              ElementsAre("constant_folding|slice.22|slice|-|-|-|-|8000000000|-"));
}

// Two operations with the same name run at once, and one ends without having raised an alarm
// because the log begins late.
TEST(XlaLog, EndsBelongToWhatRang) {
  EXPECT_THAT(Alarms(Rings(Module("jit_f.9"), 73) + Rings(Module("jit_f.9"), 73) +
                     Rings(Module("jit_g.1"), 73) + Ends("2m12.5s", Module("jit_f.9")) +
                     Ends("1h2m3s", Module("jit_h"))),
              ElementsAre("compile|jit_f|-|-|-|-|-|120000000000|132500000000",
                          "compile|jit_f|-|-|-|-|-|120000000000|-",
                          "compile|jit_g|-|-|-|-|-|120000000000|-",
                          "compile|jit_h|-|-|-|-|-|120000000000|3723000000000"));
}

// Until 2022 the module was below the text of the alarm, and before 2021 it was not printed.
TEST(XlaLog, OlderWordsForACompilation) {
  const std::string words =
      "\n********************************\nVery slow compile?  If you want to file a bug, run with "
      "envvar XLA_FLAGS=--xla_dump_to=/tmp/foo and attach the results.\n";
  const std::string stars = "********************************";
  EXPECT_THAT(Alarms(Rings(words + stars) + "Reg: none\n" +
                     Rings(words + "Compiling module jit_apply__1.142816\n" + stars)),
              ElementsAre("compile|-|-|-|-|-|-|120000000000|-",
                          "compile|jit_apply__1|-|-|-|-|-|120000000000|-"));
}

TEST(XlaLog, KernelsThatAreTried) {
  auto tries = [](const std::string& what) {
    return Ends("1.331s", "Trying algorithm eng47{k2=3} for " + what + " is taking a while...");
  };
  EXPECT_THAT(
      Alarms(
          tries("%conv.1 = (f32[2,3]{1,0}, u8[0]{0}) custom-call(f32[2,3]{1,0} %a), "
                "metadata={op_name=\"jit(f)/conv\" source_file=\"m.py\" source_line=7}") +
          tries("conv (f32[1,16]{1,0}, u8[0]{0}) custom-call(f32[1,32]{1,0}), window={size=5x5}, "
                "dim_labels=bf01_oi01->bf01, custom_call_target=\"__cudnn$convBackwardInput\", "
                "backend_config={\"activation_mode\":\"kNone\"}") +
          tries("it")),
      ElementsAre("autotuning|eng47{k2=3}|custom-call|f32[2,3]{1,0}|jit(f)|m.py|7|-|1331000000",
                  "autotuning|eng47{k2=3}|convBackwardInput|f32[1,16]{1,0}|-|-|-|-|1331000000",
                  "autotuning|eng47{k2=3}|-|-|-|-|-|-|1331000000"));
}

// Loggers put prefixes before each line (Ray, pods, a progress bar before the time).
TEST(XlaLog, PrefixesOfLines) {
  std::string text =
                  "  5%|# | 1/9 [00:01]" + Rings(Folding(kReduce)) + Ends("3s", Folding(kReduce)),
              prefixed;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    prefixed += "(Worker pid=94) " + text.substr(at, end - at);
    at = end;
  }
  EXPECT_THAT(Alarms(prefixed), ElementsAre(HasSubstr("|/home/ann/f.py|13|1000000000|3000000000")));
}

// A filter left only the ends. After the last one, words may have been cut off.
TEST(XlaLog, EndsWithoutWords) {
  const std::string took = "E slow_operation_alarm.cc:133] The operation took 5s\n";
  EXPECT_THAT(Alarms(Rings(Folding(kReduce)) + took + took),
              ElementsAre(HasSubstr("|1000000000|-"), "other|-|-|-|-|-|-|-|5000000000"));
  EXPECT_THAT(ImportText(xla_log, took + took).Rows("SELECT code, first_line FROM import_issue"),
              ElementsAre("cut_file|2"));
}

// A program's own similar output is not XLA's. XLA's alarms that we do not know are kept as they
// are.
TEST(XlaLog, UnknownWords) {
  EXPECT_THAT(Alarms("The operation took 95s\nsaving\n" + Rings(Module("jit_f"), 73)),
              ElementsAre("compile|jit_f|-|-|-|-|-|120000000000|-"));
  const std::string gil = "Acquiring the GIL in f took longer than 20s";
  auto in = ImportText(xla_log, Rings(gil, 73) + "loss 1\n" + Ends("25s", gil));
  EXPECT_THAT(in.Rows("SELECT operation, dur_ns, text FROM compile_alarm"),
              ElementsAre("other|25000000000|" + gil));
}

// Four ranks print into one file, line by line.
TEST(XlaLog, ProcessesAreToldApart) {
  std::string log;
  for (const std::string& text : {Rings(Module("jit_f.9"), 73), Ends("2m5s", Module("jit_f.9"))}) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at) + 1;
      for (int rank : {0, 1, 2, 3})
        log += fmt::format("[rank{}]: {}", rank, text.substr(at, end - at));
      at = end;
    }
  }
  EXPECT_THAT(Alarms(log),
              testing::AllOf(
                  testing::SizeIs(4),
                  testing::Each(HasSubstr("compile|jit_f|-|-|-|-|-|120000000000|125000000000"))));
  auto in = ImportText(xla_log, log);
  EXPECT_THAT(in.Rows("SELECT rank FROM process p JOIN compile_alarm a ON a.process_id = p.id "
                      "ORDER BY rank"),
              ElementsAre("0", "1", "2", "3"));
  in =
      ImportText(jax_log,
                 "[rank1]: Compiling jit(g) with global shapes and types (ShapedArray(f32[2])).\n"
                 "[rank0]: Compiling jit(g) with global shapes and types (ShapedArray(f32[2])).\n" +
                     log);
  EXPECT_THAT(in.Rows("SELECT rank, count(*) FROM process p JOIN compile_alarm a ON a.process_id = "
                      "p.id GROUP BY rank ORDER BY rank"),
              ElementsAre("0|1", "1|1", "2|1", "3|1"));
}

// A log of training that was slow to compile printed its metrics when it ended.
TEST(XlaLog, WhatOthersReadMayStandAtTheEnd) {
  std::string steps;
  for (int i = 0; i < 20'000; ++i) steps += fmt::format("step {}\n", i);
  EXPECT_EQ(RecognisedDialect(Rings(Module("f"), 73) + steps + "Counter: MarkStep\n  Value: 3\n"),
            &metrics_report);
  EXPECT_EQ(RecognisedDialect(Rings(Module("f"), 73) + steps), &xla_log);
}

TEST(XlaLog, MemoryIsBounded) {
  std::string log;
  for (int i = 0; i < 120'000; ++i)
    log += fmt::format("Trying algorithm {} for x is taking a while...\n", i);
  auto in = ImportText(xla_log, log);
  EXPECT_THAT(in.Rows("SELECT count(*) FROM compile_alarm"), ElementsAre("100000"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("many_alarms|20000"));
}

TEST(XlaLog, LogsOfOthersHoldThemToo) {
  const std::string alarm = Rings(Folding(kReduce)) + Ends("4s", Folding(kReduce));
  const std::pair<const Dialect*, std::string> logs[] = {
      {&jax_log, "Compiling jit(f) with global shapes and types (ShapedArray(float32[2])).\n" +
                     alarm + "Finished XLA compilation of jit(f) in 4.2 sec\n"},
      {&debug_log, alarm + "pt-xla-profiler: TransferFromDeviceTime too frequent: 11 counts during "
                           "11 steps\n"},
      {&metrics_report, alarm + "Counter: MarkStep\n  Value: 3\n"}};
  for (const auto& [importer, text] : logs) {
    EXPECT_EQ(RecognisedDialect(text), importer);
    EXPECT_THAT(ImportText(*importer, text).Rows(kAlarms),
                ElementsAre(HasSubstr("|1000000000|4000000000")))
        << importer->name;
  }
}

// Pasted text often lacks the last line end. Lines that are certainly whole are read.
TEST(XlaLog, TheLastLineMayHaveNoEnd) {
  const std::string head =
      "E slow_operation_alarm.cc:65] Constant folding an instruction is taking > 1s:\n\n";
  const std::string row = "constant_folding|reduce.8|reduce|f64[2000,10]{1,0}|jit(f)/jit(main)|";
  EXPECT_THAT(Alarms(head + kReduce), ElementsAre(row + "/home/ann/f.py|13|1000000000|-"));
  EXPECT_THAT(Alarms(head + kReduce.substr(0, kReduce.find("000"))), ElementsAre());
  EXPECT_THAT(Alarms(head + kReduce.substr(0, kReduce.find("13}"))), ElementsAre());
  const std::string slow =
      "E slow_operation_alarm.cc:73] [Compiling module jit_f] Very slow compile?";
  EXPECT_THAT(Alarms(slow), ElementsAre(HasSubstr("compile|jit_f|")));
}

// A question quotes one line, without the stars and the place in XLA's code.
TEST(XlaLog, OneLineIsAnAlarm) {
  const std::string sentence =
      "Very slow compile?  If you want to file a bug, run with envvar "
      "XLA_FLAGS=--xla_dump_to=/tmp/foo and attach the results.";
  const std::string named = "`[trainer/0] [Compiling module jit_step.8] " + sentence + "`";
  EXPECT_EQ(RecognisedDialect(named), &xla_log);
  EXPECT_THAT(Alarms(named), ElementsAre(HasSubstr("compile|jit_step|")));
  EXPECT_THAT(Alarms("It says\n" + sentence), ElementsAre(HasSubstr("compile|-|")));
  EXPECT_EQ(RecognisedDialect("[Compiling module jit_step.8] Very slow compile?  If you"),
            &xla_log);
}

// An XLA debug build has its own limit and words.
TEST(XlaLog, AnXlaWithoutOptimization) {
  const std::string words =
      "Slow compile?  XLA was built without compiler optimizations, which can be slow.  Try "
      "rebuilding with -c opt.";
  const std::string stars = "\n********************************\n";
  const char* row = "unoptimized_compile|-|-|-|-|-|-|10000000000|-";
  EXPECT_THAT(Alarms(Rings(stars + words + stars, 55)), ElementsAre(row));
  EXPECT_THAT(Alarms(words), ElementsAre(row));
  EXPECT_EQ(RecognisedDialect(words), &xla_log);
}

// The pasted text stops after the duration, or within the words below it.
TEST(XlaLog, AnEndWithoutItsWordsIsOfWhatRings) {
  const std::string hidden = Folding("pad.3 (displaying the full instruction incurs a cost).");
  const std::string end = "E slow_operation_alarm.cc:133] The operation took 19.25s";
  const std::string row = "constant_folding|pad.3|pad|-|-|-|-|1000000000|";
  for (const char* rest :
       {"", "\n", "\nConstant", "\nConstant folding an instr\n", "\n```\nWhy?\n"})
    EXPECT_THAT(Alarms(Rings(hidden) + end + rest), ElementsAre(row + "19250000000")) << rest;
  // It is not known which of the two operations ended, or whose words these were.
  EXPECT_THAT(Alarms(Rings(hidden) + Rings(Folding(kReduce)) + end + "\nConstant"),
              ElementsAre(row + "-", HasSubstr("|1000000000|-")));
  EXPECT_THAT(Alarms(Rings(hidden) + end + "\nTrying"), ElementsAre(row + "-"));
  EXPECT_THAT(Alarms(Rings(hidden) + "The operation took 19.25s"), ElementsAre(row + "-"));
}

TEST(XlaLog, DamagedAndForeignText) {
  const std::string log = Rings(Folding(kReduce)) + Ends("6.7s", Folding(kReduce)) +
                          Rings(Module("jit_f.9"), 73) + Ends("2m1s", Module("jit_f.9"));
  for (size_t size = 0; size <= log.size(); size += 3) {
    for (const std::string& row : Alarms(log.substr(0, size)))
      EXPECT_THAT(row, testing::Not(HasSubstr("other")));
  }
  // These are not valid times.
  for (const char* took : {"", "soon", "-5s", "inf", "99999999999999h", "1e5s"})
    EXPECT_THAT(Alarms(Ends(took, Folding(kReduce))), ElementsAre(HasSubstr("|1000000000|-")));
  auto in = ImportText(xla_log, "slow_operation_alarm.cc:65] \nnothing\n");
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("It contains 'slow_operation_alarm.cc:'"));
  EXPECT_EQ(RecognisedDialect("Is it a Very slow compile? No.\n"), nullptr);
}

}  // namespace
}  // namespace xlaprof
