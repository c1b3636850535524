// How the events of a trace are written. A writer repeats the text between the values from event to
// event: names, quotes, commas, spaces. A tree of these texts, grown from events that were read
// member by member, reads most others by comparing whole pieces.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/import/chrome/json_scan.h"

namespace xlaprof {

struct ChromeEvent;
class TextNumbers;

// Where the value of a member goes.
enum class ChromeSlot : uint8_t {
  kName,
  kCat,
  kPid,
  kTid,
  kId,
  kBindPoint,
  kBindId,
  kExtra,  // no member of the format, or one of `args`: an argument
  kPhase,
  kTs,
  kDur,
  kFlowIn,
  kFlowOut,
  kNothing,  // how wide an instant is drawn; a colour
  kArgs,
  kId2,
  kEnd,  // no value: the event ends with the text
};

class ChromeShapes {
 public:
  // A value of an event and the text before it, from the end of the value before or from the
  // event's brace; that of a kText ends with its quote.
  struct Piece {
    std::string_view before, key;  // key: a part of `before`
    ChromeSlot slot = ChromeSlot::kEnd;
    json::Kind kind = json::Kind::kNone;
  };

  // `numbers`: of what is read; keys get numbers below kMaxNodes. Null: none. Not owned.
  explicit ChromeShapes(TextNumbers* numbers) : numbers_(numbers) {}

  // Reads the event that begins at the scanner's next byte. False: it is written like none before,
  // or is broken; the scanner stands where it stood, and `event` holds anything.
  bool Read(json::Scanner& in, ChromeEvent* event) const;

  // Adds an event, the last piece of which is its end. The pieces lie in its text one behind the
  // other. Where events are written in too many ways,
  // new ones are not kept.
  void Learn(std::span<const Piece> pieces);

  static constexpr size_t kMaxNodes = 1024;

 private:
  static constexpr size_t kMaxSiblings = 6, kBlock = 16, kMaxBlocks = 4;
  struct alignas(128) Node {
    std::array<char, kBlock * kMaxBlocks> text{};
    std::array<uint16_t, kMaxBlocks> used{};  // of each block, a bit for each byte
    uint8_t size = 0, key_at = 0, key_size = 0;
    char phase = 0;  // that this text or one before it gives; 0: none
    ChromeSlot slot = ChromeSlot::kEnd;
    json::Kind kind = json::Kind::kNone;  // kNested: also true, false and null; kNone: the end
    uint16_t next = 0, sibling = 0;  // what may follow; what may stand here instead; 0: nothing
  };

  TextNumbers* const numbers_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // [0] is no node; its `next` is the first
};

// Puts the value of a member of the format where it belongs; of kArgs and kId2, nowhere.
void PutChromeValue(ChromeSlot slot, json::Value value, ChromeEvent* event);

}  // namespace xlaprof
