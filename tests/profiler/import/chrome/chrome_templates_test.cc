// Events that are read by comparing them with earlier ones come out as if each were the first.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "profiler/import/chrome/chrome_event.h"

namespace xlaprof {
namespace {

using json::Value;

// Appends the kind, flags and raw text of `value`. A value that is absent must keep no text of an
// earlier event, because readers compare it.
void Append(const Value& value, std::string* out) {
  if (value.kind() != json::Kind::kNone || !value.raw().empty())
    *out += fmt::format("{}{}{}:{}", int(value.kind()), value.escaped() ? "e" : "",
                        value.control() ? "c" : "", value.raw());
  *out += ';';
}

// Returns everything that a reader reported, as text.
std::string Told(bool whole, const ChromeEvent& event, size_t offset) {
  std::string out =
      fmt::format("{} to {} {}{}{}{} ", whole, offset, int(event.phase), event.flow_in ? "i" : "",
                  event.flow_out ? "o" : "", event.bad_args ? "b" : "");
  if (!whole) return out.substr(0, 1);
  for (const Value* value : {&event.name, &event.cat, &event.pid, &event.tid, &event.id,
                             &event.id_local, &event.id_global, &event.bind_id, &event.bind_point})
    Append(*value, &out);
  for (const ChromeTime& time : {event.ts, event.dur})
    out += fmt::format("{}{}{}+{};", time.given, time.valid, time.ns, time.ps);
  for (const ChromeArgs::Arg& arg : event.args) {
    Append(arg.key, &out);
    Append(arg.value, &out);
  }
  return out;
}

// Reads each event of `text` with one reader for all of them and with a new reader per event; both
// must report the same.
void ExpectTheSame(const std::vector<std::string>& events) {
  std::string text;
  std::vector<size_t> begins;
  for (const std::string& event : events) {
    begins.push_back(text.size());
    text += event + ",\n";
  }
  text += std::string(200, ' ');  // so that the last events are not read differently
  ChromeEventReader reader;
  std::vector<ChromeArgs::Arg> room(2 * ChromeArgs::kMax);
  ChromeEvent shared(room.data());
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < events.size(); ++i) {
      json::Scanner in(text), fresh_in(text);
      in.MoveTo(begins[i]);
      fresh_in.MoveTo(begins[i]);
      ChromeEvent alone(room.data() + ChromeArgs::kMax);
      const bool whole = reader.Read(in, &shared);
      const bool fresh_whole = ChromeEventReader().Read(fresh_in, &alone);
      ASSERT_EQ(Told(whole, shared, in.offset()), Told(fresh_whole, alone, fresh_in.offset()))
          << events[i];
    }
  }
}

TEST(ChromeTemplates, EverySortOfValue) {
  const std::string long_name(300, 'k');
  ExpectTheSame({
      R"({"ph":"X","pid":1,"tid":2,"ts":1.5,"dur":2,"name":"a","args":{"x":1,"y":"z"}})",
      R"({"ph":"X","pid":1,"tid":2,"ts":"1.5","dur":2e3,"name":"a","args":{"x":"1","y":2}})",
      R"({"ph":"X","pid":1,"tid":2,"ts":-1.5,"dur":20000000000000000000000,"name":"b","args":{"x":null}})",
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"dur":.5,"name":"b\"c","args":{"x":[1,{"y":2}],"y":true}})",
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"dur":NaN,"name":")" + long_name + R"(","args":{}})",
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"dur":7/2,"name":"a"})",
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"dur":7 , "name":"a"})",
      R"({"ph":"s","pid":1,"tid":2,"ts":1,"id":7,"bp":"e","flow_in":true,"flow_out":false})",
      R"({"ph":"b","pid":1,"tid":2,"ts":1,"id2":{"local":"0x1"},"name":"a"})",
      R"({"ph":"XY","pid":1,"tid":2,"ts":1,"args":7,"name":"a"})",
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"args":null,"name":"a","extra":5})",
      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"name\":\"a\tb\"}",
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"na\u006de":"a","args":{"k\n":1}})",
      R"({})",
      R"({"ph":"X","pid":1,})",
      R"({"ph":"X","pid":1,"tid":})",
      R"({"ph":"X" "pid":1})",
      R"({"ph":"X","args":{"a":1,},"pid":1})",
      R"({"args":{"a":1},"ph":"X","name":"n"})",
  });
}

// Members come in any order, with spaces anywhere and values of any kind, in more ways than the
// reader remembers.
TEST(ChromeTemplates, ManyWays) {
  std::mt19937 random(7);
  auto pick = [&](auto... options) {
    const std::string all[] = {options...};
    return all[random() % sizeof...(options)];
  };
  std::vector<std::string> events;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::string> members;
    for (const char* key :
         {"ph", "pid", "tid", "ts", "dur", "name", "cat", "id", "args", "other"}) {
      if (random() % 8 == 0) continue;
      std::string value =
          pick("1", "12.345", "\"text\"", "\"\"", "true", "[1,2]", "-3", "\"a\\\\b\"");
      if (std::string(key) == "args")
        value = fmt::format("{{{}\"k{}\":{}{}}}", pick("", " "), random() % 12,
                            pick("1", "\"v\"", "null"), pick("", ",\"z\":2"));
      members.push_back(fmt::format("\"{}\":{}{}", key, pick("", "", " "), value));
    }
    std::shuffle(members.begin(), members.begin() + long(random() % 3 * members.size() / 2),
                 random);
    std::string event = "{";
    for (size_t m = 0; m < members.size(); ++m)
      event += (m == 0 ? "" : pick(",", ",", ", ", ",\n  ")) + members[m];
    events.push_back(event + "}");
  }
  ExpectTheSame(events);
}

// Regression: when a value after many spaces ended at the last byte of a file of whole pages, the
// reader read eight bytes.
TEST(ChromeTemplates, NothingIsReadBehindTheText) {
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  void* mapped =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  char* const end = static_cast<char*>(mapped) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  std::vector<ChromeArgs::Arg> room(ChromeArgs::kMax);
  ChromeEvent event(room.data());
  const std::string spaces(200, ' ');
  for (const std::string& member : {std::string("\"cat\""), std::string("\"pid\""),
                                    std::string("\"ts\""), std::string("\"other\"")}) {
    for (const char* first : {"null", "1", "\"c\"", "12345678901234567890"}) {
      for (const char* last : {"1", "12345678", "nul", "null}", "\"", "\"c", "\"c\"", "[]"}) {
        const std::string begin = "{" + member + ":";
        const std::string text = begin + first + "}" + begin + first + "}" + begin + spaces + last;
        char* const at = end - text.size();
        std::copy(text.begin(), text.end(), at);
        ChromeEventReader reader(/*numbers_texts=*/true);
        json::Scanner in({at, text.size()});
        while (!in.at_end() && reader.Read(in, &event)) continue;
      }
    }
  }
  munmap(mapped, 2 * page);
}

}  // namespace
}  // namespace xlaprof
