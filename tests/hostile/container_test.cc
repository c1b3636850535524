// Tests compressed input that is cut, altered, empty, nested or a bomb, and inputs that are not
// regular files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "tests/hostile/check.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/expect.h"
#include "tests/hostile/golden_inputs.h"
#include "tests/hostile/hostile_text.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Returns `stretch` repeated `times` times and compressed, without holding all of it in memory.
std::string GzipOf(std::string_view stretch, size_t times) {
  std::string out;
  z_stream stream{};
  XP_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  char buffer[1 << 16];
  for (size_t i = 0; i <= times; ++i) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stretch.data()));
    stream.avail_in = i < times ? uInt(stretch.size()) : 0;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof buffer;
      deflate(&stream, i < times ? Z_NO_FLUSH : Z_FINISH);
      out.append(buffer, sizeof buffer - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return out;
}

// Returns the content of a gzip file, or "" if it is damaged.
std::string Gunzipped(std::string_view gzip, size_t bytes) {
  std::string out(bytes + 1, '\0');
  z_stream stream{};
  XP_CHECK(inflateInit2(&stream, 15 + 16) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = uInt(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = uInt(out.size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? size_t(stream.next_out - reinterpret_cast<Bytef*>(out.data())) : 0);
  inflateEnd(&stream);
  return out;
}

std::string ZstdOf(std::string_view stretch, size_t times) {
  std::string out;
  ZSTD_CCtx* context = ZSTD_createCCtx();
  char buffer[1 << 16];
  for (size_t i = 0; i <= times; ++i) {
    ZSTD_inBuffer in{stretch.data(), i < times ? stretch.size() : 0, 0};
    size_t left = 1;
    while (in.pos < in.size || (i == times && left != 0)) {
      ZSTD_outBuffer to{buffer, sizeof buffer, 0};
      left = ZSTD_compressStream2(context, &to, &in, i < times ? ZSTD_e_continue : ZSTD_e_end);
      XP_CHECK(!ZSTD_isError(left));
      out.append(buffer, to.pos);
    }
  }
  ZSTD_freeCCtx(context);
  return out;
}

// Any damage to compressed data is reported; checksums detect even one changed bit.
TEST(Container, DamageIsAlwaysSaid) {
  std::vector<const GoldenInput*> inputs = SmallInputs(3, 200'000);
  const size_t rounds = size_t(8 * HostileScale());
  ExpectAllWell(inputs.size() * rounds, [&](size_t i) {
    const GoldenInput* input = inputs[i % inputs.size()];
    return GuardedCase{.name = fmt::format("{}, compressed and damaged (case {})", input->name, i),
                       .run = [=]() -> std::string {
                         Random random(SeedOf(input->name) + i);
                         std::string bytes =
                             i % 2 == 0 ? GzipOf(input->bytes, 1) : ZstdOf(input->bytes, 1);
                         const bool cut = i / 2 % 2 == 0;
                         size_t at = 1 + random.Below(bytes.size() - 1);
                         if (cut) {
                           bytes.resize(at);
                         } else if (i % 2 == 0) {
                           at = bytes.size() - 1 - random.Below(bytes.size() / 2);
                           bytes[at] ^= char(1 + random.Below(255));
                         } else {
                           return "";  // zstd has no checksum by default
                         }
                         Imported imported;
                         std::string bad = CheckBytes(bytes, "", &imported);
                         if (!bad.empty() || imported.said()) return bad;
                         // A damaged file may unpack to the same bytes, because equal stretches may
                         // be copied from different places.
                         if (Gunzipped(bytes, input->bytes.size()) == input->bytes) return "";
                         return fmt::format("{} at byte {} of {}, which is not reported",
                                            cut ? "cut" : "altered", at, bytes.size());
                       }};
  });
}

TEST(Container, BombsEndEarly) {
  struct Bomb {
    const char* name;
    std::string (*make)(std::string_view, size_t);
    std::string_view stretch;
  };
  static const std::string kZeros(1 << 20, '\0'), kLine(1 << 20, 'x'),
      kLines = Nested("Metric: CompileTime\n  TotalSamples: 1\n", 20'000);
  static const Bomb kBombs[] = {
      {"gzip of NULs", GzipOf, kZeros},         {"zstd of NULs", ZstdOf, kZeros},
      {"gzip of one long line", GzipOf, kLine}, {"zstd of one long line", ZstdOf, kLine},
      {"gzip of many lines", GzipOf, kLines},   {"zstd of many lines", ZstdOf, kLines}};
  ExpectAllWell(std::size(kBombs), [&](size_t i) {
    return GuardedCase{.name = kBombs[i].name, .run = [i]() -> std::string {
                         const Bomb& bomb = kBombs[i];
                         Imported imported;
                         std::string bytes = bomb.make(bomb.stretch, 260);
                         std::string bad = CheckBytes(bytes, "", &imported);
                         if (bad.empty() && !imported.said()) return "its growth is not reported";
                         return bad;
                       }};
  });
}

TEST(Container, OddContainersEndWell) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"empty", ""},
      {"gzip of nothing", GzipOf("", 1)},
      {"zstd of nothing", ZstdOf("", 1)},
      {"gzip in gzip", GzipOf(GzipOf("Metric: CompileTime\n  TotalSamples: 1\n", 1), 1)},
      {"gzip, then garbage", GzipOf("Counter: a\n  Value: 1\n", 1) + "garbage"},
      {"two gzip members", GzipOf("Counter: a\n", 1) + GzipOf("  Value: 1\n", 1)},
      {"gzip's first bytes", "\x1f\x8b"},
      {"zstd's first bytes", "\x28\xb5\x2f\xfd"},
      {"a zip's first bytes", "PK\x03\x04"},
      {"an empty zip", "PK\x05\x06" + std::string(18, '\0')},
      {"a tar of NULs", std::string(10'240, '\0')},
      {"one byte", "\n"},
      {"one NUL", std::string(1, '\0')},
      {"blanks", std::string(100'000, ' ')},
      {"line ends", std::string(100'000, '\n')},
      {"carriage returns", std::string(100'000, '\r')},
  };
  std::vector<std::string> formats = {""};
  for (const Format* format : AllFormats()) formats.push_back(format->name);
  ExpectAllWell(cases.size() * formats.size(), [&](size_t i) {
    const auto& [name, bytes] = cases[i % cases.size()];
    const std::string as = formats[i / cases.size()];
    return GuardedCase{.name = fmt::format("{} as {}", name, as.empty() ? "what it is" : as),
                       .run = [&bytes = bytes, as] { return CheckBytes(bytes, as); }};
  });
}

// A walk over a directory may meet such files: each is named in the report, and the walk waits for
// none.
TEST(Container, OddFilesInADirectoryEndWell) {
  ExpectAllWell(1, [](size_t) {
    return GuardedCase{.name = "pipe, links, hidden and hostile names", .run = [] {
                         const fs::path folder = Scratch() / "odd";
                         fs::create_directories(folder / "plugins/profile/run/deeper");
                         mkfifo((folder / "pipe").c_str(), 0600);
                         fs::create_symlink("loop", folder / "loop");
                         fs::create_symlink("..", folder / "up");
                         fs::create_symlink("/dev/zero", folder / "zero");
                         std::ofstream(folder / "plugins/profile/run/deeper/x.xplane.pb") << "no";
                         for (const std::string& name : HostileNames()) {
                           std::string file = name.substr(0, name.find('\0')).substr(0, 200);
                           if (file.empty() || file.find('/') != file.npos) continue;
                           std::ofstream(folder / file)
                               << "Metric: CompileTime\n  TotalSamples: 4\n  "
                                  "Accumulator: 02s382ms966.884us\n";
                         }
                         return CheckPath(folder);
                       }};
  });
}

TEST(Container, HostileNamesOfTheFileItself) {
  const size_t names = HostileNames().size();
  ExpectAllWell(2 * names, [&](size_t i) {
    std::string name = HostileNames()[i % names];
    name = name.substr(0, name.find('\0')).substr(0, 200);
    for (char& c : name) c = c == '/' ? '_' : c;
    const bool good = i >= names;
    return GuardedCase{.name = fmt::format("file called {:?}", name), .run = [=]() -> std::string {
                         if (name.empty()) return "";
                         const fs::path path = Scratch() / ("f" + name);
                         std::ofstream(path) << (good ? "Metric: CompileTime\n  TotalSamples: 4\n  "
                                                        "Accumulator: 02s382ms966.884us\n"
                                                      : "nothing known");
                         return CheckPath(path);
                       }};
  });
}

TEST(Container, ManyFilesAndDeepFolders) {
  ExpectAllWell(2, [](size_t i) {
    return GuardedCase{
        .name = i == 0 ? "30000 files" : "1000 folders in each other", .run = [i]() -> std::string {
          fs::path folder = Scratch() / fmt::format("many{}", i), root = folder;
          fs::create_directories(folder);
          if (i == 0) {
            // These are links to one file, because creating separate files would take minutes on
            // some disks.
            std::ofstream(folder / "first") << "x";
            std::error_code error;
            for (int n = 0; n < 30'000 && !error; ++n)
              fs::create_hard_link(folder / "first", folder / fmt::format("{}.txt", n), error);
            if (error) return error.message();
          } else {
            for (int n = 0; n < 1000; ++n) {
              folder /= "d";
              std::error_code error;
              fs::create_directory(folder, error);
              if (error) break;
            }
          }
          std::string bad = CheckPath(root);
          fs::remove_all(root);
          return bad;
        }};
  });
}

}  // namespace
}  // namespace xlaprof
