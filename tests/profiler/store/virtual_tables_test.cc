// Tests reading events, arguments, flows and samples with SQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns rows as text, with NULL as "-".
std::vector<std::string> Query(const Store& store, const std::string& sql) {
  std::vector<std::string> rows;
  auto statement = store.Prepare(sql);
  EXPECT_TRUE(statement.ok()) << statement.status() << "\n" << sql;
  if (!statement.ok()) return rows;
  while (true) {
    auto row = statement->Step();
    EXPECT_TRUE(row.ok()) << row.status();
    if (!row.ok() || !*row) return rows;
    std::string text;
    for (int i = 0; i < sqlite3_column_count(statement->get()); ++i) {
      if (i > 0) text += ' ';
      text += statement->IsNull(i) ? "-" : statement->Column<std::string>(i);
    }
    rows.push_back(text);
  }
}

int64_t ChunksRead(const Store& store) {
  return **store.One<int64_t>("SELECT xlaprof_chunks_read()");
}

// A store with three tracks; track 1 has three chunks that overlap in time, and every kind of value
// that a column can hold.
class VirtualTables : public testing::Test {
 protected:
  VirtualTables() {
    StringId names[] = {Id("matmul"), Id("add"), Id("rare")},
             categories[] = {0, Id("op"), Id("host")};
    StringId size = Id("size"), label = Id("label");
    std::mt19937 random(7);
    EventWriter writer(store_);
    for (int flush = 0; flush < 3; ++flush) {
      for (int i = 0; i < 200; ++i) {
        int track = 1 + int(random() % 3);
        bool rare = flush == 2 && track == 1 && i % 7 == 0;
        Event event{.ts_ns = int64_t(flush * 5000 + random() % 8000),
                    .dur_ns = int64_t(random() % 50) - 1,
                    .name = names[rare ? 2 : random() % 2],
                    .category = categories[random() % 3]};
        if (i % 20 == 3) event.flow_out = uint64_t(flush * 10 + i / 40 + 1);
        if (i % 20 == 9) event.flow_in = uint64_t(flush * 10 + i / 40 + 1);
        EXPECT_TRUE(writer.Add(track, event).ok());
        if (random() % 2) writer.Arg(size, int64_t(random() % 100));
        if (random() % 3 == 0) writer.Arg(label, Text{names[random() % 2]});
      }
      EXPECT_TRUE(writer.Flush().ok());
    }
    writer.NameArg(1, names[0], Id("kernel"), Text{names[1]});
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(writer.Counter(9, i * 10, i * 0.5).ok());
    EXPECT_TRUE(writer.Flush().ok());
    for (int i = 50; i < 90; ++i) EXPECT_TRUE(writer.Counter(9, i * 10, i * 0.5).ok());
    EXPECT_TRUE(writer.Counter(10, 5, -1).ok());
    EXPECT_TRUE(writer.Flush().ok());
    // The same rows are kept without chunks for comparison.
    EXPECT_TRUE(store_.Exec("CREATE TEMP TABLE plain AS SELECT * FROM event").ok());
    EXPECT_TRUE(store_.Exec("CREATE TEMP TABLE plain_arg AS SELECT * FROM arg").ok());
  }

  StringId Id(std::string_view text) { return *store_.Intern(text); }

  // Runs the same query on the virtual table and on the plain one; the results must be equal.
  // `where` uses unqualified columns of event.
  void ExpectSame(const std::string& where) {
    std::string tail = " WHERE " + where + " ORDER BY id";
    EXPECT_EQ(Query(store_, "SELECT * FROM event" + tail),
              Query(store_, "SELECT * FROM plain" + tail))
        << where;
    EXPECT_EQ(Query(store_, "SELECT count(*) FROM event WHERE " + where),
              Query(store_, "SELECT count(*) FROM plain WHERE " + where))
        << where;
  }
  int64_t ReadsOf(const std::string& sql) {
    int64_t before = ChunksRead(store_);
    Query(store_, sql);
    return ChunksRead(store_) - before;
  }

  Store store_ = *Store::CreateTemporary();
};

TEST_F(VirtualTables, EqualTheScanner) {
  auto scanner = EventScanner::Make(store_, {});
  ASSERT_TRUE(scanner.ok());
  EventBatch batch;
  size_t rows = 0;
  std::vector<std::string> scanned;
  auto optional = [](bool there, auto value) {
    return there ? fmt::to_string(value) : std::string("-");
  };
  while (*scanner->Next(&batch)) {
    for (size_t i = 0; i < batch.size; ++i, ++rows) {
      scanned.push_back(
          fmt::format("{} {} {} {} {} {} {} {} {}", batch.first_event_id + int64_t(i),
                      batch.track_id, batch.ts_ns[i],
                      optional(batch.dur_ns[i] >= 0, batch.dur_ns[i]), store_.Text(batch.name[i]),
                      optional(batch.category[i] != 0, store_.Text(batch.category[i])),
                      batch.depth[i], optional(batch.flow_in[i] != 0, batch.flow_in[i]),
                      optional(batch.flow_out[i] != 0, batch.flow_out[i])));
    }
  }
  ASSERT_EQ(rows, 600u);
  EXPECT_EQ(Query(store_,
                  "SELECT id, track_id, ts_ns, dur_ns, name, category, depth, flow_in, flow_out "
                  "FROM event"),
            scanned);
}

TEST_F(VirtualTables, FiltersLikeAPlainTable) {
  for (const char* where : {"1",
                            "track_id = 2",
                            "track_id IN (3, 1)",
                            "track_id = 99",
                            "track_id > 1 AND track_id < 3",
                            "id = 17",
                            "id = 0",
                            "id = 601",
                            "id BETWEEN 150 AND 320",
                            "id > 598",
                            "id < 2",
                            "id = 5 AND track_id = 2",
                            "ts_ns >= 6000 AND ts_ns < 9000",
                            "ts_ns = 6000",
                            "ts_ns <= 100.5",
                            "ts_ns > 9000.5 AND track_id = 1",
                            "ts_ns > -1e30",
                            "ts_ns < 1e30",
                            "ts_ns > 1e30",
                            "ts_ns > '9000'",
                            "ts_ns >= 9223372036854775807",
                            "ts_ns > 9223372036854775807",
                            "ts_ns < -9223372036854775808",
                            "ts_ns = NULL",
                            "id > NULL",
                            "name = 'rare'",
                            "name = 'nobody'",
                            "name = 'RARE' COLLATE NOCASE",
                            "name = 7",
                            "name = NULL",
                            "name = x'72617265'",
                            "name = 'add' AND category = 'op' AND ts_ns > 7000",
                            "category = 'host'",
                            "category IS NULL",
                            "dur_ns IS NULL",
                            "dur_ns > 40",
                            "name_id = 1",
                            "category_id = 4",
                            "name LIKE 'ra%'",
                            "ts_ns > 500 OR track_id = 3",
                            "rowid = 33",
                            "depth > 0",
                            "flow_in IS NOT NULL AND flow_out IS NULL",
                            "id IN (5, 17, 5000, 590)"}) {
    ExpectSame(where);
  }
}

TEST_F(VirtualTables, HonoursOrderBy) {
  EXPECT_EQ(Query(store_, "SELECT ts_ns, id FROM event WHERE track_id = 1 ORDER BY ts_ns, id"),
            Query(store_, "SELECT ts_ns, id FROM plain WHERE track_id = 1 ORDER BY ts_ns, id"));
}

TEST_F(VirtualTables, SkipChunksThatCannotMatch) {
  int64_t all = ReadsOf("SELECT sum(ts_ns) FROM event");
  EXPECT_EQ(all, **store_.One<int64_t>("SELECT count(*) FROM event_chunk"));
  EXPECT_EQ(ReadsOf("SELECT sum(ts_ns) FROM event WHERE track_id = 1"),
            **store_.One<int64_t>("SELECT count(*) FROM event_chunk WHERE track_id = 1"));
  EXPECT_EQ(ReadsOf("SELECT sum(ts_ns) FROM event WHERE ts_ns > 13500"),
            **store_.One<int64_t>("SELECT count(*) FROM event_chunk WHERE max_end_ns > 13500"));
  EXPECT_EQ(ReadsOf("SELECT sum(ts_ns) FROM event WHERE name = 'rare'"),
            1);  // the only chunk that has it
  EXPECT_EQ(ReadsOf("SELECT sum(ts_ns) FROM event WHERE name = 'nobody'"), 0);
  EXPECT_EQ(ReadsOf("SELECT ts_ns FROM event WHERE id = 300"), 1);
  // The chunk is cached from the previous query.
  EXPECT_EQ(ReadsOf("SELECT ts_ns FROM event WHERE id IN (301, 302, 303)"), 0);
  EXPECT_EQ(ReadsOf("SELECT ts_ns FROM event WHERE id > 595"), 1);
  EXPECT_EQ(ReadsOf("SELECT sum(value) FROM counter_sample WHERE track_id = 9 AND ts_ns >= 600"),
            1);
}

TEST_F(VirtualTables, JoinsUseTheIdIndex) {
  ASSERT_TRUE(store_
                  .Exec("INSERT INTO track (id, kind, name, sort) VALUES (1, 'device', 'XLA Ops', "
                        "0), (2, 'host_thread', 'python', 0)")
                  .ok());
  const char* join =
      "SELECT t.name, e.name, count(*), sum(a.value) FROM {0} e JOIN {1} a ON a.event_id = e.id "
      "JOIN track t ON t.id = e.track_id "
      "WHERE a.key = 'size' GROUP BY 1, 2 ORDER BY 1, 2";
  auto rows = Query(store_, fmt::format(fmt::runtime(join), "event", "arg"));
  EXPECT_EQ(rows, Query(store_, fmt::format(fmt::runtime(join), "plain", "plain_arg")));
  EXPECT_GE(rows.size(), 4u);
  // A join looks events up by id, whichever way round it is written.
  for (const char* sql :
       {"EXPLAIN QUERY PLAN SELECT e.name FROM arg a JOIN event e ON e.id = a.event_id",
        "EXPLAIN QUERY PLAN SELECT e.name FROM event e CROSS JOIN arg a ON e.id = a.event_id"}) {
    std::string plan;
    for (const std::string& row : Query(store_, sql)) plan += row + "\n";
    EXPECT_THAT(plan, HasSubstr(":0,2;")) << plan;  // column 0 (id, event_id), operator =
  }
}

TEST_F(VirtualTables, ArgumentsEqualReadArguments) {
  std::vector<std::string> read;
  auto chunks = store_.Collect(
      "SELECT id, first_event_id, count FROM event_chunk ORDER BY first_event_id",
      [](int64_t id, int64_t first, int64_t count) { return std::array{id, first, count}; });
  ASSERT_TRUE(chunks.ok());
  for (auto [id, first, count] : *chunks) {
    for (int64_t i = 0; i < count; ++i) {
      auto arguments = ReadArguments(store_, id, i);
      ASSERT_TRUE(arguments.ok());
      for (const Argument& argument : *arguments) {
        auto* text = std::get_if<Text>(&argument.value);
        read.push_back(fmt::format("{} {} {}", first + i, store_.Text(argument.key),
                                   text ? std::string(store_.Text(text->id))
                                        : fmt::to_string(std::get<int64_t>(argument.value))));
      }
    }
  }
  ASSERT_GT(read.size(), 300u);
  EXPECT_EQ(Query(store_, "SELECT event_id, key, value FROM arg ORDER BY event_id, key"), read);
  for (const char* where :
       {"event_id = 40", "key = 'label'", "key = 'nothing'", "event_id BETWEEN 90 AND 260",
        "event_id > 300 AND key = 'size'", "key_id = 6", "event_id = 0", "event_id = NULL"}) {
    std::string tail = std::string(" WHERE ") + where + " ORDER BY event_id, key";
    EXPECT_EQ(Query(store_, "SELECT * FROM arg" + tail),
              Query(store_, "SELECT * FROM plain_arg" + tail))
        << where;
  }
}

TEST_F(VirtualTables, FlowPairsEvents) {
  const char* join =
      "SELECT a.id AS f, b.id AS t, a.flow_out AS n FROM plain a JOIN plain b ON a.flow_out = "
      "b.flow_in";
  auto pairs = Query(store_, fmt::format("{} ORDER BY 1, 2", join));
  ASSERT_GT(pairs.size(), 20u);
  EXPECT_EQ(Query(store_, "SELECT * FROM flow ORDER BY 1, 2"), pairs);
  std::string from = pairs[5].substr(0, pairs[5].find(' '));
  std::string to = pairs[5].substr(from.size() + 1, pairs[5].rfind(' ') - from.size() - 1);
  for (const std::string& where : {"f = " + from, "t = " + to, "f = " + from + " AND t = " + to,
                                   std::string("n = 12"), std::string("f > 300 AND n = 12"),
                                   std::string("n = 999"), std::string("t < 200 AND f < 200")}) {
    EXPECT_EQ(Query(store_, fmt::format("SELECT * FROM (SELECT from_event_id AS f, to_event_id AS "
                                        "t, flow AS n FROM flow) WHERE {} ORDER BY 1, 2",
                                        where)),
              Query(store_, fmt::format("SELECT * FROM ({}) WHERE {} ORDER BY 1, 2", join, where)))
        << where;
  }
  EXPECT_THAT(std::string(Message(store_.Exec("DELETE FROM flow"))),
              HasSubstr("flow may not be modified"));
}

TEST_F(VirtualTables, CounterSamples) {
  EXPECT_THAT(
      Query(store_,
            "SELECT track_id, count(*), min(ts_ns), max(value) FROM counter_sample GROUP BY 1"),
      ElementsAre("9 90 0 44.5", "10 1 5 -1.0"));
  EXPECT_THAT(Query(store_,
                    "SELECT ts_ns, value FROM counter_sample WHERE track_id = 9 AND ts_ns > 480 "
                    "AND ts_ns <= 510"),
              ElementsAre("490 24.5", "500 25.0", "510 25.5"));
}

TEST_F(VirtualTables, LeaveOutDamagedChunksAndCountThem) {
  ASSERT_TRUE(store_.Exec("UPDATE event_chunk SET columns = x'00010203' WHERE id = 2").ok());
  int64_t lost = **store_.One<int64_t>("SELECT count FROM event_chunk WHERE id = 2");
  int64_t before = **store_.One<int64_t>("SELECT xlaprof_chunks_damaged()");
  EXPECT_EQ(**store_.One<int64_t>("SELECT count(*) FROM event"), 600 - lost);
  EXPECT_EQ(**store_.One<int64_t>("SELECT xlaprof_chunks_damaged()"), before + 1);
  EXPECT_THAT(
      Query(
          store_,
          "SELECT id FROM event WHERE id = (SELECT first_event_id FROM event_chunk WHERE id = 2)"),
      IsEmpty());
}

TEST_F(VirtualTables, SeeWhatOtherConnectionsWrote) {
  std::string name = (std::filesystem::temp_directory_path() / "xlaprofXXXXXX").string();
  std::filesystem::path folder = mkdtemp(name.data());
  {
    Store writer = *Store::Create(folder / "a.xlaprof");
    Store reader = *Store::Open(folder / "a.xlaprof");
    EXPECT_EQ(**reader.One<int64_t>("SELECT count(*) FROM event"), 0);
    EventWriter events(writer);
    ASSERT_TRUE(events.Add(1, {.ts_ns = 1, .dur_ns = 2, .name = *writer.Intern("late")}).ok());
    ASSERT_TRUE(events.Flush().ok());
    EXPECT_THAT(Query(reader, "SELECT ts_ns, name FROM event"), ElementsAre("1 late"));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace xlaprof
