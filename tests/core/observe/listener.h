// An observer that keeps the events it hears as text; each test overrides those it listens to.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "core/observe/observer.h"

namespace xlaprof::lazy {

class Listener : public observe::Observer {
 public:
  std::vector<std::string> heard;

  void BeginScope(observe::Site&, std::string_view, const std::source_location*) override {}
  void EndScope() override {}
  void OnCounter(observe::Site&, double) override {}
  void EnterDevice(std::string_view) override {}
  void LeaveDevice() override {}
  void OnModule(std::string_view, int64_t, int64_t, uint64_t) override {}
  void OnKernel(const observe::Kernel&) override {}
  void OnEnqueue(uint64_t) override {}
  void OnGraph(const observe::Graph&) override {}
  void OnCompile(const observe::Compilation&) override {}
  void OnExecution(const observe::Execution&) override {}
  void OnHostWait(const observe::HostWait&) override {}
  void OnTransfer(const observe::Transfer&) override {}
  void OnFallback(const observe::Fallback&) override {}
  void OnUntied(const observe::Untied&) override {}
  void OnLoaderEnd(const observe::LoaderEnd&) override {}
  void OnStep(const observe::Step&) override {}

 protected:
  void Hear(std::string text) {
    std::lock_guard lock(mutex_);
    heard.push_back(std::move(text));
  }

 private:
  std::mutex mutex_;
};

}  // namespace xlaprof::lazy
