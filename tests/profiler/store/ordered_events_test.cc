// Compares OrderedEvents with a plain sort of what was written, and ChunkArguments with
// ReadArguments.
#include "profiler/store/ordered_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profiler/store/chunk.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OrderedEventsTest : public testing::Test {
 protected:
  Store store_ = *Store::CreateTemporary();
  EventWriter writer_{store_};
  std::vector<Event> written_;

  StringId Name(std::string_view text) { return *store_.Intern(text); }
  void Add(int64_t ts, int64_t dur, StringId name = 1) {
    written_.push_back({.ts_ns = ts, .dur_ns = dur, .name = name});
    ASSERT_TRUE(writer_.Add(1, written_.back()).ok());
  }
  struct Read {
    std::vector<Event> events;
    std::vector<int64_t> ids;
    int64_t skipped_chunks = 0, skipped_arguments = 0;
    size_t batches = 0;
  };
  Read ReadAll() {
    Read read;
    auto ordered = OrderedEvents::Make(store_, kName, true);
    EXPECT_TRUE(ordered.ok()) << ordered.status();
    EXPECT_TRUE(ordered->Open(1).ok());
    EventBatch batch;
    const ChunkArguments* arguments = nullptr;
    while (true) {
      auto more = ordered->Next(&batch, &arguments);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      EXPECT_GT(batch.size, 0u);
      ++read.batches;
      for (size_t i = 0; i < batch.size; ++i) {
        read.events.push_back(
            {.ts_ns = batch.ts_ns[i], .dur_ns = batch.dur_ns[i], .name = batch.name[i]});
        read.ids.push_back(batch.first_event_id + int64_t(i));
        SameArguments(*arguments, batch.chunk_id, batch.first_index + int64_t(i));
      }
    }
    read.skipped_chunks = ordered->skipped_chunks();
    read.skipped_arguments = ordered->skipped_arguments();
    return read;
  }
  void SameArguments(const ChunkArguments& arguments, int64_t chunk, int64_t index) {
    if (!compare_arguments_) return;
    std::vector<std::pair<StringId, ArgValue>> got, want;
    for (const Argument& a : arguments.Own(size_t(index))) got.emplace_back(a.key, a.value);
    for (const Argument& a : arguments.OfName(arguments.NameIndex(size_t(index))))
      got.emplace_back(a.key, a.value);
    auto read = ReadArguments(store_, chunk, index);
    ASSERT_TRUE(read.ok()) << read.status();
    for (const Argument& a : *read) want.emplace_back(a.key, a.value);
    auto key = [](const auto& a) {
      return std::tuple(a.first, a.second.index(), ArgBits(a.second));
    };
    auto before = [&](const auto& a, const auto& b) { return key(a) < key(b); };
    std::sort(got.begin(), got.end(), before);
    std::sort(want.begin(), want.end(), before);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(key(got[i]), key(want[i]));
  }
  void ExpectOrdered(const std::vector<Event>& got, std::vector<Event> want) {
    auto key = [](const Event& e) { return std::tuple(e.ts_ns, ~uint64_t(e.dur_ns), e.name); };
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end(), EventBefore));
    std::vector<Event> sorted = got;
    auto before = [&](const Event& a, const Event& b) { return key(a) < key(b); };
    std::sort(sorted.begin(), sorted.end(), before);
    std::sort(want.begin(), want.end(), before);
    ASSERT_EQ(sorted.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(key(sorted[i]), key(want[i])) << i;
  }
  bool compare_arguments_ = false;
};

TEST_F(OrderedEventsTest, NothingThere) { EXPECT_THAT(ReadAll().events, IsEmpty()); }

// A recorder writes events this way: a parent that ends late is in a later chunk than its children.
TEST_F(OrderedEventsTest, ChunksThatOverlapAreMerged) {
  std::mt19937 random(5);
  for (int chunk = 0; chunk < 20; ++chunk) {
    for (int i = 0; i < 200; ++i) {
      int64_t ts = chunk * 1000 + int64_t(random() % 1000);
      Add(ts, random() % 9 == 0 ? kUnknownDuration : int64_t(random() % 50),
          StringId(1 + random() % 5));
    }
    Add(std::max(0, chunk - 5) * 1000, 4000);  // began five chunks ago
    ASSERT_TRUE(writer_.Flush().ok());
  }
  Read read = ReadAll();
  ExpectOrdered(read.events, written_);
  std::sort(read.ids.begin(), read.ids.end());
  EXPECT_TRUE(std::adjacent_find(read.ids.begin(), read.ids.end()) == read.ids.end());
}

TEST_F(OrderedEventsTest, OneTrackAfterTheOther) {
  for (int64_t track : {1, 2, 3}) {
    for (int64_t i = 0; i < 10 * track; ++i) {
      const Event event{
          .ts_ns = i * track, .dur_ns = 1, .name = 1, .flow_out = track == 2 ? 7u : 0};
      ASSERT_TRUE(writer_.Add(track, event).ok());
      if (track != 2) writer_.Arg(Name("key"), i);
    }
  }
  ASSERT_TRUE(writer_.Flush().ok());
  auto ordered = *OrderedEvents::Make(store_, kName, true);
  EventBatch batch;
  const ChunkArguments* arguments = nullptr;
  for (int64_t track : {3, 1, 2, 4, 3}) {
    ASSERT_TRUE(ordered.Open(track).ok());
    if (track == 1) continue;  // left before its end
    ASSERT_EQ(*ordered.Next(&batch, &arguments), track != 4);
    if (track == 4) continue;
    ASSERT_EQ(batch.size, size_t(10 * track));
    EXPECT_EQ(batch.ts_ns.back(), (10 * track - 1) * track);
    EXPECT_EQ(arguments->Own(batch.size - 1).size(), track == 2 ? 0u : 1u);
    EXPECT_FALSE(*ordered.Next(&batch, &arguments));
  }
  EXPECT_THAT(*TracksWithFlows(store_), ElementsAre(2));
}

TEST_F(OrderedEventsTest, ChunksInOrderComeWhole) {
  for (int chunk = 0; chunk < 5; ++chunk) {
    for (int i = 0; i < 100; ++i) Add(chunk * 100 + i, 1);
    ASSERT_TRUE(writer_.Flush().ok());
  }
  Read read = ReadAll();
  ExpectOrdered(read.events, written_);
  EXPECT_EQ(read.batches, 5u);
}

TEST_F(OrderedEventsTest, SliceKeepsWhatOverlapsIt) {
  for (int i = 0; i < 1000; ++i) Add(i, i % 10 == 0 ? 100 : 1);
  ASSERT_TRUE(writer_.Flush().ok());
  Add(2, 600);
  ASSERT_TRUE(writer_.Flush().ok());
  ASSERT_TRUE(store_.Restrict({.from_ns = 500, .to_ns = 520}).ok());
  std::vector<Event> want;
  for (const Event& e : written_) {
    if (e.ts_ns + e.dur_ns >= 500 && e.ts_ns <= 520) want.push_back(e);
  }
  ExpectOrdered(ReadAll().events, want);
}

TEST_F(OrderedEventsTest, ArgumentsAreThoseOfReadArguments) {
  compare_arguments_ = true;
  std::mt19937 random(6);
  const StringId names[] = {Name("a"), Name("b"), Name("c")};
  writer_.NameArg(1, names[0], Name("flops"), uint64_t{12});
  writer_.NameArg(1, names[0], Name("k1"), int64_t{3});  // some events of the name have their own
  writer_.NameArg(1, names[1], Name("kind"), Text{Name("text")});
  for (int i = 0; i < 300; ++i) {
    Add(i, 2, names[random() % 3]);
    for (int k = 0; k < 4; ++k) {
      if (random() % 2 == 0) continue;
      const StringId key = Name(fmt::format("k{}", random() % 3));
      switch (random() % 3) {
        case 0:
          writer_.Arg(key, int64_t(random()));
          break;
        case 1:
          writer_.Arg(key, double(random()) / 7);
          break;
        default:
          writer_.Arg(key, Text{Name(fmt::format("t{}", random() % 9))});
      }
    }
    if (i % 100 == 99) {
      ASSERT_TRUE(writer_.Flush().ok());
    }
  }
  EXPECT_EQ(ReadAll().events.size(), 300u);
}

TEST_F(OrderedEventsTest, DamageIsSkippedAndCounted) {
  for (int chunk = 0; chunk < 3; ++chunk) {
    Add(chunk * 10, 1);
    writer_.Arg(Name("key"), int64_t{chunk});
    ASSERT_TRUE(writer_.Flush().ok());
  }
  ASSERT_TRUE(store_.Exec("UPDATE event_chunk SET columns = x'0102' WHERE id = 1").ok());
  ASSERT_TRUE(store_.Exec("UPDATE arg_chunk SET columns = x'01' WHERE event_chunk_id = 3").ok());
  Read read = ReadAll();
  ASSERT_EQ(read.events.size(), 2u);
  EXPECT_EQ(read.events[0].ts_ns, 10);
  EXPECT_EQ(read.skipped_chunks, 1);
  EXPECT_EQ(read.skipped_arguments, 1);
}

}  // namespace
}  // namespace xlaprof
