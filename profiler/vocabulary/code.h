// Tells whose code a Python file is, by its path. code.txt lists the paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/vocabulary.h"
#include "profiler/vocabulary/code_traits.h"

namespace xlaprof {

struct CodeFile {
  CodeOwner owner = CodeOwner::kUnknown;
  uint32_t traits = 0;

  bool Has(CodeTrait trait) const { return (traits & uint32_t(trait)) != 0; }
  bool is_user() const { return owner == CodeOwner::kUser; }
};

struct CodePattern {
  std::string_view text;
  CodeOwner owner;
  uint32_t traits;

  CodeFile file() const { return {owner, traits}; }
};

// The folders of an interpreter's own library and of its packages, by its sysconfig. What lies in
// them belongs to a library, whatever the patterns say, and no other folder is Python's own.
struct PythonFolders {
  std::vector<std::string> library, packages;

  bool empty() const { return library.empty() && packages.empty(); }
};

// Returns what is known of a file. A file of unknown folders is the user's, and "" is nobody's.
CodeFile FindCode(std::string_view file, const PythonFolders& folders = {});
inline CodeOwner OwnerOf(std::string_view file) { return FindCode(file).owner; }
inline bool IsUserFile(std::string_view file) { return FindCode(file).is_user(); }

// The same for a file as profilers and dumps of IR print it: its path inside the folder of packages,
// or only its name. A user may have a file of the same name.
CodeFile FindPrintedCode(std::string_view file);

// Returns whose functions have this name, if only they do, or kUnknown.
CodeOwner OwnerOfFunction(std::string_view function);

// Returns whether many functions have this name, as lambdas have.
bool IsCommonName(std::string_view function);

// Returns a condition of SQL: whether a column with a file's path names one with this trait.
std::string SqlFileHas(std::string_view column, CodeTrait trait);

// Returns the file's path within its package or within Python's library, such as
// transformers/generation/utils.py. Returns other paths as they are.
std::string_view PathInPackage(std::string_view file);

}  // namespace xlaprof
