// Tests notebooks: only the output of their cells is read, whatever else they hold.
#include "profiler/import/notebook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using testing::HasSubstr;

std::vector<std::pair<int64_t, std::string>> Cells(std::string_view json) {
  std::vector<std::pair<int64_t, std::string>> out;
  for (const NotebookOutput& cell : ReadNotebook(json).cells)
    out.emplace_back(cell.cell, cell.text);
  return out;
}
using Texts = std::vector<std::pair<int64_t, std::string>>;

TEST(Notebook, IsToldByItsBeginning) {
  EXPECT_TRUE(IsNotebook(R"({"nbformat": 4, "nbformat_minor": 0, "metadata": {)"));
  EXPECT_TRUE(IsNotebook("\n{\n \"cells\": [\n  {\n   \"cell_type\": \"code\","));
  EXPECT_FALSE(IsNotebook(R"({"cells": [1, 2]})"));
  EXPECT_FALSE(IsNotebook(R"({"traceEvents": [{"cell_type": 1}]})"));
  EXPECT_FALSE(IsNotebook("Metric: \"nbformat\""));
  EXPECT_FALSE(IsNotebook("{"));
  EXPECT_FALSE(IsNotebook(""));
}

TEST(Notebook, StreamsResultsAndTracebacks) {
  EXPECT_EQ(Cells(R"({"cells": [
    {"cell_type": "markdown", "source": ["text"]},
    {"cell_type": "code", "source": ["import x"], "outputs": [
      {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
      {"output_type": "stream", "name": "stderr", "text": "c\n"},
      {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": ["<Figure>"]}},
      {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t1", "t2"]}]},
    {"cell_type": "code", "outputs": []},
    {"cell_type": "code", "outputs": [{"text": "d"}]}]
})"),
            (Texts{{2, "a\nb\nc\n<Figure>\nt1\nt2\n"}, {4, "d\n"}}));
}

TEST(Notebook, AStringThatIsShownIsWhatItHolds) {
  EXPECT_EQ(Cells(R"({"cells": [{"outputs": [{"data": {"text/plain": [
      "'Metric: a\\n  Total\\tSamples: 1\\\\ \\'q\\''"]}}]}]})"),
            (Texts{{1, "Metric: a\n  Total\tSamples: 1\\ 'q'\n"}}));
}

TEST(Notebook, Version3) {
  EXPECT_EQ(Cells(R"({"metadata": {}, "nbformat": 3, "worksheets": [{"cells": [
      {"cell_type": "code", "outputs": [{"output_type": "stream", "text": ["x\n"]}]}]}]})"),
            (Texts{{1, "x\n"}}));
}

TEST(Notebook, ACutOneIsReadUpToTheCut) {
  const std::string whole =
      R"({"cells": [{"outputs": [{"text": ["first\n"]}]}, {"outputs": [{"text": ["sec)";
  const NotebookOutputs outputs = ReadNotebook(whole);
  ASSERT_EQ(outputs.cells.size(), 1u);
  EXPECT_EQ(outputs.cells[0].text, "first\n");
  EXPECT_THAT(outputs.damage, HasSubstr("not valid JSON from byte 77 on"));
}

TEST(Notebook, NothingOfItIsTrusted) {
  EXPECT_TRUE(ReadNotebook("").cells.empty());
  EXPECT_TRUE(ReadNotebook(R"("text")").cells.empty());
  EXPECT_TRUE(ReadNotebook(R"([["text"], {"*": {"*": "text"}}])").cells.empty());
  EXPECT_TRUE(ReadNotebook(std::string(100'000, '[')).cells.empty());
  EXPECT_TRUE(ReadNotebook("{\"a\":\"\xff\"}").cells.empty());
}

}  // namespace
}  // namespace xlaprof
