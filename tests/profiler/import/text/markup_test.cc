// Tests that what web pages do to a text is undone.
#include "profiler/import/text/markup.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(Markup, IsTakenOffAndOtherSignsStay) {
  EXPECT_EQ(WithoutMarkup("a &lt;b&gt; &amp;&nbsp;c"), "a <b> & c");
  EXPECT_EQ(WithoutMarkup("x<br>y<br/>z"), "x\ny\nz");
  EXPECT_EQ(WithoutMarkup("<li>x</li><h2>y</h2>"), "\nx\n\ny\n");
  EXPECT_EQ(WithoutMarkup("<span class=\"k\">xla::add</span>"), "xla::add");
  EXPECT_EQ(WithoutMarkup("std::vector<int> a < b && c; &unknown; &#7;"),
            "std::vector<int> a < b && c; &unknown; &#7;");
  EXPECT_EQ(WithoutMarkup("<pre"), "<pre");
}

TEST(Markup, IsFoundByEntitiesAndTags) {
  for (const char* text : {"a &lt; b", "x&#39;y", "x&#x27;y", "<pre>x", "x</span>", "x<br/>y"})
    EXPECT_TRUE(HoldsMarkup(text)) << text;
  for (const char* text :
       {"", "a < b && c > d;", "<module> (x.py:3)", "<lambda>", "std::vector<int>&",
        "array<i64: 1>", "a<b>", "<p", "&unknown;", "<preamble>", "f(a & b);"})
    EXPECT_FALSE(HoldsMarkup(text)) << text;
}

}  // namespace
}  // namespace xlaprof
