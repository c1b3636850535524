// Tests damaged stores: every row on an intact page is still read, and nothing crashes.
#include "profiler/store/damaged_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>

#include "profiler/store/events.h"
#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPage = kPageBytes;
constexpr int kTracks = 25, kEventsATrack = 2000;  // written in each half, with one chunk per track

void WriteFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), std::streamsize(bytes.size()));
}

std::string TextOf(int i) {
  return fmt::format("string number {:06d}, long enough to be told from all others", i);
}

// Adds events whose columns do not compress, so that each chunk has overflow pages.
void AddEvents(EventWriter& writer, int64_t track, int count, std::mt19937_64& random) {
  int64_t ts = 0;
  for (int i = 0; i < count; ++i) {
    ts += int64_t(random() % 1'000'000);
    ASSERT_TRUE(writer
                    .Add(track, {.ts_ns = ts,
                                 .dur_ns = int64_t(random() % 1'000'000'000),
                                 .name = StringId(1 + random() % 300)})
                    .ok());
    if (i % 10 == 0) writer.Arg(1, int64_t(random()));
  }
}

class DamagedStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("damaged_store_{}_{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ / "run.xlaprof";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Makes tables of several levels. With `keep_log`, the second half stays in the -wal file.
  void Make(bool keep_log) {
    std::mt19937_64 random(1);
    auto made = Store::Create(path_);
    ASSERT_TRUE(made.ok()) << made.status();
    Store store = *std::move(made);
    EventWriter writer(store);
    for (int half = 0; half < 2; ++half) {
      ASSERT_TRUE(store.Begin().ok());
      for (int i = 0; i < 1500; ++i) {
        ASSERT_TRUE(store.Intern(TextOf(half * 1500 + i)).ok());
        ASSERT_TRUE(
            store.Add(CompileRow{.ordinal = half * 1500 + i, .graph_id = i, .ts_ns = i * 10}).ok());
        ASSERT_TRUE(store.Add(CounterRow{.report_id = half, .name = TextOf(i), .value = i}).ok());
      }
      for (int track = 1; track <= kTracks; ++track) {
        ASSERT_TRUE(store
                        .Run("INSERT OR IGNORE INTO track (id, kind, name, sort) VALUES (?1, "
                             "'host_thread', ?2, 0)",
                             track, fmt::format("thread {}", track))
                        .ok());
        AddEvents(writer, track, kEventsATrack, random);
      }
      ASSERT_TRUE(writer.Flush().ok());
      ASSERT_TRUE(store.Commit().ok());
      if (half == 0) {
        ASSERT_TRUE(store.Exec("PRAGMA wal_checkpoint(TRUNCATE)").ok());
      }
    }
    ASSERT_TRUE(store
                    .Each("SELECT id, columns FROM event_chunk",
                          [&](int64_t id, std::string blob) { blobs_[id] = blob; })
                    .ok());
    if (!keep_log) return;  // SQLite moves the log into the file when the last connection closes
    file_ = ReadFile(path_);
    log_ = ReadFile(path_.string() + "-wal");
    ASSERT_GT(log_.size(), kPage);
  }

  // Returns the chunks that are partly on this page.
  std::set<int64_t> ChunksOn(std::string_view page) const {
    std::set<int64_t> out;
    for (const auto& [id, blob] : blobs_) {
      if (page.find(std::string_view(blob).substr(0, 40)) != page.npos ||
          (page.size() == kPage && blob.find(page.substr(4, 40)) != blob.npos)) {
        out.insert(id);
      }
    }
    return out;
  }

  struct Read {
    absl::Status status;
    RecoveredRows result;
    std::set<int64_t> chunks;
    std::set<std::string> strings;
    std::string issue;
    int64_t events = 0, counters = 0, compiles = 0;
  };

  Read Recover(std::string_view file, std::string_view log = {}) {
    fs::path damaged = folder_ / "damaged.xlaprof";
    WriteFile(damaged, file);
    fs::remove(damaged.string() + "-wal");
    if (!log.empty()) WriteFile(damaged.string() + "-wal", log);
    Read out;
    auto into = Store::CreateTemporary();
    auto result = ReadDamagedStore(damaged, *into);
    out.status = result.status();
    EXPECT_EQ(ReadFile(damaged), file);  // the damaged file is never altered
    if (!result.ok()) {
      EXPECT_THAT(std::string(Message(out.status)), ::testing::HasSubstr(damaged.string()));
      return out;
    }
    out.result = *result;
    EXPECT_TRUE(
        into->Each("SELECT id FROM event_chunk", [&](int64_t id) { out.chunks.insert(id); }).ok());
    EXPECT_TRUE(
        into->Each("SELECT text FROM string", [&](std::string text) { out.strings.insert(text); })
            .ok());
    auto scanner = EventScanner::Make(*into, {});
    EventBatch batch;
    while (*scanner->Next(&batch)) out.events += int64_t(batch.size);
    EXPECT_EQ(scanner->skipped_chunks(), 0);
    EXPECT_EQ(out.events, result->events);
    out.counters = into->One<int64_t>("SELECT count(*) FROM counter")->value_or(0);
    out.compiles = into->One<int64_t>("SELECT count(*) FROM compile")->value_or(0);
    out.issue =
        into->One<std::string>("SELECT advice FROM import_issue WHERE code = 'damaged_store'")
            ->value_or("");
    EXPECT_FALSE(out.issue.empty());
    return out;
  }

  fs::path folder_, path_;
  std::string file_, log_;
  std::map<int64_t, std::string> blobs_;
};

TEST_F(DamagedStoreTest, IntactStoreComesBackWhole) {
  Make(false);
  Read read = Recover(ReadFile(path_));
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.result.lost_rows + read.result.missing_pages, 0) << read.issue;
  EXPECT_EQ(read.chunks.size(), 2u * kTracks);
  EXPECT_EQ(read.events, 2 * kTracks * kEventsATrack);
  EXPECT_EQ(read.strings.size(), 3000u);
  EXPECT_EQ(read.counters, 3000);
  EXPECT_EQ(read.compiles, 3000);
}

TEST_F(DamagedStoreTest, AnySinglePageMayBeLost) {
  Make(false);
  const std::string good = ReadFile(path_);
  ASSERT_GT(good.size(), 100 * kPage);
  int interiors = 0;
  for (size_t page = 0; page < good.size() / kPage; page += page < 60 ? 1 : 5) {
    std::string_view original = std::string_view(good).substr(page * kPage, kPage);
    std::string bytes = good;
    bytes.replace(page * kPage, kPage, kPage, '\0');
    Read read = Recover(bytes);
    ASSERT_TRUE(read.status.ok()) << page << read.status;
    std::set<int64_t> hit = ChunksOn(original);
    for (const auto& [id, blob] : blobs_) {
      ASSERT_TRUE(read.chunks.contains(id) || hit.contains(id))
          << "page " << page + 1 << " chunk " << id;
    }
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(read.strings.contains(TextOf(i)) || original.find(TextOf(i)) != original.npos)
          << "page " << page + 1 << " string " << i;
    }
    char kind = original[page == 0 ? 100 : 0];
    if (kind == 5 || kind == 2) ++interiors;
    if (kind == 5) {
      EXPECT_EQ(read.compiles, 3000) << page + 1;
      EXPECT_EQ(read.counters, 3000) << page + 1;
    }
  }
  EXPECT_GE(interiors, 5);
}

TEST_F(DamagedStoreTest, CutAnywhere) {
  Make(false);
  const std::string good = ReadFile(path_);
  for (size_t cut = good.size() - 1; cut > 3 * kPage; cut -= std::min(cut, 17 * kPage + 1234)) {
    std::set<int64_t> hit;
    std::string bytes = good.substr(0, cut);
    const std::string_view gone = std::string_view(good).substr(cut / kPage * kPage);
    for (size_t page = cut / kPage; page < good.size() / kPage; ++page) {
      hit.merge(ChunksOn(std::string_view(good).substr(page * kPage, kPage)));
    }
    Read read = Recover(bytes);
    ASSERT_TRUE(read.status.ok() || hit.size() == blobs_.size()) << cut << read.status;
    if (!read.status.ok()) continue;  // nothing was left
    for (const auto& [id, blob] : blobs_) {
      ASSERT_TRUE(read.chunks.contains(id) || hit.contains(id)) << "cut " << cut << " chunk " << id;
      ASSERT_FALSE(read.chunks.contains(id) && hit.contains(id))
          << "cut " << cut << " chunk " << id;
    }
    for (int i = 0; i < 3000; i += 7) {
      ASSERT_TRUE(read.strings.contains(TextOf(i)) || gone.find(TextOf(i)) != gone.npos)
          << "cut " << cut << " string " << i;
    }
    EXPECT_EQ(read.result.missing_pages, int64_t(good.size() / kPage - cut / kPage));
  }
}

TEST_F(DamagedStoreTest, LogIsRead) {
  Make(true);
  Read read = Recover(file_, log_);
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.result.lost_rows, 0) << read.issue;
  EXPECT_EQ(read.chunks.size(), 2u * kTracks);
  EXPECT_EQ(read.strings.size(), 3000u);
  read = Recover(file_);  // without the log: the first half
  EXPECT_EQ(read.chunks.size(), size_t(kTracks));
  EXPECT_EQ(read.result.lost_rows, 0) << read.issue;
}

// SQLite ends at the first frame with a wrong checksum. What was committed before it is read.
TEST_F(DamagedStoreTest, FramesBeforeABrokenOneAreRead) {
  Make(true);
  const size_t frame = kPage + 24;
  for (size_t i = 0; i < (log_.size() - 32) / frame; i += 50) {
    std::string bytes = log_;
    bytes.replace(32 + i * frame + 24, kPage, kPage, '\xaa');
    Read read = Recover(file_, bytes);
    ASSERT_TRUE(read.status.ok()) << read.status;
    EXPECT_EQ(read.chunks.size(), size_t(kTracks)) << "frame " << i;
  }
}

TEST_F(DamagedStoreTest, CutLog) {
  Make(true);
  // A log without its commit frame was never committed.
  Read read = Recover(file_, std::string_view(log_).substr(0, log_.size() - 1));
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.chunks.size(), size_t(kTracks));
  // The file is cut to a few pages, but the log still holds the second half.
  read = Recover(std::string_view(file_).substr(0, 3 * kPage), log_);
  ASSERT_TRUE(read.status.ok()) << read.status;
  for (const auto& [id, blob] : blobs_) EXPECT_EQ(read.chunks.contains(id), id > kTracks) << id;
}

TEST_F(DamagedStoreTest, OverwrittenPagesAreToldApart) {
  Make(false);
  const std::string good = ReadFile(path_);
  const size_t pages = good.size() / kPage;
  for (size_t page = 1; page + 1 < pages; page += 9) {
    std::string bytes = good;
    bytes.replace(page * kPage, kPage,
                  good.substr((page + 1) * kPage, kPage));  // a copy of the page after it
    Read read = Recover(bytes);
    ASSERT_TRUE(read.status.ok()) << page << read.status;
    std::set<int64_t> hit = ChunksOn(std::string_view(good).substr(page * kPage, kPage));
    for (const auto& [id, blob] : blobs_) {
      ASSERT_TRUE(read.chunks.contains(id) || hit.contains(id))
          << "page " << page + 1 << " chunk " << id;
    }
  }
}

TEST_F(DamagedStoreTest, FlippedBytesNeverCrash) {
  Make(true);
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    std::string file = file_, log = log_;
    for (int k = 0; k < 40; ++k) file[random() % file.size()] = char(random());
    for (int k = 0; k < 10; ++k)
      file[random() % (file.size() / kPage) * kPage + random() % 16] = char(random());
    for (int k = 0; k < round % 3; ++k) log[random() % log.size()] = char(random());
    for (size_t page = kPage; round % 5 == 0 && page + kPage <= file.size(); page += kPage) {
      if (file[page] != 5 && file[page] != 2)
        continue;  // interior pages may lead anywhere, also to themselves
      for (size_t at = page + 8; at < page + kPage; at += 1 + random() % 64)
        file[at] = char(random() % 4);
      file.replace(page + 8, 4, std::string{0, 0, char(page / kPage >> 8), char(page / kPage + 1)});
    }
    if (round % 4 == 0) file.resize(random() % file.size());
    (void)Recover(file, log);
  }
}

// SQLite opens no file with any of these bytes.
TEST_F(DamagedStoreTest, ABrokenHeaderIsReplaced) {
  Make(false);
  const std::string good = ReadFile(path_);
  for (const size_t at : {0, 16, 18, 19, 20, 21, 22, 23, 44, 47, 56, 59}) {
    std::string bytes = good;
    bytes[at] = char(0x77);
    Read read = Recover(bytes);
    ASSERT_TRUE(read.status.ok()) << at << read.status;
    EXPECT_EQ(read.chunks.size(), 2u * kTracks) << at;
    EXPECT_EQ(read.compiles, 3000) << at;
  }
}

TEST_F(DamagedStoreTest, DeletedRowsStayDeleted) {
  Make(false);
  {
    Store store = *Store::OpenForWriting(path_);
    ASSERT_TRUE(store.Exec("DELETE FROM compile; DELETE FROM event_chunk WHERE id % 2 = 0").ok());
  }
  std::string bytes = ReadFile(path_);
  Read read = Recover(bytes);
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.result.lost_rows, 0) << read.issue;
  EXPECT_EQ(read.compiles, 0);
  EXPECT_EQ(read.chunks.size(), size_t(kTracks));
  EXPECT_EQ(read.counters, 3000);
}

TEST_F(DamagedStoreTest, ForeignFilesAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Recover("").status));
  EXPECT_TRUE(absl::IsInvalidArgument(Recover(std::string(100'000, 'x')).status));
  auto into = Store::CreateTemporary();
  EXPECT_TRUE(absl::IsNotFound(ReadDamagedStore(folder_ / "absent", *into).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadDamagedStore(folder_, *into).status()));
  Make(false);
  std::string bytes = ReadFile(path_);
  bytes[63] = char(kSchemaVersion + 1);
  Read read = Recover(bytes);
  EXPECT_TRUE(absl::IsUnimplemented(read.status));
  EXPECT_THAT(std::string(Message(read.status)),
              ::testing::HasSubstr(fmt::format("version {}", kSchemaVersion + 1)));
}

TEST_F(DamagedStoreTest, LostTracksAreNamedSo) {
  Make(false);
  std::string bytes = ReadFile(path_);
  for (size_t page = 0; page < bytes.size() / kPage; ++page) {
    if (bytes.substr(page * kPage, kPage).find(fmt::format("thread {}", kTracks)) !=
        std::string::npos)
      bytes.replace(page * kPage, kPage, kPage, '\0');
  }
  WriteFile(folder_ / "d", bytes);
  auto into = Store::CreateTemporary();
  ASSERT_TRUE(ReadDamagedStore(folder_ / "d", *into).ok());
  EXPECT_EQ(*into->One<std::string>("SELECT name FROM track WHERE id = 25"),
            "track 25 (its name was lost)");
}

}  // namespace
}  // namespace xlaprof
