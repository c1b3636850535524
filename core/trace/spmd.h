// Divides tensors and programs among devices, with PyTorch/XLA's names (SPMD). The program is that
// of one device: it records one graph of whole tensors, which is partitioned and compiled once.
//
//   use_spmd();                                        // before the first use of a device
//   Mesh mesh({}, {2, 2}, {"data", "model"});          // needs XLAPROF_DEVICES=4
//   mark_sharding(x, mesh, {"data", None});            // rows among the first axis
//   mark_sharding(net.fc1.weight, mesh, {"model", None});
//   DeviceLoader loader(read, {{mesh, {"data", None}}, {mesh, {"data"}}});  // for its batches
//
// Results do not depend on shardings, except for the rounding of sums that several devices make
// together. docs/lazy_runtime.md says which operations work on parts.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ir/sharding.h"
#include "core/trace/index.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Makes the devices of this process one device, SPMD:0, which is Device::Default(). Raises an Error
// after the first use of a device.
void use_spmd(Where where = Where::current());
bool is_spmd();
// Returns the number of devices that an SPMD device consists of; 1 for other devices.
int64_t addressable_runtime_device_count(const Device& device = Device::Default());

// The devices in a grid, whose axes may have names.
class Mesh {
 public:
  // Places devices in a grid of this shape, row-major. Each of the device's devices occurs once;
  // without ids they come in their order.
  Mesh(std::vector<int64_t> device_ids, Dims mesh_shape, std::vector<std::string> axis_names = {},
       Device& device = Device::Default(), Where where = Where::current());

  const Dims& mesh_shape() const { return grid_.sizes; }
  const Dims& device_ids() const { return grid_.devices; }
  const std::vector<std::string>& axis_names() const { return axis_names_; }
  int64_t size() const { return int64_t(grid_.devices.size()); }
  const Grid& grid() const { return grid_; }

 private:
  Grid grid_;
  std::vector<std::string> axis_names_;
};
// Returns a mesh of all devices with one axis.
Mesh get_1d_mesh(const std::string& axis_name = {}, Device& device = Device::Default(),
                 Where where = Where::current());

// An axis of a mesh, by its name or its number.
struct MeshAxis : std::variant<std::string, int64_t> {
  MeshAxis(const char* name) : variant(std::string(name)) {}
  MeshAxis(std::string name) : variant(std::move(name)) {}
  template <class T>
    requires std::integral<T>
  MeshAxis(T number) : variant(int64_t(number)) {}
};

// The axes that divide a dimension of a tensor: one, several, of which the first is the outermost,
// or None.
class PartitionAxes {
 public:
  PartitionAxes(std::nullopt_t) {}
  template <class T>
    requires std::convertible_to<T, MeshAxis>
  PartitionAxes(T axis) : axes_{MeshAxis(std::move(axis))} {}
  PartitionAxes(std::initializer_list<MeshAxis> axes) : axes_(axes) {}
  const std::vector<MeshAxis>& axes() const { return axes_; }

 private:
  std::vector<MeshAxis> axes_;
};
// One entry per dimension.
using PartitionSpec = std::vector<PartitionAxes>;

struct ShardingSpec {
  Mesh mesh;
  PartitionSpec spec;
};

// Divides a tensor among the devices of a mesh, in place, and returns it. Its present value and all
// that are written to it later are divided so. Views of it see its elements as before; a view
// itself cannot be divided. Each part must have the same size.
Tensor mark_sharding(const Tensor& x, const Mesh& mesh, const PartitionSpec& spec,
                     Where where = Where::current());
// Gives each device the whole tensor again.
Tensor clear_sharding(const Tensor& x, Where where = Where::current());
// Returns how a tensor is divided, in XLA's words: "{devices=[4,1]0,1,2,3}", or "{replicated}". For
// a value that is not computed it is what was marked.
std::string sharding(const Tensor& x);

namespace internal {
// Returns the sharding of a tensor, called `what` in errors, by a mesh and a spec.
Sharding ShardingOf(const std::string& what, const Shape& shape, const ShardingSpec& spec);
}  // namespace internal

}  // namespace xlaprof::lazy
