// Lays out text so that no long text breaks the page. The text must be printable already
// (base/escape.h), except for PrintableStart(). Widths are columns of a terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlaprof {

// Returns the number of columns that printable text takes. Combining marks take none, and East
// Asian wide characters take two.
int DisplayWidth(std::string_view text);

// Shortens to at most `width` columns, with an ellipsis in the middle, because names differ at both
// ends.
std::string Ellipsize(std::string_view text, int width);

// Shortens to at most `width` columns, with an ellipsis at the end, because the start of a sentence
// says the most.
std::string CutEnd(std::string_view text, int width);

// Escapes text for a terminal and shortens it like CutEnd(). Of a text of megabytes only what can
// be shown is escaped.
std::string PrintableStart(std::string_view text, int width);

// Shortens two texts to `width` columns, so that both show the first place where they differ.
std::pair<std::string, std::string> EllipsizePair(std::string_view before, std::string_view after,
                                                  int width);

// Breaks text at spaces and newlines into lines of at most `width` columns. A longer word is
// ellipsized.
std::vector<std::string> Wrap(std::string_view text, int width);

// Pads `text` with spaces to `width` columns.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);

}  // namespace xlaprof
