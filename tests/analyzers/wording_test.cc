#include "analyzers/wording.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

// What the analyzers' literals say, those that are several in a row as one.
std::string AnalyzersText() {
  std::string text;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(XLAPROF_SOURCE_DIR "/analyzers")) {
    if (entry.path().extension() != ".cc" || entry.path().filename() == "wording.cc") continue;
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return std::regex_replace(text, std::regex("\"\\s*\n\\s*\""), "");
}

TEST(Wording, EachPhraseIsOneThatAnalyzersSay) {
  const std::string said = AnalyzersText();
  for (const CppWord& word : CppWords())
    EXPECT_NE(said.find(word.python), said.npos) << "nobody says: " << word.python;
}

TEST(Wording, LongerPhrasesComeFirst) {
  const auto words = CppWords();
  for (size_t i = 0; i < words.size(); ++i) {
    for (size_t j = i + 1; j < words.size(); ++j)
      EXPECT_EQ(words[j].python.find(words[i].python), words[j].python.npos)
          << words[i].python << " hides " << words[j].python;
  }
}

TEST(Wording, PhrasesAreReplaced) {
  EXPECT_EQ(
      InCpp("Read it every N steps; for `if tensor:` use torch.where. Then torch_xla.sync()"),
      "Read it every N steps; instead of an if on it use where(condition, a, b). Then sync()");
  EXPECT_EQ(InCpp("Pad it to 64."), "Pad it to 64.");
  EXPECT_EQ(InCpp("Use torch.sort(x)."), "Use sort(x).");
  const std::string paths = "at a/torch.cc:12 of libtorch.so";
  EXPECT_EQ(InCpp(paths), paths);
}

TEST(Wording, LanguageIsThatOfTheLines) {
  TimedRun run;
  EXPECT_EQ(LanguageOf(run.store()).value(), Language::kPython);
  run.Exec(
      "DELETE FROM source; INSERT INTO source (path, format, imported) VALUES ('r', 'recording', "
      "1)");
  EXPECT_EQ(LanguageOf(run.store()).value(), Language::kCpp);
  run.Exec("INSERT INTO site (function, file, line) VALUES ('main', '/x/train.py', 3)");
  EXPECT_EQ(LanguageOf(run.store()).value(), Language::kPython);
  run.Exec(
      "INSERT INTO site (function, file, line) VALUES ('Step', '/x/train.cc', 3), ('Step', "
      "'/x/model.h', 4)");
  EXPECT_EQ(LanguageOf(run.store()).value(), Language::kCpp);
}

}  // namespace
}  // namespace xlaprof
