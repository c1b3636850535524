// Tests XLA_FNTRACKER_FILE, which holds the call sites of ops on the CPU.
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect fn_tracker;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTracedFallbacks =
    "SELECT op, count, s.function, s.file, s.line FROM fallback f LEFT JOIN site s ON s.id = "
    "f.site_id ORDER BY f.id";

std::string Call(const std::string& tag, int line, const std::string& cpp,
                 const std::string& frames = "Frames:") {
  return "[TAG " + tag + " From Thread 139703691627392]\n" + frames +
         "\n  forward (/v/lib/python3.11/site-packages/torch/nn.py:3)\n" +
         fmt::format("  <module> (/x/train.py:{})\n", line) +
         "\nC++ Frames:\n*** Begin stack trace ***\n\t\n\t" + cpp +
         "\n\tat::native::item(at::Tensor const&)\n\tat::_ops::item::call(at::Tensor const&)\n"
         "*** End stack trace ***\n\n";
}

TEST(FnTracker, CountsCallSites) {
  const std::string nonzero = "at::_ops::nonzero::redispatch(c10::DispatchKeySet)";
  auto in = ImportText(
      fn_tracker, Call("xla_fallback", 12, nonzero) +
                      Call("xla_fallback", 14, "at::_ops::_local_scalar_dense::call(at::Tensor)") +
                      Call("xla_fallback", 12, nonzero));
  EXPECT_THAT(in.Rows(kTracedFallbacks),
              ElementsAre("aten::nonzero|2|<module>|/x/train.py|12",
                          "aten::_local_scalar_dense|1|<module>|/x/train.py|14"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM frame"), ElementsAre("4"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
}

// Before 2022 the tag was the op; nothing in the C++ frames may replace it.
TEST(FnTracker, TagsOfOlderVersions) {
  auto in = ImportText(
      fn_tracker, Call("nonzero", 3, "torch_xla::XLANativeFunctions::where(x)", "Python Frames:"));
  EXPECT_THAT(in.Rows(kTracedFallbacks), ElementsAre("aten::nonzero|1|<module>|/x/train.py|3"));
}

TEST(FnTracker, WithoutSymbolsTheOpIsUnknown) {
  std::string text = Call("xla_fallback", 3, "");
  text.erase(text.find("\tat::native"), text.find("*** End") - text.find("\tat::native"));
  EXPECT_THAT(ImportText(fn_tracker, text).Rows(kTracedFallbacks),
              ElementsAre("-|1|<module>|/x/train.py|3"));
}

TEST(FnTracker, ACutFileKeepsItsLastCall) {
  std::string text = Call("xla_fallback", 3, "at::_ops::nonzero::call(x)");
  auto in = ImportText(fn_tracker, text + text.substr(0, text.find("*** End")));
  EXPECT_THAT(in.Rows(kTracedFallbacks), ElementsAre("aten::nonzero|2|<module>|/x/train.py|3"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), ElementsAre("cut_file"));
  in = ImportText(fn_tracker, "nothing\n");
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("XLA_FNTRACKER_FILE"));
}

}  // namespace
}  // namespace xlaprof
