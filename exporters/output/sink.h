// The destination of an exporter's bytes: a file, plain or gzip.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

class Sink {
 public:
  virtual ~Sink() = default;
  // Takes all of `bytes`. Large pieces cost least.
  virtual absl::Status Write(std::string_view bytes) = 0;
  // Writes what is buffered; nothing may follow. A file is complete only after this returned OK.
  virtual absl::Status Close() = 0;
};

// Keeps its bytes in memory.
class StringSink : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    text += bytes;
    return absl::OkStatus();
  }
  absl::Status Close() override { return absl::OkStatus(); }
  std::string text;
};

// Opens a file, which is truncated if it exists, or standard output for "-". Errors name the path
// and the reason.
absl::StatusOr<std::unique_ptr<Sink>> OpenSink(const std::filesystem::path& path, bool gzip);

}  // namespace xlaprof
