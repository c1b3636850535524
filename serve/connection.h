// Connects to a program over TCP. A requested stop or the deadline ends every wait.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"

namespace xlaprof {

using Deadline = std::chrono::steady_clock::time_point;

enum class WaitEnd : uint8_t { kReady, kLate, kStopped };

// Waits for descriptors. Only one thread uses it.
class Waiter {
 public:
  Waiter(Deadline deadline, std::stop_token stop);
  Waiter(const Waiter&) = delete;

  // Waits until `fd` is ready for one of the `events` of poll(2), or has failed, until `until` or
  // the deadline has passed (kLate), or until a stop is requested.
  WaitEnd For(int fd, short events, Deadline until = Deadline::max()) const;
  bool is_late() const { return std::chrono::steady_clock::now() >= deadline_; }
  Deadline deadline() const { return deadline_; }

 private:
  const Deadline deadline_;
  Descriptor stopped_;  // is readable when a stop is requested
  std::stop_callback<std::function<void()>> at_stop_;
};

// The address of a socket.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// Returns the addresses of `address`, which is HOST:PORT or [IPV6]:PORT, in the order in which they
// should be tried. Errors, which say why in a few words:
//   Unavailable       there is no such host
//   DeadlineExceeded  the deadline passed
//   Cancelled         a stop was requested
absl::StatusOr<std::vector<SocketAddress>> AddressesOf(std::string_view address,
                                                       const Waiter& waiter);

// Returns a socket that is connected and does not block, or an error like AddressesOf; Unavailable
// means that nobody took the connection until `until`.
absl::StatusOr<Descriptor> Connect(const SocketAddress& address, const Waiter& waiter,
                                   Deadline until);

}  // namespace xlaprof
