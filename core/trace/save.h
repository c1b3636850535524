// Saves tensors in a file, by their names.
//
//   save(net.state_dict(), "weights.safetensors");
//   net.load_state_dict(load("weights.safetensors"));
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

using State = std::map<std::string, Tensor, std::less<>>;

// Computes pending values with one execution per device, copies all to the CPU, and writes them in
// the format of core/trace/safetensors.h. A recording shows this as a scope, "save". Gradients, and
// whether a tensor needs one, are not saved. A tensor with two names is saved twice. Raises an
// Error if the file cannot be written; an existing file then stays as it was.
void save(const State& state, const std::filesystem::path& path, Where where = Where::current());

// Loads each tensor to the device that it was saved from, or to the default device if the file
// names none. Raises an Error if a device is absent, or if the file is of another format, truncated
// or damaged.
State load(const std::filesystem::path& path, Where where = Where::current());
// Loads all tensors to `device`.
State load(const std::filesystem::path& path, Device& device, Where where = Where::current());

}  // namespace xlaprof::lazy
