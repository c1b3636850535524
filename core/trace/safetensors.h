// Reads and writes the files of save() and load(). The format is safetensors, which other
// frameworks also read.
//
// A file begins with the length of the header: eight bytes, little-endian. The header is JSON,
// padded with spaces to a multiple of eight: {"NAME": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [0, 24]}, ...}. The data follow, row-major and little-endian, without gaps;
// offsets count from their beginning.
//
// Our files have two additions in "__metadata__": "xlaprof.hash" of the whole file, which reveals
// damage, and per tensor "xlaprof.device/NAME", the device that it was saved from. Files of other
// programs, without these, are read, too.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/status.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

struct SavedTensor {
  HostTensor values;
  std::string device;  // empty: the file does not say
};
using SavedTensors = std::map<std::string, SavedTensor, std::less<>>;

// Writes a temporary file, and then replaces `path`. A file of that name is therefore complete, or
// is still the previous one.
absl::Status WriteSafetensors(const std::filesystem::path& path, const SavedTensors& tensors);
// Reads a file. An error says what the file is instead, or which byte is wrong.
absl::StatusOr<SavedTensors> ReadSafetensors(const std::filesystem::path& path);

}  // namespace xlaprof::lazy
