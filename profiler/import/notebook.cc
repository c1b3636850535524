#include "profiler/import/notebook.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/import/text/python_string.h"

namespace xlaprof {
namespace {

// Undoes Python's repr of a string: a cell's last value is not printed but shown as its repr. Other
// texts stay as they are.
std::string WithoutQuotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  if (!quoted) return std::string(text);
  return FromPythonString(text.substr(1, text.size() - 2));
}

// Keeps only the text of the outputs, because a notebook may hold many megabytes of pictures.
class OutputsReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  NotebookOutputs Finish() && {
    EndOutput();
    return std::move(out_);
  }

  bool start_object(size_t) override {
    if (IsIn("cells")) ++cell_;
    if (IsIn("outputs")) EndOutput();
    path_.emplace_back();
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override {
    path_.emplace_back("*");
    return true;
  }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override {
    path_.back() = std::move(name);
    return true;
  }
  bool string(std::string& text) override {
    // A text is one string, or an array of its lines.
    const size_t end = path_.size() - (!path_.empty() && path_.back() == "*" ? 1 : 0);
    auto at = [&](size_t from_end) {
      return from_end < end ? std::string_view(path_[end - 1 - from_end]) : std::string_view();
    };
    if (at(0) == "text" && at(2) == "outputs") {
      output_ += text, output_cell_ = cell_;
    } else if (at(0) == "text/plain" && at(1) == "data" && at(3) == "outputs") {
      output_ += text, output_cell_ = cell_, is_shown_ = true;
    } else if (at(0) == "traceback" && at(2) == "outputs") {
      output_ += text + "\n", output_cell_ = cell_;
    }
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(int64_t) override { return true; }
  bool number_unsigned(uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool parse_error(size_t byte, const std::string&, const nlohmann::json::exception&) override {
    out_.damage =
        fmt::format("the notebook is not valid JSON from byte {} on: the rest was not read", byte);
    return false;
  }

 private:
  // Returns whether the value that begins is an element of the array of that name.
  bool IsIn(std::string_view key) const {
    return path_.size() >= 2 && path_.back() == "*" && path_[path_.size() - 2] == key;
  }
  bool Close() {
    path_.pop_back();
    return true;
  }
  void EndOutput() {
    if (output_.empty()) return;
    if (is_shown_) output_ = WithoutQuotes(output_);
    if (output_.back() != '\n') output_ += '\n';
    if (out_.cells.empty() || out_.cells.back().cell != output_cell_)
      out_.cells.push_back({.cell = output_cell_});
    out_.cells.back().text += output_;
    output_.clear();
    is_shown_ = false;
  }

  NotebookOutputs out_;
  std::vector<std::string> path_;  // the key of each object that is open; "*" for an array
  int64_t cell_ = 0, output_cell_ = 0;
  std::string output_;  // text of the output that is being read
  bool is_shown_ = false;
};

}  // namespace

bool IsNotebook(std::string_view head) {
  const size_t brace = head.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || head[brace] != '{') return false;
  const size_t quote = head.find_first_not_of(" \t\r\n", brace + 1);
  if (quote == std::string_view::npos) return false;
  const std::string_view first = head.substr(quote);
  return first.starts_with("\"nbformat") ||
         (head.find("\"cell_type\"") != std::string_view::npos &&
          (first.starts_with("\"cells\"") || first.starts_with("\"metadata\"") ||
           first.starts_with("\"worksheets\"")));
}

NotebookOutputs ReadNotebook(std::string_view json) {
  OutputsReader reader;
  nlohmann::json::sax_parse(json, &reader);
  return std::move(reader).Finish();
}

}  // namespace xlaprof
