// Runs the built program, as a user would.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/read_file.h"

namespace xlaprof {

struct Ran {
  int status = -1;
  std::string out;  // standard output and, after it, standard error
};

// Runs a shell command in `folder`, which no other test may use at that time: standard error goes
// through the file stderr.txt there.
inline Ran RunShell(const std::string& shell, const std::filesystem::path& folder) {
  std::string command =
      "cd '" + folder.string() + "' && " + shell + " 2>stderr.txt; s=$?; cat stderr.txt; exit $s";
  FILE* pipe = popen(command.c_str(), "r");
  Ran ran;
  std::array<char, 1 << 16> buffer;
  while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    ran.out.append(buffer.data(), got);
  int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

// Runs the program with `arguments`, which is shell text. The working directory is `folder`.
inline Ran RunProgram(const std::string& arguments, const std::filesystem::path& folder,
                      const std::string& environment = "") {
  return RunShell(environment + " " XLAPROF_PROGRAM " " + arguments, folder);
}

// A test with its own directory.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    std::string name = (std::filesystem::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = std::filesystem::canonical(mkdtemp(name.data()));
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string Content(const std::string& name) { return ReadFile(folder_ / name); }
  Ran Run(const std::string& arguments, const std::string& environment = "") {
    return RunProgram(arguments, folder_, environment);
  }
  std::filesystem::path folder_;
};

}  // namespace xlaprof
