// Prints the tensors of a safetensors file, each followed by a line "--". torch_test.py compares the
// texts with PyTorch's.
#include <cstdio>

#include "core/trace/save.h"

int main(int argc, char** argv) {
  using namespace xlaprof::lazy;
  if (argc != 2) return 2;
  try {
    for (const auto& [name, tensor] : load(argv[1], Device::Host()))
      fmt::print("{}\n--\n", tensor.to_text());
  } catch (const Error& error) {
    fmt::print(stderr, "printed_tensors: {}\n", error.what());
    return 2;
  }
}
