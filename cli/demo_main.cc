// The program xlaprof-demo, which `xlaprof demo` runs, trains a small network on the lazy runtime.
#include "cli/demo_command.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  return xlaprof::RunProgram(argc, argv, {.add_commands = xlaprof::AddDemoCommand});
}
