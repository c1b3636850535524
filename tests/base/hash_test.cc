#include "base/hash.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

// Fingerprints in reports and hashes in stores must not change. The first two are published vectors.
TEST(Hash, IsFnv1aForever) {
  EXPECT_EQ(FnvOfBytes(kFnvStart, "a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(FnvOfBytes(kFnvStart, "foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(FnvOfBytes(FnvOfBytes(kFnvStart, "foo"), "bar"), 0x85944171f73967e8u);
  EXPECT_NE(Fnv(Fnv(kFnvStart, "ab"), "c"), Fnv(Fnv(kFnvStart, "a"), "bc"));
  EXPECT_EQ(Fnv(kFnvStart, "a"), FnvOfBytes(kFnvStart, "a\xff"));
}

}  // namespace
}  // namespace xlaprof
