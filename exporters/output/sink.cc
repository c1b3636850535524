#include "exporters/output/sink.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace xlaprof {
namespace {

class FileSink : public Sink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)) {}
  ~FileSink() override {
    if (file_ >= 0) close(file_);
  }

  absl::Status Open() {
    file_ = path_ == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                         : open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file_ < 0 ? Error() : absl::OkStatus();
  }
  absl::Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      ssize_t wrote = write(file_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return Error();
      bytes.remove_prefix(size_t(wrote));
    }
    return absl::OkStatus();
  }
  absl::Status Close() override {
    return close(std::exchange(file_, -1)) == 0 ? absl::OkStatus() : Error();
  }

 private:
  absl::Status Error() const {
    return IoError("{}: cannot write: {}. Check the folder and its free space, or write elsewhere",
                   path_ == "-" ? "standard output" : path_, std::strerror(errno));
  }
  const std::string path_;
  int file_ = -1;
};

class GzipSink : public Sink {
 public:
  explicit GzipSink(std::unique_ptr<Sink> to) : to_(std::move(to)), out_(1 << 18) {
    // 15 + 16 means the largest window and gzip's header. Traces are so repetitive that levels
    // above 2 gain little and cost much.
    ready_ = deflateInit2(&zlib_, 2, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipSink() override {
    if (ready_) deflateEnd(&zlib_);
  }

  absl::Status Write(std::string_view bytes) override { return Deflate(bytes, Z_NO_FLUSH); }
  absl::Status Close() override {
    XP_TRY(Deflate({}, Z_FINISH));
    return to_->Close();
  }

 private:
  absl::Status Deflate(std::string_view bytes, int flush) {
    if (!ready_) return absl::ResourceExhaustedError("gzip: out of memory");
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib_.avail_in = uInt(bytes.size());
    do {
      zlib_.next_out = reinterpret_cast<Bytef*>(out_.data());
      zlib_.avail_out = uInt(out_.size());
      deflate(&zlib_, flush);
      XP_TRY(to_->Write({out_.data(), out_.size() - zlib_.avail_out}));
    } while (zlib_.avail_out == 0);
    return absl::OkStatus();
  }

  std::unique_ptr<Sink> to_;
  std::vector<char> out_;
  z_stream zlib_ = {};
  bool ready_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sink>> OpenSink(const std::filesystem::path& path, bool gzip) {
  auto file = std::make_unique<FileSink>(path.string());
  XP_TRY(file->Open());
  if (!gzip) return file;
  return std::make_unique<GzipSink>(std::move(file));
}

}  // namespace xlaprof
