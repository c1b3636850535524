// Tests programs that are recorded because of an environment variable.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <regex>

#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RecordedProgram : public ProgramTest {
 protected:
  // Runs the program with `environment` before it and `arguments` after it.
  Ran RunRecorded(const std::string& environment, const std::string& arguments = "") {
    return RunShell(fmt::format("{} XLAPROF_PROGRAM={} {} {}", environment, XLAPROF_PROGRAM,
                                XLAPROF_RECORDED_PROGRAM, arguments),
                    folder_);
  }
  // Returns the names of the files in a directory below the test's own, without process numbers.
  std::vector<std::string> FilesIn(const std::string& name) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name))
      files.push_back(
          std::regex_replace(entry.path().filename().string(), std::regex("[.][0-9]{2,}"), ".PID"));
    std::sort(files.begin(), files.end());
    return files;
  }
};

TEST_F(RecordedProgram, IsAsItIsWithoutTheEnvironment) {
  Ran ran = RunRecorded("");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "");
}

TEST_F(RecordedProgram, RecordsToAPath) {
  Ran ran = RunRecorded("XLAPROF_RECORD=run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread, 0 dropped"));
  ran = Run("query run.xlaprof \"SELECT name, count(*) FROM event GROUP BY name\"");
  EXPECT_THAT(ran.out, HasSubstr("compute"));
  ran = RunRecorded("XLAPROF_RECORD=run.xlaprof");
  EXPECT_EQ(ran.status, 0) << "the program itself must not fail";
  EXPECT_THAT(ran.out, HasSubstr("already exists"));
}

// Regression: a forked child lost everything that it recorded, without a word.
TEST_F(RecordedProgram, AForkedChildRecordsIntoTheFolder) {
  const Ran ran = RunRecorded("XLAPROF_RECORD=runs/", "fork");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(FilesIn("runs"),
              ElementsAre("recorded_program.PID.xlaprof", "recorded_program.PID.xlaprof"));
  const Ran counts =
      Run("query runs \"SELECT name, count(*) FROM event GROUP BY name\" --format csv");
  EXPECT_THAT(counts.out, HasSubstr("in the child,500\n"));
  EXPECT_THAT(counts.out, HasSubstr("compute,5\n"));
}

TEST_F(RecordedProgram, EventsOfAForkedChildAreCounted) {
  const Ran ran = RunRecorded("XLAPROF_RECORD=run.xlaprof", "fork");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("500 events of forked processes are not recorded"));
  EXPECT_THAT(Run("report run.xlaprof --all").out, HasSubstr("forked from this one"));
}

// Regression: nobody counted or reported the events of a child that went on after its parent.
TEST_F(RecordedProgram, EventsOfAChildThatOutlivesItsParentAreCounted) {
  for (const std::string word : {"outlive", "daemon", "vanish"}) {
    const std::string store = word + ".xlaprof";
    RunRecorded("XLAPROF_RECORD=" + store, word);  // until the child has closed its output
    const std::string told = store + " lacks 500 events of forked processes";
    EXPECT_EQ(Content("stderr.txt").find(told) != std::string::npos, word == "outlive") << word;
    const auto query = [&](const std::string& sql) {
      return Run(fmt::format("query {} --format csv \"{}\"", store, sql)).out;
    };
    EXPECT_THAT(query("SELECT code, count FROM import_issue WHERE code = 'forked_events'"),
                HasSubstr("forked_events,500\n"));
    EXPECT_THAT(query("SELECT name, count(*) FROM event GROUP BY name"), HasSubstr("compute,5\n"));
  }
}

// The process that left this ring was not killed. Its recording ended before its child did.
TEST_F(RecordedProgram, ACountThatALaterChildLeftIsNoKilledRecording) {
  RunRecorded("XLAPROF_RECORD=run.xlaprof", "vanish");
  Ran ran = Run("report run.xlaprof --all");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("forked from this one"), HasSubstr("lacks events of forked"),
                             Not(HasSubstr("was killed"))));
  EXPECT_THAT(
      Run("recover run.xlaprof").out,
      HasSubstr("run.xlaprof: lacks 500 events of forked processes, which are now counted"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.xlaprof.ring"));
  ran = Run("report run.xlaprof --all");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("forked from this one"), Not(HasSubstr("lacks events of"))));
  // The recording in a temporary store ended with its report.
  std::filesystem::create_directory(folder_ / "tmp");
  RunRecorded("TMPDIR=tmp XLAPROF_REPORT=1", "vanish");
  EXPECT_THAT(FilesIn("tmp"), testing::IsEmpty());
}

TEST_F(RecordedProgram, TheLimitOfRingsComesFromTheEnvironment) {
  EXPECT_THAT(RunRecorded("XLAPROF_RING_BYTES=many XLAPROF_RECORD=a.xlaprof").out,
              HasSubstr("XLAPROF_RING_BYTES=many: must be a number of bytes of at least 4096"));
  const Ran ran = RunRecorded("XLAPROF_RING_BYTES=5000 XLAPROF_RECORD=run.xlaprof");
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread, 0 dropped"));
}

TEST_F(RecordedProgram, IsRecoveredToAnotherFile) {
  RunRecorded("XLAPROF_RECORD=run.xlaprof", "kill");
  ASSERT_TRUE(std::filesystem::exists(folder_ / "run.xlaprof.ring"));
  Ran ran = Run("recover run.xlaprof -o run.xlaprof.ring --force");
  EXPECT_THAT(ran.out, HasSubstr("this file is being read"));
  ran = Run("recover run.xlaprof -o whole.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("xlaprof report whole.xlaprof"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run.xlaprof.ring"));
  EXPECT_THAT(Run("query whole.xlaprof \"SELECT count(*) FROM event\"").out, HasSubstr("16"));
  EXPECT_EQ(Run("recover run.xlaprof -o whole.xlaprof").status, 2);
}

TEST_F(RecordedProgram, PrintsItsReport) {
  Ran ran = RunRecorded("XLAPROF_REPORT=1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("recorded_program"));
  EXPECT_THAT(ran.out, HasSubstr("5 steps"));
}

TEST_F(RecordedProgram, CategoriesAreSwitchedByTheEnvironment) {
  const Ran ran = RunRecorded("XLAPROF_RECORD=run.xlaprof XLAPROF_CATEGORIES=-math");
  EXPECT_THAT(ran.out, HasSubstr("10 events of 1 thread, 0 dropped"));
  EXPECT_THAT(
      Run("query run.xlaprof \"SELECT DISTINCT name FROM event ORDER BY name\" --format csv").out,
      HasSubstr("load\ntrain\n"));
}

// The report's program is found where it was installed with the recorded program: in the same folder,
// or in bin beside it.
TEST_F(RecordedProgram, FindsTheProgramOfItsPrefix) {
  const auto ran = [&](const std::string& name) {
    return RunShell("env -u XLAPROF_PROGRAM PATH=/nowhere XLAPROF_REPORT=1 ./" + name, folder_);
  };
  ASSERT_EQ(
      RunShell("mkdir -p bin lib/tools && cp " XLAPROF_RECORDED_PROGRAM
               " lib/tools/recorded && ln -s tools/recorded lib/link && mkdir lib/tools/xlaprof",
               folder_)
          .status,
      0);
  EXPECT_THAT(ran("lib/tools/recorded").out, HasSubstr("cannot run `xlaprof report"));
  Write("bin/xlaprof", "#!/bin/sh\necho of the prefix: $1\n");
  EXPECT_THAT(ran("lib/tools/recorded").out, HasSubstr("cannot run")) << "it is not executable";
  ASSERT_EQ(RunShell("chmod +x bin/xlaprof", folder_).status, 0);
  EXPECT_THAT(ran("lib/tools/recorded").out, HasSubstr("of the prefix: report"));
  EXPECT_THAT(ran("lib/link").out, HasSubstr("of the prefix: report"));
  ASSERT_EQ(RunShell("cp " XLAPROF_RECORDED_PROGRAM " bin/recorded", folder_).status, 0);
  EXPECT_THAT(ran("bin/recorded").out, HasSubstr("of the prefix: report"));
}

TEST_F(RecordedProgram, SeveralIntoOneFolderAreOneRun) {
  ASSERT_EQ(RunShell("mkdir folder", folder_).status, 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(RunRecorded("XLAPROF_RECORD=folder").status, 0);
  Ran ran = Run("report folder");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("2 processes"));
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread, none dropped"));
  ran = Run("import folder -o both.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  ran = Run(
      "query both.xlaprof --format csv \"SELECT count(*), count(DISTINCT t.process_id), (SELECT "
      "count(*) FROM step), (SELECT count(*) FROM arg WHERE key = 'source_line') FROM event e JOIN "
      "track t ON t.id = e.track_id\"");
  EXPECT_THAT(ran.out, HasSubstr("30,2,10,30"));
}

// A launcher's first run names a directory that does not exist yet.
TEST_F(RecordedProgram, AFolderIsMade) {
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=runs/today/").status, 0);
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=runs/today").status, 0);
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=named").status, 0);
  EXPECT_THAT(FilesIn("runs/today"),
              ElementsAre("recorded_program.PID.xlaprof", "recorded_program.PID.xlaprof"));
  EXPECT_THAT(FilesIn("named"), ElementsAre("recorded_program.PID.xlaprof"));
  // These are file names.
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=run.db").status, 0);
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=run-%p").status, 0);
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_ / "run.db"));
  EXPECT_THAT(FilesIn("."), testing::Contains(testing::StartsWith("run-")));
  Ran ran = RunRecorded("XLAPROF_RECORD=run.db/deeper/");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("run.db/deeper: cannot create this folder"));
  // If nothing can be recorded, no directory is left.
  ran = RunRecorded("ulimit -f 100; XLAPROF_RECORD=small/deeper/");
  EXPECT_THAT(ran.out, HasSubstr("nothing is recorded"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "small"));
}

// Regression: a launcher sets up the environment and then becomes the program, which was not
// recorded because its file already existed.
TEST_F(RecordedProgram, WhatReplacesItselfIsRecordedAgain) {
  Ran ran = RunRecorded("XLAPROF_RECORD=runs/", "exec");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread"));
  EXPECT_THAT(FilesIn("runs"), testing::IsSupersetOf({"recorded_program.PID.xlaprof",
                                                      "recorded_program.PID.xlaprof.ring",
                                                      "recorded_program.PID.2.xlaprof"}));
  EXPECT_THAT(Run("recover runs").out, HasSubstr("events taken in"));
  EXPECT_THAT(FilesIn("runs"),
              ElementsAre("recorded_program.PID.2.xlaprof", "recorded_program.PID.xlaprof"));
  EXPECT_THAT(Run("report runs").out, HasSubstr("2 processes"));
}

TEST_F(RecordedProgram, ALibraryMayBringARecorderOfItsOwn) {
  Ran ran = RunRecorded("XLAPROF_RECORD=runs/", "load " XLAPROF_RECORDED_LIBRARY);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("15 events of 1 thread"), HasSubstr("1 event of 1 thread")));
  EXPECT_THAT(FilesIn("runs"),
              ElementsAre("recorded_program.PID.2.xlaprof", "recorded_program.PID.xlaprof"));
  ran = RunRecorded("XLAPROF_RECORD=run.xlaprof", "load " XLAPROF_RECORDED_LIBRARY);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("run.xlaprof: another copy of the recorder in this process"),
                             HasSubstr("15 events of 1 thread"), Not(HasSubstr("Remove it"))));
}

// The kernel ends a program that writes beyond its limit, but the recorder must not cause that.
TEST_F(RecordedProgram, GoesOnBeyondTheLimitOfItsFiles) {
  for (const int kib : {1, 100, 12'000, 40'000, 50'000}) {
    Ran ran = RunRecorded(fmt::format("ulimit -f {}; XLAPROF_RECORD={}.xlaprof", 2 * kib, kib));
    EXPECT_EQ(ran.status, 0) << kib << ran.out;
    EXPECT_THAT(ran.out,
                HasSubstr(kib < 40'000 ? "nothing is recorded" : "one thread cannot be recorded"))
        << kib;
    if (kib >= 100) {
      EXPECT_THAT(ran.out, HasSubstr("(ulimit -f)")) << kib;
    }
    EXPECT_EQ(std::filesystem::exists(folder_ / fmt::format("{}.xlaprof", kib)), kib >= 40'000);
    EXPECT_FALSE(std::filesystem::exists(folder_ / fmt::format("{}.xlaprof.ring", kib)));
  }
}

// Somebody who cleans up may remove the stores of killed runs but leave the files beside them.
TEST_F(RecordedProgram, ARingWithoutItsStoreIsNoObstacle) {
  RunRecorded("XLAPROF_RECORD=run.xlaprof", "kill");
  std::filesystem::remove(folder_ / "run.xlaprof");
  Ran ran = RunRecorded("XLAPROF_RECORD=run.xlaprof");
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread"));
  EXPECT_THAT(Run("query run.xlaprof \"SELECT count(*) FROM event\" --format csv").out,
              HasSubstr("15"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.xlaprof.ring"));
  // The first ring below belongs to a process that still runs, the second to somebody else.
  RunRecorded("XLAPROF_RECORD=held.xlaprof", "kill");
  std::filesystem::remove(folder_ / "held.xlaprof");
  const int held = open((folder_ / "held.xlaprof.ring").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  EXPECT_THAT(RunRecorded("XLAPROF_RECORD=held.xlaprof").out,
              HasSubstr("held.xlaprof.ring: a process still records to it"));
  close(held);
  Write("other.xlaprof.ring", "a wedding ring");
  EXPECT_THAT(RunRecorded("XLAPROF_RECORD=other.xlaprof").out,
              HasSubstr("not the ring of a recording. Move it away"));
  EXPECT_EQ(Content("other.xlaprof.ring"), "a wedding ring");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.xlaprof"));
}

// Nobody knows their names, so nobody else removes them.
TEST_F(RecordedProgram, ReportsOfKilledProgramsLeaveNothingForLong) {
  ASSERT_EQ(RunShell("mkdir tmp", folder_).status, 0);
  RunRecorded("TMPDIR=tmp XLAPROF_REPORT=1", "kill");
  EXPECT_THAT(FilesIn("tmp"), testing::Contains(HasSubstr(".ring")));
  // A user who asked for a recording knows its name.
  RunRecorded("XLAPROF_RECORD=tmp", "kill");
  const int kept = int(FilesIn("tmp").size()) / 2;
  Ran ran = RunRecorded("TMPDIR=tmp XLAPROF_REPORT=1");
  EXPECT_THAT(ran.out, HasSubstr("5 steps"));
  EXPECT_THAT(FilesIn("tmp"), AllOf(testing::SizeIs(kept), testing::Contains(HasSubstr(".ring")),
                                    testing::Each(testing::StartsWith("recorded_program"))));
}

// Regression: without an exit status of its child, the program claimed that it could not run what
// had just printed the report.
TEST_F(RecordedProgram, ReportsWhereChildrenAreIgnored) {
  Ran ran = RunRecorded("XLAPROF_REPORT=1", "ignore");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("5 steps"), Not(HasSubstr("cannot run"))));
  ran = RunShell("XLAPROF_REPORT=1 XLAPROF_PROGRAM=./none " XLAPROF_RECORDED_PROGRAM " ignore",
                 folder_);
  EXPECT_THAT(ran.out, HasSubstr("cannot run `./none report"));
}

TEST_F(RecordedProgram, GoesOnWhereNothingCanBeRecorded) {
  Ran ran = RunRecorded("XLAPROF_RECORD=no/folder/run.xlaprof");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("nothing is recorded: no/folder/run.xlaprof"));
}

TEST_F(RecordedProgram, IsRecoveredAfterAKill) {
  RunRecorded("XLAPROF_RECORD=run.xlaprof", "kill");
  // A reader sees everything and changes nothing.
  Ran ran = Run("report run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("recover run.xlaprof"));
  EXPECT_THAT(ran.out, HasSubstr("16 events of 1 thread"));
  ran = Run("import . -o all.xlaprof");
  EXPECT_THAT(ran.out, HasSubstr("1 file read, 0 warnings"));
  EXPECT_THAT(Run("query all.xlaprof \"SELECT count(*) FROM event\" --format csv").out,
              HasSubstr("16"));
  ran = Run("recover run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("taken in"));
  EXPECT_THAT(Run("recover run.xlaprof").out, HasSubstr("nothing waits"));
  Write("foreign.bin", "no recording");
  EXPECT_EQ(Run("recover foreign.bin").status, 2);
  ran = Run("query run.xlaprof \"SELECT count(*), count(dur_ns) FROM event\" --format csv");
  EXPECT_THAT(ran.out, HasSubstr("16,15")) << "one never ended";
  EXPECT_THAT(Run("report run.xlaprof").out, Not(HasSubstr("recover")));
}

// exit() does not leave blocks, and destroys the thread's own objects before the recording ends.
TEST_F(RecordedProgram, KeepsWhatExitLeftOpen) {
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=run.xlaprof", "exit").status, 0);
  EXPECT_THAT(
      Run("query run.xlaprof \"SELECT count(*), count(dur_ns) FROM event\" --format csv").out,
      HasSubstr("16,15"))
      << "one never ended";
}

TEST_F(RecordedProgram, MayRecordWhileItsStaticObjectsAreDestroyed) {
  EXPECT_EQ(RunRecorded("XLAPROF_RECORD=run.xlaprof", "static").status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.xlaprof.ring"));
  EXPECT_THAT(Run("query run.xlaprof \"SELECT count(dur_ns) FROM event WHERE name IN ('around', "
                  "'outlives the block around it')\" --format csv")
                  .out,
              HasSubstr("\n1"));
}

TEST_F(RecordedProgram, AllOfAFolderAreRecovered) {
  for (const char* word : {"kill", "", "kill"}) RunRecorded("XLAPROF_RECORD=runs/rank", word);
  // A recording that cannot be recovered because it still runs does not hold up the others.
  RunRecorded("XLAPROF_RECORD=runs/held.xlaprof", "kill");
  const int held = open((folder_ / "runs/held.xlaprof.ring").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  Ran ran = Run("recover runs");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("held.xlaprof.ring: this recording is still running"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("events taken in(.|\n)*events taken in"));
  EXPECT_THAT(FilesIn("runs/rank"), testing::SizeIs(3));
  close(held);
  EXPECT_EQ(Run("recover runs").status, 0);
  ran = Run("recover runs");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("runs: nothing waits in a ring"));
  // The store of this ring is gone.
  RunRecorded("XLAPROF_RECORD=runs/lost.xlaprof", "kill");
  std::filesystem::remove(folder_ / "runs/lost.xlaprof");
  ran = Run("recover runs");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("runs/lost.xlaprof: no such file"));
}

}  // namespace
}  // namespace xlaprof
