#include "exporters/output/proto_text.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

// Varints equal protobuf's at and around each length.
TEST(ProtoText, VarintsAreProtobufs) {
  for (int bits = 0; bits < 64; ++bits) {
    for (int64_t offset : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bits) + uint64_t(offset);
      char ours[16];
      uint8_t theirs[16];
      const char* end = PutVarint(ours, value);
      const uint8_t* their_end =
          google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, theirs);
      EXPECT_EQ(std::string_view(ours, size_t(end - ours)),
                std::string_view(reinterpret_cast<char*>(theirs), size_t(their_end - theirs)))
          << value;
      EXPECT_EQ(VarintBytes(value), size_t(end - ours)) << value;
    }
  }
}

TEST(ProtoText, FieldsStandBehindEachOther) {
  ProtoText text;
  text.Varint(1, 300);
  text.Bytes(2, "ab");
  text.Bytes(3, "");
  text.Varints(4, 1, 1, 17, UINT64_MAX);
  text.Fixed64(47, 0x0102030405060708);
  constexpr std::string_view kBytes(
      "\x08\xac\x02\x12\x02"
      "ab\x1a\x00\x22\x0e\x08\x01\x88\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01",
      35);
  EXPECT_EQ(text.bytes(), kBytes);
  text.Clear();
  EXPECT_EQ(text.bytes(), "");
}

TEST(ProtoText, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(ProtoString("a\xff\xc3(é"), "a\uFFFD\uFFFD(é");
}

}  // namespace
}  // namespace xlaprof
