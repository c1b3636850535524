#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/terminal.h"
#include "core/base/sqlite_files.h"
#include "profiler/import/archive.h"
#include "profiler/import/file_ends.h"
#include "profiler/import/formats.h"
#include "profiler/import/xla/xla_dump_name.h"
#include "profiler/record/recover.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

bool LiesIn(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

// Returns whether the file belongs to a store beside it.
bool IsPartOfAStore(const fs::path& path) {
  std::error_code error;
  const auto is_beside = [&](std::string_view suffix) {
    const std::string name = path.string();
    return name.ends_with(suffix) &&
           fs::is_regular_file(name.substr(0, name.size() - suffix.size()), error);
  };
  const fs::path store = fs::path(path).replace_extension();
  return (RingPath(store) == path && fs::is_regular_file(store, error)) ||
         std::ranges::any_of(kSqliteSuffixes, is_beside);
}

// Returns whether an import of the file's directory reads it.
bool IsCapture(const fs::path& path) {
  if (ParseXlaDumpName(path.filename().string()) || IsPartOfAStore(path)) return true;
  const std::optional<FileEnds> ends = EndsOf(path);
  return ends && (Archive::Is(*ends) || Recognise(ends->bytes) != nullptr);
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

absl::Status Output::Check() const {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output_, error))) return absl::OkStatus();
  bool is_in_input = false;
  for (const std::string& input : options_.inputs) {
    is_in_input |= fs::is_directory(input, error) && LiesIn(output_, input);
    if (fs::equivalent(output_, input, error) || (is_in_input && IsCapture(output_)))
      return Invalid("{}: this file is being read. Choose another name", output_);
  }
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
