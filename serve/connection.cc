#include "serve/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

namespace xlaprof {
namespace {

constexpr const char* kNoReply = "no reply";
// A machine that died or was cut off while the capture ran is noticed after two minutes.
constexpr int kIdleSeconds = 60, kProbeSeconds = 15, kProbes = 4;

void Signal(const Descriptor& event) {
  const uint64_t one = 1;
  (void)!write(event.get(), &one, sizeof one);
}

Descriptor NewEvent() { return Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

absl::Status Ended(WaitEnd end, const Waiter& waiter) {
  if (end == WaitEnd::kStopped) return absl::CancelledError("a stop was requested");
  return waiter.is_late() ? absl::DeadlineExceededError(kNoReply) : IoError("{}", kNoReply);
}

// What failed, such as "connection refused".
absl::Status Failed(int error) {
  if (error == ETIMEDOUT) return IoError("{}", kNoReply);
  std::string what = std::strerror(error);
  what[0] = char(std::tolower(uint8_t(what[0])));
  return IoError("{}", what);
}

// A search for the addresses of a name. getaddrinfo(3) cannot be interrupted, so it has a thread of
// its own, which nobody waits for after a stop.
struct Lookup {
  std::string host, port;
  addrinfo* found = nullptr;
  int error = 0;
  Descriptor done = NewEvent();

  ~Lookup() {
    if (found != nullptr) freeaddrinfo(found);
  }
  void Search(int flags) {
    const addrinfo wanted{.ai_flags = flags | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    // "localhost" is this machine (RFC 6761), also if the list of hosts is missing, as in an empty
    // root. Without a name, getaddrinfo returns the addresses of the loopback interface.
    const char* name = host == "localhost" ? nullptr : host.c_str();
    error = getaddrinfo(name, port.c_str(), &wanted, &found);
  }
};

absl::Status SearchName(const std::shared_ptr<Lookup>& lookup, const Waiter& waiter) {
  if (!lookup->done.is_open()) return Failed(EMFILE);
  try {
    std::thread([lookup] {
      lookup->Search(0);
      Signal(lookup->done);
    }).detach();
  } catch (const std::system_error& error) {  // there may be no more threads
    return Failed(error.code().value());
  }
  if (const WaitEnd end = waiter.For(lookup->done.get(), POLLIN); end != WaitEnd::kReady)
    return Ended(end, waiter);
  uint64_t times = 0;
  (void)!read(lookup->done.get(), &times, sizeof times);  // sees what the thread wrote
  return absl::OkStatus();
}

}  // namespace

Waiter::Waiter(Deadline deadline, std::stop_token stop)
    : deadline_(deadline),
      stopped_(NewEvent()),
      at_stop_(std::move(stop), [this] { Signal(stopped_); }) {}

WaitEnd Waiter::For(int fd, short events, Deadline until) const {
  using std::chrono::milliseconds;
  until = std::min(until, deadline_);
  while (true) {
    const auto left =
        std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd both[] = {{.fd = fd, .events = events}, {.fd = stopped_.get(), .events = POLLIN}};
    const int ready = poll(both, 2, int(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (both[1].revents != 0) return WaitEnd::kStopped;
    if (ready > 0) return WaitEnd::kReady;
    if (left <= 0) return WaitEnd::kLate;
  }
}

absl::StatusOr<std::vector<SocketAddress>> AddressesOf(std::string_view address,
                                                       const Waiter& waiter) {
  const size_t colon = address.rfind(':');
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = address.substr(colon + 1);
  lookup->Search(AI_NUMERICHOST);
  if (lookup->error == EAI_NONAME) XP_TRY(SearchName(lookup, waiter));
  if (lookup->error == EAI_NONAME || lookup->error == EAI_NODATA) return IoError("no such host");
  if (lookup->error != 0) return IoError("no such host ({})", gai_strerror(lookup->error));
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = lookup->found; each != nullptr; each = each->ai_next) {
    SocketAddress& one = addresses.emplace_back();
    one.size = std::min<socklen_t>(each->ai_addrlen, sizeof one.bytes);
    std::memcpy(&one.bytes, each->ai_addr, one.size);
  }
  return addresses;
}

absl::StatusOr<Descriptor> Connect(const SocketAddress& address, const Waiter& waiter,
                                   Deadline until) {
  const int family = address.bytes.ss_family;
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Failed(errno);
  const int fd = socket.get();
  auto set = [fd](int level, int option, int value) {
    (void)setsockopt(fd, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0)
    return socket;
  if (errno != EINPROGRESS && errno != EINTR) return Failed(errno);
  if (const WaitEnd end = waiter.For(fd, POLLOUT, until); end != WaitEnd::kReady)
    return Ended(end, waiter);
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return Failed(error);
  return socket;
}

}  // namespace xlaprof
