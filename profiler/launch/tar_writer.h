// Writes a tar archive with headers of the form ustar (POSIX 1003.1). libarchive would do so, too,
// but its static library then needs an XML library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace xlaprof {

class TarWriter {
 public:
  // `write` gets the bytes of the archive in order.
  using Write = std::function<absl::Status(std::string_view bytes)>;
  explicit TarWriter(Write write) : write_(std::move(write)) {}

  absl::Status AddFile(const std::string& name, int64_t modified_s, std::string_view bytes);
  absl::Status AddFolder(const std::string& name, int64_t modified_s);
  absl::Status Finish();

 private:
  absl::Status AddEntry(const std::string& name, int64_t modified_s, char type,
                        std::string_view bytes);

  Write write_;
};

}  // namespace xlaprof
