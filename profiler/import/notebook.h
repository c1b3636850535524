// Reads the output of the cells of Jupyter notebooks, as Colab and Kaggle keep them. The format,
// version 4 and 3: https://nbformat.readthedocs.io/en/latest/format_description.html.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// Returns whether a file that begins with `head` is a notebook.
bool IsNotebook(std::string_view head);

struct NotebookOutput {
  int64_t cell = 0;  // from 1, in the order of the page
  std::string text;  // streams, results and tracebacks, one after the other
};

struct NotebookOutputs {
  std::vector<NotebookOutput> cells;  // the cells that printed something
  std::string damage;  // why the rest was not read, with the byte; "" if everything was read
};

NotebookOutputs ReadNotebook(std::string_view json);

}  // namespace xlaprof
