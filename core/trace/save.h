// Tensors in a file, by their names.
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

// Computes what is not there yet, with one execution a device, takes all to the CPU and writes it
// in the format of core/trace/safetensors.h. Gradients, and what needs one, are not kept; two names
// of one tensor are saved as two. Raises where it cannot be written; a file of that name is then
// as it was.
void save(const State& state, const std::filesystem::path& path, Where where = Where::current());

// Each tensor on the device that it was saved from; on the default one where the file does not
// say. Raises where a device is absent, and where the file is none of these, cut or damaged.
State load(const std::filesystem::path& path, Where where = Where::current());
// All on `device`.
State load(const std::filesystem::path& path, Device& device, Where where = Where::current());

}  // namespace xlaprof::lazy
