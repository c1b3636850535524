// One event of Chrome's Trace Event Format ("JSON Object Format", 2016): an object with `ph` for
// its phase and members that depend on it. Members come in any order; a missing one is kNone.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "profiler/import/chrome/chrome_templates.h"
#include "profiler/import/chrome/json_scan.h"
#include "profiler/import/chrome/json_texts.h"
#include "profiler/import/chrome/microseconds.h"

namespace xlaprof {

// The arguments of an event, in memory that the reader of the event owns.
class ChromeArgs {
 public:
  struct Arg {
    json::Value key, value;
  };
  // More arguments on one event are damage and would cost quadratic time, so they are left out.
  static constexpr size_t kMax = 1024;

  ChromeArgs() = default;
  explicit ChromeArgs(Arg* room) : args_(room) {}  // room for kMax arguments; not owned

  void Add(json::Value key, json::Value value) {
    if (size_ < kMax)
      args_[size_++] = {key, value};
    else
      left_out_ = true;
  }
  void clear() { size_ = 0, left_out_ = false; }

  const Arg* begin() const { return args_; }
  const Arg* end() const { return args_ + size_; }
  size_t size() const { return size_; }
  bool left_out() const { return left_out_; }

 private:
  Arg* args_ = nullptr;
  uint32_t size_ = 0;
  bool left_out_ = false;
};

// A time of an event, parsed while its text is still in the cache.
struct ChromeTime {
  int64_t ns = 0;  // see Picoseconds
  int32_t ps = 0;
  bool given = false;  // the member is there
  bool valid = false;  // the member is a number of microseconds, or text that looks like one

  Picoseconds value() const { return {ns, ps}; }
};

// Events go from one core to another. The members that most events have fill two cache lines; the
// others are not touched.
struct alignas(128) ChromeEvent {
  ChromeEvent() = default;
  explicit ChromeEvent(ChromeArgs::Arg* room) : args(room) {}  // see ChromeArgs

  // The phase: X complete, B and E begin and end, i I R instants, C counter, M metadata, s t f
  // flow, b n e and the older S T p F asynchronous, N O D objects, P sample, and others; 0: none
  // given.
  char phase = 0;
  bool flow_in = false, flow_out = false;  // directions of the flow bind_id
  bool bad_args = false;                   // args is there but is not an object
  bool has_ids = false;                    // one of the last five values is given
  int64_t offset = 0;                      // offset of its object in the text
  ChromeArgs args;                         // also holds members of the event that the format does
                                           // not know
  ChromeTime ts, dur;
  json::Value name, cat, pid, tid;
  json::Value id, id_local, id_global, bind_id, bind_point;

  // Returns the value of an argument, or null if the event has no such argument.
  const json::Value* Arg(std::string_view key) const {
    for (const ChromeArgs::Arg& arg : args) {
      if (arg.key.raw() == key) return &arg.value;
    }
    return nullptr;
  }
  // Makes the event as if new, with the same room. Does not touch members that most events lack.
  void Clear();
};
static_assert(offsetof(ChromeEvent, id) == 128);

class ChromeEventReader {
 public:
  // With `numbers_texts`, texts that many events share get numbers (json::Value::number()): keys of
  // arguments, categories, processes and threads.
  explicit ChromeEventReader(bool numbers_texts = false)
      : numbers_(numbers_texts ? std::make_unique<TextNumbers>() : nullptr),
        templates_(numbers_.get()) {}

  // Reads the object that begins at the next byte. Returns false if it is not a well-formed object.
  // The scanner is then at the place where that shows, or is cut(). `event` is reused with its room
  // for arguments, and nothing of its previous content remains.
  bool Read(json::Scanner& in, ChromeEvent* event);

 private:
  // These read an event member by member.
  bool ReadObject(json::Scanner& in, ChromeEvent* event);
  bool ReadMember(json::Scanner& in, size_t from, const json::Value& key, ChromeEvent* event);
  bool ReadArgs(json::Scanner& in, size_t from, ChromeEvent* event);
  bool ReadValue(json::Scanner& in, size_t from, ChromeSlot slot, const json::Value& key,
                 ChromeEvent* event);

  std::unique_ptr<TextNumbers> numbers_;
  ChromeTemplates templates_;
  // The text of the event that is being read, in pieces. plain_ is false if it cannot be learnt.
  std::vector<ChromeTemplates::Piece> pieces_;
  bool plain_ = true;
  size_t value_end_ = 0;  // end of the value that was read last
};

}  // namespace xlaprof
