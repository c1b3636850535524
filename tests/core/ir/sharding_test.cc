#include "core/ir/sharding.h"

#include <gtest/gtest.h>

#include "core/ir/error.h"

namespace xlaprof::lazy {
namespace {

const Grid kCube{{2, 2, 2}, {7, 6, 5, 4, 3, 2, 1, 0}};

TEST(Sharding, GroupsDevicesAlongAxes) {
  EXPECT_EQ(kCube.Count({0, 2}), 4);
  EXPECT_EQ(kCube.PlaceOf(4), Dims({0, 1, 1}));
  EXPECT_EQ(kCube.PartOf(4, {2, 1}), 3);
  EXPECT_EQ(kCube.PartOf(3, {2, 0}), 1);
  EXPECT_EQ(kCube.Groups({2}), Dims({7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(kCube.Groups({0, 2}), Dims({7, 6, 3, 2, 5, 4, 1, 0}));
  EXPECT_EQ(kCube.Groups({}), kCube.devices);
}

TEST(Sharding, SaysWhereADevicesPartIs) {
  const Sharding sharding{kCube, {{}, {1, 0}}};
  const Shape whole{DType::kF32, {3, 8}};
  EXPECT_EQ(sharding.PartOf(whole).ToText(), "f32[3,2]");
  EXPECT_EQ(sharding.BeginOf(whole, 7), Dims({0, 0}));
  EXPECT_EQ(sharding.BeginOf(whole, 4), Dims({0, 4}));
  EXPECT_EQ(sharding.BeginOf(whole, 3), Dims({0, 2}));
}

TEST(Sharding, HasXlasText) {
  EXPECT_EQ((Sharding{kCube, {{0}, {2}}}).ToText(),
            "{devices=[2,2,2]7,5,6,4,3,1,2,0 last_tile_dim_replicate}");
  EXPECT_EQ((Sharding{{{4}, {0, 1, 2, 3}}, {{}, {0}}}).ToText(), "{devices=[1,4]0,1,2,3}");
  EXPECT_EQ((Sharding{kCube, {{}, {}}}).ToText(), "{replicated}");
  EXPECT_EQ(Sharding().ToText(), "{replicated}");
}

TEST(Sharding, IsTheSameAfterAttributes) {
  for (const Sharding& sharding :
       {Sharding{kCube, {{0}, {2, 1}}}, Sharding{kCube, {{}}}, Sharding{kCube, {}}, Sharding()})
    EXPECT_EQ(Sharding::Of(sharding.ToAttributes()), sharding);
}

TEST(Sharding, IsSimplifiedToWhatDivides) {
  const Grid flat{{1, 2}, {0, 1}};
  EXPECT_EQ((Sharding{flat, {{0}, {}}}).Simplified(), Sharding());
  EXPECT_EQ((Sharding{flat, {{0, 1}, {}}}).Simplified(), (Sharding{flat, {{1}, {}}}));
}

TEST(Sharding, OfWrongAttributesIsAnError) {
  const auto error = [](const Attributes& attributes) -> std::string {
    try {
      Sharding::Of(attributes);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error({1, 2, 0}), "a sharding ends early");
  EXPECT_EQ(error({1, 2, 0, 1, 1}), "a sharding ends early");
  EXPECT_EQ(error({1, 2, 0, 0, 0}), "device 0 occurs twice");
  EXPECT_EQ(error({1, 0}), "an axis of a mesh has size 0");
  EXPECT_EQ(error({1, 2, 0, 2, 0}), "there is no device 2: there are 2");
  EXPECT_EQ(error({1, 2, 0, 1, 1, 0, 1, 0}), "mesh axis 0 occurs twice");
  EXPECT_EQ(error({-1}), "a sharding ends early");
}

}  // namespace
}  // namespace xlaprof::lazy
