// Archives as inputs: they are recognised by their bytes, their members become files, and nothing
// in them can do harm.
#include "profiler/import/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "profiler/import/byte_sink.h"
#include "profiler/import/import.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

using Files = std::vector<std::pair<std::string, std::string>>;

// Returns an archive of `files` in memory: a zip if `zip`, otherwise a tar, gzipped if `gzip`.
std::string Pack(const Files& files, bool zip, bool gzip = false) {
  archive* out = archive_write_new();
  zip ? archive_write_set_format_zip(out) : archive_write_set_format_ustar(out);
  if (gzip) archive_write_add_filter_gzip(out);
  std::string bytes(size_t{1} << 20, '\0');
  size_t used = 0;
  archive_write_set_bytes_in_last_block(out, 1);
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  for (const auto& [name, text] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 1'700'000'000, 0);
    archive_entry_set_size(entry, la_int64_t(text.size()));
    archive_write_header(out, entry);
    archive_write_data(out, text.data(), text.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

bool All(std::string_view) { return true; }

bool IsArchive(const fs::path& path) {
  const auto ends = EndsOf(path);
  return ends && Archive::Is(*ends);
}

constexpr const char* kReport =
    "Metric: CompileTime\n  TotalSamples: 2\n  Accumulator: 002ms500.000us\nCounter: MarkStep\n  "
    "Value: 7\n";

class ArchiveTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "xlaprof-archive-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path Write(const std::string& name, const std::string& bytes) {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
    return root_ / name;
  }
  absl::Status Import(const fs::path& path) {
    store_ = std::make_unique<Store>(Store::CreateTemporary().value());
    return xlaprof::Import({.inputs = {path}, .run = "", .as_format = "", .progress = {}}, *store_);
  }
  std::vector<std::string> Rows(const char* sql) {
    std::vector<std::string> rows;
    absl::Status status = store_->Each(
        sql, [&](std::optional<std::string> text) { rows.push_back(text.value_or("-")); });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }
  fs::path root_;
  std::unique_ptr<Store> store_;
};

std::vector<std::string> Names(const Archive& archive) {
  std::vector<std::string> names;
  for (const Archive::Member& member : archive.members()) names.push_back(member.name);
  return names;
}

TEST_F(ArchiveTest, IsToldByItsBytes) {
  const Files files = {{"a.txt", "text"}};
  EXPECT_TRUE(IsArchive(Write("x", Pack(files, false))));
  EXPECT_TRUE(IsArchive(Write("x.log", Pack(files, false, true))));
  EXPECT_TRUE(IsArchive(Write("x.json", Pack(files, true))));
  EXPECT_FALSE(IsArchive(Write("x.zip", "PK is no archive")));
  EXPECT_FALSE(IsArchive(Write("x.tar", std::string(4096, '\0'))));
  EXPECT_FALSE(IsArchive(Write("x.tar.gz", "\x1f\x8b")));
  EXPECT_FALSE(IsArchive(root_ / "missing"));
  EXPECT_FALSE(IsArchive(root_));
}

TEST_F(ArchiveTest, MembersAreInputs) {
  for (const std::string& bytes : {Pack({{"run/metrics.txt", kReport}}, false),
                                   Pack({{"run/metrics.txt", kReport}}, false, true),
                                   Pack({{"run/metrics.txt", kReport}}, true)}) {
    const fs::path path = Write("run.bin", bytes);
    ASSERT_TRUE(Import(path).ok());
    EXPECT_THAT(Rows("SELECT path FROM source WHERE imported"),
                ElementsAre(path.string() + "!run/metrics.txt"));
    EXPECT_THAT(Rows("SELECT mark_step FROM metrics_report"), ElementsAre("7"));
  }
}

TEST_F(ArchiveTest, CellsOfANotebookAreInputs) {
  const fs::path path = Write("train.ipynb", R"({"nbformat": 4, "cells": [
      {"cell_type": "code", "outputs": [{"text": ["epoch 1: loss 0.5\n"]}]},
      {"cell_type": "code", "outputs": [{"data": {"text/plain": [
          "'Metric: CompileTime\\n  TotalSamples: 2\\n  Accumulator: 002ms500.000us\\n",
          "Counter: MarkStep\\n  Value: 7\\n'"]}}]}]})");
  ASSERT_TRUE(Import(path).ok());
  EXPECT_THAT(Rows("SELECT path FROM source WHERE imported"),
              ElementsAre(path.string() + "!cell_2.txt"));
  EXPECT_THAT(Rows("SELECT mark_step FROM metrics_report"), ElementsAre("7"));
  const absl::Status status = Import(Write("empty.ipynb", R"({"nbformat": 4, "cells": []})"));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("no cell of this notebook has printed"));
}

// scripts/debug_run.py of pytorch/xla packs the files of a run together with what it made of them.
TEST_F(ArchiveTest, ADebugRunIsOneRun) {
  const std::string log =
      "2022-03-01 10:00:00.000000: I 8 /x/tensor.cpp:15] Compiling IR graph hash aa on device "
      "TPU:0 ...\n"
      "2022-03-01 10:00:02.000000: I 8 /x/tensor.cpp:15] Compiling IR graph hash aa on device "
      "TPU:0 done!\n"
      "2022-03-01 10:00:02.100000: I 8 /x/tensor.cpp:15] Executing IR graph hash aa on device "
      "TPU:0 ...\n";
  const std::string graphs =
      "[ScheduleSyncTensorsGraph]\nTensorsGraphInfo:\n  mark_step "
      "(/v/torch_xla/core/xla_model.py:7)\n"
      "  train (/x/train.py:9)\n\nRoot Hashes: (1)\n\n## BEGIN_GRAPH\nIR {\n  %0 = f32[] "
      "prim::Constant(), xla_shape=f32[], ROOT=0\n}\n\nGraph Hash: aa\n\n## END_GRAPH\n\n";
  const fs::path path =
      Write("debug.tar.gz",
            Pack({{"out/logs", log},
                  {"out/graphs.0", graphs},
                  {"out/metrics", "[MetricsData; step=0]\n" + std::string(kReport) + "\n"},
                  {"out/graphdir/graph_0000", "IR {\n}\n"},
                  {"out/graph_report", "Frame has 1 graph(s)\n"},
                  {"out/metrics_report", "[MarkStep]\n0\t7\n"}},
                 false, true));
  ASSERT_TRUE(Import(path).ok());
  EXPECT_THAT(Rows("SELECT count(*) FROM process"), ElementsAre("1"));
  EXPECT_THAT(Rows("SELECT dur_ns FROM compile"), ElementsAre("2000000000"));
  EXPECT_THAT(Rows("SELECT s.line FROM execution JOIN site s ON s.id = site_id"), ElementsAre("9"));
  EXPECT_THAT(Rows("SELECT derived_from FROM source WHERE derived_from IS NOT NULL ORDER BY path"),
              ElementsAre("graphs.0", "graphs.0", "metrics"));
}

TEST_F(ArchiveTest, NamesCannotPointOutside) {
  EXPECT_EQ(HarmlessName("../../etc/passwd"), "etc/passwd");
  EXPECT_EQ(HarmlessName("/abs/./a\\..\\b\x1b[31m"), "abs/a/b_[31m");
  EXPECT_EQ(HarmlessName(".."), "unnamed");
  EXPECT_EQ(HarmlessName(std::string(5000, 'a')).size(), 1000u);
  auto archive = Archive::OfBytes(
      "x", Pack({{"../a", "1"}, {"/a", "2"}, {"b/../../a", "3"}, {"a\nb", "4"}}, false), All);
  ASSERT_TRUE(archive.ok());
  EXPECT_THAT(Names(**archive), ElementsAre("a", "a#2", "b/a", "a_b"));
}

TEST_F(ArchiveTest, WhatIsWholeInADamagedArchiveIsKept) {
  const std::string text(200'000, 'x');
  const std::string tar = Pack({{"a", "first"}, {"b", text}, {"c", "last"}}, false);
  const std::string cut = tar.substr(0, 50'000);
  auto archive = Archive::OfBytes("x", cut, All);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_THAT(Names(**archive), ElementsAre("a", "b"));
  EXPECT_EQ((*archive)->members()[0].bytes, "first");
  EXPECT_LT((*archive)->members()[1].bytes.size(), text.size());
  EXPECT_THAT((*archive)->members()[1].damage, HasSubstr("damaged inside this file"));
  EXPECT_THAT((*archive)->damage(), HasSubstr("b is truncated"));

  const fs::path path =
      Write("m.tar", Pack({{"metrics.txt", kReport}, {"b", text}}, false).substr(0, 9000));
  ASSERT_TRUE(Import(path).ok());
  EXPECT_THAT(Rows("SELECT DISTINCT code FROM import_issue"), ElementsAre("damaged_archive"));
  EXPECT_THAT(Rows("SELECT mark_step FROM metrics_report"), ElementsAre("7"));
}

// A checkpoint of torch.save() is a zip of gigabytes, so only the beginning of each member is
// unpacked.
TEST_F(ArchiveTest, WhatNobodyWantsIsNotUnpacked) {
  const std::string tar = Pack(
      {{"data.pkl", std::string(300'000, '\x80')}, {"log.txt", std::string(300'000, 'x')}}, false);
  auto archive = Archive::OfBytes("x", tar, [](std::string_view head) { return head[0] == 'x'; });
  ASSERT_TRUE(archive.ok());
  ASSERT_THAT(Names(**archive), ElementsAre("data.pkl", "log.txt"));
  EXPECT_LT((*archive)->members()[0].bytes.size(), 300'000u);
  EXPECT_EQ((*archive)->members()[0].size_bytes, 300'000);
  EXPECT_EQ((*archive)->members()[0].damage, "");
  EXPECT_EQ((*archive)->members()[1].bytes.size(), 300'000u);
}

TEST_F(ArchiveTest, AnyCutIsReadOrSaid) {
  const Files files = {{"a.txt", kReport}, {"b.txt", "more"}};
  for (bool zip : {false, true}) {
    const std::string whole = Pack(files, zip);
    for (size_t length = 0; length < whole.size(); length += 7) {
      auto archive = Archive::OfBytes("cut", std::string_view(whole).substr(0, length), All);
      if (archive.ok()) continue;
      EXPECT_THAT(std::string(Message(archive.status())),
                  HasSubstr("cut: nothing in this archive"));
    }
  }
}

std::string ZipOfZeros(int mebibytes) {
  std::string zeros(size_t{1} << 20, '\0');
  archive* out = archive_write_new();
  archive_write_set_format_zip(out);
  std::string bytes(size_t{4} << 20, '\0');
  size_t used = 0;
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "zeros");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(out, entry);
  for (int i = 0; i < mebibytes; ++i) archive_write_data(out, zeros.data(), zeros.size());
  archive_entry_free(entry);
  archive_write_close(out);
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

TEST_F(ArchiveTest, BombsAreRefused) {
  const std::string bytes = ZipOfZeros(400);
  auto archive = Archive::OfBytes("bomb.zip", bytes, All);
  ASSERT_TRUE(archive.ok()) << archive.status();
  ASSERT_TRUE(IsBomb(bytes.size(), size_t{400} << 20)) << bytes.size();
  EXPECT_THAT((*archive)->damage(), HasSubstr("grew more than"));
  EXPECT_LT((*archive)->members()[0].bytes.size(), size_t{400} << 20);
}

// Covers a zip inside a gzip too: five kilobytes once took gigabytes.
TEST_F(ArchiveTest, GrowthIsMeasuredAgainstTheDisk) {
  const std::string bytes = ZipOfZeros(300);
  auto plain = Archive::OfBytes("x.zip", bytes, All, {.disk_bytes = 20 * bytes.size()});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ((*plain)->damage(), "");
  auto packed = Archive::OfBytes("x.zip.gz", bytes, All, {.disk_bytes = 5000});
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_THAT((*packed)->damage(), HasSubstr("grew more than"));
}

TEST_F(ArchiveTest, MembersHaveOnlySoMuchMemory) {
  const std::string tar = Pack({{"a.txt", "first"}, {"b.txt", "second"}}, false);
  auto held = Archive::OfBytes("x", tar, All);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ((*held)->in_memory_bytes(), 11u);
  auto spilled = Archive::OfBytes("x", tar, All, {.in_memory_bytes = 8});
  ASSERT_TRUE(spilled.ok());
  EXPECT_EQ((*spilled)->in_memory_bytes(), 0u);
  EXPECT_EQ((*spilled)->members()[1].bytes, "second");
}

TEST_F(ArchiveTest, LinksAreSkipped) {
  archive* out = archive_write_new();
  archive_write_set_format_ustar(out);
  std::string bytes(size_t{1} << 16, '\0');
  size_t used = 0;
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "link");
  archive_entry_set_filetype(entry, AE_IFLNK);
  archive_entry_set_symlink(entry, "/etc/passwd");
  archive_write_header(out, entry);
  archive_entry_free(entry);
  archive_write_close(out);
  archive_write_free(out);
  bytes.resize(used);
  auto archive = Archive::OfBytes("links.tar", bytes, All);
  EXPECT_THAT(std::string(Message(archive.status())), HasSubstr("only links"));
}

TEST_F(ArchiveTest, AnEmptyArchiveIsSaid) {
  const fs::path path = Write("empty.zip", Pack({}, true));
  EXPECT_THAT(std::string(Message(Import(path))), HasSubstr("no files in it"));
}

}  // namespace
}  // namespace xlaprof
