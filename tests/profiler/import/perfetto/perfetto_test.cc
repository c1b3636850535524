// Tests the importer of Perfetto's traces with packets that are built field by field.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <bit>

#include "tests/profiler/import/import_text.h"
#include "tests/profiler/import/xspace_builder.h"

namespace xlaprof {
extern const Importer perfetto;
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEvents =
    "SELECT t.name, e.name, e.ts_ns, e.dur_ns, e.depth FROM event e JOIN track t ON t.id = "
    "e.track_id ORDER BY t.sort, e.ts_ns, e.depth, e.name";
constexpr const char* kIssues =
    "SELECT code, count FROM import_issue WHERE severity != 'info' ORDER BY code";
constexpr const char* kInfos =
    "SELECT code, count FROM import_issue WHERE severity = 'info' ORDER BY code";
constexpr const char* kArgs = "SELECT key, value FROM arg ORDER BY key";
constexpr const char* kFlows =
    "SELECT o.name, i.name FROM flow f JOIN event o ON o.id = f.from_event_id JOIN event i ON i.id "
    "= f.to_event_id ORDER BY o.ts_ns, i.ts_ns";

enum : int64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
constexpr int64_t kThread = 7, kProcess = 5;

// The packets of a trace.
class Trace {
 public:
  Trace() { Packet(Wire().Int(10, 1).Int(13, 1)); }  // sequence 1 clears its state

  Trace& Packet(const Wire& packet) {
    bytes_.Text(1, packet.str());
    return *this;
  }
  Trace& Process(int64_t uuid, int64_t pid, std::string_view name) {
    return Descriptor(Wire().Int(1, uuid).Text(3, Wire().Int(1, pid).Text(6, name).str()));
  }
  Trace& Thread(int64_t uuid, int64_t pid, int64_t tid, std::string_view name) {
    return Descriptor(
        Wire().Int(1, uuid).Text(4, Wire().Int(1, pid).Int(2, tid).Text(5, name).str()));
  }
  Trace& Descriptor(const Wire& descriptor) {
    return Packet(Wire().Int(10, 1).Text(60, descriptor.str()));
  }
  Trace& Snapshot(const std::vector<std::pair<int64_t, int64_t>>& clocks, int64_t sequence = 1) {
    Wire snapshot;
    for (auto [id, ns] : clocks) snapshot.Text(1, Wire().Int(1, id).Int(2, ns).str());
    return Packet(Wire().Int(10, sequence).Text(6, snapshot.str()));
  }
  // Adds an event of a sequence. `fields` are those of the TrackEvent beside type and track.
  Trace& Event(int64_t type, int64_t track, int64_t ts, const Wire& fields = Wire(),
               const Wire& packet = Wire().Int(10, 1)) {
    return Packet(
        Wire(packet).Int(8, ts).Text(11, Wire().Int(9, type).Int(11, track).str() + fields.str()));
  }
  Trace& Slice(int64_t track, std::string_view name, int64_t ts, int64_t dur,
               const Wire& fields = Wire()) {
    Event(kBegin, track, ts, Wire(fields).Text(23, name));
    return Event(kEnd, track, ts + dur);
  }
  Trace& Interned(uint32_t kind, int64_t iid, std::string_view text, int64_t sequence = 1) {
    return Packet(Wire()
                      .Int(10, sequence)
                      .Int(13, 2)
                      .Text(12, Wire().Text(kind, Wire().Int(1, iid).Text(2, text).str()).str()));
  }
  // One thread of one process.
  Trace& Usual() { return Process(kProcess, 100, "train.py").Thread(kThread, 100, 101, "main"); }

  const std::string& bytes() const { return bytes_.str(); }
  ImportedText Read() const { return ImportText(perfetto, bytes()); }

 private:
  Wire bytes_;
};

Wire Fixed(uint32_t field, uint64_t value) {
  return Wire().Real(field, std::bit_cast<double>(value));
}

std::string Deflated(std::string_view bytes) {
  std::string out(compressBound(bytes.size()), '\0');
  uLongf size = out.size();
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  out.resize(size);
  return out;
}

TEST(Perfetto, SniffsByItsBytes) {
  const std::string bytes = Trace().Usual().Slice(kThread, "f", 10, 5).bytes();
  EXPECT_GT(perfetto.sniff(bytes), 90);
  EXPECT_GT(perfetto.sniff(bytes.substr(0, bytes.size() - 3)), 90);
  EXPECT_EQ(perfetto.sniff(""), 0);
  EXPECT_EQ(perfetto.sniff("Metric: CompileTime"), 0);
  EXPECT_EQ(perfetto.sniff(XSpaceOf({Plane("/host:CPU").Line(1, "main").Event("f", 1, 2)})), 0);
  EXPECT_EQ(xspace.sniff(bytes), 0);
}

TEST(Perfetto, ReadsSlicesInstantsAndTypedArguments) {
  Wire arguments;
  auto argument = [&](const Wire& value) { arguments.Text(4, value.str()); };
  argument(Wire().Text(10, "int").Int(4, -3));
  argument(Wire().Text(10, "uint").Int(3, 7));
  argument(Wire().Text(10, "bool").Int(2, 1));
  argument(Wire().Text(10, "real").Real(5, 1.5));
  argument(Wire().Text(10, "text").Text(6, "a\"b"));
  argument(Wire().Text(10, "json").Text(9, "{\"a\":1}"));
  argument(Wire().Text(10, "pointer").Int(7, 255));
  argument(Wire()
               .Text(10, "dict")
               .Text(11, Wire().Text(10, "x").Int(4, 1).str())
               .Text(11, Wire().Text(10, "y").Text(12, Wire().Int(4, 2).str()).str()));
  argument(Wire()
               .Text(10, "nested")
               .Text(8, Wire().Int(1, 1).Text(2, "k").Text(3, Wire().Int(5, 9).str()).str()));
  auto in = Trace()
                .Usual()
                .Event(kBegin, kThread, 10, Wire().Text(23, "outer"))
                .Event(kBegin, kThread, 12, Wire().Text(23, "inner"))
                .Event(kInstant, kThread, 13, Wire(arguments).Text(23, "now"))
                .Event(kEnd, kThread, 15)
                .Event(kEnd, kThread, 20)
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kEvents),
              ElementsAre("main|outer|10|10|0", "main|inner|12|3|1", "main|now|13|0|2"));
  EXPECT_THAT(in.Rows("SELECT pid, name FROM process"), ElementsAre("100|train.py"));
  EXPECT_THAT(in.Rows("SELECT kind, tid FROM track"), ElementsAre("host_thread|101"));
  EXPECT_THAT(in.Rows(kArgs),
              ElementsAre("bool|true", "dict|{\"x\":1,\"y\":[2]}", "int|-3", "json|{\"a\":1}",
                          "nested|{\"k\":9}", "pointer|0xff", "real|1.5", "text|a\"b", "uint|7"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(Perfetto, ReadsInternedTextsOfEachSequence) {
  const Wire other = Wire().Int(10, 2).Int(13, 2);
  auto in = Trace()
                .Usual()
                .Packet(Wire().Int(10, 2).Int(13, 1))
                .Interned(2, 1, "first")
                .Interned(1, 1, "execute")
                .Interned(3, 1, "key")
                .Interned(29, 1, "value")
                .Interned(2, 1, "second", 2)
                .Event(kInstant, kThread, 10,
                       Wire().Int(10, 1).Int(3, 1).Text(4, Wire().Int(1, 1).Int(17, 1).str()))
                .Event(kInstant, kThread, 11, Wire().Int(10, 1), other)
                .Event(kInstant, kThread, 12, Wire().Int(10, 5), other)
                .Packet(Wire().Int(10, 1).Int(13, 1))
                .Event(kInstant, kThread, 13, Wire().Int(10, 1))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name, category FROM event ORDER BY ts_ns"),
              ElementsAre("first|execute", "second|host", "|host", "|host"));
  EXPECT_THAT(in.Rows(kArgs), ElementsAre("key|value"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("missing_text|2"));
}

TEST(Perfetto, LeavesOutEventsWhoseStateWasLost) {
  const Wire needs = Wire().Int(10, 1).Int(13, 2);
  auto in = Trace()
                .Usual()
                .Event(kInstant, kThread, 10, Wire().Text(23, "kept"), needs)
                .Packet(Wire().Int(10, 1).Int(42, 1))
                .Event(kInstant, kThread, 11, Wire().Text(23, "lost"), needs)
                .Event(kInstant, kThread, 12, Wire().Text(23, "alone"))
                .Packet(Wire().Int(10, 1).Int(13, 1))
                .Event(kInstant, kThread, 13, Wire().Text(23, "again"), needs)
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name FROM event ORDER BY ts_ns"),
              ElementsAre("kept", "alone", "again"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("event_without_state|1", "lost_packets|1"));
}

TEST(Perfetto, ReadsCounters) {
  auto counter = [](int64_t uuid, std::string_view name, const Wire& more) {
    return Wire().Int(1, uuid).Int(5, kProcess).Text(2, name).Text(8, more.str());
  };
  auto in = Trace()
                .Usual()
                .Descriptor(counter(20, "memory", Wire().Int(3, 3)))
                .Descriptor(counter(21, "sum", Wire().Int(5, 1).Int(4, 10)))
                .Descriptor(counter(22, "extra", Wire()))
                .Event(kCounter, 20, 10, Wire().Int(30, 1000))
                .Event(kCounter, 20, 11, Wire().Real(44, 0.5))
                .Event(kCounter, 21, 10, Wire().Int(30, 1))
                .Event(kCounter, 21, 12, Wire().Int(30, 2))
                .Slice(kThread, "f", 13, 1, Wire().Int(31, 22).Int(12, 4))
                .Event(kCounter, 99, 14, Wire().Int(30, 1))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT t.name, s.ts_ns, s.value FROM counter_sample s JOIN track t ON t.id "
                      "= s.track_id ORDER BY t.name, s.ts_ns"),
              ElementsAre("extra|13|4.0", "memory (bytes)|10|1000.0", "memory (bytes)|11|0.5",
                          "sum|10|10.0", "sum|12|30.0"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("sample_without_counter|1"));
}

TEST(Perfetto, ConvertsTheClocks) {
  constexpr int64_t kUnix = 1'700'000'000'000'000'000;
  const Wire monotonic = Wire().Int(10, 1).Int(58, 3);
  auto in =
      Trace()
          .Usual()
          .Event(kInstant, kThread, 4'000'000, Wire().Text(23, "boottime"))
          .Event(kInstant, kThread, 3'000'100, Wire().Text(23, "monotonic"), monotonic)
          // The snapshots come after the events that need them.
          .Snapshot({{6, 4'000'000}, {3, 3'000'000}, {1, kUnix}})
          .Snapshot({{6, 5'000'500}, {3, 4'000'000}})
          .Event(kInstant, kThread, 4'000'010, Wire().Text(23, "later"), monotonic)
          .Event(kInstant, kThread, 1, Wire().Text(23, "unknown"), Wire().Int(10, 1).Int(58, 200))
          .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name, ts_ns FROM event ORDER BY ts_ns"),
              ElementsAre("boottime|0", "monotonic|100", "later|1000510"));
  EXPECT_THAT(in.Rows("SELECT value FROM meta WHERE key = 'base_epoch_ns'"),
              ElementsAre(fmt::to_string(kUnix)));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("unknown_clock|1"));
}

TEST(Perfetto, CountsTimesFromThePacketBefore) {
  Wire snapshot = Wire()
                      .Text(1, Wire().Int(1, 6).Int(2, 1'000'000).str())
                      .Text(1, Wire().Int(1, 64).Int(2, 1'000).Int(3, 1).Int(4, 1'000).str());
  const Wire defaults = Wire().Int(58, 64).Text(11, Wire().Int(11, kThread).str());
  auto event = [](std::string_view name, int64_t delta) {
    return Wire().Int(10, 1).Int(8, delta).Text(11, Wire().Int(9, kInstant).Text(23, name).str());
  };
  auto in =
      Trace()
          .Usual()
          .Packet(Wire().Int(10, 1).Int(13, 1).Text(6, snapshot.str()).Text(59, defaults.str()))
          .Packet(event("a", 5))
          .Packet(Wire().Int(10, 1).Int(8, 2))  // a packet without an event counts as well
          .Packet(event("b", 3))
          .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("main|a|1005000|0|0", "main|b|1010000|0|0"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(Perfetto, TakesTheClockOfTheEventsIfNoSnapshotHasAnother) {
  auto in = Trace()
                .Usual()
                .Event(kInstant, kThread, 10, Wire().Text(23, "f"), Wire().Int(10, 1).Int(58, 3))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("main|f|10|0|0"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(Perfetto, MatchesEndsAndKeepsWhatIsOpen) {
  auto in = Trace()
                .Usual()
                .Event(kEnd, kThread, 5)
                .Event(kBegin, kThread, 10, Wire().Text(23, "a"))
                .Event(kBegin, kThread, 11, Wire().Text(23, "b"))
                .Event(kEnd, kThread, 12, Wire().Text(23, "a"))
                .Event(kBegin, kThread, 13, Wire().Text(23, "open"))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name, ts_ns, dur_ns FROM event ORDER BY ts_ns"),
              ElementsAre("a|10|2", "b|11|-", "open|13|-"));
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("end_without_begin|1"));
  EXPECT_THAT(in.Rows(kInfos), ElementsAre("never_ended|2"));
}

// An operation that begins on one thread and ends on another: the packets of both sequences are in
// the file one after the other.
TEST(Perfetto, OrdersATrackOfSeveralSequences) {
  const Wire second = Wire().Int(10, 2);
  auto in = Trace()
                .Usual()
                .Descriptor(Wire().Int(1, 30).Int(5, kProcess).Text(2, "request"))
                .Event(kEnd, 30, 20, Wire().Text(4, Wire().Text(10, "end").Int(4, 1).str()), second)
                .Event(kEnd, 30, 40, Wire(), second)
                .Event(kBegin, 30, 10, Wire().Text(23, "first"))
                .Event(kBegin, 30, 30, Wire().Text(23, "second"))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT t.kind, t.name, e.name, e.ts_ns, e.dur_ns FROM event e JOIN track t "
                      "ON t.id = e.track_id ORDER BY e.ts_ns"),
              ElementsAre("async|request|first|10|10", "async|request|second|30|10"));
  EXPECT_THAT(in.Rows(kArgs), ElementsAre("end|1"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(Perfetto, ConnectsFlowsInTheOrderOfTime) {
  auto flow = [](std::string_view name, const std::string& flows) {
    Wire event = Wire().Text(23, name);
    return event.str() + flows;
  };
  auto add = [&](Trace& trace, std::string_view name, int64_t ts, const std::string& flows) {
    trace.Packet(Wire().Int(10, 1).Int(8, ts).Text(
        11, Wire().Int(9, kInstant).Int(11, kThread).str() + flow(name, flows)));
  };
  Trace trace;
  trace.Usual();
  // The packets are not in the order of time.
  add(trace, "end", 30, Fixed(48, 1).str());
  add(trace, "again", 40, Fixed(47, 1).str());
  add(trace, "begin", 10, Fixed(47, 1).str() + Fixed(47, 2).str());
  add(trace, "step", 20, Fixed(47, 1).str());
  add(trace, "other", 25, Fixed(48, 2).str());
  auto in = trace.Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kFlows), ElementsAre("begin|step", "begin|other", "step|end"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

TEST(Perfetto, ReadsCompressedPackets) {
  const std::string inner =
      Wire()
          .Text(1, Wire()
                       .Int(10, 1)
                       .Int(8, 10)
                       .Text(11, Wire().Int(9, kInstant).Int(11, kThread).Text(23, "f").str())
                       .str())
          .str();
  const std::string packed = Deflated(inner);
  auto in = Trace().Usual().Packet(Wire().Text(50, packed)).Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("main|f|10|0|0"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());

  in = Trace()
           .Usual()
           .Packet(Wire().Text(50, packed.substr(0, packed.size() / 2)))
           .Packet(Wire().Text(50, Deflated(Wire().Text(1, Wire().Text(50, packed).str()).str())))
           .Slice(kThread, "g", 20, 1)
           .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name FROM event WHERE name = 'g'"), ElementsAre("g"));
  EXPECT_THAT(in.Rows(kIssues), Contains("damaged_coding|1"));
}

TEST(Perfetto, ReadsChromesPhases) {
  const std::string thread = Wire().Int(1, 100).Int(2, 101).Text(5, "main").Int(6, 1000).str();
  auto legacy = [](char phase, const Wire& more, int64_t delta_us) {
    return Wire().Int(10, 1).Text(11, Wire()
                                          .Int(1, delta_us)
                                          .Text(6, Wire(more).Int(2, phase).str())
                                          .Text(23, std::string(1, phase))
                                          .str());
  };
  auto in = Trace()
                .Packet(Wire().Int(10, 1).Int(13, 1).Text(44, thread))
                .Packet(legacy('X', Wire().Int(3, 4), 5))
                .Packet(legacy('B', Wire(), 10))
                .Packet(legacy('E', Wire(), 2).Int(99, 0))
                .Packet(legacy('i', Wire(), 1))
                .Packet(legacy('b', Wire().Int(6, 1), 1))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT t.name, e.name, e.ts_ns, e.dur_ns FROM event e JOIN track t ON t.id "
                      "= e.track_id ORDER BY e.ts_ns"),
              ElementsAre("main|X|1005000|4000", "main|B|1015000|-", "main|i|1018000|0"));
  EXPECT_THAT(in.Rows(kInfos), Contains("phase_not_read|1"));
}

TEST(Perfetto, CountsWhatItDoesNotRead) {
  auto in = Trace()
                .Usual()
                .Slice(kThread, "f", 1, 1)
                .Packet(Wire().Text(1, "ftrace"))
                .Packet(Wire().Text(1, "ftrace"))
                .Packet(Wire().Text(66, "perf"))
                .Packet(Wire().Text(33, "config"))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT code, count, advice FROM import_issue"),
              ElementsAre(HasSubstr("packets_not_read|3|")));
}

TEST(Perfetto, ReadsUpToTheEndOfACutOrDamagedFile) {
  const std::string bytes = Trace().Usual().Slice(kThread, "f", 1, 1).bytes();
  for (size_t size = 12; size < bytes.size(); ++size) {
    auto in = ImportText(perfetto, std::string_view(bytes).substr(0, size));
    ASSERT_TRUE(in.status.ok()) << size << in.status;
  }
  auto in = ImportText(perfetto, bytes + "\x0a\x7f");
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("cut_file|1"));
  in = ImportText(perfetto, bytes + "\x0f\x0f\x0f");
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("damaged_file|1"));
  in = ImportText(perfetto, bytes + Wire().Text(1, "\x5a\x7f").str());
  EXPECT_THAT(in.Rows(kIssues), ElementsAre("damaged_packet|1"));
  EXPECT_FALSE(ImportText(perfetto, "nothing").status.ok());
}

TEST(Perfetto, BoundsWhatHostileFilesCost) {
  // Values inside values, and tracks that are their own ancestors.
  std::string nested = Wire().Int(4, 1).str();
  for (int i = 0; i < 5000; ++i) nested = Wire().Text(12, nested).str();
  Trace trace;
  trace.Descriptor(Wire().Int(1, 40).Int(5, 41).Text(2, "a"));
  trace.Descriptor(Wire().Int(1, 41).Int(5, 40).Text(2, "b"));
  trace.Event(kInstant, 40, 1, Wire().Text(23, "f").Text(4, Wire().Text(10, "k").str() + nested));
  for (int i = 0; i < 10'000; ++i) trace.Event(kBegin, 41, 2 + i, Wire().Text(23, "deep"));
  for (int i = 0; i < 10'001; ++i) trace.Event(kEnd, 41, 20'000 + i);
  auto in = trace.Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT count(*), count(dur_ns) FROM event WHERE name = 'deep'"),
              ElementsAre("10000|4096"));
  EXPECT_THAT(in.Rows(kIssues),
              ElementsAre("deep_argument|1", "deep_nesting|5904", "end_without_begin|1"));
}

TEST(Perfetto, FindsStepsByTheNamesOfPyTorchsProfiler) {
  auto in = Trace()
                .Usual()
                .Slice(kThread, "ProfilerStep#3", 10, 5, Wire().Text(22, "user_annotation"))
                .Slice(kThread, "ProfilerStep#4", 20, 5, Wire().Text(22, "user_annotation"))
                .Read();
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name, ts_ns, dur_ns FROM step ORDER BY ts_ns"),
              ElementsAre("ProfilerStep#3|10|5", "ProfilerStep#4|20|5"));
  EXPECT_THAT(in.Rows("SELECT DISTINCT category FROM event"), ElementsAre("step"));
}

}  // namespace
}  // namespace xlaprof
