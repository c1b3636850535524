#include "profiler/launch/compress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

namespace xlaprof {

absl::StatusOr<std::string> Deflated(std::string_view bytes, DeflateForm form) {
  z_stream stream{};
  constexpr int kWindow = 15, kGzip = 16, kMemory = 8;
  const int window = form == DeflateForm::kGzip ? kWindow + kGzip : -kWindow;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return IoError("zlib cannot be initialised");
  constexpr size_t kMostAtOnce = size_t(1) << 30;
  std::string packed;
  std::vector<char> block(1 << 18);
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      const size_t part = std::min(bytes.size(), kMostAtOnce);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = uInt(part);
      bytes.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = uInt(block.size());
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(block.data(), block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return IoError("zlib cannot compress ({})", status);
  return packed;
}

absl::StatusOr<std::string> Zstd(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size)) return IoError("zstd cannot compress: {}", ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

}  // namespace xlaprof
