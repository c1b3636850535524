#include "profiler/store/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Origin kPart{.writer = "xlaprof 1.2.3",
                   .is_whole = false,
                   .from_ns = 1'700'000'000'000'000'000,
                   .sources = {"12-00ff", "recording-ab"}};

TEST(Origin, IsFoundAtBothEndsOfAFile) {
  const std::string mark = TextOf(kPart), far(5000, '.');
  for (const std::string& file : {mark, "{\"origin\":\"" + mark + "\"," + far, far + mark + "\n"}) {
    const std::optional<Origin> found = FindOrigin(file);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->writer, kPart.writer);
    EXPECT_FALSE(found->is_whole);
    EXPECT_EQ(found->from_ns, kPart.from_ns);
    EXPECT_EQ(found->to_ns, std::nullopt);
    EXPECT_EQ(found->sources, kPart.sources);
  }
  EXPECT_FALSE(FindOrigin(far + mark + far)) << "a text in the middle is the file's own";
}

TEST(Origin, OfAMarkThatIsCutIsUnknown) {
  const std::string mark = TextOf(kPart);
  for (size_t size = 0; size < mark.size(); ++size) EXPECT_FALSE(FindOrigin(mark.substr(0, size)));
  for (const char* other : {"[[xlaprof-origin 1; ]]", "[[xlaprof-origin 1; a; b; c; d; e]]"})
    EXPECT_FALSE(FindOrigin(other)) << other;
}

TEST(Origin, MarkNamesABoundedNumberOfSources) {
  Origin origin;
  for (size_t i = 0; i < 2 * kMostSources; ++i) origin.sources.push_back(fmt::to_string(i));
  EXPECT_EQ(FindOrigin(TextOf(origin))->sources.size(), kMostSources);
}

TEST(Origin, OverlapsWhereSourceAndTimeDo) {
  const Origin first{.to_ns = 10, .sources = {"a", "b"}}, second{.from_ns = 10, .sources = {"b"}},
      third{.from_ns = 9, .sources = {"b"}}, other{.sources = {"c"}};
  EXPECT_FALSE(first.Overlaps(second));
  EXPECT_FALSE(second.Overlaps(first));
  EXPECT_TRUE(first.Overlaps(third));
  EXPECT_TRUE(second.Overlaps(third));
  EXPECT_FALSE(first.Overlaps(other));
}

TEST(ContentIdentity, DependsOnTheContent) {
  std::string bytes(1 << 20, 'a');
  const std::string before = ContentIdentity(bytes);
  EXPECT_EQ(ContentIdentity(std::string(bytes)), before);
  EXPECT_EQ(SizeIn(before), bytes.size());
  for (const size_t at : {size_t{0}, bytes.size() - 1}) {
    bytes[at] = 'b';
    EXPECT_NE(ContentIdentity(bytes), before) << at;
    bytes[at] = 'a';
  }
  EXPECT_NE(ContentIdentity(bytes + "a"), before);
  // Files that other versions of xlaprof have marked must be found again.
  EXPECT_EQ(ContentIdentity("xlaprof"), "7-93d6d022a3e8a96b");
}

class OriginOfFile : public testing::Test {
 protected:
  // Makes a file of SQLite by these statements.
  StoreOrigin Of(const std::string& sql) {
    const std::filesystem::path path = folder_.path() / "file.db";
    std::filesystem::remove(path);
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close_v2(db);
    return OriginOfStoreFile(path);
  }
  const TemporaryFolder folder_ = *TemporaryFolder::Make("origin");
};

TEST_F(OriginOfFile, IsItsMarkOrItsRecordings) {
  const std::string tables =
      "CREATE TABLE event_chunk (id); CREATE TABLE meta (key, value); CREATE TABLE recording (id, "
      "ring_key); INSERT INTO recording VALUES (1, 'ab');";
  const StoreOrigin recorded = Of(tables);
  EXPECT_TRUE(recorded.is_store);
  EXPECT_FALSE(recorded.made_from);
  EXPECT_THAT(recorded.identities, ElementsAre("recording-ab"));
  const StoreOrigin imported =
      Of(tables + "INSERT INTO meta VALUES ('origin', '" + TextOf(kPart) + "')");
  ASSERT_TRUE(imported.made_from);
  EXPECT_EQ(imported.made_from->sources, kPart.sources);
  EXPECT_THAT(imported.identities, IsEmpty());
  EXPECT_FALSE(Of("CREATE TABLE t (id)").is_store);
}

// Such a view has no end.
TEST_F(OriginOfFile, RunsNoSqlOfAHostileFile) {
  const std::string view =
      " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS ";
  const StoreOrigin origin =
      Of("CREATE VIEW meta" + view + "key, i AS value FROM n; CREATE VIEW recording" + view +
         "id, i AS ring_key FROM n");
  EXPECT_FALSE(origin.made_from);
  EXPECT_THAT(origin.identities, IsEmpty());
}

}  // namespace
}  // namespace xlaprof
