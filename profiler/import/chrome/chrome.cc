// Reads Chrome JSON: the Trace Event Format of chrome://tracing, Perfetto and hundreds of tools.
// Two of its dialects matter here: PyTorch's profiler (Kineto) and XProf's HOST.trace.json.gz.
//
// A file is an object with the array `traceEvents` among other members, in any order, or the bare
// array. Times are microseconds as decimal text. They count from 1970, or from
// `baseTimeNanoseconds`, which may come after the events, or from an unknown time. A broken part is
// skipped up to the next event and counted, and the rest is read: a profiler that was killed leaves
// no `]}`.
#include <algorithm>

#include "base/work_queue.h"
#include "profiler/import/chrome/chrome_rows.h"
#include "profiler/import/chrome/chrome_span.h"
#include "profiler/import/importer.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

using json::Kind;
using json::Scanner;
using json::Value;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// The number of bytes at each end of the file that are examined before the events are read.
constexpr size_t kEndBytes = size_t(64) << 10;
// After broken JSON, the next event is searched for in this many bytes at a time. The file may be
// hostile, so all searches together read at most a few times its length.
constexpr size_t kProbeBytes = size_t(1) << 20;
// After many events without an end, no further event may be longer than this.
constexpr size_t kTightBytes = size_t(4) << 10;
// A shorter file is read before a thread would have started.
constexpr size_t kWorthThread = size_t(1) << 20;
constexpr size_t kBatches = 32, kBatchEvents = 256;
constexpr size_t kBatchArgs = ChromeArgs::kMax + 2 * kBatchEvents;
constexpr size_t kProgressBytes = size_t(1) << 20;

int SniffChrome(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  Scanner in(head);
  const char first = in.Next();
  if (first != '{' && first != '[') return 0;
  auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
  if (first == '{' && has("\"traceEvents\"")) return 95;
  // The array may begin after long lists of devices.
  if (first == '{' && has("\"schemaVersion\"") && has("\"deviceProperties\"")) return 90;
  if (has("\"ph\"") && (has("\"ts\"") || has("\"pid\""))) return 85;
  return 0;
}

// Properties of the file that are stated outside of its events.
struct Header {
  OptText host;
  OptInt rank;
  bool with_stack = false, record_shapes = false, profile_memory = false;
};

// Reads the text, while another thread makes rows of its events.
class Reading {
 public:
  Reading(const Input& input, ImportContext& context) : input_(input), context_(context) {}

  absl::Status Run() {
    Scanner in(input_.bytes);
    if (input_.bytes.starts_with(kByteOrderMark)) in.MoveTo(kByteOrderMark.size());
    XP_TRY(int64_t shift_ns, SetClock());
    const std::string_view head = input_.bytes.substr(0, kEndBytes);
    const std::string_view tail =
        input_.bytes.substr(input_.bytes.size() - std::min(input_.bytes.size(), kEndBytes));
    writer_ = WriterOf(head, tail);
    rows_.emplace(input_, context_, writer_, shift_ns);
    const char first = in.Next();
    if (first == '[') {
      XP_TRY(ReadEvents(in, /*bare=*/true));
    } else if (first == '{') {
      XP_TRY(ReadObject(in));
    } else {
      return Invalid("{}: not JSON (byte {} is neither {{ nor [). Try --as with another format",
                     input_.path, in.offset());
    }
    if (!found_events_) {
      return Invalid(
          "{}: this is JSON, but not a Chrome trace, because it has no array `traceEvents`. Try --as with another format",
          input_.path);
    }
    XP_TRY(SubmitBatch());
    while (!batches_.empty()) XP_TRY(TakeBatch());
    XP_TRY(rows_->Finish(header_.host, header_.rank));
    XP_TRY(odd_.Write(context_));
    return rows_->WriteSettings(header_.with_stack, header_.profile_memory);
  }

 private:
  // Events on their way to the rows, and their arguments. A batch has cache lines of its own,
  // because other batches are filled at the same time.
  struct alignas(128) Batch {
    std::vector<ChromeEvent> events;  // reused: the first `size` of them count
    size_t size = 0;
    std::vector<ChromeArgs::Arg> args;
    size_t args_size = 0;
    absl::Status status;  // first error of the rows so far

    ChromeEvent& Next() {
      if (events.empty()) {
        events.resize(kBatchEvents);
        args.resize(kBatchArgs);
      }
      Prefetch</*kForWriting=*/true>(size);
      events[size].args = ChromeArgs(args.data() + args_size);
      return events[size];
    }
    // Keeps the event that Next() returned. Returns false if there is no room for another.
    bool Keep() {
      args_size += events[size].args.size();
      return ++size < kBatchEvents && args_size + ChromeArgs::kMax <= kBatchArgs;
    }
    void Clear() { size = args_size = 0; }
    // Prefetches the cache lines of the event some places after `i`, which another core has written
    // or read.
    template <bool kForWriting>
    void Prefetch(size_t i) const {
      constexpr size_t kAhead = 8, kLineBytes = 64;
      const char* event = reinterpret_cast<const char*>(&events[i]) + kAhead * sizeof(ChromeEvent);
#ifdef __SSE2__
      if constexpr (kForWriting) {  // the compiler does so only for processors newer than our
                                    // target
        asm volatile("prefetchw (%0)" ::"r"(event));
        asm volatile("prefetchw (%0)" ::"r"(event + kLineBytes));
        return;
      }
#endif
      __builtin_prefetch(event, kForWriting);
      __builtin_prefetch(event + kLineBytes, kForWriting);
    }
    // Prefetches the text of an event some places after `i`, which the other core has read.
    void PrefetchText(size_t i) const {
      constexpr size_t kAhead = 4;
      if (i + kAhead < size) __builtin_prefetch(events[i + kAhead].name.raw().data());
    }
  };

  // Aligns the file's clock. Returns the offset from the file's times to the store's.
  absl::StatusOr<int64_t> SetClock() {
    const TraceSpan capture = SpanOfChrome(input_.bytes);
    int64_t epoch_ns = 0;
    if (!capture.base_epoch_ns || capture.first_ns > capture.last_ns ||
        __builtin_add_overflow(*capture.base_epoch_ns, capture.first_ns, &epoch_ns))
      return 0;
    // The store's time 0 is the start of a millisecond, near the first event.
    constexpr int64_t kRoundNs = 1'000'000;
    epoch_ns -= epoch_ns % kRoundNs;
    XP_TRY(int64_t offset_ns, context_.AlignClock(epoch_ns));
    return offset_ns - (epoch_ns - *capture.base_epoch_ns);
  }

  absl::Status ReadObject(Scanner& in) {
    in.Take('{');
    Value key, value;
    const size_t object = in.offset() - 1;
    while (!in.Take('}')) {
      if (!in.ReadKey(&key)) return BrokenHeader(in);
      if (key.raw() == "traceEvents" && in.Next() == '[') {
        XP_TRY(ReadEvents(in, /*bare=*/false));
        if (over_) return absl::OkStatus();
      } else {
        if (!in.Read(&value)) return BrokenHeader(in);
        if (key.raw() == "ph" && !found_events_) {  // events one after the other, without an array
          in.MoveTo(object);
          return ReadEvents(in, /*bare=*/true);
        }
        XP_TRY(Take(key.raw(), value));
      }
      in.Take(',');
    }
    if (in.Next() != 0 || !in.at_end()) {
      odd_.Count(
          "bytes_behind_the_end", Severity::kWarning,
          "Bytes after the end of the JSON object were not read. The file may be two files in one.",
          int64_t(in.offset()), int64_t(input_.bytes.size() - in.offset()));
    }
    return absl::OkStatus();
  }

  // Handles broken JSON outside of the events. If no events were read yet, it reads those that it
  // can find.
  absl::Status BrokenHeader(Scanner& in) {
    if (found_events_ && IsCut(in)) {
      Cut();
      return absl::OkStatus();
    }
    odd_.Count(
        issue_codes::kInvalidJson, Severity::kWarning,
        "Some bytes are not valid JSON. Reading continued at the next event. Update the program that wrote the file.",
        int64_t(in.offset()));
    constexpr std::string_view kEvents = "\"traceEvents\"";
    const size_t at = input_.bytes.find(kEvents, in.offset());
    if (found_events_ || at == std::string_view::npos) return absl::OkStatus();
    in.MoveTo(at + kEvents.size());
    in.Take(':');
    return in.Next() == '[' ? ReadEvents(in, /*bare=*/false) : absl::OkStatus();
  }

  // Reads the array at the scanner's position.
  absl::Status ReadEvents(Scanner& in, bool bare) {
    found_events_ = true;
    in.Take('[');
    size_t next_progress = 0;
    while (true) {
      const char next = in.Next();
      if (next == '{') [[likely]] {
        const size_t offset = in.offset();
        if (offset >= next_progress) [[unlikely]] {
          context_.progress(offset);
          next_progress = offset + kProgressBytes;
        }
        Batch& batch = batches_.Next();
        if (ReadEvent(in, &batch.Next())) [[likely]] {
          in.TakeLineEnd();
          if (!batch.Keep()) XP_TRY(SubmitBatch());
        } else if (!Resume(in, offset)) {
          return absl::OkStatus();
        }
      } else if (next == ',') {
        in.Take(',');
      } else if (next == ']') {
        in.Take(']');
        return absl::OkStatus();
      } else if (in.at_end()) {
        if (!bare) Cut();  // the format allows an array without its end
        return absl::OkStatus();
      } else if (!Resume(in, in.offset())) {
        return absl::OkStatus();
      }
    }
  }

  bool ReadEvent(Scanner& in, ChromeEvent* event) {
    const size_t offset = in.offset(), size = input_.bytes.size();
    const size_t end = wasted_bytes_ > Bound() ? std::min(size, offset + kTightBytes) : size;
    in.LimitTo(end);
    const bool whole = reader_.Read(in, event);
    in.LimitTo(size);
    if (!whole && in.cut()) wasted_bytes_ += end - offset;
    return whole;
  }

  absl::Status SubmitBatch() {
    batches_.Submit(/*is_large=*/input_.bytes.size() >= kWorthThread);
    return batches_.full() ? TakeBatch() : absl::OkStatus();
  }

  absl::Status TakeBatch() {
    absl::Status status = batches_.Oldest().status;
    batches_.Release();
    return status;
  }

  // Runs on the rows' thread.
  void AddRows(Batch& batch) {
    for (size_t i = 0; i < batch.size && rows_status_.ok(); ++i) {
      batch.Prefetch</*kForWriting=*/false>(i);
      batch.PrefetchText(i);
      rows_status_ = rows_->Add(batch.events[i]);
    }
    batch.status = rows_status_;
    batch.Clear();
  }

  // Returns whether the file ends where `in` has returned false. Numbers, words and characters
  // between values do not show that themselves.
  bool IsCut(const Scanner& in) const {
    return in.cut() || std::all_of(input_.bytes.begin() + in.offset(), input_.bytes.end(),
                                   [](char c) { return json::IsSpace(c) || json::IsWord(c); });
  }

  // Returns whether the object at `at` is an event. An event follows a comma or a bracket. So do
  // objects inside of arguments, but they have no phase. After anything else, such as a comment,
  // only an object with a time is one.
  bool IsEvent(size_t at, const ChromeEvent& event) const {
    const char before = ByteBefore(at);
    const bool follows = before == ',' || before == '[' || before == '}';
    return event.phase != 0 && (follows || event.ts.valid);
  }
  char ByteBefore(size_t at) const {
    while (at > 0 && json::IsSpace(input_.bytes[at - 1])) --at;
    return at == 0 ? '\0' : input_.bytes[at - 1];
  }

  // Moves to the next event after broken JSON in the event at `from`. Returns false if there is
  // none, which it has reported.
  bool Resume(Scanner& in, size_t from) {
    const size_t broken = in.offset();
    const bool cut = IsCut(in);
    ChromeEventReader reader;
    std::vector<ChromeArgs::Arg> args(ChromeArgs::kMax);
    ChromeEvent event(args.data());
    for (size_t at = input_.bytes.find('{', from + 1); at != std::string_view::npos;
         at = input_.bytes.find('{', at + 1)) {
      if (ByteBefore(at) == ':') continue;  // the value of a member
      Scanner probe(input_.bytes.substr(0, at + kProbeBytes));
      probe.MoveTo(at);
      const bool whole = reader.Read(probe, &event) && IsEvent(at, event);
      probed_bytes_ +=
          probe.cut() ? std::min(kProbeBytes, input_.bytes.size() - at) : probe.offset() - at;
      if (!whole && probed_bytes_ > Bound()) break;
      if (!whole) continue;
      in.MoveTo(at);
      Broken(cut ? from : broken, at - from);
      return true;
    }
    // Nothing follows: the file is cut inside the last event, or broken to the end.
    if (cut) {
      Cut();
    } else {
      Broken(broken, input_.bytes.size() - from);
    }
    over_ = true;
    in.MoveTo(input_.bytes.size());
    return false;
  }

  // Returns how many bytes may be read without finding an event.
  size_t Bound() const { return kProbeBytes * 16 + 4 * input_.bytes.size(); }

  void Broken(size_t offset, size_t skipped) {
    odd_.Count(
        issue_codes::kInvalidJson, Severity::kWarning,
        fmt::format(
            "Some bytes are not valid JSON. {} bytes were skipped, and reading continued at the next event. Update the program that wrote the file.",
            skipped),
        int64_t(offset));
  }

  void Cut() {
    over_ = true;
    odd_.Count(
        issue_codes::kCutFile, Severity::kWarning,
        fmt::format(
            "The file ends at byte {}, before the end of its events. Everything up to there was read. Copy or record it again.",
            input_.bytes.size()),
        int64_t(input_.bytes.size()));
  }

  void NotRead(std::string_view code, std::string_view advice, const Value& value) {
    odd_.Count(code, Severity::kInfo, advice, int64_t(value.raw().data() - input_.bytes.data()));
  }

  // Takes a member of the file's object.
  absl::Status Take(std::string_view key, const Value& value) {
    auto on = [&] { return value.Int().value_or(0) != 0 || value.kind() == Kind::kTrue; };
    if (key == "distributedInfo") {
      Scanner in(value.raw());
      Value name, field;
      in.Take('{');
      while (in.ReadKey(&name) && in.Read(&field)) {
        if (name.raw() == "rank") header_.rank = field.Int();
        if (!in.Take(',')) break;
      }
    } else if (key == "host_name" || key == "hostname") {
      header_.host = ToUtf8(json::Decode(value));
    } else if (key == "with_stack") {
      header_.with_stack = on();
    } else if (key == "record_shapes") {
      header_.record_shapes = on();
    } else if (key == "profile_memory") {
      header_.profile_memory = on();
    } else if (key == "systemTraceEvents" && value.raw().size() > 2) {
      NotRead("system_events", "Kernel events in ftrace's format were not read.", value);
    } else if (key == "stackFrames" && value.raw().size() > 2) {
      NotRead("stack_frames",
              "Stacks were not read: events refer to them by `sf`, a number in `stackFrames`.",
              value);
    } else if (key == "samples" && value.raw().size() > 2) {
      NotRead("samples", "Samples of a sampling profiler were not read.", value);
    } else if (key == "metadata" && value.kind() == Kind::kNested && value.raw().starts_with('{')) {
      Scanner in(value.raw());
      Value name, field;
      in.Take('{');
      while (in.ReadKey(&name) && in.Read(&field)) {
        XP_TRY(Take(name.raw() == "metadata" ? std::string_view() : name.raw(), field));
        if (!in.Take(',')) break;
      }
    }
    return absl::OkStatus();
  }

  const Input& input_;
  ImportContext& context_;
  ChromeEventReader reader_{/*numbers_texts=*/true};
  OddInput odd_;  // issues of the text; those of the events are counted in rows_
  TraceWriter writer_ = TraceWriter::kOther;
  std::optional<ChromeRows> rows_;
  absl::Status rows_status_;  // the first error
  WorkQueue<Batch, kBatches> batches_{[this](Batch& batch) { AddRows(batch); }};
  Header header_;
  bool found_events_ = false;
  bool over_ = false;        // nothing more can be read
  size_t probed_bytes_ = 0;  // bytes in which no event was found
  size_t wasted_bytes_ = 0;  // bytes of events that do not end
};

absl::Status ReadChrome(const Input& input, ImportContext& context) {
  return std::make_unique<Reading>(input, context)->Run();
}

}  // namespace

extern const Importer chrome{
    .name = "chrome",
    .summary =
        "Chrome JSON: PyTorch's profiler (Kineto), XProf's and JAX's trace viewer, Perfetto, any other",
    .example = "TRACE.pt.trace.json.gz",
    .sniff = SniffChrome,
    .read = ReadChrome,
    .maps_large_files = true,
    .kind = SourceKind::kTimed,
    .keeps = 2,
    .span = SpanOfChrome};

}  // namespace xlaprof
