#include "profiler/serve/viewer.h"

#include <httplib.h>
#include <sys/random.h>

#include <charconv>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "analyzers/report.h"
#include "exporters/view/event.h"
#include "exporters/view/page.h"
#include "exporters/view/run.h"
#include "exporters/view/search.h"
#include "exporters/view/slices.h"
#include "exporters/view/totals.h"

namespace xlaprof {
namespace {

constexpr const char* kAddress = "127.0.0.1";
constexpr size_t kThreads = 8;  // a browser keeps six connections open
constexpr size_t kMaxLanes = 100'000;

absl::StatusOr<std::string> Secret() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != ssize_t(sizeof bytes))
    return absl::InternalError("the kernel gives no random bytes for the viewer's address");
  std::string secret;
  for (unsigned char byte : bytes) secret += fmt::format("{:02x}", byte);
  return secret;
}

absl::StatusOr<int64_t> Number(std::string_view name, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return Invalid("{}={}: not a whole number", name, text.substr(0, 40));
  return value;
}

absl::StatusOr<int64_t> Number(const httplib::Request& request, const char* name) {
  return Number(name, request.get_param_value(name));
}

absl::StatusOr<std::vector<int64_t>> Lanes(const httplib::Request& request) {
  const std::string text = request.get_param_value("lanes");
  std::vector<int64_t> lanes;
  for (size_t at = 0; at < text.size() && lanes.size() < kMaxLanes;) {
    const size_t comma = std::min(text.find(',', at), text.size());
    XP_TRY(int64_t id, Number("lanes", std::string_view(text).substr(at, comma - at)));
    lanes.push_back(id);
    at = comma + 1;
  }
  return lanes;
}

// What makes a browser keep the page to itself.
httplib::Headers OwnHeaders() {
  return {{"Cache-Control", "no-store"},
          {"Content-Security-Policy", "frame-ancestors 'none'"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Content-Type-Options", "nosniff"}};
}

}  // namespace

struct Viewer::Impl {
  using Answer = absl::StatusOr<std::string>;

  Impl(const Store& s, const ViewerOptions& o) : store(s), options(o) {}

  absl::Status Listen() {
    XP_TRY(const std::string secret, Secret());
    // Without SO_REUSEPORT, which is the library's default: nobody else can take the port as well.
    server.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // Binds before anybody is told the port.
    const int port = options.port != 0
                         ? (server.bind_to_port(kAddress, options.port) ? options.port : -1)
                         : server.bind_to_any_port(kAddress);
    if (port <= 0)
      return IoError("{}:{}: cannot listen there. Another program does; choose another --port",
                     kAddress, options.port);
    const std::string root = "/" + secret + "/";
    url = fmt::format("http://{}:{}{}", kAddress, port, root);
    for (const char* name : {kAddress, "localhost"})
      hosts.push_back(fmt::format("{}:{}", name, port));
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server.set_default_headers(OwnHeaders());
    server.set_pre_routing_handler([this](const httplib::Request& request,
                                          httplib::Response& response) {
      if (IsOurs(request)) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content("xlaprof: open the address that `xlaprof view` printed\n", "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    });
    AddAnswers(root);
    thread = std::thread([this] { server.listen_after_bind(); });
    // Before that it could not be stopped.
    while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return absl::OkStatus();
  }

  // By the name that was printed, and from no other page.
  bool IsOurs(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) return false;
    return !request.has_header("Origin") || request.get_header_value("Origin") == "http://" + host;
  }

  void AddAnswers(const std::string& root) {
    server.Get(root, [](const httplib::Request&, httplib::Response& response) {
      const ViewPage page = Page();
      response.set_content(std::string(page.before_data).append(page.after_data),
                           "text/html; charset=utf-8");
    });
    Add(root + "run.json", "application/json", [this](const httplib::Request&) { return Run(); });
    Add(root + "slices", "application/octet-stream",
        [this](const httplib::Request& request) -> Answer {
          SlicesAsked asked;
          XP_TRY(asked.lanes, Lanes(request));
          XP_TRY(asked.from_ns, Number(request, "from_ns"));
          XP_TRY(asked.to_ns, Number(request, "to_ns"));
          XP_TRY(asked.resolution_ns, Number(request, "resolution_ns"));
          if (asked.resolution_ns < 0)
            return Invalid("resolution_ns={}: negative", asked.resolution_ns);
          return EncodeSlices(store, *lanes, asked);
        });
    Add(root + "event", "application/json", [this](const httplib::Request& request) -> Answer {
      XP_TRY(int64_t id, Number(request, "id"));
      return EventJson(store, *lanes, id);
    });
    Add(root + "range", "application/json", [this](const httplib::Request& request) -> Answer {
      XP_TRY(auto asked, Lanes(request));
      XP_TRY(int64_t from_ns, Number(request, "from_ns"));
      XP_TRY(int64_t to_ns, Number(request, "to_ns"));
      return RangeJson(store, *lanes, asked, from_ns, to_ns);
    });
    Add(root + "search", "application/json", [this](const httplib::Request& request) -> Answer {
      const std::string text = request.get_param_value("text");
      SearchAsked asked{.text = text,
                        .backwards = request.get_param_value("direction") == "previous"};
      XP_TRY(asked.ts_ns, Number(request, "ts_ns"));
      XP_TRY(asked.id, Number(request, "id"));
      return SearchJson(store, *lanes, asked);
    });
  }

  template <class Fn>
  void Add(const std::string& path, const char* type, Fn&& answer) {
    server.Get(path,
               [this, type, answer](const httplib::Request& request, httplib::Response& response) {
                 std::lock_guard lock(mutex);
                 Answer content = answer(request);
                 if (content.ok()) return response.set_content(*std::move(content), type);
                 response.status = absl::IsNotFound(content.status())          ? 404
                                   : absl::IsInvalidArgument(content.status()) ? 400
                                                                               : 500;
                 response.set_content(std::string(content.status().message()) + "\n",
                                      "text/plain; charset=utf-8");
               });
  }

  // Made once: the analyzers look at all.
  Answer Run() {
    if (run.empty()) {
      XP_TRY(Report report, MakeReport(store));
      XP_TRY(run, RunJson(store, *lanes, report, options.source_roots));
    }
    return run;
  }

  const Store& store;
  const ViewerOptions options;
  std::optional<ViewLanes> lanes;
  std::string url, run;
  std::vector<std::string> hosts;
  std::mutex mutex;  // one question at a time: a Store is for one thread
  httplib::Server server;
  std::thread thread;
};

absl::StatusOr<std::unique_ptr<Viewer>> Viewer::Start(const Store& store,
                                                      const ViewerOptions& options) {
  auto impl = std::make_unique<Impl>(store, options);
  XP_TRY(impl->lanes, ViewLanes::Make(store));
  XP_TRY(impl->Listen());
  return std::unique_ptr<Viewer>(new Viewer(std::move(impl)));
}

Viewer::Viewer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Viewer::~Viewer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

const std::string& Viewer::url() const { return impl_->url; }

}  // namespace xlaprof
