// What NCCL would do for each communication call: per member and channel, serial programs of
// primitives over connections to peers. Made by simccl, run by exec-engine.
//
//   (call, group) ──► Plan ──► members[member] ──► ChannelProgram ──► Pattern ──► Loop ──► Step
//
// NCCL's kernels are loops that differ between members only in whom they talk to and in where on a
// ring they stand, and so are plans: a Pattern is a program with these left open, shared by all
// members and channels that run it. StepCursor (step_cursor.h) walks a program primitive by
// primitive. The size of a plan grows with members and channels, not with the length of programs.
//
// Groups of the same shape (same hosts' kinds, same GPUs, same order) share a plan: members are
// member indices, not ranks. Plain data; immutable once built.
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
  kCopyEngine,  // past NCCL: copy engines move messages from a user's buffer to another's
  kUserBuffers  // past NCCL: kernels of Transformer Engine do
};
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

// Connections to and from the switches run from a member to itself. A `reduction` is a row of
// pieces, and has one connection of each kind per member that takes part: chunk i on it is the
// piece `first` + i. The chunks that members send of a piece are summed, and the sum arrives at
// those that receive the piece (reductions.h). In an all-reduce all send and receive every piece;
// in an all-gather each piece has one sender, in a reduce-scatter one receiver. Such chunks move
// whole.

// One directed connection between two members on a channel. A chunk sent on it is received, in
// order, by the steps of the receiver that name it.
struct Connection {
  uint16_t from = 0;  // member
  uint16_t to = 0;
  LinkKind link = LinkKind::kPeerWrite;
  int16_t send_nic = -1;  // NIC index in the sender's host (kNet); with PXN not the GPU's own
  int16_t recv_nic = -1;
  // Member whose GPU the data goes through, else -1: kNet: it hands the data to the NIC (PXN); a
  // peer link: it holds the buffer, for the two GPUs have no NVLink of their own.
  int16_t proxy = -1;
  // The end's NIC reads or writes GPU memory directly; false = bounced through host memory.
  bool send_gdr = true, recv_gdr = true;
  int16_t reduction = -1;  // kToSwitch, kFromSwitch: counted over the plan
  uint32_t first = 0;      // of the reduction's pieces
  // Data goes from one user's buffer to the other's: they are registered with NCCL, and no buffer
  // of its own is between them. kNet: the NICs read and write them; kNvls: the switches do.
  bool direct = false;
  friend bool operator==(const Connection&, const Connection&) = default;
};

// A range of a program's operands: of its list of connections.
struct Slots {
  uint32_t begin = 0, count = 0;
  friend bool operator==(const Slots&, const Slots&) = default;
};

// A run of like primitives. One primitive: wait for its bytes on each connection of `receive`,
// combine, pass on to each of `send`. Empty receive = source is the local buffer; empty send = the
// data stays here. The k-th primitive of the run works on chunk
//     c = (position of the program + first - k) mod Pattern::ring
// which holds `bytes` if c < whole_chunks, `last_bytes` if c = whole_chunks, and else nothing: then
// there is no primitive.
struct Step {
  Slots receive, send;
  uint32_t first = 0, count = 1;  // first < ring, 1 <= count <= ring
  uint32_t whole_chunks = std::numeric_limits<uint32_t>::max();
  int64_t bytes = 0;       // of payload (LL and LL128 put more on the wire); > 0
  int64_t last_bytes = 0;  // < bytes
  int64_t offset = 0;      // of chunk 0, in bytes from the program's base
  int64_t pitch = 0;       // from a chunk to the next, in bytes
  // What was received is combined: its parts with one another and with the local buffer (the input,
  // or what was stored there since), unless an NVLS connection is among them (a head's own data
  // comes through its own).
  bool reduce = false;
  bool store = false;   // the result is written to the local output
  bool joined = false;  // the primitive of the step before goes on: no synchronisation of its own
  // Each of its primitives stands for so many, of a part of its bytes each, that NCCL has in turns
  // of the loop. 1 in a plan of simccl's; more where a replay need not look closer
  // (exec-engine/transfer/merged_loops.h).
  uint32_t merged = 1;
  friend bool operator==(const Step&, const Step&) = default;
};

// The steps up to `step_end`, from where the loop before ended, `repeat` times, each time `stride`
// bytes further on.
struct Loop {
  int64_t repeat = 1;
  int64_t stride = 0;
  uint32_t step_end = 0;
  friend bool operator==(const Loop&, const Loop&) = default;
};

// Loops one after another; together they have all steps.
struct Pattern {
  uint32_t ring = 1;      // chunks are counted modulo this
  uint32_t operands = 0;  // of a program that runs it
  std::vector<Loop> loops;
  std::vector<Step> steps;
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

// What one member does on one channel, serially. Where NCCL runs several roles of a work side by
// side on different warps of one block, each is a program of its own with the same channel.
struct ChannelProgram {
  uint16_t channel = 0;
  uint16_t work = 0;  // index into Plan::works
  uint32_t pattern = 0;
  uint32_t operand_begin = 0;  // into Plan::operands
  uint16_t position = 0;       // < Pattern::ring
  int16_t order = -1;  // index into Plan::orders: chunk c is piece order[c] of the buffer; -1: c
  int64_t base = 0;    // offset in the user's buffer, in bytes: what the data means
  friend bool operator==(const ChannelProgram&, const ChannelProgram&) = default;
};

// How the programs of one collective (or of a group's messages) run.
struct Work {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;
  int warps = 0;  // per channel
  // How a chunk is cut (slices.h): into slices of at least `slice_bytes`, and, unless `slices` is
  // 0, into at most so many, in whole multiples of `slice_grain` bytes. Neither: it moves whole.
  int64_t slice_bytes = 0;
  int slots = 8;  // slices in flight on a connection before the sender waits
  // Which of the call's kernels it belongs to, from 0. A member's kernel begins when its kernel
  // before has ended on all channels. Not less than the work's before.
  int launch = 0;
  int slices = 0;
  int64_t slice_grain = 1;
  bool registered = false;  // NVLS on the users' own buffers
  friend bool operator==(const Work&, const Work&) = default;
};

struct Plan {
  std::string name;  // "all-reduce fp16 100.7 MB over 8"
  // A grouped call has several: a member works through them on each channel in this order. At least
  // one; a connection belongs to one work, or to works of messages with one protocol.
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
