#include "profiler/record/mapped_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace xlaprof::record {
namespace {

std::string MappingsOfProcess() {
  const Descriptor maps = OpenToRead("/proc/self/maps");
  std::string text;
  std::array<char, 1 << 14> part;
  for (ssize_t got; (got = read(maps.get(), part.data(), part.size())) > 0;)
    text.append(part.data(), size_t(got));
  return text;
}

}  // namespace

// A line is `begin-end rights offset device inode`, spaces, and the path of a file, which is the
// only part with a slash. Its device and inode may be those of a file below an overlay, so the
// paths are asked for theirs.
std::filesystem::path MappedPath(const FileIdentity& identity) {
  if (!identity.exists) return {};
  const std::string text = MappingsOfProcess();
  std::string_view rest = text, last;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t slash = line.find('/');
    if (slash == line.npos) continue;
    line.remove_prefix(slash);
    // A library has several mappings in a row.
    if (line != std::exchange(last, line) && IdentityOf(std::filesystem::path(line)) == identity)
      return line;
  }
  return {};
}

}  // namespace xlaprof::record
