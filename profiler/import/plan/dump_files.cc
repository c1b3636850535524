#include "profiler/import/plan/dump_files.h"

#include <algorithm>
#include <map>
#include <set>

#include "profiler/import/xla/xla_dump_name.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// The files of one program, which have one stem.
struct Program {
  fs::path folder;
  int64_t module = 0;
  int program = -1, buffers = -1;  // places in the list of files; -1: none
  int rank = 0;                    // rank of the file at `program`; lower is better
  std::vector<size_t> others;
};

// Ranks a dumped program; lower is better. XLA's input says more than XLA's output, and a proto is
// exact while a text is not.
int Rank(const XlaDumpName& name) {
  return (name.kind == XlaDumpName::kAfter ? 2 : 0) + (name.is_proto ? 0 : 1);
}

struct DumpFile {
  fs::path folder;
  XlaDumpName name;
};

// Returns the dump that a file belongs to: that of its folder, or of the folder above if its own
// folder is named after a program. The result views `file` or `folder`.
std::optional<DumpFile> DumpFileOf(const fs::path& path, std::string& file, std::string& folder) {
  file = path.filename().string();
  if (auto name = ParseXlaDumpName(file)) return DumpFile{path.parent_path(), *name};
  folder = path.parent_path().filename().string();
  auto name = ParseXlaDumpName(folder);
  if (!name) return std::nullopt;
  name->kind = XlaDumpName::kPart;
  return DumpFile{path.parent_path().parent_path(), *name};
}

// Returns the name of a dump. JAX and XLA dump the same compilations: each dump is read by itself,
// and they are joined later.
std::string DumpOf(const DumpFile& file) {
  return file.name.is_jax ? file.folder / "jax_ir*" : file.folder;
}

bool IsProgram(const XlaDumpName& name) {
  return name.kind == XlaDumpName::kBefore || name.kind == XlaDumpName::kAfter;
}

// Marks the files that were named, as in `xlaprof report DIR/*.mlir`. They are in the order of
// their names, and so of the programs.
void MarkNamed(std::vector<IdentifiedFile>& files) {
  std::set<std::pair<std::string, std::string>> programs;  // by dump and stem
  for (IdentifiedFile& found : files) {
    std::string file, folder;
    if (!found.named) continue;
    const auto dumped = DumpFileOf(found.path, file, folder);
    if (!dumped || !IsProgram(dumped->name)) continue;
    const std::string dump = DumpOf(*dumped);
    if (programs.emplace(dump, dumped->name.stem).second) found.dump = dump;
  }
}

}  // namespace

void GroupDumps(std::vector<IdentifiedFile>& files) {
  MarkNamed(files);
  std::map<std::string, std::map<std::string, Program>> dumps;
  std::vector<bool> taken(files.size(), false);
  for (size_t i = 0; i < files.size(); ++i) {
    std::string file, folder;
    if (files[i].named) continue;
    const auto dumped = DumpFileOf(files[i].path, file, folder);
    if (!dumped) continue;
    taken[i] = true;
    Program& program = dumps[DumpOf(*dumped)][std::string(dumped->name.stem)];
    program.folder = dumped->folder;
    program.module = dumped->name.module;
    if (IsProgram(dumped->name) && (program.program < 0 || Rank(dumped->name) < program.rank)) {
      if (program.program >= 0) program.others.push_back(size_t(program.program));
      program.program = int(i);
      program.rank = Rank(dumped->name);
    } else if (dumped->name.kind == XlaDumpName::kBuffers && program.buffers < 0) {
      program.buffers = int(i);
    } else {
      program.others.push_back(i);
    }
  }
  if (dumps.empty()) return;

  std::vector<IdentifiedFile> out;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!taken[i]) out.push_back(std::move(files[i]));
  }
  for (auto& [dump, programs] : dumps) {
    std::vector<std::pair<const std::string, Program>*> order;
    for (auto& entry : programs) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->second.module < b->second.module;
    });
    for (auto* entry : order) {
      auto& [stem, program] = *entry;
      std::string read;
      for (int place : {program.program, program.buffers}) {
        // Buffers without their program say nothing.
        if (place < 0 || program.program < 0) continue;
        IdentifiedFile& file = files[size_t(place)];
        if (read.empty()) read = file.path.filename().string();
        file.dump = dump;
        out.push_back(std::move(file));
      }
      if (program.program < 0 && program.buffers >= 0)
        program.others.push_back(size_t(program.buffers));
      if (program.others.empty()) continue;
      IdentifiedFile rest{{.path = program.folder / (stem + ".*")}};
      for (size_t i : program.others) {
        rest.bytes += files[i].bytes;
        rest.modified_ns = std::max(rest.modified_ns, files[i].modified_ns);
      }
      const size_t count = program.others.size();
      rest.derived_from = read.empty() ? "a program that was not dumped" : read;
      rest.note =
          read.empty()
              ? fmt::format(
                    "{} file{} of a program whose HLO is missing: dump it with --xla_dump_hlo_as_text or --xla_dump_hlo_as_proto",
                    count, count == 1 ? "" : "s")
              : fmt::format("{} other file{} that XLA wrote for this program: not imported", count,
                            count == 1 ? "" : "s");
      out.push_back(std::move(rest));
    }
  }
  files = std::move(out);
}

}  // namespace xlaprof
