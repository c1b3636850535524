#include "core/backend/pjrt/client.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

namespace xlaprof::lazy::pjrt {
namespace {

namespace fs = std::filesystem;

std::string ValueText(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString:
      return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64:
      return std::to_string(value.int64_value);
    case PJRT_NamedValue_kInt64List:
      return fmt::format("{}",
                         fmt::join(std::span(value.int64_array_value, value.value_size), "."));
    case PJRT_NamedValue_kFloat:
      return std::to_string(value.float_value);
    case PJRT_NamedValue_kBool:
      return value.bool_value ? "true" : "false";
  }
  return "";  // a newer plugin's type
}

}  // namespace

absl::StatusOr<Client*> Client::Of(const std::string& path) {
  struct Clients {
    std::mutex mutex;
    std::map<std::string, Client*> by_path;
  };
  static Clients& clients = *new Clients;
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  std::lock_guard lock(clients.mutex);
  if (!error) {
    if (const auto found = clients.by_path.find(canonical.string()); found != clients.by_path.end())
      return found->second;
  }
  XP_TRY(const Api api, Api::Load(path));
  auto client = std::unique_ptr<Client>(new Client(api));
  if (absl::Status status = client->Create(); !status.ok())
    return absl::Status(status.code(), fmt::format("{}: {}", path, Message(status)));
  return clients.by_path[canonical.string()] = client.release();
}

absl::Status Client::Create() {
  PJRT_Client_Create_Args create{.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
  XP_TRY(api_.ToStatus(api_->PJRT_Client_Create(&create), "the plugin cannot make a client"));
  client_ = create.client;
  PJRT_Client_AddressableDevices_Args devices{
      .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client_};
  XP_TRY(api_.ToStatus(api_->PJRT_Client_AddressableDevices(&devices),
                       "the plugin cannot list its devices"));
  devices_.assign(devices.addressable_devices,
                  devices.addressable_devices + devices.num_addressable_devices);
  if (devices_.empty()) return NotFound("the plugin has no device that this process can use");
  return ReadVersion();
}

absl::Status Client::ReadVersion() {
  constexpr std::string_view kWhat = "the plugin cannot tell its version";
  PJRT_Client_PlatformName_Args name{.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                     .client = client_};
  XP_TRY(api_.ToStatus(api_->PJRT_Client_PlatformName(&name), kWhat));
  platform_.assign(name.platform_name, name.platform_name_size);
  PJRT_Client_PlatformVersion_Args version{
      .struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE, .client = client_};
  XP_TRY(api_.ToStatus(api_->PJRT_Client_PlatformVersion(&version), kWhat));
  // The platform's version of XLA's CPU is only "cpu". Its attributes differ per release.
  PJRT_Plugin_Attributes_Args attributes{.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
  XP_TRY(api_.ToStatus(api_->PJRT_Plugin_Attributes(&attributes), kWhat));
  version_ = fmt::format("{} {}, PJRT {}", platform_,
                         std::string_view(version.platform_version, version.platform_version_size),
                         api_.version());
  for (const PJRT_NamedValue& it : std::span(attributes.attributes, attributes.num_attributes))
    version_ += fmt::format(", {} {}", std::string_view(it.name, it.name_size), ValueText(it));
  std::replace(version_.begin(), version_.end(), '\n', ' ');
  return absl::OkStatus();
}

}  // namespace xlaprof::lazy::pjrt
