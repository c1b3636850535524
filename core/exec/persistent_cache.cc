#include "core/exec/persistent_cache.h"

#include <fstream>
#include <sstream>

#include "base/unfinished_file.h"
#include "base/version.h"
#include "core/log.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {
namespace {

namespace fs = std::filesystem;
using metrics::Arena;
using metrics::Metric;
using metrics::Unit;

// The format of a file: the lines of Header, the hash of all that follows as a line, and the
// backend's bytes.
constexpr std::string_view kFirstLine = "xlaprof executable 2\n";

std::string Header(const Backend& backend, const Program& program) {
  return fmt::format("{}version {}\nbackend {}\ngraph {}\n", kFirstLine, kVersion, backend.cache_name(),
                     program.hash.ToText());
}

std::string CheckSum(std::string_view bytes) { return Mix(Hash{}, bytes).ToText() + '\n'; }

absl::StatusOr<std::string_view> BytesOf(std::string_view file, std::string_view header) {
  if (!file.starts_with(kFirstLine)) return DataLoss("not an executable of this program");
  if (!file.starts_with(header))
    return DataLoss("written by another version of xlaprof, or for another backend or graph");
  file.remove_prefix(header.size());
  const std::string_view sum = file.substr(0, file.find('\n') + 1);
  file.remove_prefix(sum.size());
  if (sum != CheckSum(file)) return DataLoss("damaged or incomplete");
  return file;
}

void Warn(const fs::path& path, std::string_view what) {
  Log(LogLevel::kWarning, "{}: {}", path.string(), what);
}

absl::Status Write(const fs::path& path, std::string_view header, std::string_view bytes) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  absl::StatusOr<UnfinishedFile> file = UnfinishedFile::Create(path);
  std::ofstream out;
  if (file.ok()) {
    out.open(file->path(), std::ios::binary);
    out << header << CheckSum(bytes) << bytes;
    out.close();
  }
  if (!file.ok() || !out || !file->Finish().ok())
    return IoError("cannot be written, so compiled programs are not kept");
  return absl::OkStatus();
}

}  // namespace

fs::path PersistentCache::PathOf(const Backend& backend, const Program& program) const {
  return folder_ / fmt::format("{}.{}", program.hash.ToText(), backend.cache_name());
}

std::unique_ptr<Executable> PersistentCache::Load(Backend& backend, const Program& program) {
  const fs::path path = PathOf(backend, program);
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    XLAPROF_COUNT("PersistentCacheMiss");
    return nullptr;
  }
  static Metric& time = Metric::Of("PersistentCacheLoad", Unit::kTimeNs, Arena::kLazy);
  metrics::Timed timed(time);
  // Reading a directory or a bad disk ends early, and the checksum then finds the damage.
  std::ostringstream all;
  all << in.rdbuf();
  const std::string file = std::move(all).str();
  const auto load = [&]() -> absl::StatusOr<std::unique_ptr<Executable>> {
    XP_TRY(std::string_view bytes, BytesOf(file, Header(backend, program)));
    return backend.Deserialize(bytes, program);
  };
  auto executable = load();
  if (executable.ok()) {
    XLAPROF_COUNT("PersistentCacheHit");
    return *std::move(executable);
  }
  Warn(path, Message(executable.status()));
  XLAPROF_COUNT("PersistentCacheDeserializeFailure");
  XLAPROF_COUNT("PersistentCacheMiss");
  return nullptr;
}

void PersistentCache::Save(Backend& backend, const Executable& executable, const Program& program) {
  if (read_only_ || failed_) return;
  auto bytes = backend.Serialize(executable, program);
  if (!bytes.ok()) return;
  const fs::path path = PathOf(backend, program);
  const absl::Status status = Write(path, Header(backend, program), *bytes);
  if (status.ok()) return;
  Warn(path, Message(status));
  failed_ = true;
}

}  // namespace xlaprof::lazy
