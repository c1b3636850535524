#include "profiler/stacks/ptrace.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace xlaprof::stacks {
namespace {

constexpr int kCapSysPtrace = 19;

// Returns a set of capabilities of this process, such as CapEff.
uint64_t Capabilities(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name + ":")) continue;
    const size_t at = line.find_first_not_of(" \t", name.size() + 1);
    uint64_t bits = 0;
    if (at != line.npos) std::from_chars(line.data() + at, line.data() + line.size(), bits, 16);
    return bits;
  }
  return 0;
}

std::string ScopeText(int scope) {
  switch (scope) {
    case 0:
      return "0, which allows it for processes of the same user";
    case 1:
      return "1, which allows it only to a process's own ancestors";
    case 2:
      return "2, which allows it only with the capability CAP_SYS_PTRACE";
    case 3:
      return "3, which allows it to nobody until the machine starts again";
    default:
      return fmt::format("{}, which is unknown", scope);
  }
}

}  // namespace

PtraceFacts ReadPtraceFacts(const ProcessInfo& process) {
  std::error_code error;
  PtraceFacts facts{
      .uid = int64_t(geteuid()), .target_uid = process.uid, .tracer_pid = process.tracer_pid};
  facts.has_capability = (Capabilities("CapEff") >> kCapSysPtrace & 1) != 0;
  facts.may_get_capability = (Capabilities("CapBnd") >> kCapSysPtrace & 1) != 0;
  facts.is_in_container = std::filesystem::exists("/.dockerenv", error) ||
                          std::filesystem::exists("/run/.containerenv", error) ||
                          !facts.may_get_capability;
  int scope = 0;
  if (std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope) facts.ptrace_scope = scope;
  return facts;
}

std::optional<bool> MayLookInto(int64_t pid) {
  char byte = 0;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(1), 1};  // no process has memory there
  const ssize_t got = process_vm_readv(pid_t(pid), &here, 1, &there, 1, 0);
  if (got >= 0 || errno == EFAULT) return true;
  if (errno == EPERM) return false;
  return {};
}

std::string WhyForbidden(const PtraceFacts& facts, const std::string& command) {
  const std::string sudo = fmt::format("`sudo env \"PATH=$PATH\" {}`", command);
  if (facts.tracer_pid != 0) {
    return fmt::format(
        "Process {} is attached to it as a debugger, and only one may be. End that one first.",
        facts.tracer_pid);
  }
  if (facts.ptrace_scope == 3) {
    return fmt::format(
        "/proc/sys/kernel/yama/ptrace_scope is {}. It cannot be lowered before. Set it to 1 where it is set at the start, such as in /etc/sysctl.d.",
        ScopeText(3));
  }
  const std::string container =
      "This container has no capability CAP_SYS_PTRACE. Start it with `docker run --cap-add SYS_PTRACE`, or in Kubernetes with securityContext.capabilities.add: [SYS_PTRACE]";
  if (facts.has_capability) {
    return "Root's capability CAP_SYS_PTRACE is there, but the process is outside of this user namespace, or a security module (seccomp, SELinux, AppArmor) forbids it. Run the command outside of the container.";
  }
  if (facts.uid != facts.target_uid) {
    const std::string users = fmt::format("The process belongs to user {}, and this is user {}.",
                                          facts.target_uid, facts.uid);
    if (facts.may_get_capability)
      return fmt::format("{} Type {}, or become that user.", users, sudo);
    return fmt::format("{} {}.", users, container);
  }
  if (facts.ptrace_scope.value_or(0) > 0) {
    const std::string scope =
        fmt::format("/proc/sys/kernel/yama/ptrace_scope is {}.", ScopeText(*facts.ptrace_scope));
    if (!facts.may_get_capability) return fmt::format("{} {}.", scope, container);
    return fmt::format(
        "{} Type {}, or allow it until the machine starts again: `echo 0 | sudo tee /proc/sys/kernel/yama/ptrace_scope`.",
        scope, sudo);
  }
  if (!facts.may_get_capability)
    return fmt::format("{}. Otherwise the process forbids it itself (prctl PR_SET_DUMPABLE).",
                       container);
  return fmt::format(
      "The process forbids it (prctl PR_SET_DUMPABLE, or a program that changes its user), or seccomp does. Type {}.",
      sudo);
}

}  // namespace xlaprof::stacks
