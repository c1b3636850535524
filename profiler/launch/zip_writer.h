// Writes a zip archive, whose members are deflated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

class ZipWriter {
 public:
  // Fails if the archive would have 4 GiB or 65,535 members, which needs a newer form of zip.
  absl::Status Add(const std::string& name, int64_t modified_s, std::string_view bytes);
  std::string Finish() &&;

 private:
  std::string bytes_, directory_;
  uint32_t members_ = 0;
};

}  // namespace xlaprof
