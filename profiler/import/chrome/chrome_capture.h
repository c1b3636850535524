// Describes one Chrome trace of a job by both ends of the file, without reading its events. This is
// enough to find out which traces are ranks of one job that was recorded at one time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

struct ChromeCapture {
  std::optional<int64_t> rank, world_size;
  std::string host;  // "" unknown
  // Added to the times of the file's clock, this makes them count from 1970. Empty: it is not
  // known.
  std::optional<int64_t> base_epoch_ns;
  // Times of the events at both ends of the file, by the file's clock; first > last: none were
  // found.
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
};

ChromeCapture DescribeChromeCapture(std::string_view bytes);

}  // namespace xlaprof
