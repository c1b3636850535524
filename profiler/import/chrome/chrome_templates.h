// Learns templates of a trace's events: the text between their values. A writer repeats this text
// from event to event: names, quotes, commas, spaces. A tree of these texts, grown from events that
// were read member by member, reads most others by comparing whole pieces.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/import/chrome/json_scan.h"

namespace xlaprof {

struct ChromeEvent;
class TextNumbers;

// The place that the value of a member goes to. The order matters. The slots up to kBindId are
// members of ChromeEvent that hold a value, which kMembers in chrome_templates.cc lists in the same
// order. The values from kCat to kTid have few texts, which get numbers (TextNumbers). A value from
// kId to kBindId sets has_ids of its event.
enum class ChromeSlot : uint8_t {
  kName,
  kCat,
  kPid,
  kTid,
  kId,
  kBindPoint,
  kBindId,
  kExtra,  // an argument: one of `args`, or no member of the format
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

class ChromeTemplates {
 public:
  // A value of an event and the text before it, from the end of the value before or from the
  // event's brace. The text before a kText ends with its quote.
  struct Piece {
    std::string_view before, key;  // key: a part of `before`
    ChromeSlot slot = ChromeSlot::kEnd;
    json::Kind kind = json::Kind::kNone;
  };

  // `numbers` numbers what is read; keys get numbers below kMaxNodes. Null: nothing gets numbers.
  // Not owned.
  explicit ChromeTemplates(TextNumbers* numbers) : numbers_(numbers) {}

  // Reads the event that begins at the scanner's next byte. Returns false if it is broken, or
  // written in a way that was not seen before. The scanner then stays where it was, and `event` may
  // hold anything. On a processor without SSE2, this always returns false.
  bool Read(json::Scanner& in, ChromeEvent* event) const;

  // Adds an event. Its last piece is its end, and the pieces follow one another in its text. If
  // events are written in too many ways, new ones are not kept.
  void Learn(std::span<const Piece> pieces);

  static constexpr size_t kMaxNodes = 1024;

 private:
  static constexpr size_t kMaxSiblings = 6, kBlock = 16, kMaxBlocks = 4;
  struct alignas(128) Node {
    std::array<char, kBlock * kMaxBlocks> text{};
    std::array<uint16_t, kMaxBlocks> used{};  // for each block, bits of its used bytes
    uint8_t size = 0, key_at = 0, key_size = 0;
    char phase = 0;  // given by this text or one before it; 0: none
    ChromeSlot slot = ChromeSlot::kEnd;
    json::Kind kind = json::Kind::kNone;  // kNested: also true, false and null; kNone: the end
    uint16_t next = 0, sibling = 0;       // nodes that may follow, or be here instead; 0: none

    // Returns whether the text at `at` begins with this node's. kBlock * kMaxBlocks bytes must be
    // readable.
    bool Matches(const char* at) const;
  };

  // Puts the value of a node into the event. `text` is where the node's text begins.
  void Put(const Node& node, const char* text, json::Value value, ChromeEvent* event) const;

  TextNumbers* const numbers_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // [0] is not a node; its `next` is the first
};

// Puts the value of a member of the format where it belongs. Ignores the values of kArgs and kId2.
void PutChromeValue(ChromeSlot slot, json::Value value, ChromeEvent* event);

}  // namespace xlaprof
