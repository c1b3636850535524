// Protobuf's wire format is a sequence of fields. A field is a number times 8 plus a type, and then a
// value: type 0 is a varint, and type 2 a length and that many bytes.
#include "core/backend/pjrt/options.h"

namespace xlaprof::lazy::pjrt {
namespace {

// The fields of XLA's messages that are written: compile_options.proto and xla_data.proto.
enum CompileOptionsField { kExecutableBuildOptions = 3, kEnvOptionOverrides = 7 };
enum OptionOverrideField { kBoolField = 2 };
enum MapEntryField { kKey = 1, kValue = 2 };
enum BuildOptionsField { kNumReplicas = 4, kNumPartitions = 5, kDeviceAssignment = 9 };
enum DeviceAssignmentField { kReplicaCount = 1, kComputationCount = 2, kComputationDevices = 3 };
enum ComputationDeviceField { kReplicaDeviceIds = 1 };

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += char(value | 0x80);
  return bytes + char(value);
}

std::string Number(int field, uint64_t value) {
  return Varint(uint64_t(field) << 3) + Varint(value);
}

std::string Submessage(int field, std::string_view bytes) {
  return Varint(uint64_t(field) << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

}  // namespace

std::string CompileOptions(std::span<const int64_t> device_ids, std::string_view platform) {
  std::string ids;
  for (int64_t id : device_ids) ids += Varint(uint64_t(id));
  const std::string devices = Submessage(kReplicaDeviceIds, ids);
  const std::string assignment = Number(kReplicaCount, device_ids.size()) +
                                 Number(kComputationCount, 1) +
                                 Submessage(kComputationDevices, devices);
  std::string options = Submessage(
      kExecutableBuildOptions, Number(kNumReplicas, device_ids.size()) + Number(kNumPartitions, 1) +
                                   Submessage(kDeviceAssignment, assignment));
  if (platform == "cpu")
    options += Submessage(kEnvOptionOverrides, Submessage(kKey, "xla_cpu_enable_fast_min_max") +
                                                   Submessage(kValue, Number(kBoolField, 0)));
  return options;
}

}  // namespace xlaprof::lazy::pjrt
