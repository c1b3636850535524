#include "analyzers/report/source_quote.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "analyzers/report/report_layout.h"
#include "base/descriptor.h"
#include "base/escape.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxFileBytes = 8 << 20;  // no source file written by a person is longer
constexpr size_t kMaxPathBytes = 4096;      // like the system's PATH_MAX
constexpr size_t kMaxParts = 64;            // last parts of a path that are searched elsewhere
constexpr size_t kTextHeadBytes = 4096;     // a file with a NUL in its head is not text
constexpr int kMaxColumns = 200;
// The suffixes of files that hold source code. A capture may name any file of the user, and those
// of other kinds may hold passwords or letters.
constexpr std::string_view kSourceSuffixes[] = {
    ".py", ".pyi", ".pyx",  ".pxd", ".ipynb",                                          // Python
    ".c",  ".cc",  ".cpp",  ".cxx", ".h",     ".hh",  ".hpp", ".hxx", ".inl", ".ipp",  // C and C++
    ".cu", ".cuh", ".hip",                                                             // kernels
    ".rs", ".go",  ".java", ".jl",  ".swift", ".mojo"};
// A folder that was copied as a whole has new times, which differ by less.
constexpr int64_t kCopyingNs = 60'000'000'000;

bool IsSourceCode(const fs::path& file) {
  const std::string suffix = file.extension().string();
  return std::ranges::find(kSourceSuffixes, suffix) != std::end(kSourceSuffixes);
}

// Returns `path` with its symlinks resolved, if it lies under `root` (also resolved), and no
// directory or file below `root` on the way is hidden. Hidden ones in a home directory hold keys
// and passwords.
std::optional<fs::path> Inside(const fs::path& path, const fs::path& root) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error) return std::nullopt;
  auto [at_root, at_path] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (at_root != root.end() && !at_root->empty()) return std::nullopt;
  if (at_path == real.end()) return std::nullopt;
  for (; at_path != real.end(); ++at_path) {
    if (at_path->native().starts_with('.')) return std::nullopt;
  }
  return real;
}

std::optional<fs::path> Resolve(const fs::path& file, std::span<const fs::path> roots) {
  std::vector<fs::path> real_roots;
  for (const fs::path& root : roots) {
    std::error_code error;
    fs::path real = fs::canonical(root, error);
    if (!error) real_roots.push_back(real);
  }
  if (file.is_absolute()) {
    for (const fs::path& root : real_roots) {
      if (auto found = Inside(file, root)) return found;
    }
  }
  // A file that exists under its own path, but in no root, is not searched elsewhere. A file that
  // does not exist was recorded on another machine or in another directory.
  std::error_code error;
  if (file.is_absolute() && fs::exists(fs::symlink_status(file, error))) return std::nullopt;
  const fs::path relative = file.relative_path();
  const std::vector<fs::path> parts(relative.begin(), relative.end());
  for (size_t first = parts.size() - std::min(parts.size(), kMaxParts); first < parts.size();
       ++first) {
    fs::path rest;
    for (size_t part = first; part < parts.size(); ++part) rest /= parts[part];
    for (const fs::path& root : real_roots) {
      if (auto found = Inside(root / rest, root)) return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> ReadText(int fd, const struct stat& status) {
  if (!S_ISREG(status.st_mode) || status.st_size > kMaxFileBytes) return std::nullopt;
  std::string text(size_t(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    ssize_t got = read(fd, text.data() + done, text.size() - done);
    if (got <= 0) break;
    done += size_t(got);
  }
  text.resize(done);
  if (std::string_view(text).substr(0, kTextHeadBytes).find('\0') != std::string_view::npos)
    return std::nullopt;
  return text;
}

}  // namespace

std::optional<Quote> QuoteSource(const std::string& file, int64_t line,
                                 std::span<const fs::path> roots, int64_t capture_epoch_ns) {
  if (line < 1 || file.empty() || file.size() > kMaxPathBytes ||
      file.find('\0') != std::string::npos)
    return std::nullopt;
  std::optional<fs::path> path = Resolve(file, roots);
  if (!path || !IsSourceCode(*path)) return std::nullopt;
  // A link may have replaced the file.
  const Descriptor opened = OpenToRead(*path, O_NOFOLLOW);
  struct stat status{};
  if (!opened.is_open() || fstat(opened.get(), &status) != 0) return std::nullopt;
  std::optional<std::string> text = ReadText(opened.get(), status);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  for (int64_t at = 1; at < line; ++at) {
    size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(newline + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  constexpr std::string_view kSpace = " \t\r\f\v";
  size_t begin = rest.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return std::nullopt;
  rest = rest.substr(begin, rest.find_last_not_of(kSpace) + 1 - begin);
  std::string shown(rest.substr(0, 4 * kMaxColumns));
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  Quote quote{.text = Ellipsize(Printable(shown), kMaxColumns)};
  int64_t modified_ns = int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  quote.newer_than_capture = capture_epoch_ns > 0 && modified_ns > capture_epoch_ns + kCopyingNs;
  return quote;
}

}  // namespace xlaprof
