#include "profiler/launch/secret_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "profiler/import/archive.h"
#include "profiler/import/input.h"
#include "profiler/launch/compress.h"
#include "profiler/launch/tar_writer.h"
#include "profiler/launch/zip_writer.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kText = "first\npassword=hunter2222\nlast\n",
                           kMasked = "first\npassword=**********\nlast\n";

Masking RemoveFrom(std::string& bytes) {
  Masking masking;
  RemoveFromFile(Secrets(Secrets::Variables()), "x", bytes, masking);
  return masking;
}

std::string Plain(const std::string& bytes) {
  const auto file = InputFile::OfBytes("x", bytes);
  return file.ok() ? std::string(file->bytes()) : "unreadable";
}

std::string Tar(std::string_view bytes) {
  std::string tar;
  TarWriter writer([&](std::string_view part) {
    tar += part;
    return absl::OkStatus();
  });
  EXPECT_TRUE(writer.AddFile("before", 1, "nothing").ok());
  EXPECT_TRUE(writer.AddFile("x", 1, bytes).ok());
  EXPECT_TRUE(writer.Finish().ok());
  return tar;
}

std::string Zip(std::string_view bytes) {
  ZipWriter zip;
  EXPECT_TRUE(zip.Add("x", 1'700'000'000, bytes).ok());
  return std::move(zip).Finish();
}

// Returns the last member of an archive.
std::string LastOf(const std::string& bytes) {
  const auto archive = Archive::OfBytes("x", bytes, [](std::string_view) { return true; });
  return archive.ok() ? std::string((*archive)->members().back().bytes) : "unreadable";
}

TEST(SecretFiles, GzipAndZstd) {
  for (bool zstd : {false, true}) {
    const auto pack = [&](std::string_view text) {
      return *(zstd ? Zstd(text) : Deflated(text, DeflateForm::kGzip));
    };
    std::string bytes = pack(kText);
    EXPECT_EQ(RemoveFrom(bytes).secrets, 1);
    EXPECT_EQ(Plain(bytes), kMasked);
    EXPECT_EQ(bytes.substr(0, 2), pack(kText).substr(0, 2));
    const std::string harmless = pack("max_tokens=4096");
    bytes = harmless;
    EXPECT_EQ(RemoveFrom(bytes).secrets, 0);
    EXPECT_EQ(bytes, harmless);
  }
}

TEST(SecretFiles, ArchivesInArchives) {
  std::string bytes = Zip(kText);
  EXPECT_EQ(RemoveFrom(bytes).secrets, 1);
  EXPECT_EQ(LastOf(bytes), kMasked);
  bytes = Tar(kText);
  EXPECT_EQ(RemoveFrom(bytes).secrets, 1);
  EXPECT_EQ(LastOf(bytes), kMasked);
  // The packed member changes its size.
  bytes = *Deflated(Tar(*Zstd(Zip(kText))), DeflateForm::kGzip);
  EXPECT_EQ(RemoveFrom(bytes).secrets, 1);
  EXPECT_EQ(LastOf(Plain(LastOf(Plain(bytes)))), kMasked);
}

TEST(SecretFiles, Utf16) {
  for (const char* mark : {"\xff\xfe", "\xfe\xff", ""}) {
    std::string wide = mark, expected = mark;
    for (size_t i = 0; i < kText.size(); ++i) {
      const bool is_big = std::string_view(mark).starts_with("\xfe");
      for (auto& [to, text] : {std::pair{&wide, kText}, std::pair{&expected, kMasked}}) {
        if (is_big) *to += '\0';
        *to += text[i];
        if (!is_big) *to += '\0';
      }
    }
    EXPECT_EQ(RemoveFrom(wide).secrets, 1);
    EXPECT_EQ(wide, expected);
  }
}

TEST(SecretFiles, SaysWhatWasNotLookedInto) {
  std::string bytes(
      "\xfd"
      "7zXZ\0...",
      9);
  EXPECT_THAT(RemoveFrom(bytes).unread, ElementsAre("x (xz)"));
  bytes = *Deflated(Tar(bytes), DeflateForm::kGzip);
  EXPECT_THAT(RemoveFrom(bytes).unread, ElementsAre("x/x (xz)"));
  std::string text(kText);
  EXPECT_THAT(RemoveFrom(text).unread, IsEmpty());
}

TEST(SecretFiles, ACutFileIsSearchedAsFarAsItGoes) {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 100'000; ++i)
    noise += char('a' + (x = x * 1664525 + 1013904223) % 17);
  const std::string whole = *Deflated(std::string(kText) + noise, DeflateForm::kGzip);
  std::string bytes = whole.substr(0, whole.size() / 2);
  const Masking masking = RemoveFrom(bytes);
  EXPECT_EQ(masking.secrets, 1);
  EXPECT_TRUE(masking.is_lossy);
  EXPECT_THAT(masking.unread, ElementsAre(HasSubstr("damaged")));
  EXPECT_THAT(Plain(bytes), HasSubstr(std::string(kMasked)));
}

TEST(SecretFiles, StoresStayStores) {
  const auto folder = TemporaryFolder::Make("secret-files-test");
  ASSERT_TRUE(folder.ok());
  const std::filesystem::path path = folder->path() / "s.xlaprof";
  {
    auto store = Store::Create(path);
    ASSERT_TRUE(store.ok());
    // A long text lies in several pages.
    ASSERT_TRUE(
        store->Intern(std::string(3000, 'x') + " token=abcdefgh0123 " + std::string(9000, 'y'))
            .ok());
    ASSERT_TRUE(
        store
            ->Exec(
                "INSERT INTO process (id, segment, name) VALUES (1, 0, 'python --password cliPw1')")
            .ok());
    ASSERT_TRUE(
        store
            ->Exec(
                "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 't', 1)")
            .ok());
    ASSERT_TRUE(
        store
            ->Exec(
                "BEGIN; INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (1, 0, 5, 'login');"
                "INSERT INTO arg (event_id, key, value) VALUES (last_insert_rowid(), 'password', 'argPw2');"
                "INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (1, 9, 5, 'log');"
                "INSERT INTO arg (event_id, key, value) VALUES (last_insert_rowid(), 'batch', 'harmless'); COMMIT")
            .ok());
    ASSERT_TRUE(store->CloseLog().ok());
  }
  std::string bytes = ReadFile(path);
  ASSERT_THAT(bytes, HasSubstr("argPw2"));
  EXPECT_EQ(RemoveFrom(bytes).secrets, 3);
  for (const char* secret : {"abcdefgh0123", "cliPw1", "argPw2"})
    EXPECT_THAT(bytes, Not(HasSubstr(secret)));
  std::ofstream(folder->path() / "masked.xlaprof", std::ios::binary) << bytes;
  const auto masked = Store::Open(folder->path() / "masked.xlaprof");
  ASSERT_TRUE(masked.ok()) << masked.status();
  EXPECT_EQ(*masked->One<std::string>("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(*masked->One<std::string>("SELECT value FROM arg WHERE key = 'password'"), "******");
  EXPECT_EQ(*masked->One<std::string>("SELECT value FROM arg WHERE key = 'batch'"), "harmless");
  EXPECT_EQ(*masked->One<int64_t>("SELECT count(*) FROM event"), 2);
}

}  // namespace
}  // namespace xlaprof
