// Tests calls against gRPC's own server, and against servers that send any bytes.
#include "serve/grpc_call.h"

#include <dirent.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/serve/busy_program.h"
#include "tests/serve/fake_server.h"

namespace xlaprof {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;
using testing::HasSubstr;

constexpr int64_t kMostBytes = 1'000'000;
constexpr char kDataFrame = 0, kHeadersFrame = 1, kResetFrame = 3, kSettingsFrame = 4,
               kPingFrame = 6, kGoawayFrame = 7, kContinuationFrame = 9;
constexpr char kAck = 1, kEndStream = 1, kEndHeaders = 4;

std::string BigEndian(uint64_t number, int bytes) {
  std::string out;
  while (bytes-- > 0) out += char(number >> 8 * bytes);
  return out;
}

std::string Frame(char type, char flags, uint32_t stream, std::string_view payload = "") {
  return BigEndian(payload.size(), 3) + type + flags + BigEndian(stream, 4) + std::string(payload);
}

// A header in the simplest form that HPACK has (RFC 7541, 6.2.2).
std::string Pair(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + char(name.size()) + std::string(name) + char(value.size()) +
         std::string(value);
}

std::string Head(std::string_view status = "200", std::string_view type = "application/grpc") {
  return Pair(":status", status) + Pair("content-type", type);
}

std::string Begin() { return Frame(kHeadersFrame, kEndHeaders, 1, Head()); }
std::string Prefixed(std::string_view message) {
  return std::string(1, '\0') + BigEndian(message.size(), 4) + std::string(message);
}
std::string Body(std::string_view bytes) { return Frame(kDataFrame, 0, 1, bytes); }
std::string End(std::string_view status, std::string_view said = "") {
  return Frame(kHeadersFrame, kEndHeaders | kEndStream, 1,
               Pair("grpc-status", status) + Pair("grpc-message", said));
}
std::string Answer(std::string_view message) {
  return Begin() + Body(Prefixed(message)) + End("0");
}

std::string Settings() { return Frame(kSettingsFrame, 0, 0); }

// Greets, and reads the client's frames until one ends its request.
bool AwaitRequest(int fd) {
  if (!SendAll(fd, Settings() + Frame(kSettingsFrame, kAck, 0))) return false;
  auto read = [&](size_t bytes) {
    std::string out(bytes, '\0');
    return recv(fd, out.data(), bytes, MSG_WAITALL) == ssize_t(bytes) ? out : "";
  };
  if (read(24).empty()) return false;  // what each client begins with
  while (true) {
    const std::string head = read(9);
    if (head.empty()) return false;
    const size_t size =
        size_t(uint8_t(head[0])) << 16 | size_t(uint8_t(head[1])) << 8 | size_t(uint8_t(head[2]));
    if (size > 0 && read(size).empty()) return false;
    if (head[3] <= kHeadersFrame && head[4] & kEndStream) return true;
  }
}

// Returns what a server does that sends `answer` after the request, and then closes the connection,
// or waits until the client does.
std::function<void(int)> Sends(std::string answer, bool closes = false) {
  return [answer = std::move(answer), closes](int fd) {
    if (!AwaitRequest(fd)) return;
    if (SendAll(fd, answer) && closes) shutdown(fd, SHUT_WR);
    AwaitClose(fd);
  };
}

std::function<void(int)> Repeats(std::string begin, std::string part) {
  std::string many;
  while (many.size() < 100'000) many += part;
  return [begin, many](int fd) {
    if (!AwaitRequest(fd) || !SendAll(fd, begin)) return;
    while (SendAll(fd, many)) {
    }
  };
}

GrpcAnswer Ask(const std::string& address, std::stop_token stop = {},
               milliseconds time = seconds(60)) {
  return Call({.address = address,
               .path = "/tensorflow.ProfilerService/Profile",
               .request = "",
               .most_bytes = kMostBytes,
               .deadline = std::chrono::steady_clock::now() + time,
               .stop = std::move(stop)});
}

GrpcAnswer AskServer(std::function<void(int)> talk) {
  const PlainServer server(std::move(talk));
  return Ask(AddressOf(server.port()));
}

void ExpectEnd(std::function<void(int)> talk, CallEnd end, const char* said) {
  const GrpcAnswer answer = AskServer(std::move(talk));
  EXPECT_EQ(answer.end, end) << said << ": " << answer.said;
  EXPECT_THAT(answer.said, HasSubstr(said));
  EXPECT_EQ(answer.message, "");
}

void ExpectStatus(std::string sent, absl::StatusCode code, const char* said) {
  const GrpcAnswer answer = AskServer(Sends(std::move(sent)));
  EXPECT_EQ(answer.end, CallEnd::kStatus) << answer.said;
  EXPECT_EQ(answer.code, code) << said;
  EXPECT_EQ(answer.said, said);
}

TEST(GrpcCall, AnAnswerComesInAnyPieces) {
  for (const std::string& message : {std::string(), std::string("the answer")}) {
    const GrpcAnswer whole = AskServer(Sends(Answer(message)));
    EXPECT_EQ(whole.end, CallEnd::kAnswered) << whole.said;
    EXPECT_EQ(whole.message, message);
  }
  std::string pieces = Begin();
  for (const char byte : Prefixed("the answer")) pieces += Body({&byte, 1});
  const std::string frames = Settings() + Frame(kPingFrame, 0, 0, "8 bytes.") + pieces + End("0");
  const GrpcAnswer answer = AskServer([&](int fd) {
    if (!AwaitRequest(fd)) return;
    for (const char byte : frames) SendAll(fd, {&byte, 1});
    AwaitClose(fd);
  });
  EXPECT_EQ(answer.end, CallEnd::kAnswered) << answer.said;
  EXPECT_EQ(answer.message, "the answer");
}

TEST(GrpcCall, TheStatusIsTheServers) {
  auto only_trailers = [](std::string_view status, std::string_view said) {
    return Frame(kHeadersFrame, kEndHeaders | kEndStream, 1,
                 Head() + Pair("grpc-status", status) + Pair("grpc-message", said));
  };
  ExpectStatus(only_trailers("6", "busy%2C 100%25%0a, %zz%"), absl::StatusCode::kAlreadyExists,
               "busy, 100%\n, %zz%");
  ExpectStatus(Begin() + Body(Prefixed("half")) + End("13", "no"), absl::StatusCode::kInternal,
               "no");
  ExpectStatus(only_trailers("13", ""), absl::StatusCode::kInternal, "INTERNAL");
  for (const char* wrong : {"17", "-1", "", "x", "99999999999"})
    ExpectStatus(only_trailers(wrong, "?"), absl::StatusCode::kUnknown, "?");
}

TEST(GrpcCall, AStatusFollowsFromHttp) {
  auto page = [](const char* status) {
    return Frame(kHeadersFrame, kEndHeaders, 1, Head(status, "text/html")) +
           Frame(kDataFrame, kEndStream, 1, "<html>no</html>");
  };
  ExpectStatus(page("404"), absl::StatusCode::kUnimplemented, "HTTP status 404");
  ExpectStatus(page("503"), absl::StatusCode::kUnavailable, "HTTP status 503");
  ExpectEnd(Sends(page("200")), CallEnd::kNoConnection, "does not speak gRPC");
}

TEST(GrpcCall, TheServerMayEndTheCall) {
  auto reset = [](uint32_t error) { return Frame(kResetFrame, 0, 1, BigEndian(error, 4)); };
  ExpectStatus(Begin() + reset(8), absl::StatusCode::kCancelled, "it ended the call: CANCEL");
  ExpectStatus(reset(11), absl::StatusCode::kResourceExhausted,
               "it ended the call: ENHANCE_YOUR_CALM");
  ExpectStatus(reset(2), absl::StatusCode::kInternal, "it ended the call: INTERNAL_ERROR");
  auto goaway = [](uint32_t last) {
    return Frame(kGoawayFrame, 0, 0, BigEndian(last, 4) + BigEndian(0, 4));
  };
  ExpectStatus(goaway(0), absl::StatusCode::kUnavailable, "it ended the call: REFUSED_STREAM");
  const GrpcAnswer last = AskServer(Sends(goaway(1) + Answer("the last answer")));
  EXPECT_EQ(last.message, "the last answer");
  ExpectEnd(
      [&](int fd) {
        SendAll(fd, Settings() + goaway(0));
        AwaitClose(fd);
      },
      CallEnd::kStatus, "");
}

TEST(GrpcCall, AnAnswerThatIsNotWholeIsNone) {
  const std::string half = Begin() + Body(Prefixed("the answer").substr(0, 9));
  ExpectEnd(Sends(half, /*closes=*/true), CallEnd::kLost, "the program closed it");
  ExpectEnd(Sends("", /*closes=*/true), CallEnd::kLost, "the program closed it");
  ExpectEnd(Sends(half + End("0")), CallEnd::kDamaged, "only 4 of its 10 bytes came");
  ExpectEnd(Sends(Begin() + End("0")), CallEnd::kDamaged, "it has no message");
  ExpectEnd(Sends(Begin() + Frame(kDataFrame, kEndStream, 1, Prefixed("the answer"))),
            CallEnd::kDamaged, "it ends without a status");
}

TEST(GrpcCall, WhatIsNoAnswerIsRefused) {
  ExpectEnd(Sends(Begin() + Body("\1" + BigEndian(3, 4) + "abc")), CallEnd::kDamaged,
            "it is compressed");
  ExpectEnd(Sends(Begin() + Body("hello, world")), CallEnd::kDamaged, "not a message of gRPC");
  ExpectEnd(Sends(Begin() + Body(Prefixed("one") + Prefixed("two"))), CallEnd::kDamaged,
            "more bytes than it says");
  ExpectEnd(Sends(Begin() + Begin() + Body(Prefixed("x"))), CallEnd::kDamaged, "");
  ExpectEnd(Sends(Frame(kHeadersFrame, kEndHeaders, 1, "\xff\xff\xff\xff")), CallEnd::kDamaged, "");
  ExpectEnd(Sends(Frame(kSettingsFrame, 0, 0, "odd")), CallEnd::kDamaged, "");
  ExpectEnd(Sends(Frame(kDataFrame, 0, 1, std::string(20'000, 'x'))), CallEnd::kDamaged, "");
  ExpectEnd(Sends(std::string(1000, '\xaa')), CallEnd::kDamaged, "");
}

// The length alone decides, and no byte of the message has to come.
TEST(GrpcCall, AnAnswerThatIsTooLargeIsRefusedAtOnce) {
  auto length = [](int64_t bytes) { return Begin() + Body('\0' + BigEndian(uint64_t(bytes), 4)); };
  ExpectEnd(Sends(length(kMostBytes + 1)), CallEnd::kTooLarge, "");
  ExpectEnd(Sends(length(0xffffffff)), CallEnd::kTooLarge, "");
  ExpectEnd(Sends(length(kMostBytes), /*closes=*/true), CallEnd::kLost, "");
}

// Each of these servers would send as long as the client reads.
TEST(GrpcCall, AServerThatSendsWithoutEndIsLeft) {
  const std::string endless = "without end";
  ExpectEnd(Repeats(Begin() + Body(Prefixed("x")), Body("more")), CallEnd::kDamaged,
            "more bytes than it says");
  ExpectEnd(Repeats(Begin(), Body("")), CallEnd::kDamaged, "");
  ExpectEnd(Repeats("", Frame(kHeadersFrame, kEndHeaders, 1, Pair(":status", "100"))),
            CallEnd::kDamaged, "");
  ExpectEnd(Repeats(Frame(kHeadersFrame, 0, 1, Head()),
                    Frame(kContinuationFrame, 0, 1, Pair("name", std::string(100, 'x')))),
            CallEnd::kDamaged, "");
  ExpectEnd(Repeats(Frame(kHeadersFrame, 0, 1, Head()), Frame(kContinuationFrame, 0, 1)),
            CallEnd::kDamaged, "");
  ExpectEnd(Repeats("", Frame(kPingFrame, 0, 0, "8 bytes.")), CallEnd::kDamaged, "");
  ExpectEnd(Repeats("", Settings()), CallEnd::kDamaged, "");
  ExpectEnd(Repeats(Frame(kHeadersFrame, kEndHeaders, 1, Head("404", "text/html")),
                    Body(std::string(10'000, 'x'))),
            CallEnd::kDamaged, "without end");
}

TEST(GrpcCall, WhatListensIsNoServer) {
  auto says = [](std::string text) {
    return [text = std::move(text)](int fd) {
      SendAll(fd, text);
      shutdown(fd, SHUT_WR);
      AwaitClose(fd);
    };
  };
  ExpectEnd(says("HTTP/1.1 400 Bad Request\r\n\r\n"), CallEnd::kNoConnection,
            "does not speak gRPC");
  ExpectEnd(says("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), CallEnd::kNoConnection,
            "does not speak gRPC");
  ExpectEnd(says("\x15\x03\x01"), CallEnd::kNoConnection, "does not speak gRPC");
  ExpectEnd(says(Frame(kPingFrame, 0, 0, "8 bytes.")), CallEnd::kNoConnection,
            "does not speak gRPC");
  ExpectEnd(says(""), CallEnd::kNoConnection, "the connection was closed at once");
  ExpectEnd([](int) {}, CallEnd::kNoConnection, "connection");  // and it may be reset
}

TEST(GrpcCall, NobodyListens) {
  const PlainServer refusing(nullptr);
  const GrpcAnswer refused = Ask(AddressOf(refusing.port()));
  EXPECT_EQ(refused.end, CallEnd::kNoConnection);
  EXPECT_EQ(refused.said, "connection refused");
  const GrpcAnswer unknown = Ask("nowhere.invalid:9012");
  EXPECT_EQ(unknown.end, CallEnd::kNoConnection);
  EXPECT_THAT(unknown.said, HasSubstr("no such host"));
}

// The name may have an address of IPv6 as well, where nobody listens.
TEST(GrpcCall, AnyAddressOfANameWillDo) {
  const PlainServer server(Sends(Answer("x")));
  EXPECT_EQ(Ask(fmt::format("localhost:{}", server.port())).message, "x");
}

TEST(GrpcCall, TheDeadlineEndsIt) {
  for (const char* greeting : {"", "settings"}) {
    const PlainServer silent([&](int fd) {
      if (*greeting != '\0') SendAll(fd, Settings());
      AwaitClose(fd);
    });
    EXPECT_EQ(Ask(AddressOf(silent.port()), {}, milliseconds(50)).end, CallEnd::kLate);
  }
  EXPECT_EQ(Ask("nowhere.invalid:9012", {}, milliseconds(0)).end, CallEnd::kLate);
}

TEST(GrpcCall, AStopEndsIt) {
  const PlainServer silent(AwaitClose);
  const std::string address = AddressOf(silent.port());
  std::stop_source stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(50));
    stop.request_stop();
  });
  EXPECT_EQ(Ask(address, stop.get_token()).end, CallEnd::kStopped);
  stopper.join();
  EXPECT_EQ(Ask(address, stop.get_token()).end, CallEnd::kStopped);
  EXPECT_EQ(Ask("nowhere.invalid:9012", stop.get_token()).end, CallEnd::kStopped);
}

size_t OpenDescriptors() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(GrpcCall, NoDescriptorIsLeft) {
  constexpr size_t kTimes = 10;
  const size_t before = OpenDescriptors();
  for (size_t i = 0; i < kTimes; ++i) {
    (void)AskServer(Sends(Answer("x")));
    (void)AskServer(Sends(Begin() + Begin()));
    (void)Ask("localhost:1");
  }
  EXPECT_LT(OpenDescriptors(), before + kTimes);  // gRPC's own threads may open and close others
}

// A server of gRPC's whose answer never comes.
class PatientServer final : public tensorflow::ProfilerService::Service {
 public:
  PatientServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  int port() const { return port_; }
  void AwaitCall() const { called_.wait(false); }
  // The deadline and the program's name, as the server got them.
  std::chrono::system_clock::time_point deadline() const { return deadline_; }
  const std::string& agent() const { return agent_; }

 private:
  grpc::Status Profile(grpc::ServerContext* context, const tensorflow::ProfileRequest*,
                       tensorflow::ProfileResponse*) override {
    deadline_ = context->deadline();
    const auto agent = context->client_metadata().find("user-agent");
    if (agent != context->client_metadata().end())
      agent_ = {agent->second.data(), agent->second.size()};
    called_ = true;
    called_.notify_all();
    while (!context->IsCancelled()) std::this_thread::sleep_for(milliseconds(1));
    return grpc::Status::CANCELLED;
  }
  std::atomic<bool> called_ = false;
  std::chrono::system_clock::time_point deadline_;
  std::string agent_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// The server's destructor waits until the server has noticed that nobody waits any longer.
TEST(GrpcCall, TheServerLearnsOfTheDeadlineAndTheStop) {
  PatientServer server;
  std::stop_source stop;
  std::thread stopper([&] {
    server.AwaitCall();
    stop.request_stop();
  });
  const auto deadline = std::chrono::system_clock::now() + seconds(60);
  EXPECT_EQ(Ask(AddressOf(server.port()), stop.get_token()).end, CallEnd::kStopped);
  stopper.join();
  EXPECT_LT(std::chrono::abs(server.deadline() - deadline), seconds(30));
  EXPECT_THAT(server.agent(), HasSubstr("grpc-xlaprof/"));
}

}  // namespace
}  // namespace xlaprof
