// Measures spdlog with one log line per scope to /dev/null, as in programs without a profiler.
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "bench/scope_cost.h"

namespace {

std::shared_ptr<spdlog::logger> logger;

struct Scope {
  explicit Scope(const char* text) : name(text), begin(__rdtsc()) {}
  ~Scope() { logger->info("{} took {}", name, __rdtsc() - begin); }
  const char* name;
  uint64_t begin;
};

void Scopes(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Scope scope("scope");
    asm volatile("" ::: "memory");
  }
}

}  // namespace

int main() {
  logger = spdlog::basic_logger_mt<spdlog::async_factory>("scopes", "/dev/null");
  constexpr std::chrono::milliseconds kPause{20};
  const std::string costs = bench::Costs({{"clock", bench::ReadClock}, {"scope", Scopes}}, kPause);
  std::printf("{%s}\n", costs.c_str());
}
