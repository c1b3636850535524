#include "profiler/import/protobuf_wire.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "profiler/import/inflate.h"

namespace xlaprof {
namespace {

using namespace std::string_view_literals;

struct Message {
  std::string_view name;
  int32_t number = -1;
  bool has_number = false;
};
using Name = wire::Field<1, &Message::name>;
using Number = wire::Field<2, &Message::number, &Message::has_number>;

TEST(ProtobufFields, TakeTheirValuesAndLeaveTheOthers) {
  Message message{.name = "before"};
  int others = 0;
  EXPECT_TRUE((wire::DecodeFields<Name, Number>(
      "\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x01x\x12\x01y"sv, &message,
      [&](const wire::Reader&) { ++others; })));
  EXPECT_EQ(message.name, "");  // what was there before is cleared
  EXPECT_EQ(message.number, -2);
  EXPECT_TRUE(message.has_number);
  EXPECT_EQ(others, 2);  // field 3, and field 2 of another type
}

TEST(ProtobufFields, KeepWhatCameBeforeTheCut) {
  Message message;
  EXPECT_FALSE((wire::DecodeFields<Name, Number>("\x0a\x02hi\x10"sv, &message)));
  EXPECT_EQ(message.name, "hi");
  EXPECT_FALSE(message.has_number);
}

std::string Deflated(std::string_view text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(text.data()), text.size()),
            Z_OK);
  packed.resize(size);
  return packed;
}

TEST(Inflate, KeepsWhatCanBeUnpackedUpToABound) {
  const std::string text(100'000, 'a'), packed = Deflated(text);
  std::string out = "before";
  EXPECT_TRUE(Inflate(packed, 1'000'000, &out));
  EXPECT_EQ(out, text);
  EXPECT_FALSE(Inflate(packed, 1000, &out));
  EXPECT_EQ(out, text.substr(0, 1000));
  EXPECT_FALSE(Inflate(std::string_view(packed).substr(0, packed.size() - 8), 1'000'000, &out));
  EXPECT_FALSE(out.empty());
  EXPECT_FALSE(Inflate("no stream", 1000, &out));
  EXPECT_FALSE(Inflate("", 1000, &out));
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace xlaprof
