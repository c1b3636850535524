// A plugin's client, through which all devices of the plugin are used.
#pragma once

#include <span>
#include <vector>

#include "core/backend/pjrt/api.h"

namespace xlaprof::lazy::pjrt {

class Client {
 public:
  // Returns the client of the plugin at `path`. There is one per process and plugin, made at the
  // first call and never destroyed.
  static absl::StatusOr<Client*> Of(const std::string& path);

  const Api& api() const { return api_; }
  PJRT_Client* get() const { return client_; }
  // Returns the devices of this process.
  std::span<PJRT_Device* const> devices() const { return devices_; }
  const std::string& platform() const { return platform_; }  // cpu
  // Returns what must be equal if another process is to load a serialized executable: the plugin's
  // platform, versions and attributes, on one line.
  const std::string& version() const { return version_; }

 private:
  explicit Client(const Api& api) : api_(api) {}
  absl::Status Create();
  absl::Status ReadVersion();

  const Api api_;
  PJRT_Client* client_ = nullptr;
  std::vector<PJRT_Device*> devices_;
  std::string platform_, version_;
};

}  // namespace xlaprof::lazy::pjrt
