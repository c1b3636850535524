// Parses the names of the files that XLA writes into a --xla_dump_to folder, and JAX into
// JAX_DUMP_IR_TO. They show which program a file is about, and which of its files it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

// The parts of module_0004.jit_train_step.before_optimizations.txt, which begins with a time if
// --xla_dump_include_timestamp is set, or of jax_ir0003_jit_train_step_compile.mlir.
struct XlaDumpName {
  int64_t module = 0;  // XLA's number of the compilation, rising in the order in which they began
  std::string_view stem;  // module_0004.jit_train_step: equal for all files of one program
  enum Kind {
    kBefore,   // the program as XLA was given it
    kAfter,    // the program as it was compiled
    kBuffers,  // its buffers with their sizes
    kPart      // anything else that XLA made on the way
  };
  Kind kind = kPart;
  bool is_proto = false;  // .pb; else text
  bool is_jax = false;    // JAX wrote it; JAX numbers its own compilations
};

// Returns nothing for any other file.
std::optional<XlaDumpName> ParseXlaDumpName(std::string_view file_name);

}  // namespace xlaprof
