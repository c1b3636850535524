#include "serve/local_server.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/escape.h"

namespace xlaprof {
namespace {

constexpr const char* kAddress = "127.0.0.1";
// A connection takes a thread as long as it is open. A browser keeps six connections open.
constexpr size_t kMostThreads = 256;
constexpr std::chrono::milliseconds kKeepAliveTime(1000);  // until an idle connection is closed
constexpr std::chrono::milliseconds kReadTime(
    2000);  // longest wait for the next bytes of a request
constexpr std::chrono::milliseconds kWriteTime(5000);  // longest wait for a slow reader
constexpr std::chrono::seconds kRequestTime(5);        // longest time for a whole request

absl::StatusOr<std::string> Secret() {
  char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != ssize_t(sizeof bytes))
    return absl::InternalError("the kernel returned no random bytes for the server's address");
  return Hex({bytes, sizeof bytes});
}

// Runs each connection on a thread of its own. Threads are made when all are busy.
class Workers final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && threads_.size() < kMostThreads)
      threads_.emplace_back([this] { Work(); });
    changed_.notify_one();
  }
  void shutdown() override {
    {
      std::lock_guard lock(mutex_);
      is_ending_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait(lock, [&] { return !tasks_.empty() || is_ending_; });
      --idle_;
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool is_ending_ = false;
};

// A connection with a browser. Reading fails if a request takes too long, however its bytes are
// spread over that time.
class Connection final : public httplib::Stream {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  // Returns whether a request begins within this time, and starts its deadline.
  bool AwaitRequest(std::chrono::milliseconds time) {
    if (at_ == buffer_.size() && !Await(POLLIN, time)) return false;
    deadline_ = Clock::now() + kRequestTime;
    return true;
  }

  bool is_readable() const override {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    return at_ < buffer_.size() || (left.count() > 0 && Await(POLLIN, std::min(left, kReadTime)));
  }
  bool is_writable() const override { return Await(POLLOUT, kWriteTime); }
  ssize_t read(char* to, size_t bytes) override {
    if (at_ == buffer_.size()) {
      if (!is_readable()) return -1;
      buffer_.resize(kBufferBytes);
      const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), 0);
      buffer_.resize(size_t(std::max<ssize_t>(0, got)));
      at_ = 0;
      if (got <= 0) return got;
    }
    bytes = buffer_.copy(to, bytes, at_);
    at_ += bytes;
    return ssize_t(bytes);
  }
  ssize_t write(const char* from, size_t bytes) override {
    return is_writable() ? send(socket_, from, bytes, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = kAddress, port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = kAddress, port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kBufferBytes = 4096;

  bool Await(short event, std::chrono::milliseconds time) const {
    pollfd asked{.fd = socket_, .events = event, .revents = 0};
    int ready = 0;
    while ((ready = poll(&asked, 1, int(time.count()))) < 0 && errno == EINTR) {
    }
    return ready > 0;
  }

  const int socket_;
  std::string buffer_;
  size_t at_ = 0;  // bytes of the buffer that were read
  Clock::time_point deadline_;
};

// The library's server, with our connections. The library's own limit only the wait for the next
// bytes.
class BoundedServer final : public httplib::Server {
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket);
    bool is_closed = false, is_good = true;
    auto wait = kReadTime;
    for (size_t left = keep_alive_max_count_;
         left > 0 && !is_closed && is_good && svr_sock_ != INVALID_SOCKET; --left) {
      if (!connection.AwaitRequest(std::exchange(wait, kKeepAliveTime))) break;
      is_good = process_request(connection, left == 1, is_closed, nullptr);
    }
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return is_good;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<LocalServer>> LocalServer::Bind(Options options) {
  std::unique_ptr<LocalServer> local(new LocalServer(std::move(options)));
  XP_TRY(const std::string secret, Secret());
  local->secret_path_ = "/" + secret + "/";
  local->server_ = std::make_unique<BoundedServer>();
  httplib::Server& server = *local->server_;
  const int wanted = local->options_.port;
  // By default the library would share the port with a program that already listens there.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int port = wanted != 0 ? (server.bind_to_port(kAddress, wanted) ? wanted : -1)
                               : server.bind_to_any_port(kAddress);
  if (port <= 0)
    return IoError(
        "{}:{}: cannot listen there, because another program already does. End that program, or choose another port",
        kAddress, wanted);
  local->host_ = fmt::format("{}:{}", kAddress, port);
  local->local_host_ = fmt::format("localhost:{}", port);
  local->origin_ = "http://" + local->host_;
  server.new_task_queue = [] { return new Workers; };
  server.set_pre_routing_handler(
      [local = local.get()](const httplib::Request& request, httplib::Response& response) {
        return local->Admit(request, response);
      });
  return local;
}

httplib::Server::HandlerResponse LocalServer::Admit(const httplib::Request& request,
                                                    httplib::Response& response) const {
  const std::string host = request.get_header_value("Host");
  const std::string origin = request.get_header_value("Origin");
  const bool is_guest = !options_.guest.empty() && origin == options_.guest;
  if ((host != host_ && host != local_host_) ||
      (request.has_header("Origin") && !is_guest && origin != "http://" + host)) {
    response.status = 403;
    response.set_content("xlaprof: open the address that xlaprof printed\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  }
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  if (!is_guest) return httplib::Server::HandlerResponse::Unhandled;
  response.set_header("Access-Control-Allow-Origin", origin);
  response.set_header("Vary", "Origin");
  if (request.method != "OPTIONS") return httplib::Server::HandlerResponse::Unhandled;
  // Browsers send a preflight request before a page from the internet may read from this machine.
  response.set_header("Access-Control-Allow-Methods", "GET");
  response.set_header("Access-Control-Allow-Private-Network", "true");
  response.status = 204;
  return httplib::Server::HandlerResponse::Handled;
}

void LocalServer::Start() {
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  // Waits, because the server cannot be stopped before it runs.
  while (!server_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

LocalServer::~LocalServer() {
  if (server_) server_->stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace xlaprof
