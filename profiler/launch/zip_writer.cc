#include "profiler/launch/zip_writer.h"

#include <zlib.h>

#include <ctime>

#include "profiler/launch/compress.h"

namespace xlaprof {
namespace {

constexpr size_t kMostBytes = UINT32_MAX;
constexpr uint32_t kMostMembers = UINT16_MAX - 1;

void Put(std::string& to, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += char(value >> 8 * i & 0xff);
}

// Returns a time as MS-DOS counts it: from 1980, in steps of two seconds.
uint32_t DosTime(int64_t seconds) {
  const time_t time = time_t(seconds);
  tm parts{};
  gmtime_r(&time, &parts);
  constexpr int kFirstYear = 80;
  if (parts.tm_year < kFirstYear) return 1 << 21 | 1 << 16;
  return uint32_t(parts.tm_year - kFirstYear) << 25 | uint32_t(parts.tm_mon + 1) << 21 |
         uint32_t(parts.tm_mday) << 16 | uint32_t(parts.tm_hour) << 11 |
         uint32_t(parts.tm_min) << 5 | uint32_t(parts.tm_sec) / 2;
}

}  // namespace

absl::Status ZipWriter::Add(const std::string& name, int64_t modified_s, std::string_view bytes) {
  XP_TRY(const std::string packed, Deflated(bytes, DeflateForm::kRaw));
  const size_t at = bytes_.size();
  if (at + packed.size() + name.size() >= kMostBytes / 2 || bytes.size() >= kMostBytes ||
      members_ == kMostMembers)
    return Unsupported("{}: the zip archive is too large to be written again", name);
  ++members_;
  constexpr uint32_t kVersion = 20, kDeflated = 8, kUtf8 = 1 << 11;
  std::string common;
  Put(common, kVersion, 2);
  Put(common, kUtf8, 2);
  Put(common, kDeflated, 2);
  Put(common, DosTime(modified_s), 4);
  Put(common, uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())), 4);
  Put(common, uint32_t(packed.size()), 4);
  Put(common, uint32_t(bytes.size()), 4);
  Put(common, uint32_t(name.size()), 2);
  Put(common, 0, 2);  // no extra field
  bytes_ += "PK\x03\x04" + common + name + packed;
  directory_ += "PK\x01\x02";
  Put(directory_, kVersion, 2);
  directory_ += common;
  directory_.append(10, '\0');  // no comment, first disk, no attributes
  Put(directory_, uint32_t(at), 4);
  directory_ += name;
  return absl::OkStatus();
}

std::string ZipWriter::Finish() && {
  const size_t at = bytes_.size();
  bytes_ += directory_;
  bytes_ += "PK\x05\x06";
  Put(bytes_, 0, 4);
  Put(bytes_, members_, 2);
  Put(bytes_, members_, 2);
  Put(bytes_, uint32_t(directory_.size()), 4);
  Put(bytes_, uint32_t(at), 4);
  Put(bytes_, 0, 2);
  return std::move(bytes_);
}

}  // namespace xlaprof
