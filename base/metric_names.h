// The metrics and counters of PyTorch/XLA that xlaprof knows. Our own lazy runtime reports the ones
// that it has under the same names.
#pragma once

namespace xlaprof::metric_names {

// Metrics.
inline constexpr char kCompileTime[] = "CompileTime";
inline constexpr char kEagerOpCompileTime[] = "EagerOpCompileTime";
inline constexpr char kExecuteTime[] = "ExecuteTime";
inline constexpr char kExecuteReplicatedTime[] = "ExecuteReplicatedTime";
inline constexpr char kEagerOpExecuteTime[] = "EagerOpExecuteTime";
inline constexpr char kLazyTracing[] = "LazyTracing";
// Samples of sizes: values that were read from a device, and that were uploaded to it.
inline constexpr char kInboundData[] = "InboundData";
inline constexpr char kOutboundData[] = "OutboundData";
// Reports before torch_xla 2.0 call the device "server".
inline constexpr char kTransferFromDeviceTime[] = "TransferFromDeviceTime";
inline constexpr char kTransferToDeviceTime[] = "TransferToDeviceTime";
inline constexpr char kTransferFromServerTime[] = "TransferFromServerTime";
inline constexpr char kTransferToServerTime[] = "TransferToServerTime";
// Values of the host that became part of a graph.
inline constexpr char kIrValueTensorToXlaData[] = "IrValueTensorToXlaData";

// Counters.
inline constexpr char kMarkStep[] = "MarkStep";
inline constexpr char kUncachedCompile[] = "UncachedCompile";
inline constexpr char kCachedCompile[] = "CachedCompile";
inline constexpr char kCreateCompileHandles[] = "CreateCompileHandles";
inline constexpr char kCreateDataHandles[] = "CreateDataHandles";
inline constexpr char kDestroyDataHandles[] = "DestroyDataHandles";
inline constexpr char kReleaseDataHandles[] = "ReleaseDataHandles";

}  // namespace xlaprof::metric_names
