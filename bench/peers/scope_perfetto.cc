// Measures Perfetto's SDK with its in-process backend and a buffer that keeps up. A slice is two
// packets.
#include "bench/scope_cost.h"
#include "perfetto.h"

PERFETTO_DEFINE_CATEGORIES(perfetto::Category("bench"));
PERFETTO_TRACK_EVENT_STATIC_STORAGE();

namespace {

void Scopes(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    TRACE_EVENT("bench", "scope");
    asm volatile("" ::: "memory");
  }
}
void Args(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    TRACE_EVENT("bench", "with an argument", "i", i);
    asm volatile("" ::: "memory");
  }
}
void Counters(int64_t count) {
  for (int64_t i = 0; i < count; ++i) TRACE_COUNTER("bench", "counter", double(i));
}

}  // namespace

int main() {
  perfetto::TracingInitArgs args;
  args.backends = perfetto::kInProcessBackend;
  args.shmem_size_hint_kb = 32 * 1024;
  perfetto::Tracing::Initialize(args);
  perfetto::TrackEvent::Register();
  perfetto::TraceConfig config;
  auto* buffer = config.add_buffers();
  buffer->set_size_kb(256 * 1024);
  buffer->set_fill_policy(perfetto::TraceConfig::BufferConfig::RING_BUFFER);
  config.add_data_sources()->mutable_config()->set_name("track_event");
  auto session = perfetto::Tracing::NewTrace();
  session->Setup(config);
  session->StartBlocking();
  constexpr std::chrono::milliseconds kPause{3};
  const std::string costs = bench::Costs(
      {{"clock", bench::ReadClock}, {"scope", Scopes}, {"arg", Args}, {"counter", Counters}},
      kPause);
  const double two_threads = bench::OnTwoThreadsNs(Scopes, kPause);
  session->StopBlocking();
  std::printf("{%s, \"two_threads_ns\": %.2f}\n", costs.c_str(), two_threads);
}
