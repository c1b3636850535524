#include "profiler/import/file_ends.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "profiler/import/byte_sink.h"
#include "profiler/import/file_kind.h"
#include "profiler/import/inflate.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

constexpr size_t kEndBytes = 64 << 10;
// The number of bytes at the beginning of a packed or UTF-16 file that are read. zstd yields no
// bytes before a block of 128 KiB is complete.
constexpr size_t kPackedBytes = 192 << 10;
constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr std::string_view kUtf16Little = "\xff\xfe", kUtf16Big = "\xfe\xff";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

using ReadPiece = std::function<std::string(size_t from, size_t size)>;

bool IsUtf16(std::string_view head) {
  return head.starts_with(kUtf16Little) || head.starts_with(kUtf16Big);
}

std::string FromUtf16Head(std::string_view head) {
  std::string text;
  const std::endian order = head.starts_with(kUtf16Little) ? std::endian::little : std::endian::big;
  AppendUtf16(head.substr(kUtf16Little.size()), order, text);
  return text;
}

FileEnds Ends(size_t size, const ReadPiece& read) {
  std::string head = read(0, kEndBytes);
  const bool packed = head.starts_with(kGzip) || head.starts_with(kZstd);
  if (packed || IsUtf16(head)) {
    head = read(0, kPackedBytes);
    const bool is_all = size <= head.size();
    // Text has at most twice as many bytes in UTF-16.
    std::string text = packed ? Unpacked(head, 2 * kEndBytes + 4) : std::move(head);
    if (IsUtf16(text)) text = FromUtf16Head(text);
    const bool has_last = is_all && text.size() <= kEndBytes;
    text.resize(std::min(text.size(), kEndBytes));
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    return {std::move(text), has_last};
  }
  if (size > head.size() && !head.empty())
    head += read(std::max(head.size(), size - std::min(size, kEndBytes)), kEndBytes);
  if (head.starts_with(kByteOrderMark)) head.erase(0, kByteOrderMark.size());
  return {std::move(head)};
}

}  // namespace

std::string Unpacked(std::string_view packed, size_t limit) {
  std::string out;
  if (packed.starts_with(kGzip)) {
    Inflate(packed, limit, &out);
    return out;
  }
  out.resize(limit);
  ZSTD_DStream* stream = ZSTD_createDStream();
  ZSTD_inBuffer source{packed.data(), packed.size(), 0};
  ZSTD_outBuffer target{out.data(), out.size(), 0};
  while (target.pos < target.size && source.pos < source.size) {
    const size_t before = source.pos + target.pos;
    if (ZSTD_isError(ZSTD_decompressStream(stream, &target, &source))) break;
    if (source.pos + target.pos == before) break;
  }
  ZSTD_freeDStream(stream);
  out.resize(target.pos);
  return out;
}

FileEnds EndsOf(std::string_view bytes) {
  return Ends(bytes.size(),
              [&](size_t from, size_t size) { return std::string(bytes.substr(from, size)); });
}

std::optional<FileEnds> EndsOf(const std::filesystem::path& path) {
  if (KindOf(path) != FileKind::kRegular) return std::nullopt;
  Descriptor fd = OpenToRead(path);
  struct stat info {};
  if (fd.get() < 0 || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  bool failed = false;
  FileEnds ends = Ends(size_t(info.st_size), [&](size_t from, size_t size) {
    std::string piece(std::min(size, size_t(info.st_size) - from), '\0');
    const ssize_t got = pread(fd.get(), piece.data(), piece.size(), off_t(from));
    failed |= got < 0;
    piece.resize(got > 0 ? size_t(got) : 0);
    return piece;
  });
  if (failed) return std::nullopt;
  return ends;
}

}  // namespace xlaprof
