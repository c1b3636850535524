// Tests the packing of columns: every value is restored, and hostile bytes cause an error status.
#include "profiler/store/chunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace xlaprof {
namespace {

std::vector<Event> RandomEvents(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  int64_t ts = 1000;
  for (size_t i = 0; i < n; ++i) {
    ts += int64_t(random() % 5000);
    Event event{
        .ts_ns = ts, .dur_ns = int64_t(random() % 4000), .name = StringId(1 + random() % 300)};
    event.category = 1 + event.name % 5;
    if (random() % 10 == 0) event.flow_in = random();
    if (random() % 10 == 0) event.flow_out = 1 + random() % 100;
    events.push_back(event);
  }
  return events;
}

EventColumns Columns(const std::vector<Event>& events, const std::vector<uint16_t>& depth = {}) {
  EventColumns columns;
  columns.Assign(events);
  std::copy(depth.begin(), depth.end(), columns.depth.begin());
  return columns;
}

void ExpectSame(const std::vector<Event>& events, const std::vector<uint16_t>& depth,
                const EventColumns& columns) {
  ASSERT_EQ(columns.size, events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(columns.ts_ns[i], events[i].ts_ns) << i;
    ASSERT_EQ(columns.dur_ns[i], events[i].dur_ns) << i;
    ASSERT_EQ(columns.name[i], events[i].name) << i;
    ASSERT_EQ(columns.category[i], events[i].category) << i;
    ASSERT_EQ(columns.depth[i], depth[i]) << i;
    ASSERT_EQ(columns.flow_in[i], events[i].flow_in) << i;
    ASSERT_EQ(columns.flow_out[i], events[i].flow_out) << i;
  }
}

void RoundTrip(std::vector<Event> events, std::vector<uint16_t> depth = {}) {
  std::stable_sort(events.begin(), events.end(), EventBefore);
  depth.resize(events.size());
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(Columns(events, depth), &encoded);
  ChunkDecoder decoder;
  EventColumns columns;
  absl::Status status = decoder.Events(encoded.columns, int64_t(events.size()), encoded.min_ts_ns,
                                       kAllEventColumns, &columns);
  ASSERT_TRUE(status.ok()) << status;
  ExpectSame(events, depth, columns);
}

TEST(Chunk, KeepsEveryColumn) {
  for (size_t n : {1, 2, 7, 8, 9, 100, 5000}) RoundTrip(RandomEvents(n, n));
}

TEST(Chunk, KeepsFullChunk) {
  std::vector<Event> events = RandomEvents(EventWriter::kChunkEvents, 3);
  std::vector<uint16_t> depth;
  for (size_t i = 0; i < events.size(); ++i) {
    depth.push_back(uint16_t(i));
    events[i].name = StringId(i + 1);  // as many names as events
    events[i].category = StringId(i % 3);
  }
  RoundTrip(events, depth);
}

TEST(Chunk, KeepsExtremes) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(),
                    kMax = std::numeric_limits<int64_t>::max();
  std::vector<Event> events = {
      {.ts_ns = kMin,
       .dur_ns = kMax,
       .name = UINT32_MAX,
       .category = UINT32_MAX,
       .flow_in = UINT64_MAX,
       .flow_out = 1},
      {.ts_ns = kMin, .dur_ns = kUnknownDuration, .name = 0, .category = 1},
      {.ts_ns = 0,
       .dur_ns = 0,
       .name = 0,
       .category = 0,
       .flow_in = 1ull << 63,
       .flow_out = UINT64_MAX},
      {.ts_ns = kMax, .dur_ns = kMin, .name = 1, .category = 2},
      {.ts_ns = kMax, .dur_ns = kMax, .name = UINT32_MAX, .category = 3}};
  RoundTrip(events);
  EXPECT_EQ(EventEnd(kMax, kMax), kMax);
  EXPECT_EQ(EventEnd(5, kUnknownDuration), 5);
}

TEST(Chunk, OneNameAndOneCategoryCostNothingAnEvent) {
  std::vector<Event> events(10000);
  for (size_t i = 0; i < events.size(); ++i)
    events[i] = {.ts_ns = int64_t(i), .dur_ns = 1, .name = 7, .category = 9};
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(Columns(events), &encoded);
  EXPECT_LT(encoded.columns.size(), 200u);
  RoundTrip(events);
}

TEST(Chunk, DecodesOnlyWhatIsAskedFor) {
  std::vector<Event> events = RandomEvents(1000, 1);
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(Columns(events), &encoded);
  ChunkDecoder decoder;
  EventColumns columns;
  ASSERT_TRUE(decoder.Events(encoded.columns, 1000, encoded.min_ts_ns, kCategory, &columns).ok());
  EXPECT_TRUE(columns.ts_ns.empty());
  EXPECT_TRUE(columns.name.empty());
  ASSERT_EQ(columns.category.size(), 1000u);
  EXPECT_EQ(columns.category[999], events[999].category);
}

// An UPDATE of min_ts_ns applies a clock offset, without touching the blob.
TEST(Chunk, TimesAreRelativeToTheRow) {
  std::vector<Event> events = RandomEvents(50, 1);
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(Columns(events), &encoded);
  ChunkDecoder decoder;
  EventColumns columns;
  ASSERT_TRUE(
      decoder.Events(encoded.columns, 50, encoded.min_ts_ns + 12345, kStart, &columns).ok());
  EXPECT_EQ(columns.ts_ns[49], events[49].ts_ns + 12345);
}

TEST(Chunk, AlteredBytesGiveDataLoss) {
  std::vector<Event> events = RandomEvents(300, 1);
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(Columns(events), &encoded);
  ChunkDecoder decoder;
  EventColumns columns;
  const std::string good = encoded.columns;
  EXPECT_TRUE(absl::IsDataLoss(decoder.Events("", 300, 0, kAllEventColumns, &columns)));
  EXPECT_TRUE(absl::IsDataLoss(decoder.Events(good, 299, 0, kAllEventColumns, &columns)));
  EXPECT_TRUE(absl::IsDataLoss(decoder.Events(good, -1, 0, kAllEventColumns, &columns)));
  EXPECT_TRUE(absl::IsDataLoss(decoder.Events(good, INT64_MAX, 0, kAllEventColumns, &columns)));
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_TRUE(
        absl::IsDataLoss(decoder.Events(good.substr(0, cut), 300, 0, kAllEventColumns, &columns)))
        << cut;
    std::string flipped = good;
    flipped[cut] = char(flipped[cut] ^ 0x40);
    EXPECT_TRUE(absl::IsDataLoss(decoder.Events(flipped, 300, 0, kAllEventColumns, &columns)))
        << cut;
  }
}

TEST(Chunk, ArgumentsKeepTypeAndValue) {
  auto bits = [](double d) { return std::bit_cast<uint64_t>(d); };
  struct Case {
    ArgType type;
    std::vector<uint64_t> values;
  };
  constexpr uint64_t kTop = 1ull << 63;
  std::vector<Case> cases = {
      {ArgType::kInt, {0, uint64_t(-1), kTop, kTop - 1, 5}},
      {ArgType::kInt, {100000000001, 100000000002, 100000000003, 100000000004}},
      {ArgType::kUint, {UINT64_MAX, kTop, kTop + 1, 0, 1}},
      {ArgType::kDouble,
       {bits(0.0), bits(-0.0), bits(NAN), 0x7ff8dead00000001, bits(INFINITY), bits(5e-324),
        bits(0.1)}},
      {ArgType::kDouble, {bits(1), bits(2), bits(-3), bits(9007199254740991.0)}},
      {ArgType::kString, {1, UINT32_MAX, 7, 7}},
      {ArgType::kBytes, std::vector<uint64_t>(1000, 3)},
  };
  ChunkEncoder encoder;
  ChunkDecoder decoder;
  for (const Case& c : cases) {
    for (size_t stride : {1, 2, 50}) {
      std::vector<uint32_t> index;
      for (size_t i = 0; i < c.values.size(); ++i) index.push_back(uint32_t(i * stride));
      size_t limit = index.back() + stride;
      std::string blob = encoder.Arguments(c.type, index, c.values, limit);
      ArgColumn column;
      absl::Status status = decoder.Arguments(blob, c.type, int64_t(index.size()), limit, &column);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(column.index, index);
      EXPECT_EQ(column.bits, c.values);
    }
  }
}

TEST(Chunk, AnEventMayRepeatAKey) {
  ChunkEncoder encoder;
  ChunkDecoder decoder;
  std::vector<uint32_t> index = {0, 0, 2, 2, 2};
  std::vector<uint64_t> bits = {1, 2, 3, 3, 4};
  ArgColumn column;
  ASSERT_TRUE(
      decoder
          .Arguments(encoder.Arguments(ArgType::kInt, index, bits, 3), ArgType::kInt, 5, 3, &column)
          .ok());
  EXPECT_EQ(column.index, index);
  EXPECT_EQ(column.bits, bits);
}

TEST(Chunk, SamplesComeBack) {
  ChunkEncoder encoder;
  ChunkDecoder decoder;
  std::vector<int64_t> ts = {std::numeric_limits<int64_t>::min(), -5, -5, 0,
                             std::numeric_limits<int64_t>::max()};
  std::vector<double> value = {0.1, -0.0, 1e300, 3, 4}, got;
  std::vector<int64_t> got_ts;
  ASSERT_TRUE(decoder.Samples(encoder.Samples(ts, value), 5, ts[0], &got_ts, &got).ok());
  EXPECT_EQ(got_ts, ts);
  EXPECT_EQ(got, value);
  EXPECT_TRUE(std::signbit(got[1]));
}

// The checksum detects accidental damage. These hostile bytes have a right checksum, so they reach
// the code after the check.
TEST(Chunk, LyingBytesWithARightChecksumAreSafe) {
  std::mt19937_64 random(7);
  ChunkDecoder decoder;
  EventColumns columns;
  ArgColumn column;
  std::vector<int64_t> ts;
  std::vector<double> value;
  std::vector<Event> events = RandomEvents(200, 1);
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(Columns(events), &encoded);
  std::vector<uint32_t> index = {0, 5, 9};
  std::vector<uint64_t> bits = {1, 2, 3};
  const std::string seeds[] = {encoded.columns,
                               encoder.Arguments(ArgType::kString, index, bits, 200)};
  int sound = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string blob = seeds[round % 2];
    for (uint64_t k = random() % 4 + 1; k > 0; --k)
      blob[5 + random() % (blob.size() - 5)] = char(random());
    int64_t count = round % 2 == 0 ? 200 : 3;
    if (random() % 8 == 0) count = int64_t(random() % 70000);
    SealForTest(&blob, uint64_t(count));
    absl::Status status =
        decoder.Events(blob, count, int64_t(random()), kAllEventColumns, &columns);
    if (status.ok()) {
      ++sound;
      ASSERT_EQ(columns.size, size_t(count));
      ASSERT_TRUE(std::is_sorted(columns.ts_ns.begin(), columns.ts_ns.begin() + count));
    }
    for (ArgType type : {ArgType::kInt, ArgType::kDouble, ArgType::kBytes}) {
      if (!decoder.Arguments(blob, type, count, 200, &column).ok()) continue;
      ASSERT_EQ(column.index.size(), column.bits.size());
      for (uint32_t i : column.index) ASSERT_LT(i, 200u);
    }
    (void)decoder.Samples(blob, count, 0, &ts, &value);
  }
  EXPECT_GT(sound, 0);  // some altered values are still valid: the loop did get past the checksum
}

}  // namespace
}  // namespace xlaprof
