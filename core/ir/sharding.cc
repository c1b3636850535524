#include "core/ir/sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/ir/error.h"

namespace xlaprof::lazy {
namespace {

// Reads attributes one after the other.
class Reader {
 public:
  explicit Reader(const Attributes& attributes) : attributes_(attributes) {}
  int64_t Next() {
    if (at_end()) Raise("a sharding ends early");
    return attributes_[next_++];
  }
  Dims Next(int64_t count) {
    if (count < 0 || count > int64_t(attributes_.size() - next_)) Raise("a sharding ends early");
    const auto begin = attributes_.begin() + int64_t(next_);
    next_ += size_t(count);
    return {begin, begin + count};
  }
  bool at_end() const { return next_ == attributes_.size(); }

 private:
  const Attributes& attributes_;
  size_t next_ = 0;
};

// Raises an Error unless `numbers` has each number from 0 to before `count` at most once.
void ExpectOnce(const Dims& numbers, int64_t count, std::string_view what) {
  std::vector<bool> known(static_cast<size_t>(count));
  for (int64_t number : numbers) {
    if (number < 0 || number >= count)
      Raise("there is no {} {}: there are {}", what, number, count);
    if (known[size_t(number)]) Raise("{} {} occurs twice", what, number);
    known[size_t(number)] = true;
  }
}

}  // namespace

int64_t Grid::Count(const Dims& axes) const {
  int64_t count = 1;
  for (int64_t axis : axes) count *= sizes[size_t(axis)];
  return count;
}

Dims Grid::PlaceOf(int64_t device) const {
  int64_t rest = std::ranges::find(devices, device) - devices.begin();
  Dims place(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i]) place[i] = rest % sizes[i];
  return place;
}

int64_t Grid::PartOf(int64_t device, const Dims& axes) const {
  const Dims place = PlaceOf(device);
  int64_t part = 0;
  for (int64_t axis : axes) part = part * sizes[size_t(axis)] + place[size_t(axis)];
  return part;
}

Dims Grid::Groups(const Dims& axes) const {
  Dims others;
  for (int64_t axis = 0; axis < int64_t(sizes.size()); ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) others.push_back(axis);
  const int64_t group = Count(axes);
  Dims groups(devices.size());
  for (int64_t device : devices)
    groups[size_t(PartOf(device, others) * group + PartOf(device, axes))] = device;
  return groups;
}

bool Sharding::is_whole() const {
  return std::ranges::all_of(axes, [&](const Dims& of_dim) { return grid.Count(of_dim) == 1; });
}

Shape Sharding::PartOf(const Shape& whole) const {
  Shape part = whole;
  for (size_t i = 0; i < axes.size(); ++i) part.dims[i] /= grid.Count(axes[i]);
  return part;
}

Dims Sharding::BeginOf(const Shape& whole, int64_t device) const {
  const Shape part = PartOf(whole);
  Dims begin(whole.dims.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i)
    begin[i] = grid.PartOf(device, axes[i]) * part.dims[i];
  return begin;
}

Sharding Sharding::Simplified() const {
  if (is_whole()) return {};
  Sharding simple = *this;
  for (Dims& of_dim : simple.axes)
    of_dim.erase(std::remove_if(of_dim.begin(), of_dim.end(),
                                [&](int64_t axis) { return grid.sizes[size_t(axis)] == 1; }),
                 of_dim.end());
  return simple;
}

Attributes Sharding::ToAttributes() const {
  if (grid.empty()) return {};
  Attributes all{int64_t(grid.sizes.size())};
  all.insert(all.end(), grid.sizes.begin(), grid.sizes.end());
  all.insert(all.end(), grid.devices.begin(), grid.devices.end());
  for (const Dims& of_dim : axes) {
    all.push_back(int64_t(of_dim.size()));
    all.insert(all.end(), of_dim.begin(), of_dim.end());
  }
  return all;
}

Sharding Sharding::Of(const Attributes& attributes) {
  if (attributes.empty()) return {};
  Reader reader(attributes);
  Sharding sharding;
  sharding.grid.sizes = reader.Next(reader.Next());
  int64_t devices = 1;
  for (int64_t size : sharding.grid.sizes) {
    if (size < 1 || size > int64_t(attributes.size())) Raise("an axis of a mesh has size {}", size);
    devices *= size;
    if (devices > int64_t(attributes.size())) Raise("a sharding ends early");
  }
  sharding.grid.devices = reader.Next(devices);
  ExpectOnce(sharding.grid.devices, devices, "device");
  Dims all;
  while (!reader.at_end()) {
    const Dims axes = reader.Next(reader.Next());
    sharding.axes.push_back(axes);
    all.insert(all.end(), axes.begin(), axes.end());
  }
  ExpectOnce(all, int64_t(sharding.grid.sizes.size()), "mesh axis");
  return sharding;
}

std::string Sharding::ToText() const {
  if (is_whole()) return "{replicated}";
  Dims tiles, used, order;
  for (const Dims& of_dim : axes) {
    tiles.push_back(grid.Count(of_dim));
    used.insert(used.end(), of_dim.begin(), of_dim.end());
  }
  // The devices are listed part by part; those that have the same part follow each other.
  Dims others;
  for (int64_t axis = 0; axis < int64_t(grid.sizes.size()); ++axis)
    if (std::ranges::find(used, axis) == used.end()) others.push_back(axis);
  const int64_t copies = grid.Count(others);
  if (copies > 1) tiles.push_back(copies);
  order.resize(grid.devices.size());
  for (int64_t device : grid.devices)
    order[size_t(grid.PartOf(device, used) * copies + grid.PartOf(device, others))] = device;
  return fmt::format("{{devices=[{}]{}{}}}", fmt::join(tiles, ","), fmt::join(order, ","),
                     copies > 1 ? " last_tile_dim_replicate" : "");
}

}  // namespace xlaprof::lazy
