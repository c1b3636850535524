// Collects what reports say of every input in tests/ (every_input.h), so that each row of words is
// printed here although few whole reports are compared (golden_test.cc).
//
// KIND.txt beside this file holds the distinct rows that the findings of a kind print, and
// report.txt those of the rest of a report, by their section. Numbers, places and names are masked,
// so that a row stands once. A change of one kind's words changes one file, and a new analyzer adds
// one.
#include <absl/strings/str_split.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <span>

#include "analyzers/analyzer.h"
#include "analyzers/report/report.h"
#include "tests/every_input.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

const fs::path kSaid = kGolden.parent_path() / "analyzers/words/said";
constexpr int kWidth = 100'000;  // columns, so that no row is wrapped

using Rows = std::map<std::string, std::set<std::string>>;  // by section or label

// Replaces the name where it is a whole word.
void Replace(std::string& text, const std::string& name, std::string_view by) {
  const auto in_word = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (size_t at = 0; !name.empty() && (at = text.find(name, at)) != text.npos;) {
    if ((at > 0 && in_word(at - 1)) || in_word(at + name.size())) {
      ++at;
    } else {
      text.replace(at, name.size(), by);
      at += by.size();
    }
  }
}

// Replaces what is of one case: numbers, times, sizes, places and names.
std::string Masked(std::string row) {
  static const std::vector<std::pair<std::regex, std::string>> kMasks = [] {
    std::vector<std::string> kinds;
    for (const Analyzer* analyzer : AllAnalyzers()) kinds.push_back(analyzer->name);
    const std::string kind = fmt::format("({})", fmt::join(kinds, "|"));
    const std::string file =
        R"([\w./~<>-]+\.(py|cc|h|txt|log|json|jsonl|pb|gz|zst|zip|html|md|ipynb)"
        R"(|xlaprof|mlir|pftrace)\b)";
    std::vector<std::pair<std::regex, std::string>> masks;
    for (const auto& [pattern, by] : std::initializer_list<std::pair<std::string, std::string>>{
             {R"((^|[ (])'[^']*')", "$1'NAME'"},
             {R"("[^"]*")", "\"NAME\""},
             {R"(`[\w.]+`)", "`NAME`"},
             {file, "FILE"},
             {R"(\b(pred|[sufc]|bf)\d*\[[^\]]*\](\{[^}]*\})?)", "TYPE"},
             {R"(\b(aten|prim|xla|torch|_c10d_functional)::\w+)", "OP"},
             {R"(\b(CPU|GPU|TPU):\d+)", "DEVICE"},
             {R"(\bgraph [0-9a-f]+([,;]|$))", "graph HASH$1"},
             {R"(\bgraph [0-9a-f]*\d[0-9a-f]*\b)", "graph HASH"},
             {R"(\b(?=[a-f]*\d)[0-9a-f]{8,}\b)", "HASH"},
             {R"((▏|▎|▍|▌|▋|▊|▉|█)+)", ""},
             {R"(\d([\d,.]*\d)?)", "#"},
             {R"((< )?# (ns|us|ms|s|min|h)\b)", "TIME"},
             {R"((< )?# (B|KB|MB|GB|TB)\b)", "SIZE"},
             {R"(< # %)", "# %"},
             {R"(#(, #)+)", "#, #"},
             {R"(FILE:#)", "PLACE"},
             {R"(PLACE in [\w.<>]+)", "PLACE in FUNCTION"},
             {R"(\bFILE(, FILE)+)", "FILES"},
             {"(Looked for|look for) " + kind + "(, " + kind + ")*", "$1 KINDS"},
             {R"(one of: .*)", "one of: FORMATS"},
             {R"(--process: .*)", "--process: PROCESSES"},
             {R"( +)", " "},
             {R"(^ | $)", ""}})
      masks.emplace_back(std::regex(pattern), by);
    return masks;
  }();
  for (const auto& [mask, by] : kMasks) row = std::regex_replace(row, mask, by);
  return row;
}

// Replaces the names of the finding's subject, too.
std::string Masked(std::string row, const Subject& subject) {
  Replace(row, subject.file.value_or(""), "FILE.py");
  Replace(row, fs::path(subject.file.value_or("")).filename().string(), "FILE.py");
  Replace(row, subject.op.value_or(""), "OP");
  Replace(row, subject.scope.value_or(""), "SCOPE");
  Replace(row, subject.function.value_or(""), "FUNCTION");
  return Masked(std::move(row));
}

// All that is said: by the findings of each kind, and in the rest of reports.
struct Said {
  std::map<std::string, Rows> by_kind;
  Rows elsewhere;
};

const std::regex kTitle(R"( *\d+  (error|warning|info): (.*))");  // of a finding

// A section of a report's text: its first line and the others. The head of the report has no first
// line.
struct Section {
  std::string title;
  std::vector<std::string> lines;
};

std::vector<Section> SectionsOf(const std::string& text) {
  std::vector<Section> sections(1);
  bool begins = false;  // the line before is empty
  for (std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (begins && !line.empty() && line[0] != ' ' && !std::regex_match(line, kTitle)) {
      sections.push_back({Masked(line), {}});
    } else if (!line.empty()) {
      sections.back().lines.push_back(line);
    }
    begins = line.empty();
  }
  return sections;
}

// Adds the rows of one finding to those of its kind: its title, and what stands behind each label.
void AddFinding(const Finding& finding, std::span<const std::string> lines, Said& said) {
  Rows& rows = said.by_kind[std::string(finding.kind())];
  std::string label = "title";
  for (const std::string& line : lines) {
    static const std::regex kLabelled(R"(    (why|cost|saves|fix|causes|seen) +(.*))");
    static const std::regex kConsequence(R"( *(\w+): .*)"), kChange(R"( +([-+]) .*)");
    std::smatch part;
    std::string row = line;
    if (std::regex_match(line, part, kTitle)) {
      row = part[2];
    } else if (std::regex_match(line, part, kLabelled)) {
      label = part[1], row = part[2];
    } else if (std::regex_match(line, part, kChange)) {
      label = "change", row = part[1].str() + " VALUE";
    } else if (label == "title") {
      label = "at";
    }
    // What another finding says belongs to that one's kind.
    if (label == "causes" && std::regex_match(row, part, kConsequence)) row = part[1].str() + ": …";
    if (row.starts_with("as in ")) continue;
    rows[label].insert(Masked(row, finding.subject));
  }
}

// Returns the masked row of a section. Tables of names are left to the texts of whole reports.
std::optional<std::string> RowOf(const std::string& title, const std::string& line) {
  static const std::regex kColumns(R"( *(steps|compiles|executions|transfers|events|count)\b.*)");
  static const std::regex kFormats(R"(\([^)]*\))"), kShare("(# %) .*: "), kList(": .*"),
      kCommand("- .*?( \\(pid #\\))?: ");
  if (title.starts_with("Scopes") || title == "Which file saw what") {
    if (!line.starts_with("      ") || std::regex_match(line, kColumns)) return std::nullopt;
  }
  std::string row = Masked(line);
  if (title.empty()) return std::regex_replace(row, kFormats, "(FORMATS)");
  if (title.starts_with("What DEVICE") || title.starts_with("What the host"))
    return std::regex_replace(row, kShare, "$1 NAME: ");
  if (title == "Not in this report") return std::regex_replace(row, kList, ": NAMES");
  if (title == "What xlaprof run recorded")
    return std::regex_replace(row, kCommand, "- COMMAND$1: ");
  return row;
}

void AddSection(const Report& report, const Section& section, Said& said) {
  const std::string& title = section.title;
  if (title.starts_with("Also seen") || title == "What these files do not show" ||
      title == "What slowed the recorded run")
    return;  // the words of findings, which have their own rows
  std::vector<size_t> firsts;  // lines that begin a finding
  for (size_t i = 0; i < section.lines.size(); ++i) {
    if (std::regex_match(section.lines[i], kTitle)) firsts.push_back(i);
  }
  const std::span<const std::string> lines = section.lines;
  for (size_t i = 0; i < firsts.size(); ++i) {
    const size_t end = i + 1 < firsts.size() ? firsts[i + 1] : lines.size();
    AddFinding(report.findings[i], lines.subspan(firsts[i], end - firsts[i]), said);
  }
  said.elsewhere[title];
  for (const std::string& line : lines.first(firsts.empty() ? lines.size() : firsts[0])) {
    static const std::regex kLooksAt(R"(  (\w+)  +(\S.*))");
    std::smatch part;
    if (title == "Findings" && std::regex_match(line, part, kLooksAt)) {
      said.by_kind[part[1]]["looks at"].insert(part[2]);
    } else if (const std::optional<std::string> row = RowOf(title, line)) {
      // A list of counts or of times has one row for each.
      const bool is_list = title.starts_with("Where") &&
                           (row->starts_with('#') || row->find("): ") != row->npos);
      if (is_list) {
        for (const std::string& count : std::vector<std::string>(absl::StrSplit(*row, ", ")))
          said.elsewhere[title].insert(count);
      } else {
        said.elsewhere[title].insert(*row);
      }
    }
  }
}

const Said& AllSaid() {
  static const Said* const said = [] {
    auto* all = new Said;
    ForEachCase([&](const std::string&, const std::vector<std::string>& files) {
      WithReport({.paths = files, .run = {}, .as_format = {}}, [&](const Report& report, Store&) {
        for (const bool in_full : {false, true}) {
          const std::string text = ReportText(report, {.width = kWidth, .all = in_full});
          for (const Section& section : SectionsOf(text)) {
            if (in_full || !section.title.starts_with("# finding"))
              AddSection(report, section, *all);
          }
        }
      });
    });
    return all;
  }();
  return *said;
}

// Returns the rows, each section with its title.
std::string TextOf(const Rows& rows) {
  std::string text;
  for (const auto& [title, of_title] : rows) {
    text += (title.empty() ? "head" : title) + "\n";
    for (const std::string& row : of_title) text += "  " + row + "\n";
  }
  return text;
}

class SaidBy : public testing::TestWithParam<const Analyzer*> {};

TEST_P(SaidBy, WhatIsExpected) {
  const auto rows = AllSaid().by_kind.find(GetParam()->name);
  ASSERT_NE(rows, AllSaid().by_kind.end());
  ExpectFile(kSaid / (std::string(GetParam()->name) + ".txt"), TextOf(rows->second));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SaidBy,
                         testing::ValuesIn(AllAnalyzers().begin(), AllAnalyzers().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(SaidByReports, WhatIsExpected) {
  ExpectFile(kSaid / "report.txt", TextOf(AllSaid().elsewhere));
  // A file of no kind would be compared with nothing.
  const auto is_text = [](const auto& file) { return file.path().extension() == ".txt"; };
  EXPECT_EQ(std::ranges::count_if(fs::directory_iterator(kSaid), is_text),
            int64_t(AllAnalyzers().size()) + 1);
}

}  // namespace
}  // namespace xlaprof
