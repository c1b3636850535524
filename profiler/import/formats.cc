#include "profiler/import/formats.h"

#include <algorithm>
#include <vector>

#include "profiler/import/file_kind.h"
#include "profiler/import/log/program_output.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/mark_search.h"

namespace xlaprof {
namespace {

constexpr int kSureEnough = 10;  // lowest Sniff score that is believed
constexpr int kSaysLittle = 50;
constexpr size_t kHeadBytes = 64 << 10;  // the bytes that Sniff sees

// Returns the dialect that is surest of a window around one of its marks, anywhere in a text. Each byte
// is in about one window of each dialect.
const Format* RecogniseInside(std::string_view text) {
  constexpr size_t kMostBytes = 64 << 20;  // a terminal's log is smaller
  constexpr size_t kBefore = 4 << 10;      // bytes of a window before its mark
  text = text.substr(0, kMostBytes);
  std::vector<const Format*> formats;
  std::vector<std::span<const std::string_view>> marks;
  for (const Format* format : AllFormats()) {
    if (format->dialect == nullptr) continue;
    formats.push_back(format);
    marks.push_back(format->dialect->marks);
  }
  const Format* best = nullptr;
  int best_score = kSureEnough - 1;
  std::vector<size_t> next(formats.size(), 0);  // marks before this place are in a window
  std::vector<bool> wanted(formats.size(), true);
  EachMark(text, marks, wanted, [&](size_t i, size_t at) {
    if (at < next[i]) return;
    const size_t begin = at - std::min(at, kBefore);
    next[i] = begin + kHeadBytes - kBefore;
    const int score = formats[i]->Sniff(text.substr(begin, kHeadBytes));
    if (score > best_score) best = formats[i], best_score = score;
  });
  return best;
}

}  // namespace

absl::Status Format::Read(const Input& input, ImportContext& context, bool is_asked_for) const {
  return dialect == nullptr ? importer->read(input, context)
                            : ReadProgramOutput(input, context, dialect, is_asked_for);
}

std::span<const Format* const> AllFormats() {
  static const auto* formats = [] {
    auto* all = new std::vector<const Format*>;
    for (const Importer* importer : AllImporters()) {
      if (importer != &program_output) {
        all->push_back(new Format{importer->name, importer->summary, importer->example,
                                  importer->framework, importer->kind, importer});
        continue;
      }
      for (const Dialect* dialect : AllDialects()) {
        all->push_back(new Format{dialect->name, dialect->summary, dialect->example,
                                  dialect->framework, dialect->kind, importer, dialect});
      }
    }
    return all;
  }();
  return *formats;
}

Recognition Recognise(std::string_view bytes) {
  const Format* best = nullptr;
  int best_score = kSureEnough - 1;
  auto ask = [&](std::string_view window) {
    for (const Format* format : AllFormats()) {
      int score = format->Sniff(window);
      if (score > best_score) best = format, best_score = score;
    }
    return best_score >= kSaysLittle;
  };
  if (ask(bytes.substr(0, kHeadBytes))) return {best, true};
  // A log may begin with anything. If its beginning says little, markers at its end count too.
  if (bytes.size() > kHeadBytes && ask(bytes.substr(bytes.size() - kHeadBytes)))
    return {best, true};
  // Colours and HTML may be anywhere in the text that importers look for.
  if (LogTexts texts(bytes.substr(0, kHeadBytes)); texts.are_marked_up()) {
    std::string plain;
    while (texts.Next()) plain.append(texts.text()) += '\n';
    ask(plain);
  }
  if (best == nullptr && bytes.size() > 2 * kHeadBytes && LookOf(bytes) == Look::kText)
    best = RecogniseInside(bytes);
  return {best, best_score >= kSaysLittle};
}

const Format* FormatNamed(std::string_view name) {
  for (const Format* format : AllFormats()) {
    if (name == format->name) return format;
  }
  return nullptr;
}

std::string FormatNames() {
  std::string names;
  for (const Format* format : AllFormats())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format->name);
  return names;
}

}  // namespace xlaprof
