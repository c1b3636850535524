// Places in source code as stacks, dumps and profiles print them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

// A line of a file, and the function that it is in. Each part may be unknown.
struct SourcePlace {
  std::string file;             // a path or only a basename, as it was printed; "" if unknown
  std::optional<int64_t> line;  // from 1
  std::string function;         // "" if unknown
  // The line is where the function begins, and not the one that ran. Python tracers record only that.
  bool starts_function = false;

  // Reads `function@file:line`, `file:line` and `file`, with a column after the line or without
  // one, and JAX's `file:line:column (function)`. A text of another form becomes the file.
  static SourcePlace Parse(std::string_view text);

  // Reads `file(line): function`, as PyTorch's profiler prints a Python call, or `$file:line
  // function`, as JAX's and TensorFlow's do. The place starts_function. Returns an empty place if `name`
  // is something else.
  static SourcePlace ParsePythonCall(std::string_view name);

  bool empty() const { return file.empty(); }
  std::string_view basename() const;  // the file without its directories
  // Returns whether both are the same line of files with the same basename.
  bool IsLineOf(const SourcePlace& other) const;

  std::string text() const;              // file:line, file, or ?:line
  std::string ShortText() const;         // the same with the basename
  std::string TextWithFunction() const;  // function@file:line if the function is known

  auto operator<=>(const SourcePlace&) const = default;
};

}  // namespace xlaprof
