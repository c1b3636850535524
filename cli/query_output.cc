#include "cli/query_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzers/report/report_layout.h"
#include "base/escape.h"
#include "exporters/output/json_text.h"

namespace xlaprof {
namespace {

// 2^53, the largest integer up to which every integer is exact as a double.
constexpr int64_t kMaxExactInteger = int64_t{1} << 53;
// The first rows, as many as this, determine a table's column widths. Later rows are printed at
// once, so that memory stays bounded.
constexpr size_t kWidthRows = 10000;

std::string_view TextOf(sqlite3_stmt* stmt, int column) {
  auto* data = static_cast<const char*>(sqlite3_column_blob(stmt, column));
  return {data == nullptr ? "" : data, size_t(sqlite3_column_bytes(stmt, column))};
}

// Returns the shortest decimal that reads back as `value`, and is recognizable as a REAL.
std::string RealOf(double value) {
  std::string out = fmt::format("{}", value);
  if (std::isfinite(value) && out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

// Returns the number, hex or text of a value that is not NULL.
std::string ValueOf(sqlite3_stmt* stmt, int column) {
  switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER:
      return fmt::to_string(sqlite3_column_int64(stmt, column));
    case SQLITE_FLOAT:
      return RealOf(sqlite3_column_double(stmt, column));
    case SQLITE_BLOB:
      return Hex(TextOf(stmt, column));
    default:
      return std::string(TextOf(stmt, column));
  }
}

class TableOutput : public QueryOutput {
 public:
  explicit TableOutput(std::FILE* out) : out_(out) {}

  void Begin(sqlite3_stmt* stmt) override {
    if (!first_) std::fputc('\n', out_);
    first_ = false;
    columns_.assign(size_t(sqlite3_column_count(stmt)), {});
    rows_.clear();
    widths_known_ = false;
    for (size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].name = Printable(sqlite3_column_name(stmt, int(i)));
      columns_[i].width = size_t(DisplayWidth(columns_[i].name));
    }
  }

  bool Row(sqlite3_stmt* stmt) override {
    std::vector<std::string> row(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      int type = sqlite3_column_type(stmt, int(i));
      if (type == SQLITE_NULL) continue;
      row[i] = Printable(ValueOf(stmt, int(i)));
      if (widths_known_) continue;
      columns_[i].width = std::max(columns_[i].width, size_t(DisplayWidth(row[i])));
      (type == SQLITE_INTEGER || type == SQLITE_FLOAT ? columns_[i].numbers : columns_[i].others) +=
          1;
    }
    if (widths_known_) {
      PrintRow(row);
    } else {
      rows_.push_back(std::move(row));
      if (rows_.size() == kWidthRows) PrintHead();
    }
    return std::ferror(out_) == 0;
  }

  void End() override {
    if (!widths_known_) PrintHead();
  }

 private:
  struct Column {
    std::string name;
    size_t width = 0, numbers = 0, others = 0;
  };

  void PrintHead() {
    widths_known_ = true;
    std::vector<std::string> names, rules;
    for (const Column& column : columns_) {
      names.push_back(column.name);
      rules.emplace_back(column.width, '-');
    }
    PrintRow(names);
    PrintRow(rules);
    for (const auto& row : rows_) PrintRow(row);
    rows_.clear();
  }

  void PrintRow(const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      size_t width = size_t(DisplayWidth(row[i]));
      std::string pad(columns_[i].width - std::min(columns_[i].width, width), ' ');
      bool right = columns_[i].numbers > 0 && columns_[i].others == 0;
      if (i > 0) line += "  ";
      line += right ? pad + row[i] : row[i] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), out_);
  }

  std::FILE* out_;
  bool first_ = true;
  bool widths_known_ = false;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

class CsvOutput : public QueryOutput {
 public:
  CsvOutput(std::FILE* out, CsvTexts texts)
      : out_(out), terminal_(isatty(fileno(out)) == 1), texts_(texts) {}

  void Begin(sqlite3_stmt* stmt) override {
    if (!first_) std::fputc('\n', out_);
    first_ = false;
    std::string line;
    for (int i = 0; i < sqlite3_column_count(stmt); ++i)
      line += (i > 0 ? "," : "") + CsvText(sqlite3_column_name(stmt, i), texts_);
    Print(line);
  }

  bool Row(sqlite3_stmt* stmt) override {
    std::string line;
    for (int i = 0; i < sqlite3_column_count(stmt); ++i) {
      const int type = sqlite3_column_type(stmt, i);
      if (i > 0) line += ',';
      if (type == SQLITE_NULL) continue;
      const bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
      line += number ? ValueOf(stmt, i) : CsvText(ValueOf(stmt, i), texts_);
    }
    Print(line);
    return std::ferror(out_) == 0;
  }

  void End() override {}

 private:
  // Prints a line. Control sequences are kept only in files and pipes, not on a terminal.
  void Print(std::string& line) {
    if (terminal_) line = Printable(line, /*keep_newlines=*/true);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), out_);
  }

  std::FILE* out_;
  const bool terminal_;
  const CsvTexts texts_;
  bool first_ = true;
};

class JsonOutput : public QueryOutput {
 public:
  explicit JsonOutput(std::FILE* out) : out_(out) {}

  void Begin(sqlite3_stmt* stmt) override {
    keys_.clear();
    std::vector<std::string> names;
    for (int i = 0; i < sqlite3_column_count(stmt); ++i) {
      std::string base = sqlite3_column_name(stmt, i), name = base;
      for (int nth = 2; std::find(names.begin(), names.end(), name) != names.end(); ++nth) {
        name = fmt::format("{}_{}", base, nth);
      }
      names.push_back(name);
      keys_.push_back(Quoted(name));
    }
    rows_ = 0;
    std::fputc('[', out_);
  }

  bool Row(sqlite3_stmt* stmt) override {
    std::string line = rows_++ == 0 ? "\n  {" : ",\n  {";
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (i > 0) line += ", ";
      line += keys_[i];
      line += ": ";
      AddValue(line, stmt, int(i));
    }
    line += '}';
    return std::fwrite(line.data(), 1, line.size(), out_) == line.size();
  }

  void End() override { std::fputs(rows_ == 0 ? "]\n" : "\n]\n", out_); }

 private:
  // Quotes text. Bytes that are not valid UTF-8 become U+FFFD.
  static std::string Quoted(std::string_view text) { return TerminalSafeJson(JsonString(text)); }

  static void AddValue(std::string& line, sqlite3_stmt* stmt, int column) {
    switch (sqlite3_column_type(stmt, column)) {
      case SQLITE_NULL:
        line += "null";
        break;
      case SQLITE_INTEGER: {
        int64_t value = sqlite3_column_int64(stmt, column);
        bool exact = value >= -kMaxExactInteger && value <= kMaxExactInteger;
        line += exact ? fmt::to_string(value) : fmt::format("\"{}\"", value);
        break;
      }
      case SQLITE_FLOAT: {
        double value = sqlite3_column_double(stmt, column);
        line += std::isfinite(value) ? RealOf(value)
                                     : fmt::format("\"{}\"", value);  // JSON has no infinity
        break;
      }
      default:
        line += Quoted(ValueOf(stmt, column));
    }
  }

  std::FILE* out_;
  std::vector<std::string> keys_;
  size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<QueryOutput> QueryOutput::Make(std::string_view format, std::FILE* out,
                                               CsvTexts texts) {
  if (format == "table") return std::make_unique<TableOutput>(out);
  if (format == "csv") return std::make_unique<CsvOutput>(out, texts);
  if (format == "json") return std::make_unique<JsonOutput>(out);
  return nullptr;
}

}  // namespace xlaprof
