// A directory may hold more than the run: files of no run, older runs, copies, and files that
// cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "profiler/import/import.h"
#include "profiler/import/map_guard.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kFoundReport =
    "Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: 002ms500.000us\n  Percentiles: "
    "50%=001ms000.000us\n";
constexpr std::string_view kProfile("\x0a\x0b\x12\x09/host:CPU", 13);

constexpr std::string_view kTorchTrace =
    "V1124 23:31:49.031000 11490 torch/_dynamo/utils.py:1952] {\"chromium_event\": {}, \"frame_id\": 0}\n";

constexpr size_t kLargeBytes = size_t(80) << 20;  // larger than the files that are read into memory
constexpr size_t kCutBytes = 5000;

class FoundFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "xlaprof-found-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  // The file's time is `days` after the start of 2030: only the order of the files matters, not
  // when the test runs.
  fs::path Write(const std::string& name, std::string_view bytes, int days = 0) {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    using std::chrono::sys_days;
    const std::chrono::sys_seconds day =
        sys_days(std::chrono::year(2030) / 1 / 1) + std::chrono::days(days);
    fs::last_write_time(path, fs::file_time_type::clock::from_sys(day));
    return path;
  }
  absl::Status Take(std::vector<fs::path> inputs, const std::string& run = "") {
    store_ = Store::CreateTemporary();
    return Import({.inputs = std::move(inputs), .run = run}, *store_);
  }
  // Imports a file that is cut to 5000 bytes as soon as the first progress is reported.
  void TakeWhileItIsCut(const fs::path& path) {
    store_ = Store::CreateTemporary();
    const auto cut = [&](double, std::string_view) { fs::resize_file(path, kCutBytes); };
    const absl::Status status = Import({.inputs = {path}, .progress = cut}, *store_);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(fs::file_size(path), kCutBytes);
  }
  // Returns all values of a query, without the path of the test's directory.
  std::string All(const std::string& sql) {
    std::string out;
    absl::Status status = store_->Each(sql, [&](std::string value) {
      if (value.starts_with(root_.string())) value = value.substr(root_.string().size() + 1);
      out += (out.empty() ? "" : ", ") + value;
    });
    EXPECT_TRUE(status.ok()) << status;
    return out;
  }
  std::string Imported() { return All("SELECT path FROM source WHERE imported ORDER BY path"); }
  std::string Chosen() { return All("SELECT label FROM run WHERE selected"); }

  fs::path root_;
  absl::StatusOr<Store> store_ = Store::CreateTemporary();
};

// Regression: a script beside the run was in the newest folder, so nothing of the run was read.
TEST_F(FoundFilesTest, NewerFilesOfNoFormatAreNoRun) {
  Write("out/metrics.txt", kFoundReport);
  Write("src/train.py", "import torch\n", 1);
  Write("src/__init__.py", "", 2);
  Write("ckpt/model.bin", std::string("\x80\x02\0\0", 4), 3);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "out/metrics.txt");
  EXPECT_EQ(All("SELECT count(*) FROM run"), "1");
  EXPECT_EQ(All("SELECT note FROM source WHERE path LIKE '%train.py'"), "");
  EXPECT_EQ(All("SELECT code FROM import_issue"), "");
}

TEST_F(FoundFilesTest, OnlyFilesThatWereTriedAreCountedAndFormatsAreListedOnce) {
  for (int i = 0; i < 30; ++i) Write(fmt::format("{}.txt", i), "hello\n");
  const std::string message(Message(Take({root_})));
  EXPECT_THAT(message, AllOf(HasSubstr("and 10 more"), HasSubstr("none of 30 files")));
  EXPECT_EQ(message.find("Try --as"), message.rfind("Try --as"));
}

// The report is at the end of the log, after text of any kind.
TEST_F(FoundFilesTest, TheEndOfALogTellsItsFormat) {
  std::string log;
  while (log.size() < size_t(100) << 10) log += "epoch 1, loss 0.5\n";
  Write("train.log", log + std::string(kFoundReport));
  const fs::path packed = root_ / "other" / "train.log.gz";
  fs::create_directories(packed.parent_path());
  gzFile file = gzopen(packed.c_str(), "wb");
  log += kFoundReport;
  gzwrite(file, log.data(), unsigned(log.size()));
  gzclose(file);
  Write("other/notes.txt", "hello");
  ASSERT_TRUE(Take({root_}, "other").ok());
  EXPECT_EQ(Imported(), "other/train.log.gz");
  EXPECT_EQ(All("SELECT count(*) FROM run"), "2");
}

// A packed log is small, but what it holds is not.
TEST_F(FoundFilesTest, MessagesInTheMiddleOfAPackedLogAreFound) {
  std::string output;
  while (output.size() < 200 << 10) output += "epoch 1, loss 0.5\n";
  const fs::path packed = root_ / "train.log.gz";
  gzFile file = gzopen(packed.c_str(), "wb");
  const std::string log = output + std::string(kFoundReport) + output;
  gzwrite(file, log.data(), unsigned(log.size()));
  gzclose(file);
  ASSERT_LT(fs::file_size(packed), 64u << 10);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "train.log.gz");
}

TEST_F(FoundFilesTest, RunsAreNamedByTheirOwnFolder) {
  Write("README.md", "# Captures\nEach save begins with `[MetricsData; step=N]`.\n", 9);
  Write("a/plugins/profile/2026_01_01_00_00_00/h.xplane.pb", kProfile);
  Write("b/plugins/profile/2026_01_02_00_00_00/h.xplane.pb", kProfile);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Chosen(), "b/2026_01_02_00_00_00");
  EXPECT_EQ(All("SELECT note FROM source WHERE path LIKE '%.md'"), "");
}

// Regression: a compressed log that was cut before its first block was called an empty file, and
// its damage was not reported.
TEST_F(FoundFilesTest, WhatIsPackedAndCutIsNoEmptyFile) {
  const std::string cut("\x1f\x8b\x08\0\0\0\0\0\0\x03\x7d", 11);
  EXPECT_THAT(std::string(Message(Take({Write("alone/log.gz", cut)}))), HasSubstr("is truncated"));
  Write("run/metrics.txt", kFoundReport);
  Write("run/log.gz", cut);
  ASSERT_TRUE(Take({root_ / "run"}).ok());
  EXPECT_EQ(All("SELECT code FROM import_issue"), "unreadable_file");
}

// Regression: one run without a time in its name, such as a log alone, made all names count for
// nothing.
TEST_F(FoundFilesTest, NamesTellTheNewestRunAmongCopies) {
  Write("a/plugins/profile/2026_01_02_00_00_00/h.xplane.pb", kProfile, 1);
  Write("b/plugins/profile/2026_01_01_00_00_00/h.xplane.pb", kProfile, 2);
  Write("c/metrics.txt", kFoundReport, 3);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Chosen(), "a/2026_01_02_00_00_00");
  EXPECT_THAT(All("SELECT why FROM run WHERE selected"), HasSubstr("the newest by its name"));
}

TEST_F(FoundFilesTest, FilesThatAreNoCopiesTellTheNewestRun) {
  Write("a/plugins/profile/2030_01_02_00_00_00/h.xplane.pb", kProfile, 1);
  Write("c/metrics.txt", kFoundReport, 3);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Chosen(), "c");
  EXPECT_THAT(All("SELECT why FROM run WHERE selected"), HasSubstr("by the time of its files"));
}

TEST_F(FoundFilesTest, ARunIsFoundByTheOnlyPathPartOfThatName) {
  Write("jobs/one/tb/plugins/profile/2026_01_01_00_00_00/h.xplane.pb", kProfile);
  Write("jobs/two/tb/plugins/profile/2026_01_02_00_00_00/h.xplane.pb", kProfile);
  ASSERT_TRUE(Take({root_}, "one").ok());
  EXPECT_THAT(Chosen(), HasSubstr("2026_01_01_00_00_00"));
  EXPECT_THAT(std::string(Message(Take({root_}, "jobs"))), HasSubstr("no such run"));
  EXPECT_THAT(std::string(Message(Take({root_}, "on"))), HasSubstr("no such run"));
}

// TORCH_TRACE and the profiler of one run have a folder each.
TEST_F(FoundFilesTest, ATraceBelongsToTheProfileBesideIt) {
  Write("run/trace/dedicated_log_torch_trace_a.log", kTorchTrace);
  Write("run/prof/plugins/profile/2026_01_01_00_00_00/h.xplane.pb", kProfile);
  ASSERT_TRUE(Take({root_ / "run"}).ok());
  EXPECT_EQ(All("SELECT count(*) FROM source WHERE imported"), "2");
  EXPECT_EQ(All("SELECT count(*) FROM run"), "1");
  Write("other/trace/dedicated_log_torch_trace_b.log", kTorchTrace, 1);
  Write("other/logs/metrics.txt", kFoundReport, 1);
  ASSERT_TRUE(Take({root_}, "logs").ok());
  EXPECT_EQ(Imported(), "other/logs/metrics.txt, other/trace/dedicated_log_torch_trace_b.log");
}

TEST_F(FoundFilesTest, ATraceBesideSeveralJobsBelongsToNone) {
  Write("trace/dedicated_log_torch_trace_a.log", kTorchTrace);
  Write("a/plugins/profile/2026_01_01_00_00_00/h.xplane.pb", kProfile);
  Write("b/plugins/profile/2026_01_02_00_00_00/h.xplane.pb", kProfile);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "b/plugins/profile/2026_01_02_00_00_00/h.xplane.pb");
  EXPECT_EQ(All("SELECT count(*) FROM run"), "3");
  fs::remove_all(root_ / "a");
  Write("trace2/dedicated_log_torch_trace_b.log", kTorchTrace);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "b/plugins/profile/2026_01_02_00_00_00/h.xplane.pb");
}

TEST_F(FoundFilesTest, APipeIsNotWaitedFor) {
  const fs::path log = Write("metrics.txt", kFoundReport), pipe = root_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(All("SELECT note FROM source WHERE NOT imported"), "a pipe, which is not read");
  EXPECT_EQ(All("SELECT code FROM import_issue"), "");
  ASSERT_TRUE(Take({log, pipe}).ok());
  EXPECT_THAT(All("SELECT advice FROM import_issue"), HasSubstr("this is a pipe"));
}

TEST_F(FoundFilesTest, LinksAreFollowedToRegularFilesAndTold) {
  const fs::path outside = Write("other/metrics.txt", kFoundReport);
  fs::create_directory(root_ / "capture");
  fs::create_symlink("../other/metrics.txt", root_ / "capture/link.txt");
  ASSERT_TRUE(Take({root_ / "capture"}).ok());
  EXPECT_EQ(Imported(), "capture/link.txt");
  EXPECT_EQ(All("SELECT links_to FROM source"), "other/metrics.txt");
  EXPECT_EQ(All("SELECT code FROM import_issue"), "");
}

// Regression: what a link to /proc/self/pagemap yields is 256 GB, which filled the disk.
TEST_F(FoundFilesTest, LinksToWhatHasNoSizeAreNotFollowed) {
  Write("metrics.txt", kFoundReport);
  const std::vector<std::string> targets = {"/proc/self/status", "/dev/null", root_ / "pipe",
                                            root_ / "missing"};
  ASSERT_EQ(mkfifo(targets[2].c_str(), 0600), 0);
  for (size_t i = 0; i < targets.size(); ++i)
    fs::create_symlink(targets[i], root_ / fmt::format("link{}", i));
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "metrics.txt");
  EXPECT_EQ(All("SELECT code FROM import_issue"),
            "link_not_followed, link_not_followed, link_not_followed, link_not_followed");
  // /proc/self has the number of the process.
  EXPECT_EQ(All("SELECT links_to FROM source WHERE path LIKE '%/link1'"), "/dev/null");
  EXPECT_EQ(All("SELECT links_to FROM source WHERE path LIKE '%/link2'"), "pipe");
  EXPECT_EQ(All("SELECT links_to FROM source WHERE path LIKE '%/link3'"), "missing");
}

TEST_F(FoundFilesTest, FilesOfTheKernelAreNotReadByNameEither) {
  EXPECT_THAT(std::string(Message(Take({"/proc/self/status"}))), HasSubstr("a file of the kernel"));
  EXPECT_THAT(std::string(Message(Take({"/dev/zero"}))), HasSubstr("a device"));
}

TEST_F(FoundFilesTest, AFileWithSeveralNamesIsReadOnce) {
  const fs::path log = Write("metrics.txt", kFoundReport);
  fs::create_hard_link(log, root_ / "second.txt");
  fs::create_symlink("metrics.txt", root_ / "third.txt");
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "metrics.txt");
  EXPECT_EQ(All("SELECT count(*) FROM source WHERE derived_from LIKE '%/metrics.txt'"), "2");
  EXPECT_EQ(All("SELECT count(*) FROM metrics_report"), "1");
}

// Links to directories lie beside many captures, so they are listed and are no issue.
TEST_F(FoundFilesTest, LinksToDirectoriesAreListed) {
  Write("capture/metrics.txt", kFoundReport), Write("other/metrics.txt", kFoundReport);
  fs::create_directory_symlink("../other", root_ / "capture/link");
  fs::create_directory_symlink("..", root_ / "capture/above");
  fs::create_directory_symlink(".", root_ / "capture/itself");
  ASSERT_TRUE(Take({root_ / "capture"}).ok());
  EXPECT_EQ(Imported(), "capture/metrics.txt");
  EXPECT_EQ(All("SELECT path FROM source WHERE NOT imported ORDER BY path"),
            "capture/above, capture/link");
  EXPECT_EQ(All("SELECT code FROM import_issue"), "");
}

// A path that is too long replaces a folder without read permission, because tests may run as root.
TEST_F(FoundFilesTest, FoldersThatCannotBeListedAreTold) {
  Write("metrics.txt", kFoundReport);
  const fs::path here = fs::current_path();
  fs::current_path(root_);
  for (int i = 0; i < 20; ++i) {
    const std::string name(250, 'd');
    fs::create_directory(name);
    fs::current_path(name);
  }
  std::ofstream("metrics.txt") << kFoundReport;
  fs::current_path(here);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), "metrics.txt");
  EXPECT_EQ(All("SELECT code FROM import_issue"), "unreadable_folder");
  EXPECT_THAT(All("SELECT advice FROM import_issue"), HasSubstr("cannot list"));
}

// JAX with create_perfetto_trace writes three files per capture.
TEST_F(FoundFilesTest, ACopyForPerfettoIsDerived) {
  const std::string folder = "plugins/profile/2026_01_01_00_00_00/";
  constexpr std::string_view kTrace =
      R"({"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":9,"name":"a"}]})";
  Write(folder + "perfetto_trace.json.gz", kTrace);
  Write(folder + "vm.trace.json.gz", kTrace);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), folder + "vm.trace.json.gz");
  Write(folder + "vm.xplane.pb", kProfile);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Imported(), folder + "vm.xplane.pb");
}

// logrotate's copytruncate empties a log while we read it. Large logs are copied when they are
// opened, so no data is lost.
TEST_F(FoundFilesTest, ALogThatIsTruncatedWhileItIsReadIsReadWhole) {
  std::string log(kFoundReport);
  while (log.size() < kLargeBytes) log.append(200, '.').append(" loss 0.5\n");
  log += kFoundReport;
  TakeWhileItIsCut(Write("metrics.txt", log));
  EXPECT_EQ(All("SELECT code FROM import_issue"), "");
  EXPECT_EQ(All("SELECT count(*) FROM metrics_report"), "2");
}

// Regression: large profiles are memory-mapped, and access to truncated pages killed the process
// without a message.
TEST_F(FoundFilesTest, AProfileThatIsCutWhileItIsReadIsTold) {
  static const bool guarded = [] { return InstallMapGuards(), true; }();
  ASSERT_TRUE(guarded);
  std::string trace = R"({"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":9,"name":"a"})";
  for (int i = 0; trace.size() < kLargeBytes; ++i) {
    trace += fmt::format(R"(,{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":9,"name":"{}"}})", i * 10,
                         std::string(4000, 'n'));
  }
  TakeWhileItIsCut(Write("trace.json", trace + "]}"));
  EXPECT_THAT(All("SELECT code FROM import_issue"), HasSubstr("shrunk_file"));
  EXPECT_EQ(All("SELECT count(*) > 0 FROM event_chunk"), "1");
}

}  // namespace
}  // namespace xlaprof
