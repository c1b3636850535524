// Formats times, sizes and counts for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

std::string DurationText(int64_t ns);  // 1,240 s, 12.3 s, 4.56 ms, 789 us, 12 ns
std::string BytesText(double bytes);   // 1.5 GB, 512 KB, 4 B (decimal)
std::string CountText(int64_t count);  // 1,234,567
// Returns "1 step" or "1,024 steps". `many` is the plural; by default, `one` with an s.
std::string Plural(int64_t count, std::string_view one, std::string_view many = {});
std::string TimesText(int64_t count);      // once, 1,024 times
std::string PerStepText(double per_step);  // 1.04 a step; for 0.333: once every 3 steps
// Returns ", 12 times (1.5 a step)", or less if the count or the steps are not known.
std::string HowOften(std::optional<int64_t> count, std::optional<double> per_step);
// Formats a share: 12 % for 0.123, 1.2 % for 0.0123, 0 % for 0, and < 0.1 % for 0.00001.
std::string PercentText(double part);
// Returns "a", "a and b", or "a, b and c".
std::string ListText(const std::vector<std::string>& parts);

}  // namespace xlaprof
