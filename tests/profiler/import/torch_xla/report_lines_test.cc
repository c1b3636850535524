// Tests metrics reports as people paste them: the rows are the same, whatever was done to the text.
#include "profiler/import/torch_xla/report_lines.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect metrics_report;
namespace {

using testing::ElementsAre;

constexpr std::string_view kReport =
    "Metric: CompileTime\n"
    "  TotalSamples: 4\n"
    "  Accumulator: 02s382ms966.884us\n"
    "  ValueRate: 01s076ms295.114us / second\n"
    "  Rate: 1.80741 / second\n"
    "  Percentiles: 1%=247ms936.300us; 50%=895ms747.861us\n"
    "Metric: InboundData\n"
    "  TotalSamples: 2\n"
    "  Accumulator: 3.44KB\n"
    "  Percentiles: 1%=4.00B; 50%=3.44KB\n"
    "Counter: MarkStep\n"
    "  Value: 12\n"
    "Counter: aten::nonzero\n"
    "  Value: 11\n";

std::vector<std::string> RowsOf(const std::string& text) {
  auto in = ImportText(metrics_report, text);
  EXPECT_TRUE(in.status.ok()) << in.status;
  std::vector<std::string> rows = in.Rows(
      "SELECT m.name, samples, accumulator, value_rate, rate, p, value FROM metric m LEFT "
      "JOIN metric_percentile p ON p.metric_id = m.id ORDER BY 1, p");
  for (std::string& row : in.Rows("SELECT name, value FROM counter ORDER BY 1"))
    rows.push_back(std::move(row));
  for (std::string& row : in.Rows("SELECT code FROM import_issue")) rows.push_back(std::move(row));
  return rows;
}

// Applies `change` to each line of the report, without its line end.
std::string EachLine(const std::function<std::string(std::string_view)>& change) {
  std::string out;
  for (std::string_view rest = kReport; !rest.empty();) {
    const size_t end = rest.find('\n');
    out += change(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return out;
}

std::string Replace(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Wraps `text` as a terminal of that width shows it.
std::string Wrapped(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  for (char c : text) {
    if (c != '\n' && column == width) out += '\n', column = 0;
    out += c;
    column = c == '\n' ? 0 : column + 1;
  }
  return out;
}

std::string Numbered(const std::string& text) {
  std::string out;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    out += fmt::format("[{}] {}", ++number, text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

TEST(ReportLines, WhateverWasDoneToTheText) {
  const std::vector<std::string> expected = RowsOf(std::string(kReport));
  ASSERT_EQ(expected.size(), 6u);
  auto line = [](std::string_view prefix, std::string_view suffix) {
    return EachLine([&](std::string_view text) {
      return std::string(prefix) + std::string(text) + std::string(suffix);
    });
  };
  auto trimmed = [](std::string_view prefix, std::string_view suffix) {
    return EachLine([&](std::string_view text) {
      return std::string(prefix) + std::string(Trim(text)) + std::string(suffix);
    });
  };
  const std::pair<const char*, std::string> kPastes[] = {
      {"carriage returns", line("", "\r\n")},
      {"trailing blanks", line("", "   \t\n")},
      {"lost indentation", trimmed("", "\n")},
      {"all on one line", trimmed("", " ") + "\n"},
      {"a log's prefix", line("2021-04-19 13:28:12 10.164.0.25 [0] ", "\n")},
      {"a prefix without indentation", trimmed("(worker 3) ", "\n")},
      {"quoted", line("> ", "\n")},
      {"quoted twice, in a fence", ">> ```\n" + line(">> ", "\n") + ">> ```\n"},
      {"a list", trimmed("- ", "\n")},
      {"empty lines between", line("", "\n\n")},
      {"JSON of a collector", line("{\"log\":\"", "\\n\",\"stream\":\"stdout\"}\n")},
      {"a Python string", "'" + line("", "\\n") + "'\n"},
      {"HTML", "<pre><code>" + Replace(line("", "\n"), "::", "&#58;&#58;") + "</code></pre>\n"},
      {"HTML with breaks", "<p>" + Replace(line("", "<br/>"), "  ", "&nbsp;&nbsp;") + "</p>\n"},
      {"of 2019", Replace(std::string(kReport), "Accumulator:", "Counter:")},
      {"HTML in list items", "<ul>" + trimmed("<li class=\"x\">", "</li>") + "</ul>\n"},
      {"HTML behind words", "<p>here it is</p><pre><code>" + line("", "\n") + "</code></pre>\n"},
      {"HTML in a table",
       "<table>" + line("<tr><td n=\"1\"></td><td>", "</td></tr>") + "</table>\n"},
      {"coloured", line("\x1b[32m", "\x1b[0m\n")},
      {"coloured, behind a name",
       line("\x1b[32mINFO\x1b[0m:\x1b[36mmain\x1b[0m:\x1b[1m", "\x1b[0m\x1b[K\n")},
      {"coloured in JSON", line("{\"log\":\"\\u001b[32m", "\\u001b[0m\\n\"}\n")},
      {"in backticks", line("`", "`  \n")},
      {"quoted as CSV", line("\"", "\"\n")},
      {"printed by pprint", "(" + line("'", "\\n'\n") + ")\n"},
      {"a Python list", "[" + line("'", "', ") + "'']\n"},
      {"JSON with line breaks",
       line("  {\n    \"insertId\": \"x\",\n    \"textPayload\": \"", "\",\n  },\n")},
      {"YAML", line("---\ntextPayload: \"", "\"\n")},
      {"broken at 40 columns", Wrapped(line("", "\n"), 40)},
      {"broken at 60 columns, with a prefix",
       Wrapped(line("2021-04-19 13:28:12 10.164.0.25 [0] ", "\n"), 60)},
      {"broken between words", Replace(line("", "\n"), "us; 50", "us;\n50")},
      {"numbered lines", Numbered(std::string(kReport))},
      {"words around it", "Look:\n" + trimmed("", " ") + "what is wrong?\n"},
  };
  for (const auto& [what, text] : kPastes)
    EXPECT_EQ(RowsOf(text), expected) << what << "\n" << text;
}

TEST(ReportLines, LinesOfTheTextAreCounted) {
  ReportLines lines("x\nMetric: A TotalSamples: 3 Value: 2\ny");
  std::vector<std::string> seen;
  while (lines.Next()) seen.push_back(fmt::format("{}:{}", lines.number(), lines.line()));
  EXPECT_THAT(seen, ElementsAre("1:x", "2:Metric: A ", "2:TotalSamples: 3 ", "2:Value: 2", "3:y"));
}

}  // namespace
}  // namespace xlaprof
