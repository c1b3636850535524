#!/usr/bin/python3
"""Reads every #include of the tree against the table below: data flows one way, and includes never point back."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Maps a folder to the folders of ours that it may include (besides itself and base), and to libraries (besides std, fmt and
# abseil).
IMPORTER = ["profiler/store", "profiler/vocabulary", "profiler/import/importer.h", "profiler/import/odd_input.h"]
PROTOBUF = ["profiler/import/protobuf_wire.h", "profiler/import/inflate.h"]
FORMATS = ["text", "graph", "xspace", "trace", "chrome", "perfetto", "gaudi", "observed", "xla", "jax", "torch", "torch_xla", "log", "join"]
TIMELINE = ["profiler/store", "exporters/output", "exporters/timeline"]
OURS = {
    "base": [],
    "core": ["core/observe"],
    "profiler/vocabulary": ["profiler/store/vocabulary.h"],
    "profiler/store": [],
    "include/xlaprof": ["core"],
    "profiler/record": ["profiler/store", "core/observe", "include/xlaprof"],
    "profiler/stacks": ["profiler/store", "profiler/vocabulary", "profiler/record", "analyzers/open_scopes_text.h", "analyzers/quantity.h"],
    "profiler/import": ["profiler/store", "profiler/vocabulary", "profiler/record"] + ["profiler/import/" + f for f in FORMATS],
    "profiler/import/text": ["profiler/store", "profiler/vocabulary", "profiler/import/chrome/json_scan.h"],
    "profiler/import/graph": IMPORTER + ["profiler/import/text"],
    "profiler/import/xspace": IMPORTER + PROTOBUF + ["profiler/import/text", "profiler/import/graph"],
    "profiler/import/trace": IMPORTER + ["profiler/import/text", "profiler/import/xspace"],
    "profiler/import/chrome": IMPORTER + ["profiler/import/text", "profiler/import/trace"],
    "profiler/import/perfetto": IMPORTER + PROTOBUF + ["profiler/import/text", "profiler/import/trace"],
    "profiler/import/gaudi": IMPORTER + ["profiler/import/text"],
    "profiler/import/observed": IMPORTER + ["profiler/import/text"],
    "profiler/import/xla": IMPORTER + ["profiler/import/text", "profiler/import/graph"],
    "profiler/import/jax": IMPORTER + ["profiler/import/text", "profiler/import/graph", "profiler/import/xla"],
    "profiler/import/torch_xla": IMPORTER + ["profiler/import/text", "profiler/import/graph"],
    "profiler/import/torch": IMPORTER + ["profiler/import/text", "profiler/import/graph"],
    "profiler/import/log": IMPORTER + ["profiler/import/" + f for f in ["text", "xla", "jax", "torch_xla", "torch"]],
    "profiler/import/join": ["profiler/store", "profiler/vocabulary", "profiler/import/import.h", "profiler/import/formats.h", "profiler/import/text"],
    "profiler/launch": ["profiler/store", "profiler/import/archive.h", "profiler/import/input.h"],
    "serve": ["profiler/store", "include/xlaprof", "analyzers", "exporters"],
    "analyzers": ["profiler/vocabulary", "profiler/store"] + ["analyzers/" + f for f in ["run", "graph", "recompile"]],
    "analyzers/words": ["profiler/vocabulary", "profiler/store", "analyzers"],
    "analyzers/graph": ["profiler/vocabulary", "profiler/store", "analyzers/policy.h"],
    "analyzers/run": ["profiler/vocabulary", "profiler/store", "analyzers/finding.h", "analyzers/quantity.h", "analyzers/policy.h", "analyzers/graph"],
    "analyzers/recompile": ["profiler/vocabulary", "profiler/store", "analyzers/finding.h", "analyzers/quantity.h", "analyzers/policy.h", "analyzers/graph",
                            "analyzers/run"],
    "analyzers/report": ["profiler/vocabulary", "profiler/store", "analyzers/analyzer.h", "analyzers/finding.h", "analyzers/kinds.h", "analyzers/open_scopes_text.h", "analyzers/policy.h",
                         "analyzers/quantity.h", "analyzers/run"],
    "exporters": ["profiler/store", "analyzers/finding.h", "analyzers/run/run.h", "analyzers/quantity.h", "analyzers/report"] +
                 ["exporters/" + f for f in ["output", "timeline", "chrome", "perfetto", "sqlite", "xspace", "view"]],
    "exporters/output": ["profiler/store"],
    "exporters/timeline": ["profiler/store", "exporters/output", "analyzers/finding.h"],
    "exporters/chrome": TIMELINE,
    "exporters/perfetto": TIMELINE,
    "exporters/xspace": TIMELINE,
    "exporters/sqlite": ["profiler/store"],
    "exporters/view": ["profiler/store", "exporters/timeline", "analyzers/finding.h", "analyzers/report", "analyzers/graph/graph_sides.h",
                       "analyzers/run/run.h", "analyzers/run/step_parts.h"],
    "examples": ["core", "profiler/record"],
    "cli": ["core", "profiler", "serve", "analyzers", "exporters", "examples/demo.h"],
    "python": ["core", "profiler", "analyzers", "exporters"],
}
LIBRARIES = {
    "base": [],
    "core": ["dnnl", "pjrt", "nlohmann"],
    "profiler/store": ["sqlite3", "zstd"],
    "include/xlaprof": ["xlaprof/record.h"],
    "profiler/record": [],
    "profiler/stacks": ["nlohmann"],
    "profiler/import": ["zlib", "zstd", "archive", "nlohmann"],
    "profiler/import/text": [],
    "profiler/import/graph": ["google/protobuf"],
    "profiler/import/xspace": [],
    "profiler/import/trace": [],
    "profiler/import/chrome": [],
    "profiler/import/perfetto": [],
    "profiler/import/gaudi": ["nlohmann"],
    "profiler/import/observed": ["nlohmann"],
    "profiler/import/torch": ["nlohmann"],
    "profiler/import/xla": [],
    "profiler/import/jax": [],
    "profiler/import/torch_xla": [],
    "profiler/import/log": [],
    "profiler/import/join": [],
    "profiler/launch": ["nlohmann", "zlib", "zstd"],
    "serve": ["grpcpp", "nghttp2", "google/protobuf", "httplib", "nlohmann"],
    "analyzers": [],
    "analyzers/words": [],
    "analyzers/graph": [],
    "analyzers/run": [],
    "analyzers/recompile": [],
    "analyzers/report": ["nlohmann"],
    "exporters": ["nlohmann", "zlib"],
    "exporters/output": ["zlib"],
    "exporters/timeline": [],
    "exporters/chrome": [],
    "exporters/perfetto": [],
    "exporters/xspace": [],
    "exporters/sqlite": [],
    "exporters/view": ["nlohmann"],
    "examples": ["CLI", "zlib"],
    "cli": ["CLI"],
    "python": ["Python.h", "structmember.h"],
}
ALWAYS = ["absl", "fmt"]
# C++ and POSIX headers are in no folder, or in one of these.
SYSTEM = ["sys", "netinet", "arpa", "linux"]
# These libraries may be used in a folder only by the named files.
ONLY_IN = {("profiler/store", "zstd"): ["chunk"], ("core", "nlohmann"): ["safetensors"],
           ("profiler/import", "nlohmann"): ["notebook"], ("serve", "nghttp2"): ["grpc_call"],
           ("serve", "grpcpp"): ["server"]}  # the program xlaprof, which has the rest, must not need gRPC
OTHER = ["zlib.h", "zstd.h", "zconf.h", "sqlite3.h", "sqlite3ext.h", "archive.h", "archive_entry.h", "simdjson.h", "dnnl.hpp",
         "httplib.h", "pjrt_c_api.h"]


def folder_of(path):
    """Returns the longest folder of the table that holds `path`."""
    names = [f for f in OURS if path == f or path.startswith(f + "/")]
    return max(names, key=len) if names else None


def problems():
    count = 0
    for file in sorted(ROOT.glob("**/*")):
        relative = file.relative_to(ROOT).as_posix()
        folder = folder_of(relative)
        if file.suffix not in (".h", ".cc") or folder is None or relative.startswith("build/"):
            continue
        count += 1
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not found:
                continue
            quote, target = found.groups()
            where = f"{relative}:{number}: {folder} may not include {target}"
            if quote == '"':
                if target.endswith(".pb.h"):
                    continue
                target_folder = folder_of(target)
                if target_folder is None:
                    yield f"{relative}:{number}: \"{target}\" is not a path from the top of the tree"
                elif target_folder in (folder, "base"):
                    pass
                elif not any(target == t or target.startswith(t + "/") for t in OURS[folder]):
                    yield where
                elif target.endswith("_internal.h"):
                    yield f"{relative}:{number}: {target} is internal to its folder"
                continue
            library = target.split("/")[0] if "/" in target else target
            if target in OTHER:
                library = target.split(".")[0].replace("sqlite3ext", "sqlite3").replace("zconf", "zlib").split("_")[0]
            elif "/" not in target or library in SYSTEM + ALWAYS:
                continue
            allowed = [a for a in LIBRARIES[folder] if target.startswith(a) or library == a]
            if not allowed:
                yield where
            for (where_folder, name), files in ONLY_IN.items():
                if folder == where_folder and allowed == [name] and not any(file.name.startswith(f) for f in files):
                    yield f"{relative}:{number}: only {', '.join(files)} may include {target}"
    if count < 10:
        yield f"only {count} files were looked at: the table or the tree is wrong"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found) or "layering: every include follows the table")
    sys.exit(1 if found else 0)
