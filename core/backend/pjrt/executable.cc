#include "core/backend/pjrt/executable.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/clock_ns.h"

namespace xlaprof::lazy::pjrt {
namespace {

bool IsOperation(const Instruction& instruction) {
  return instruction.op != &op::device_data && instruction.op != &op::constant;
}

bool IsCollective(const Instruction& instruction) {
  const Op* op = instruction.op;
  return op == &op::all_reduce || op == &op::all_gather || op == &op::reduce_scatter ||
         op == &op::collective_broadcast;
}

// Describes the program as one kernel. Flops and bytes are those of its operations and of its
// arguments and results; the plugin's own replace them if it tells any.
Kernel WholeProgram(const Program& program) {
  Kernel kernel{.name = program.name};
  const auto take = [&](int32_t place, std::string* shapes) {
    const Shape& shape = program.instructions[size_t(place)].shape;
    *shapes += (shapes->empty() ? "" : ", ") + shape.ToText();
    kernel.bytes += shape.bytes();
  };
  for (const Instruction& it : program.instructions) {
    if (!IsOperation(it)) continue;
    kernel.op_names += (kernel.op_names.empty() ? "" : " ") + std::string(it.op->name);
    kernel.flops += it.op->flops != nullptr
                        ? it.op->flops(program.OperandShapes(it), it.shape, it.attributes)
                        : double(it.shape.elements());
    kernel.location = it.location;
    kernel.scope = it.scope;
  }
  for (int32_t parameter : program.parameters) take(parameter, &kernel.operands);
  for (int32_t result : program.results) take(result, &kernel.shape);
  return kernel;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PluginExecutable>> PluginExecutable::Make(
    const Program& program, std::shared_ptr<Loaded> loaded, Ref<PluginDevice> device) {
  std::unique_ptr<PluginExecutable> made(
      new PluginExecutable(program, std::move(loaded), std::move(device)));
  XP_TRY(made->CheckResultCount());
  made->ReadSizes();
  made->ReadCost();
  return made;
}

PluginExecutable::PluginExecutable(const Program& program, std::shared_ptr<Loaded> loaded,
                                   Ref<PluginDevice> device)
    : name_(program.name),
      loaded_(std::move(loaded)),
      device_(std::move(device)),
      ranks_(RanksOf(program)),
      donations_(program.donations),
      kernel_(WholeProgram(program)) {
  const auto first = std::ranges::find_if(program.instructions, IsCollective);
  if (first != program.instructions.end()) {
    collective_ = first - program.instructions.begin();
    what_ = fmt::format("{} of {} to {}", first->op->name,
                        program.OperandShapes(*first)[0]->ToText(), first->shape.ToText());
  }
  for (int32_t parameter : program.parameters)
    parameters_.push_back(program.instructions[size_t(parameter)].shape);
  for (int32_t result : program.results)
    results_.push_back(program.instructions[size_t(result)].shape);
  inputs_.resize(parameters_.size());
  outputs_.resize(results_.size());
}

// The plugin writes as many results as its executable has, so their number must be ours.
absl::Status PluginExecutable::CheckResultCount() const {
  const Api& api = device_->api();
  PJRT_Executable_NumOutputs_Args args{.struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE,
                                       .executable = loaded_->executable()};
  XP_TRY(api.ToStatus(api->PJRT_Executable_NumOutputs(&args), name_));
  if (args.num_outputs != results_.size())
    return DataLoss("{}: the plugin's executable has {} results, not {}", name_, args.num_outputs,
                    results_.size());
  return absl::OkStatus();
}

void PluginExecutable::ReadSizes() {
  for (const Shape& shape : parameters_) sizes_.argument_bytes += shape.bytes();
  for (const Shape& shape : results_) sizes_.result_bytes += shape.bytes();
  for (const Program::Donation& donation : donations_)
    sizes_.alias_bytes += results_[size_t(donation.result)].bytes();
  const Api& api = device_->api();
  if (!api.Has(offsetof(PJRT_Api, PJRT_Executable_GetCompiledMemoryStats))) return;
  PJRT_Executable_GetCompiledMemoryStats_Args args{
      .struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE,
      .executable = loaded_->executable()};
  if (!api.ToStatus(api->PJRT_Executable_GetCompiledMemoryStats(&args), name_).ok()) return;
  sizes_.alias_bytes = args.alias_size_in_bytes;
  sizes_.temporary_bytes = args.temp_size_in_bytes;
  sizes_.program_bytes = args.generated_code_size_in_bytes;
}

void PluginExecutable::ReadCost() {
  const Api& api = device_->api();
  PJRT_Executable_GetCostAnalysis_Args args{
      .struct_size = PJRT_Executable_GetCostAnalysis_Args_STRUCT_SIZE,
      .executable = loaded_->executable()};
  if (!api.ToStatus(api->PJRT_Executable_GetCostAnalysis(&args), name_).ok()) return;
  for (const PJRT_NamedValue& it : std::span(args.properties, args.num_properties)) {
    const std::string_view name(it.name, it.name_size);
    if (it.type != PJRT_NamedValue_kFloat || !(it.float_value >= 0)) continue;
    if (name == "flops") kernel_.flops = double(it.float_value);
    if (name == "bytes accessed") kernel_.bytes = int64_t(it.float_value);
  }
}

absl::Status PluginExecutable::Check(const std::vector<Ref<Buffer>>& arguments) const {
  if (arguments.size() != parameters_.size())
    return Invalid("{}: takes {} arguments, not {}", name_, parameters_.size(), arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]->shape() != parameters_[i])
      return Invalid("{}: argument {} is {}, not {}", name_, i, arguments[i]->shape().ToText(),
                     parameters_[i].ToText());
  }
  return absl::OkStatus();
}

// XLA would wait for ever for a rank that runs another program, or none. So the ranks meet before,
// where such a rank gives each of them an error.
absl::StatusOr<int> PluginExecutable::MeetRanks(Peers* peers) {
  if (peers == nullptr || peers->size() != ranks_)
    return Invalid("{}: it was recorded for {} ranks, but runs among {}", what_, ranks_,
                   peers == nullptr ? 1 : peers->size());
  if (size_t(peers->rank()) != device_->index())
    return Invalid(
        "{}: rank {} runs on device {} of the plugin. Ranks on PJRT are threads of one process, on "
        "the plugin's devices in their order. Use run_ranks() or nn::DataParallel in place of "
        "launch(), or set XLAPROF_DEVICE=native",
        what_, peers->rank(), device_->index());
  static std::atomic<int> launches{0};
  const int own = ++launches;
  XP_TRY(const auto offers,
         peers->Meet(collective_, what_, {reinterpret_cast<const char*>(&own), sizeof own}));
  int launch;
  std::memcpy(&launch, offers[0].data(), sizeof launch);
  XP_TRY(peers->Leave());
  return launch;
}

// Computes outputs_ from inputs_, and waits until that is done. `launch` is 0, or the number that all
// ranks of this execution have.
absl::Status PluginExecutable::Execute(int launch) {
  PJRT_ExecuteOptions options{.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                              .launch_id = launch,
                              .non_donatable_input_indices = kept_.data(),
                              .num_non_donatable_input_indices = kept_.size()};
  PJRT_Buffer* const* inputs = inputs_.data();
  PJRT_Buffer** outputs = outputs_.data();
  PJRT_Event* done = nullptr;
  PJRT_LoadedExecutable_Execute_Args args{
      .struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
      .executable = loaded_->get(),
      .options = &options,
      .argument_lists = &inputs,
      .num_devices = 1,
      .num_args = inputs_.size(),
      .output_lists = &outputs,
      .device_complete_events = &done,
      // Each rank executes its own replica.
      .execute_device = ranks_ > 1 ? device_->get() : nullptr};
  const Api& api = device_->api();
  XP_TRY(api.ToStatus(api->PJRT_LoadedExecutable_Execute(&args), name_));
  return api.Await(done, name_);
}

absl::StatusOr<std::vector<Ref<Buffer>>> PluginExecutable::Run(std::vector<Ref<Buffer>> arguments,
                                                               const RunContext& context) {
  XP_TRY(Check(arguments));
  for (size_t i = 0; i < arguments.size(); ++i)
    inputs_[i] = static_cast<const PluginBuffer&>(*arguments[i]).get();
  kept_.clear();
  for (const Program::Donation& donation : donations_) {
    if (!arguments[size_t(donation.parameter)].unique()) kept_.push_back(donation.parameter);
  }
  std::fill(outputs_.begin(), outputs_.end(), nullptr);
  int launch = 0;
  if (ranks_ > 1) {
    XP_TRY(launch, MeetRanks(context.peers));
  }
  const int64_t begin_ns = context.listener != nullptr ? ClockNs(CLOCK_MONOTONIC) : 0;
  const absl::Status status = Execute(launch);
  if (context.listener != nullptr && status.ok())
    context.listener->OnKernel(kernel_, begin_ns, ClockNs(CLOCK_MONOTONIC) - begin_ns);
  // Donated memory must not be counted twice.
  for (const Program::Donation& donation : donations_)
    arguments[size_t(donation.parameter)] = nullptr;
  std::vector<Ref<Buffer>> results;
  results.reserve(results_.size());
  for (size_t i = 0; i < results_.size(); ++i) {
    if (outputs_[i] != nullptr)
      results.push_back(MakeRef<PluginBuffer>(results_[i], outputs_[i], device_));
  }
  XP_TRY(status);
  return results;
}

}  // namespace xlaprof::lazy::pjrt
