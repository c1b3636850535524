#include "exporters/output/text_fragments.h"

#include <algorithm>
#include <cstring>

#include "exporters/output/json_text.h"

namespace xlaprof {

static constexpr StringId kDenseIds = 1 << 26;
static constexpr size_t kBlockBytes = 1 << 16;

Piece TextFragments::Make(StringId id) {
  const bool dense = id < kDenseIds;
  if (!dense) {
    if (auto found = by_far_id_.find(id); found != by_far_id_.end()) return found->second;
  }
  std::string text = before_;
  AppendJsonString(store_.Text(id), &text);
  text += after_;
  if (room_ < text.size() + kPieceBlock) {
    room_ = std::max(kBlockBytes, text.size() + kPieceBlock);
    at_ = blocks_.emplace_back(std::make_unique<char[]>(room_)).get();
  }
  if (!text.empty()) std::memcpy(at_, text.data(), text.size());
  Piece kept(at_, text.size());
  at_ += text.size();
  room_ -= text.size();
  if (!dense) return by_far_id_[id] = kept;
  if (by_id_.size() <= id) by_id_.resize(std::max<size_t>(id + 1, by_id_.size() * 2));
  return by_id_[id] = kept;
}

}  // namespace xlaprof
