// The metrics of a report that together give one figure of the summary.
#pragma once

#include <initializer_list>

#include "base/metric_names.h"

namespace xlaprof {

inline constexpr std::initializer_list<const char*> kCompileMetrics = {
    metric_names::kCompileTime, metric_names::kEagerOpCompileTime};
inline constexpr std::initializer_list<const char*> kExecuteMetrics = {
    metric_names::kExecuteTime, metric_names::kEagerOpExecuteTime,
    metric_names::kExecuteReplicatedTime};
// Reports before torch_xla 2.0 call the device "server".
inline constexpr std::initializer_list<const char*> kTransferMetrics = {
    metric_names::kTransferFromDeviceTime, metric_names::kTransferToDeviceTime,
    metric_names::kTransferFromServerTime, metric_names::kTransferToServerTime};

// If reports do not time uploads themselves, most uploads bring values of the host into graphs. If
// they do, both metrics would count each upload.
inline constexpr std::initializer_list<const char*> kUploadMetrics = {
    metric_names::kTransferToDeviceTime, metric_names::kTransferToServerTime};
inline constexpr std::initializer_list<const char*> kTransferOrValueMetrics = {
    metric_names::kTransferFromDeviceTime, metric_names::kTransferFromServerTime,
    metric_names::kIrValueTensorToXlaData};

}  // namespace xlaprof
