// Where an exporter's bytes go: a file, plain or gzip.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

class Sink {
 public:
  virtual ~Sink() = default;
  // Takes all of `bytes`; large pieces are cheapest.
  virtual absl::Status Write(std::string_view bytes) = 0;
  // Writes what is buffered; nothing may follow. A file is whole only after this returned OK.
  virtual absl::Status Close() = 0;
};

// Keeps what it is given.
class StringSink : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    text += bytes;
    return absl::OkStatus();
  }
  absl::Status Close() override { return absl::OkStatus(); }
  std::string text;
};

// A file, truncated if it is there, or with "-" standard output. Errors name it and the reason.
absl::StatusOr<std::unique_ptr<Sink>> OpenSink(const std::filesystem::path& path, bool gzip);

}  // namespace xlaprof
