// A buffer in front of a sink, into which pieces are put directly.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "exporters/output/pieces.h"
#include "exporters/output/sink.h"

namespace xlaprof {

class SinkBuffer {
 public:
  // `sink` must outlive the buffer. `bytes` should be some hundreds at least.
  explicit SinkBuffer(Sink& sink, size_t bytes = 1 << 18) : sink_(sink) { Resize(bytes); }
  SinkBuffer(const SinkBuffer&) = delete;
  SinkBuffer& operator=(const SinkBuffer&) = delete;

  // Returns a pointer where `bytes` may be put. Call EndAt with the end of the bytes put there.
  char* Room(size_t bytes) {
    if (size_t(end_ - at_) < bytes) [[unlikely]]
      MakeRoom(bytes);
    return at_;
  }
  void EndAt(char* to) { at_ = to; }

  void Raw(std::string_view text) {
    if (size_t(end_ - at_) < text.size()) [[unlikely]] {
      Flush();
      if (size_t(end_ - at_) < text.size()) return Write(text);
    }
    if (text.empty()) return;  // copying from a null view is undefined
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void Raw(Piece text) { at_ = Put(Room(text.size()), text); }
  template <size_t kSize>
  void Raw(const char (&literal)[kSize]) {
    at_ = Put(Room(kSize), literal);
  }

  // Writes everything to the sink, which stays open. Returns the first error, after which nothing
  // was written.
  absl::Status Finish() {
    Flush();
    return status_;
  }
  bool ok() const { return status_.ok(); }

 private:
  [[gnu::noinline]] void MakeRoom(size_t bytes) {
    Flush();
    if (size_t(end_ - at_) < bytes) Resize(bytes);
  }
  void Resize(size_t bytes) {
    buffer_.resize(bytes + kPieceBlock);
    at_ = buffer_.data();
    end_ = at_ + bytes;
  }
  void Flush() {
    Write({buffer_.data(), size_t(at_ - buffer_.data())});
    at_ = buffer_.data();
  }
  void Write(std::string_view bytes) {
    if (status_.ok() && !bytes.empty()) status_ = sink_.Write(bytes);
  }

  Sink& sink_;
  std::vector<char> buffer_;
  char *at_, *end_;  // pieces may run into a block behind `end_`
  absl::Status status_;
};

}  // namespace xlaprof
