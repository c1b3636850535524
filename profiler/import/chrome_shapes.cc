#include "profiler/import/chrome_shapes.h"

#include <algorithm>

#include "profiler/import/chrome_event.h"

namespace xlaprof {

using json::Kind;
using json::Scanner;
using json::Value;

namespace {

bool IsTrue(const Value& value) {
  return value.kind == Kind::kTrue || (value.kind == Kind::kNumber && value.raw != "0");
}

}  // namespace

Value* ChromePlaceOf(ChromeSlot slot, const Value& key, ChromeEvent* event, Value* scratch) {
  static constexpr Value ChromeEvent::*kMembers[] = {
      &ChromeEvent::name, &ChromeEvent::cat,        &ChromeEvent::pid,
      &ChromeEvent::tid,  &ChromeEvent::ts,         &ChromeEvent::dur,
      &ChromeEvent::id,   &ChromeEvent::bind_point, &ChromeEvent::bind_id};
  event->has_ids |= slot >= ChromeSlot::kId && slot <= ChromeSlot::kBindId;
  if (slot <= ChromeSlot::kBindId) return &(event->*kMembers[size_t(slot)]);
  if (slot != ChromeSlot::kExtra) return scratch;
  ChromeEvent::Member& member = event->args.emplace_back();
  member.key = key;
  return &member.value;
}

void PutChromeValue(ChromeSlot slot, const Value& value, ChromeEvent* event) {
  switch (slot) {
    case ChromeSlot::kPhase:
      event->phase = value.kind == Kind::kText && value.raw.size() == 1 ? value.raw[0] : '?';
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

bool ChromeShapes::Read(Scanner& in, ChromeEvent* event) const {
#ifdef __SSE2__
  const std::string_view rest = in.rest();
  const char *at = rest.data(), *const end = at + rest.size();
  const size_t from = in.offset();
  auto begins = [](const char* text, const Node& node) {
    for (size_t block = 0; block < node.size; block += kBlock) {
      const auto same = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + block)),
          _mm_load_si128(reinterpret_cast<const __m128i*>(node.text.data() + block)))));
      if (size_t(std::countr_one(same)) < std::min(kBlock, node.size - block)) return false;
    }
    return true;
  };
  // What is looked at without asking again: the text, and the beginning of the value.
  constexpr ptrdiff_t kRoom = kBlock * kMaxBlocks + 32;
  Value key{.kind = Kind::kText}, scratch;
  for (uint16_t index = nodes_[0].next; index != 0 && end - at >= kRoom;) {
    const Node& node = nodes_[index];
    if (!begins(at, node)) {
      index = node.sibling;
      continue;
    }
    const char* value_at = at + node.size;
    if (node.kind == Kind::kNone) {
      in.MoveTo(from + size_t(value_at - rest.data()));
      return true;
    }
    const char* number_end = node.kind == Kind::kNumber ? json::DigitsEnd(value_at) : nullptr;
    if (number_end == value_at) {  // another kind of value
      index = node.sibling;
      continue;
    }
    key.raw = {at + node.key_at, node.key_size};
    Value* value = ChromePlaceOf(node.slot, key, event, &scratch);
    value->kind = node.kind;
    value->escaped = value->control = false;
    const char* text_end = node.kind == Kind::kText ? json::PlainTextEnd(value_at) : nullptr;
    if (text_end != nullptr) {
      value->raw = {value_at, size_t(text_end - value_at)};
      at = text_end + 1;
    } else if (number_end != nullptr && (*number_end == ',' || *number_end == '}')) {
      value->raw = {value_at, size_t(number_end - value_at)};
      at = number_end;
    } else {
      in.MoveTo(from + size_t(value_at - rest.data()) - (node.kind == Kind::kText ? 1 : 0));
      if (!in.Read(value)) break;
      at = in.rest().data();
    }
    if (value == &scratch) PutChromeValue(node.slot, scratch, event);
    index = node.next;
  }
  in.MoveTo(from);
#else
  (void)in, (void)event;
#endif
  return false;
}

void ChromeShapes::Learn(std::span<const Piece> pieces) {
  size_t parent = 0;
  for (const Piece& piece : pieces) {
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
      node.slot = piece.slot;
      node.kind = kind;
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
