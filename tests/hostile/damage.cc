#include "tests/hostile/damage.h"

#include <algorithm>
#include <cctype>

#include "tests/hostile/damage_proto.h"
#include "tests/hostile/hostile_text.h"

namespace xlaprof {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

// Returns a run of at least `least` characters for which `is` holds, searched from a random place
// on. Returns an empty view at the end if there is none.
template <class Is>
std::string_view RunOf(std::string_view bytes, Random& random, Is is, size_t least) {
  const size_t start = random.Below(bytes.size() + 1);
  for (size_t tried = 0, at = start; tried < 2; ++tried, at = 0) {
    while (at < bytes.size()) {
      while (at < bytes.size() && !is(bytes[at])) ++at;
      size_t begin = at;
      while (at < bytes.size() && is(bytes[at])) ++at;
      if (at - begin >= least) return bytes.substr(begin, at - begin);
    }
  }
  return bytes.substr(bytes.size());
}

std::string Replaced(std::string_view bytes, std::string_view part, std::string_view with) {
  const size_t at = size_t(part.data() - bytes.data());
  std::string out(bytes.substr(0, at));
  out += with;
  return out.append(bytes.substr(at + part.size()));
}

std::string_view Pick(const std::vector<std::string>& texts, Random& random) {
  return texts[random.Below(texts.size())];
}

std::string Flip(std::string_view bytes, Random& random) {
  std::string out(bytes);
  const size_t flips = 1 + random.Below(8);
  for (size_t i = 0; i < flips && !out.empty(); ++i)
    out[random.Below(out.size())] ^= char(1 + random.Below(255));
  return out;
}

std::string Number(std::string_view bytes, Random& random) {
  std::string out(bytes);
  for (size_t i = 1 + random.Below(4); i > 0; --i)
    out = Replaced(out, RunOf(std::string_view(out), random, IsDigit, 1),
                   Pick(HostileNumbers(), random));
  return out;
}

std::string Name(std::string_view bytes, Random& random) {
  return Replaced(bytes, RunOf(bytes, random, IsLetter, 3), Pick(HostileNames(), random));
}

std::string Nest(std::string_view bytes, Random& random) {
  std::string_view place = RunOf(bytes, random, IsLetter, 1).substr(0, 0);
  return Replaced(bytes, place, Nested(kNestings[random.Below(std::size(kNestings))], 10'000));
}

std::string WithoutCharacter(std::string_view bytes, Random& random) {
  constexpr std::string_view kStructure = "(){}[]\"',:;=\n%";
  const char gone = kStructure[random.Below(kStructure.size())];
  std::string out(bytes);
  std::erase(out, gone);
  return out;
}

// Inserts a copy of a stretch of the bytes somewhere else.
std::string Splice(std::string_view bytes, Random& random) {
  std::string_view part = bytes.substr(random.Below(bytes.size() + 1));
  part = part.substr(0, random.Below(std::min<size_t>(part.size(), 4096) + 1));
  return Replaced(bytes, bytes.substr(random.Below(bytes.size() + 1), random.Below(2) * 100), part);
}

std::string LinesOutOfOrder(std::string_view bytes, Random& random) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = bytes; !rest.empty();) {
    size_t end = rest.find('\n');
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (lines.empty()) return "\n";
  std::string_view between = "\n";
  const size_t one = random.Below(lines.size()), other = random.Below(lines.size());
  switch (random.Below(7)) {
    case 0:
      lines.erase(lines.begin() + int64_t(one));
      break;
    case 1:
      std::swap(lines[one], lines[other]);
      break;
    case 2:
      lines.insert(lines.begin() + int64_t(one), 3000, lines[other]);
      break;
    case 3:  // two processes write at once
      for (size_t i = 0; i < lines.size(); i += 2)
        lines.insert(lines.begin() + int64_t(i), lines[i]);
      if (lines.size() > 200) lines.resize(200);
      break;
    case 4:
      between = "\r\n";
      break;
    case 5:
      between = "\r";
      break;
    case 6:
      between = "";
      break;
  }
  std::string out;
  for (std::string_view line : lines) out.append(line).append(between);
  return out;
}

std::string Encoding(std::string_view bytes, Random& random) {
  std::string out;
  switch (random.Below(3)) {
    case 0:
      return "\xef\xbb\xbf" + std::string(bytes);
    case 1:  // UTF-16
      out = "\xff\xfe";
      for (char c : bytes) out.append({c, '\0'});
      return out;
    default:  // NULs, as on a full disk
      out = bytes;
      size_t at = random.Below(out.size() + 1);
      return out.replace(at, std::min<size_t>(out.size() - at, 4096), std::string(4096, '\0'));
  }
}

}  // namespace

uint64_t Random::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t SeedOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

std::vector<size_t> CutsOf(std::string_view bytes, size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<size_t> cuts;
  const size_t end = bytes.size();
  if (end < 2) return cuts;
  for (size_t at : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{16}, end - 1, end - 2})
    cuts.push_back(at);
  while (cuts.size() < count) {
    size_t at = random.Below(end);
    // Half of the cuts are at the end of a line, or one byte beside it.
    if (size_t line = bytes.find('\n', at); random.Below(2) == 0 && line != bytes.npos)
      at = line + random.Below(3);
    cuts.push_back(at);
  }
  cuts.resize(count);
  std::erase_if(cuts, [&](size_t at) { return at == 0 || at >= end; });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

const std::vector<Damage>& Damages() {
  static const std::vector<Damage> damages = {{"flipped bytes", Flip},
                                              {"a number that lies", Number},
                                              {"a hostile name", Name},
                                              {"nested deeply", Nest},
                                              {"a character gone", WithoutCharacter},
                                              {"a stretch repeated", Splice},
                                              {"lines out of order", LinesOutOfOrder},
                                              {"another encoding", Encoding},
                                              {"a protobuf field", DamageProto},
                                              {"a protobuf field", DamageProto},
                                              {"a protobuf field", DamageProto}};
  return damages;
}

bool IsText(std::string_view bytes) {
  std::string_view head = bytes.substr(0, 4096);
  auto odd = std::count_if(head.begin(), head.end(), [](unsigned char c) {
    return c < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != 0x1b;
  });
  return head.find('\0') == head.npos && size_t(odd) * 100 <= head.size();
}

}  // namespace xlaprof
