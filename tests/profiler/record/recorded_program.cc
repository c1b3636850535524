// What the tests of XLAPROF_RECORD run: a program that knows nothing of files. Its word says what
// becomes of it then: `kill` ends by SIGKILL, `exit` by exit(), both within a block, `exec` replaces
// itself once by itself, `load LIBRARY` loads a library that brings a recorder of its own, `ignore`
// does not care for its children.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "profiler/record/record.h"

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
    XLAPROF_TRACE("compute");
    usleep(1000);
  }
  if (word == "kill" || word == "exit") {
    XLAPROF_TRACE("never ends");
    if (word == "exit") std::exit(0);
    raise(SIGKILL);
  }
  if (word == "exec" && std::getenv("AGAIN") == nullptr) {
    setenv("AGAIN", "1", 1);
    execv("/proc/self/exe", argv);
  }
  if (word == "load") {
    void* library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    void* work = library == nullptr ? nullptr : dlsym(library, "Work");
    if (work == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    reinterpret_cast<void (*)()>(work)();
  }
}
