#include "profiler/record/own_streams.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/descriptor.h"
#include "base/status.h"

namespace xlaprof::record {
namespace {

struct Streams {
  FileIdentity output = IdentityOf(STDOUT_FILENO), error = IdentityOf(STDERR_FILENO);
};
Streams& TheStreams() {
  static Streams& streams = *new Streams;
  return streams;
}

}  // namespace

void RememberStreams() { TheStreams() = Streams(); }

bool IsSameStream(int number) {
  const Streams& streams = TheStreams();
  const FileIdentity& before = number == STDOUT_FILENO ? streams.output : streams.error;
  return before.exists && IdentityOf(number) == before;
}

void Tell(std::string_view text) {
  const std::string line = fmt::format("xlaprof: {}\n", text);
  std::string_view rest = line;
  while (!rest.empty() && IsSameStream(STDERR_FILENO)) {
    const ssize_t written = write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(size_t(written));
  }
}

}  // namespace xlaprof::record
