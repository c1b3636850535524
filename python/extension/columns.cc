#include "python/extension/columns.h"

#include <algorithm>
#include <cstring>

namespace xlaprof::python {
namespace {

// Returns the type that a table declares for a column, by SQLite's rules of affinity. A double is
// not assumed for an expression, which has no declared type.
ColumnType Declared(const char* text) {
  const std::string_view type = text != nullptr ? text : "";
  const auto has = [&](std::string_view word) { return type.find(word) != type.npos; };
  return has("INT")                                  ? ColumnType::kInt
         : has("CHAR") || has("TEXT")                ? ColumnType::kText
         : has("BLOB")                               ? ColumnType::kBytes
         : has("REAL") || has("FLOA") || has("DOUB") ? ColumnType::kDouble
                                                     : ColumnType::kNull;
}

std::string TextOfDouble(double value) { return fmt::format("{}", value); }

std::string_view BytesOf(sqlite3_stmt* stmt, int index) {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(stmt, index));
  return {data == nullptr ? "" : data, size_t(sqlite3_column_bytes(stmt, index))};
}

// Returns `text` if it is UTF-8. Otherwise replaces each wrong byte, because Arrow's readers trust
// texts.
std::string Utf8Of(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0; };
    const auto goes_on = [&](size_t count) {
      for (size_t i = 1; i <= count; ++i)
        if ((byte(at + i) & 0xc0) != 0x80) return false;
      return true;
    };
    const uint8_t first = byte(at), second = byte(at + 1);
    size_t size = 0;
    if (first < 0x80) {
      size = 1;
    } else if (first >= 0xc2 && first < 0xe0 && goes_on(1)) {
      size = 2;
    } else if (first >= 0xe0 && first < 0xf0 && goes_on(2) && !(first == 0xe0 && second < 0xa0) &&
               !(first == 0xed && second >= 0xa0)) {
      size = 3;
    } else if (first >= 0xf0 && first < 0xf5 && goes_on(3) && !(first == 0xf0 && second < 0x90) &&
               !(first == 0xf4 && second >= 0x90)) {
      size = 4;
    }
    if (size == 0) {
      out += "\xef\xbf\xbd";
      at += 1;
    } else {
      out.append(text, at, size);
      at += size;
    }
  }
  return out;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 0x80; });
}

}  // namespace

void Column::AddText(std::string_view text) {
  bytes += text;
  ends.push_back(int64_t(bytes.size()));
}

void Column::Become(ColumnType wanted) {
  const ColumnType was = type;
  type = wanted;
  const auto count = size_t(rows);
  if (wanted == ColumnType::kInt) {
    ints.assign(count, 0);
  } else if (wanted == ColumnType::kDouble) {
    doubles.assign(count, 0);
    if (was == ColumnType::kInt) std::copy(ints.begin(), ints.end(), doubles.begin());
    ints = {};
  } else if (was != ColumnType::kText && was != ColumnType::kBytes) {
    ends.assign(1, 0);
    bytes.clear();
    for (size_t row = 0; row < count; ++row) {
      AddText(was == ColumnType::kNull || IsNull(row) ? ""
              : was == ColumnType::kInt               ? fmt::to_string(ints[row])
                                                      : TextOfDouble(doubles[row]));
    }
    ints = {}, doubles = {};
  }
}

void Column::Add(sqlite3_stmt* stmt, int index) {
  const int kind = sqlite3_column_type(stmt, index);
  if (size_t(rows) % 8 == 0) valid.push_back(0);
  if (kind == SQLITE_NULL) {
    ++nulls;
  } else {
    const ColumnType of_value = kind == SQLITE_INTEGER ? ColumnType::kInt
                                : kind == SQLITE_FLOAT ? ColumnType::kDouble
                                : kind == SQLITE_TEXT  ? ColumnType::kText
                                                       : ColumnType::kBytes;
    // The types are ordered: each can hold those before it. The first value may also lower what was
    // declared, but an integer of a column of reals is a real.
    const bool keeps_reals = type == ColumnType::kDouble && of_value == ColumnType::kInt;
    if (of_value > type || (!has_values_ && of_value < type && !keeps_reals)) Become(of_value);
    has_values_ = true;
    valid.back() |= uint8_t(1u << (rows % 8));
  }
  switch (type) {
    case ColumnType::kNull:
      break;
    case ColumnType::kInt:
      ints.push_back(sqlite3_column_int64(stmt, index));
      break;
    case ColumnType::kDouble:
      doubles.push_back(sqlite3_column_double(stmt, index));
      break;
    case ColumnType::kText:
    case ColumnType::kBytes:
      if (kind == SQLITE_FLOAT) {
        AddText(TextOfDouble(sqlite3_column_double(stmt, index)));
      } else {
        const std::string_view text = BytesOf(stmt, index);
        if (type == ColumnType::kText && !IsAscii(text)) {
          AddText(Utf8Of(text));
        } else {
          AddText(text);
        }
      }
  }
  ++rows;
}

void ColumnsOfResult::Begin(sqlite3_stmt* stmt) {
  columns_ = std::make_shared<Columns>();
  for (int i = 0; i < sqlite3_column_count(stmt); ++i) {
    const std::string base = sqlite3_column_name(stmt, i);
    std::string name = base;
    // Arrow's readers ask for columns by name, so a name that comes again gets a suffix.
    const auto taken = [&](const Column& column) { return column.name == name; };
    for (int nth = 2; std::any_of(columns_->columns.begin(), columns_->columns.end(), taken); ++nth)
      name = fmt::format("{}_{}", base, nth);
    columns_->columns.emplace_back(name, Declared(sqlite3_column_decltype(stmt, i)));
  }
}

bool ColumnsOfResult::Row(sqlite3_stmt* stmt) {
  for (size_t i = 0; i < columns_->columns.size(); ++i) columns_->columns[i].Add(stmt, int(i));
  ++columns_->rows;
  return true;
}

}  // namespace xlaprof::python
