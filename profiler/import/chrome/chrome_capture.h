// What one Chrome trace of a job says about itself, from both ends of the file and without reading
// its events: enough to tell which traces are ranks of one job that was recorded at one time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

struct ChromeCapture {
  std::optional<int64_t> rank, world_size;
  std::string host;  // "" unknown
  // The file's clock: added to its times they count from 1970. Empty: nobody knows.
  std::optional<int64_t> base_epoch_ns;
  // Of the events at both ends of the file, as it counts; first > last: none were found.
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
};

ChromeCapture DescribeChromeCapture(std::string_view bytes);

}  // namespace xlaprof
