// Tests MNIST's own files, both intact and broken in common ways.
#include "examples/mnist/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "base/temporary_folder.h"

namespace xlaprof::examples {
namespace {

using ::testing::HasSubstr;

std::string Words(std::initializer_list<uint32_t> words) {
  std::string bytes;
  for (uint32_t word : words) {
    for (int shift : {24, 16, 8, 0}) bytes += char(word >> shift);
  }
  return bytes;
}

std::string Packed(const std::string& bytes) {
  std::string packed(bytes.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class ReadDigitsTest : public testing::Test {
 protected:
  ReadDigitsTest() {
    images_ = Words({0x803, 2, 28, 28}) + std::string(784, '\0') + std::string(784, '\xff');
    labels_ = Words({0x801, 2}) + "\7\3";
    Write("train-images-idx3-ubyte", images_);
    Write("train-labels-idx1-ubyte", labels_);
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
  }
  void Remove(const std::string& name) { std::filesystem::remove(folder_.path() / name); }
  std::string Error() {
    const auto digits = ReadDigits(folder_.path(), /*held_out=*/false);
    return digits.ok() ? "none" : std::string(Message(digits.status()));
  }
  void ExpectWhole() {
    const auto digits = ReadDigits(folder_.path(), /*held_out=*/false);
    ASSERT_TRUE(digits.ok()) << digits.status();
    EXPECT_EQ(digits->labels, (std::vector<int64_t>{7, 3}));
    ASSERT_EQ(digits->images.size(), 2u * 784);
    EXPECT_EQ(digits->images.front(), 0);
    EXPECT_EQ(digits->images.back(), 1);
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("digits");
  std::string images_, labels_;
};

TEST_F(ReadDigitsTest, TakesThemUnpackedAndPacked) {
  ExpectWhole();
  Remove("train-images-idx3-ubyte");
  Remove("train-labels-idx1-ubyte");
  EXPECT_THAT(Error(), HasSubstr("train-images-idx3-ubyte: cannot be read, nor "
                                 "train-images-idx3-ubyte.gz"));
  Write("train-images-idx3-ubyte.gz", Packed(images_));
  Write("train-labels-idx1-ubyte.gz", Packed(labels_));
  ExpectWhole();
}

TEST_F(ReadDigitsTest, EachCutIsTold) {
  for (size_t size : {0, 3, 15, 16, 1000, 1583}) {
    Write("train-images-idx3-ubyte", images_.substr(0, size));
    EXPECT_THAT(Error(), HasSubstr("train-images-idx3-ubyte: ")) << size;
  }
  EXPECT_THAT(Error(), HasSubstr("1567 bytes follow its header, which announces 2 values of 784"));
  Remove("train-images-idx3-ubyte");
  const std::string packed = Packed(images_);
  for (size_t size = 1; size < packed.size(); ++size) {
    Write("train-images-idx3-ubyte.gz", packed.substr(0, size));
    EXPECT_THAT(Error(), HasSubstr("train-images-idx3-ubyte.gz: ")) << size;
  }
  EXPECT_THAT(Error(), HasSubstr("it is cut"));
}

TEST_F(ReadDigitsTest, WhatIsNoneOfThemIsTold) {
  Write("train-labels-idx1-ubyte", images_);
  EXPECT_THAT(Error(), HasSubstr("its first word is not 0x801"));
  Write("train-labels-idx1-ubyte", Words({0x801, 3}) + "\7\3\1");
  EXPECT_THAT(Error(), HasSubstr("2 images and 3 labels"));
  Write("train-labels-idx1-ubyte", Words({0x801, 2}) + "\7\12");
  EXPECT_THAT(Error(), HasSubstr("label 10 is no digit"));
  Write("train-images-idx3-ubyte", Words({0x803, 1, 14, 56}) + std::string(784, '\0'));
  EXPECT_THAT(Error(), HasSubstr("images of 14 x 56, not of 28 x 28"));
  Write("train-images-idx3-ubyte", Words({0x803, 0, 28, 28}));
  EXPECT_THAT(Error(), HasSubstr("holds no digits"));
}

}  // namespace
}  // namespace xlaprof::examples
