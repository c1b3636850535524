// Programs written by hand. They run on a backend, and in f64 and element by element in the
// reference.
#pragma once

#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "tests/core/ir/programs.h"

namespace xlaprof::lazy {

// Elements as f64, each of which the type can represent.
struct Values {
  Shape shape;
  std::vector<double> elements;
};

// Returns the nearest value that `dtype` can represent. Integers of up to 16 bits wrap around.
double Rounded(double value, DType dtype);
Values Of(DType dtype, Dims dims, std::vector<double> elements);
Values Random(Shape shape, int seed, double low = -2, double high = 2);
std::vector<char> ToBytes(const Values& values);
Values FromBytes(const Shape& shape, const std::vector<char>& bytes);

// Returns all results of the program.
std::vector<Values> Reference(const Program& program, const std::vector<Values>& arguments);

std::vector<Ref<Buffer>> ToDevice(Backend& backend, const std::vector<Values>& arguments);
Values ToHost(Backend& backend, const Ref<Buffer>& buffer);
std::vector<Values> RunOn(Backend& backend, const Program& program,
                          const std::vector<Values>& arguments, KernelListener* listener = nullptr);

// Expects the backend's results to equal the reference's within `tolerance`, relative to the larger
// of 1 and the value. A tolerance of 0 means the rounding of `dtype`.
void ExpectAsReference(Backend& backend, const Program& program,
                       const std::vector<Values>& arguments, double tolerance = 0);

// Returns a program of 40 operations on two parameters, which are square. Its last result may take
// the first one's memory. The same seed gives the same program.
Program ProgramOfSeed(int seed, const Shape& square);
// Returns the largest error that its chains of operations have in this type.
double ToleranceOfChains(DType dtype);

// Returns a backend of the plugin in XLAPROF_PJRT_PLUGIN, for its device of this number, or null if
// the variable is not set.
Backend* Pjrt(int device = 0);
constexpr const char* kNoPlugin =
    "XLAPROF_PJRT_PLUGIN is not set; scripts/judge pjrt runs this test with XLA";

}  // namespace xlaprof::lazy
