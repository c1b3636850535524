// Measures a mutex and a vector, the usual code of a program that profiles itself.
#include <mutex>

#include "bench/scope_cost.h"

namespace {

struct Event {
  const char* name;
  uint64_t begin, end;
};
std::mutex mutex;
std::vector<Event>& events = *new std::vector<Event>;

struct Scope {
  explicit Scope(const char* text) : name(text), begin(__rdtsc()) {}
  ~Scope() {
    const uint64_t end = __rdtsc();
    std::lock_guard lock(mutex);
    events.push_back({name, begin, end});
  }
  const char* name;
  uint64_t begin;
};

void Scopes(int64_t count) {
  {
    std::lock_guard lock(mutex);
    if (events.size() > 1'000'000) events.clear();
  }
  for (int64_t i = 0; i < count; ++i) {
    Scope scope("scope");
    asm volatile("" ::: "memory");
  }
}

}  // namespace

int main() {
  events.reserve(2'000'000);
  constexpr std::chrono::milliseconds kPause{3};
  const std::string costs = bench::Costs({{"clock", bench::ReadClock}, {"scope", Scopes}}, kPause);
  std::printf("{%s, \"two_threads_ns\": %.2f}\n", costs.c_str(),
              bench::OnTwoThreadsNs(Scopes, kPause));
}
