// What NCCL would do for each communication call: per member and channel, serial programs of
// primitives over connections to peers. Made by simccl, run by exec-engine.
//
//   (call, group) ──► Plan ──► members[member] ──► ChannelProgram ──► Pattern ──► Loop ──► Step
//
// NCCL's kernels are loops that differ between members only in their peers and their position on a
// ring. A Pattern is such a loop with peers and position left open; all members and channels that
// run it share it. StepCursor (step_cursor.h) walks a program primitive by primitive. The size of a
// plan grows with members and channels, not with the length of programs.
//
// Groups of one placement pattern share a plan: a plan has member indices, not ranks. Plain data;
// immutable once built.
#ifndef DRYDOCK_CORE_MODEL_FLOW_PLAN_H_
#define DRYDOCK_CORE_MODEL_FLOW_PLAN_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace drydock {

enum class Algorithm : uint8_t {
  kTree,
  kRing,
  kCollNetDirect,
  kCollNetChain,
  kNvls,
  kNvlsTree,
  kPat,
  kSendRecv,
  kLocal,
  kCopyEngine,   // without NCCL: copy engines move messages between users' buffers
  kUserBuffers,  // without NCCL: kernels of Transformer Engine move them
  // Without NCCL: kernels of these libraries exchange tokens. A member's program stands for all SMs
  // of its kernel (Work::channels).
  kDeepEp,
  kHybridEp,
  kDeepEpLowLatency,
  kCustom,  // of a file: programs that MSCCL's interpreter runs with NCCL's primitives
};
bool ExchangesTokens(Algorithm algorithm);  // the three of token exchanges
enum class Protocol : uint8_t { kLl, kLl128, kSimple };
const std::vector<std::string>& AlgorithmNames();  // "tree", "ring", ...
const std::vector<std::string>& ProtocolNames();   // "LL", "LL128", "Simple"

enum class LinkKind : uint8_t {
  kPeerWrite,  // NVLink or PCIe inside the host, the sender stores into the peer's buffer
  kPeerRead,   // the receiver loads from the sender's buffer
  kShared,     // through host memory
  kNet,        // NIC to NIC
  kNvls,       // multicast object of the host (below)
  kToSwitch,   // NIC to the switches, which sum (below)
  kFromSwitch,
};

// NVLS connections run member -> head and head -> member, the head's own included. A member
// contributes by sending on (m, h): the data stays in its own memory. The head's step that
// receives from all members with `reduce` is one in-switch reduction: each member's memory is read
// once, the sum arrives once (without `reduce`, a plain read). A head's step that sends to all
// members is one multicast store: written once, delivered to each. Members take their copy with a
// receive on (h, m), which is local again.

// A peer connection (kPeerWrite) may run from a member to itself: one program hands data, or the
// right to go on, to another program of the member, or a program copies from one place of its
// memory to another. The data stays in the memory of the GPU; the receiving step moves it.

// Connections to and from the switches run from a member to itself. A `reduction` is a list of
// pieces, with one connection of each kind per participating member: chunk i on the connection is
// piece `first` + i. The switches sum the chunks that members send of a piece and deliver the sum
// to the members that receive the piece (reductions.h). In an all-reduce all members send and
// receive every piece; in an all-gather each piece has one sender, in a reduce-scatter one
// receiver. Such chunks move whole.

// One directed connection between two members on a channel. A chunk sent on it is received, in
// order, by the steps of the receiver that name it.
struct Connection {
  uint16_t from = 0;  // member
  uint16_t to = 0;
  LinkKind link = LinkKind::kPeerWrite;
  int16_t send_nic = -1;  // NIC index in the sender's host (kNet); with PXN not the GPU's own
  int16_t recv_nic = -1;
  // The member whose GPU the data goes through, else -1. kNet: it hands the data to the NIC (PXN).
  // Peer links: it holds the buffer, as the two GPUs have no direct NVLink.
  int16_t proxy = -1;
  // The NIC of this end reads or writes GPU memory directly; false: through host memory.
  bool send_gdr = true, recv_gdr = true;
  int16_t reduction = -1;  // kToSwitch, kFromSwitch: counted over the plan
  uint32_t first = 0;      // of the reduction's pieces
  // Data goes directly between users' buffers that are registered with NCCL. kNet: the NICs read
  // and write them; kNvls: the switches do.
  bool direct = false;
  friend bool operator==(const Connection&, const Connection&) = default;
};

// A range of a program's operands: of its list of connections.
struct Slots {
  uint32_t begin = 0, count = 0;
  friend bool operator==(const Slots&, const Slots&) = default;
};

// A run of equal primitives. A primitive waits for its bytes on each connection of `receive`,
// combines them and sends the result on each connection of `send`. If `receive` is empty, the
// source is the local buffer; if `send` is empty, the data stays on the member. The k-th primitive
// of the run works on chunk
//     c = (position of the program + first - k) mod Pattern::ring
// which holds `bytes` if c < whole_chunks and `last_bytes` if c = whole_chunks. For other c there
// is no primitive.
struct Step {
  Slots receive, send;
  uint32_t first = 0, count = 1;  // first < ring, 1 <= count <= ring
  uint32_t whole_chunks = std::numeric_limits<uint32_t>::max();
  int64_t bytes = 0;       // of payload (LL and LL128 put more on the wire); > 0
  int64_t last_bytes = 0;  // < bytes
  int64_t offset = 0;      // of chunk 0, in bytes from the program's base
  int64_t pitch = 0;       // from a chunk to the next, in bytes
  // Received data is summed, and the local buffer (the input, or a result stored there since) is
  // added, unless an NVLS connection is among `receive`: a head's own data comes through its own
  // connection.
  bool reduce = false;
  bool store = false;   // writes the result to the local output
  bool joined = false;  // continues the previous step's primitive, without a synchronization
  // The number of NCCL's primitives, of consecutive loop iterations, that one primitive represents.
  // 1 in plans that simccl writes; above 1 if a replay merges iterations
  // (exec-engine/transfer/merged_loops.h).
  uint32_t merged = 1;
  friend bool operator==(const Step&, const Step&) = default;
};

// The steps from the end of the previous loop to `step_end`, `repeat` times, each time `stride`
// bytes further on.
struct Loop {
  int64_t repeat = 1;
  int64_t stride = 0;
  uint32_t step_end = 0;
  friend bool operator==(const Loop&, const Loop&) = default;
};

// Loops that run one after another; together they have all steps.
struct Pattern {
  uint32_t ring = 1;      // chunks are counted modulo this
  uint32_t operands = 0;  // of a program that runs it
  std::vector<Loop> loops;
  std::vector<Step> steps;
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

// What one member does on one channel, serially. If NCCL runs several roles of a work at once on
// different warps of one block, each role is a program with the same channel.
struct ChannelProgram {
  uint16_t channel = 0;
  uint16_t work = 0;  // index into Plan::works
  uint32_t pattern = 0;
  uint32_t operand_begin = 0;  // into Plan::operands
  uint16_t position = 0;       // < Pattern::ring
  int16_t order = -1;  // index into Plan::orders: chunk c is piece order[c] of the buffer; -1: c
  int64_t base = 0;    // offset in the user's buffer, in bytes: identifies the data
  friend bool operator==(const ChannelProgram&, const ChannelProgram&) = default;
};

// How the programs of one collective, or of the messages of a group, run.
struct Work {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;
  int warps = 0;  // per channel
  // How a chunk is divided (slices.h): into slices of at least `slice_bytes` and, unless `slices`
  // is 0, into at most `slices` of them, in multiples of `slice_grain` bytes. If `slice_bytes` and
  // `slices` are 0, the chunk moves whole.
  int64_t slice_bytes = 0;
  int slots = 8;  // slices in flight on a connection before the sender waits
  // The call's kernel that runs the work, from 0; not decreasing. A member's kernel begins when the
  // member's previous kernel has ended on all channels.
  int launch = 0;
  int slices = 0;
  int64_t slice_grain = 1;
  bool registered = false;  // NVLS on registered users' buffers
  // Exchanges of tokens: from the kernel's turn to its first data; rate of one of its SMs. The
  // kernels of kDeepEpLowLatency count as one SM.
  Time start;
  Bandwidth rate;
  friend bool operator==(const Work&, const Work&) = default;
};

struct Plan {
  std::string name;  // "all-reduce fp16 100.7 MB over 8"
  // A grouped call has several; a member runs them on each channel in this order. At least one. A
  // connection belongs to one work, or to works of messages with one protocol.
  std::vector<Work> works = std::vector<Work>(1);
  std::vector<Connection> connections;
  std::vector<uint32_t> operands;  // indices into connections
  std::vector<Pattern> patterns;
  std::vector<std::vector<uint16_t>> orders;
  std::vector<std::vector<ChannelProgram>> members;  // [member], by work
  friend bool operator==(const Plan&, const Plan&) = default;
};

struct FlowPlan {
  std::vector<Plan> plans;
  struct Assignment {
    uint32_t call = 0;
    uint32_t group = 0;
    uint32_t plan = 0;
  };
  std::vector<Assignment> assignments;  // one per Workload::uses entry, in its order
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FLOW_PLAN_H_
