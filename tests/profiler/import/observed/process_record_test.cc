#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer process_record;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kBegin =
    R"(["process",1,4711,4700,3,"vm",["python","train.py"],1000000000000000000])"
    "\n";
constexpr const char* kCodes =
    R"(["code",0,"<module>","/home/user/train.py"]
["code",1,"load","/home/user/data.py"]
["frame",0,-1,0,30]
["frame",1,0,1,12]
["frame",2,0,1,14]
["thread",4711,"MainThread"]
)";

std::string Record(std::initializer_list<std::string_view> parts) {
  std::string text(kBegin);
  for (std::string_view part : parts) text.append(part);
  return text;
}

std::string Samples(int64_t after_ms, int frame) {
  return fmt::format("[\"samples\",{},50000000,4711,{}]\n",
                     1000000000000000000 + after_ms * 1'000'000, frame);
}

TEST(ProcessRecord, SniffsByItsBytes) {
  EXPECT_GT(process_record.sniff(kBegin), 90);
  EXPECT_GT(process_record.sniff(R"(["run",1,["true"],5])"), 90);
  EXPECT_EQ(process_record.sniff(R"(["process",2,)"), 0);
  EXPECT_EQ(process_record.sniff("[\"traceEvents\""), 0);
}

TEST(ProcessRecord, ReadsTheTimesOfCompilations) {
  auto in = ImportText(process_record,
                       Record({R"(["compiles",0,1000000002000000000,300,1000000003000000000,400]
["compiles",2,1000000004000000000,500,1000000005000000000,-1]
["compiles",-1,1000000004000000000,500]
["compiles",null,"x"]
)"}));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT c.ordinal, c.ts_ns + c.dur_ns - p.ts_ns, c.dur_ns FROM "
                      "observed_compile c, observed_process p ORDER BY c.ordinal"),
              ElementsAre("0|2000000000|300", "1|3000000000|400", "2|4000000000|500"));
}

TEST(ProcessRecord, ReadsTheProcess) {
  auto in =
      ImportText(process_record, Record({R"(["state",1000000002000000000,40,"step_mark",3,5000,70]
["profile","steady",1000000001000000000,1000000001500000000,8,20,null]
["state",1000000003000000000,60,"step_mark",3,9000,80]
["problem","ValueError: first"]
["problem","ValueError: second"]
["a kind of a newer version",5]
["end",1000000003100000000]
)"}));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT pid, rank, host FROM process"), ElementsAre("4711|3|vm"));
  EXPECT_THAT(
      in.Rows("SELECT command, dur_ns, ended, steps, step_unit, cpu_ns, own_cpu_ns, problem "
              "FROM observed_process"),
      ElementsAre("python train.py|3100000000|1|60|step_mark|9000|80|ValueError: first"));
  EXPECT_THAT(in.Rows("SELECT profile_moment, profile_ts_ns - ts_ns, profile_dur_ns, "
                      "profile_first_step, profile_end_step FROM observed_process"),
              ElementsAre("steady|1000000000|500000000|8|20"));
  EXPECT_THAT(in.Rows("SELECT p.ts_ns - o.ts_ns, p.steps, p.compiles FROM observed_progress p, "
                      "observed_process o USING (process_id) ORDER BY 1"),
              ElementsAre("2000000000|40|3", "3000000000|60|3"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
}

TEST(ProcessRecord, SamplesAreEventsOfTheirFrames) {
  auto in = ImportText(process_record, Record({kCodes, Samples(100, 1), Samples(150, 1),
                                               Samples(200, 2), Samples(250, 0)}));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT kind, name, tid FROM track"),
              ElementsAre("samples|MainThread (sampled)|4711"));
  EXPECT_THAT(
      in.Rows("SELECT name, ts_ns / 1000000, dur_ns / 1000000, depth, category FROM event "
              "ORDER BY ts_ns, depth"),
      ElementsAre("<module> (train.py:30)|100|200|0|sample", "load (data.py:12)|100|100|1|sample",
                  "load (data.py:14)|200|50|1|sample"));
  EXPECT_THAT(
      in.Rows("SELECT s.ts_ns / 1000000, s.dur_ns / 1000000, f.function, f.line, f.owner "
              "FROM host_sample s JOIN frame f ON f.stack_id = s.stack_id WHERE f.depth = 0 "
              "ORDER BY 1"),
      ElementsAre("100|50|load|12|user", "150|50|load|12|user", "200|50|load|14|user",
                  "250|50|<module>|30|user"));
}

// The folders of the interpreter come before what paths look like.
TEST(ProcessRecord, TheInterpretersFoldersDecideWhoseAFileIs) {
  auto in = ImportText(process_record, Record({R"(["python",["/opt/x/std"],["/opt/x/pkg"]]
["code",0,"<module>","/home/user/lib/python3-course/train.py"]
["code",1,"step","/opt/x/pkg/torch/optim/adam.py"]
["code",2,"wait","/opt/x/std/threading.py"]
["frame",0,-1,0,30]
["frame",1,0,1,12]
["frame",2,1,2,14]
["thread",4711,"MainThread"]
)",
                                               Samples(100, 2), Samples(150, 2)}));
  EXPECT_THAT(in.Rows("SELECT function, owner FROM frame ORDER BY depth"),
              ElementsAre("wait|python", "step|optimizer", "<module>|user"));
}

// A thread that is not sampled for long did not stay in the same function.
TEST(ProcessRecord, ASampleStandsForTwoPeriodsAtMost) {
  auto in = ImportText(process_record, Record({kCodes, Samples(100, 0), Samples(900, 0)}));
  EXPECT_THAT(in.Rows("SELECT ts_ns / 1000000, dur_ns / 1000000 FROM host_sample"),
              ElementsAre("100|100", "900|50"));
  EXPECT_THAT(in.Rows("SELECT ts_ns / 1000000, dur_ns / 1000000 FROM event ORDER BY ts_ns"),
              ElementsAre("100|100", "900|50"));
}

TEST(ProcessRecord, AKilledProcessLeavesAPartOfALine) {
  auto in = ImportText(process_record, Record({kCodes, Samples(100, 0), "[\"samples\",10000"}));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT ended, dur_ns FROM observed_process"), ElementsAre("0|100000000"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
}

TEST(ProcessRecord, LeavesOutWhatDoesNotFit) {
  auto in = ImportText(process_record, Record({kCodes, "no JSON\n[]\n{}\n", Samples(100, 7),
                                               R"(["frame",9,0,1,1]
["frame",3,3,0,1]
["code",7,"f","g"]
["samples",9223372036854775807,50,4711,0]
["samples",-9223372036854775808,50,4711,0]
["samples",1000000000100000000,-5,4711,0]
["samples",1000000000100000000,9223372036854775807,4711,0]
["samples",1000000000300000000,9223372036854775807,4711,"x"]
["state",null]
["profile"]
)"}));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue ORDER BY code"),
              ElementsAre("invalid_json|3", "odd_sample|5"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM host_sample"), ElementsAre("1"));
}

TEST(ProcessRecord, ReadsTheCommand) {
  auto in = ImportText(process_record, R"(["run",1,["python","train.py"],5]
["environment",{"XLA_FLAGS":"x"}]
["end",900,137,9,30]
)");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT key, value FROM meta WHERE key LIKE 'command%' ORDER BY key"),
      ElementsAre("command|python train.py", "command_exit_status|137", "command_signal|9"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM observed_process"), ElementsAre("0"));
}

TEST(ProcessRecord, RefusesAFileWithoutItsFirstLine) {
  EXPECT_FALSE(ImportText(process_record, std::string(kCodes)).status.ok());
  EXPECT_FALSE(ImportText(process_record, R"(["process",1,4711])"
                                          "\n")
                   .status.ok());
}

}  // namespace
}  // namespace xlaprof
