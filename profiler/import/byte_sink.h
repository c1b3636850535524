// Collects bytes that come piece by piece and are needed as a whole: in memory first, in an unnamed
// file when there are many.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/status.h"

namespace xlaprof {

// More bytes than this are mapped from a file, so that the kernel may drop pages.
inline constexpr size_t kInMemoryBytes = size_t{64} << 20;

// Returns whether `out` bytes from `in` compressed ones are too many, as from a decompression bomb.
// Captures may always grow to 256 MiB. Hardly any larger one shrinks by more, and its user may
// decompress it first. Standard input, which comes from 0 bytes on disk, has the same bound.
bool IsBomb(size_t in, size_t out);
inline constexpr size_t kMaxGrowth = 100;
inline constexpr size_t kAlwaysAllowedBytes = size_t{256} << 20;

// Bytes in memory or mapped from a file.
class Block {
 public:
  Block() = default;
  explicit Block(std::string text) : text_(std::move(text)) {}
  Block(Block&& other) noexcept
      : text_(std::move(other.text_)),
        map_(std::exchange(other.map_, nullptr)),
        map_size_(other.map_size_) {}
  Block& operator=(Block&& other) noexcept {
    text_ = std::move(other.text_);
    std::swap(map_, other.map_);
    std::swap(map_size_, other.map_size_);
    return *this;
  }
  ~Block();

  // Maps `size` bytes, at least one, of a file, which may be closed afterwards; `name` is for the
  // message. A MapGuard is needed if somebody else may cut the file.
  static absl::StatusOr<Block> Map(const Descriptor& fd, size_t size, std::string_view name);

  // Returns the bytes. They are valid until the block is moved or destroyed; mapped ones also after
  // a move.
  std::string_view view() const {
    return map_ != nullptr ? std::string_view(static_cast<char*>(map_), map_size_)
                           : std::string_view(text_);
  }
  // Releases the memory of bytes [from, to) if they are mapped. Reading them again only costs time.
  // Any thread may call this, even while another thread reads them.
  void Forget(size_t from, size_t to) const;

 private:
  std::string text_;
  void* map_ = nullptr;
  size_t map_size_ = 0;
};

class ByteSink {
 public:
  // `in_memory_bytes` limits how many bytes are kept in memory.
  explicit ByteSink(size_t in_memory_bytes = kInMemoryBytes) : in_memory_bytes_(in_memory_bytes) {}
  // A sink that has all its bytes, in memory.
  explicit ByteSink(std::string text)
      : in_memory_bytes_(kInMemoryBytes), text_(std::move(text)), size_(text_.size()) {}
  // Reserves memory for about as many bytes as will come.
  void Reserve(size_t size) { text_.reserve(std::min(size, in_memory_bytes_)); }
  // Fails if there is no room for the file, which is created under TMPDIR (or else /tmp).
  absl::Status Append(const char* data, size_t size);
  size_t size() const { return size_; }
  absl::StatusOr<Block> Finish() &&;
  bool is_in_memory() const { return fd_.get() < 0; }

 private:
  absl::Status Spill();
  absl::Status Write(const char* data, size_t size);
  size_t in_memory_bytes_;
  std::string text_;
  Descriptor fd_{-1};
  size_t size_ = 0;
};

}  // namespace xlaprof
