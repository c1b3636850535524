#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/terminal.h"
#include "profiler/import/plan/identify.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

bool LiesIn(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

absl::Status WriteFile(const fs::path& path, std::string_view text, const std::string& name) {
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return IoError("{}: cannot write: {}", name, std::strerror(errno));
  absl::Status status = WriteAll(file, text, name);
  if (std::fclose(file) != 0 && status.ok())
    return IoError("{}: cannot write all of it: {}", name, std::strerror(errno));
  return status;
}

}  // namespace

Output::Output(std::string path, Options options)
    : output_(std::move(path)),
      options_(std::move(options)),
      unfinished_(std::make_unique<UnfinishedFile>(output_)) {}

absl::StatusOr<Output> Output::Open(const std::string& path, Options options) {
  Output output(path, std::move(options));
  XP_TRY(output.Check());
  return output;
}

absl::Status Output::Check() {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output_, error))) return absl::OkStatus();
  XP_TRY(CheckIsNotRead());
  const bool is_in_input = std::ranges::any_of(options_.input.paths, [&](const std::string& input) {
    return fs::is_directory(input, error) && LiesIn(output_, input);
  });
  const OutputKind kind = options_.kind;
  if (!fs::is_regular_file(output_, error)) {
    if (kind == OutputKind::kTextReport) return absl::OkStatus();
    return Invalid("{}: exists and is not a regular file. Choose another name", output_);
  }
  const bool is_report = kind == OutputKind::kReport || kind == OutputKind::kTextReport;
  if (is_report && !is_in_input) return absl::OkStatus();
  if (!options_.force)
    return absl::AlreadyExistsError(
        fmt::format("{}: already exists. Choose another name, or pass --force", output_));
  if (kind != OutputKind::kStore) return absl::OkStatus();
  if (auto store = Store::Open(output_); !store.ok())
    return Invalid("{}: exists and is not an xlaprof store, so --force does not replace it ({})",
                   output_, Message(store.status()));
  return absl::OkStatus();
}

absl::Status Output::CheckIsNotRead() {
  if (!read_) {
    const InputOptions& input = options_.input;
    const std::vector<fs::path> inputs(input.paths.begin(), input.paths.end());
    XP_TRY(read_, FilesOnDisk(inputs, !input.as_format.empty()));
  }
  std::error_code error;
  for (const fs::path& file : *read_) {
    if (fs::equivalent(output_, file, error))
      return Invalid("{}: this file is being read. Choose another name", output_);
  }
  return absl::OkStatus();
}

absl::Status Output::Finish() {
  XP_TRY(Check());
  return unfinished_->Finish();
}

absl::Status Output::WriteText(std::string_view text) {
  std::error_code error;
  const fs::file_status own = fs::symlink_status(output_, error);
  if (fs::exists(own) && !fs::is_regular_file(own)) return WriteFile(output_, text, output_);
  // In a directory without write permission, no unfinished file can be put beside the output.
  const fs::path folder = fs::path(output_).parent_path();
  if (fs::exists(own) && access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    return WriteFile(output_, text, output_);
  XP_TRY(WriteFile(path(), text, output_));
  if (fs::exists(own)) fs::permissions(path(), own.permissions(), error);
  return Finish();
}

absl::Status CheckWritable(const fs::path& path) {
  const UnfinishedFile probe(path);
  const int fd = open(probe.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    return IoError("{}: cannot be created: {}. Check that its directory exists and is writable",
                   path.string(), std::strerror(errno));
  }
  close(fd);
  return absl::OkStatus();
}

}  // namespace xlaprof
