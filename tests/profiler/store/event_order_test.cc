// Tests when the events of a track are written, and which chunks a scan skips.
#include <gtest/gtest.h>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

constexpr int64_t kChunk = EventWriter::kChunkEvents;

class EventOrder : public ::testing::Test {
 protected:
  Store store_ = *Store::CreateTemporary();
  EventWriter writer_{store_};
  const StringId key_ = *store_.Intern("key");

  // Adds an event whose argument is its start.
  void Add(int64_t track, int64_t ts_ns, int64_t dur_ns, StringId category = 0) {
    ASSERT_TRUE(
        writer_.Add(track, {.ts_ns = ts_ns, .dur_ns = dur_ns, .name = 1, .category = category})
            .ok());
    writer_.Arg(key_, ts_ns);
  }
  int64_t Number(std::string_view sql) { return store_.One<int64_t>(sql)->value_or(-1); }
  // Expects that every event's argument is its start, and that depths follow from the order of
  // ts_ns.
  void ExpectArguments(int64_t track) {
    auto scanner = *EventScanner::Make(
        store_, {.columns = kStart, .track_ids = {track}, .from_ns = {}, .to_ns = {}});
    EventBatch batch;
    while (*scanner.Next(&batch)) {
      auto values = *ReadArgumentColumn(store_, batch.chunk_id, key_);
      ASSERT_EQ(values.size(), batch.size);
      for (size_t i = 0; i < batch.size; ++i) {
        ASSERT_TRUE(values[i] && std::holds_alternative<int64_t>(*values[i])) << i;
        ASSERT_EQ(std::get<int64_t>(*values[i]), batch.ts_ns[i]) << batch.chunk_id << " " << i;
      }
    }
  }
};

TEST_F(EventOrder, WhatComesInOrderIsWrittenButForTheLastEvents) {
  // Fourteen half chunks were filled: one waits for earlier events, and four are being packed.
  for (int64_t i = 0; i <= 7 * kChunk; ++i) Add(1, 10 * i, 5);
  EXPECT_EQ(Number("SELECT count(*) FROM event_chunk"), 9);
  EXPECT_EQ(Number("SELECT max(max_end_ns) FROM event_chunk"), 10 * (9 * kChunk / 2 - 1) + 5);
  // This event is late, but not too late: the events around it still wait.
  const int64_t late_ns = 10 * (7 * kChunk - 1000) + 1;
  Add(1, late_ns, 2);
  ASSERT_TRUE(writer_.Flush().ok());
  EXPECT_EQ(Number("SELECT sum(count) FROM event_chunk"), 7 * kChunk + 2);
  EXPECT_EQ(Number("SELECT depth FROM event WHERE ts_ns = " + std::to_string(late_ns)), 1);
  EXPECT_EQ(Number("SELECT min(id) FROM event"), 1);
  EXPECT_EQ(Number("SELECT max(id) FROM event"), 7 * kChunk + 2);
  ExpectArguments(1);
}

// Many writers report a step, or any scope, when it ends.
TEST_F(EventOrder, WhatEndsAroundOthersComesLateAndIsWrittenToo) {
  const StringId label_key = *store_.Intern("label"), label = *store_.Intern("outer");
  constexpr int64_t kInner = 200;
  int64_t count = 0;
  for (int64_t outer = 0; count < 4 * kChunk; ++outer) {
    const int64_t from_ns = outer * kInner * 10;
    for (int64_t i = 0; i < kInner; ++i) Add(1, from_ns + 10 * i + 1, 5);
    Add(1, from_ns, kInner * 10);
    writer_.Label(label_key, Text{label});
    count += kInner + 1;
  }
  EXPECT_GT(Number("SELECT count(*) FROM event_chunk"), 0);
  ASSERT_TRUE(writer_.Flush().ok());
  EXPECT_EQ(Number("SELECT sum(count) FROM event_chunk"), count);
  EXPECT_EQ(Number("SELECT count(*) FROM event WHERE depth = 0"), count / (kInner + 1));
  EXPECT_EQ(Number("SELECT count(*) FROM event WHERE depth = 0 AND dur_ns = 5"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM event WHERE depth > 1"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM arg a JOIN event e ON e.id = a.event_id WHERE key = "
                   "'label' AND value = 'outer' AND depth = 0"),
            count / (kInner + 1));
  EXPECT_EQ(Number("SELECT count(*) FROM arg WHERE key = 'label'"), count / (kInner + 1));
  ExpectArguments(1);
  // A new track may reuse the memory of another, but holds none of its events.
  Add(2, 5, 1);
  ASSERT_TRUE(writer_.Flush().ok());
  EXPECT_EQ(Number("SELECT count(*) FROM event WHERE track_id = 2"), 1);
}

TEST_F(EventOrder, WhatComesInNoOrderWaits) {
  for (int64_t i = 0; i <= 2 * kChunk; ++i) Add(1, 10 * (i * 7919 % (2 * kChunk + 1)), 5);
  EXPECT_EQ(Number("SELECT count(*) FROM event_chunk"), 0);
  ASSERT_TRUE(writer_.Flush().ok());
  EXPECT_EQ(Number("SELECT count(*) FROM event_chunk"), 3);
  ExpectArguments(1);
}

TEST_F(EventOrder, AFinishedTrackIsWrittenAndMayGoOn) {
  Add(1, 0, 100);
  Add(2, 0, 7);
  ASSERT_TRUE(writer_.Finish(1).ok());
  ASSERT_TRUE(writer_.Finish(3).ok());  // has no events
  Add(4, 3, 1);                         // reuses the memory of track 1
  Add(1, 50, 10);
  ASSERT_TRUE(writer_.Flush().ok());
  EXPECT_EQ(Number("SELECT track_id FROM event_chunk ORDER BY id LIMIT 1"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM event"), 4);
  EXPECT_EQ(Number("SELECT depth FROM event WHERE ts_ns = 50"), 1);
  for (int64_t track : {1, 2, 4}) ExpectArguments(track);
}

TEST_F(EventOrder, AScanLeavesOutChunksWithoutACategory) {
  const StringId op = *store_.Intern("op"), host = *store_.Intern("host");
  Add(1, 0, 1, host);  // one category for all events
  Add(1, 1, 1, host);
  Add(2, 0, 1, op);
  Add(2, 1, 1, host);  // a category per event, though both have the same name
  Add(3, 0, 1);        // no category
  ASSERT_TRUE(writer_.Flush().ok());
  auto tracks = [&](std::vector<StringId> categories) {
    auto scanner = *EventScanner::Make(store_, {.columns = kCategory,
                                                .track_ids = {},
                                                .from_ns = {},
                                                .to_ns = {},
                                                .categories = std::move(categories)});
    std::vector<int64_t> out;
    EventBatch batch;
    while (*scanner.Next(&batch)) out.push_back(batch.track_id);
    return out;
  };
  EXPECT_EQ(tracks({}), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(tracks({op}), (std::vector<int64_t>{2}));
  EXPECT_EQ(tracks({host, 9999}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(tracks({0}), (std::vector<int64_t>{3}));
  EXPECT_EQ(tracks({9999}), std::vector<int64_t>());
  // Damage is reported, whatever was requested.
  ASSERT_TRUE(store_.Exec("UPDATE event_chunk SET columns = x'0102' WHERE track_id = 3").ok());
  auto scanner = *EventScanner::Make(
      store_,
      {.columns = kCategory, .track_ids = {}, .from_ns = {}, .to_ns = {}, .categories = {op}});
  EventBatch batch;
  while (*scanner.Next(&batch)) {
  }
  EXPECT_EQ(scanner.skipped_chunks(), 1);
}

}  // namespace
}  // namespace xlaprof
