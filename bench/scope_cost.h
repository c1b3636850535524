// Measures what one scope or counter costs the recording thread, for our recorder and its peers
// alike. The result is the minimum of many bursts. Each burst is short, and a pause follows it, so
// that the thread that takes the events away keeps up.
#pragma once

#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace bench {

struct Case {
  const char* name;
  void (*run)(int64_t count);
};

inline constexpr int64_t kBurst = 20'000;
inline constexpr int kRounds = 60;

inline int64_t CpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline double BurstNs(void (*run)(int64_t)) {
  const int64_t begin = CpuNs();
  run(kBurst);
  return double(CpuNs() - begin) / double(kBurst);
}

// Measures the lower bound: the clock, which a timed scope reads at both ends.
inline void ReadClock(int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += __rdtsc();
    asm volatile("" : "+r"(sum)::"memory");
  }
}

// Returns the ns of each case, the minimum of kRounds interleaved bursts, as members of a JSON
// object.
inline std::string Costs(const std::vector<Case>& cases, std::chrono::milliseconds pause) {
  std::vector<double> least(cases.size(), 1e18);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < cases.size(); ++i) {
      least[i] = std::min(least[i], BurstNs(cases[i].run));
      std::this_thread::sleep_for(pause);
    }
  }
  std::string json;
  for (size_t i = 0; i < cases.size(); ++i) {
    char text[96];
    std::snprintf(text, sizeof text, "%s\"%s_ns\": %.2f", i > 0 ? ", " : "", cases[i].name,
                  least[i]);
    json += text;
  }
  return json;
}

// Returns the ns of the same case on two threads at once.
inline double OnTwoThreadsNs(void (*run)(int64_t), std::chrono::milliseconds pause) {
  double least = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> ready{0};
    double ns[2] = {};
    auto work = [&](int me) {
      run(100);
      ready.fetch_add(1);
      while (ready.load() < 2) {
      }
      ns[me] = BurstNs(run);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    least = std::min(least, std::max(ns[0], ns[1]));
    std::this_thread::sleep_for(pause);
  }
  return least;
}

}  // namespace bench
