// What NCCL would do for each communication call: per member and channel, a serial program of
// primitives over connections to peers. Made by simccl, run by exec-engine.
//
//   (call, group) ──► Plan ──► member programs[member] ──► channels ──► steps
//
// Groups of the same shape (same hosts' kinds, same GPUs, same order) share a plan: members are
// member indices, not ranks. Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_FLOW_PLAN_H_
#define DRYDOCK_CORE_MODEL_FLOW_PLAN_H_

#include <cstdint>
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
  kLocal
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
};

// NVLS connections run member -> head and head -> member, the head's own included. A member
// contributes by sending on (m, h): the data stays in its own memory. The head's step that
// receives from all members with `reduce` is one in-switch reduction: each member's memory is read
// once, the sum arrives once (without `reduce`, a plain read). A head's step that sends to all
// members is one multicast store: written once, delivered to each. Members take their copy with a
// receive on (h, m), which is local again. Where NCCL runs these roles on separate warps of one
// block, each is a ChannelProgram of its own with the same `channel`.

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
  bool gdr = true;     // NIC reads GPU memory directly; false = bounced through host memory
};

// One primitive: wait for `bytes` on each connection of `receive`, combine, pass on to each of
// `send`. Empty receive = source is the local buffer; empty send = the data stays here.
struct Step {
  uint32_t receive_begin = 0, receive_count = 0;  // into ChannelProgram::operands
  uint32_t send_begin = 0, send_count = 0;
  int64_t bytes = 0;   // of payload (LL and LL128 put more on the wire)
  int64_t offset = 0;  // of the chunk in the user's buffer, in bytes: what the data means
  // What was received is combined: its parts with one another and with the local buffer (the input,
  // or what was stored there since), unless an NVLS connection is among them (a head's own data
  // comes through its own).
  bool reduce = false;
  bool store = false;   // the result is written to the local output
  bool joined = false;  // the primitive of the step before goes on: no synchronisation of its own
};

struct ChannelProgram {
  uint16_t channel = 0;
  std::vector<uint32_t> operands;  // indices into Plan::connections
  std::vector<Step> steps;
};

struct Plan {
  std::string name;  // "all-reduce fp16 100.7 MB over 8"
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;
  int warps = 0;            // per channel
  int64_t slice_bytes = 0;  // a chunk moves in slices of this size (0 = whole)
  int slots = 8;            // slices in flight on a connection before the sender waits
  std::vector<Connection> connections;
  std::vector<std::vector<ChannelProgram>> members;  // [member][channel in use]
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
