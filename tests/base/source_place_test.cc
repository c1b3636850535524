#include "base/source_place.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

SourcePlace At(std::string file, std::optional<int64_t> line = {}, std::string function = "") {
  return {.file = std::move(file), .line = line, .function = std::move(function)};
}

SourcePlace Call(std::string file, int64_t line, std::string function) {
  SourcePlace place = At(std::move(file), line, std::move(function));
  place.starts_function = true;
  return place;
}

TEST(SourcePlaceTest, ReadsWhatDumpsPrint) {
  EXPECT_EQ(SourcePlace::Parse("body@train.py:7"), At("train.py", 7, "body"));
  EXPECT_EQ(SourcePlace::Parse("train_step.<locals>.loss@/home/user/jax_recompile.py:31"),
            At("/home/user/jax_recompile.py", 31, "train_step.<locals>.loss"));
  EXPECT_EQ(SourcePlace::Parse("<module>@/home/user/a.py:3"), At("/home/user/a.py", 3, "<module>"));
  EXPECT_EQ(SourcePlace::Parse("/home/user/train.py:12"), At("/home/user/train.py", 12));
  EXPECT_EQ(SourcePlace::Parse("train.py"), At("train.py"));
  EXPECT_EQ(SourcePlace::Parse("main@C:\\x\\train.py:3"), At("C:\\x\\train.py", 3, "main"));
  EXPECT_EQ(SourcePlace::Parse("f@<ipython-input-5-0a1b>:2"), At("<ipython-input-5-0a1b>", 2, "f"));
}

TEST(SourcePlaceTest, ReadsColumns) {
  EXPECT_EQ(SourcePlace::Parse("/x/train.py:39:23"), At("/x/train.py", 39));
  EXPECT_EQ(SourcePlace::Parse("main@/x/train.py:39:23"), At("/x/train.py", 39, "main"));
  EXPECT_EQ(SourcePlace::Parse("/x/train.py:39:23 (main)"), At("/x/train.py", 39, "main"));
  EXPECT_EQ(SourcePlace::Parse("/x/train.py:39 (main)"), At("/x/train.py", 39, "main"));
}

TEST(SourcePlaceTest, AnAtInAPathIsNoFunction) {
  EXPECT_EQ(SourcePlace::Parse("/home/user/mail@home/train.py:12"),
            At("/home/user/mail@home/train.py", 12));
  EXPECT_EQ(SourcePlace::Parse("f@/home/user/mail@home/train.py:12"),
            At("/home/user/mail@home/train.py", 12, "f"));
}

TEST(SourcePlaceTest, KeepsWhatItCannotRead) {
  EXPECT_EQ(SourcePlace::Parse(""), SourcePlace());
  EXPECT_EQ(SourcePlace::Parse("@"), SourcePlace());
  EXPECT_EQ(SourcePlace::Parse(":"), At(":"));
  EXPECT_EQ(SourcePlace::Parse("train.py:"), At("train.py:"));
  EXPECT_EQ(SourcePlace::Parse("train.py:-3"), At("train.py:-3"));
  EXPECT_EQ(SourcePlace::Parse("train.py:7a"), At("train.py:7a"));
  EXPECT_EQ(SourcePlace::Parse("train.py:99999999999999999999"),
            At("train.py:99999999999999999999"));
  EXPECT_EQ(SourcePlace::Parse("train.py:0"), At("train.py"));  // XLA prints 0 for an unknown line
  EXPECT_EQ(SourcePlace::Parse(" ()"), SourcePlace());
}

TEST(SourcePlaceTest, ReadsCallsThatProfilersRecord) {
  EXPECT_EQ(SourcePlace::ParsePythonCall("train.py(42): forward"), Call("train.py", 42, "forward"));
  EXPECT_EQ(SourcePlace::ParsePythonCall("$train.py:42 forward"), Call("train.py", 42, "forward"));
  EXPECT_EQ(SourcePlace::ParsePythonCall("$numpy asarray"), SourcePlace());
  EXPECT_EQ(SourcePlace::ParsePythonCall("$"), SourcePlace());
  EXPECT_EQ(SourcePlace::ParsePythonCall("torch/nn/modules/module.py(1532): _call_impl"),
            Call("torch/nn/modules/module.py", 1532, "_call_impl"));
  EXPECT_EQ(SourcePlace::ParsePythonCall("/x/a (1).py(3): f"), Call("/x/a (1).py", 3, "f"));
  for (const char* name :
       {"", "(3): f", "aten::mm", "f()", "<built-in method print>", "a.py(x): f", "a.py(): f",
        "a.py(-1): f", "a.py(99999999999999999999): f", "): ", "a("})
    EXPECT_EQ(SourcePlace::ParsePythonCall(name), SourcePlace()) << name;
}

TEST(SourcePlaceTest, PrintsWhatIsKnown) {
  const SourcePlace place = At("/home/user/train.py", 7, "body");
  EXPECT_EQ(place.text(), "/home/user/train.py:7");
  EXPECT_EQ(place.ShortText(), "train.py:7");
  EXPECT_EQ(place.TextWithFunction(), "body@/home/user/train.py:7");
  EXPECT_EQ(place.basename(), "train.py");
  EXPECT_EQ(At("C:\\x\\train.py", 7).ShortText(), "train.py:7");
  EXPECT_EQ(At("train.py").text(), "train.py");
  EXPECT_EQ(At("train.py").TextWithFunction(), "train.py");
  EXPECT_EQ(At("", 7).text(), "?:7");
  EXPECT_EQ(SourcePlace().text(), "");
  EXPECT_TRUE(SourcePlace().empty());
}

TEST(SourcePlaceTest, PrintsWhatItRead) {
  for (const char* text :
       {"body@train.py:7", "forward@/home/ann/model.py:3", "/home/user/train.py:12",
        "Table.__init__@/home/usr/jx_donate/app/train.py:18", "_make_grads@__init__.py:90",
        "step_fn.<locals>.<lambda>@/home/usr/jx_host_sync/app/train.py:5"})
    EXPECT_EQ(SourcePlace::Parse(text).TextWithFunction(), text);
}

}  // namespace
}  // namespace xlaprof
