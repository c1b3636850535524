// The program xlaprof-capture, which `xlaprof capture` runs, takes a profile of running programs over gRPC.
#include "cli/capture_command.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  return xlaprof::RunProgram(argc, argv, {.add_commands = xlaprof::AddCaptureCommand});
}
