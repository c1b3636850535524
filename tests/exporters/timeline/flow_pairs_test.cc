#include "exporters/timeline/flow_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using End = FlowPairs::End;

End Source(uint64_t flow, int64_t ts, int64_t id) {
  return {.flow = flow, .ts_ns = ts, .event_id = id};
}
End Target(uint64_t flow, int64_t ts, int64_t id, uint32_t rank = 1) {
  return {.flow = flow, .ts_ns = ts, .track_rank = rank, .is_target = true, .event_id = id};
}
End Covered(End end) {
  end.is_covered = true;
  return end;
}
std::vector<uint64_t> To(const FlowPairs& flows, const End& target) {
  std::vector<uint64_t> out;
  flows.EachArrowTo(target, [&](FlowPairs::Arrow arrow) { out.push_back(arrow.number); });
  return out;
}

TEST(FlowPairs, OneToManyIsOneArrow) {
  FlowPairs flows({Target(7, 20, 3), Source(7, 10, 1), Target(7, 15, 2), Source(8, 1, 4)});
  const uint64_t arrow = flows.ArrowFrom(Source(7, 10, 1)).number;
  EXPECT_NE(arrow, 0u);
  EXPECT_THAT(To(flows, Target(7, 20, 3)), testing::ElementsAre(arrow));
  EXPECT_THAT(To(flows, Target(7, 15, 2)), testing::ElementsAre(arrow));
  EXPECT_EQ(flows.ArrowFrom(Source(8, 1, 4)).number, 0u) << "leads nowhere";
  EXPECT_EQ(flows.pair_count(), 2);
  EXPECT_EQ(flows.left_out(), 0);
}

TEST(FlowPairs, EachSourceHasItsOwnArrow) {
  FlowPairs flows({Source(7, 10, 1), Source(7, 12, 2), Target(7, 11, 3), Target(7, 20, 4)});
  const uint64_t first = flows.ArrowFrom(Source(7, 10, 1)).number,
                 second = flows.ArrowFrom(Source(7, 12, 2)).number;
  EXPECT_NE(first, second);
  EXPECT_THAT(To(flows, Target(7, 11, 3)), testing::ElementsAre(first));
  EXPECT_THAT(To(flows, Target(7, 20, 4)), testing::ElementsAre(first, second));
  EXPECT_EQ(flows.pair_count(), 3);
  EXPECT_EQ(flows.left_out(), 1) << "12 to 11";
}

TEST(FlowPairs, AtTheSameTimeTheOrderOfWritingDecides) {
  FlowPairs flows({Source(7, 10, 1), Target(7, 10, 2), Target(7, 10, 3, 0)});
  EXPECT_EQ(To(flows, Target(7, 10, 2)).size(), 1u);
  FlowPairs backwards({{.flow = 7, .ts_ns = 10, .track_rank = 2, .event_id = 1}, Target(7, 10, 2)});
  EXPECT_EQ(backwards.pair_count(), 0);
  EXPECT_EQ(backwards.left_out(), 1);
}

TEST(FlowPairs, CoveredEndsAreSaidOnBothEvents) {
  FlowPairs flows({Source(7, 10, 1), Covered(Target(7, 20, 2)), Target(7, 30, 3)});
  EXPECT_TRUE(flows.ArrowFrom(Source(7, 10, 1)).on_event);
  flows.EachArrowTo(Target(7, 30, 3), [](FlowPairs::Arrow arrow) { EXPECT_TRUE(arrow.on_event); });
  EXPECT_EQ(flows.pair_count(), 2);
}

// Event 2 is the target of two arrows, but can name only one.
TEST(FlowPairs, WhatAnEventCannotSayIsLeftOut) {
  FlowPairs flows({Source(7, 10, 1), Source(7, 11, 4), Covered(Target(7, 20, 2))});
  EXPECT_NE(flows.ArrowFrom(Source(7, 10, 1)).number, 0u);
  EXPECT_EQ(flows.ArrowFrom(Source(7, 11, 4)).number, 0u);
  EXPECT_EQ(To(flows, Target(7, 20, 2)).size(), 1u);
  EXPECT_EQ(flows.pair_count(), 1);
  EXPECT_EQ(flows.left_out(), 1);
}

// Every target takes its nearest sources, and the numbers at sources and targets match.
TEST(FlowPairs, ManyToManyStaysBounded) {
  std::vector<End> ends;
  for (int64_t i = 0; i < 1000; ++i) {
    ends.push_back(Source(7, 2 * i, i + 1));
    ends.push_back(Target(7, 2 * i + 1, 10000 + i));
  }
  FlowPairs flows(ends);
  absl::flat_hash_set<uint64_t> begun, ended;
  int64_t pairs = 0;
  for (const End& end : ends) {
    if (!end.is_target) {
      if (uint64_t number = flows.ArrowFrom(end).number) begun.insert(number);
      continue;
    }
    for (uint64_t arrow : To(flows, end)) {
      ++pairs;
      ended.insert(arrow);
      EXPECT_TRUE(begun.contains(arrow));
    }
  }
  EXPECT_EQ(begun, ended);
  EXPECT_EQ(pairs, flows.pair_count());
  EXPECT_EQ(flows.pair_count() + flows.left_out(), 1'000'000);
  EXPECT_LE(pairs, 64 * 1000);
}

std::vector<uint64_t> Pairs(const FlowPairs& flows, const End& end) {
  std::vector<uint64_t> out;
  flows.EachPair(end, [&](uint64_t number) { out.push_back(number); });
  return out;
}

TEST(FlowPairs, EachPairHasItsNumber) {
  FlowPairs flows({Source(7, 10, 1), Source(7, 12, 2), Target(7, 11, 3), Target(7, 20, 4),
                   Source(8, 1, 5), Target(8, 2, 6), Source(9, 1, 7)},
                  FlowPairs::Style::kPairs);
  EXPECT_THAT(Pairs(flows, Source(7, 10, 1)), testing::ElementsAre(1, 2));
  EXPECT_THAT(Pairs(flows, Source(7, 12, 2)), testing::ElementsAre(3));
  EXPECT_THAT(Pairs(flows, Target(7, 11, 3)), testing::ElementsAre(1));
  EXPECT_THAT(Pairs(flows, Target(7, 20, 4)), testing::ElementsAre(2, 3));
  EXPECT_THAT(Pairs(flows, Source(8, 1, 5)), testing::ElementsAre(4));
  EXPECT_THAT(Pairs(flows, Target(8, 2, 6)), testing::ElementsAre(4));
  EXPECT_THAT(Pairs(flows, Source(9, 1, 7)), testing::IsEmpty());
}

// Pairs carry the arrows for which a bind_id has no room.
TEST(FlowPairs, PairsNeedNoRoomOnTheirEvents) {
  FlowPairs flows({Source(7, 10, 1), Source(7, 11, 4), Covered(Target(7, 20, 2))},
                  FlowPairs::Style::kPairs);
  EXPECT_THAT(Pairs(flows, Target(7, 20, 2)), testing::ElementsAre(1, 2));
  EXPECT_EQ(flows.left_out(), 0);
}

TEST(FlowPairs, PairsOfManyToManyMeet) {
  std::vector<End> ends;
  for (int64_t i = 0; i < 300; ++i) {
    ends.push_back(Source(7, 2 * i, i + 1));
    ends.push_back(Target(7, 2 * i + 1, 10000 + i));
  }
  FlowPairs flows(ends, FlowPairs::Style::kPairs);
  absl::flat_hash_set<uint64_t> begun, ended;
  for (const End& end : ends) {
    for (uint64_t number : Pairs(flows, end))
      EXPECT_TRUE((end.is_target ? ended : begun).insert(number).second);
  }
  EXPECT_EQ(begun, ended);
  EXPECT_EQ(int64_t(begun.size()), flows.pair_count());
}

}  // namespace
}  // namespace xlaprof
