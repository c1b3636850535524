// Writes Protobuf's wire format to a file while the messages are still growing.
//
// A nested message is preceded by its length, which is known only when it ends. So the length gets
// five bytes (a varint padded with zeros, as readers must accept) that are filled in then. The file
// must therefore be seekable. Memory use is that of the buffer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "exporters/output/proto_text.h"

namespace xlaprof {

class ProtoFile {
 public:
  // Creates or truncates `path`. Errors name the path and the reason.
  static absl::StatusOr<ProtoFile> Create(const std::filesystem::path& path);
  ProtoFile(ProtoFile&& other) noexcept;
  ~ProtoFile();

  // Appends bytes. After the first error nothing more is written, and Close returns that error.
  void Write(std::string_view bytes);
  void Write(const ProtoText& fields) { Write(fields.bytes()); }
  // Begins a message of this field; the matching End ends the innermost one. A message of 2^35
  // bytes or more is an error.
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
