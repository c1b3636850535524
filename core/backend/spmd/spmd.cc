// A backend whose device consists of several devices. A program is partitioned, compiled for the
// first of them, and run by all at the same time.
#include "base/clock_ns.h"
#include "core/backend/kept_as_text.h"
#include "core/backend/spmd/buffer.h"
#include "core/backend/spmd/join.h"
#include "core/backend/spmd/partition.h"
#include "core/backend/spmd/team.h"

namespace xlaprof::lazy {
namespace {

std::vector<std::string> NamesOf(const SpmdBackends& devices) {
  std::vector<std::string> names;
  for (const auto& device : devices)
    names.push_back(fmt::format("{}:{}", device->name(), names.size()));
  return names;
}

struct SpmdDevices {
  explicit SpmdDevices(SpmdBackends given)
      : backends(std::move(given)), names(NamesOf(backends)), team(names) {}

  const SpmdBackends backends;
  const std::vector<std::string> names;
  Team team;
};

// Returns one sharding per tensor of the list.
std::vector<Sharding> AllOf(const std::vector<Attributes>& shardings) {
  std::vector<Sharding> all;
  for (const Attributes& sharding : shardings) all.push_back(Sharding::Of(sharding));
  return all;
}

class SpmdExecutable final : public Executable {
 public:
  static absl::StatusOr<std::unique_ptr<Executable>> Make(const Program& program,
                                                          std::shared_ptr<SpmdDevices> devices) {
    const SpmdBackends& backends = devices->backends;
    XP_TRY(PartitionedProgram parts, PartitionProgram(program, int64_t(backends.size())));
    std::unique_ptr<SpmdExecutable> made(new SpmdExecutable(program, parts, std::move(devices)));
    XP_TRY(std::unique_ptr<Executable> first,
           backends[0]->Compile(WithJoinedExchanges(parts.program)));
    made->executables_.push_back(std::move(first));
    for (size_t i = 1; i < backends.size(); ++i) {
      XP_TRY(std::unique_ptr<Executable> shared, backends[i]->Share(*made->executables_[0]));
      made->executables_.push_back(std::move(shared));
    }
    return made;
  }

  absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                               const RunContext& context) override {
    const size_t devices = executables_.size();
    XP_TRY(std::vector<std::vector<Ref<Buffer>>> given, DivideArguments(std::move(arguments)));
    std::vector<std::vector<Ref<Buffer>>> made(devices);
    Encounter encounter(static_cast<int64_t>(devices));
    devices_->team.Run([&](int64_t device) {
      const size_t i = size_t(device);
      DevicePeers peers(encounter, device, int64_t(devices));
      auto results = RunOn(device, std::move(given[i]), {context.listener, &peers});
      if (results.ok())
        made[i] = *std::move(results);
      else
        encounter.Break(results.status());
    });
    XP_TRY(encounter.status());
    std::vector<Ref<Buffer>> results;
    for (size_t k = 0; k < results_.size(); ++k) {
      std::vector<Ref<Buffer>> parts;
      for (auto& of_device : made) parts.push_back(std::move(of_device[k]));
      results.push_back(
          MakeRef<SpmdBuffer>(results_[k], result_shardings_[k], std::move(parts)));
    }
    return results;
  }

  Sizes sizes() const override {
    Sizes sizes = executables_[0]->sizes();
    const int64_t devices = int64_t(executables_.size());
    for (int64_t* bytes : {&sizes.argument_bytes, &sizes.result_bytes, &sizes.alias_bytes,
                           &sizes.temporary_bytes})
      *bytes *= devices;
    return sizes;
  }
  std::span<const Kernel> kernels() const override { return executables_[0]->kernels(); }
  std::span<const Attributes> result_shardings() const override { return result_attributes_; }

 private:
  SpmdExecutable(const Program& program, const PartitionedProgram& parts,
                 std::shared_ptr<SpmdDevices> devices)
      : name_(program.name),
        devices_(std::move(devices)),
        parameter_shardings_(AllOf(parts.parameter_shardings)),
        result_shardings_(AllOf(parts.result_shardings)),
        result_attributes_(parts.result_shardings),
        is_donated_(program.parameters.size()) {
    for (int32_t parameter : program.parameters)
      parameters_.push_back(program.instructions[size_t(parameter)].shape);
    for (int32_t result : program.results)
      results_.push_back(program.instructions[size_t(result)].shape);
    for (const Program::Donation& donation : program.donations)
      is_donated_[size_t(donation.parameter)] = true;
  }

  // Returns the arguments of each device. Parts of donated ones are given away.
  absl::StatusOr<std::vector<std::vector<Ref<Buffer>>>> DivideArguments(
      std::vector<Ref<Buffer>> arguments) const {
    if (arguments.size() != parameters_.size())
      return Invalid("{}: takes {} arguments, not {}", name_, parameters_.size(), arguments.size());
    std::vector<std::vector<Ref<Buffer>>> given(executables_.size());
    for (size_t k = 0; k < arguments.size(); ++k) {
      auto& argument = static_cast<SpmdBuffer&>(*arguments[k]);
      if (argument.shape() != parameters_[k] || argument.sharding() != parameter_shardings_[k])
        return Invalid("{}: argument {} is {} {}, not {} {}", name_, k, argument.shape().ToText(),
                       argument.sharding().ToText(), parameters_[k].ToText(),
                       parameter_shardings_[k].ToText());
      const bool is_given = is_donated_[k] && arguments[k].unique();
      std::vector<Ref<Buffer>> parts = is_given ? argument.TakeParts() : argument.parts();
      for (size_t i = 0; i < given.size(); ++i) given[i].push_back(std::move(parts[i]));
    }
    return given;
  }

  absl::StatusOr<std::vector<Ref<Buffer>>> RunOn(int64_t device, std::vector<Ref<Buffer>> arguments,
                                                 const RunContext& context) {
    Executable& executable = *executables_[size_t(device)];
    if (context.listener == nullptr) return executable.Run(std::move(arguments), context);
    context.listener->EnterDevice(devices_->names[size_t(device)]);
    const int64_t begin_ns = ClockNs(CLOCK_MONOTONIC);
    auto results = executable.Run(std::move(arguments), context);
    context.listener->LeaveDevice(begin_ns, ClockNs(CLOCK_MONOTONIC) - begin_ns);
    return results;
  }

  const std::string name_;
  const std::shared_ptr<SpmdDevices> devices_;
  std::vector<Shape> parameters_, results_;
  const std::vector<Sharding> parameter_shardings_, result_shardings_;
  const std::vector<Attributes> result_attributes_;
  std::vector<bool> is_donated_;  // by parameter
  std::vector<std::unique_ptr<Executable>> executables_;  // one per device
};

class SpmdBackend final : public KeptAsText {
 public:
  explicit SpmdBackend(SpmdBackends devices)
      : devices_(std::make_shared<SpmdDevices>(std::move(devices))),
        cache_name_(fmt::format("SPMD{}", backends().size())) {}

  std::string_view name() const override { return "SPMD"; }
  std::string_view cache_name() const override { return cache_name_; }
  int64_t devices() const override { return int64_t(backends().size()); }
  bool divides_tensors() const override { return true; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) override {
    return SpmdExecutable::Make(program, devices_);
  }

  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    return DivideAmong(backends(), host, std::move(shape), {});
  }
  absl::StatusOr<Ref<Buffer>> ToDevices(const void* host, Shape shape,
                                        const Sharding& sharding) override {
    return DivideAmong(backends(), host, std::move(shape), sharding.Simplified());
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    return GatherFrom(backends(), static_cast<const SpmdBuffer&>(buffer), host);
  }

  int64_t NowNs() override { return backends()[0]->NowNs(); }
  int64_t bytes_in_use() const override { return Sum(&Backend::bytes_in_use); }
  int64_t peak_bytes_in_use() const override { return Sum(&Backend::peak_bytes_in_use); }

 private:
  const SpmdBackends& backends() const { return devices_->backends; }
  int64_t Sum(int64_t (Backend::*bytes)() const) const {
    int64_t sum = 0;
    for (const auto& device : backends()) sum += (*device.*bytes)();
    return sum;
  }

  const std::shared_ptr<SpmdDevices> devices_;
  const std::string cache_name_;
};

}  // namespace

std::unique_ptr<Backend> MakeSpmdBackend(SpmdBackends devices) {
  return std::make_unique<SpmdBackend>(std::move(devices));
}

}  // namespace xlaprof::lazy
