// Parses the messages of JAX's own log about tracing, lowering, compiling and its persistent cache:
// what jax_log_compiles, jax_explain_cache_misses or JAX_LOGGING_LEVEL=DEBUG prints, in every wording
// since 0.2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/rows.h"

namespace xlaprof {

struct JaxLogLine {
  enum Kind {
    kTraced,          // Finished tracing f for jit in 0.1 sec
    kCompiling,       // Compiling jit(f) with global shapes and types (...)
    kLowered,         // Finished jaxpr to MLIR module conversion jit(f) in 0.1 sec
    kCompiled,        // Finished XLA compilation of jit(f) in 0.1 sec
    kPersistentHit,   // Persistent compilation cache hit for 'jit_f' with key ...
    kPersistentMiss,  // PERSISTENT COMPILATION CACHE MISS for 'jit_f' with key ...
    kWritten,         // Writing jit_f to persistent compilation cache with key ...
    kNotWritten,      // Not writing persistent cache entry for 'jit_f' because ...
    kExplanation      // TRACING CACHE MISS at ...; the lines after it belong to it
  };
  Kind kind = kTraced;
  size_t begin = 0;           // place of the message; a log's prefix comes before it
  std::string_view function;  // without jit(...) around it; jit_f if it is the persistent cache's
  std::string_view key;       // of the program in the persistent cache; "" if cut or not printed
  OptInt dur_ns;              // kTraced, kLowered, kCompiled; empty: no number
  bool is_exact = false;      // dur_ns is printed to a millionth of a second or finer, and not 0
  NotStored why = NotStored::kUnknown;  // kNotWritten
  OptInt least_ns;                      // kNotWritten: programs that compile faster are not written
  std::string_view inputs;   // kCompiling: the list of types as printed; "" if only counted
  std::string_view mapping;  // kCompiling: the sharding of each input as printed; "" if not
                             // printed
  bool inputs_cut = false;   // kCompiling: the list has no closing bracket, and is left out
  OptInt input_count;        // kCompiling, if only the number is printed
};

// Returns nothing for any other line.
std::optional<JaxLogLine> ParseJaxLogLine(std::string_view line);
// Returns true if `line` begins one of these messages, even if it is cut.
bool BeginsJaxLogLine(std::string_view line);
// Returns true if `line` ends inside the first words of one of these messages, at least `least` bytes
// after they begin.
bool EndsInJaxLogWords(std::string_view line, size_t least);

// The type of an input in JAX's short form.
struct JaxInput {
  std::string shape;       // f32[16,32]
  std::string attributes;  // weak_type=True, sharding=P('data',); "" for none
};

// Reads `(ShapedArray(float32[16,32]), ShapedArray(float32[], weak_type=True))`.
std::vector<JaxInput> ParseJaxInputs(std::string_view list);

// Adds the sharding of each input, as in `Argument mapping: (NamedSharding(...),
// UnspecifiedValue)`. Adds nothing if the number of entries differs.
void AddJaxShardings(std::string_view mapping, std::vector<JaxInput>* inputs);

// Cuts at every ", " that is outside brackets and quotes.
std::vector<std::string_view> SplitOutside(std::string_view list);

}  // namespace xlaprof
