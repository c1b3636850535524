#include "profiler/import/text/log_time.h"

#include <absl/time/time.h>

namespace xlaprof {

OptInt LogTime(std::string_view text) {
  constexpr size_t kSeparator = 10, kSeconds = 17;
  if (text.size() < kSeconds) return std::nullopt;
  const std::string_view time = text.substr(0, text.find_first_not_of("0123456789.", kSeconds));
  const char* form =
      time[kSeparator] == 'T' ? "%E4Y-%m-%dT%H:%M:%E*S" : "%E4Y-%m-%d %H:%M:%E*S";
  absl::Time read;
  if (!absl::ParseTime(form, {time.data(), time.size()}, &read, nullptr)) return std::nullopt;
  static const absl::Time end = absl::FromCivil(absl::CivilYear(2201), absl::UTCTimeZone());
  if (read < absl::UnixEpoch() || read >= end) return std::nullopt;
  return absl::ToUnixNanos(read);
}

}  // namespace xlaprof
