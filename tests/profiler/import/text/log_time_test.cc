#include <gtest/gtest.h>

#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

TEST(LogTime, IsReadAtTheFront) {
  EXPECT_EQ(LogTime("1970-01-02 00:00:01.000002: I /x/tensor.cpp:1575]"), 86401000002000);
  EXPECT_EQ(LogTime("1970-01-01T00:00:01"), 1'000'000'000);
  EXPECT_EQ(LogTime("1970-01-01 00:00:01.25 rest"), 1'250'000'000);
  EXPECT_EQ(LogTime("1972-02-29 00:00:00"), 789 * int64_t{86'400'000'000'000});
}

TEST(LogTime, IsNothingElse) {
  for (const char* text :
       {"", "2022", "2022-03-01", "2022-13-01 00:00:00", "2022-02-30 00:00:00", "2022-03-01 24:00:00",
        "2022-03-01_00:00:00", "1969-12-31 23:59:59", "2201-01-01 00:00:00", "infinite-future    ",
        "tensor.cpp:1575] Executing"})
    EXPECT_FALSE(LogTime(text)) << text;
}

}  // namespace
}  // namespace xlaprof
