#include "profiler/import/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>

namespace xlaprof {

bool Inflate(std::string_view packed, size_t most, std::string* out) {
  out->clear();
  z_stream stream = {};
  constexpr int kZlibOrGzip = 15 + 32;
  if (inflateInit2(&stream, kZlibOrGzip) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = uInt(std::min<size_t>(packed.size(), UINT32_MAX));
  int result = Z_OK;
  size_t size = 0;
  while (result == Z_OK && size < most) {
    out->resize(std::min(most, std::max(4 * packed.size(), 2 * size)));
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + size);
    stream.avail_out = uInt(out->size() - size);
    result = inflate(&stream, Z_NO_FLUSH);
    size = std::min<size_t>(stream.total_out, out->size());
    if (result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) break;  // it is cut
  }
  out->resize(size);
  inflateEnd(&stream);
  return result == Z_STREAM_END;
}

}  // namespace xlaprof
