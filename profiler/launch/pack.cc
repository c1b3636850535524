#include "profiler/launch/pack.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unfinished_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Returns what a gzip file holds, or nothing if `bytes` is none, or is damaged.
std::string Unzipped(std::string_view bytes) {
  if (!bytes.starts_with("\x1f\x8b")) return "";
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (inflateInit2(&stream, kGzip) != Z_OK) return "";
  std::string out;
  std::vector<char> block(1 << 20);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(std::min<size_t>(bytes.size(), UINT32_MAX));
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = uInt(block.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(block.data(), block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END ? out : "";
}

// Writes a gzipped tar, with headers of the form ustar (POSIX 1003.1). libarchive would do so, too, but its
// static library then needs an XML library.
class TarWriter {
 public:
  explicit TarWriter(const fs::path& path) : path_(path), file_(gzopen(path.c_str(), "wb")) {}
  ~TarWriter() {
    if (file_ != nullptr) gzclose(file_);
  }
  TarWriter(const TarWriter&) = delete;

  absl::Status Add(const std::string& name, int64_t modified_s, std::string_view bytes) {
    std::array<char, kBlock> header{};
    if (name.size() > kMostName) return Invalid("{}: the name is too long for an archive", name);
    const auto put = [&](size_t at, std::string_view text) {
      std::ranges::copy(text, header.begin() + ptrdiff_t(at));
    };
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", bytes.size()));
    put(136, fmt::format("{:011o}", std::max<int64_t>(0, modified_s)));
    put(148, "        ");  // the checksum counts itself as spaces
    put(156, "0");         // a regular file
    put(257, std::string_view("ustar\0"
                              "00",
                              8));
    unsigned sum = 0;
    for (char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    header[154] = '\0';
    XP_TRY(Write({header.data(), header.size()}));
    XP_TRY(Write(bytes));
    return Write(std::string((kBlock - bytes.size() % kBlock) % kBlock, '\0'));
  }
  absl::Status Finish() {
    XP_TRY(Write(std::string(2 * kBlock, '\0')));
    const int status = gzclose(std::exchange(file_, nullptr));
    return status == Z_OK ? absl::OkStatus() : Failed();
  }

 private:
  static constexpr size_t kBlock = 512, kMostName = 99;

  absl::Status Failed() const {
    return IoError("{}: cannot be written. Check the disk, and that the folder exists",
                   path_.string());
  }
  absl::Status Write(std::string_view bytes) {
    if (file_ == nullptr) return Failed();
    constexpr size_t kMost = 1 << 30;
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      if (gzwrite(file_, part.data(), unsigned(part.size())) != int(part.size())) return Failed();
      bytes.remove_prefix(part.size());
    }
    return absl::OkStatus();
  }

  const fs::path path_;
  gzFile file_;
};

int64_t ModifiedS(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::file_clock::to_sys(written).time_since_epoch())
      .count();
}

std::vector<fs::path> FilesBelow(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->symlink_status(error).type() == fs::file_type::regular) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

absl::StatusOr<Packed> PackFolder(const fs::path& folder, const fs::path& archive,
                                  const Secrets& secrets) {
  XP_TRY(UnfinishedFile file, UnfinishedFile::Create(archive));
  TarWriter tar(file.path());
  Packed packed;
  for (const fs::path& path : FilesBelow(folder)) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) return IoError("{}: cannot be read", path.string());
    std::string name = (folder.filename() / path.lexically_relative(folder)).string();
    if (std::string plain = Unzipped(bytes); !plain.empty()) {
      bytes = std::move(plain);
      if (name.ends_with(".gz")) name.resize(name.size() - 3);
    }
    packed.secrets += secrets.Remove(bytes);
    ++packed.files;
    XP_TRY(tar.Add(name, ModifiedS(path), bytes));
  }
  XP_TRY(tar.Finish());
  XP_TRY(file.Finish());
  return packed;
}

}  // namespace xlaprof
