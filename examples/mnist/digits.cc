#include "examples/mnist/digits.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

namespace xlaprof::examples {
namespace {

struct Point {
  double x, y;
};
// Lines from point to point, in a square from (0, 0), top left, to (1, 1).
using Stroke = std::vector<Point>;

Stroke Arc(Point center, double rx, double ry, double from, double to) {
  Stroke stroke;
  for (int i = 0; i <= 12; ++i) {
    const double angle = (from + (to - from) * i / 12) * M_PI / 180;
    stroke.push_back({center.x + rx * std::cos(angle), center.y + ry * std::sin(angle)});
  }
  return stroke;
}

const std::array<std::vector<Stroke>, 10>& Shapes() {
  static const std::array<std::vector<Stroke>, 10> shapes{{
      {Arc({.5, .5}, .28, .4, 0, 360)},
      {{{.35, .25}, {.52, .1}, {.52, .9}}},
      {Arc({.5, .32}, .27, .22, 180, 380), {{.75, .4}, {.25, .9}, {.78, .9}}},
      {Arc({.47, .3}, .26, .2, 190, 450), Arc({.47, .7}, .29, .2, -90, 160)},
      {{{.62, .9}, {.62, .1}, {.22, .62}, {.8, .62}}},
      {{{.74, .1}, {.32, .1}, {.28, .46}}, Arc({.48, .64}, .28, .25, -140, 140)},
      {{{.66, .08}, {.36, .4}, {.25, .66}}, Arc({.5, .68}, .25, .22, 0, 360)},
      {{{.22, .1}, {.78, .1}, {.42, .9}}},
      {Arc({.5, .3}, .22, .2, 0, 360), Arc({.5, .7}, .27, .2, 0, 360)},
      {Arc({.5, .32}, .25, .22, 0, 360), {{.75, .32}, {.7, .62}, {.5, .92}}},
  }};
  return shapes;
}

double DistanceTo(Point a, Point b, Point p) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t =
      length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0., 1.);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

void Draw(int64_t digit, std::mt19937_64& random, float* image) {
  auto between = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  const double size = between(.65, .95), slant = between(-.3, .3), turn = between(-.2, .2);
  const double thick = between(.035, .075), noise = between(0, .08);
  const Point middle{.5 + between(-.1, .1), .5 + between(-.1, .1)};
  auto place = [&](Point p) {
    const double x = (p.x - .5 - slant * (p.y - .5)) * size, y = (p.y - .5) * size;
    return Point{middle.x + x * std::cos(turn) - y * std::sin(turn),
                 middle.y + x * std::sin(turn) + y * std::cos(turn)};
  };
  std::vector<std::pair<Point, Point>> lines;
  for (const Stroke& stroke : Shapes()[size_t(digit)]) {
    for (size_t i = 1; i < stroke.size(); ++i)
      lines.emplace_back(place(stroke[i - 1]), place(stroke[i]));
  }
  std::normal_distribution<double> grain(0, noise);
  for (int64_t row = 0; row < Digits::kSide; ++row) {
    for (int64_t column = 0; column < Digits::kSide; ++column) {
      const Point p{(double(column) + .5) / Digits::kSide, (double(row) + .5) / Digits::kSide};
      double nearest = 1;
      for (const auto& [a, b] : lines) nearest = std::min(nearest, DistanceTo(a, b, p));
      const double ink = 1 - (nearest - thick) / .03;
      image[row * Digits::kSide + column] =
          float(std::clamp(std::clamp(ink, 0., 1.) + grain(random), 0., 1.));
    }
  }
}

// Reads a whole file, and unpacks it if it is packed. `asked` is the file named in the error if it
// is missing.
absl::StatusOr<std::string> ReadMaybePacked(const std::filesystem::path& path,
                                            const std::filesystem::path& asked) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file)
    return NotFound("{}: cannot be read, nor {}.gz. Is one there?", asked.string(),
                    asked.filename().string());
  std::string bytes;
  std::array<char, 1 << 16> part;
  int got = 0;
  while ((got = gzread(file.get(), part.data(), part.size())) > 0)
    bytes.append(part.data(), size_t(got));
  int error = Z_OK;
  const char* why = gzerror(file.get(), &error);
  if (got == 0 && error == Z_OK) return bytes;
  return DataLoss("{}: cannot be read to its end: {}. Copy it again", path.string(),
                  error == Z_BUF_ERROR ? "it is cut" : why);
}

constexpr uint32_t kImages = 0x803, kLabels = 0x801;

// Reads an IDX file of MNIST, plain or gzip. It has big-endian words with the kind and the sizes,
// then one byte per value.
absl::StatusOr<std::string> ReadIdx(const std::filesystem::path& unpacked, uint32_t kind,
                                    size_t header_words, int64_t* count) {
  std::filesystem::path path = unpacked;
  if (!std::filesystem::exists(path)) path += ".gz";
  XP_TRY(std::string bytes, ReadMaybePacked(path, unpacked));
  auto word = [&](size_t i) {
    uint32_t value = 0;
    for (size_t k = 0; k < 4; ++k) value = value << 8 | uint8_t(bytes[4 * i + k]);
    return value;
  };
  const size_t header = 4 * header_words;
  if (bytes.size() < header || word(0) != kind)
    return Invalid("{}: no IDX file of MNIST (its first word is not {:#x})", path.string(), kind);
  size_t each = 1;
  for (size_t i = 2; i < header_words; ++i) each *= word(i);
  if (header_words > 2 && (word(2) != Digits::kSide || word(3) != Digits::kSide))
    return Invalid("{}: images of {} x {}, not of 28 x 28", path.string(), word(2), word(3));
  *count = int64_t(word(1));
  if (*count == 0) return Invalid("{}: holds no digits", path.string());
  if (bytes.size() - header != size_t(*count) * each) {
    return DataLoss(
        "{}: {} bytes follow its header, which announces {} values of {}. Copy it again",
        path.string(), bytes.size() - header, *count, each);
  }
  return bytes.substr(header);
}

}  // namespace

Digits DrawDigits(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Digits digits;
  digits.labels.resize(size_t(count));
  digits.images.resize(size_t(count * Digits::kSide * Digits::kSide));
  for (int64_t i = 0; i < count; ++i) {
    const auto digit = int64_t(random() % 10);
    digits.labels[size_t(i)] = digit;
    Draw(digit, random, &digits.images[size_t(i * Digits::kSide * Digits::kSide)]);
  }
  return digits;
}

absl::StatusOr<Digits> ReadDigits(const std::filesystem::path& folder, bool held_out) {
  const std::string prefix = held_out ? "t10k" : "train";
  int64_t images = 0, labels = 0;
  XP_TRY(std::string pixels,
         ReadIdx(folder / (prefix + "-images-idx3-ubyte"), kImages, 4, &images));
  XP_TRY(std::string classes,
         ReadIdx(folder / (prefix + "-labels-idx1-ubyte"), kLabels, 2, &labels));
  if (images != labels)
    return Invalid("{}: {} images and {} labels", folder.string(), images, labels);
  Digits digits;
  for (char pixel : pixels) digits.images.push_back(float(uint8_t(pixel)) / 255);
  for (char label : classes) {
    if (uint8_t(label) > 9)
      return Invalid("{}: label {} is no digit", folder.string(), uint8_t(label));
    digits.labels.push_back(uint8_t(label));
  }
  return digits;
}

}  // namespace xlaprof::examples
