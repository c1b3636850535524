#include "core/backend/native/fused_thunk.h"

#include <algorithm>
#include <bit>

namespace xlaprof::lazy {
namespace {

constexpr int64_t kRegisterWidth = 8;  // bytes of the widest element
// All registers together may take this many bytes, most of the first-level cache.
constexpr int64_t kRegisterBytes = 32768;

// Reads elements [begin, begin + n) of a view; each is `width` bytes wide.
void Read(const FusedThunk::Fetch& fetch, const char* memory, int64_t begin, int64_t n, char* to) {
  const Strided& view = fetch.view;
  const int64_t width = fetch.width;
  const size_t last = view.dims.size() - 1;
  const int64_t row = view.dims[last];
  absl::InlinedVector<int64_t, 6> at(view.dims.size());
  int64_t from = view.offset;
  for (size_t i = view.dims.size(); i-- > 0;) {
    at[i] = begin % view.dims[i];
    begin /= view.dims[i];
    from += at[i] * view.strides[i];
  }
  while (true) {
    const int64_t run = std::min(n, row - at[last]);
    if (view.strides[last] != 0) {
      std::memcpy(to, memory + from * width, size_t(run * width));
    } else {
      auto fill = [&](auto t) {
        using T = decltype(t);
        std::fill_n(reinterpret_cast<T*>(to), run, reinterpret_cast<const T*>(memory)[from]);
      };
      if (width == 1) fill(uint8_t{});
      if (width == 2) fill(uint16_t{});
      if (width == 4) fill(uint32_t{});
      if (width == 8) fill(uint64_t{});
    }
    n -= run;
    if (n == 0) return;
    to += run * width;
    from -= at[last] * view.strides[last];
    at[last] = 0;
    for (size_t i = last; i-- > 0;) {
      from += view.strides[i];
      if (++at[i] < view.dims[i]) break;
      from -= at[i] * view.strides[i];
      at[i] = 0;
    }
  }
}

void Broadcast(const FusedThunk::Scalar& scalar, char* const* memory, char* to, int64_t n) {
  const Loops& loops = ThisCpusLoops();
  Splat value = scalar.bits;
  if (scalar.slot >= 0) {
    const int64_t width = ByteSize(scalar.dtype);
    const char* from = memory[scalar.slot] + scalar.offset * width;
    const void* in[] = {from};
    if (IsShort(scalar.dtype))
      loops.load[size_t(scalar.dtype)](in, value.bytes, 1);
    else
      std::memcpy(value.bytes, from, size_t(width));
  }
  auto fill = [&](auto t) {
    using T = decltype(t);
    T bits;
    std::memcpy(&bits, value.bytes, sizeof bits);
    std::fill_n(reinterpret_cast<T*>(to), n, bits);
  };
  const int64_t width = ByteSize(ComputedAs(scalar.dtype));
  if (width == 1) fill(uint8_t{});
  if (width == 4) fill(uint32_t{});
  if (width == 8) fill(uint64_t{});
}

// Returns this thread's registers, which are kept for the next kernel.
char* Registers(int64_t bytes) {
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  static thread_local std::unique_ptr<char, Free> memory;
  static thread_local int64_t size = 0;
  if (size < bytes) {
    size = (std::max<int64_t>(bytes, 2 * kRegisterBytes) + 63) / 64 * 64;
    memory.reset(static_cast<char*>(std::aligned_alloc(64, size_t(size))));
    XP_CHECK(memory != nullptr);
  }
  return memory.get();
}

}  // namespace

FusedThunk::FusedThunk(std::vector<Step> steps, std::vector<Fetch> fetches,
                       std::vector<Scalar> scalars, int64_t elements, int32_t registers,
                       ThreadPool& pool)
    : steps_(std::move(steps)),
      fetches_(std::move(fetches)),
      scalars_(std::move(scalars)),
      elements_(elements),
      registers_(registers),
      pool_(pool) {}

bool FusedThunk::MayReuse(int32_t operand, int32_t result) const {
  for (const Fetch& fetch : fetches_)
    if (fetch.slot == operand) return false;
  for (const Scalar& scalar : scalars_)
    if (scalar.slot == operand) return false;
  int32_t in = 0, out = -1;
  for (const Step& step : steps_) {
    for (int k = 0; k < step.operands; ++k)
      if (step.in[k].slot == operand) in = step.in[k].width;
    if (step.out.slot == result) out = step.out.width;
  }
  return in == out;
}

// Moves the write of the result after the last read of the operand's block.
void FusedThunk::Reuse(int32_t operand, int32_t result) {
  size_t read = 0, written = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (int k = 0; k < steps_[i].operands; ++k)
      if (steps_[i].in[k].slot == operand) read = i;
    if (steps_[i].out.slot == result) written = i;
  }
  if (read <= written) return;
  const Ref memory = steps_[written].out;
  const Ref reg{.reg = registers_++, .width = memory.width};
  for (Step& step : steps_) {
    for (Ref& in : step.in)
      if (in.slot == result) in = reg;
    if (step.out.slot == result) step.out = reg;
  }
  const Loops& loops = ThisCpusLoops();
  steps_.push_back(
      {.loop = loops.copy[std::countr_zero(unsigned(memory.width))], .in = {reg}, .out = memory});
}

// Reuses registers that are no longer read. Then finds how many elements fit at a time.
void FusedThunk::Prepare() {
  prepared_ = true;
  std::vector<size_t> last(size_t(registers_), 0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const Ref& in : steps_[i].in)
      if (in.reg >= 0) last[size_t(in.reg)] = i;
    if (steps_[i].out.reg >= 0) last[size_t(steps_[i].out.reg)] = i;
  }
  std::vector<int32_t> place(size_t(registers_), -1), unused;
  int32_t used = 0;
  for (Scalar& scalar : scalars_) {
    last[size_t(scalar.reg)] = steps_.size();
    scalar.reg = place[size_t(scalar.reg)] = used++;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    auto assign = [&](Ref& ref) {
      if (ref.reg < 0) return;
      int32_t& at = place[size_t(ref.reg)];
      if (at < 0) {
        if (unused.empty()) unused.push_back(used++);
        at = unused.back();
        unused.pop_back();
      }
    };
    assign(step.out);  // before operands become free, because widths may differ
    const auto before = step;
    for (Ref& in : step.in)
      if (in.reg >= 0) in.reg = place[size_t(in.reg)];
    if (step.out.reg >= 0) step.out.reg = place[size_t(step.out.reg)];
    absl::InlinedVector<int32_t, 4> done;
    auto release = [&](const Ref& ref) {
      if (ref.reg < 0 || last[size_t(ref.reg)] != i) return;
      if (std::find(done.begin(), done.end(), ref.reg) != done.end()) return;
      done.push_back(ref.reg);
      unused.push_back(place[size_t(ref.reg)]);
    };
    for (const Ref& in : before.in) release(in);
    release(before.out);
  }
  registers_ = used;
  int32_t widest = 4;
  for (const Step& step : steps_) widest = std::max(widest, step.out.width);
  for (const Scalar& scalar : scalars_)
    widest = std::max(widest, int32_t(ByteSize(ComputedAs(scalar.dtype))));
  // Memory that is read and written occupies the cache, too.
  const int64_t fits = kRegisterBytes / (widest * (registers_ + 2));
  block_ = int64_t(std::bit_floor(uint64_t(std::clamp<int64_t>(fits, 256, 4096))));
  block_ = std::min(block_, (elements_ + 63) / 64 * 64);
  const int64_t grain = kGrain * 4 / int64_t(std::max<size_t>(4, steps_.size()));
  grain_ = std::max(block_, grain / block_ * block_);
}

void FusedThunk::Run(char* const* memory) {
  if (!prepared_) Prepare();
  pool_.For(elements_, grain_, [&](int64_t begin, int64_t end) { RunRange(memory, begin, end); });
}

void FusedThunk::RunRange(char* const* memory, int64_t begin, int64_t end) const {
  const int64_t stride = block_ * kRegisterWidth;
  char* registers = registers_ == 0 ? nullptr : Registers(stride * registers_);
  for (const Scalar& scalar : scalars_)
    Broadcast(scalar, memory, registers + scalar.reg * stride, std::min(block_, end - begin));
  for (int64_t at = begin; at < end; at += block_) {
    const int64_t n = std::min(block_, end - at);
    auto address = [&](const Ref& ref) {
      return ref.slot >= 0 ? memory[ref.slot] + at * ref.width : registers + ref.reg * stride;
    };
    for (const Step& step : steps_) {
      if (step.fetch >= 0) {
        const Fetch& fetch = fetches_[size_t(step.fetch)];
        Read(fetch, memory[fetch.slot], at, n, address(step.out));
        continue;
      }
      const void* in[3];
      for (int k = 0; k < step.operands; ++k) in[k] = address(step.in[k]);
      step.loop(in, address(step.out), n);
    }
  }
}

}  // namespace xlaprof::lazy
