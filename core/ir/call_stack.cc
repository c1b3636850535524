#include "core/ir/call_stack.h"

#include <absl/container/flat_hash_map.h>
#include <absl/debugging/symbolize.h>
#include <absl/strings/match.h>
#include <absl/strings/str_split.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>

#include "base/escape.h"
#include "base/numbers.h"
#include "base/source_location.h"

namespace xlaprof::lazy {
namespace {

using Address = const char*;

// Returns the addresses of the calls, innermost first, from the caller on.
[[gnu::noinline]] std::vector<Address> CallsOfThread() {
  constexpr int kMaxDepth = 64, kOwn = 1;
  void* frames[kMaxDepth];
  const int depth = backtrace(frames, kMaxDepth);
  std::vector<Address> calls;
  // An address is that of the return, so the call precedes it.
  for (int i = kOwn; i < depth; ++i) calls.push_back(static_cast<Address>(frames[i]) - 1);
  return calls;
}

// Returns the name of the function around `call`, or "".
std::string SymbolOf(Address call) {
  char symbol[512];
  return absl::Symbolize(call, symbol, sizeof symbol) ? symbol : "";
}

// A place as the symbols and the debug information have it.
struct Found {
  std::string function;  // with namespaces and parameters
  std::string file;
  int64_t line = 0;
};

// The file that code was loaded from, and the code's address there.
struct Loaded {
  std::string file;
  uint64_t address = 0;
};
Loaded LoadedFrom(Address call) {
  Dl_info info;
  if (dladdr(call, &info) == 0 || info.dli_fname == nullptr) return {};
  const auto base = static_cast<Address>(info.dli_fbase);
  const bool is_moved = reinterpret_cast<const ElfW(Ehdr)*>(base)->e_type == ET_DYN;
  Loaded loaded{info.dli_fname, is_moved ? uint64_t(call - base) : uint64_t(uintptr_t(call))};
  // The program itself has the name that it was started by, which may need the PATH.
  std::error_code error;
  if (!std::filesystem::exists(loaded.file, error))
    loaded.file = std::filesystem::read_symlink("/proc/self/exe", error);
  return loaded;
}

// Reads two lines of addr2line: a function, and `train.cc:12 (discriminator 3)`. The line is 0 if
// it is not known.
Found FoundAt(absl::string_view function, absl::string_view at) {
  std::string_view place(at.data(), at.size());
  place = place.substr(0, place.find(" ("));
  const size_t colon = std::min(place.rfind(':'), place.size());
  Found found{std::string(function), "", 0};
  const std::optional<int64_t> line = ParseCount(place.substr(std::min(colon + 1, place.size())));
  if (!line || *line == 0) return found;
  found.line = *line;
  found.file = std::filesystem::path(place.substr(0, colon)).lexically_normal();
  return found;
}

// Asks addr2line for the places of code, innermost first: an inlined call is one, too. Its answer
// is for each address `0x12f`, then a line of the function and a line of the place for each call.
// Without that program, no place is found.
std::vector<std::vector<Found>> AskAddr2line(const std::string& file,
                                             std::span<const uint64_t> addresses) {
  std::string command = fmt::format("addr2line -a -f -i -C -e {}", ShellWord(file));
  for (uint64_t address : addresses) command += fmt::format(" {:#x}", address);
  std::string answer;
  if (std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "re")) {
    char part[4096];
    while (const size_t bytes = std::fread(part, 1, sizeof part, pipe)) answer.append(part, bytes);
    pclose(pipe);
  }
  std::vector<std::vector<Found>> found;
  absl::string_view function;
  for (absl::string_view line : absl::StrSplit(answer, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "0x")) {
      found.emplace_back();
      function = {};
    } else if (found.empty()) {
      break;
    } else if (function.empty()) {
      function = line;
    } else {
      found.back().push_back(FoundAt(function, line));
      function = {};
    }
  }
  found.resize(addresses.size());
  return found;
}

// All stacks so far, by id, and the places of their calls that were asked for.
struct Stacks {
  std::mutex mutex;
  std::deque<std::vector<Address>> stacks{{}};
  absl::flat_hash_map<std::vector<Address>, CallStackId> ids;
  std::vector<Address> unasked;
  absl::flat_hash_map<Address, std::vector<Found>> places;  // empty while they are unasked
};
Stacks& AllStacks() {
  static Stacks& stacks = *new Stacks;
  return stacks;
}

// Finds the places of all recorded calls that are new, because starting addr2line takes longer than
// its answers. Needs the mutex.
void FindNewPlaces(Stacks& all) {
  constexpr size_t kMostPerCommand = 4096;
  std::map<std::string, std::vector<std::pair<uint64_t, Address>>> by_file;
  for (Address call : all.unasked) {
    const Loaded loaded = LoadedFrom(call);
    by_file[loaded.file].emplace_back(loaded.address, call);
  }
  all.unasked.clear();
  for (const auto& [file, calls] : by_file) {
    for (size_t begin = 0; begin < calls.size(); begin += kMostPerCommand) {
      std::vector<uint64_t> addresses;
      for (size_t i = begin; i < std::min(calls.size(), begin + kMostPerCommand); ++i)
        addresses.push_back(calls[i].first);
      std::vector<std::vector<Found>> found = AskAddr2line(file, addresses);
      for (size_t i = 0; i < found.size(); ++i) {
        const auto [address, call] = calls[begin + i];
        std::vector<Found>& places = all.places[call];
        places = std::move(found[i]);
        if (!places.empty() && places.back().line > 0) continue;
        places = {{SymbolOf(call), fmt::format("{}+{:#x}", file, address)}};
      }
    }
  }
}

// Returns the folder that the runtime was compiled in, as its debug information names it, or "".
const std::string& RuntimeFolder(const Stacks& all) {
  static const std::string& folder = *[&] {
    constexpr std::string_view kThisFile = "ir/call_stack.cc";
    for (const auto& [call, places] : all.places) {
      for (const Found& place : places) {
        if (place.file.ends_with(kThisFile))
          return new std::string(place.file, 0, place.file.size() - kThisFile.size());
      }
    }
    return new std::string;
  }();
  return folder;
}

// Returns whether a function belongs to the runtime, the standard library or the start of a thread.
bool IsOfLibrary(const Found& place, const std::string& runtime_folder) {
  if (place.function.empty() || place.file.starts_with("/usr/include/")) return true;
  if (!runtime_folder.empty() && place.file.starts_with(runtime_folder)) return true;
  const std::vector<std::string> parts = FunctionNameParts(place.function);
  if (parts.size() > 1)
    return parts[0] == "std" || parts[0] == "__gnu_cxx" || parts[0] == "absl" ||
           (parts[0] == "xlaprof" && parts[1] == "lazy");
  constexpr std::string_view kStarts[] = {"_start", "__libc_start", "start_thread", "clone",
                                          "__clone"};
  return std::ranges::any_of(
      kStarts, [&](std::string_view start) { return place.function.starts_with(start); });
}

}  // namespace

void RecordCallStacks() { records_call_stacks.store(true, std::memory_order_relaxed); }

CallStackId CaptureCallStack() {
  if (!records_call_stacks.load(std::memory_order_relaxed)) return 0;
  std::vector<Address> calls = CallsOfThread();
  Stacks& all = AllStacks();
  std::lock_guard lock(all.mutex);
  const auto [at, is_new] = all.ids.try_emplace(std::move(calls), CallStackId(all.stacks.size()));
  if (!is_new) return at->second;
  all.stacks.push_back(at->first);
  for (Address call : at->first) {
    if (all.places.try_emplace(call).second) all.unasked.push_back(call);
  }
  return at->second;
}

std::vector<SourcePlace> UserPlaces(CallStackId stack, const std::source_location& innermost) {
  std::vector<SourcePlace> places{
      {innermost.file_name(), int64_t(innermost.line()), FunctionName(innermost)}};
  if (stack == 0) return places;
  Stacks& all = AllStacks();
  std::lock_guard lock(all.mutex);
  FindNewPlaces(all);
  const std::string& runtime_folder = RuntimeFolder(all);
  std::vector<SourcePlace> callers;
  for (Address call : all.stacks[stack]) {
    for (const Found& place : all.places[call]) {
      if (!IsOfLibrary(place, runtime_folder))
        callers.push_back({place.file, place.line, FunctionName(place.function)});
    }
  }
  // The calls up to the innermost place are known less exactly than it. Where its line is not
  // known, its function tells which they are.
  auto same = std::ranges::find_if(
      callers, [&](const SourcePlace& place) { return place.IsLineOf(places[0]); });
  if (same == callers.end())
    same = std::ranges::find(callers, places[0].function, &SourcePlace::function);
  if (same != callers.end()) callers.erase(callers.begin(), same + 1);
  std::ranges::move(callers, std::back_inserter(places));
  return places;
}

std::vector<std::string> FunctionsOfThread() {
  std::vector<std::string> names;
  for (Address call : CallsOfThread()) {
    std::string name = SymbolOf(call);
    names.push_back(name.empty() ? "(unknown)" : std::move(name));
  }
  return names;
}

}  // namespace xlaprof::lazy
