// Tests that what xlaprof made from a run is not read as a part of it, wherever it lies.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "profiler/import/input.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const fs::path kCaptures = fs::path(XLAPROF_SOURCE_DIR) / "tests/golden/captures";
constexpr const char* kFormats[] = {"chrome", "perfetto", "xspace", "sqlite", "html"};

class MadeFiles : public ProgramTest {
 protected:
  // Makes the directory "run": a profile of PyTorch/XLA with logs, one of JAX on a TPU, or a
  // recording.
  void MakeRun(const std::string& kind) {
    fs::remove_all(folder_ / "run");
    if (kind == "recording") {
      fs::create_directory(folder_ / "run");
      RunShell("XLAPROF_RECORD=run/a.xlaprof XLAPROF_PROGRAM=" XLAPROF_PROGRAM
               " " XLAPROF_RECORDED_PROGRAM,
               folder_);
    } else {
      fs::copy(kCaptures / kind, folder_ / "run", fs::copy_options::recursive);
    }
  }
  void Succeed(const std::string& arguments) {
    const Ran ran = Run(arguments);
    EXPECT_EQ(ran.status, 0) << arguments << "\n" << ran.out;
  }
  // Returns the report on these inputs, with the files that were not read apart from the rest.
  struct Reported {
    json sources, rest;
    std::vector<std::string> made;  // names of files that were made from others
    size_t read = 0;
  };
  Reported Report(const std::string& inputs) {
    const Ran ran = Run("report --format json " + inputs);
    EXPECT_EQ(ran.status, 0) << inputs << "\n" << ran.out;
    Reported out;
    out.rest = json::parse(ran.out.substr(0, ran.out.rfind('}') + 1), nullptr, false);
    if (!out.rest.is_object()) return out;
    out.sources = out.rest["sources"];
    out.rest.erase("sources");
    for (const json& source : out.sources) {
      out.read += source["imported"] == true ? 1 : 0;
      if (!source["derived_from"].is_null())
        out.made.push_back(fs::path(source["path"].get<std::string>()).filename());
    }
    return out;
  }
};

TEST_F(MadeFiles, BesideTheirSourceChangeNothing) {
  for (const char* kind : {"recompile_dynamic_batch", "tpu_inference", "recording"}) {
    MakeRun(kind);
    const Reported before = Report("run");
    ASSERT_GT(before.read, 0u) << kind;
    // Nothing is left of the names and paths, because the mark tells the source by its content.
    for (const std::string format : kFormats) {
      const std::string name = "another name of " + format;
      Succeed("export run --format " + format + " -o 'run/" + name + "'");
      const Reported after = Report("run");
      EXPECT_EQ(after.rest, before.rest) << kind << " " << format;
      EXPECT_EQ(after.read, before.read) << kind << " " << format;
      EXPECT_THAT(after.made, testing::Contains(name)) << kind;
      Succeed("export run --format " + format + " -o 'run/" + name + "' --force");
      fs::remove(folder_ / "run" / name);
    }
    for (const std::string format : {"json", "markdown", "text"})
      Succeed("report run --format " + format + " -o run/report." + format);
    Succeed("import run -o run/imported.xlaprof");
    Succeed("export run --format chrome -o run/packed.json.gz");
    const Reported after = Report("run");
    EXPECT_EQ(after.rest, before.rest) << kind;
    EXPECT_EQ(after.made.size(), 5u) << kind;
  }
}

TEST_F(MadeFiles, OfAPartOfTheRunChangeNothing) {
  MakeRun("recompile_dynamic_batch");
  const Reported before = Report("run");
  Succeed("export run --steps 2:3 --format chrome -o run/steps.json");
  Succeed("export run --to 100ms --format perfetto -o run/to.pftrace");
  Succeed("export run --process 5 --format xspace -o run/process.pb");
  const Reported after = Report("run");
  EXPECT_EQ(after.rest, before.rest);
  EXPECT_EQ(after.made.size(), 3u);
}

// The source may be moved, renamed, packed or unpacked after the export.
TEST_F(MadeFiles, FollowTheirSourceByItsContent) {
  MakeRun("tpu_inference");
  Succeed("export run --format chrome -o trace.json");
  const fs::path packed = *fs::directory_iterator(folder_ / "run");
  const auto unpacked = InputFile::Open(packed);
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  Write("moved.pb", unpacked->bytes());
  EXPECT_EQ(Report("moved.pb trace.json").made, std::vector<std::string>{"trace.json"});
  // With one more byte it is another file.
  std::ofstream(folder_ / "moved.pb", std::ios::app) << '\0';
  EXPECT_EQ(Report("moved.pb trace.json").made.size(), 0u);
}

TEST_F(MadeFiles, AloneAreReadAsAnyFile) {
  MakeRun("recompile_dynamic_batch");
  for (const std::string format : {"chrome", "perfetto", "xspace"}) {
    Succeed("export run --format " + format + " -o alone." + format);
    const Reported alone = Report("alone." + format);
    EXPECT_EQ(alone.read, 1u);
    EXPECT_TRUE(alone.made.empty());
    // What is made from an export is made from its source, too.
    Succeed("export alone." + format + " --format chrome -o second." + format);
    EXPECT_EQ(Report("run second." + format).made, std::vector<std::string>{"second." + format});
  }
}

TEST_F(MadeFiles, OfOneRunAreReadOnce) {
  MakeRun("recompile_dynamic_batch");
  fs::create_directory(folder_ / "exports");
  for (const std::string format : kFormats)
    Succeed("export run --format " + format + " -o exports/" + format);
  const Reported both = Report("exports");
  EXPECT_EQ(both.read, 1u);
  EXPECT_EQ(both.made.size(), 4u);
  // Exports of several runs are each their own.
  MakeRun("tpu_inference");
  Succeed("export run --format perfetto -o exports/other");
  const Ran runs = Run("list exports");
  EXPECT_EQ(Report("exports/perfetto exports/other").made.size(), 0u) << runs.out;
}

TEST_F(MadeFiles, AreTold) {
  MakeRun("recompile_dynamic_batch");
  Succeed("export run --format chrome -o run/trace.json");
  const Ran ran = Run("report run --all");
  EXPECT_THAT(ran.out, HasSubstr("made from other files, not counted twice: trace.json"));
}

// A text on the terminal is read by a person.
TEST_F(MadeFiles, MarkIsOnlyInFiles) {
  MakeRun("tpu_inference");
  EXPECT_THAT(Run("report run").out, Not(HasSubstr("xlaprof-origin")));
  Succeed("report run -o report.txt");
  EXPECT_THAT(Content("report.txt"), HasSubstr("xlaprof-origin"));
}

}  // namespace
}  // namespace xlaprof
