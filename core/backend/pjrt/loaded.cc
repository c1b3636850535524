#include "core/backend/pjrt/loaded.h"

#include <absl/functional/function_ref.h>

#include <map>
#include <mutex>

#include "core/ir/stablehlo.h"
#include "core/ir/text.h"

namespace xlaprof::lazy::pjrt {
namespace {

using LoadedOr = absl::StatusOr<std::shared_ptr<Loaded>>;

// Returns what `make` makes, or what it made before if the program has several ranks and some rank
// still has it.
LoadedOr OncePerJob(const PluginDevice& device, const Program& program,
                    absl::FunctionRef<LoadedOr()> make) {
  if (RanksOf(program) == 1) return make();
  struct Made {
    std::mutex mutex;
    std::map<std::pair<const Client*, std::string>, std::weak_ptr<Loaded>> programs;
  };
  static Made& made = *new Made;
  std::lock_guard lock(made.mutex);
  std::erase_if(made.programs, [](const auto& it) { return it.second.expired(); });
  std::weak_ptr<Loaded>& known = made.programs[{&device.client(), IdentityText(program)}];
  if (std::shared_ptr<Loaded> of_another_rank = known.lock()) return of_another_rank;
  XP_TRY(std::shared_ptr<Loaded> loaded, make());
  known = loaded;
  return loaded;
}

}  // namespace

int64_t RanksOf(const Program& program) {
  for (const Instruction& it : program.instructions) {
    // Their last attributes are the number of ranks, and so on (op.h).
    if (it.op == &op::reduce_scatter) return it.attributes[2];
    if (it.op == &op::all_reduce || it.op == &op::all_gather || it.op == &op::collective_broadcast)
      return it.attributes[1];
  }
  return 1;
}

LoadedOr Loaded::Compile(const PluginDevice& device, const Program& program) {
  return OncePerJob(device, program, [&]() -> LoadedOr {
    constexpr std::string_view kFormat = "mlir";
    std::string text = StableHloText(program);
    XP_TRY(const std::string options, device.OptionsFor(RanksOf(program)));
    const PJRT_Program code{.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = text.data(),
                            .code_size = text.size(),
                            .format = kFormat.data(),
                            .format_size = kFormat.size()};
    PJRT_Client_Compile_Args args{.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                  .client = device.client().get(),
                                  .program = &code,
                                  .compile_options = options.data(),
                                  .compile_options_size = options.size()};
    const Api& api = device.api();
    XP_TRY(api.ToStatus(api->PJRT_Client_Compile(&args), "the plugin cannot compile it"));
    return Make(api, args.executable);
  });
}

LoadedOr Loaded::Deserialize(const PluginDevice& device, const Program& program,
                             std::string_view bytes) {
  return OncePerJob(device, program, [&]() -> LoadedOr {
    // The bytes name the device that they were compiled for, which may be another one.
    XP_TRY(const std::string options, device.OptionsFor(RanksOf(program)));
    PJRT_Executable_DeserializeAndLoad_Args args{
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = device.client().get(),
        .serialized_executable = bytes.data(),
        .serialized_executable_size = bytes.size(),
        .overridden_serialized_compile_options = options.data(),
        .overridden_serialized_compile_options_size = options.size()};
    const Api& api = device.api();
    XP_TRY(
        api.ToStatus(api->PJRT_Executable_DeserializeAndLoad(&args), "the plugin cannot load it"));
    return Make(api, args.loaded_executable);
  });
}

LoadedOr Loaded::Make(const Api& api, PJRT_LoadedExecutable* loaded) {
  std::shared_ptr<Loaded> made(new Loaded(api, loaded));
  PJRT_LoadedExecutable_GetExecutable_Args args{
      .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
      .loaded_executable = loaded};
  XP_TRY(api.ToStatus(api->PJRT_LoadedExecutable_GetExecutable(&args), "executable"));
  made->executable_ = args.executable;
  return made;
}

Loaded::~Loaded() {
  if (executable_ != nullptr) {
    PJRT_Executable_Destroy_Args args{.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                      .executable = executable_};
    api_.ToStatus(api_->PJRT_Executable_Destroy(&args), "executable").IgnoreError();
  }
  PJRT_LoadedExecutable_Destroy_Args args{
      .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE, .executable = loaded_};
  api_.ToStatus(api_->PJRT_LoadedExecutable_Destroy(&args), "executable").IgnoreError();
}

absl::StatusOr<std::string> Loaded::Serialize() const {
  PJRT_Executable_Serialize_Args args{.struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE,
                                      .executable = executable_};
  XP_TRY(api_.ToStatus(api_->PJRT_Executable_Serialize(&args), "the plugin cannot save it"));
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

}  // namespace xlaprof::lazy::pjrt
