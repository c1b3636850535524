#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "profiler/import/plan/identify.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

bool IsStream(mode_t mode) { return S_ISFIFO(mode) || S_ISCHR(mode); }

// Writes to a file that exists, or to what a pipe or a device stands for. Nothing is emptied,
// whatever has got that name meanwhile.
absl::Status WriteTo(const fs::path& path, std::string_view text, bool is_stream,
                     const std::string& name) {
  const auto failed = [&](int error) {
    return IoError("{}: cannot write all of it: {}", name, std::strerror(error));
  };
  Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!file.is_open() || fstat(file.get(), &info) != 0) return failed(errno);
  if (is_stream && !IsStream(info.st_mode))
    return Invalid("{}: is no pipe or device any more. Choose another name", name);
  while (!text.empty()) {
    const ssize_t wrote = write(file.get(), text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return failed(errno);
    if (wrote > 0) text.remove_prefix(size_t(wrote));
  }
  return absl::OkStatus();
}

}  // namespace

bool LiesIn(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

absl::StatusOr<Output> Output::Open(std::string path, Options options) {
  Output output(std::move(path), std::move(options));
  XP_TRY(const Target target, output.Check());
  if (target != Target::kStream) XP_TRY(UnfinishedFile::Create(output.name_));  // removed at once
  return output;
}

absl::StatusOr<Output::Target> Output::Check() {
  if (fs::path(name_).filename().empty()) return Invalid("-o {}: names no file", name_);
  struct stat named {
  }, followed{};
  if (lstat(name_.c_str(), &named) != 0) return Target::kNew;
  XP_TRY(CheckIsNotRead());
  if (!S_ISREG(named.st_mode)) {
    if (options_.kind == OutputKind::kTextReport && stat(name_.c_str(), &followed) == 0 &&
        IsStream(followed.st_mode))
      return Target::kStream;
    if (S_ISLNK(named.st_mode))
      return Invalid("{}: is a link, which is not replaced. Name the file itself, or another one",
                     name_);
    return Invalid("{}: exists and is not a regular file. Choose another name", name_);
  }
  if (!options_.force)
    return absl::AlreadyExistsError(
        fmt::format("{}: already exists. Choose another name, or pass --force", name_));
  if (options_.kind != OutputKind::kStore) return Target::kReplaced;
  if (auto store = Store::Open(name_); !store.ok())
    return Invalid("{}: exists and is not an xlaprof store, so --force does not replace it ({})",
                   name_, Message(store.status()));
  return Target::kReplaced;
}

absl::Status Output::CheckIsNotRead() {
  if (!read_) {
    const InputOptions& input = options_.input;
    const std::vector<fs::path> inputs(input.paths.begin(), input.paths.end());
    XP_TRY(read_, FilesOnDisk(inputs, !input.as_format.empty()));
  }
  std::error_code error;
  for (const fs::path& file : *read_) {
    if (fs::equivalent(name_, file, error))
      return Invalid("{}: this file is being read. Choose another name", name_);
  }
  return absl::OkStatus();
}

absl::StatusOr<fs::path> Output::Begin() {
  if (!unfinished_) {
    XP_TRY(UnfinishedFile file, UnfinishedFile::Create(name_));
    unfinished_ = std::make_unique<UnfinishedFile>(std::move(file));
  }
  return unfinished_->path();
}

absl::Status Output::Finish() {
  XP_TRY(Target target, Check());
  if (target == Target::kNew) {
    const absl::Status finished = unfinished_->FinishNew();
    if (!absl::IsAlreadyExists(finished)) return finished;
    XP_TRY(target, Check());
  }
  if (target == Target::kStream)
    return Invalid("{}: exists and is not a regular file. Choose another name", name_);
  return unfinished_->Finish();
}

absl::Status Output::WriteText(std::string_view text) {
  XP_TRY(const Target target, Check());
  if (target == Target::kStream) return WriteTo(name_, text, /*is_stream=*/true, name_);
  XP_TRY(const fs::path path, Begin());
  XP_TRY(WriteTo(path, text, /*is_stream=*/false, name_));
  return Finish();
}

absl::Status Output::WriteCopy(const fs::path& file) {
  XP_TRY(const fs::path path, Begin());
  std::error_code error;
  fs::copy_file(file, path, fs::copy_options::overwrite_existing, error);
  if (error) return IoError("{}: cannot write all of it: {}", name_, error.message());
  return Finish();
}

}  // namespace xlaprof
