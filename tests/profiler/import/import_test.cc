// Files go in and one run comes out. The tests cover which files are read or only listed, which run
// is imported, and the error when none can be.
#include "profiler/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "profiler/import/input.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string Report(int save, int compiles) {
  return fmt::format(
      "[MetricsData; step={}]\nMetric: CompileTime\n  TotalSamples: {}\n  Accumulator: "
      "002ms500.000us\n  Percentiles: 50%=001ms000.000us\n"
      "Counter: MarkStep\n  Value: {}\n\n",
      save, compiles, save + 1);
}

std::string Gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = uInt(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "xlaprof-import-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path Write(const std::string& name, const std::string& bytes) {
    fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  absl::Status Take(std::vector<fs::path> inputs, const std::string& run = "",
                    const std::string& as = "") {
    store_ = Store::CreateTemporary();
    return Import({.inputs = std::move(inputs), .run = run, .as_format = as}, *store_);
  }
  std::string All(const std::string& sql) {
    std::string out;
    absl::Status status = store_->Each(sql, [&](std::optional<std::string> value) {
      out += (out.empty() ? "" : " ") + value.value_or("-");
    });
    EXPECT_TRUE(status.ok()) << status;
    return out;
  }
  std::string Saves() { return All("SELECT save_number FROM metrics_report ORDER BY ordinal"); }

  fs::path root_;
  absl::StatusOr<Store> store_ = Store::CreateTemporary();
};

TEST_F(ImportTest, NothingReadableSaysWhatWhereAndWhatToTry) {
  EXPECT_THAT(std::string(Message(Take({root_ / "absent"}))), HasSubstr("absent: no such file"));
  EXPECT_THAT(std::string(Message(Take({root_}))), HasSubstr("directory is empty"));
  EXPECT_THAT(std::string(Message(Take({Write("empty.txt", "")}))),
              HasSubstr("the file is empty (0 bytes)"));
  std::string foreign(Message(Take({Write("a.png", "\x89PNG\r\n\x1a\n")})));
  EXPECT_THAT(foreign,
              testing::AllOf(HasSubstr("a.png"), HasSubstr("a PNG image"), HasSubstr("--as")));
  EXPECT_THAT(std::string(Message(Take({Write("m", Report(0, 1))}, "", "nonsense"))),
              HasSubstr("metrics_report"));
}

TEST_F(ImportTest, AFileThatCannotBeReadDoesNotHideTheOthers) {
  fs::path good = Write("metrics.txt", Report(0, 1)), bad = Write("bad.png", "\x89PNG\r\n\x1a\n");
  EXPECT_THAT(std::string(Message(Take({good, root_ / "absent"}))), HasSubstr("absent: no such"))
      << "a wrong name is not the same as an unreadable file";
  ASSERT_TRUE(Take({good, bad}).ok());
  EXPECT_EQ(Saves(), "0");
  EXPECT_EQ(All("SELECT code FROM import_issue"), "not_recognised");
  ASSERT_TRUE(Take({root_}).ok());  // the file was found, not named, so it is only listed
  EXPECT_EQ(All("SELECT code FROM import_issue"), "");
  EXPECT_EQ(All("SELECT note FROM source WHERE format IS NULL"),
            "not recognised: looks like a PNG image");
}

// A note about a capture lies beside it. Nobody expects it in the report, unless it was named.
TEST_F(ImportTest, DocumentsInAFolderAreNotListed) {
  const fs::path note = Write("cap/ORIGIN.md", "Recorded on a TPU.\n");
  Write("cap/metrics.txt", Report(0, 1));
  Write("cap/train.py", "import torch\n");
  ASSERT_TRUE(Take({root_ / "cap"}).ok());
  EXPECT_EQ(All("SELECT count(*) FROM source"), "1");
  ASSERT_TRUE(Take({root_ / "cap" / "metrics.txt", note}).ok());
  EXPECT_EQ(All("SELECT code FROM import_issue"), "not_recognised");
}

TEST_F(ImportTest, SizesOfCompressedFiles) {
  const std::string text = Report(0, 1), packed = Gzip(text);
  ASSERT_TRUE(Take({Write("a.txt", text)}).ok());
  EXPECT_EQ(All("SELECT bytes FROM source"), fmt::to_string(text.size()));
  EXPECT_EQ(All("SELECT unpacked_bytes FROM source"), "-");
  ASSERT_TRUE(Take({Write("b.txt.gz", packed)}).ok());
  EXPECT_EQ(All("SELECT bytes FROM source"), fmt::to_string(packed.size()));
  EXPECT_EQ(All("SELECT unpacked_bytes FROM source"), fmt::to_string(text.size()));
}

TEST_F(ImportTest, FormatIsFoundFromTheBytesInsideAnyCompression) {
  std::string text = Report(0, 1) + Report(1, 1);
  for (const std::string& bytes :
       {text, Gzip(text), Zstd(text), Gzip(Report(0, 1)) + Gzip(Report(1, 1))}) {
    ASSERT_TRUE(Take({Write("no_name_helps", bytes)}).ok());
    EXPECT_EQ(Saves(), "0 1");
  }
}

TEST_F(ImportTest, ACutArchiveIsReadUpToTheCutAndItIsSaid) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += Report(i, i * 7919 % 1000);
  for (const std::string& bytes : {Gzip(text), Zstd(text)}) {
    ASSERT_TRUE(Take({Write("m", bytes.substr(0, bytes.size() * 3 / 4))}).ok());
    EXPECT_NE(All("SELECT max(save_number) > 100 FROM metrics_report"), "0");
    EXPECT_THAT(All("SELECT advice FROM import_issue WHERE code = 'damaged_coding'"),
                HasSubstr("is truncated at byte"));
  }
}

// Encodes `text`, which is ASCII except for two marks that stand for U+1F600 and a lone surrogate.
std::string Utf16(const std::string& text, std::endian order) {
  std::string out;
  auto add = [&](int unit) {
    const char high = char(unit >> 8), low = char(unit & 0xff);
    out += order == std::endian::big ? high : low;
    out += order == std::endian::big ? low : high;
  };
  add(0xfeff);
  for (char c : text) {
    if (c == '@') {
      add(0xd83d), add(0xde00);
    } else if (c == '!') {
      add(0xd83d);
    } else {
      add(c);
    }
  }
  return out;
}

TEST_F(ImportTest, Utf16IsReadAsPowerShellWritesIt) {
  std::string text = "pages@!\r\n";
  while (text.size() < size_t(3) << 20) text += "Counter: aten::sort@!\r\n  Value: 7\r\n";
  for (std::endian order : {std::endian::little, std::endian::big}) {
    auto file = InputFile::Open(Write("m", Utf16(text, order)));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->damage(), "");
    EXPECT_EQ(ToUtf8(file->bytes().substr(0, 14)),
              "pages\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\r\n");
    EXPECT_EQ(file->bytes().size(), text.size() + 5 * size_t(std::ranges::count(text, '@')));
    const std::string report = Utf16(Report(0, 1), order);
    for (const std::string& bytes : {report, Gzip(report), Zstd(report)}) {
      ASSERT_TRUE(Take({Write("m", bytes)}).ok());
      EXPECT_EQ(All("SELECT count(*) FROM metrics_report"), "1");
    }
    // Half a surrogate pair, or half a code unit, ends the text.
    const std::string whole = Utf16("a text@", order);
    for (size_t cut : {1, 2, 3}) {
      auto part = InputFile::Open(Write("m", whole.substr(0, whole.size() - cut)));
      ASSERT_TRUE(part.ok()) << part.status();
      EXPECT_EQ(part->bytes(), "a text");
      EXPECT_THAT(part->damage(), HasSubstr("ends inside a character at byte 14"));
    }
  }
}

TEST_F(ImportTest, AByteOrderMarkIsNoPartOfTheText) {
  for (const std::string& bytes :
       {"\xef\xbb\xbf" + Report(0, 1), Gzip("\xef\xbb\xbf" + Report(0, 1)),
        Utf16(Report(0, 1), std::endian::little)}) {
    auto file = InputFile::Open(Write("m", bytes));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->bytes(), Report(0, 1));
  }
}

// Regression: a log of 4.9 MB that grew to 75 million lines was read for 16 s, with 2 GB of memory.
TEST_F(ImportTest, WhatGrowsAHundredfoldIsABomb) {
  constexpr size_t kMb = 1'000'000;
  EXPECT_FALSE(IsBomb(5 * kMb, 490 * kMb));
  EXPECT_TRUE(IsBomb(5 * kMb, 520 * kMb));
  EXPECT_FALSE(IsBomb(1000, 250 * kMb));  // a small file may always grow to 256 MiB
  EXPECT_TRUE(IsBomb(1000, 300 * kMb));
}

TEST_F(ImportTest, ABombIsStopped) {
  fs::path bomb = Write("bomb.zst", [] {
    std::string zeros(size_t{300} << 20, '\n');
    return Zstd(zeros);
  }());
  auto file = InputFile::Open(bomb);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_LT(file->bytes().size(), size_t{300} << 20);
  EXPECT_THAT(file->damage(), HasSubstr("grew more than"));
}

TEST_F(ImportTest, RunsInsideAnAppendedFileAndTheNewestIsTaken) {
  fs::path path = Write("metrics.txt",
                        Report(0, 1) + Report(1, 2) + Report(2, 2) + Report(0, 1) + Report(1, 1));
  ASSERT_TRUE(Take({path}).ok());
  EXPECT_EQ(Saves(), "0 1");
  EXPECT_EQ(All("SELECT label || selected FROM run ORDER BY id"), "1 of 20 2 of 21");
  ASSERT_TRUE(Take({path}, "1 of 2").ok());
  EXPECT_EQ(Saves(), "0 1 2");
  EXPECT_THAT(std::string(Message(Take({path}, "9 of 9"))),
              testing::AllOf(HasSubstr("no such run"), HasSubstr("2 of 2")));
}

TEST_F(ImportTest, AProfileIsNotLaidOverAnOlderRun) {
  Write("metrics.txt", Report(0, 1) + Report(1, 2) + Report(0, 1));
  Write("plugins/profile/R/host.xplane.pb", std::string("\x0a\x0b\x12\x09/host:CPU", 13));
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(All("SELECT label || selected FROM run ORDER BY id"), "1 of 20 R1");
  EXPECT_EQ(Saves(), "0");
  EXPECT_EQ(All("SELECT imported FROM source ORDER BY path"), "1 1");
  ASSERT_TRUE(Take({root_}, "1 of 2").ok());
  EXPECT_EQ(Saves(), "0 1");
  EXPECT_EQ(All("SELECT imported FROM source ORDER BY path"), "1 0");
}

TEST_F(ImportTest, OtherDirectoriesAreOtherRuns) {
  fs::path old_file = Write("monday/metrics.txt", Report(0, 1));
  fs::path new_file = Write("tuesday/metrics.txt", Report(0, 1) + Report(1, 1));
  fs::last_write_time(old_file, fs::last_write_time(new_file) - std::chrono::hours(24));
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(Saves(), "0 1");
  EXPECT_EQ(All("SELECT count(*) FROM run"), "2");
  EXPECT_THAT(All("SELECT note FROM source WHERE imported = 0"),
              HasSubstr("belongs to another run"));
  ASSERT_TRUE(Take({root_}, (root_ / "monday").string()).ok());
  EXPECT_EQ(Saves(), "0");
}

// A copied file has the time of the copying.
TEST_F(ImportTest, ProfilesOfSeveralDirectoriesAreAsOldAsTheirNamesSay) {
  const std::string profile("\x0a\x0b\x12\x09/host:CPU", 13);
  Write("a/plugins/profile/2026_11_21_03_04_55/host.xplane.pb", profile);
  const fs::path copied = Write("b/plugins/profile/2025_01_31_23_59_59/host.xplane.pb", profile);
  fs::last_write_time(copied, fs::last_write_time(copied) + std::chrono::hours(24));
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_THAT(All("SELECT label FROM run WHERE selected"), HasSubstr("2026_11_21_03_04_55"));
}

TEST_F(ImportTest, FilesNamedOneByOneAreOneRun) {
  fs::path a = Write("a/metrics.txt", Report(0, 1)), b = Write("b/report.txt", Report(0, 1));
  ASSERT_TRUE(Take({a, b}).ok());
  EXPECT_EQ(All("SELECT sum(imported) FROM source"), "2");
  EXPECT_EQ(All("SELECT count(*) FROM process"), "1");
}

// Covers `xlaprof report DUMP train.log`. Two directories may be two jobs.
TEST_F(ImportTest, ADirectoryBesideANamedFileIsOfItsRun) {
  const fs::path log = Write("train.log", Report(0, 1));
  Write("a/metrics.txt", Report(0, 1)), Write("b/metrics.txt", Report(0, 1));
  ASSERT_TRUE(Take({root_ / "a", log}).ok());
  EXPECT_EQ(All("SELECT sum(imported) FROM source"), "2");
  ASSERT_TRUE(Take({root_ / "a", root_ / "b", log}).ok());
  EXPECT_EQ(All("SELECT count(*) FROM run"), "3");
}

TEST_F(ImportTest, DerivedFilesAreListedOnly) {
  Write("plugins/profile/R/host.trace.json.gz", "x");
  Write("plugins/profile/R/host.xplane.pb", "y");
  Write("metrics.txt", Report(0, 1));
  Write("run/run.jsonl", "[\"run\", 1, [\"train\"], 1]\n"), Write("run/report.txt", Report(0, 1));
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(All("SELECT derived_from FROM source WHERE path LIKE '%.trace.json.gz'"),
            "host.xplane.pb");
  EXPECT_EQ(All("SELECT derived_from FROM source WHERE path LIKE '%report.txt'"),
            "the files beside it");
  EXPECT_EQ(All("SELECT imported FROM source WHERE path LIKE '%.trace.json.gz'"), "0");
}

TEST_F(ImportTest, RanksOfAJobAreProcesses) {
  Write("metrics.txt.0", Report(0, 1)), Write("metrics.txt.1", Report(0, 1));
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(All("SELECT rank FROM process ORDER BY rank"), "0 1");
}

TEST_F(ImportTest, FlowsThatAnEventHasNoPlaceForAreCounted) {
  const auto trace = [](int rank, const std::string& flows) {
    return fmt::format(R"({{"distributedInfo":{{"rank":{}}},"traceEvents":[)"
                       R"({{"ph":"X","pid":1,"tid":1,"ts":1,"dur":9,"name":"a"}},{}]}})",
                       rank, flows);
  };
  const auto flow = [](const char* phase, int ts, int id) {
    return fmt::format(
        R"({{"ph":"{}","pid":1,"tid":1,"ts":{},"id":{},"cat":"c","name":"n","bp":"e"}})", phase, ts,
        id);
  };
  // Two flows start at the same event; one ends where no event is.
  const std::string one =
      trace(0, flow("s", 2, 1) + "," + flow("s", 3, 2) + "," + flow("f", 40, 1));
  Write("one.json", one);
  Write("two.json", trace(1, flow("s", 2, 1)));
  ASSERT_TRUE(Take({root_ / "one.json", root_ / "two.json"}).ok());
  EXPECT_EQ(All("SELECT path || ':' || i.count || ':' || first_offset FROM import_issue i JOIN "
                "source s ON s.id = source_id WHERE code = 'flows_left_out'"),
            fmt::format("{}:2:{}", (root_ / "one.json").string(), one.find(flow("s", 3, 2))));
}

TEST_F(ImportTest, NothingIsWrittenIntoACaptureDirectory) {
  Write("metrics.txt", Report(0, 1));
  auto before = fs::last_write_time(root_);
  ASSERT_TRUE(Take({root_}).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 1);
  EXPECT_EQ(fs::last_write_time(root_), before);
}

}  // namespace
}  // namespace xlaprof
