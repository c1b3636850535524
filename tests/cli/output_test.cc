// Tests what every command promises about its output.
#include "cli/output.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <set>

#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::string_view kLog =
    "Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: 01s000ms000.000us\n";

class Outputs : public ProgramTest {
 protected:
  // Makes a folder with a log, a recording, an archive and a file that no importer knows.
  Outputs() {
    fs::create_directory(folder_ / "run");
    Write("run/metrics.txt", kLog);
    Write("run/notes.txt", "milk\n");
    EXPECT_TRUE(Store::Create(folder_ / "run/rank.xlaprof").ok());
  }
  std::string FilesHere() {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return fmt::format("{}", fmt::join(names, " "));
  }
  // Opens an output, and says "" or why it may not be one.
  std::string Refusal(const std::string& name, Output::Options options) {
    for (std::string& input : options.input.paths) input = folder_ / input;
    const auto output = Output::Open(folder_ / name, std::move(options));
    return output.ok() ? "" : std::string(Message(output.status()));
  }
};

// Regression: only files that were named were protected, not those found in a folder.
TEST_F(Outputs, NeverReplaceWhatTheCommandReads) {
  for (const OutputKind kind : {OutputKind::kFile, OutputKind::kStore, OutputKind::kTextReport}) {
    for (const char* input : {"run", ".", "run/metrics.txt", "run/rank.xlaprof"}) {
      for (const char* name : {"run/metrics.txt", "run/rank.xlaprof"}) {
        if (std::string_view(input).starts_with("run/") && std::string_view(input) != name)
          continue;
        EXPECT_THAT(Refusal(name, {.input = {.paths = {input}}, .force = true, .kind = kind}),
                    HasSubstr("this file is being read. Choose another name"))
            << input << " " << name;
      }
    }
  }
}

TEST_F(Outputs, LinksToWhatIsReadAreProtectedToo) {
  fs::create_symlink("run/metrics.txt", folder_ / "link.txt");
  EXPECT_THAT(
      Refusal("link.txt", {.input = {.paths = {"run"}}, .force = true, .kind = OutputKind::kTextReport}),
      HasSubstr("being read"));
}

// Regression: a killed recording that was named lost what waited in its ring and in SQLite's log.
TEST_F(Outputs, WhatBelongsToANamedStoreIsReadToo) {
  for (const char* name : {"run/rank.xlaprof.ring", "run/rank.xlaprof-wal", "run/rank.xlaprof-shm",
                           "run/rank.xlaprof-journal"}) {
    Write(name, "events");
    for (const OutputKind kind : {OutputKind::kFile, OutputKind::kStore, OutputKind::kTextReport}) {
      for (const char* input : {"run/rank.xlaprof", "run"})
        EXPECT_THAT(
            Refusal(name, {.input = {.paths = {input}}, .force = true, .kind = kind}),
            HasSubstr("being read"))
            << input << " " << name;
    }
  }
  for (const char* command :
       {"report run/rank.xlaprof -o run/rank.xlaprof.ring",
        "report run/rank.xlaprof --format json -o run/rank.xlaprof-journal",
        "report run/rank.xlaprof --format html -o run/rank.xlaprof.ring",
        "export run/rank.xlaprof --format chrome -o run/rank.xlaprof-journal --force",
        "recover run/rank.xlaprof -o run/rank.xlaprof.ring --force",
        "report - -o run/metrics.txt <run/metrics.txt"}) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_THAT(ran.out, HasSubstr("this file is being read")) << command;
  }
  EXPECT_EQ(Content("run/rank.xlaprof.ring"), "events");
}

// Regression: the target of a link in a folder was read and replaced.
TEST_F(Outputs, TheTargetOfALinkInAFolderIsRead) {
  fs::create_directory(folder_ / "elsewhere");
  Write("elsewhere/real.txt", kLog);
  fs::create_symlink("../elsewhere/real.txt", folder_ / "run/linked.txt");
  fs::create_hard_link(folder_ / "run/metrics.txt", folder_ / "elsewhere/same.txt");
  for (const char* name : {"elsewhere/real.txt", "elsewhere/same.txt"}) {
    EXPECT_THAT(
        Refusal(name, {.input = {.paths = {"run"}}, .force = true, .kind = OutputKind::kTextReport}),
        HasSubstr("being read"))
        << name;
  }
}

// Regression: a file that is read only because of --as was replaced.
TEST_F(Outputs, EveryFileOfAFolderIsReadWithAs) {
  EXPECT_THAT(Refusal("run/notes.txt", {.input = {.paths = {"run"}, .as_format = "debug_log"},
                                        .force = true,
                                        .kind = OutputKind::kFile}),
              HasSubstr("being read"));
}

TEST_F(Outputs, OfAFolderThatIsReadNeedForce) {
  for (const OutputKind kind : {OutputKind::kFile, OutputKind::kTextReport}) {
    EXPECT_THAT(Refusal("run/notes.txt", {.input = {.paths = {"run"}}, .kind = kind}),
                HasSubstr("already exists. Choose another name, or pass --force"));
    EXPECT_EQ(Refusal("run/notes.txt", {.input = {.paths = {"run"}}, .force = true, .kind = kind}), "");
    EXPECT_EQ(Refusal("run/new.txt", {.input = {.paths = {"run"}}, .kind = kind}), "");
  }
}

TEST_F(Outputs, AStoreReplacesOnlyStores) {
  Write("notes.txt", "milk\n");
  EXPECT_TRUE(Store::Create(folder_ / "old.xlaprof").ok());
  EXPECT_THAT(Refusal("notes.txt", {.input = {.paths = {"run"}}, .force = true, .kind = OutputKind::kStore}),
              HasSubstr("is not an xlaprof store"));
  EXPECT_EQ(Refusal("old.xlaprof", {.input = {.paths = {"run"}}, .force = true, .kind = OutputKind::kStore}),
            "");
}

TEST_F(Outputs, AreNotThereUntilTheyAreComplete) {
  {
    auto output = Output::Open(folder_ / "new.txt", {});
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_EQ(FilesHere(), "run");
    const auto part = output->Begin();
    ASSERT_TRUE(part.ok()) << part.status();
    Write(fs::relative(*part, folder_), "part");
    EXPECT_FALSE(fs::exists(folder_ / "new.txt"));
  }
  EXPECT_FALSE(fs::exists(folder_ / "new.txt"));
  EXPECT_EQ(FilesHere(), "run");
}

TEST_F(Outputs, DoNotReplaceWhatAppearedMeanwhile) {
  auto output = Output::Open(folder_ / "new.txt", {});
  ASSERT_TRUE(output.ok()) << output.status();
  Write(fs::relative(*output->Begin(), folder_), "ours");
  Write("new.txt", "somebody else's");
  EXPECT_FALSE(output->Finish().ok());
  EXPECT_EQ(Content("new.txt"), "somebody else's");
}

TEST_F(Outputs, ACopyIsWholeOrAnError) {
  auto copy = Output::Open(folder_ / "copy.txt", {});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_THAT(std::string(Message(copy->WriteCopy(folder_ / "nothing"))),
              HasSubstr("copy.txt: cannot write all of it: No such file or directory"));
  EXPECT_FALSE(fs::exists(folder_ / "copy.txt"));
  EXPECT_TRUE(copy->WriteCopy(folder_ / "run/metrics.txt").ok());
  EXPECT_EQ(Content("copy.txt"), kLog);
}

TEST_F(Outputs, EveryCommandAsksThem) {
  const std::string log = Content("run/metrics.txt"), store = Content("run/rank.xlaprof");
  for (const char* command :
       {"export run --format chrome -o run/metrics.txt --force",
        "export run --format html -o run/metrics.txt --force",
        "export run --format sqlite -o run/rank.xlaprof --force",
        "import run -o run/rank.xlaprof --force", "report run -o run/metrics.txt --force",
        "report run --format html -o run/metrics.txt --force"}) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_THAT(ran.out, HasSubstr("this file is being read")) << command;
  }
  EXPECT_EQ(Content("run/metrics.txt"), log);
  EXPECT_EQ(Content("run/rank.xlaprof"), store);
  EXPECT_EQ(Run("report run -o run/notes.txt").status, 2);
  EXPECT_EQ(Run("report run -o run/notes.txt --force").status, 0);
}

// Commands that write a file, without the file's name.
constexpr const char* kWriters[] = {"report run/metrics.txt -o",
                                    "report run/metrics.txt --format json -o",
                                    "report run/metrics.txt --format html -o",
                                    "export run/metrics.txt --format chrome -o",
                                    "export run/metrics.txt --format sqlite -o",
                                    "export run/metrics.txt --format perfetto -o",
                                    "export run/metrics.txt --format xspace -o",
                                    "import run/metrics.txt -o",
                                    "recover run/rank.xlaprof -o"};

// Regression: a report replaced any text file, and a link was replaced or followed.
TEST_F(Outputs, NothingIsReplacedUnasked) {
  Write("thesis.txt", "my thesis");
  fs::create_symlink("thesis.txt", folder_ / "link");
  fs::create_symlink("nowhere", folder_ / "dangling");
  fs::create_directory(folder_ / "folder");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const std::string before = FilesHere();
  for (const std::string writer : kWriters) {
    const Ran ran = Run(writer + " thesis.txt");
    EXPECT_EQ(ran.status, 2) << writer;
    EXPECT_THAT(ran.out,
                HasSubstr("thesis.txt: already exists. Choose another name, or pass --force"));
    for (const char* name : {"link", "dangling", "folder", "pipe"}) {
      if (name == std::string_view("pipe") && writer.find("html") == writer.npos &&
          writer.starts_with("report"))
        continue;  // a text report goes to who reads the pipe
      EXPECT_EQ(Run(writer + " " + name + " --force").status, 2) << writer << " " << name;
    }
  }
  EXPECT_EQ(Content("thesis.txt"), "my thesis");
  EXPECT_EQ(fs::read_symlink(folder_ / "link"), "thesis.txt");
  EXPECT_EQ(fs::read_symlink(folder_ / "dangling"), "nowhere");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  fs::remove(folder_ / "stderr.txt");
  EXPECT_EQ(FilesHere(), before);
}

TEST_F(Outputs, ATextReportGoesToWhatReadsAPipe) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const Ran ran = RunShell("( cat pipe & " XLAPROF_PROGRAM
                           " report run/metrics.txt -o pipe; s=$?; wait; exit $s )",
                           folder_);
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("compil"));
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

// Regression: a private page became readable for everybody.
TEST_F(Outputs, AReplacedFileKeepsItsMode) {
  for (const std::string writer : kWriters) {
    const bool is_store = writer.starts_with("import") || writer.starts_with("recover");
    for (const mode_t mode : {0600, 0640, 0444, 0755}) {
      const fs::path old = folder_ / "old";
      fs::remove(old);
      if (is_store) {
        ASSERT_TRUE(Store::Create(old).ok());
      } else {
        Write("old", "old");
      }
      ASSERT_EQ(chmod(old.c_str(), mode), 0);
      const Ran ran = Run(writer + " old --force");
      EXPECT_EQ(ran.status, 0) << writer << ran.out;
      struct stat info {};
      ASSERT_EQ(stat(old.c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777, mode) << writer;
      EXPECT_NE(Content("old"), "old") << writer;
    }
  }
}

TEST_F(Outputs, ANewFileHasTheModeOfTheUmask) {
  for (const std::string writer : kWriters) {
    fs::remove(folder_ / "new");
    const Ran ran = RunShell("( umask 027; " XLAPROF_PROGRAM " " + writer + " new )", folder_);
    ASSERT_EQ(ran.status, 0) << writer << ran.out;
    struct stat info {};
    ASSERT_EQ(stat((folder_ / "new").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, mode_t{0640}) << writer;
  }
}

TEST_F(Outputs, LiesInKnowsFoldersByAnyName) {
  fs::create_directory_symlink("run", folder_ / "alias");
  EXPECT_TRUE(LiesIn(folder_ / "alias/new.tgz", folder_ / "run"));
  EXPECT_TRUE(LiesIn(folder_ / "run/../run/a/b", folder_ / "alias"));
  EXPECT_FALSE(LiesIn(folder_ / "run.tgz", folder_ / "run"));
  EXPECT_FALSE(LiesIn(folder_ / "run/../new.tgz", folder_ / "run"));
}

}  // namespace
}  // namespace xlaprof
