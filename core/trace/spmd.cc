#include "core/trace/spmd.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/exec/transfer.h"
#include "core/trace/emit.h"

namespace xlaprof::lazy {

void use_spmd(Where where) {
  Call call(where);
  if (absl::Status status = Device::UseSpmd(); !status.ok()) RaiseHere("{}", Message(status));
}

bool is_spmd() { return Device::Default().is_spmd(); }

int64_t addressable_runtime_device_count(const Device& device) {
  return device.backend().devices();
}

Mesh::Mesh(std::vector<int64_t> device_ids, Dims mesh_shape, std::vector<std::string> axis_names,
           Device& device, Where where)
    : grid_{std::move(mesh_shape), {device_ids.begin(), device_ids.end()}},
      axis_names_(std::move(axis_names)) {
  Call call(where);
  const std::string text = fmt::format("Mesh of shape {}", SizesText(grid_.sizes));
  const int64_t devices = device.backend().devices();
  if (!device.is_spmd()) {
    RaiseHere("{}: {} divides no tensors. Call use_spmd() before the first use of a device", text,
              device.name());
  }
  int64_t places = 1;
  for (int64_t size : grid_.sizes) {
    if (size < 1) RaiseHere("{}: an axis has size {}", text, size);
    places *= std::min(size, devices + 1);  // enough to see that there are too many
  }
  if (places != devices) {
    RaiseHere(
        "{}: it has {} places, but {} has {} devices, each of which is in a mesh once. "
        "XLAPROF_DEVICES sets how many there are",
        text, Shape{DType::kBool, grid_.sizes}.elements(), device.name(), devices);
  }
  if (grid_.devices.empty())
    for (int64_t id = 0; id < devices; ++id) grid_.devices.push_back(id);
  if (int64_t(grid_.devices.size()) != places)
    RaiseHere("{}: {} devices are given for {} places", text, grid_.devices.size(), places);
  for (int64_t id = 0; id < devices; ++id) {
    if (std::ranges::count(grid_.devices, id) != 1)
      RaiseHere("{}: each device from 0 to {} must be in it once, but they are {}", text,
                devices - 1, SizesText(grid_.devices));
  }
  if (!axis_names_.empty() && axis_names_.size() != grid_.sizes.size())
    RaiseHere("{}: {} names are given for {} axes", text, axis_names_.size(), grid_.sizes.size());
  for (const std::string& name : axis_names_) {
    if (std::ranges::count(axis_names_, name) > 1)
      RaiseHere("{}: two axes have the name \"{}\"", text, name);
  }
}

Mesh get_1d_mesh(const std::string& axis_name, Device& device, Where where) {
  std::vector<std::string> names;
  if (!axis_name.empty()) names.push_back(axis_name);
  return Mesh({}, {device.backend().devices()}, std::move(names), device, where);
}

namespace {

// Returns the number of a mesh's axis.
int64_t NumberOf(const std::string& what, const Mesh& mesh, const MeshAxis& axis) {
  const auto& names = mesh.axis_names();
  const int64_t axes = int64_t(mesh.mesh_shape().size());
  if (const auto* number = std::get_if<int64_t>(&axis)) {
    if (*number >= 0 && *number < axes) return *number;
    RaiseHere("{}: the mesh of shape {} has no axis {}", what, SizesText(mesh.mesh_shape()),
              *number);
  }
  const auto& name = std::get<std::string>(axis);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return found - names.begin();
  RaiseHere("{}: the mesh has no axis \"{}\". {}", what, name,
            names.empty() ? "Its axes have no names"
                          : fmt::format("Its axes are {}", fmt::join(names, ", ")));
}

std::string NameOf(const Mesh& mesh, int64_t axis) {
  return mesh.axis_names().empty() ? std::to_string(axis)
                                   : fmt::format("\"{}\"", mesh.axis_names()[size_t(axis)]);
}

}  // namespace

namespace internal {

Sharding ShardingOf(const std::string& what, const Shape& shape, const ShardingSpec& spec) {
  const Mesh& mesh = spec.mesh;
  if (int64_t(spec.spec.size()) != shape.rank()) {
    RaiseHere(
        "{}: the partition spec has {} entries for {} dimensions. Give one per dimension: an axis "
        "of the mesh, several, or None",
        what, spec.spec.size(), shape.rank());
  }
  Sharding sharding{mesh.grid(), {}};
  Dims used;
  for (size_t d = 0; d < spec.spec.size(); ++d) {
    Dims& axes = sharding.axes.emplace_back();
    std::string names;
    for (const MeshAxis& axis : spec.spec[d].axes()) {
      const int64_t number = NumberOf(what, mesh, axis);
      if (std::ranges::find(used, number) != used.end()) {
        RaiseHere("{}: axis {} of the mesh is used twice. It can divide only one dimension", what,
                  NameOf(mesh, number));
      }
      used.push_back(number);
      axes.push_back(number);
      names += (names.empty() ? "" : " and ") + NameOf(mesh, number);
    }
    const int64_t parts = mesh.grid().Count(axes);
    if (shape.dims[d] % parts != 0) {
      RaiseHere(
          "{}: dimension {} has size {}, which cannot be divided into {} equal parts along {}. Pad "
          "it to {}, drop the rest of the batch, or divide another dimension",
          what, d, shape.dims[d], parts, names, (shape.dims[d] / parts + 1) * parts);
    }
  }
  return sharding;
}

}  // namespace internal

namespace {

constexpr std::string_view kMark = "xla::mark_sharding";

void ExpectWhole(const Tensor& x) {
  if (ImplOf(x).steps.empty()) return;
  RaiseHere(
      "{}({}): it is a view, which is divided as its tensor is. Mark that, or clone() the view", kMark,
      TextOf(x));
}

// Divides a value that is computed already: gets it from the devices, and sends its parts.
void Divide(Storage& storage, const Ref<Data>& data, const Sharding& sharding) {
  if (data->sharding() == sharding.Simplified().ToAttributes()) return;
  const auto bytes = Download(*data, Call::Where());
  if (!bytes.ok()) RaiseHere("{}", Message(bytes.status()));
  Ref<Data> divided =
      Upload(storage.device(), bytes->data(), data->shape(), Call::Where(), sharding);
  GraphLock lock;
  storage.Become(std::move(divided));
}

}  // namespace

Tensor mark_sharding(const Tensor& x, const Mesh& mesh, const PartitionSpec& spec, Where where) {
  Call call(where);
  ExpectWhole(x);
  const Shape shape{x.dtype(), x.sizes()};
  const std::string what = fmt::format("{}({})", kMark, shape.ToText());
  if (x.device().backend().devices() != mesh.size() || !x.device().is_spmd()) {
    RaiseHere(
        "{}: the tensor is on {}, and the mesh is of {} devices of SPMD. Call use_spmd() before the "
        "first use of a device, or move the tensor",
        what, x.device().name(), mesh.size());
  }
  const Sharding sharding = internal::ShardingOf(what, shape, {mesh, spec});
  Storage& storage = *ImplOf(x).storage;
  Ref<Data> data;
  {
    GraphLock lock;
    storage.Mark(sharding.ToAttributes());
    data = storage.value()->data();
  }
  if (data) Divide(storage, data, sharding);
  return x;
}

Tensor clear_sharding(const Tensor& x, Where where) {
  Call call(where);
  ExpectWhole(x);
  Storage& storage = *ImplOf(x).storage;
  Ref<Data> data;
  {
    GraphLock lock;
    storage.Mark({});
    data = storage.value()->data();
  }
  if (data) Divide(storage, data, {});
  return x;
}

std::string sharding(const Tensor& x) {
  const Storage& storage = *ImplOf(x).storage;
  GraphLock lock;
  const Ref<Data>& data = storage.value()->data();
  return Sharding::Of(data ? data->sharding() : storage.marked()).ToText();
}

}  // namespace xlaprof::lazy
