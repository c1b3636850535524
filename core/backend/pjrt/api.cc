// PJRT's structs grow only at their ends, and each begins with the size that its writer knows. A
// newer plugin therefore takes the structs of an older header, and an older plugin of the same major
// version lacks at most the last functions.
#include "core/backend/pjrt/api.h"

#include "core/backend/pjrt/plugin_file.h"

namespace xlaprof::lazy::pjrt {
namespace {

struct Function {
  const char* name;
  size_t offset;
};
#define XP_PJRT_FUNCTION(name) {#name, offsetof(PJRT_Api, name)}
constexpr Function kCalled[] = {
    XP_PJRT_FUNCTION(PJRT_Error_Destroy),
    XP_PJRT_FUNCTION(PJRT_Error_Message),
    XP_PJRT_FUNCTION(PJRT_Error_GetCode),
    XP_PJRT_FUNCTION(PJRT_Plugin_Initialize),
    XP_PJRT_FUNCTION(PJRT_Plugin_Attributes),
    XP_PJRT_FUNCTION(PJRT_Event_Destroy),
    XP_PJRT_FUNCTION(PJRT_Event_Await),
    XP_PJRT_FUNCTION(PJRT_Client_Create),
    XP_PJRT_FUNCTION(PJRT_Client_PlatformName),
    XP_PJRT_FUNCTION(PJRT_Client_PlatformVersion),
    XP_PJRT_FUNCTION(PJRT_Client_AddressableDevices),
    XP_PJRT_FUNCTION(PJRT_Client_Compile),
    XP_PJRT_FUNCTION(PJRT_Client_BufferFromHostBuffer),
    XP_PJRT_FUNCTION(PJRT_DeviceDescription_Id),
    XP_PJRT_FUNCTION(PJRT_Device_GetDescription),
    XP_PJRT_FUNCTION(PJRT_Device_MemoryStats),
    XP_PJRT_FUNCTION(PJRT_Executable_Destroy),
    XP_PJRT_FUNCTION(PJRT_Executable_GetCostAnalysis),
    XP_PJRT_FUNCTION(PJRT_Executable_NumOutputs),
    XP_PJRT_FUNCTION(PJRT_Executable_Serialize),
    XP_PJRT_FUNCTION(PJRT_Executable_DeserializeAndLoad),
    XP_PJRT_FUNCTION(PJRT_LoadedExecutable_Destroy),
    XP_PJRT_FUNCTION(PJRT_LoadedExecutable_GetExecutable),
    XP_PJRT_FUNCTION(PJRT_LoadedExecutable_Execute),
    XP_PJRT_FUNCTION(PJRT_Buffer_Destroy),
    XP_PJRT_FUNCTION(PJRT_Buffer_ToHostBuffer),
    XP_PJRT_FUNCTION(PJRT_Buffer_IsOnCpu),
    XP_PJRT_FUNCTION(PJRT_Buffer_ReadyEvent),
    XP_PJRT_FUNCTION(PJRT_Buffer_UnsafePointer),
};
#undef XP_PJRT_FUNCTION

}  // namespace

absl::StatusOr<Api> Api::Load(const std::string& path) {
  XP_TRY(void* get, OpenPlugin(path));
  const Api api(reinterpret_cast<const PJRT_Api* (*)()>(get)());
  if (api.functions_ == nullptr)
    return Invalid("{}: GetPjrtApi of this PJRT plugin returns nothing", path);
  if (api->pjrt_api_version.major_version != PJRT_API_MAJOR)
    return Unsupported(
        "{}: this plugin has version {} of PJRT, which is incompatible with the header's version, "
        "{}.{}. Use a plugin of PJRT {}, or build xlaprof with the plugin's own pjrt_c_api.h "
        "(-DXLAPROF_PJRT_HEADER_DIR)",
        path, api.version(), PJRT_API_MAJOR, PJRT_API_MINOR, PJRT_API_MAJOR);
  for (const Function& function : kCalled) {
    if (!api.Has(function.offset))
      return Unsupported(
          "{}: this plugin has version {} of PJRT, which is too old: it lacks {}. Use a plugin of version {}.{} or later",
          path, api.version(), function.name, PJRT_API_MAJOR, PJRT_API_MINOR);
  }
  PJRT_Plugin_Initialize_Args args{.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
  XP_TRY(api.ToStatus(api->PJRT_Plugin_Initialize(&args), path));
  return api;
}

std::string Api::version() const {
  return fmt::format("{}.{}", functions_->pjrt_api_version.major_version,
                     functions_->pjrt_api_version.minor_version);
}

bool Api::Has(size_t offset) const {
  if (offset + sizeof(void*) > functions_->struct_size) return false;
  void* function;
  std::memcpy(&function, reinterpret_cast<const char*>(functions_) + offset, sizeof function);
  return function != nullptr;
}

// PJRT's codes are those of absl.
absl::Status Api::Failure(PJRT_Error* error, std::string_view what) const {
  PJRT_Error_Message_Args text{.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
  functions_->PJRT_Error_Message(&text);
  PJRT_Error_GetCode_Args code{.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE, .error = error};
  PJRT_Error* const second = functions_->PJRT_Error_GetCode(&code);
  absl::StatusCode status = absl::StatusCode::kUnknown;
  if (second == nullptr && code.code != PJRT_Error_Code_OK)
    status = absl::StatusCode(int(code.code));
  const std::string message =
      fmt::format("{}: {}", what, std::string_view(text.message, text.message_size));
  for (PJRT_Error* each : {error, second}) {
    PJRT_Error_Destroy_Args destroy{.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = each};
    functions_->PJRT_Error_Destroy(&destroy);
  }
  return absl::Status(status, message);
}

absl::Status Api::Await(PJRT_Event* event, std::string_view what) const {
  PJRT_Event_Await_Args await{.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE, .event = event};
  absl::Status status = ToStatus(functions_->PJRT_Event_Await(&await), what);
  PJRT_Event_Destroy_Args destroy{.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                  .event = event};
  if (absl::Status second = ToStatus(functions_->PJRT_Event_Destroy(&destroy), what); status.ok())
    status = std::move(second);
  return status;
}

}  // namespace xlaprof::lazy::pjrt
