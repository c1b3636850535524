// The program xlaprof-view, which `xlaprof view` runs, shows a run in a browser.
#include "cli/program.h"
#include "cli/view_command.h"

int main(int argc, char** argv) {
  return xlaprof::RunProgram(argc, argv, {.add_commands = xlaprof::AddViewCommand});
}
