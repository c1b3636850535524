#include "profiler/import/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "profiler/import/byte_sink.h"
#include "profiler/import/file_kind.h"
#include "profiler/import/map_guard.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

// Content of at most this size is decompressed at once.
constexpr size_t kMostAtOnce = size_t(16) << 20;
// Memory of mapped bytes is released in pieces of this size.
constexpr size_t kForgetBytes = size_t(8) << 20;

// Copies bytes until their end, or until `size` of them if it is known. Bytes without a known size
// may have no end, so they have the bound of what decompresses from nothing.
absl::StatusOr<Block> ReadAll(int fd, const std::string& name, std::optional<size_t> size) {
  ByteSink sink;
  sink.Reserve(size.value_or(0));
  char buffer[1 << 16];
  while (!size || sink.size() < *size) {
    const size_t wanted = size ? std::min(sizeof buffer, *size - sink.size()) : sizeof buffer;
    ssize_t got = read(fd, buffer, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError("{}: cannot read: {}", name, std::strerror(errno));
    if (got == 0) break;
    XP_TRY(sink.Append(buffer, size_t(got)));
    if (!size && IsBomb(0, sink.size())) {
      return Invalid(
          "{}: more than {} MiB came, and no end, so reading it stopped. If it has an end, write it to a file first, and name that file",
          name, kAlwaysAllowedBytes >> 20);
    }
  }
  return std::move(sink).Finish();
}

// Returns how many bytes follow in a descriptor that was opened by somebody else, if that is known.
std::optional<size_t> BytesLeftOf(int fd) {
  struct stat info {};
  if (KindOf(fmt::format("/proc/self/fd/{}", fd)) != FileKind::kRegular || fstat(fd, &info) != 0)
    return std::nullopt;
  const off_t at = lseek(fd, 0, SEEK_CUR);
  if (at < 0) return std::nullopt;
  return size_t(std::max<off_t>(info.st_size - at, 0));
}

absl::Status Unreadable(const std::string& name, FileKind kind) {
  return Invalid(
      "{}: this is {}, which is not read. To read what a program prints: PROGRAM | xlaprof report -",
      name, TextOf(kind));
}

// Says why decompression ended at byte `at`.
std::string Grown(std::string_view coding, size_t at) {
  return fmt::format(
      "the {} data grew more than {}-fold at byte {}, so reading it stopped. If you trust the file, decompress it first",
      coding, kMaxGrowth, at);
}

absl::Status Gunzip(std::string_view in, ByteSink& sink, std::string& damage) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return IoError("zlib cannot be initialised");
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
    if (IsBomb(done, sink.size())) {
      damage = Grown("gzip", done);
      break;
    }
    if (rc == Z_STREAM_END) {
      if (done >= in.size()) break;
      if (in.size() - done < 2 || in.substr(done, 2) != "\x1f\x8b") {
        damage = fmt::format("{} bytes follow the end of the gzip data at byte {}",
                             in.size() - done, done);
        break;
      }
      inflateReset(&stream);  // the next member
    } else if (rc == Z_BUF_ERROR || (rc == Z_OK && done >= in.size() && stream.avail_out != 0)) {
      if (fed >= in.size() && stream.avail_in == 0) {
        damage = fmt::format("the gzip data is truncated at byte {}", in.size());
        break;
      }
    } else if (rc != Z_OK) {
      damage = fmt::format("the gzip data is damaged at byte {}: {}", done,
                           stream.msg != nullptr ? stream.msg : "bad data");
      break;
    }
  }
  inflateEnd(&stream);
  return status;
}

// Decompresses a whole frame of moderate size in place, which needs a third of the memory. Returns
// false, with nothing in `sink`, if it cannot.
bool UnzstdAtOnce(std::string_view in, ByteSink& sink) {
  const unsigned long long size = ZSTD_getFrameContentSize(in.data(), in.size());
  if (size > kMostAtOnce || ZSTD_findFrameCompressedSize(in.data(), in.size()) != in.size())
    return false;
  std::string text(size_t(size), '\0');
  if (ZSTD_decompress(text.data(), text.size(), in.data(), in.size()) != text.size()) return false;
  sink = ByteSink(std::move(text));
  return true;
}

absl::Status Unzstd(std::string_view in, ByteSink& sink, std::string& damage) {
  if (UnzstdAtOnce(in, sink)) return absl::OkStatus();
  ZSTD_DStream* stream = ZSTD_createDStream();
  // 128 MiB of window are zstd's own default for files.
  ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27);
  std::vector<char> out(ZSTD_DStreamOutSize());
  ZSTD_inBuffer source{in.data(), in.size(), 0};
  absl::Status status;
  size_t hint = 0;
  while (source.pos < source.size || hint != 0) {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    size_t before = source.pos;
    hint = ZSTD_decompressStream(stream, &target, &source);
    if (ZSTD_isError(hint)) {
      damage = fmt::format("the zstd data is damaged at byte {}: {}", source.pos,
                           ZSTD_getErrorName(hint));
      break;
    }
    if (status = sink.Append(out.data(), target.pos); !status.ok()) break;
    if (IsBomb(source.pos, sink.size())) {
      damage = Grown("zstd", source.pos);
      break;
    }
    if (source.pos == before && target.pos == 0 && hint != 0) {
      damage = fmt::format("the zstd data is truncated at byte {}", in.size());
      break;
    }
  }
  ZSTD_freeDStream(stream);
  return status;
}

// Decodes UTF-16, which PowerShell's > writes.
absl::Status FromUtf16(std::string_view in, std::endian order, ByteSink& sink,
                       std::string& damage) {
  constexpr size_t kPieceBytes = size_t{1} << 20, kMarkBytes = 2;
  std::string text;
  size_t done = kMarkBytes;
  while (true) {
    const size_t taken = AppendUtf16(in.substr(done, kPieceBytes), order, text);
    if (taken == 0) break;
    done += taken;
    XP_TRY(sink.Append(text.data(), text.size()));
    text.clear();
  }
  if (done < in.size())
    damage = fmt::format("the UTF-16 text ends inside a character at byte {}", done);
  return absl::OkStatus();
}

// A way in which the bytes on disk become those that importers read.
struct Coding {
  std::string_view name;
  std::string_view mark;  // its first bytes
  absl::Status (*decode)(std::string_view in, ByteSink& sink, std::string& damage);
};

// A file may be packed, and what it contains may be text in a wide encoding.
constexpr Coding kPackings[] = {
    {"gzip", "\x1f\x8b", Gunzip},
    {"zstd", "\x28\xb5\x2f\xfd", Unzstd},
};
constexpr Coding kEncodings[] = {
    {"UTF-16", "\xff\xfe",
     [](auto in, auto& sink, auto& damage) {
       return FromUtf16(in, std::endian::little, sink, damage);
     }},
    {"UTF-16", "\xfe\xff",
     [](auto in, auto& sink, auto& damage) {
       return FromUtf16(in, std::endian::big, sink, damage);
     }},
};

}  // namespace

struct InputFile::Impl {
  Block disk, plain;
  std::optional<MapGuard> guard;  // guards `disk` if it is a mapped file
  bool was_cut = false;           // the file was cut while it was read
  std::string_view lent;          // bytes of the caller, instead of `disk`
  bool decoded = false;           // the bytes were decoded into `plain`
  size_t mark = 0;                // bytes of UTF-8's byte order mark before bytes()
  std::string damage;
  size_t forgotten = 0;  // number of bytes() whose memory was released
  std::string_view stored() const { return lent.data() != nullptr ? lent : disk.view(); }
  std::string_view bytes() const { return decoded ? plain.view() : stored(); }
  absl::Status Decode(const std::string& name);
  absl::Status DecodeOneOf(std::span<const Coding> codings, const std::string& name);
};

InputFile::InputFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

std::string_view InputFile::bytes() const {
  return impl_->bytes().substr(impl_->mark);
}
std::string_view InputFile::disk() const { return impl_->stored(); }
void InputFile::Forget(size_t done) {
  if (done < impl_->forgotten + kForgetBytes) return;
  (impl_->decoded ? impl_->plain : impl_->disk).Forget(impl_->forgotten, done);
  impl_->forgotten = done;
}
const std::string& InputFile::damage() const { return impl_->damage; }
bool InputFile::HasShrunk() const {
  return impl_->was_cut || (impl_->guard && impl_->guard->HasShrunk());
}

absl::StatusOr<InputFile> InputFile::Open(const std::filesystem::path& path,
                                          bool maps_large_files) {
  auto impl = std::make_unique<Impl>();
  std::string name = path.string();
  if (name == "-") {
    name = "standard input";
    XP_TRY(impl->disk, ReadAll(STDIN_FILENO, name, BytesLeftOf(STDIN_FILENO)));
  } else {
    // To open a device may do something to it, so the kind is asked for before.
    if (const FileKind kind = KindOf(path); kind != FileKind::kRegular && kind != FileKind::kNone)
      return Unreadable(name, kind);
    Descriptor fd = OpenToRead(path);
    if (fd.get() < 0) {
      if (errno == ENOENT) return NotFound("{}: no such file or directory", name);
      return IoError("{}: cannot open: {}", name, std::strerror(errno));
    }
    struct stat info{};
    fstat(fd.get(), &info);
    if (!S_ISREG(info.st_mode)) return Unreadable(name, FileKind::kOther);
    const auto size = size_t(info.st_size);
    if (size > kInMemoryBytes && maps_large_files) {
      XP_TRY(impl->disk, Block::Map(fd, size, name));
      impl->guard.emplace(std::move(fd), impl->disk.view());
    } else {
      XP_TRY(impl->disk, ReadAll(fd.get(), name, size));
      impl->was_cut = impl->disk.view().size() < size;
    }
  }
  XP_TRY(impl->Decode(name));
  return InputFile(std::move(impl));
}

absl::StatusOr<InputFile> InputFile::OfBytes(const std::string& name, std::string_view bytes) {
  auto impl = std::make_unique<Impl>();
  impl->lent = bytes;
  XP_TRY(impl->Decode(name));
  return InputFile(std::move(impl));
}

absl::Status InputFile::Impl::Decode(const std::string& name) {
  if (stored().empty())
    return Invalid(
        "{}: the file is empty (0 bytes). The run wrote nothing to it, or is still starting", name);
  XP_TRY(DecodeOneOf(kPackings, name));
  XP_TRY(DecodeOneOf(kEncodings, name));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (bytes().starts_with(kByteOrderMark)) mark = kByteOrderMark.size();
  return absl::OkStatus();
}

// Decodes the bytes if they begin with the mark of one of `codings`.
absl::Status InputFile::Impl::DecodeOneOf(std::span<const Coding> codings,
                                          const std::string& name) {
  const auto coding = std::ranges::find_if(
      codings, [&](const Coding& known) { return bytes().starts_with(known.mark); });
  if (coding == codings.end()) return absl::OkStatus();
  ByteSink sink;
  std::string found;
  XP_TRY(coding->decode(bytes(), sink, found));
  if (damage.empty()) damage = std::move(found);
  XP_TRY(plain, std::move(sink).Finish());
  decoded = true;
  if (plain.view().empty())
    return Invalid("{}: {} without content{}{}. Copy the file again", name, coding->name,
                   damage.empty() ? "" : ": ", damage);
  return absl::OkStatus();
}

}  // namespace xlaprof
