#include "profiler/import/look.h"

#include <algorithm>

namespace xlaprof {

Look LookOf(std::string_view bytes) {
  if (bytes.empty()) return Look::kEmpty;
  if (bytes.starts_with("SQLite format 3")) return Look::kSqlite;
  if (bytes.starts_with("\x89PNG")) return Look::kPng;
  if (bytes.starts_with("PK\x03\x04")) return Look::kZip;
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return Look::kProgram;
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '['))
    return Look::kJson;
  const bool is_text = std::ranges::all_of(bytes.substr(0, 4096), [](unsigned char c) {
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return is_text ? Look::kText : Look::kBinary;
}

std::string_view TextOf(Look look) {
  switch (look) {
    case Look::kEmpty:
      return "an empty file";
    case Look::kText:
      return "text";
    case Look::kJson:
      return "JSON";
    case Look::kSqlite:
      return "an SQLite database";
    case Look::kPng:
      return "a PNG image";
    case Look::kZip:
      return "a zip archive";
    case Look::kProgram:
      return "a program";
    case Look::kBinary:
      return "binary";
  }
  return "";
}

}  // namespace xlaprof
