#include "profiler/import/formats.h"

#include "profiler/import/text/log_line.h"

namespace xlaprof {
namespace {

constexpr int kSureEnough = 10;  // lowest Sniff score that is believed
constexpr int kSaysLittle = 50;
constexpr size_t kHeadBytes = 64 << 10;  // the bytes that Sniff sees

}  // namespace

const Importer* Recognise(std::string_view bytes) {
  const Importer* best = nullptr;
  int best_score = kSureEnough - 1;
  auto ask = [&](std::string_view window) {
    for (const Importer* importer : AllImporters()) {
      int score = importer->sniff(window);
      if (score > best_score) best = importer, best_score = score;
    }
  };
  ask(bytes.substr(0, kHeadBytes));
  // A log may begin with anything. If its beginning says little, markers at its end count too.
  if (best_score < kSaysLittle && bytes.size() > kHeadBytes)
    ask(bytes.substr(bytes.size() - kHeadBytes));
  // Escapes for colours may be anywhere in the text that importers look for.
  const std::string_view head = bytes.substr(0, kHeadBytes);
  if (best_score < kSaysLittle && head.find("\x1b[") != std::string_view::npos)
    ask(WithoutEscapes(head));
  return best;
}

const Importer* ImporterNamed(std::string_view name) {
  for (const Importer* importer : AllImporters()) {
    if (name == importer->name) return importer;
  }
  return nullptr;
}

std::string ImporterNames() {
  std::string names;
  for (const Importer* importer : AllImporters())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", importer->name);
  return names;
}

}  // namespace xlaprof
