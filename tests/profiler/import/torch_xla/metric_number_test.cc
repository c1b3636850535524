#include <gtest/gtest.h>

#include "profiler/import/torch_xla/report_lines.h"

namespace xlaprof {
namespace {

TEST(MetricNumber, TellsUnits) {
  auto check = [](const char* text, double value, MetricUnit unit) {
    auto number = ParseMetricNumber(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(number->value, value) << text;
    EXPECT_EQ(number->unit, unit) << text;
  };
  check("1382.00", 1382, MetricUnit::kValue);
  check("-3.50", -3.5, MetricUnit::kValue);
  check("1.23457e+06", 1234570, MetricUnit::kValue);
  check("0.00B", 0, MetricUnit::kBytes);
  check("172.76B", 172.76, MetricUnit::kBytes);
  check("3.44KB", 3523, MetricUnit::kBytes);  // a factor of 1024, whatever the label suggests
  check("75.00MB", 75 * 1024.0 * 1024, MetricUnit::kBytes);
  check("10GB", 10 * 1024.0 * 1024 * 1024, MetricUnit::kBytes);
  check("015ms296.067us ", 15296067, MetricUnit::kNs);
  check("13343d", 13343 * 86400e9, MetricUnit::kNs);
  for (const char* text : {"", "B", "MB", "inf", "12XB", "Unknown", "1.2.3", "13344d",
                           "99999999999999999999999d000.000us"})
    EXPECT_FALSE(ParseMetricNumber(text)) << text;
}

}  // namespace
}  // namespace xlaprof
