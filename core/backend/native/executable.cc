#include "core/backend/native/executable.h"

#include "base/clock_ns.h"

namespace xlaprof::lazy {
namespace {

NativeBuffer& Native(const Ref<Buffer>& buffer) { return static_cast<NativeBuffer&>(*buffer); }

// Memory that the destructor frees.
class Borrowed {
 public:
  Borrowed(DeviceMemory& memory, int64_t bytes)
      : memory_(memory), bytes_(bytes), data_(bytes > 0 ? memory.Allocate(bytes) : nullptr) {}
  ~Borrowed() { memory_.Free(data_, bytes_); }
  Borrowed(const Borrowed&) = delete;
  char* data() const { return data_; }

 private:
  DeviceMemory& memory_;
  const int64_t bytes_;
  char* const data_;
};

}  // namespace

std::unique_ptr<NativeExecutable> NativeExecutable::CopyFor(Ref<DeviceMemory> memory) const {
  auto copy = std::make_unique<NativeExecutable>();
  copy->plan_ = plan_;
  if (meetings_ != nullptr) copy->meetings_ = std::make_unique<Meetings>();
  for (const std::unique_ptr<Thunk>& thunk : thunks_)
    copy->thunks_.push_back(thunk->Clone(copy->meetings_.get()));
  copy->table_.resize(table_.size());
  copy->memory_ = std::move(memory);
  copy->pool_ = pool_;
  return copy;
}

absl::Status NativeExecutable::Check(const std::vector<Ref<Buffer>>& arguments) const {
  const std::vector<Parameter>& parameters = plan_->parameters;
  if (arguments.size() != parameters.size())
    return Invalid("{}: takes {} arguments, not {}", plan_->name, parameters.size(),
                   arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]->shape() != parameters[i].shape)
      return Invalid("{}: argument {} is {}, not {}", plan_->name, i, arguments[i]->shape().ToText(),
                     parameters[i].shape.ToText());
  }
  return {};
}

absl::StatusOr<std::vector<Ref<Buffer>>> NativeExecutable::Run(std::vector<Ref<Buffer>> arguments,
                                                               const RunContext& context) {
  XP_TRY(Check(arguments));
  const Plan& plan = *plan_;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int32_t slot = plan.parameters[i].slot;
    if (slot >= 0) table_[size_t(slot)] = Native(arguments[i]).data();
  }

  const Borrowed temporaries(*memory_, plan.sizes.temporary_bytes);
  if (plan.sizes.temporary_bytes > 0 && temporaries.data() == nullptr)
    return absl::ResourceExhaustedError(
        fmt::format("{}: no memory left for temporaries, {} bytes", plan.name,
                    plan.sizes.temporary_bytes));
  if (temporaries.data() != temporaries_at_) {
    temporaries_at_ = temporaries.data();
    for (auto [slot, offset] : plan.temporaries) table_[size_t(slot)] = temporaries_at_ + offset;
  }

  absl::InlinedVector<Ref<Buffer>, 8> made;
  for (const Made& it : plan.made) {
    Ref<Buffer> buffer;
    if (it.donor >= 0) {
      Ref<Buffer>& argument = arguments[size_t(it.donor)];
      if (argument.unique() && Native(argument).owns_alone()) buffer = argument;
    }
    if (!buffer) {
      XP_TRY(buffer, NewBuffer(memory_, it.shape, plan.name));
    }
    table_[size_t(it.slot)] = Native(buffer).data();
    made.push_back(std::move(buffer));
  }

  if (meetings_ != nullptr) *meetings_ = {.peers = context.peers};
  for (size_t i = 0; i < thunks_.size(); ++i) {
    if (context.listener == nullptr) {
      thunks_[i]->Run(table_.data());
    } else {
      const int64_t begin_ns = ClockNs(CLOCK_MONOTONIC);
      thunks_[i]->Run(table_.data());
      context.listener->OnKernel(plan.kernels[i], begin_ns, ClockNs(CLOCK_MONOTONIC) - begin_ns);
    }
    if (meetings_ != nullptr) XP_TRY(std::exchange(meetings_->status, absl::OkStatus()));
  }

  std::vector<Ref<Buffer>> results;
  results.reserve(plan.results.size());
  for (const Result& it : plan.results) {
    const Ref<Buffer>& whole =
        it.made >= 0 ? made[size_t(it.made)] : arguments[size_t(it.parameter)];
    if (it.is_view)
      results.push_back(MakeRef<NativeBuffer>(it.shape, Ref<NativeBuffer>(&Native(whole))));
    else
      results.push_back(whole);
  }
  return results;
}

}  // namespace xlaprof::lazy
