// A plugin of PJRT that cannot be used, for the reason in XLAPROF_FAKE_PLUGIN_FAULT.
#include <pjrt_c_api.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

struct PJRT_Error {
  const char* message;
};

namespace {

std::string_view Fault() {
  const char* fault = std::getenv("XLAPROF_FAKE_PLUGIN_FAULT");
  return fault != nullptr ? fault : "";
}
PJRT_Error* NoChip() { return new PJRT_Error{"there is no chip"}; }

void DestroyError(PJRT_Error_Destroy_Args* args) { delete args->error; }
void ErrorMessage(PJRT_Error_Message_Args* args) {
  args->message = args->error->message;
  args->message_size = std::strlen(args->message);
}
PJRT_Error* ErrorCode(PJRT_Error_GetCode_Args* args) {
  args->code = PJRT_Error_Code_UNAVAILABLE;
  return nullptr;
}
PJRT_Error* Initialize(PJRT_Plugin_Initialize_Args*) {
  return Fault() == "initialize" ? NoChip() : nullptr;
}
PJRT_Error* CreateClient(PJRT_Client_Create_Args*) {
  return Fault() == "client" ? NoChip() : nullptr;
}
PJRT_Error* NoDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->num_addressable_devices = 0;
  return nullptr;
}

}  // namespace

extern "C" const PJRT_Api* GetPjrtApi() {
  static PJRT_Api api;
  const std::string_view fault = Fault();
  if (fault == "no table") return nullptr;
  // Functions that are never called need only be there.
  void* const some = reinterpret_cast<void*>(&NoDevices);
  for (size_t at = offsetof(PJRT_Api, PJRT_Error_Destroy); at < sizeof api; at += sizeof some)
    std::memcpy(reinterpret_cast<char*>(&api) + at, &some, sizeof some);
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = DestroyError;
  api.PJRT_Error_Message = ErrorMessage;
  api.PJRT_Error_GetCode = ErrorCode;
  api.PJRT_Plugin_Initialize = Initialize;
  api.PJRT_Client_Create = CreateClient;
  api.PJRT_Client_AddressableDevices = NoDevices;
  if (fault == "major version") {
    api.pjrt_api_version.major_version = 7;
    api.pjrt_api_version.minor_version = 3;
  } else if (fault == "too old") {
    api.struct_size = offsetof(PJRT_Api, PJRT_Client_BufferFromHostBuffer);
    api.pjrt_api_version.minor_version = 3;
  } else if (fault == "null function") {
    api.PJRT_Event_Await = nullptr;
  }
  return &api;
}
