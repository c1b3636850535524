// Protobuf's wire format, written to a file while the messages are still growing.
//
// A nested message is preceded by its length, which is known when it ends: it gets five bytes (a
// varint padded with zeros, as readers must accept) that are filled in then. So the file must be
// one that can be sought in, and memory stays that of a buffer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "exporters/output/proto_text.h"

namespace xlaprof {

class ProtoFile {
 public:
  // Truncates `path` if it is there. Errors name it and the reason.
  static absl::StatusOr<ProtoFile> Create(const std::filesystem::path& path);
  ProtoFile(ProtoFile&& other) noexcept;
  ~ProtoFile();

  // The first error stands; what follows it is not written.
  void Write(std::string_view bytes);
  void Write(const ProtoText& fields) { Write(fields.bytes()); }
  // A message of this field begins, and ends with the innermost End. More than 2^35 bytes in one
  // are an error.
  void Begin(uint32_t field);
  void End();
  bool ok() const { return status_.ok(); }
  uint64_t size() const { return flushed_ + buffer_.size(); }

  absl::Status Close();

 private:
  explicit ProtoFile(std::filesystem::path path) : path_(std::move(path)) {}
  void Flush();
  void WriteAt(uint64_t offset, std::string_view bytes);
  absl::Status Error() const;

  std::filesystem::path path_;
  int file_ = -1;
  std::string buffer_;
  uint64_t flushed_ = 0;
  std::vector<uint64_t> open_;  // where the lengths of the open messages are
  absl::Status status_;
};

}  // namespace xlaprof
