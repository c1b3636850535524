// Laying out text that partly came from a capture: nothing in it may reach the terminal as a
// control sequence, and no length may break the page. Text is UTF-8; widths are columns of a
// terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlaprof {

// `text` with control characters, bidirectional overrides and invalid UTF-8 written as \x1b,
// \u202e, \xff. Newlines too, unless `keep_newlines`; tabs become a space.
std::string Printable(std::string_view text, bool keep_newlines = false);

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
