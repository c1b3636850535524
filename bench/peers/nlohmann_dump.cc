// nlohmann_dump FILE reads JSON into nlohmann's tree (not timed), then writes the tree as text to
// /dev/null, once. It prints the CPU seconds of only that write. An exporter built on this library
// pays that in addition to making the tree.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

int main(int argc, char** argv) {
  std::ifstream in(argc == 2 ? argv[1] : "");
  nlohmann::json tree = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (tree.is_discarded()) return 2;
  const auto now_s = [] {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
  };
  const double begin_s = now_s();
  const std::string text = tree.dump();
  std::ofstream("/dev/null").write(text.data(), std::streamsize(text.size()));
  std::printf("{\"cpu_s\": %.6f, \"bytes\": %zu}\n", now_s() - begin_s, text.size());
}
