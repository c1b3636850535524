#include "profiler/launch/tar_writer.h"

#include <algorithm>
#include <array>

namespace xlaprof {
namespace {

constexpr size_t kBlock = 512, kMostName = 99;

}  // namespace

absl::Status TarWriter::AddFile(const std::string& name, int64_t modified_s,
                                std::string_view bytes) {
  return AddEntry(name, modified_s, '0', bytes);
}

absl::Status TarWriter::AddFolder(const std::string& name, int64_t modified_s) {
  return AddEntry(name + "/", modified_s, '5', "");
}

absl::Status TarWriter::Finish() { return write_(std::string(2 * kBlock, '\0')); }

absl::Status TarWriter::AddEntry(const std::string& name, int64_t modified_s, char type,
                                 std::string_view bytes) {
  constexpr size_t kMostBytes = size_t(1) << 33;  // eleven octal digits
  if (bytes.size() >= kMostBytes) return Invalid("{}: is too large for an archive", name);
  // A longer name is an entry of its own before, as GNU tar has it.
  if (name.size() > kMostName && type != 'L')
    XP_TRY(AddEntry("././@LongLink", 0, 'L', std::string_view(name.c_str(), name.size() + 1)));
  std::array<char, kBlock> header{};
  const auto put = [&](size_t at, std::string_view text) {
    std::ranges::copy(text, header.begin() + ptrdiff_t(at));
  };
  put(0, std::string_view(name).substr(0, kMostName));
  put(100, type == '5' ? "0000755" : "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", bytes.size()));
  put(136, fmt::format("{:011o}", std::max<int64_t>(0, modified_s)));
  put(148, "        ");  // the checksum counts itself as spaces
  header[156] = type;
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  XP_TRY(write_({header.data(), header.size()}));
  XP_TRY(write_(bytes));
  return write_(std::string((kBlock - bytes.size() % kBlock) % kBlock, '\0'));
}

}  // namespace xlaprof
