// Tests how addresses are found. tests/serve/grpc_call_test.cc tests connections.
#include "serve/connection.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

namespace xlaprof {
namespace {

using testing::ElementsAre;

// Returns each address of `address` in the form that inet_ntop(3) gives it, with the port.
std::vector<std::string> Addresses(std::string_view address) {
  const Waiter waiter(Deadline::max(), {});
  const auto found = AddressesOf(address, waiter);
  EXPECT_TRUE(found.ok()) << found.status();
  std::vector<std::string> out;
  for (size_t i = 0; found.ok() && i < found->size(); ++i) {
    const SocketAddress& one = (*found)[i];
    char text[INET6_ADDRSTRLEN] = "";
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    const bool is_v4 = one.bytes.ss_family == AF_INET;
    std::memcpy(is_v4 ? static_cast<void*>(&v4) : &v6, &one.bytes, one.size);
    inet_ntop(one.bytes.ss_family, is_v4 ? static_cast<void*>(&v4.sin_addr) : &v6.sin6_addr, text,
              sizeof text);
    out.push_back(fmt::format("{} {}", text, ntohs(is_v4 ? v4.sin_port : v6.sin6_port)));
  }
  return out;
}

TEST(Connection, AddressesAreNumbersOrNames) {
  EXPECT_THAT(Addresses("127.0.0.1:9012"), ElementsAre("127.0.0.1 9012"));
  EXPECT_THAT(Addresses("[::1]:65535"), ElementsAre("::1 65535"));
  EXPECT_THAT(Addresses("[fe80::1%lo]:1"), ElementsAre("fe80::1 1"));
  EXPECT_THAT(Addresses("localhost:80"), testing::UnorderedElementsAre("127.0.0.1 80", "::1 80"));
}

TEST(Connection, WaitsEnd) {
  std::stop_source stop;
  const Waiter waiter(Deadline::max(), stop.get_token());
  EXPECT_EQ(waiter.For(-1, 0, std::chrono::steady_clock::now()), WaitEnd::kLate);
  EXPECT_FALSE(waiter.is_late());
  stop.request_stop();
  EXPECT_EQ(waiter.For(-1, 0), WaitEnd::kStopped);
  const Waiter late(std::chrono::steady_clock::now(), {});
  EXPECT_EQ(late.For(-1, 0), WaitEnd::kLate);
  EXPECT_TRUE(late.is_late());
}

}  // namespace
}  // namespace xlaprof
