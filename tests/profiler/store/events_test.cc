// Tests EventWriter and EventScanner over a store.
#include "profiler/store/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace xlaprof {
namespace {

using ::testing::ElementsAre;

struct Row {
  int64_t id, track, chunk, index;
  Event event;
  uint16_t depth;
};

// Returns item `i` of a column, or 0 if the column was not asked for.
template <class T>
T At(std::span<const T> column, size_t i) {
  return column.empty() ? T{} : column[i];
}

std::vector<Row> Scan(const Store& store, EventScanner::Options options = {},
                      int64_t* skipped = nullptr) {
  std::vector<Row> rows;
  auto scanner = EventScanner::Make(store, std::move(options));
  EXPECT_TRUE(scanner.ok()) << scanner.status();
  EventBatch b;
  while (true) {
    auto more = scanner->Next(&b);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) break;
    for (size_t i = 0; i < b.size; ++i) {
      rows.push_back({b.first_event_id + int64_t(i),
                      b.track_id,
                      b.chunk_id,
                      b.first_index + int64_t(i),
                      {At(b.ts_ns, i), At(b.dur_ns, i), At(b.name, i), At(b.category, i),
                       At(b.flow_in, i), At(b.flow_out, i)},
                      At(b.depth, i)});
    }
  }
  if (skipped != nullptr) *skipped = scanner->skipped_chunks();
  return rows;
}

class Events : public ::testing::Test {
 protected:
  Store store_ = *Store::CreateTemporary();
  EventWriter writer_{store_};

  StringId Name(std::string_view text) { return *store_.Intern(text); }
  void Add(int64_t track, int64_t ts, int64_t dur, StringId name = 1) {
    ASSERT_TRUE(writer_.Add(track, {.ts_ns = ts, .dur_ns = dur, .name = name}).ok());
  }
};

TEST_F(Events, ComeBackSortedWithDepth) {
  Add(2, 50, 5);
  Add(1, 30, 10);  // children before parents, as a recorder drains them
  Add(1, 30, 4);
  Add(1, 40, 0);
  Add(1, 0, 100);
  Add(1, 100, 1);
  ASSERT_TRUE(writer_.Flush().ok());
  std::vector<Row> rows = Scan(store_);
  std::vector<std::vector<int64_t>> got;
  for (const Row& row : rows)
    got.push_back({row.track, row.event.ts_ns, row.event.dur_ns, row.depth});
  EXPECT_THAT(got, ElementsAre(ElementsAre(1, 0, 100, 0), ElementsAre(1, 30, 10, 1),
                               ElementsAre(1, 30, 4, 2), ElementsAre(1, 40, 0, 1),
                               ElementsAre(1, 100, 1, 0), ElementsAre(2, 50, 5, 0)));
}

TEST_F(Events, DepthGoesOnOverFlushes) {
  Add(1, 0, 1000);
  ASSERT_TRUE(writer_.Flush().ok());
  Add(1, 10, 20);
  ASSERT_TRUE(writer_.Flush().ok());
  Add(1, 15, kUnknownDuration);  // never ended: what follows on its track is inside it
  Add(1, 2000, 3);
  ASSERT_TRUE(writer_.Flush().ok());
  std::vector<uint16_t> depth;
  for (const Row& row : Scan(store_)) depth.push_back(row.depth);
  EXPECT_THAT(depth, ElementsAre(0, 1, 2, 3));
}

TEST_F(Events, IdsAreGivenOnceAlsoByTwoWriters) {
  EventWriter other(store_);
  Add(1, 0, 1);
  ASSERT_TRUE(writer_.Flush().ok());
  ASSERT_TRUE(other.Add(1, {.ts_ns = 5}).ok());
  ASSERT_TRUE(other.Flush().ok());
  Add(2, 7, 1);
  ASSERT_TRUE(writer_.Flush().ok());
  std::vector<int64_t> ids;
  for (const Row& row : Scan(store_)) ids.push_back(row.id);
  EXPECT_THAT(ids, ElementsAre(1, 2, 3));
}

TEST_F(Events, ManyTracksStayBoundedAndNothingIsLost) {
  std::mt19937_64 random(1);
  std::map<int64_t, int64_t> written;
  const StringId key = Name("k");
  for (int i = 0; i < 1'500'000; ++i) {
    int64_t track = 1 + int64_t(random() % 300 < 200 ? 0 : random() % 300);
    Add(track, int64_t(random() % 1'000'000'000), int64_t(random() % 1000),
        StringId(1 + random() % 50));
    if (i % 1000 == 0) writer_.Arg(key, int64_t(i));
    ++written[track];
  }
  auto early = store_.One<int64_t>("SELECT count(*) FROM event_chunk");
  EXPECT_GT(early->value_or(0), 0);
  ASSERT_TRUE(writer_.Flush().ok());
  std::map<int64_t, int64_t> read;
  std::set<int64_t> ids;
  auto scanner =
      EventScanner::Make(store_, {.columns = kStart, .track_ids = {}, .from_ns = {}, .to_ns = {}});
  EventBatch b;
  while (*scanner->Next(&b)) {
    EXPECT_LE(b.size, size_t(EventWriter::kChunkEvents));
    EXPECT_TRUE(std::is_sorted(b.ts_ns.begin(), b.ts_ns.end()));
    EXPECT_TRUE(b.name.empty());
    read[b.track_id] += int64_t(b.size);
    for (size_t i = 0; i < b.size; ++i) ids.insert(b.first_event_id + int64_t(i));
  }
  EXPECT_EQ(read, written);
  EXPECT_EQ(ids.size(), 1'500'000u);
  EXPECT_EQ(*store_.One<int64_t>("SELECT sum(count) FROM arg_chunk"), 1500);
}

TEST_F(Events, RangeKeepsWhatOverlapsAndSaysWhichEvents) {
  Add(1, 0, 100);   // straddles
  Add(1, 10, 5);    // before
  Add(1, 20, 30);   // touches 50
  Add(1, 60, 1);    // inside
  Add(1, 70, 500);  // ends after the range
  Add(1, 81, 1);    // after the range
  ASSERT_TRUE(writer_.Flush().ok());
  std::vector<std::vector<int64_t>> got;
  for (const Row& row :
       Scan(store_, {.columns = kAllEventColumns, .track_ids = {}, .from_ns = 50, .to_ns = 80})) {
    got.push_back({row.event.ts_ns, row.index, row.id});
  }
  EXPECT_THAT(got, ElementsAre(ElementsAre(0, 0, 1), ElementsAre(20, 2, 3), ElementsAre(60, 3, 4),
                               ElementsAre(70, 4, 5)));
}

TEST_F(Events, ChunksAwayFromTheTimesAreLeftOut) {
  for (int64_t chunk = 0; chunk < 4; ++chunk) {
    Add(1, chunk * 100, 20);
    Add(1, chunk * 100 + 50, 20);
    ASSERT_TRUE(writer_.Flush().ok());  // ends the chunk
  }
  std::vector<int64_t> starts;
  for (const Row& row : Scan(store_, {.columns = kStart | kDuration,
                                      .track_ids = {},
                                      .from_ns = {},
                                      .to_ns = {},
                                      .times_ns = {{60, 65}, {80, 90}, {320, 330}}}))
    starts.push_back(row.event.ts_ns);
  EXPECT_THAT(starts, ElementsAre(0, 50, 300, 350));
}

TEST_F(Events, SliceLimitsTimeAndProcess) {
  ASSERT_TRUE(
      store_
          .Exec(
              "INSERT INTO process (id, segment) VALUES (1, 0), (2, 0);"
              "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'host_thread', 'a', 1, NULL, NULL, 0),"
              "(2, 2, 'host_thread', 'b', 1, NULL, NULL, 0)")
          .ok());
  Add(1, 0, 1);
  Add(1, 100, 1);
  Add(2, 100, 1);
  ASSERT_TRUE(writer_.Counter(1, 0, 1.5).ok());
  ASSERT_TRUE(writer_.Counter(1, 100, 2.5).ok());
  ASSERT_TRUE(writer_.Counter(2, 100, 3.5).ok());
  ASSERT_TRUE(writer_.Flush().ok());
  ASSERT_TRUE(
      store_
          .Restrict(
              {.first_step = {}, .last_step = {}, .from_ns = 50, .to_ns = {}, .process_id = 1})
          .ok());
  std::vector<Row> rows = Scan(store_);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].track, 1);
  EXPECT_EQ(rows[0].event.ts_ns, 100);
  std::vector<double> values;
  ASSERT_TRUE(EachCounterBatch(store_, [&](const CounterBatch& b) {
                values.insert(values.end(), b.value.begin(), b.value.end());
                return absl::OkStatus();
              }).ok());
  EXPECT_THAT(values, ElementsAre(2.5));
}

TEST_F(Events, ArgumentsOfEveryTypeComeBack) {
  StringId a = Name("a"), b = Name("b"), c = Name("c"), d = Name("d"), e = Name("e");
  StringId bytes = *store_.Intern(std::string_view("\0\xff", 2), true);
  Add(1, 10, 1);
  writer_.Arg(e, Bytes{bytes});
  writer_.Arg(a, int64_t(INT64_MIN));
  writer_.Arg(b, uint64_t(UINT64_MAX));
  writer_.Arg(c, 0.1);
  writer_.Arg(d, Text{Name("text")});
  Add(1, 5, 1);  // is sorted before the first
  writer_.Arg(a, -0.0);
  ASSERT_TRUE(writer_.Flush().ok());
  std::vector<Row> rows = Scan(store_);
  auto args = ReadArguments(store_, rows[1].chunk, rows[1].index);
  ASSERT_TRUE(args.ok()) << args.status();
  ASSERT_EQ(args->size(), 5u);
  EXPECT_EQ(std::get<int64_t>((*args)[0].value), INT64_MIN);
  EXPECT_EQ(std::get<uint64_t>((*args)[1].value), UINT64_MAX);
  EXPECT_EQ(std::get<double>((*args)[2].value), 0.1);
  EXPECT_EQ(store_.Text(std::get<Text>((*args)[3].value).id), "text");
  EXPECT_EQ(std::get<Bytes>((*args)[4].value).id, bytes);
  args = ReadArguments(store_, rows[0].chunk, rows[0].index);
  ASSERT_EQ(args->size(), 1u);
  EXPECT_TRUE(std::signbit(std::get<double>((*args)[0].value)));
  auto column = ReadArgumentColumn(store_, rows[0].chunk, a);
  ASSERT_EQ(column->size(), 2u);
  EXPECT_TRUE(std::holds_alternative<double>(*(*column)[0]));
  EXPECT_TRUE(std::holds_alternative<int64_t>(*(*column)[1]));
  EXPECT_FALSE((*ReadArgumentColumn(store_, rows[0].chunk, b))[0].has_value());
  EXPECT_TRUE(absl::IsNotFound(ReadArguments(store_, rows[0].chunk, 2).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadArguments(store_, 99, 0).status()));
}

TEST_F(Events, WhatIsConstantForANameIsStoredOnce) {
  StringId flops = Name("flops"), run = Name("run"), module = Name("module");
  writer_.NameArg(1, 100, module, int64_t(8));
  for (int i = 0; i < 1000; ++i) {
    Add(1, i, 1, StringId(100 + i % 4));
    writer_.Arg(flops, int64_t(i % 4 * 1000));
    writer_.Arg(run, int64_t(i % 4 == 3 ? 5 : i));  // constant for one of the four names
  }
  ASSERT_TRUE(writer_.Flush().ok());
  std::vector<std::vector<int64_t>> stored;
  ASSERT_TRUE(store_
                  .Each("SELECT key_id, by_name, count FROM arg_chunk ORDER BY 1, 2",
                        [&](int64_t key, int64_t by_name, int64_t count) {
                          stored.push_back({key, by_name, count});
                        })
                  .ok());
  EXPECT_THAT(stored, ElementsAre(ElementsAre(flops, 1, 4), ElementsAre(run, 0, 750),
                                  ElementsAre(run, 1, 1), ElementsAre(module, 1, 1)));
  auto flops_of = ReadArgumentColumn(store_, 1, flops), run_of = ReadArgumentColumn(store_, 1, run);
  auto module_of = ReadArgumentColumn(store_, 1, module);
  for (size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(std::get<int64_t>(*(*flops_of)[i]), int64_t(i % 4 * 1000));
    ASSERT_EQ(std::get<int64_t>(*(*run_of)[i]), int64_t(i % 4 == 3 ? 5 : i));
    ASSERT_EQ((*module_of)[i].has_value(), i % 4 == 0);
  }
  EXPECT_EQ(ReadArguments(store_, 1, 4)->size(), 3u);
}

// Regression: a name's value and an event's own value under the same key are two facts. Folding one
// into the other's column would lose one.
TEST_F(Events, OwnValueBesideTheNamesValue) {
  StringId k = Name("k");
  writer_.NameArg(1, 7, k, int64_t(1));
  for (int i = 0; i < 100; ++i) {
    Add(1, i, 1, 7);
    writer_.Arg(k, int64_t(2));
  }
  ASSERT_TRUE(writer_.Flush().ok());
  auto args = ReadArguments(store_, 1, 50);
  ASSERT_EQ(args->size(), 2u);
  EXPECT_EQ(std::get<int64_t>((*args)[0].value), 2);
  EXPECT_EQ(std::get<int64_t>((*args)[1].value), 1);
  EXPECT_EQ(std::get<int64_t>(*(*ReadArgumentColumn(store_, 1, k))[50]), 2);
}

TEST_F(Events, ArgStaysWithTheEventWhateverComesBetween) {
  StringId k = Name("k");
  Add(1, 0, 1, 9);
  writer_.NameArg(2, 5, k, int64_t(3));
  ASSERT_TRUE(writer_.Counter(3, 0, 1).ok());
  writer_.Arg(k, int64_t(4));
  ASSERT_TRUE(writer_.Flush().ok());
  EXPECT_EQ(std::get<int64_t>(*(*ReadArgumentColumn(store_, 1, k))[0]), 4);
}

// Regression: labels were put before all arguments. If an event without a label had an argument
// with the same key, the column was out of order, and values moved to other events.
TEST_F(Events, AnArgumentMayHaveTheKeyOfTheLabels) {
  StringId cat = Name("cat");
  constexpr int kCount = 400;
  for (int i = 0; i < kCount; ++i) {
    Add(1, i, 1, 9);
    if (i % 3 == 0) writer_.Label(cat, Text{StringId(1000 + i)});
    if (i % 3 == 1 || i == 99) writer_.Arg(cat, Text{StringId(2000 + i)});
  }
  ASSERT_TRUE(writer_.Flush().ok());
  auto column = ReadArgumentColumn(store_, 1, cat);
  ASSERT_TRUE(column.ok()) << column.status();
  for (size_t i = 0; i < kCount; ++i) {
    const std::optional<ArgValue>& value = (*column)[i];
    ASSERT_EQ(value ? std::get<Text>(*value).id : 0, i % 3 < 2 ? (i % 3 + 1) * 1000 + i : 0);
  }
  auto both = ReadArguments(store_, 1, 99);
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ(std::get<Text>((*both)[0].value).id, 1099u);
  EXPECT_EQ(std::get<Text>((*both)[1].value).id, 2099u);
}

TEST_F(Events, DamagedChunkIsSkippedAndCounted) {
  for (int64_t track : {1, 2, 3}) Add(track, 0, 1);
  ASSERT_TRUE(writer_.Flush().ok());
  ASSERT_TRUE(
      store_.Exec("UPDATE event_chunk SET columns = x'0102030405' WHERE track_id = 2").ok());
  int64_t skipped = 0;
  EXPECT_EQ(Scan(store_, {}, &skipped).size(), 2u);
  EXPECT_EQ(skipped, 1);
}

TEST_F(Events, CountersComeBackSorted) {
  ASSERT_TRUE(writer_.Counter(4, 20, 2).ok());
  ASSERT_TRUE(writer_.Counter(4, 10, 0.5).ok());
  ASSERT_TRUE(writer_.Flush().ok());
  CounterBatch got;
  ASSERT_TRUE(EachCounterBatch(store_, [&](const CounterBatch& b) {
                return got = b, absl::OkStatus();
              }).ok());
  EXPECT_EQ(got.track_id, 4);
  EXPECT_THAT(got.ts_ns, ElementsAre(10, 20));
  EXPECT_THAT(got.value, ElementsAre(0.5, 2));
}

}  // namespace
}  // namespace xlaprof
