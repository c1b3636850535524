#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <forward_list>

#include "base/leftover.h"

namespace xlaprof {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<bool> asked_for{false};
// The text to print at the end, in AllWords.
std::atomic<const std::string*> last_words{nullptr};
struct sigaction before[std::size(kSignals)];

// Returns all texts. They are kept until the program ends, because a handler on another thread may
// be reading the last one.
std::forward_list<std::string>& AllWords() {
  static auto* const words = new std::forward_list<std::string>;
  return *words;
}

void OnSignal(int signal) {
  const std::string* words = last_words.load();
  if (words == nullptr && signal != SIGQUIT && !asked_for.exchange(true)) return;
  if (words != nullptr) {
    (void)!write(STDERR_FILENO, words->data(), words->size());
  } else {
    RemoveLeftovers();
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

Interrupt::Interrupt() {
  asked_for = false;
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  last_words = nullptr;
}

bool Interrupt::asked() const { return asked_for; }

void Interrupt::EndWith(const std::string& text) { last_words = &AllWords().emplace_front(text); }

}  // namespace xlaprof
