// Keeps the compilations that it hears of, and nothing else.
#pragma once

#include <vector>

#include "core/observe/observer.h"

namespace xlaprof::lazy {

class SilentObserver : public observe::Observer {
 public:
  std::vector<observe::Compile> compiles;

  void BeginScope(observe::Site&, std::string_view) override {}
  void EndScope() override {}
  void OnCounter(observe::Site&, double) override {}
  void OnDeviceThread(std::string_view) override {}
  void OnModule(std::string_view, int64_t, int64_t, uint64_t) override {}
  void OnKernel(const observe::Kernel&) override {}
  void OnEnqueue(uint64_t) override {}
  void OnGraph(const observe::Graph&) override {}
  void OnCompile(const observe::Compile& compile) override { compiles.push_back(compile); }
  void OnExecution(const observe::Execution&) override {}
  void OnHostWait(const observe::HostWait&) override {}
  void OnTransfer(const observe::Transfer&) override {}
  void OnFallback(const observe::Fallback&) override {}
  void OnStep(const observe::Step&) override {}
};

}  // namespace xlaprof::lazy
