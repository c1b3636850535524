// Observes the lazy runtime (core/observe) in a recorded process. Scopes and kernels go into the
// rings, facts to the recording's thread.
#include "profiler/record/runtime_observer.h"

#include <vector>

#include "core/observe/observer.h"
#include "profiler/record/clock.h"
#include "profiler/record/record.h"
#include "profiler/record/runtime_facts.h"

namespace xlaprof::record {
namespace {

uint32_t NumberOf(observe::Site& site, std::string_view name) {
  if (name.data() != site.name) return SiteOfName(site.category, name);
  uint32_t number = site.number.load(std::memory_order_relaxed);
  if (number == 0) {
    number = SiteOfName(site.category, name);
    site.number.store(number, std::memory_order_relaxed);
  }
  return number;
}

Ring* RingNow() {
  const uint32_t on = recording.load(std::memory_order_relaxed);
  return on == 0 ? nullptr : RingOfThread(on);
}

// Converts CLOCK_MONOTONIC, in which devices give their times, to the recorder's ticks. Both clocks
// are read together when recording begins, and again whenever the last reading is some time ago.
uint64_t TicksAt(int64_t ns) {
  if (!uses_tsc.load(std::memory_order_relaxed)) return uint64_t(ns);
  static const Anchor first = Clock::ReadAnchor(/*origin_ns=*/0);
  thread_local Anchor last;
  thread_local double ticks_per_ns = 0;
  constexpr int64_t kFresh = 10'000'000;
  if (ticks_per_ns == 0 || ns - last.ns > kFresh) {
    // Two readings close together would give a poor rate.
    constexpr int64_t kApart = 1'000'000;
    do {
      last = Clock::ReadAnchor(/*origin_ns=*/0);
    } while (last.ns - first.ns < kApart);
    ticks_per_ns = double(last.ticks - first.ticks) / double(last.ns - first.ns);
  }
  return last.ticks + uint64_t(int64_t(double(ns - last.ns) * ticks_per_ns));
}

// A scope that is open on this thread.
struct Open {
  Ring* ring;  // null: it began while nobody recorded
  uint64_t begin = 0, what = 0, flow = 0;
};
// Objects destroyed at exit() may open more scopes after the thread's own objects are gone.
constinit thread_local bool scopes_are_gone = false;
struct OpenScopes : std::vector<Open> {
  ~OpenScopes() { scopes_are_gone = true; }
};
thread_local OpenScopes open_scopes;

class RuntimeObserver final : public observe::Observer {
 public:
  void BeginScope(observe::Site& site, std::string_view name,
                  const std::source_location* place) override {
    if (scopes_are_gone) return;
    Open open{RingNow()};
    if (open.ring != nullptr) {
      const uint16_t depth = open.ring->depth();
      const uint32_t number =
          place != nullptr ? SiteOfName(site.category, name, *place) : NumberOf(site, name);
      open.what = Slot::What(number, depth, kScope);
      open.begin = Now();
      open.ring->Open(depth, number, open.begin);
    }
    open_scopes.push_back(open);
  }

  void EndScope() override {
    // If open_scopes is empty, the scope began before this observer listened.
    if (scopes_are_gone || open_scopes.empty()) return;
    const Open open = open_scopes.back();
    open_scopes.pop_back();
    if (open.ring == nullptr) return;
    const uint64_t end = Now();
    const uint64_t what = open.what | Slot::Bits(open.flow != 0 ? kFlowOut : 0);
    if (open.ring == ring_of_thread) {
      open.ring->Publish(open.begin, end, open.flow, what);
      open.ring->Close(uint16_t(open.what >> 32));
    } else {
      open.ring->PublishElsewhere(open.begin, end, open.flow, what, nullptr, 0);
    }
  }

  void OnCounter(observe::Site& site, double value) override {
    if (Ring* ring = RingNow()) {
      ring->Publish(Now(), 0, std::bit_cast<uint64_t>(value),
                    Slot::What(NumberOf(site, site.name), 0, record::kCounter));
    }
  }

  void EnterDevice(std::string_view device) override { record::EnterDevice(device); }
  void LeaveDevice() override { record::LeaveDevice(); }

  void OnModule(std::string_view name, int64_t ts_ns, int64_t dur_ns, uint64_t run) override {
    if (Ring* ring = RingNow()) {
      ring->Publish(
          TicksAt(ts_ns), TicksAt(ts_ns + dur_ns), run,
          Slot::What(SiteOfName(Category::kModule, name), 0, kScope) | Slot::Bits(kFlowIn));
    }
  }

  void OnKernel(const observe::Kernel& kernel) override {
    Ring* ring = RingNow();
    if (ring == nullptr) return;
    static const uint32_t op_names = RecordedString("ops"), shape = RecordedString("shape"),
                          operands = RecordedString("operands"), flops = RecordedString("flops"),
                          bytes = RecordedString("bytes");
    ArgSlot args[3]{};
    int count = 0;
    auto put = [&](uint32_t key, Value value) {
      ArgSlot& slot = args[count / 2];
      slot.bits[count % 2] = value.bits;
      slot.key[count % 2] = key;
      slot.type[count % 2] = uint8_t(value.type);
      ++count;
    };
    put(op_names, ArgOf(kernel.op_names));
    put(shape, ArgOf(kernel.shape));
    put(operands, ArgOf(kernel.operands));
    put(flops, ArgOf(kernel.flops));
    put(bytes, ArgOf(kernel.bytes));
    const uint32_t site = SiteOfName(Category::kOp, kernel.name);
    ring->Publish(TicksAt(kernel.ts_ns), TicksAt(kernel.ts_ns + kernel.dur_ns), 0,
                  Slot::What(site, 1, kScope) | Slot::Bits(count), args, (count + 1) / 2);
  }

  void OnEnqueue(uint64_t run) override {
    if (!scopes_are_gone && !open_scopes.empty()) open_scopes.back().flow = run;
  }

  void OnGraph(const observe::Graph& fact) override { Keep(fact); }
  void OnCompile(const observe::Compilation& fact) override { Keep(fact); }
  void OnExecution(const observe::Execution& fact) override { Keep(fact); }
  void OnHostWait(const observe::HostWait& fact) override { Keep(fact); }
  void OnTransfer(const observe::Transfer& fact) override { Keep(fact); }
  void OnFallback(const observe::Fallback& fact) override { Keep(fact); }
  void OnUntied(const observe::Untied& fact) override { Keep(fact); }
  void OnLoaderEnd(const observe::LoaderEnd& fact) override { Keep(fact); }
  void OnStep(const observe::Step& fact) override { Keep(fact); }

 private:
  template <class Fact>
  void Keep(const Fact& fact) {
    if (recording.load(std::memory_order_relaxed) != 0) RuntimeFacts::Get().Add(fact);
  }
};

}  // namespace

void ObserveRuntime(bool on) {
  static RuntimeObserver& observer = *new RuntimeObserver;
  if (on) TicksAt(ClockNs(CLOCK_MONOTONIC));
  observe::observer.store(on ? &observer : nullptr, std::memory_order_release);
}

}  // namespace xlaprof::record
