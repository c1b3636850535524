// Says how a tensor is divided among devices. The devices form a grid, the mesh, and each dimension
// of the tensor is divided along none, one or several of its axes.
#pragma once

#include <string>
#include <vector>

#include "core/ir/op.h"

namespace xlaprof::lazy {

struct Grid {
  Dims sizes;    // of the axes
  Dims devices;  // the device at each place, row-major
  bool operator==(const Grid&) const = default;

  bool empty() const { return devices.empty(); }
  // Returns how many parts a division along these axes has.
  int64_t Count(const Dims& axes) const;
  // Returns the place of a device along each axis.
  Dims PlaceOf(int64_t device) const;
  // Returns the part of a device in a division along these axes, of which the first is the
  // outermost.
  int64_t PartOf(int64_t device, const Dims& axes) const;
  // Returns the devices that differ only in their places along these axes, group by group, each
  // group in the order of the parts.
  Dims Groups(const Dims& axes) const;
};

// The axes that divide each dimension of a tensor, the outermost first. No axis occurs twice.
using Division = absl::InlinedVector<Dims, 4>;

struct Sharding {
  Grid grid;
  Division axes;
  bool operator==(const Sharding&) const = default;

  // Returns whether each device has the whole tensor.
  bool is_whole() const;
  // Returns the shape of a device's part.
  Shape PartOf(const Shape& whole) const;
  // Returns where the part of a device begins, per dimension of the whole.
  Dims BeginOf(const Shape& whole, int64_t device) const;
  // Returns this sharding without axes of size 1, and without a grid if each device has the whole
  // tensor, so that equal divisions are equal.
  Sharding Simplified() const;

  // Return the sharding as attributes of an operation, and back: the number of axes, their sizes,
  // the devices, and for each dimension of the tensor the number of axes and the axes. Without a
  // grid there are none. Of() raises an Error if they are no sharding.
  Attributes ToAttributes() const;
  static Sharding Of(const Attributes& attributes);
  // Returns XLA's text: {devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate} or {replicated}.
  std::string ToText() const;
};

}  // namespace xlaprof::lazy
