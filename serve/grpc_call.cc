// The protocol is described in gRPC's doc/PROTOCOL-HTTP2.md, the status that follows from an HTTP
// status in doc/http-grpc-status-mapping.md; HTTP/2 in RFC 9113.
//
// A call is a stream of HTTP/2. The request is a POST whose path names the function, and its body is
// a message. The answer has headers, a body with a message, and trailers with the status, or only
// trailers if there is no message. In the body, a message comes after five bytes: whether it is
// compressed, and its length as a big-endian number of four bytes.
#include "serve/grpc_call.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "base/numbers.h"
#include "base/version.h"

namespace xlaprof {
namespace {

using Clock = std::chrono::steady_clock;

// A server that does not greet within this time after it was connected to is no gRPC server, or
// hangs. gRPC waits as long.
constexpr auto kConnectTime = std::chrono::seconds(20);
constexpr size_t kPrefixBytes = 5;
constexpr size_t kBufferBytes = 256 << 10;
// What the server may send before it hears from us. What arrives is taken at once, so this takes no
// memory, and it must exceed what a fast line far away holds.
constexpr int32_t kWindowBytes = 64 << 20;
// An answer may have as many bytes of frames, headers and pings as of message, and this more. A
// server that sends them without end is cut off there.
constexpr int64_t kMostOverhead = 1 << 20;
constexpr size_t kMostSaid = 8 << 10;         // of a server's message
constexpr int64_t kMostTimeout = 99'999'999;  // a timeout has at most eight digits

constexpr const char* kNotGrpc = "the program that listens there does not speak gRPC";

template <auto release>
struct Freer {
  void operator()(auto* object) const { release(object); }
};

// Returns what a server's message says; bytes other than printable ASCII come as %XX.
std::string Decoded(std::string_view text) {
  std::string out;
  while (!text.empty() && out.size() < kMostSaid) {
    const auto byte = text[0] == '%' && text.size() >= 3
                          ? ParseInteger<uint8_t>(text.substr(1, 2), 16)
                          : std::nullopt;
    out += byte ? char(*byte) : text[0];
    text.remove_prefix(byte ? 3 : 1);
  }
  return out;
}

absl::StatusCode CodeOfHttpStatus(int status) {
  switch (status) {
    case 400:
      return absl::StatusCode::kInternal;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

absl::StatusCode CodeOfReset(uint32_t error) {
  switch (error) {
    case NGHTTP2_REFUSED_STREAM:
      return absl::StatusCode::kUnavailable;
    case NGHTTP2_CANCEL:
      return absl::StatusCode::kCancelled;
    case NGHTTP2_ENHANCE_YOUR_CALM:
      return absl::StatusCode::kResourceExhausted;
    case NGHTTP2_INADEQUATE_SECURITY:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::StatusCode CodeOfGrpcStatus(std::string_view text) {
  const std::optional<int> code = ParseInteger<int>(text);
  const bool is_known = code && *code >= 0 && *code <= int(absl::StatusCode::kUnauthenticated);
  return is_known ? absl::StatusCode(*code) : absl::StatusCode::kUnknown;
}

std::string TimeoutUntil(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  const int64_t ms = std::max<int64_t>(1, left.count());
  return ms <= kMostTimeout ? fmt::format("{}m", ms)
                            : fmt::format("{}S", std::min(ms / 1000, kMostTimeout));
}

// The name of the host as the user wrote it, without the zone of an IPv6 address ([fe80::1%eth0]),
// which means nothing on another machine.
std::string AuthorityOf(std::string authority) {
  const size_t zone = authority.find('%');
  if (zone == authority.npos) return authority;
  return authority.erase(zone, authority.find(']') - zone);
}

// One connection with one call. nghttp2 turns bytes into frames and frames into bytes; this class
// sends and receives the bytes.
class Session {
 public:
  Session(const GrpcCall& call, const Waiter& waiter, Descriptor socket, Deadline greeted_until)
      : call_(call), waiter_(waiter), socket_(std::move(socket)), greeted_until_(greeted_until) {}

  GrpcAnswer Run() {
    if (!Begin()) return End(CallEnd::kNoMemory);
    std::vector<char> buffer(kBufferBytes);
    while (true) {
      Send();
      if (!nghttp2_session_want_read(session_.get())) Break();
      if (is_over_) return std::move(answer_);
      const short events = short(POLLIN | (unsent_.empty() ? 0 : POLLOUT));
      const WaitEnd waited =
          waiter_.For(socket_.get(), events, is_greeted_ ? Deadline::max() : greeted_until_);
      if (waited == WaitEnd::kStopped) return End(CallEnd::kStopped);
      if (waited == WaitEnd::kLate)
        return waiter_.is_late() ? End(CallEnd::kLate) : End(CallEnd::kNoConnection, "no reply");
      const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) return Closed(got < 0 ? errno : 0);
      Take({buffer.data(), size_t(got)});
    }
  }

 private:
  bool Begin() {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return false;
    const std::unique_ptr<nghttp2_session_callbacks, Freer<nghttp2_session_callbacks_del>> freer(
        callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, OnNotSent);
    nghttp2_session_callbacks_set_error_callback2(callbacks, OnError);
    nghttp2_session* session = nullptr;
    if (nghttp2_session_client_new(&session, callbacks, this) != 0) return false;
    session_.reset(session);
    const std::array<nghttp2_settings_entry, 2> settings{
        {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, uint32_t(kWindowBytes)}}};
    return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) ==
               0 &&
           nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindowBytes) == 0;
  }

  // Sends the request. Returns whether it could be queued.
  bool Request() {
    const std::string timeout = TimeoutUntil(waiter_.deadline());
    const std::string authority = AuthorityOf(call_.address);
    const std::string agent = fmt::format("grpc-xlaprof/{}", kVersion);
    const std::array<std::pair<std::string_view, std::string_view>, 8> headers{
        {{":method", "POST"},
         {":scheme", "http"},
         {":path", call_.path},
         {":authority", authority},
         {"te", "trailers"},
         {"grpc-timeout", timeout},
         {"content-type", "application/grpc"},
         {"user-agent", agent}}};
    std::vector<nghttp2_nv> pairs;
    auto bytes = [](std::string_view text) {
      return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
    };
    for (const auto& [name, value] : headers)
      pairs.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    body_.assign(1, '\0');  // it is not compressed
    for (int shift = 24; shift >= 0; shift -= 8) body_ += char(call_.request.size() >> shift);
    body_ += call_.request;
    const nghttp2_data_provider provider{.source = {}, .read_callback = OnRead};
    stream_ = nghttp2_submit_request(session_.get(), nullptr, pairs.data(), pairs.size(), &provider,
                                     nullptr);
    return stream_ > 0;
  }

  // Sends what the socket takes without blocking.
  void Send() {
    while (!cannot_send_) {
      const uint8_t* bytes = nullptr;
      while (unsent_.size() < kBufferBytes) {
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
        if (size <= 0) break;
        unsent_.append(reinterpret_cast<const char*>(bytes), size_t(size));
      }
      if (unsent_.empty()) return;
      const ssize_t sent = send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent > 0) unsent_.erase(0, size_t(sent));
      // What the server sent before it closed the connection can still be read.
      if (sent < 0) cannot_send_ = true, unsent_.clear();
    }
  }

  void Take(std::string_view bytes) {
    received_ += int64_t(bytes.size());
    const ssize_t taken = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (is_over_) return;
    if (taken == NGHTTP2_ERR_NOMEM) {
      Finish(CallEnd::kNoMemory);
    } else if (taken < 0) {
      Finish(CallEnd::kDamaged, nghttp2_strerror(int(taken)));
    } else if (received_ - Taken() > Taken() + kMostOverhead) {
      Finish(CallEnd::kDamaged, "it sends headers or other frames without end");
    }
  }
  int64_t Taken() const { return int64_t(answer_.message.size()); }

  // Notes how the call ended. What comes later changes nothing.
  void Finish(CallEnd end, std::string said = "",
              absl::StatusCode code = absl::StatusCode::kUnknown) {
    if (is_over_) return;
    is_over_ = true;
    answer_.end = end;
    answer_.said = std::move(said);
    answer_.code = code;
    if (end != CallEnd::kAnswered) answer_.message = {};
  }
  GrpcAnswer End(CallEnd end, std::string said = "") {
    Finish(end, std::move(said));
    return std::move(answer_);
  }
  // nghttp2 ended the call or the connection, because the other side broke a rule of HTTP/2.
  void Break() {
    if (!is_greeted_) return Finish(CallEnd::kNoConnection, kNotGrpc);
    Finish(CallEnd::kDamaged, error_.empty() ? "it breaks the rules of HTTP/2" : error_);
  }
  GrpcAnswer Closed(int error) {
    const std::string why =
        error == 0 ? "the program closed it" : std::string(std::strerror(error));
    if (is_greeted_) return End(CallEnd::kLost, why);
    return End(CallEnd::kNoConnection,
               received_ > 0 ? kNotGrpc : "the connection was closed at once");
  }

  bool SpeaksGrpc() const { return http_status_ == 200 && is_grpc_; }

  void OnBytes(std::string_view bytes) {
    if (!SpeaksGrpc()) return;  // such as a page that says what is wrong
    while (!bytes.empty() && prefix_size_ < kPrefixBytes) {
      prefix_[prefix_size_++] = uint8_t(bytes[0]);
      bytes.remove_prefix(1);
      if (prefix_size_ == kPrefixBytes && !BeginMessage()) return;
    }
    if (int64_t(bytes.size()) > length_ - Taken())
      return Finish(CallEnd::kDamaged, "it has more bytes than it says");
    answer_.message += bytes;
  }
  // Reads what stands before the message. Returns false if the message cannot be taken.
  bool BeginMessage() {
    if (prefix_[0] == 1) {
      Finish(CallEnd::kDamaged, "it is compressed, which xlaprof did not ask for");
    } else if (prefix_[0] != 0) {
      Finish(CallEnd::kDamaged, "what comes is not a message of gRPC");
    }
    for (size_t i = 1; i < kPrefixBytes; ++i) length_ = length_ << 8 | prefix_[i];
    if (length_ > call_.most_bytes) Finish(CallEnd::kTooLarge);
    if (is_over_) return false;
    try {  // nghttp2 calls this function, and nothing may be thrown through it
      answer_.message.reserve(size_t(length_));
    } catch (const std::bad_alloc&) {
      Finish(CallEnd::kNoMemory);
    }
    return !is_over_;
  }

  void OnPair(std::string_view name, std::string_view value) {
    if (name == ":status") http_status_ = ParseInteger<int>(value).value_or(0);
    if (name == "content-type") is_grpc_ = value.starts_with("application/grpc");
    if (name == "grpc-status") grpc_status_ = CodeOfGrpcStatus(value);
    if (name == "grpc-message") grpc_message_ = Decoded(value);
  }

  // The server has sent everything.
  void OnEnd() {
    if (grpc_status_ && *grpc_status_ != absl::StatusCode::kOk)
      return Finish(CallEnd::kStatus,
                    grpc_message_.empty() ? absl::StatusCodeToString(*grpc_status_) : grpc_message_,
                    *grpc_status_);
    if (http_status_ != 200)
      return Finish(CallEnd::kStatus, fmt::format("HTTP status {}", http_status_),
                    CodeOfHttpStatus(http_status_));
    if (!grpc_status_ && !is_grpc_) return Finish(CallEnd::kNoConnection, kNotGrpc);
    if (!grpc_status_) return Finish(CallEnd::kDamaged, "it ends without a status");
    if (prefix_size_ == 0) return Finish(CallEnd::kDamaged, "it has no message");
    if (prefix_size_ < kPrefixBytes || Taken() < length_)
      return Finish(CallEnd::kDamaged,
                    fmt::format("only {} of its {} bytes came", Taken(), length_));
    Finish(CallEnd::kAnswered, "", absl::StatusCode::kOk);
  }

  // nghttp2 calls the functions below. After CALLBACK_FAILURE it reads nothing more.
  static Session& Of(void* session) { return *static_cast<Session*>(session); }
  int Result() const { return is_over_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0; }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Session& session = Of(self);
    const nghttp2_frame_hd& head = frame->hd;
    if (head.type == NGHTTP2_SETTINGS && !(head.flags & NGHTTP2_FLAG_ACK) && !session.is_greeted_) {
      session.is_greeted_ = true;
      if (!session.Request()) session.Finish(CallEnd::kNoMemory);
    }
    session.is_ended_by_server_ |= head.type == NGHTTP2_RST_STREAM || head.type == NGHTTP2_GOAWAY;
    const bool is_part = head.type == NGHTTP2_HEADERS || head.type == NGHTTP2_DATA;
    if (is_part && head.stream_id == session.stream_ && head.flags & NGHTTP2_FLAG_END_STREAM)
      session.OnEnd();
    return session.Result();
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* self) {
    auto text = [](const uint8_t* bytes, size_t size) {
      return std::string_view(reinterpret_cast<const char*>(bytes), size);
    };
    if (frame->hd.stream_id == Of(self).stream_)
      Of(self).OnPair(text(name, name_size), text(value, value_size));
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                    void* self) {
    if (stream == Of(self).stream_) Of(self).OnBytes({reinterpret_cast<const char*>(bytes), size});
    return Of(self).Result();
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* self) {
    if (stream != Of(self).stream_) return 0;
    if (Of(self).is_ended_by_server_) {
      Of(self).Finish(CallEnd::kStatus,
                      fmt::format("it ended the call: {}", nghttp2_http2_strerror(error)),
                      CodeOfReset(error));
    } else {
      Of(self).Break();
    }
    return 0;
  }
  static int OnNotSent(nghttp2_session*, const nghttp2_frame* frame, int, void* self) {
    if (frame->hd.type == NGHTTP2_HEADERS)
      Of(self).Finish(CallEnd::kStatus, "it takes no more calls", absl::StatusCode::kUnavailable);
    return 0;
  }
  static int OnError(nghttp2_session*, int, const char* text, size_t size, void* self) {
    Of(self).error_.assign(text, size);
    return 0;
  }
  static ssize_t OnRead(nghttp2_session*, int32_t, uint8_t* to, size_t room, uint32_t* flags,
                        nghttp2_data_source*, void* self) {
    std::string& body = Of(self).body_;
    const size_t bytes = body.copy(reinterpret_cast<char*>(to), room);
    body.erase(0, bytes);
    if (body.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return ssize_t(bytes);
  }

  const GrpcCall& call_;
  const Waiter& waiter_;
  const Descriptor socket_;
  const Deadline greeted_until_;
  std::unique_ptr<nghttp2_session, Freer<nghttp2_session_del>> session_;
  int32_t stream_ = 0;               // of the call; 0: it is not sent yet
  std::string body_;                 // of the request, as far as nghttp2 has not taken it
  std::string unsent_;               // what the socket has not taken yet
  bool cannot_send_ = false;         // the socket takes nothing any more
  bool is_greeted_ = false;          // the server has sent its settings, so it speaks HTTP/2
  bool is_ended_by_server_ = false;  // by RST_STREAM or GOAWAY
  bool is_over_ = false;
  int64_t received_ = 0;  // bytes of everything
  std::string error_;     // what nghttp2 said last

  int http_status_ = 0;
  bool is_grpc_ = false;  // by its Content-Type
  std::optional<absl::StatusCode> grpc_status_;
  std::string grpc_message_;
  std::array<uint8_t, kPrefixBytes> prefix_{};
  size_t prefix_size_ = 0;
  int64_t length_ = 0;  // that the message has by its prefix
  GrpcAnswer answer_;
};

GrpcAnswer EndOf(const absl::Status& status) {
  const CallEnd end = absl::IsCancelled(status)          ? CallEnd::kStopped
                      : absl::IsDeadlineExceeded(status) ? CallEnd::kLate
                                                         : CallEnd::kNoConnection;
  return {.end = end, .said = std::string(Message(status))};
}

}  // namespace

GrpcAnswer Call(const GrpcCall& call) {
  const Waiter waiter(call.deadline, call.stop);
  const auto addresses = AddressesOf(call.address, waiter);
  if (!addresses.ok()) return EndOf(addresses.status());
  GrpcAnswer told{.end = CallEnd::kNoConnection, .said = "no such host"};
  bool was_connected = false;
  for (const SocketAddress& address : *addresses) {
    const Deadline until = Clock::now() + kConnectTime;
    auto socket = Connect(address, waiter, until);
    const bool is_connected = socket.ok();
    GrpcAnswer answer = is_connected ? Session(call, waiter, *std::move(socket), until).Run()
                                     : EndOf(socket.status());
    if (answer.end != CallEnd::kNoConnection) return answer;
    // Somebody who listens but does not speak gRPC tells more than an address where nobody does.
    if (is_connected || !was_connected) told = std::move(answer);
    was_connected |= is_connected;
  }
  return told;
}

}  // namespace xlaprof
