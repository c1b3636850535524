#include "profiler/import/input.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace xlaprof {
namespace {

constexpr size_t kInMemoryBytes =
    size_t{64} << 20;  // larger ones are mapped, so that the kernel may drop pages
// Decompression bombs: no real capture shrinks by more than a few hundred, and small ones may
// always grow to this.
constexpr size_t kMaxRatio = 1000;
constexpr size_t kAlwaysAllowedBytes = size_t{256} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Bytes that lie in memory or are mapped from a file.
struct Block {
  std::string text;
  void* map = nullptr;
  size_t map_size = 0;
  std::string_view view() const {
    return map != nullptr ? std::string_view(static_cast<char*>(map), map_size)
                          : std::string_view(text);
  }
  Block() = default;
  Block(Block&& other) noexcept
      : text(std::move(other.text)),
        map(std::exchange(other.map, nullptr)),
        map_size(other.map_size) {}
  Block& operator=(Block&& other) noexcept {
    text = std::move(other.text);
    std::swap(map, other.map);
    std::swap(map_size, other.map_size);
    return *this;
  }
  ~Block() {
    if (map != nullptr) munmap(map, map_size);
  }
};

absl::Status Map(int fd, size_t size, const std::string& name, Block& block) {
  void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) return IoError("{}: cannot map: {}", name, std::strerror(errno));
  madvise(map, size, MADV_SEQUENTIAL);
  block.map = map;
  block.map_size = size;
  return absl::OkStatus();
}

absl::Status ReadAll(int fd, const std::string& name, std::string& text) {
  char buffer[1 << 16];
  while (true) {
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError("{}: cannot read: {}", name, std::strerror(errno));
    if (got == 0) return absl::OkStatus();
    text.append(buffer, size_t(got));
  }
}

// Takes decompressed bytes: in memory first, in an unnamed file when there are many.
class Sink {
 public:
  absl::Status Append(const char* data, size_t size) {
    size_ += size;
    if (fd_.get() < 0 && block_.text.size() + size <= kInMemoryBytes) {
      block_.text.append(data, size);
      return absl::OkStatus();
    }
    if (fd_.get() < 0) {
      XP_TRY(Spill());
    }
    return Write(data, size);
  }
  size_t size() const { return size_; }
  absl::StatusOr<Block> Finish() && {
    if (fd_.get() >= 0) XP_TRY(Map(fd_.get(), size_, "temporary file", block_));
    return std::move(block_);
  }

 private:
  absl::Status Spill() {
    const char* folder = std::getenv("TMPDIR");
    std::string name = fmt::format("{}/xlaprof-XXXXXX", folder != nullptr ? folder : "/tmp");
    fd_ = Descriptor(mkstemp(name.data()));
    if (fd_.get() < 0)
      return IoError("{}: cannot make a temporary file: {}. Set TMPDIR", name,
                     std::strerror(errno));
    unlink(name.c_str());
    std::string text = std::move(block_.text);
    block_.text.clear();
    return Write(text.data(), text.size());
  }
  absl::Status Write(const char* data, size_t size) {
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
  Block block_;
  Descriptor fd_{-1};
  size_t size_ = 0;
};

bool OverLimit(size_t in, size_t out) { return out > kAlwaysAllowedBytes && out / kMaxRatio > in; }

absl::Status Gunzip(std::string_view in, Sink& sink, std::string& damage) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return IoError("zlib does not start");
  std::vector<char> out(1 << 18);
  size_t fed = 0;
  absl::Status status;
  while (true) {
    if (stream.avail_in == 0 && fed < in.size()) {
      size_t part = std::min<size_t>(in.size() - fed, 1 << 20);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + fed));
      stream.avail_in = uInt(part);
      fed += part;
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = uInt(out.size());
    int rc = inflate(&stream, Z_NO_FLUSH);
    size_t done = fed - stream.avail_in;
    if (status = sink.Append(out.data(), out.size() - stream.avail_out); !status.ok()) break;
    if (OverLimit(done, sink.size())) {
      damage = fmt::format("gzip grew more than {}-fold at byte {}: stopped", kMaxRatio, done);
      break;
    }
    if (rc == Z_STREAM_END) {
      if (done >= in.size()) break;
      if (in.size() - done < 2 || in.substr(done, 2) != "\x1f\x8b") {
        damage = fmt::format("{} bytes after the end of the gzip data at byte {}", in.size() - done,
                             done);
        break;
      }
      inflateReset(&stream);  // the next member
    } else if (rc == Z_BUF_ERROR || (rc == Z_OK && done >= in.size() && stream.avail_out != 0)) {
      if (fed >= in.size() && stream.avail_in == 0) {
        damage = fmt::format("the gzip data stops short at byte {}", in.size());
        break;
      }
    } else if (rc != Z_OK) {
      damage = fmt::format("gzip data damaged at byte {}: {}", done,
                           stream.msg != nullptr ? stream.msg : "bad data");
      break;
    }
  }
  inflateEnd(&stream);
  return status;
}

absl::Status Unzstd(std::string_view in, Sink& sink, std::string& damage) {
  ZSTD_DStream* stream = ZSTD_createDStream();
  ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax,
                         27);  // 128 MiB of window, zstd's own default for files
  std::vector<char> out(ZSTD_DStreamOutSize());
  ZSTD_inBuffer source{in.data(), in.size(), 0};
  absl::Status status;
  size_t hint = 0;
  while (source.pos < source.size || hint != 0) {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    size_t before = source.pos;
    hint = ZSTD_decompressStream(stream, &target, &source);
    if (ZSTD_isError(hint)) {
      damage = fmt::format("zstd data damaged at byte {}: {}", source.pos, ZSTD_getErrorName(hint));
      break;
    }
    if (status = sink.Append(out.data(), target.pos); !status.ok()) break;
    if (OverLimit(source.pos, sink.size())) {
      damage =
          fmt::format("zstd grew more than {}-fold at byte {}: stopped", kMaxRatio, source.pos);
      break;
    }
    if (source.pos == before && target.pos == 0 && hint != 0) {
      damage = fmt::format("the zstd data stops short at byte {}", in.size());
      break;
    }
  }
  ZSTD_freeDStream(stream);
  return status;
}

}  // namespace

struct InputFile::Impl {
  Block disk, plain;
  bool compressed = false;
  std::string_view compression;
  std::string damage;
};

InputFile::InputFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

std::string_view InputFile::bytes() const {
  return impl_->compressed ? impl_->plain.view() : impl_->disk.view();
}
int64_t InputFile::disk_bytes() const { return int64_t(impl_->disk.view().size()); }
std::string_view InputFile::compression() const { return impl_->compression; }
const std::string& InputFile::damage() const { return impl_->damage; }

absl::StatusOr<InputFile> InputFile::Open(const std::filesystem::path& path) {
  auto impl = std::make_unique<Impl>();
  std::string name = path.string();
  if (name == "-") {
    name = "standard input";
    XP_TRY(ReadAll(STDIN_FILENO, name, impl->disk.text));
  } else {
    Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) {
      if (errno == ENOENT) return NotFound("{}: no such file or directory", name);
      return IoError("{}: cannot open: {}", name, std::strerror(errno));
    }
    struct stat info {};
    fstat(fd.get(), &info);
    if (!S_ISREG(info.st_mode)) return Invalid("{}: not a regular file", name);
    if (info.st_size > int64_t(kInMemoryBytes)) {
      XP_TRY(Map(fd.get(), size_t(info.st_size), name, impl->disk));
    } else {
      impl->disk.text.reserve(size_t(info.st_size));
      XP_TRY(ReadAll(fd.get(), name, impl->disk.text));
    }
  }
  std::string_view disk = impl->disk.view();
  if (disk.empty())
    return Invalid("{}: empty file (0 bytes). The run wrote nothing here, or is still starting",
                   name);
  bool gzip = disk.starts_with("\x1f\x8b"), zstd = disk.starts_with("\x28\xb5\x2f\xfd");
  if (gzip || zstd) {
    impl->compressed = true;
    impl->compression = gzip ? "gzip" : "zstd";
    Sink sink;
    XP_TRY(gzip ? Gunzip(disk, sink, impl->damage) : Unzstd(disk, sink, impl->damage));
    XP_TRY(impl->plain, std::move(sink).Finish());
    if (impl->plain.view().empty()) {
      return Invalid("{}: {} without content{}{}", name, impl->compression,
                     impl->damage.empty() ? "" : ": ", impl->damage);
    }
  }
  return InputFile(std::move(impl));
}

std::string InputFile::Sha256() const {
  std::string_view disk = impl_->disk.view();
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(disk.data(), disk.size(), digest, &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

std::string_view LooksLike(std::string_view bytes) {
  if (bytes.starts_with("SQLite format 3")) return "an SQLite database";
  if (bytes.starts_with("\x89PNG")) return "a PNG image";
  if (bytes.starts_with("PK\x03\x04")) return "a zip archive";
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return "a program";
  size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '['))
    return "JSON";
  std::string_view head = bytes.substr(0, 4096);
  auto printable = std::count_if(head.begin(), head.end(), [](unsigned char c) {
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return size_t(printable) == head.size() ? "text" : "binary";
}

}  // namespace xlaprof
