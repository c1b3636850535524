// The program that the tests of XLAPROF_RECORD run; it knows nothing of files. Its argument selects
// how it ends: `kill` ends by SIGKILL and `exit` by exit(), both within a block. `exec` replaces
// itself once with itself, `fork` forks a child that records, `outlive` and `daemon` fork one that
// records after its parent has ended by exit() and by _exit(), `vanish` is like `outlive` but its
// child ends by _exit(), `load LIBRARY` loads a library that has its own recorder, `ignore` ignores
// its children, `static` records while its static objects are destroyed, and `hang` hangs in a step of
// two threads until somebody ends it.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/observe/observer.h"
#include "profiler/record/record.h"

// The main thread's own objects are already destroyed at that time.
struct RecordsAtTheEnd {
  std::unique_ptr<xlaprof::Trace> open;
  ~RecordsAtTheEnd() {
    static xlaprof::observe::Site site{xlaprof::Category::kHost, "save"};
    xlaprof::observe::Scope outer(site), inner(site);
    xlaprof::Trace(std::string("a name that is made"));
    open.reset();
  }
};

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "ignore") signal(SIGCHLD, SIG_IGN);
  xlaprof::NameThread("main");
  for (int step = 0; step < 5; ++step) {
    XLAPROF_STEP("train", step);
    {
      XLAPROF_TRACE("load");
      usleep(2000);
    }
    XLAPROF_TRACE_IN("math", "compute");
    usleep(1000);
  }
  if (word == "kill" || word == "exit") {
    XLAPROF_TRACE("never ends");
    if (word == "exit") std::exit(0);
    raise(SIGKILL);
  }
  if (word == "hang") {
    XLAPROF_TRACE("epoch");
    XLAPROF_STEP("train", 41);
    std::thread loader([] {
      xlaprof::NameThread("loader");
      XLAPROF_TRACE("load");
      pause();
    });
    XLAPROF_TRACE("allreduce");
    usleep(200'000);
    std::puts("hangs");
    std::fflush(stdout);
    loader.join();
  }
  if (word == "static") {
    static RecordsAtTheEnd last;
    XLAPROF_TRACE("around");
    last.open = std::make_unique<xlaprof::Trace>("outlives the block around it");
  }
  if (word == "exec" && std::getenv("AGAIN") == nullptr) {
    setenv("AGAIN", "1", 1);
    execv("/proc/self/exe", argv);
  }
  if (word == "fork") {
    if (const pid_t child = fork(); child > 0) {
      waitpid(child, nullptr, 0);
      return 0;
    }
    for (int i = 0; i < 500; ++i) {
      XLAPROF_TRACE("in the child");
    }
  }
  if (word == "outlive" || word == "daemon" || word == "vanish") {
    const pid_t parent = getpid();
    if (word == "daemon" && daemon(/*nochdir=*/1, /*noclose=*/1) != 0) return 1;
    if (word == "daemon" && fork() > 0) _exit(0);  // so that it can never get a terminal
    if (word != "daemon" && fork() > 0) return 0;
    while (kill(parent, 0) == 0) usleep(1000);
    for (int i = 0; i < 500; ++i) {
      XLAPROF_TRACE("in the child");
    }
    if (word == "vanish") _exit(0);
  }
  if (word == "load") {
    void* library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    void* work = library == nullptr ? nullptr : dlsym(library, "Work");
    if (work == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    reinterpret_cast<void (*)()>(work)();
  }
}
