#include "base/source_location.h"

#include <gtest/gtest.h>

namespace demo {

using Here = std::source_location;

Here Function(int) { return Here::current(); }

template <class T>
struct Net {
  Net() : made(Here::current()) {}
  Here Forward(const T&, void (*)(int) = nullptr) const { return Here::current(); }
  Here operator()() const { return Here::current(); }
  bool operator<(const Net&) const { return (compared = Here::current(), false); }
  template <class U>
  Here Cast() const {
    return [] { return Here::current(); }();
  }
  Here made;
  mutable Here compared;
};

namespace {
Here* Hidden() {
  static Here here = Here::current();
  return &here;
}
}  // namespace

static const Here before_main = Here::current();
static const Here in_lambda_before_main = [] { return Here::current(); }();

TEST(FunctionName, IsTheNameAlone) {
  const Net<Net<int>> net;
  EXPECT_FALSE(net < net);
  EXPECT_EQ(xlaprof::FunctionName(Function(0)), "Function");
  EXPECT_EQ(xlaprof::FunctionName(*Hidden()), "Hidden");
  EXPECT_EQ(xlaprof::FunctionName(net.Forward({})), "Net::Forward");
  EXPECT_EQ(xlaprof::FunctionName(net()), "Net::operator()");
  EXPECT_EQ(xlaprof::FunctionName(net.compared), "Net::operator<");
  EXPECT_EQ(xlaprof::FunctionName(net.made), "Net::Net");
  EXPECT_EQ(xlaprof::FunctionName(net.Cast<std::pair<int, char>>()), "Net::Cast");
  EXPECT_EQ(xlaprof::FunctionName(before_main), "<static>");
  EXPECT_EQ(xlaprof::FunctionName(in_lambda_before_main), "<static>");
}

TEST(LocationText, HasTheFilesLastName) {
  EXPECT_EQ(xlaprof::LocationText(Function(0)), "Function@source_location_test.cc:9");
}

}  // namespace demo
