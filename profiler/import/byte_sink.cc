#include "profiler/import/byte_sink.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace xlaprof {

bool IsBomb(size_t in, size_t out) { return out > kAlwaysAllowedBytes && out / kMaxGrowth > in; }

Block::~Block() {
  if (map_ != nullptr) munmap(map_, map_size_);
}

absl::StatusOr<Block> Block::Map(const Descriptor& fd, size_t size, std::string_view name) {
  Block block;
  void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (map == MAP_FAILED) return IoError("{}: cannot map: {}", name, std::strerror(errno));
  madvise(map, size, MADV_SEQUENTIAL);
  block.map_ = map;
  block.map_size_ = size;
  return block;
}

void Block::Forget(size_t from, size_t to) const {
  if (map_ == nullptr || to <= from) return;
  // A page that is shared with bytes outside is kept.
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const size_t first = (from + page - 1) / page * page,
               last = std::min(to, map_size_) / page * page;
  if (first < last) madvise(static_cast<char*>(map_) + first, last - first, MADV_DONTNEED);
}

absl::Status ByteSink::Append(const char* data, size_t size) {
  size_ += size;
  if (!fd_.is_open() && text_.size() + size <= in_memory_bytes_) {
    text_.append(data, size);
    return absl::OkStatus();
  }
  if (!fd_.is_open()) XP_TRY(Spill());
  return Write(data, size);
}

absl::StatusOr<Block> ByteSink::Finish() && {
  if (is_in_memory()) return Block(std::move(text_));
  // The file is closed here, because hundreds of archives would use up the files that a process may
  // have open.
  const Descriptor fd = std::move(fd_);
  return Block::Map(fd, size_, "temporary file");
}

absl::Status ByteSink::Spill() {
  const char* folder = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/xlaprof-XXXXXX", folder != nullptr ? folder : "/tmp");
  fd_ = Descriptor(mkstemp(name.data()));
  if (!fd_.is_open()) {
    return IoError("{}: cannot create a temporary file: {}. Set TMPDIR", name,
                   std::strerror(errno));
  }
  unlink(name.c_str());
  std::string text = std::exchange(text_, {});
  return Write(text.data(), text.size());
}

absl::Status ByteSink::Write(const char* data, size_t size) {
  while (size > 0) {
    ssize_t put = write(fd_.get(), data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      return IoError("temporary file: {}. Free space, or set TMPDIR", std::strerror(errno));
    data += put;
    size -= size_t(put);
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
