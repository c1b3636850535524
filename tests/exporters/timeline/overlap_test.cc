#include "exporters/timeline/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace xlaprof {
namespace {

using testing::ElementsAre;

std::vector<size_t> Place(const std::vector<std::pair<int64_t, int64_t>>& events,
                          Lanes::Nesting nesting = Lanes::Nesting::kAllowed) {
  Lanes lanes(nesting);
  std::vector<size_t> out;
  for (auto [ts, end] : events) out.push_back(lanes.Place(ts, end));
  return out;
}

TEST(Lanes, NestedOnesShare) {
  EXPECT_THAT(Place({{0, 10}, {0, 10}, {1, 5}, {5, 10}, {10, 11}}), ElementsAre(0, 0, 0, 0, 0));
}

TEST(Lanes, OverlapTakesTheFirstLaneThatFits) {
  EXPECT_THAT(Place({{0, 10}, {5, 15}, {6, 12}, {7, 20}, {10, 20}, {15, 17}}),
              ElementsAre(0, 1, 1, 2, 0, 0));
}

TEST(Lanes, InstantsFitEverywhere) {
  EXPECT_THAT(Place({{0, 10}, {5, 5}, {10, 10}, {10, 12}}), ElementsAre(0, 0, 0, 0));
}

TEST(Lanes, WhatNeverEndedHoldsAllThatFollows) {
  EXPECT_THAT(Place({{0, INT64_MAX}, {5, 10}, {7, 12}, {20, INT64_MAX}}), ElementsAre(0, 0, 1, 0));
}

TEST(Lanes, WithoutNestingALaneHoldsOneAtATime) {
  EXPECT_THAT(
      Place({{0, 10}, {1, 5}, {5, 5}, {5, 7}, {10, 11}, {12, INT64_MAX}, {13, 14}, {15, 16}},
            Lanes::Nesting::kNone),
      ElementsAre(0, 1, 1, 1, 1, 0, 1, 1));
}

// For random events, no two events of a lane overlap unless one nests in the other, and there are
// at most as many lanes as open events.
TEST(Lanes, RandomEventsNestInTheirLanes) {
  std::mt19937 random(7);
  for (int64_t longest : {5, 100, 3000}) {
    std::vector<std::pair<int64_t, int64_t>> events;
    for (int i = 0; i < 2000; ++i) {
      int64_t ts = int64_t(random() % 4000);
      events.emplace_back(ts, ts + int64_t(random() % uint64_t(longest)));
    }
    std::sort(events.begin(), events.end(), [](auto a, auto b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    Lanes lanes;
    std::vector<std::vector<std::pair<int64_t, int64_t>>> of_lane;
    for (auto [ts, end] : events) {
      size_t lane = lanes.Place(ts, end);
      if (of_lane.size() <= lane) of_lane.resize(lane + 1);
      for (auto [other_ts, other_end] : of_lane[lane])
        ASSERT_TRUE(other_end <= ts || other_end >= end) << ts << " " << end << " " << other_end;
      of_lane[lane].emplace_back(ts, end);
    }
    EXPECT_EQ(of_lane.size(), lanes.count());
    if (longest == 3000) {
      EXPECT_GT(lanes.count(), 100u) << "lanes of one event each were not tried";
    }
  }
}

}  // namespace
}  // namespace xlaprof
