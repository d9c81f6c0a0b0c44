// What each rank of the training run does in one iteration: op graphs, one per class of ranks that
// run the same program, and tables of the distinct pieces of work the ops refer to.
//
//   rank ──class_of_rank──► Program (ops + dependencies, CSR)
//   op   ──work───────────► ComputeBlock ──► Submodules        (compute)
//                        ├► CommCall in a group of a role       (communication)
//                        └► MemoryTransfer                      (memory)
//   rank × role ──group_of_rank──► Group (member ranks)
//
// Plain data; immutable once built. Sizes in memory: 48 B an op, 4 B a dependency.
#ifndef DRYDOCK_CORE_MODEL_WORKLOAD_H_
#define DRYDOCK_CORE_MODEL_WORKLOAD_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/model/gpu.h"
#include "core/model/host_launch.h"
#include "core/model/host_memory.h"
#include "core/model/submodule.h"
#include "core/model/topology.h"

namespace drydock {

// ---- Groups -------------------------------------------------------------------------------

enum class Dimension : uint8_t { kTensor, kPipeline, kData, kContext, kExpert, kWorld };
inline constexpr int kDimensionCount = 6;
const std::vector<std::string>& DimensionNames();  // "tensor", "pipeline", ...

// The purpose of a group for one of its ranks: "tp", "dp", "embd", "pp-next", "pp-prev". Two roles
// may name the same group: the pair (stage 0, stage 1) is pp-next of stage 0 and pp-prev of
// stage 1.
struct GroupRole {
  std::string name;
  Dimension dimension = Dimension::kWorld;
};

// A communicator: its member ranks, in order.
struct Group {
  std::vector<int> ranks;
};

// ---- Work ---------------------------------------------------------------------------------

enum class CollectiveType : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendRecv,
  kGather,
  kScatter,
  kAllToAllV,
  kGrouped  // several calls between ncclGroupStart and ncclGroupEnd (grouped_call.h)
};
inline constexpr int kCollectiveTypeCount = 11;
const std::vector<std::string>& CollectiveTypeNames();  // "all-reduce", ...
bool HasParts(CollectiveType type);  // the larger buffer has one equal part per member
bool HasRoot(CollectiveType type);
bool Reduces(CollectiveType type);

// kPremulSum: multiplies each member's input by its own factor first.
enum class ReduceOp : uint8_t { kSum, kMax, kAverage, kMin, kProd, kPremulSum };
inline constexpr int kReduceOpCount = 6;
const std::vector<std::string>& ReduceOpNames();  // "sum", ...

// How the program registered a call's buffers with NCCL. kPlain: none. kRegistered: memory from
// ncclMemAlloc, by ncclCommRegister. kSymmetric: as symmetric memory, by ncclCommWindowRegister.
// kUserBuffers: a call without NCCL, in which Transformer Engine moves the data between buffers
// that all members map. kDeepEp, kHybridEp, kDeepEpLowLatency: an exchange of tokens without NCCL,
// by the kernels of that library (DeepEP has two kinds).
enum class BufferKind : uint8_t {
  kPlain,
  kRegistered,
  kSymmetric,
  kUserBuffers,
  kDeepEp,
  kHybridEp,
  kDeepEpLowLatency
};
inline constexpr int kBufferKindCount = 7;
// Kinds that a program can register with NCCL, which come first.
inline constexpr int kNcclBufferKindCount = 3;
const std::vector<std::string>& BufferKindNames();  // "plain", ...
bool ExchangesTokens(BufferKind buffers);  // kDeepEp, kHybridEp, kDeepEpLowLatency

// A distinct communication call. `count` is in elements of `type`:
// all-reduce, broadcast, reduce: the buffer; all-gather: the gathered output; reduce-scatter: the
// full input; all-to-all: one rank's whole buffer; send/recv: the message; gather, scatter: the
// root's larger buffer; all-to-all-v: the largest buffer of any member; grouped: the buffers of all
// parts, one after another, in bytes (uint8).
struct CommCall {
  CollectiveType collective = CollectiveType::kAllReduce;
  DataType type = DataType::kBf16;
  ReduceOp op = ReduceOp::kSum;
  int64_t count = 0;
  int root = 0;  // member index (broadcast, reduce, gather, scatter); sender's (send/recv)
  int peer = 0;  // receiver's member index (send/recv)
  int group_size = 0;
  // The smaller buffer is the member's own part of the larger one.
  bool in_place = false;
  BufferKind buffers = BufferKind::kPlain;  // both of them, on every member
  // All-to-all-v: elements that member i sends to member j, at [i * group_size + j]. Buffers hold
  // the parts without gaps, in the order of members.
  std::vector<int64_t> pair_counts = {};
  // Grouped: the calls in order; none is grouped itself. A member makes the collectives and the
  // messages that it sends or receives.
  std::vector<CommCall> parts = {};
  int sms = 0;  // exchanges of tokens: of the kernel
  Bytes bytes() const { return SizeOf(type) * count; }
  bool operator==(const CommCall&) const = default;
};

// The submodules that one compute op runs, in order, without communication in between.
struct ComputeBlock {
  std::string name;  // "attention.forward"
  std::vector<uint32_t> submodules;
};

// ---- Programs -----------------------------------------------------------------------------

// kLoad: from other memory to the GPU's; kStore: the reverse; kHostWork: the host's own work on
// data in its memory (an optimizer).
enum class OpKind : uint8_t { kCompute, kCollective, kSend, kRecv, kLoad, kStore, kHostWork };
inline constexpr int kOpKindCount = 7;
const std::vector<std::string>& OpKindNames();  // "compute", ..., "send", "recv", "load", ...
inline const std::string& OpKindName(OpKind kind) {
  return OpKindNames()[static_cast<size_t>(kind)];
}
inline bool IsCommunication(OpKind kind) {
  return kind == OpKind::kCollective || kind == OpKind::kSend || kind == OpKind::kRecv;
}
inline bool UsesMemory(OpKind kind) { return kind >= OpKind::kLoad; }
enum class Phase : uint8_t { kForward, kRecompute, kBackward, kGradientSync, kOptimizer, kOther };
const std::vector<std::string>& PhaseNames();  // "forward", "recompute", ...

// What the host waits for before it issues an op. kOpReady: the end of the op's dependencies and of
// the earlier ops of its stream (the host reads a computed value). kDeviceSync: the end of all ops
// that the host has issued.
enum class HostWait : uint8_t { kNothing, kOpReady, kDeviceSync };

// An op's part in a CUDA graph: kFirst is the first of the ops that one launch starts, kRest one of
// the others, which follow it in the program. kLoop: not in a graph, but launched by a C++ loop of
// the framework, without Python.
enum class GraphPart : uint8_t { kNone, kFirst, kRest, kLoop };

struct Op {
  OpKind kind = OpKind::kCompute;
  Phase phase = Phase::kForward;
  uint8_t stream = 0;  // Workload::streams; ops of one stream run one after another, in order
  uint8_t role = 0;    // Workload::roles (communication)
  uint32_t work = 0;   // Workload::blocks, Workload::calls or Workload::transfers
  int32_t tag = 0;     // send/recv: equal on both sides
  int32_t layer = -1;  // global layer, -1 outside layers
  int32_t microbatch = -1;
  int32_t chunk = 0;  // virtual stage on this rank
  HostWait host_waits = HostWait::kNothing;
  GraphPart graph = GraphPart::kNone;
};

// Ops in issue order; op i starts when all of dependencies(i) (earlier ops) have ended and its
// stream is free of earlier ops.
struct Program {
  std::vector<Op> ops;
  std::vector<uint32_t> dependency_begin;  // ops.size() + 1 entries
  std::vector<uint32_t> dependency;
  std::span<const uint32_t> dependencies(size_t op) const {
    return std::span(dependency)
        .subspan(dependency_begin[op], dependency_begin[op + 1] - dependency_begin[op]);
  }
};

// Totals of one iteration, for rates in the report. workload-gen counts them from the model.
struct WorkloadTotals {
  int64_t tokens = 0;         // global batch × sequence
  double model_flops = 0;     // forward and backward, no recompute, over all GPUs
  double hardware_flops = 0;  // recompute included
  int64_t parameters = 0;
  std::string model_name;
  std::string layout;  // "TP8 PP8 (3 virtual) DP1, sequence parallel, 64 micro-batches"
  DataType precision = DataType::kBf16;  // what MFU is relative to
};

// A part of a rank's memory at its peak ("weights", "activations").
struct MemoryPart {
  std::string name;
  Bytes bytes;
};

// The peaks that PyTorch reports of a rank: max_memory_allocated and max_memory_reserved.
struct PyTorchPeaks {
  Bytes allocated;
  Bytes reserved;
};

// What a prediction takes for granted.
struct Assumption {
  std::string name;    // "host costs"
  std::string value;   // "transformer-engine"
  std::string source;  // where the value comes from: a file, a measurement; may be empty
};

// A value that the user has replaced on the command line.
struct ReplacedValue {
  std::string text;     // "fabric.spine.oversubscription=4"
  bool changes = true;  // false: the workload and its topology are the same without it
};

struct Workload {
  Topology topology;
  std::vector<std::string> streams;  // [0] = "compute", then "tp", "dp", "pp-send", ...
  std::vector<GroupRole> roles;
  std::vector<Group> groups;
  std::vector<Submodule> submodules;
  std::vector<ComputeBlock> blocks;
  std::vector<CommCall> calls;
  std::vector<MemoryTransfer> transfers;
  std::vector<std::vector<int>> group_of_rank;  // [role][rank] -> group, -1 if in none
  std::vector<int> class_of_rank;
  std::vector<Program> programs;  // by class; empty when only the tables were read
  // The distinct (call, group) pairs, sorted. simccl plans each.
  struct Use {
    uint32_t call = 0;
    uint32_t group = 0;
    auto operator<=>(const Use&) const = default;
  };
  std::vector<Use> uses;
  WorkloadTotals totals;
  HostLaunch launch;
  std::vector<HostMemory> host_memory;  // by kind of host; empty if no op needs it
  // By class, the same parts in the same order; empty if unknown.
  std::vector<std::vector<MemoryPart>> memory;
  std::vector<PyTorchPeaks> pytorch;  // by class; empty if unknown
  std::vector<Assumption> assumptions;
  std::vector<ReplacedValue> replaced;

  int rank_count() const { return static_cast<int>(class_of_rank.size()); }
  int class_count = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_WORKLOAD_H_
