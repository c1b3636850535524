// What the tests of XLAPROF_RECORD run: a program that knows nothing of files. `recorded_program
// kill` ends by SIGKILL.
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "profiler/record/record.h"

int main(int argc, char** argv) {
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
  if (argc > 1 && std::strcmp(argv[1], "kill") == 0) {
    XLAPROF_TRACE("never ends");
    raise(SIGKILL);
  }
}
