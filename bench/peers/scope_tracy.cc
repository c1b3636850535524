// Measures the cost of Tracy's zones to the profiled thread. A reader of ours on the same machine
// drains Tracy's client: it greets it as Tracy's server does, and discards the data.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/scope_cost.h"
#include "tracy/common/TracyProtocol.hpp"
#include "tracy/tracy/Tracy.hpp"

namespace {

constexpr uint16_t kPort = 8086;  // Tracy's own port; if it is in use, Tracy takes the next ones

bool Greet(int fd) {
  const uint32_t version = tracy::ProtocolVersion;
  if (write(fd, tracy::HandshakeShibboleth, tracy::HandshakeShibbolethSize) !=
          tracy::HandshakeShibbolethSize ||
      write(fd, &version, sizeof version) != sizeof version)
    return false;
  uint8_t answer = 0;
  return read(fd, &answer, 1) == 1 && answer == tracy::HandshakeWelcome;
}

int Connect() {
  for (int tries = 0; tries < 100; ++tries) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(kPort);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && Greet(fd))
      return fd;
    close(fd);
    usleep(50'000);
  }
  return -1;
}

void Scopes(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    ZoneScopedN("scope");
    asm volatile("" ::: "memory");
  }
}
void Args(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    ZoneScopedN("with a value");
    ZoneValue(uint64_t(i));
    asm volatile("" ::: "memory");
  }
}
void Counters(int64_t count) {
  for (int64_t i = 0; i < count; ++i) TracyPlot("counter", double(i));
}

}  // namespace

int main() {
  const int fd = Connect();
  if (fd < 0) {
    std::fprintf(stderr, "Tracy's client does not answer on port %d\n", kPort);
    return 2;
  }
  std::atomic<int64_t> bytes{0};
  std::thread([&] {
    std::vector<char> buffer(1 << 20);
    for (ssize_t n; (n = read(fd, buffer.data(), buffer.size())) > 0;) bytes += n;
  }).detach();
  constexpr std::chrono::milliseconds kPause{3};
  const std::string costs = bench::Costs(
      {{"clock", bench::ReadClock}, {"scope", Scopes}, {"arg", Args}, {"counter", Counters}},
      kPause);
  const double two_threads = bench::OnTwoThreadsNs(Scopes, kPause);
  std::printf("{%s, \"two_threads_ns\": %.2f, \"drained_bytes\": %lld}\n", costs.c_str(),
              two_threads, static_cast<long long>(bytes.load()));
  std::fflush(stdout);
  _exit(bytes > 0 ? 0 : 2);
}
