// Protobuf's wire format, written to a file while the messages are still growing.
//
// A nested message is preceded by its length, which is known when it ends: it gets five bytes (a
// varint padded with zeros, as readers must accept) that are filled in then. So the file must be
// one that can be sought in, and memory stays that of a buffer.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace xlaprof {

// A message in memory, appended field by field.
class ProtoText {
 public:
  void Varint(uint32_t field, uint64_t value) {
    Tag(field, 0);
    Raw(value);
  }
  void Double(uint32_t field, double value) {
    Tag(field, 1);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i) bytes_.push_back(char(bits >> (8 * i)));
  }
  // Of strings, bytes and messages.
  void Bytes(uint32_t field, std::string_view value) {
    BytesHead(field, value.size());
    bytes_ += value;
  }
  // The same, where the `size` bytes follow.
  void BytesHead(uint32_t field, size_t size) {
    Tag(field, 2);
    Raw(size);
  }
  void Clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  void Tag(uint32_t field, uint32_t type) { Raw(uint64_t(field) << 3 | type); }
  void Raw(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(char(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(char(value));
  }

  std::string bytes_;
};

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
