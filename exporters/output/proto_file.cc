#include "exporters/output/proto_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace xlaprof {
namespace {

constexpr size_t kBufferBytes = size_t(1) << 18;
constexpr int kLengthBytes = 5;

}  // namespace

absl::StatusOr<ProtoFile> ProtoFile::Create(const std::filesystem::path& path) {
  ProtoFile file(path);
  file.file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.file_ < 0) return file.Error();
  return file;
}

ProtoFile::ProtoFile(ProtoFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      buffer_(std::move(other.buffer_)),
      flushed_(other.flushed_),
      open_(std::move(other.open_)),
      status_(std::move(other.status_)) {}

ProtoFile::~ProtoFile() {
  if (file_ >= 0) close(file_);
}

absl::Status ProtoFile::Error() const {
  return IoError("{}: cannot write: {}. Check the folder and its free space, or write elsewhere",
                 path_.string(), std::strerror(errno));
}

void ProtoFile::WriteAt(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty() && status_.ok()) {
    const ssize_t wrote = pwrite(file_, bytes.data(), bytes.size(), off_t(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      status_ = Error();
      return;
    }
    bytes.remove_prefix(size_t(wrote));
    offset += uint64_t(wrote);
  }
}

void ProtoFile::Flush() {
  WriteAt(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void ProtoFile::Write(std::string_view bytes) {
  if (!status_.ok()) return;
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) Flush();
}

void ProtoFile::Begin(uint32_t field) {
  ProtoText head;
  head.Bytes(field, "");
  // Writes the tag, then room for the length instead of its single byte.
  Write(std::string_view(head.bytes()).substr(0, head.bytes().size() - 1));
  open_.push_back(size());
  Write(std::string_view("\0\0\0\0\0", kLengthBytes));
}

void ProtoFile::End() {
  const uint64_t at = open_.back();
  open_.pop_back();
  if (!status_.ok()) return;
  uint64_t length = size() - at - kLengthBytes;
  if (length >> (7 * kLengthBytes) != 0) {
    status_ = absl::OutOfRangeError(
        fmt::format("{}: a message of {} bytes cannot be written", path_.string(), length));
    return;
  }
  char bytes[kLengthBytes];
  for (int i = 0; i < kLengthBytes; ++i, length >>= 7)
    bytes[i] = char((length & 0x7f) | (i + 1 < kLengthBytes ? 0x80 : 0));
  if (at >= flushed_) {
    std::memcpy(buffer_.data() + (at - flushed_), bytes, kLengthBytes);
    return;
  }
  // If the length lies partly in the file and partly in the buffer, flushes it to the file.
  if (at + kLengthBytes > flushed_) Flush();
  WriteAt(at, {bytes, kLengthBytes});
}

absl::Status ProtoFile::Close() {
  Flush();
  XP_TRY(status_);
  return close(std::exchange(file_, -1)) == 0 ? absl::OkStatus() : Error();
}

}  // namespace xlaprof
