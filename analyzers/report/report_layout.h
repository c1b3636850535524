// Laying out text that is printable already (core/base/escape.h): no length may break the page.
// Widths are columns of a terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlaprof {

// Columns that printable text takes: combining marks none, East Asian wide characters two.
int DisplayWidth(std::string_view text);

// At most `width` columns, with an ellipsis in the middle: names differ at both ends.
std::string Ellipsize(std::string_view text, int width);

// At most `width` columns, with an ellipsis at the end: sentences say the most at their start.
std::string CutEnd(std::string_view text, int width);

// Two texts cut to `width` columns such that the first place where they differ is seen in both.
std::pair<std::string, std::string> EllipsizePair(std::string_view before, std::string_view after,
                                                  int width);

// Lines of at most `width` columns, broken at spaces; a word that is longer is ellipsized. Newlines
// break, too.
std::vector<std::string> Wrap(std::string_view text, int width);

// `text` padded with spaces to `width` columns.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);

}  // namespace xlaprof
