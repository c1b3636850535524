// A plugin's device as a backend: it compiles our StableHLO, which names each operation's line.
#include <absl/strings/ascii.h>

#include "base/clock_ns.h"
#include "core/backend/pjrt/executable.h"
#include "core/ir/text.h"

namespace xlaprof::lazy {
namespace pjrt {
namespace {

// The form of a saved program: the three lines of SavedHeader, and the plugin's bytes.
std::string SavedHeader(const Client& client, const Program& program) {
  return fmt::format("pjrt 1\n{}\n{}\n", client.version(),
                     Mix(Hash{}, IdentityText(program)).ToText());
}

class PluginBackend final : public Backend {
 public:
  explicit PluginBackend(Ref<PluginDevice> device)
      : device_(std::move(device)), name_(absl::AsciiStrToUpper(device_->client().platform())) {}

  std::string_view name() const override { return name_; }
  std::string_view cache_name() const override { return "pjrt"; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) override {
    auto loaded = Loaded::Compile(*device_, program);
    if (!loaded.ok())
      return absl::Status(loaded.status().code(),
                          fmt::format("{}: {}", program.name, Message(loaded.status())));
    return PluginExecutable::Make(program, *std::move(loaded), device_);
  }

  absl::StatusOr<std::string> Serialize(const Executable& executable,
                                        const Program& program) override {
    XP_TRY(const std::string bytes,
           static_cast<const PluginExecutable&>(executable).loaded().Serialize());
    return SavedHeader(device_->client(), program) + bytes;
  }

  absl::StatusOr<std::unique_ptr<Executable>> Deserialize(std::string_view bytes,
                                                          const Program& program) override {
    const std::string header = SavedHeader(device_->client(), program);
    if (!bytes.starts_with(header))
      return DataLoss(
          "made by another version of the plugin, or of another program; this plugin is {}",
          device_->client().version());
    XP_TRY(auto loaded, Loaded::Deserialize(*device_, program, bytes.substr(header.size())));
    return PluginExecutable::Make(program, std::move(loaded), device_);
  }

  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    return CopyToDevice(device_, host, std::move(shape));
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    return CopyToHost(*device_, static_cast<const PluginBuffer&>(buffer), host);
  }
  int64_t NowNs() override { return ClockNs(CLOCK_MONOTONIC); }
  int64_t bytes_in_use() const override { return device_->bytes_in_use(); }
  int64_t peak_bytes_in_use() const override { return device_->peak_bytes_in_use(); }

 private:
  const Ref<PluginDevice> device_;
  const std::string name_;
};

}  // namespace
}  // namespace pjrt

absl::StatusOr<std::unique_ptr<Backend>> MakePjrtBackend(const std::string& plugin, int device) {
  XP_TRY(pjrt::Client * client, pjrt::Client::Of(plugin));
  if (device < 0 || size_t(device) >= client->devices().size())
    return NotFound("{}: the plugin has {} devices, so there is no device {}", plugin,
                    client->devices().size(), device);
  return std::make_unique<pjrt::PluginBackend>(pjrt::PluginDevice::Make(*client, size_t(device)));
}

absl::StatusOr<int> CountPjrtDevices(const std::string& plugin) {
  XP_TRY(pjrt::Client * client, pjrt::Client::Of(plugin));
  return int(client->devices().size());
}

}  // namespace xlaprof::lazy
