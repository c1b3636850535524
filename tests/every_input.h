// The inputs in tests/ that can be reported on: each case of golden/ (golden_case.h) and each input
// that a fuzzer once found; and what a report concludes from them.
//
// A finding is reduced to its claims (severity, kind, reason, state, place, count, cost, saving, and
// the finding that explains it), so that its words may change but its claims may not.
//
// Everything is read in the test's own process, because starting the program some 900 times takes
// minutes.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzers/report/report.h"
#include "cli/input_options.h"
#include "profiler/store/store.h"
#include "tests/golden_file.h"

namespace xlaprof {

// Returns the folders in tests/golden that hold cases, and that of the fuzzers, in order.
std::vector<std::string> Suites();
// Returns the cases of a suite, in order.
std::vector<GoldenCase> CasesOf(const std::string& suite);

// Puts the files of a case into the working directory, and returns their names. Rows become a
// store. The files have the same age on each machine.
std::vector<std::string> PutInputs(const GoldenCase& of_case);
// Returns whether the case is a layout.txt, which describes a directory of bundled files.
bool IsLayout(const GoldenCase& of_case);

// Calls `use` for each case in the working directory, with its name and its files.
void ForEachCase(
    const std::function<void(const std::string& name, const std::vector<std::string>& files)>& use);

// Calls `use` with the report that is made in the working directory, and its store. Returns false
// for an input that cannot be reported on.
bool WithReport(const InputOptions& input,
                const std::function<void(const Report& report, Store& store)>& use);
// Returns the JSON of that report, or null. Calls `look` with the store while it is open.
nlohmann::json ReportOn(const InputOptions& input,
                        const std::function<void(Store&)>& look = nullptr);

// Returns a string as it is, "-" for null, and other values as JSON.
std::string JsonText(const nlohmann::json& value);
// Returns the kind and the reason, such as "recompilation shape_change ongoing".
std::string NameOf(const nlohmann::json& finding);
// Returns the known parts of a place, such as "body train.py:7 scope train.1 op aten::nonzero".
std::string PlaceOf(const nlohmann::json& subject);
// Returns the claims of a report, and the issues with its files, or "  exit status 2".
std::string Conclusions(const nlohmann::json& report);

// Calls `use` in an empty working directory, which is removed afterwards.
void InScratch(const std::function<void()>& use);

}  // namespace xlaprof
