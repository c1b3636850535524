// Tests the viewer's server with requests of a browser and of others.
#include "serve/viewer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

class ViewerTest : public testing::Test {
 protected:
  ViewerTest() {
    EXPECT_TRUE(store_.Begin().ok());
    const int64_t track =
        *store_.Add(TrackRow{.kind = TrackKind::kHostThread, .name = "main", .sort = 0});
    EventWriter writer(store_);
    for (int64_t i = 0; i < 100; ++i)
      EXPECT_TRUE(
          writer.Add(track, {.ts_ns = i * 10, .dur_ns = 5, .name = *store_.Intern("work")}).ok());
    EXPECT_TRUE(writer.Flush().ok());
    EXPECT_TRUE(store_.Commit().ok());
    viewer_ = *Viewer::Start({});
    EXPECT_TRUE(viewer_->Show(store_).ok());
    const std::string& url = viewer_->url();
    const size_t path = url.find('/', 8);
    root_ = url.substr(path);
    host_ = url.substr(7, path - 7);
    client_ = std::make_unique<httplib::Client>(url.substr(0, path));
  }
  httplib::Result Get(const std::string& path, const httplib::Headers& headers = {}) {
    return client_->Get(path, headers);
  }

  int port() const { return std::stoi(host_.substr(host_.find(':') + 1)); }
  // Returns a socket that is connected to the viewer; the caller closes it.
  int Connected() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to{.sin_family = AF_INET,
                         .sin_port = htons(uint16_t(port())),
                         .sin_addr = {htonl(INADDR_LOOPBACK)},
                         .sin_zero = {}};
    EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return socket;
  }

  Store store_ = *Store::CreateTemporary();
  std::unique_ptr<Viewer> viewer_;
  std::string root_, host_;
  std::unique_ptr<httplib::Client> client_;
};

TEST_F(ViewerTest, AnswersBehindItsSecret) {
  EXPECT_THAT(viewer_->url(), MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]{32}/"));
  const auto page = Get(root_);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("<!doctype html>"));
  EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(page->get_header_value("Content-Security-Policy"), "frame-ancestors 'none'");
  const json run = json::parse(Get(root_ + "run.json")->body);
  EXPECT_EQ(run["lanes"][0]["events"], 100);
  const json findings = json::parse(Get(root_ + "findings.json")->body);
  EXPECT_EQ(findings["report"]["xlaprof"], run["xlaprof"]);
  EXPECT_EQ(findings["step_parts_ns"].size(), run["steps"]["ts_ns"].size());
  const auto slices = Get(root_ + "slices?lanes=1&from_ns=0&to_ns=1000&resolution_ns=0");
  EXPECT_EQ(slices->get_header_value("Content-Type"), "application/octet-stream");
  EXPECT_GT(slices->body.size(), 100u);
  EXPECT_EQ(json::parse(Get(root_ + "range?lanes=1&from_ns=0&to_ns=500")->body)["rows"][0]["count"],
            50);
  EXPECT_EQ(json::parse(Get(root_ + "search?text=wor&direction=next&ts_ns=0&id=0")->body)["count"],
            100);
  EXPECT_EQ(json::parse(Get(root_ + "event?id=3")->body)["name"], "work");
}

// Regression: someone who copied the address without its last character saw an empty page.
TEST_F(ViewerTest, AnAddressWithoutItsSlashLeadsToThePage) {
  const auto answer = Get(root_.substr(0, root_.size() - 1));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 302);
  EXPECT_EQ(answer->get_header_value("Location"), root_);
}

TEST_F(ViewerTest, TellsNobodyElseAnything) {
  for (const std::string path :
       {"/", "/00000000000000000000000000000000", "/run.json", "/favicon.ico",
        "/00000000000000000000000000000000/run.json", "/../../../../etc/passwd"}) {
    const auto answer = Get(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 404) << path;
  }
  EXPECT_EQ(Get(root_ + "..%2f..%2fetc/passwd")->status, 404);
  // Somebody else's DNS may map these names to this address; the origins are pages of others.
  for (const std::string host : {"evil.example", "evil.example:80", "127.0.0.1", ""})
    EXPECT_EQ(Get(root_ + "run.json", {{"Host", host}})->status, 403) << host;
  EXPECT_EQ(Get(root_ + "run.json", {{"Origin", "https://evil.example"}})->status, 403);
  EXPECT_EQ(Get(root_ + "run.json", {{"Origin", "null"}})->status, 403);
  EXPECT_EQ(Get(root_ + "run.json", {{"Origin", "http://" + host_}})->status, 200);
  EXPECT_NE(client_->Post(root_ + "run.json", "x", "text/plain")->status, 200);
}

TEST_F(ViewerTest, SaysWhatIsWrongWithAQuestion) {
  for (const std::string question :
       {"slices", "slices?lanes=x&from_ns=0&to_ns=1&resolution_ns=0",
        "slices?lanes=1&from_ns=0&to_ns=1&resolution_ns=-5",
        "slices?lanes=1&from_ns=99999999999999999999&to_ns=1&resolution_ns=0",
        "event?id=", "range?lanes=1,,2&from_ns=0&to_ns=1", "search?text=a&ts_ns=0"}) {
    const auto answer = Get(root_ + question);
    ASSERT_TRUE(answer) << question;
    EXPECT_EQ(answer->status, 400) << question;
    EXPECT_THAT(answer->body, HasSubstr("="));
  }
  EXPECT_EQ(Get(root_ + "event?id=12345")->status, 404);
}

TEST_F(ViewerTest, AnswersSeveralAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([this] {
      httplib::Client client("http://" + host_);
      for (int k = 0; k < 20; ++k) {
        const auto answer = client.Get(root_ + "range?lanes=1&from_ns=0&to_ns=1001");
        ASSERT_TRUE(answer);
        EXPECT_EQ(json::parse(answer->body)["rows"][0]["count"], 100);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Regression: twelve idle connections kept the next request waiting for 5 s, and eight slow ones for
// as long as they dripped.
TEST_F(ViewerTest, IdleAndSlowConnectionsKeepNobodyWaiting) {
  std::vector<int> sockets;
  for (int i = 0; i < 40; ++i) {
    const int socket = Connected();
    const std::string part =
        i % 2 == 0 ? "GET / HT" : "";  // a slow request, or a silent connection
    ASSERT_EQ(write(socket, part.data(), part.size()), ssize_t(part.size()));
    sockets.push_back(socket);
  }
  const auto answer = Get(root_ + "run.json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  // The server has not given up on the others yet, so the answer did not wait for that.
  EXPECT_TRUE(std::ranges::any_of(sockets, [](int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }));
  for (const int socket : sockets) close(socket);
}

TEST_F(ViewerTest, ARequestHasADeadline) {
  const int socket = Connected();
  // Drips one byte every half second, so that no single wait is long.
  const std::string_view request = "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  bool is_closed = false;
  for (const char c : request) {
    char answer;
    is_closed = send(socket, &c, 1, MSG_NOSIGNAL) != 1 ||
                recv(socket, &answer, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
    if (is_closed) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  EXPECT_TRUE(is_closed);
  close(socket);
}

TEST_F(ViewerTest, QuestionsWaitUntilARunIsShown) {
  auto viewer = *Viewer::Start({});
  const size_t path = viewer->url().find('/', 8);
  const std::string origin = viewer->url().substr(0, path), root = viewer->url().substr(path);
  auto asked = [&](const std::string& question) {
    return std::async(std::launch::async, [=] { return httplib::Client(origin).Get(question); });
  };
  std::future<httplib::Result> run = asked(root + "run.json");
  EXPECT_THAT(asked(root).get()->body, HasSubstr("<!doctype html>"));
  EXPECT_TRUE(viewer->Show(store_).ok());
  EXPECT_EQ(json::parse(run.get()->body)["lanes"][0]["events"], 100);
  // No run is ever shown here: a request that waits gets an answer when the viewer ends.
  viewer = *Viewer::Start({});
  viewer.reset();
}

TEST_F(ViewerTest, APortThatIsTakenIsSaid) {
  const auto second = Viewer::Start({.port = port()});
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("choose another port"));
}

}  // namespace
}  // namespace xlaprof
