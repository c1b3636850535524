// Fails a test for every complaint.
#pragma once

#include <gtest/gtest.h>

#include "tests/hostile/guarded.h"

namespace xlaprof {

// Runs the cases guarded; each complaint fails the test.
inline void ExpectAllWell(size_t count, const std::function<GuardedCase(size_t)>& make) {
  EXPECT_GT(count, 0u) << "nothing to try";
  for (const std::string& complaint : RunGuarded(count, make)) ADD_FAILURE() << complaint;
}

}  // namespace xlaprof
