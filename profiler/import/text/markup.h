// Undoes what web pages do to a text.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// Returns whether a text was copied from the source of a web page: it has entities or tags of HTML.
// Tags of one letter do not count, because `a<b>` may be anything.
bool HoldsMarkup(std::string_view text);

// Returns a text without tags, with entities as characters. A tag that ends a line (all but span,
// code, b and i) becomes a line break. Returns `text` itself if it has neither.
std::string WithoutMarkup(std::string_view text);

}  // namespace xlaprof
