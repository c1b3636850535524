#include "core/trace/save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "core/metrics/metrics.h"
#include "core/trace/functions.h"
#include "core/trace/safetensors.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"
#include "tests/core/trace/values.h"
#include "tests/read_file.h"

namespace xlaprof::lazy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Save : public testing::Test {
 protected:
  std::string Content() const { return ReadFile(path_); }
  void Write(std::string_view bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  // Writes a file with this header and this data.
  void Write(const std::string& header, std::string_view data) {
    const uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), 8);
    Write(bytes + header + std::string(data));
  }
  std::string ErrorOfLoad() {
    return MessageOf([&] { load(path_); });
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("save");
  const std::filesystem::path path_ = folder_.path() / "weights.safetensors";
};

// Keeps the scopes that users' lines open, and the scopes of executions and transfers.
class SaveListener final : public Listener {
 public:
  void BeginScope(observe::Site&, std::string_view name, const std::source_location* at) override {
    if (at != nullptr) Hear(fmt::format("{} at {}", name, at->line()));
  }
  void OnExecution(const observe::Execution& fact) override { Hear("computed in " + fact.scope); }
  void OnTransfer(const observe::Transfer& fact) override { Hear("read in " + fact.scope); }
};

TEST_F(Save, IsAScopeOfItsReads) {
  static SaveListener& listener = *new SaveListener;
  const Tensor x = ones({2});
  observe::observer = &listener;
  save({{"x", x}}, path_);
  const int line = __LINE__ - 1;
  wait_device_ops();
  observe::observer = nullptr;
  // The number counts the saves of the whole program.
  EXPECT_THAT(listener.heard,
              ElementsAre(fmt::format("save at {}", line), StartsWith("computed in save."),
                          StartsWith("read in save.")));
}

TEST_F(Save, KeepsTypesSizesAndValues) {
  State state;
  for (DType type : {DType::kBool, DType::kU8, DType::kI8, DType::kI16, DType::kI32, DType::kI64,
                     DType::kBF16, DType::kF16, DType::kF32, DType::kF64})
    state[std::string(TorchName(type))] = (arange(6) - 2).view({2, 3}).to(type);
  state["a \"name\" \\ of \n any kind"] = zeros({0, 3});
  state["scalar"] = full({}, 0.5);
  save(state, path_);
  const State read = load(path_);
  ASSERT_EQ(read.size(), state.size());
  for (const auto& [name, tensor] : state) {
    const Tensor& got = read.find(name)->second;
    EXPECT_EQ(got.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(got.sizes(), tensor.sizes()) << name;
    EXPECT_EQ(got.to_cpu().bytes, tensor.to_cpu().bytes) << name;
  }
}

TEST_F(Save, ComputesWithOneExecution) {
  const Tensor x = arange(3, DType::kF32);
  const State state{{"a", x + 1}, {"b", x * 2}, {"c", x - 1}};
  const int64_t before = counter_value("ExecuteComputation").value_or(0);
  save(state, path_);
  EXPECT_EQ(counter_value("ExecuteComputation").value_or(0) - before, 1);
}

TEST_F(Save, LoadGivesEachTensorItsDeviceBack) {
  save({{"here", ones({2})}, {"host", ones({2}, DType::kF32, Device::Host())}}, path_);
  State state = load(path_);
  EXPECT_EQ(&state["here"].device(), &Device::Default());
  EXPECT_EQ(&state["host"].device(), &Device::Host());
  state = load(path_, Device::Host());
  EXPECT_EQ(&state["here"].device(), &Device::Host());
}

TEST_F(Save, LoadFindsADeviceThatTheProgramMade) {
  static Device& made = *new Device("CPU:5", MakeNativeBackend(1));
  save({{"there", ones({2}, DType::kF32, made)}}, path_);
  const State state = load(path_);
  EXPECT_EQ(&state.at("there").device(), &made);
  EXPECT_THAT(Values(state.at("there")), ElementsAre(1, 1));
  HostTensor one{{DType::kF32, {1}}, std::vector<std::byte>(4)};
  ASSERT_TRUE(WriteSafetensors(path_, {{"w", {one, "CPU:6"}}}).ok());
  EXPECT_THAT(ErrorOfLoad(), AllOf(HasSubstr("it has CPU:0, cpu"), HasSubstr("CPU:5. Name one")));
}

TEST_F(Save, LoadSaysWhichDeviceIsAbsent) {
  HostTensor one{{DType::kF32, {1}}, std::vector<std::byte>(4)};
  ASSERT_TRUE(WriteSafetensors(path_, {{"layer.weight", {one, "TPU:3"}}}).ok());
  const std::string message = ErrorOfLoad();
  EXPECT_THAT(message, AllOf(HasSubstr("weights.safetensors: layer.weight"), HasSubstr("TPU:3"),
                             HasSubstr("load(path, device)"), HasSubstr("save_test.cc:")));
  EXPECT_EQ(&load(path_, Device::Default())["layer.weight"].device(), &Device::Default());
}

TEST_F(Save, LeavesTheFileBeforeWhereItFails) {
  save({{"a", ones({2})}}, path_);
  EXPECT_THAT(MessageOf([&] { save({{"b\xff", ones({2})}}, path_); }), HasSubstr("UTF-8"));
  EXPECT_THAT(MessageOf([&] { save({{"__metadata__", ones({2})}}, path_); }),
              HasSubstr("the format reserves that name"));
  EXPECT_EQ(load(path_).count("a"), 1u);
  EXPECT_THAT(MessageOf([&] { save({}, folder_.path() / "none" / "x"); }),
              HasSubstr("cannot be created"));
}

TEST_F(Save, EachCutIsTold) {
  save({{"a", arange(5)}, {"b", ones({3})}}, path_);
  const std::string whole = Content();
  for (size_t size = 0; size < whole.size(); ++size) {
    Write(whole.substr(0, size));
    EXPECT_THAT(ErrorOfLoad(), HasSubstr("cut")) << size;
  }
  Write(whole + "x");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("its header describes"));
}

TEST_F(Save, EachFlippedBitIsToldOrHarmless) {
  save({{"a", arange(5)}, {"b", ones({3})}}, path_);
  const std::string whole = Content();
  const size_t name_of_hash = whole.find("xlaprof.hash"), data = whole.find("}}}") + 3;
  int64_t harmless = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = char(flipped[bit / 8] ^ (1 << bit % 8));
    Write(flipped);
    if (ErrorOfLoad() == "nothing was raised") {
      ++harmless;
      // The flipped bit changed the name of the hash entry: the file looks like another program's.
      EXPECT_TRUE(bit / 8 < name_of_hash + 13) << bit / 8 << " of " << data;
      EXPECT_EQ(Values(load(path_)["a"]), (std::vector<float>{0, 1, 2, 3, 4}));
    }
  }
  EXPECT_LT(harmless, 8 * 30);
}

TEST_F(Save, FilesOfOtherProgramsAreRead) {
  Write(R"({"w":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\7\1", 3));
  EXPECT_THAT(Values(load(path_)["w"]), ElementsAre(0, 1, 1));
}

// The first bytes of a file are the header's length. Those of 640, 66176 and 131712 begin with
// 80 02, as files of torch.save do.
TEST_F(Save, HeadersOfAnyLengthAreRead) {
  const std::string header = R"({"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})";
  std::vector<size_t> lengths{0x10280, 0x20280};
  for (size_t length = header.size(); length < 700; ++length) lengths.push_back(length);
  for (size_t length : lengths) {
    Write(header + std::string(length - header.size(), ' '), "\1");
    const absl::StatusOr<SavedTensors> read = ReadSafetensors(path_);
    ASSERT_TRUE(read.ok()) << length << ": " << read.status();
    EXPECT_EQ(read->count("w"), 1u) << length;
  }
}

TEST_F(Save, NamesOfAnyLengthAreReadBack) {
  const HostTensor one{{DType::kF32, {1}}, std::vector<std::byte>(4)};
  std::vector<uint64_t> lengths;
  for (size_t size = 1; size < 300; ++size) {
    const std::string name(size, 'n');
    ASSERT_TRUE(WriteSafetensors(path_, {{name, {one, "CPU:0"}}}).ok());
    uint64_t length = 0;
    std::memcpy(&length, Content().data(), 8);
    lengths.push_back(length);
    const absl::StatusOr<SavedTensors> read = ReadSafetensors(path_);
    ASSERT_TRUE(read.ok()) << length << ": " << read.status();
    EXPECT_EQ(read->count(name), 1u) << length;
  }
  EXPECT_THAT(lengths, Contains(640));
}

TEST_F(Save, WhatIsNoneOfThemIsTold) {
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("Check that the file exists"));
  for (const char* begin : {"PK\3\4 and so on", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j"}) {
    Write(begin);
    EXPECT_THAT(ErrorOfLoad(), HasSubstr("torch.save wrote it"));
  }
  Write("import torch\n");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("byte 8 is 0x6f"));
  Write("{]", "");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("not valid JSON"));
  Write(R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "x");
  EXPECT_THAT(ErrorOfLoad(), AllOf(HasSubstr("tensor w"), HasSubstr("F8_E4M3 is not supported")));
  Write(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "xxxx");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("F32 [2] does not fill bytes 0 to 4"));
  Write(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "xxxxxxxx");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("begins at byte 4 of the data instead of byte 0"));
  const char* kHuge =
      R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})";
  Write(kHuge, "");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("does not fill"));
  Write(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,18446744073709551615]}})", "");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("missing or invalid"));
  Write(R"({"w":{"dtype":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}}", "");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("is missing"));
  Write(R"({"w":7,"__metadata__":{}})", "");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("is missing"));
  Write(R"({"__metadata__":7})", "");
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("__metadata__"));
}

}  // namespace
}  // namespace xlaprof::lazy
