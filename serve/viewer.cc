#include "serve/viewer.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "analyzers/report/report.h"
#include "base/numbers.h"
#include "exporters/view/event.h"
#include "exporters/view/findings.h"
#include "exporters/view/page.h"
#include "exporters/view/run.h"
#include "exporters/view/search.h"
#include "exporters/view/slices.h"
#include "exporters/view/totals.h"
#include "serve/local_server.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxLanes = 100'000;

absl::StatusOr<int64_t> Number(std::string_view name, std::string_view text) {
  const std::optional<int64_t> value = ParseInteger(text);
  if (!value) return Invalid("{}={}: not a whole number", name, text.substr(0, 40));
  return *value;
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

// Sends the content in pieces, because the library would compress a whole body, at its slowest
// level.
void Send(std::string content, const char* type, httplib::Response& response) {
  const auto kept = std::make_shared<const std::string>(std::move(content));
  response.set_content_provider(kept->size(), type,
                                [kept](size_t offset, size_t length, httplib::DataSink& sink) {
                                  return sink.write(kept->data() + offset, length);
                                });
}

}  // namespace

struct Viewer::Impl {
  using Answer = absl::StatusOr<std::string>;

  explicit Impl(const ViewerOptions& o) : options(o) {}
  ~Impl() {
    std::lock_guard lock(mutex);
    is_ending = true;
    changed.notify_all();
  }

  absl::Status Listen() {
    XP_TRY(local, LocalServer::Bind({.port = options.port}));
    url = local->origin() + local->secret_path();
    // These headers keep other sites from framing or reading the page.
    local->server().set_default_headers({{"Content-Security-Policy", "frame-ancestors 'none'"},
                                         {"Cross-Origin-Opener-Policy", "same-origin"},
                                         {"Cross-Origin-Resource-Policy", "same-origin"},
                                         {"Referrer-Policy", "no-referrer"}});
    AddAnswers(local->secret_path());
    local->Start();
    return absl::OkStatus();
  }

  void AddAnswers(const std::string& root) {
    local->server().Get(root, [](const httplib::Request&, httplib::Response& response) {
      const ViewPage page = Page();
      Send(std::string(page.before_data).append(page.after_data), "text/html; charset=utf-8",
           response);
    });
    // Redirects an address that was copied without its final slash.
    local->server().Get(root.substr(0, root.size() - 1),
                        [root](const httplib::Request&, httplib::Response& response) {
                          response.set_redirect(root);
                        });
    Add(root + "run.json", "application/json",
        [this](const httplib::Request&) { return RunJson(*run, *lanes); });
    Add(root + "findings.json", "application/json",
        [this](const httplib::Request&) { return Findings(); });
    Add(root + "slices", "application/octet-stream",
        [this](const httplib::Request& request) -> Answer {
          SlicesAsked asked;
          XP_TRY(asked.lanes, Lanes(request));
          XP_TRY(asked.from_ns, Number(request, "from_ns"));
          XP_TRY(asked.to_ns, Number(request, "to_ns"));
          XP_TRY(asked.resolution_ns, Number(request, "resolution_ns"));
          if (asked.resolution_ns < 0)
            return Invalid("resolution_ns={}: must not be negative", asked.resolution_ns);
          return EncodeSlices(run->store(), *lanes, asked);
        });
    Add(root + "event", "application/json", [this](const httplib::Request& request) -> Answer {
      XP_TRY(int64_t id, Number(request, "id"));
      return EventJson(run->store(), *lanes, id);
    });
    Add(root + "range", "application/json", [this](const httplib::Request& request) -> Answer {
      std::vector<int64_t> asked;
      if (request.has_param("lanes")) {
        XP_TRY(asked, Lanes(request));
      } else {
        for (const ViewLane& lane : lanes->lanes()) asked.push_back(lane.id);
      }
      XP_TRY(int64_t from_ns, Number(request, "from_ns"));
      XP_TRY(int64_t to_ns, Number(request, "to_ns"));
      return RangeJson(run->store(), *lanes, asked, from_ns, to_ns);
    });
    Add(root + "search", "application/json", [this](const httplib::Request& request) -> Answer {
      const std::string text = request.get_param_value("text");
      SearchAsked asked{.text = text,
                        .backwards = request.get_param_value("direction") == "previous"};
      XP_TRY(asked.ts_ns, Number(request, "ts_ns"));
      XP_TRY(asked.id, Number(request, "id"));
      return SearchJson(run->store(), *lanes, asked);
    });
  }

  template <class Fn>
  void Add(const std::string& path, const char* type, Fn&& answer) {
    local->server().Get(path, [this, type, answer](const httplib::Request& request,
                                                   httplib::Response& response) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return lanes || is_ending; });
      Answer content = lanes ? answer(request) : absl::UnavailableError("xlaprof view is ending");
      if (content.ok()) return Send(*std::move(content), type, response);
      response.status = absl::IsNotFound(content.status())          ? 404
                        : absl::IsInvalidArgument(content.status()) ? 400
                                                                    : 500;
      Send(std::string(content.status().message()) + "\n", "text/plain; charset=utf-8", response);
    });
  }

  // Makes the findings once, because the analyzers look at the whole run.
  Answer Findings() {
    if (findings.empty()) {
      XP_TRY(Report report, MakeReport(*run));
      XP_TRY(findings, FindingsJson(*run, *lanes, report, options.source_roots));
    }
    return findings;
  }

  const ViewerOptions options;
  std::optional<Run> run;          // the run that is shown, after Show
  std::optional<ViewLanes> lanes;  // its lanes, after Show
  std::string url, findings;
  std::mutex mutex;                 // one request at a time, because a Store is for one thread
  std::condition_variable changed;  // signals a change of lanes or is_ending
  bool is_ending = false;
  std::unique_ptr<LocalServer> local;  // last, because its threads use the other members
};

absl::StatusOr<std::unique_ptr<Viewer>> Viewer::Start(const ViewerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  XP_TRY(impl->Listen());
  return std::unique_ptr<Viewer>(new Viewer(std::move(impl)));
}

Viewer::Viewer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Viewer::~Viewer() = default;

const std::string& Viewer::url() const { return impl_->url; }

absl::Status Viewer::Show(const Store& store) {
  XP_TRY(ViewLanes lanes, ViewLanes::Make(store));
  std::lock_guard lock(impl_->mutex);
  impl_->run.emplace(store);
  XP_TRY(LetReadSources(impl_->options.source_roots, *impl_->run));
  impl_->lanes = std::move(lanes);
  impl_->changed.notify_all();
  return absl::OkStatus();
}

}  // namespace xlaprof
