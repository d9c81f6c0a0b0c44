// The names of the enumerators of core/model, in enum order.
#include "core/base/check.h"
#include "core/model/flow_plan.h"
#include "core/model/gpu.h"
#include "core/model/kernel_times.h"
#include "core/model/timeline.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {

using Names = std::vector<std::string>;

const Names& DataTypeNames() {
  static const Names names = {"fp32",   "tf32",      "fp16",  "bf16",     "fp8",   "int8",
                              "int32",  "int64",     "fp64",  "fp8-e5m2", "uint8", "uint32",
                              "uint64", "fp8-block", "mxfp8", "nvfp4"};
  return names;
}

const Names& HostCauseNames() {
  static const Names names = {"launching", "module code", "after a value", "waiting for data",
                              "own work"};
  return names;
}

const Names& MessageTypeNames() {
  static const Names names(DataTypeNames().begin(), DataTypeNames().begin() + kMessageTypeCount);
  return names;
}

std::string_view ToString(DataType type) { return DataTypeNames()[static_cast<size_t>(type)]; }

Bytes SizeOf(DataType type) {
  switch (type) {
    case DataType::kFp32:
    case DataType::kTf32:
    case DataType::kInt32:
    case DataType::kUint32:
      return Bytes(4);
    case DataType::kFp16:
    case DataType::kBf16:
      return Bytes(2);
    case DataType::kFp8:
    case DataType::kFp8E5m2:
    case DataType::kInt8:
    case DataType::kUint8:
      return Bytes(1);
    case DataType::kFp64:
    case DataType::kInt64:
    case DataType::kUint64:
      return Bytes(8);
    case DataType::kFp8Block:
    case DataType::kMxfp8:
    case DataType::kNvfp4:
      break;
  }
  CHECK(false);
}

double OperandBytes(DataType type) {
  switch (type) {
    case DataType::kFp8Block:
      return 1 + 4.0 / 128;
    case DataType::kMxfp8:
      return 1 + 1.0 / 32;
    case DataType::kNvfp4:
      return 0.5 + 1.0 / 16;
    default:
      return static_cast<double>(SizeOf(type).count());
  }
}

bool IsQuantized(DataType type) {
  return type == DataType::kFp8 || type == DataType::kFp8E5m2 || type == DataType::kFp8Block ||
         type == DataType::kMxfp8 || type == DataType::kNvfp4;
}

const Names& DimensionNames() {
  static const Names names = {"tensor", "pipeline", "data", "context", "expert", "world"};
  return names;
}

const Names& CollectiveTypeNames() {
  static const Names names = {"all-reduce", "all-gather",   "reduce-scatter", "broadcast",
                              "reduce",     "all-to-all",   "send-recv",      "gather",
                              "scatter",    "all-to-all-v", "grouped"};
  return names;
}

bool HasParts(CollectiveType type) {
  return type == CollectiveType::kAllGather || type == CollectiveType::kReduceScatter ||
         type == CollectiveType::kAllToAll || type == CollectiveType::kGather ||
         type == CollectiveType::kScatter;
}

bool HasRoot(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kReduce ||
         type == CollectiveType::kGather || type == CollectiveType::kScatter;
}

bool Reduces(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kReduce ||
         type == CollectiveType::kReduceScatter;
}

const Names& ReduceOpNames() {
  static const Names names = {"sum", "max", "avg", "min", "prod", "premul-sum"};
  return names;
}

const Names& BufferKindNames() {
  static const Names names = {"plain",  "registered", "symmetric",         "userbuffers",
                              "deepep", "hybridep",   "deepep-low-latency"};
  return names;
}

const Names& OpKindNames() {
  static const Names names = {"compute", "collective", "send",     "recv",
                              "load",    "store",      "host-work"};
  return names;
}

const Names& MemoryTierNames() {
  static const Names names = {"gpu", "host", "remote"};
  return names;
}

const Names& RemoteSharingNames() {
  static const Names names = {"none", "per-gpu", "per-host", "pool"};
  return names;
}

const Names& PhaseNames() {
  static const Names names = {"forward",       "recompute", "backward",
                              "gradient-sync", "optimizer", "other"};
  return names;
}

const Names& AlgorithmNames() {
  static const Names names = {"tree",
                              "ring",
                              "collnet-direct",
                              "collnet-chain",
                              "nvls",
                              "nvls-tree",
                              "pat",
                              "send-recv",
                              "local",
                              "copy-engine",
                              "userbuffers",
                              "deepep",
                              "hybridep",
                              "deepep-low-latency",
                              "custom"};
  return names;
}

bool ExchangesTokens(BufferKind buffers) {
  return buffers == BufferKind::kDeepEp || buffers == BufferKind::kHybridEp ||
         buffers == BufferKind::kDeepEpLowLatency;
}

bool ExchangesTokens(Algorithm algorithm) {
  return algorithm == Algorithm::kDeepEp || algorithm == Algorithm::kHybridEp ||
         algorithm == Algorithm::kDeepEpLowLatency;
}

const Names& ProtocolNames() {
  static const Names names = {"LL", "LL128", "Simple"};
  return names;
}

const Names& TimeSourceNames() {
  static const Names names = {"profile", "model", "scaled", "given"};
  return names;
}

const Names& KernelBoundNames() {
  static const Names names = {"tensor cores", "memory", "launch", "compute", "measured", "given"};
  return names;
}

std::string_view ToString(KernelBound bound) {
  return KernelBoundNames()[static_cast<size_t>(bound)];
}

const Names& RoutingNames() {
  static const Names names = {"ecmp", "flowlet", "adaptive", "spray"};
  return names;
}

std::string_view ToString(Routing routing) { return RoutingNames()[static_cast<size_t>(routing)]; }

const Names& TransportKindNames() {
  static const Names names = {"roce-v2", "infiniband"};
  return names;
}

std::string_view ToString(TransportKind kind) {
  return TransportKindNames()[static_cast<size_t>(kind)];
}

const Names& CongestionControlNames() {
  static const Names names = {"none", "dcqcn", "hpcc", "timely", "swift", "dctcp"};
  return names;
}

std::string_view ToString(CongestionControl control) {
  return CongestionControlNames()[static_cast<size_t>(control)];
}

const Names& FlowControlNames() {
  static const Names names = {"ideal", "pfc", "none", "trim"};
  return names;
}

std::string_view ToString(FlowControl control) {
  return FlowControlNames()[static_cast<size_t>(control)];
}

const Names& RetransmissionNames() {
  static const Names names = {"go-back-n", "selective-repeat"};
  return names;
}

std::string_view ToString(Retransmission retransmission) {
  return RetransmissionNames()[static_cast<size_t>(retransmission)];
}

}  // namespace drydock
