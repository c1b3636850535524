#include "profiler/import/chrome/chrome_templates.h"

#include <algorithm>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/chrome/json_texts.h"

namespace xlaprof {

using json::Kind;
using json::Scanner;
using json::Value;

namespace {

// The values of an event, by their slots from 0 to kBindId.
constexpr Value ChromeEvent::* kMembers[] = {
    &ChromeEvent::name, &ChromeEvent::cat,        &ChromeEvent::pid,    &ChromeEvent::tid,
    &ChromeEvent::id,   &ChromeEvent::bind_point, &ChromeEvent::bind_id};

bool IsTrue(Value value) {
  return value.kind() == Kind::kTrue || (value.kind() == Kind::kNumber && value.raw() != "0");
}

void ReadTime(Value value, ChromeTime* time) {
  Picoseconds read;
  const bool valid = (value.kind() == Kind::kNumber || value.kind() == Kind::kText) &&
                     ParseMicroseconds(value.raw(), &read);
  *time = {.ns = read.ns, .ps = read.ps, .given = true, .valid = valid};
}

}  // namespace

void PutChromeValue(ChromeSlot slot, Value value, ChromeEvent* event) {
  if (slot <= ChromeSlot::kBindId) {
    event->*kMembers[size_t(slot)] = value;
    if (slot >= ChromeSlot::kId) event->has_ids = true;
    return;
  }
  switch (slot) {
    case ChromeSlot::kTs:
      ReadTime(value, &event->ts);
      return;
    case ChromeSlot::kDur:
      ReadTime(value, &event->dur);
      return;
    case ChromeSlot::kPhase:
      event->phase = value.kind() == Kind::kText && value.raw().size() == 1 ? value.raw()[0] : '?';
      return;
    case ChromeSlot::kFlowIn:
      event->flow_in = IsTrue(value);
      return;
    case ChromeSlot::kFlowOut:
      event->flow_out = IsTrue(value);
      return;
    default:
      return;
  }
}

#ifdef __SSE2__

inline bool ChromeTemplates::Node::Matches(const char* at) const {
  auto same_block = [&](size_t block) {
    const __m128i same = _mm_cmpeq_epi8(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + block * kBlock)),
        _mm_load_si128(reinterpret_cast<const __m128i*>(text.data() + block * kBlock)));
    return (~unsigned(_mm_movemask_epi8(same)) & used[block]) == 0;
  };
  if (!same_block(0)) return false;
  for (size_t block = 1; block * kBlock < size; ++block) {
    if (!same_block(block)) return false;
  }
  return true;
}

inline void ChromeTemplates::Put(const Node& node, const char* text, Value value,
                                 ChromeEvent* event) const {
  if (node.slot == ChromeSlot::kExtra) {
    const Value key(Kind::kText, {text + node.key_at, node.key_size});
    const auto number = uint16_t(&node - nodes_.data());
    event->args.Add(numbers_ != nullptr ? key.Numbered(number) : key, value);
    return;
  }
  const bool has_few_texts = node.slot >= ChromeSlot::kCat && node.slot <= ChromeSlot::kTid;
  if (has_few_texts && numbers_ != nullptr) value = numbers_->Numbered(node.slot, value);
  PutChromeValue(node.slot, value, event);
}

bool ChromeTemplates::Read(Scanner& in, ChromeEvent* event) const {
  const std::string_view rest = in.rest();
  const char *at = rest.data(), *const end = at + rest.size();
  const size_t from = in.offset();
  const Node* const nodes = nodes_.data();
  // One check guarantees that this many bytes may be read: the text, and the beginning of the
  // value.
  constexpr ptrdiff_t kRoom = kBlock * kMaxBlocks + 32;
  for (size_t index = nodes->next; index != 0 && end - at >= kRoom;) {
    const Node& node = nodes[index];
    if (!node.Matches(at)) {
      index = node.sibling;
      continue;
    }
    const char *const value_at = at + node.size, *value_end = nullptr;
    Value value;
    if (node.kind == Kind::kNumber) {
      const char* number_end = json::DigitsEnd(value_at);
      if (number_end == value_at) {  // another kind of value
        index = node.sibling;
        continue;
      }
      if (*number_end == ',' || *number_end == '}') [[likely]] {
        value = Value(Kind::kNumber, {value_at, size_t(number_end - value_at)});
        value_end = number_end;
      }
    } else if (node.kind == Kind::kText) {
      if (const char* text_end = json::PlainTextEnd(value_at)) [[likely]] {
        value = Value(Kind::kText, {value_at, size_t(text_end - value_at)});
        value_end = text_end + 1;
      }
    } else if (node.kind == Kind::kNone) {
      if (node.phase != 0) event->phase = node.phase;
      in.MoveTo(from + size_t(value_at - rest.data()));
      return true;
    }
    if (value_end == nullptr) [[unlikely]] {
      in.MoveTo(from + size_t(value_at - rest.data()) - (node.kind == Kind::kText ? 1 : 0));
      Value other;
      // A value that follows spaces may be the last of the text, too near its end to be numbered.
      if (!in.Read(&other) || end - other.raw().data() < ptrdiff_t(TextNumbers::kRoom)) break;
      value = other;
      value_end = in.rest().data();
    }
    Put(node, at, value, event);
    at = value_end;
    index = node.next;
  }
  in.MoveTo(from);
  return false;
}

#else

bool ChromeTemplates::Read(Scanner&, ChromeEvent*) const { return false; }

#endif

void ChromeTemplates::Learn(std::span<const Piece> pieces) {
  size_t parent = 0;
  char phase = 0;
  const char* before = nullptr;  // the text before the phase
  for (Piece piece : pieces) {
    // Phases are few, so the phase is learned as part of the fixed text.
    if (piece.slot == ChromeSlot::kPhase && piece.kind == Kind::kText &&
        piece.before.end()[1] == '"' && *piece.before.end() != '\\' && *piece.before.end() != '"') {
      phase = *piece.before.end();
      before = piece.before.data();
      continue;
    }
    if (piece.slot == ChromeSlot::kPhase) phase = 0;
    if (before != nullptr) piece.before = {before, piece.before.data() + piece.before.size()};
    before = nullptr;
    if (piece.before.size() > kBlock * kMaxBlocks) return;
    const bool plain =
        piece.kind == Kind::kText || piece.kind == Kind::kNumber || piece.slot == ChromeSlot::kEnd;
    const Kind kind = plain ? piece.kind : Kind::kNested;
    size_t siblings = 0;
    uint16_t last = 0, found = nodes_[parent].next;
    for (; found != 0; last = found, found = nodes_[found].sibling, ++siblings) {
      const Node& node = nodes_[found];
      if (node.slot == piece.slot && node.kind == kind &&
          piece.before == std::string_view(node.text.data(), node.size))
        break;
    }
    if (found == 0) {
      if (nodes_.size() == kMaxNodes || siblings == kMaxSiblings) return;
      found = uint16_t(nodes_.size());
      Node& node = nodes_.emplace_back();
      std::copy(piece.before.begin(), piece.before.end(), node.text.begin());
      node.size = uint8_t(piece.before.size());
      for (size_t i = 0; i < node.size; ++i) node.used[i / kBlock] |= uint16_t(1) << i % kBlock;
      node.slot = piece.slot;
      node.kind = kind;
      node.phase = phase;
      if (!piece.key.empty()) {
        node.key_at = uint8_t(piece.key.data() - piece.before.data());
        node.key_size = uint8_t(piece.key.size());
      }
      (last == 0 ? nodes_[parent].next : nodes_[last].sibling) = found;
    }
    parent = found;
  }
}

}  // namespace xlaprof
