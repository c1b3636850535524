// Tests what must be true of the report on any input, on everything in tests/ that can be reported
// on (every_input.h):
//
// - A cost per step is at most the step, and the costs of all findings are at most the run.
// - Each place exists in the store, so a source named it.
// - From a part of the files, nothing is concluded more strongly than from all of them.
// - The same files in another order, with other ends of lines, compressed, or in another time zone
//   lead to the same claims.
//
// tests/properties/PROPERTY.txt lists the inputs for which a property does not hold today.
// The lists may only shrink: a line that is missing in a list, or of no use there, fails the test.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "profiler/import/file_ends.h"
#include "tests/every_input.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The text of faults, one for each input and finding for which a property does not hold.
using Faults = std::set<std::string>;

InputOptions In(std::vector<std::string> paths) {
  return {.paths = std::move(paths), .run = {}, .as_format = {}};
}

std::string Named(const json& finding) {
  return NameOf(finding) + " at " + PlaceOf(finding["subject"]);
}

// Expects that exactly these faults are known.
void ExpectKnown(const std::string& property, const Faults& faults) {
  const fs::path path = kGolden.parent_path() / "properties" / (property + ".txt");
  std::ifstream lines(path);
  std::string reasons, text;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) reasons += line + "\n";
  for (const std::string& fault : faults) text += fault + "\n";
  ExpectFile(path, reasons + text);
}

TEST(EachReport, HasCostsThatAddUp) {
  Faults faults;
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    const json report = ReportOn(In(files));
    if (report.is_null()) return;
    const json& summary = report["summary"];
    if (summary["wall_ns"].is_null() || summary["timed_steps"].is_null() ||
        summary["timed_steps"] == 0 || summary["steps"].is_null())
      return;
    const double step_ns = summary["wall_ns"].get<double>() / summary["timed_steps"].get<double>();
    const double steps = std::max(summary["steps"].get<double>(), summary["timed_steps"].get<double>());
    double sum_ns = 0;
    for (const json& finding : report["findings"]) {
      if (finding["cost_ns"].is_null()) continue;
      const double cost_ns = finding["cost_ns"];
      if (cost_ns > step_ns * steps) faults.insert(name + ": more than all steps: " + Named(finding));
      if (finding["because_of"].is_null()) sum_ns += cost_ns;
    }
    const double processes = double(std::max<size_t>(1, summary["processes"].size()));
    if (sum_ns > step_ns * steps * processes) faults.insert(name + ": the sum is more than all steps");
  });
  ExpectKnown("costs", faults);
}

// Returns whether a source named a place: a frame, a site, a node of a graph, or an event that has
// the place of a function as its name. The last two may have the file without its folder.
bool Exists(Store& store, const json& subject) {
  if (subject["file"].is_null()) return true;
  const std::string path = subject["file"], file = fs::path(path).filename();
  const int64_t line = subject["line"].is_null() ? 0 : subject["line"].get<int64_t>();
  auto statement = store.Prepare(
      "SELECT 1 FROM frame WHERE file = ?1 AND (?3 = 0 OR line = ?3) UNION ALL "
      "SELECT 1 FROM site WHERE file = ?1 AND (?3 = 0 OR line = ?3) UNION ALL "
      "SELECT 1 FROM graph_node WHERE location LIKE '%' || ?2 || ':' || ?3 UNION ALL "
      "SELECT 1 FROM event WHERE name LIKE '$' || ?2 || ':' || ?3 || ' %' LIMIT 1");
  EXPECT_TRUE(statement.ok()) << statement.status();
  statement->BindAll(path, file, line);
  const absl::StatusOr<bool> found = statement->Step();
  EXPECT_TRUE(found.ok()) << found.status();
  return *found;
}

TEST(EachReport, NamesPlacesOfItsSources) {
  Faults faults;
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    std::vector<json> subjects;
    const json report = ReportOn(In(files));
    if (report.is_null()) return;
    ReportOn(In(files), [&](Store& store) {
      for (const json& finding : report["findings"]) {
        if (!Exists(store, finding["subject"])) faults.insert(name + ": " + Named(finding));
      }
    });
  });
  ExpectKnown("places", faults);
}

int Strength(const json& finding) {
  return finding["severity"] == "error" ? 2 : finding["severity"] == "warning" ? 1 : 0;
}

TEST(EachReport, ClaimsNoMoreFromAPartOfTheFiles) {
  Faults faults;
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    if (files.size() < 2) return;
    const json whole = ReportOn(In({"."}));
    if (whole.is_null()) return;
    std::set<std::string> read;
    for (const json& source : whole["sources"]) {
      if (source["imported"] == true) read.insert(fs::path(source["path"]).lexically_normal());
    }
    for (const std::string& file : files) {
      if (!read.contains(file)) continue;  // of another run, or made from another file
      const json part = ReportOn(In({file}));
      if (part.is_null()) continue;
      for (const json& finding : part["findings"]) {
        if (Strength(finding) == 0) continue;
        const auto is_as_strong = [&](const json& other) {
          return other["kind"] == finding["kind"] && Strength(other) >= Strength(finding);
        };
        const json& findings = whole["findings"];
        if (std::none_of(findings.begin(), findings.end(), is_as_strong))
          faults.insert(name + ", only " + file + ": " + JsonText(finding["severity"]) + " " +
                        Named(finding));
      }
    }
  });
  ExpectKnown("parts", faults);
}

// Returns the content of a file, decompressed.
std::string ContentOf(const std::string& file) {
  constexpr size_t kMostBytes = 64 << 20;
  const std::string bytes = ReadFile(file);
  const std::string unpacked = Unpacked(bytes, kMostBytes);
  return unpacked.empty() ? bytes : unpacked;
}

bool IsText(std::string_view bytes) { return bytes.find('\0') == bytes.npos; }

// Replaces the content of a file, which keeps its time.
void Rewrite(const std::string& file, const std::string& bytes) {
  const fs::file_time_type written = fs::last_write_time(file);
  std::ofstream(file, std::ios::binary) << bytes;
  fs::last_write_time(file, written);
}

std::string WithCrlf(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
    out += text[i];
  }
  return out;
}

std::string Gzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = uInt(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Adds a fault if a report's claims differ from those that are expected.
void Compare(const std::string& name, const std::string& expected, const InputOptions& input,
             Faults& faults) {
  if (Conclusions(ReportOn(input)) != expected) faults.insert(name);
}

TEST(EachReport, DoesNotDependOnTheOrderOfFiles) {
  Faults faults;
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    if (files.size() < 2) return;
    Compare(name, Conclusions(ReportOn(In(files))), In({files.rbegin(), files.rend()}), faults);
  });
  ExpectKnown("order", faults);
}

TEST(EachReport, DoesNotDependOnTheEndsOfLines) {
  Faults faults;
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    bool has_text = false;
    const std::string expected = Conclusions(ReportOn(In({"."})));
    for (const std::string& file : files) {
      const std::string content = ContentOf(file);
      if (!IsText(content)) continue;
      has_text = true;
      Rewrite(file, WithCrlf(content));
    }
    if (has_text) Compare(name, expected, In({"."}), faults);
  });
  ExpectKnown("ends_of_lines", faults);
}

TEST(EachReport, DoesNotDependOnCompression) {
  Faults faults;
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    const std::string expected = Conclusions(ReportOn(In({"."})));
    for (const std::string& file : files) {
      if (!file.ends_with(".xlaprof")) Rewrite(file, Gzipped(ContentOf(file)));
    }
    Compare(name, expected, In({"."}), faults);
  });
  ExpectKnown("compression", faults);
}

TEST(EachReport, DoesNotDependOnTheTimeZone) {
  Faults faults;
  const char* const before = std::getenv("TZ");
  const std::string zone = before != nullptr ? before : "";
  const auto set = [](const char* value) {
    value != nullptr ? setenv("TZ", value, 1) : unsetenv("TZ");
    tzset();
  };
  ForEachCase([&](const std::string& name, const std::vector<std::string>& files) {
    const std::string expected = Conclusions(ReportOn(In(files)));
    set("XYZ-9:30");
    Compare(name, expected, In(files), faults);
    set(before != nullptr ? zone.c_str() : nullptr);
  });
  ExpectKnown("time_zone", faults);
}

}  // namespace
}  // namespace xlaprof
