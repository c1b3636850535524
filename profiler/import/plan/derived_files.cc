#include "profiler/import/plan/derived_files.h"

#include <algorithm>

#include "base/sqlite_files.h"

namespace xlaprof {

namespace fs = std::filesystem;

void FolderNames::Add(const fs::path& path) {
  Folder& folder = folders_[path.parent_path()];
  std::string name = path.filename().string();
  folder.has_xplane |= name.find(".xplane.pb") != std::string::npos;
  folder.names.insert(std::move(name));
}

std::optional<std::string> FolderNames::FirstIn(const fs::path& folder,
                                                std::span<const std::string> names) const {
  const auto found = folders_.find(folder);
  if (found == folders_.end()) return std::nullopt;
  for (const std::string& name : names) {
    if (found->second.names.contains(name)) return name;
  }
  return std::nullopt;
}

std::optional<std::string> FolderNames::OriginInDebugRun(const fs::path& path) const {
  static const std::string kGraphs[] = {"graphs", "graphs.0"},
                           kMetrics[] = {"metrics", "metrics.0"};
  const fs::path folder = path.parent_path();
  if (path.filename() == "graph_report") return FirstIn(folder, kGraphs);
  if (path.filename() == "metrics_report") return FirstIn(folder, kMetrics);
  if (folder.filename() == "graphdir") return FirstIn(folder.parent_path(), kGraphs);
  if (folder.filename() == "metrics_imgdir") return FirstIn(folder.parent_path(), kMetrics);
  return std::nullopt;
}

std::optional<std::string> FolderNames::OriginOf(const fs::path& path) const {
  const fs::path folder = path.parent_path();
  const auto& [siblings, has_xplane] = folders_.at(folder);
  const std::string name = path.filename().string();
  for (std::string_view suffix :
       {".trace.json.gz", ".trace.json", ".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string host = name.substr(0, name.size() - suffix.size());
    const std::string originals[] = {host + ".xplane.pb", host + ".xplane.pb.gz",
                                     host + ".xplane.pb.zst"};
    if (auto original = FirstIn(folder, originals)) return original;
  }
  // JAX's create_perfetto_trace copies HOST.trace.json.gz.
  const bool is_copy = name == "perfetto_trace.json.gz";
  if (has_xplane && (is_copy || name.find(".op_stats") != std::string::npos ||
                     name.ends_with(".hlo_proto.pb") || name.starts_with("ALL_HOSTS."))) {
    return "the .xplane.pb beside it";
  }
  if (is_copy) {
    const auto original = std::ranges::find_if(
        siblings, [](const std::string& sibling) { return sibling.ends_with(".trace.json.gz"); });
    if (original != siblings.end()) return *original;
  }
  // tlparse writes its input to raw.log, and parts of it in other forms beside it.
  if ((name == "raw.jsonl" || name == "chromium_events.json") && siblings.contains("raw.log"))
    return "raw.log";
  // `xlaprof run` writes its report beside what it recorded.
  if (name == "report.txt" && siblings.contains("run.jsonl")) return "the files beside it";
  return OriginInDebugRun(path);
}

bool FolderNames::IsPartOfAStore(const fs::path& path) const {
  const std::set<std::string>& siblings = folders_.at(path.parent_path()).names;
  const std::string name = path.filename().string();
  auto is_beside = [&](std::string_view suffix) {
    if (!name.ends_with(suffix)) return false;
    const std::string store = name.substr(0, name.size() - suffix.size());
    return store.ends_with(".xlaprof") && siblings.contains(store);
  };
  return is_beside(".ring") || std::ranges::any_of(kSqliteSuffixes, is_beside);
}

}  // namespace xlaprof
