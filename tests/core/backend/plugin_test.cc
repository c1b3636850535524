// Tests what is wrong with a plugin before it is used, and the options of a compilation. No plugin is
// needed.
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "core/backend/backend.h"
#include "core/backend/pjrt/options.h"
#include "core/backend/pjrt/plugin_file.h"

namespace xlaprof::lazy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameOne =
    ". Set XLAPROF_PJRT_PLUGIN to the shared library of a PJRT plugin, such as xla_cpu_pjrt.so of the "
    "Python package xla-cpu-pjrt";

std::string ErrorOf(const fs::path& plugin) {
  return std::string(Message(pjrt::OpenPlugin(plugin).status()));
}

TEST(PluginFile, SaysWhatIsWrongWithTheFile) {
  const auto folder = TemporaryFolder::Make("plugin-test");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(ErrorOf(""), fmt::format("no PJRT plugin is named{}", kNameOne));
  const fs::path absent = folder->path() / "absent.so";
  EXPECT_EQ(ErrorOf(absent), fmt::format("{}: no such file{}", absent.string(), kNameOne));
  EXPECT_TRUE(absl::IsNotFound(pjrt::OpenPlugin(absent).status()));
  EXPECT_EQ(ErrorOf(folder->path()), fmt::format("{}: is a directory, not a PJRT plugin{}",
                                                 folder->path().string(), kNameOne));
  const fs::path text = folder->path() / "text.so";
  std::ofstream(text) << "This is no library.";
  EXPECT_TRUE(ErrorOf(text).starts_with(
      fmt::format("{}: cannot be loaded as a PJRT plugin: ", text.string())));
  EXPECT_TRUE(ErrorOf(text).ends_with(kNameOne));
  // A name without a slash is a file of this folder, and never one that the loader would find.
  EXPECT_EQ(ErrorOf("libm.so.6"), fmt::format("libm.so.6: no such file{}", kNameOne));
}

TEST(PluginFile, ALibraryOfAnotherKindIsNoPlugin) {
  EXPECT_EQ(ErrorOf(XLAPROF_ORDINARY_LIBRARY),
            fmt::format("{}: is no PJRT plugin, because it does not export GetPjrtApi{}",
                        XLAPROF_ORDINARY_LIBRARY, kNameOne));
}

std::string OptionsFor(std::vector<int64_t> device_ids, std::string_view platform) {
  return pjrt::CompileOptions(device_ids, platform);
}

TEST(PluginOptions, NameTheDevices) {
  // CompileOptionsProto{executable_build_options: {num_replicas: 1, num_partitions: 1,
  // device_assignment: {replica_count: 1, computation_count: 1, computation_devices:
  // {replica_device_ids: [3]}}}}, as XLA writes it.
  const std::string of_3("\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x03",
                         17);
  EXPECT_EQ(OptionsFor({3}, "cuda"), of_3);
  // 131072 takes three bytes, so each length is two larger.
  EXPECT_EQ(
      OptionsFor({131072}, "cuda"),
      std::string("\x1a\x11\x20\x01\x28\x01\x4a\x0b\x08\x01\x10\x01\x1a\x05\x0a\x03\x80\x80\x08",
                  19));
  // Two replicas, on the devices 5 and 4.
  EXPECT_EQ(
      OptionsFor({5, 4}, "cuda"),
      std::string("\x1a\x10\x20\x02\x28\x01\x4a\x0a\x08\x02\x10\x01\x1a\x04\x0a\x02\x05\x04", 18));
  // env_option_overrides: {key: "xla_cpu_enable_fast_min_max", value: {bool_field: false}}
  EXPECT_EQ(OptionsFor({3}, "cpu"), of_3 + "\x3a\x21\x0a\x1bxla_cpu_enable_fast_min_max" +
                                        std::string("\x12\x02\x10\x00", 4));
}

#ifndef XLAPROF_FAKE_PLUGIN

TEST(Pjrt, WithoutItsHeaderTheErrorNamesTheOption) {
  const std::string error =
      "this xlaprof was built without PJRT's header. Configure it with "
      "-DXLAPROF_PJRT_HEADER_DIR=FOLDER, the folder of pjrt_c_api.h, which is in the Python package "
      "xla-cpu-pjrt";
  EXPECT_EQ(Message(MakePjrtBackend("plugin.so").status()), error);
  EXPECT_EQ(Message(CountPjrtDevices("plugin.so").status()), error);
}

#else

// Returns the error with a plugin that is wrong in this way (fake_plugin.cc).
std::string ErrorOfFake(const char* fault) {
  setenv("XLAPROF_FAKE_PLUGIN_FAULT", fault, 1);
  std::string error(Message(MakePjrtBackend(XLAPROF_FAKE_PLUGIN).status()));
  EXPECT_EQ(error, Message(CountPjrtDevices(XLAPROF_FAKE_PLUGIN).status()));
  unsetenv("XLAPROF_FAKE_PLUGIN_FAULT");
  const std::string path = XLAPROF_FAKE_PLUGIN ": ";
  if (!error.starts_with(path)) return error;
  return error.substr(path.size());
}

TEST(Pjrt, RefusesPluginsThatDoNotFit) {
  EXPECT_EQ(ErrorOfFake("no table"), "GetPjrtApi of this PJRT plugin returns nothing");
  const std::string major = ErrorOfFake("major version");
  EXPECT_TRUE(
      major.starts_with("this plugin has version 7.3 of PJRT, which is incompatible with the "
                        "header's version, 0."))
      << major;
  EXPECT_TRUE(major.ends_with("pjrt_c_api.h (-DXLAPROF_PJRT_HEADER_DIR)")) << major;
  const std::string old = ErrorOfFake("too old");
  EXPECT_TRUE(
      old.starts_with("this plugin has version 0.3 of PJRT, which is too old: it lacks "
                      "PJRT_Client_BufferFromHostBuffer. Use a plugin of version 0."))
      << old;
  const std::string missing = ErrorOfFake("null function");
  EXPECT_TRUE(missing.find("it lacks PJRT_Event_Await.") != std::string::npos) << missing;
}

TEST(Pjrt, TellsThePluginsOwnError) {
  EXPECT_EQ(ErrorOfFake("initialize"), "there is no chip");
  EXPECT_EQ(ErrorOfFake("client"), "the plugin cannot make a client: there is no chip");
  EXPECT_EQ(ErrorOfFake("no devices"), "the plugin has no device that this process can use");
}

#endif

}  // namespace
}  // namespace xlaprof::lazy
