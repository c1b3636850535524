#include "profiler/vocabulary/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "profiler/vocabulary/code_tables.h"

namespace xlaprof {
namespace {

constexpr CodeFile kUser{CodeOwner::kUser, 0}, kPython{CodeOwner::kPython, 0},
    kLibrary{CodeOwner::kLibrary, 0};

std::optional<CodeFile> Beginning(std::span<const CodePattern> patterns, std::string_view path) {
  const auto found = std::ranges::find_if(
      patterns, [&](const CodePattern& pattern) { return path.starts_with(pattern.text); });
  return found == patterns.end() ? std::nullopt : std::optional(found->file());
}

// Returns the part of a path behind the last folder of this name, or "".
std::string_view Behind(std::string_view path, std::string_view folder) {
  const size_t at = path.rfind(folder);
  return at == path.npos ? std::string_view() : path.substr(at + folder.size());
}

std::string_view InPackages(std::string_view path) {
  for (const std::string_view folder :
       {"/site-packages/", "/dist-packages/", "\\site-packages\\"}) {
    if (const std::string_view inside = Behind(path, folder); !inside.empty()) return inside;
  }
  return {};
}

// Returns the part of a path in Python's own library: /lib/python3.11/contextlib.py.
std::string_view InPython(std::string_view path) {
  for (const std::string_view folder : {"/lib/python", "/lib64/python"}) {
    const std::string_view version = Behind(path, folder);
    const size_t slash = version.find('/');
    if (slash == version.npos || (version.front() != '2' && version.front() != '3')) continue;
    return version.substr(slash + 1);
  }
  return {};
}

// Returns the part of a path in one of the folders, or "".
std::string_view InOneOf(std::span<const std::string> folders, std::string_view path) {
  for (const std::string& folder : folders) {
    if (path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/')
      return path.substr(folder.size() + 1);
  }
  return {};
}

CodeFile OfPackage(std::string_view inside) {
  return Beginning(kPackageCodePatterns, inside).value_or(kLibrary);
}

}  // namespace

CodeFile FindCode(std::string_view file, const PythonFolders& folders) {
  if (file.empty()) return {};
  if (file.front() == '<') return Beginning(kTypedCodePatterns, file).value_or(kPython);
  if (const std::string_view inside = InOneOf(folders.packages, file); !inside.empty())
    return OfPackage(inside);
  if (const std::string_view inside = InPackages(file); !inside.empty()) return OfPackage(inside);
  if (const std::string_view inside =
          folders.empty() ? InPython(file) : InOneOf(folders.library, file);
      !inside.empty())
    return Beginning(kPythonCodePatterns, inside).value_or(kPython);
  for (const CodePattern& tree : kTreeCodePatterns) {
    const size_t at = file.rfind(tree.text);
    if (at == file.npos) continue;
    return Beginning(kPackageCodePatterns, file.substr(at + 1)).value_or(tree.file());
  }
  return kUser;
}

CodeFile FindPrintedCode(std::string_view file) {
  if (file.find('/') == file.npos) {
    const auto name = std::ranges::lower_bound(kNameCodePatterns, file, {}, &CodePattern::text);
    if (name != std::end(kNameCodePatterns) && name->text == file) return name->file();
    return FindCode(file);
  }
  const std::optional<CodeFile> package =
      file.starts_with('/') ? std::nullopt : Beginning(kPackageCodePatterns, file);
  return package ? *package : FindCode(file);
}

CodeOwner OwnerOfFunction(std::string_view function) {
  return Beginning(kFunctionCodePatterns, function).value_or(CodeFile()).owner;
}

bool IsCommonName(std::string_view function) {
  return std::ranges::any_of(kCommonCodePatterns, [&](const CodePattern& pattern) {
    return function == pattern.text ||
           (pattern.text.starts_with('<') && function.find(pattern.text) != function.npos);
  });
}

std::string SqlFileHas(std::string_view column, CodeTrait trait) {
  std::string condition;
  for (const CodePattern& pattern : kPackageCodePatterns) {
    if (pattern.file().Has(trait))
      condition += fmt::format("{} LIKE '%/{}' OR ", column, pattern.text);
  }
  return fmt::format("({}0)", condition);
}

std::string_view PathInPackage(std::string_view file) {
  if (const std::string_view inside = InPackages(file); !inside.empty()) return inside;
  if (const std::string_view inside = InPython(file); !inside.empty()) return inside;
  return file;
}

}  // namespace xlaprof
