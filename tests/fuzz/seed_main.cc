// fuzz_seeds FOLDER writes the seeds of each target into FOLDER/TARGET/ and prints the names of the
// targets, one per line.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/targets.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  for (const xlaprof::FuzzTarget& target : xlaprof::FuzzTargets()) {
    const fs::path folder = fs::path(argv[1]) / target.name;
    fs::create_directories(folder);
    size_t number = 0;
    for (const std::string& seed : target.seeds()) {
      std::ofstream file(folder / ("seed_" + std::to_string(number++)), std::ios::binary);
      file.write(seed.data(), std::streamsize(seed.size()));
    }
    std::printf("%s\n", target.name.c_str());
  }
}
