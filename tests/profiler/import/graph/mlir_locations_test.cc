#include "profiler/import/graph/mlir_locations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns a location as "name | function@file:line, function@file:line".
std::string Told(MlirLocations& locations, std::string_view text) {
  const MlirLocation location = locations.Of(text);
  std::string out = location.name + " |";
  for (const Store::Frame& frame : location.stack)
    out += fmt::format(" {}@{}:{}{}", frame.function, frame.file, frame.line,
                       frame.is_user() ? "" : " (library)");
  return out;
}

TEST(MlirLocations, StacksAndNames) {
  MlirLocations locations(
      "#loc1 = loc(\"x\")\nmodule @jit_f {\n} loc(#loc)\n#loc = loc(unknown)\n"
      "#loc3 = loc(\"/x/train.py\":4:17 to :22)\n#loc4 = loc(\"/x/train.py\":10:8 to :40)\n"
      "#loc5 = loc(\"/v/site-packages/jax/n.py\":7:0 to :6)\n"
      "#loc10 = loc(\"step\"(#loc3))\n#loc11 = loc(\"main\"(#loc4))\n#loc12 = loc(\"at\"(#loc5))\n"
      "#loc17 = loc(callsite(#loc10 at #loc11))\n#loc18 = loc(callsite(#loc12 at #loc17))\n"
      "#loc25 = loc(\"jit(f)/tanh\"(#loc18))\n#loc26 = loc(fused[#loc25, #loc3])\n");
  EXPECT_EQ(Told(locations, "loc(#loc25)"),
            "jit(f)/tanh | at@/v/site-packages/jax/n.py:7 (library) step@/x/train.py:4 "
            "main@/x/train.py:10");
  EXPECT_EQ(Told(locations, "loc(#loc26)"), Told(locations, "loc(#loc25)"));
  EXPECT_EQ(Told(locations, "loc(#loc1)"), "x |");
  EXPECT_EQ(Told(locations, "loc(\"x\")"), "x |");
  for (const char* nothing :
       {"loc(#loc)", "loc(#loc99)", "", "loc(", "loc(\"x", "loc(callsite(#loc3"})
    EXPECT_THAT(locations.Of(nothing).stack, IsEmpty()) << nothing;
}

// Until 2024, a location was one place with a name around it.
TEST(MlirLocations, OlderForms) {
  MlirLocations locations("#loc3 = loc(\"/jos\\C3\\A9/a \\22b\\22 at c.py\":12:0)\n");
  EXPECT_EQ(Told(locations, "loc(\"jit(f)/jit(main)/sin\"(#loc3))"),
            "jit(f)/jit(main)/sin | @/josé/a \"b\" at c.py:12");
  EXPECT_EQ(Told(locations, "loc(callsite(\"g\"(\"b.py\":2:1) at \"f\"(\"a.py\":3:1)))"),
            " | g@b.py:2 f@a.py:3");
}

TEST(MlirLocations, EndsOnWhatNamesItself) {
  MlirLocations locations(
      "#loc1 = loc(callsite(#loc2 at #loc1))\n#loc2 = loc(callsite(#loc1 at #loc2))\n"
      "#loc3 = loc(#loc3)\n#loc4 = loc(callsite(#loc5 at #loc4))\n#loc5 = loc(\"a.py\":1:1)\n");
  EXPECT_THAT(locations.Of("loc(#loc1)").stack, IsEmpty());
  EXPECT_THAT(locations.Of("loc(#loc3)").stack, IsEmpty());
  EXPECT_LE(locations.Of("loc(#loc4)").stack.size(), 1024u);
}

// One long location follows each of many operations.
TEST(MlirLocations, WorkIsBounded) {
  std::string nested;
  for (int i = 0; i < 200; ++i) nested += "callsite(";
  nested += "\"a.py\":1:1";
  for (int i = 0; i < 200; ++i) nested += " at unknown)" + std::string(500, ' ');
  const std::string text = "#loc1 = loc(" + nested + ")\n";
  MlirLocations locations(text);
  EXPECT_EQ(locations.Of("loc(#loc1)").stack.size(), 1u);
  for (int i = 0; i < 100; ++i) locations.Of("loc(#loc1)");
  EXPECT_THAT(locations.Of("loc(#loc1)").stack, IsEmpty());
}

}  // namespace
}  // namespace xlaprof
