#include "exporters/xspace/kernel_details.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Turns "[8, 1, 1]" into "8,1,1". Returns "" unless the text has three numbers.
std::string Sizes(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return "";
  std::string sizes;
  for (char c : text.substr(1, text.size() - 2)) {
    if (c == ' ') continue;
    if (c != ',' && (c < '0' || c > '9')) return "";
    sizes += c;
  }
  return std::count(sizes.begin(), sizes.end(), ',') == 2 ? sizes : "";
}

int64_t Number(const ArgValue* value) {
  if (value == nullptr) return 0;
  if (value->index() == 0) return std::get<0>(*value);
  return value->index() == 2 ? int64_t(std::clamp(std::get<2>(*value), 0.0, 1e15)) : 0;
}

}  // namespace

KernelDetails::KernelDetails(const Store& store)
    : store_(store),
      grid_(store.Find("grid")),
      block_(store.Find("block")),
      registers_(store.Find("registers per thread")),
      shared_(store.Find("shared memory")),
      occupancy_(store.Find("est. achieved occupancy %")) {}

std::string KernelDetails::Of(std::span<const Argument> own,
                              std::span<const Argument> of_name) const {
  if (grid_ == 0 || block_ == 0) return "";
  auto find = [&](StringId key) -> const ArgValue* {
    for (std::span<const Argument> arguments : {own, of_name}) {
      for (const Argument& argument : arguments) {
        if (key != 0 && argument.key == key) return &argument.value;
      }
    }
    return nullptr;
  };
  auto sizes = [&](StringId key) {
    const ArgValue* value = find(key);
    const Text* text = value == nullptr ? nullptr : std::get_if<Text>(value);
    return text == nullptr ? "" : Sizes(store_.Text(text->id));
  };
  const std::string grid = sizes(grid_), block = sizes(block_);
  if (grid.empty() || block.empty()) return "";
  // Kineto gives a single figure for both kinds of shared memory.
  return fmt::format("regs:{} static_shared:{} dynamic_shared:0 grid:{} block:{} occ_pct:{}",
                     Number(find(registers_)), Number(find(shared_)), grid, block,
                     Number(find(occupancy_)));
}

}  // namespace xlaprof
