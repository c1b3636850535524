// The file that save() writes and load() reads: safetensors, which other frameworks read as well.
//
// Eight bytes, little-endian: the length of the header. The header, JSON, padded with spaces to a
// multiple of eight: {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}.
// Then the data, row-major and little-endian, without gaps; offsets count from its beginning.
//
// In "__metadata__" ours have two things more: "xlaprof.hash", of the whole file, which tells
// damage, and for each tensor "xlaprof.device/NAME", from where it was saved. Files without them,
// of other programs, are read, too.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/base/status.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

struct SavedTensor {
  HostTensor values;
  std::string device;  // empty: the file does not say
};
using SavedTensors = std::map<std::string, SavedTensor, std::less<>>;

// Beside `path` first, then in its place: a file of that name is whole, or is the one before.
absl::Status WriteSafetensors(const std::filesystem::path& path, const SavedTensors& tensors);
// An error says what the file is instead, or which byte is wrong.
absl::StatusOr<SavedTensors> ReadSafetensors(const std::filesystem::path& path);

}  // namespace xlaprof::lazy
