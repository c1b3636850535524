// Runs the random programs with values that are divided among devices, and expects the results of
// one device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "core/trace/spmd.h"
#include "tests/core/trace/programs/program.h"

namespace xlaprof::lazy {
namespace {

// Divides a tensor at random along axes of the mesh, where its sizes allow that.
void MarkAtRandom(const Mesh& mesh, Tensor& x, std::mt19937& random) {
  PartitionSpec spec;
  std::vector<bool> used(mesh.mesh_shape().size());
  for (int64_t size : x.sizes()) {
    const size_t axis = random() % used.size();
    const bool fits = !used[axis] && size % mesh.mesh_shape()[axis] == 0;
    spec.emplace_back(None);
    if (!fits || random() % 4 == 0) continue;
    used[axis] = true;
    spec.back() = PartitionAxes(axis);
  }
  try {
    mark_sharding(x, mesh, spec);
  } catch (const Error&) {
    // A view takes no mark.
  }
}

// Returns what differs from the expected result.
std::string DifferenceFrom(const HostTensor& expected, const HostTensor& got, double tolerance) {
  if (expected.shape != got.shape) return "is " + got.shape.ToText();
  double scale = 1;
  for (int64_t i = 0; i < got.shape.elements(); ++i) {
    if (std::isfinite(expected.Real(i))) scale = std::max(scale, std::abs(expected.Real(i)));
  }
  for (int64_t i = 0; i < got.shape.elements(); ++i) {
    const double a = expected.Real(i), b = got.Real(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * scale))
      return fmt::format("element {} of {} is {}, not {}", i, got.shape.ToText(), b, a);
  }
  return "";
}

void ExpectSameOn(Device& device, const Mesh& mesh, int every) {
  Device& one = Device::Default();
  const char* other = std::getenv("XLAPROF_PROGRAMS");  // another file, of which all programs run
  if (other != nullptr) every = 1;
  std::ifstream file(other != nullptr
                         ? other
                         : XLAPROF_SOURCE_DIR "/tests/core/trace/programs/programs.jsonl");
  int64_t ran = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    if (number++ % every != 0) continue;
    const auto program = nlohmann::json::parse(line);
    SCOPED_TRACE("program " + program["seed"].dump());
    std::vector<ProgramResult> expected, got;
    expected = RunProgram(program);
    std::mt19937 random(uint32_t(program["seed"].get<int64_t>()));
    Device::OfThread of_thread(device);
    got = RunProgram(program, [&](Tensor& x) {
      if (random() % 2 == 0) MarkAtRandom(mesh, x, random);
    });
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(bool(got[i].value), bool(expected[i].value));
      // The programs say how far rounding may take a result.
      const auto summary =
          program.contains("expected") ? program["expected"][i] : nlohmann::json();
      const double tolerance = summary.size() > 3 ? summary[3].get<double>() : 1e-3;
      if (!got[i].value) continue;
      EXPECT_EQ(DifferenceFrom(*expected[i].value, *got[i].value, std::max(tolerance, 1e-5)), "")
          << got[i].what;
    }
    ++ran;
  }
  EXPECT_GE(ran, 30);
  EXPECT_NE(&one, &device);
}

TEST(SpmdPrograms, GiveWhatOneDeviceGives) {
  static Device& device = *new Device("spmd:6", MakeSpmdBackend(MakeNativeBackends(6, 2)));
  ExpectSameOn(device, Mesh({0, 3, 1, 5, 4, 2}, {2, 3}, {}, device), 5);
}

TEST(SpmdPrograms, GiveWhatOneDeviceGivesOnTwo) {
  static Device& device = *new Device("spmd:2", MakeSpmdBackend(MakeNativeBackends(2, 2)));
  ExpectSameOn(device, Mesh({}, {2}, {}, device), 5);
}

}  // namespace
}  // namespace xlaprof::lazy
