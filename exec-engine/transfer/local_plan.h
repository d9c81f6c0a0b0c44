// A plan as one host runs it: the channel programs of the members that live here, with every
// connection resolved to ports and every primitive to its cost. Built once per (plan, members
// here), immutable, shared by all calls that use it.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_LOCAL_PLAN_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_LOCAL_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/containers/index_table.h"
#include "core/model/calls/step_cursor.h"
#include "core/model/flow_plan.h"
#include "core/model/gpu.h"
#include "core/model/topology.h"
#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/aggregation.h"
#include "exec-engine/transfer/kernel_load.h"

namespace drydock {

inline constexpr uint32_t kElsewhere = UINT32_MAX;  // a runner on another host

// A step of a pattern, as a work runs it. Operands count from LocalRunner::operand_begin.
struct LocalStep {
  Slots receive, send;
  bool store = false;
  bool joined = false;  // of the primitive before: no synchronisation of its own
  uint32_t merged = 1;  // Step::merged
  ByteCost cost;        // of the thread block; unused where a protocol counts passes
};

// The serial program of one member on one channel.
struct LocalRunner {
  uint32_t member = 0;         // index into LocalPlan::members
  uint32_t work = 0;           // index into LocalPlan::works
  uint32_t step_begin = 0;     // into LocalPlan::steps: those of its pattern
  uint32_t operand_begin = 0;  // into LocalPlan::operands
  uint32_t turn = 0;           // index into LocalPlan::turns
  int64_t slices = 0;          // in one call
  StepCursor start;
};

// The runners of a member for one work on one channel, which start together once those of the work
// before are done.
struct LocalTurn {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> runners;
  uint32_t next = kNone;  // index into LocalPlan::turns: on this channel, of the same kernel
  bool first = true;      // of the kernel on this channel: starts with it
  uint32_t launch = 0;    // the kernel, as Work has it
};

// What the primitives of a work cost, beside LocalStep::cost.
struct LocalWork {
  Time step, net_slice, proxy;
  const Work* planned = nullptr;
  uint32_t slots = 1;
  int64_t pass_bytes = 0;  // of all warps; 0: LocalStep::cost applies
  Time pass_time, pass_store;

  // How long the thread block works on a slice, its step's synchronisation excluded.
  Time BlockTime(const LocalStep& s, int64_t bytes) const {
    if (pass_bytes == 0) return s.cost.For(bytes);
    const int64_t passes = bytes <= pass_bytes ? 1 : (bytes + pass_bytes - 1) / pass_bytes;
    return pass_time * (passes - 1) + (s.store ? pass_store * passes : Time());
  }
};

struct LocalConnection {
  LinkKind link = LinkKind::kPeerWrite;
  uint16_t work = 0;
  uint32_t sender = kElsewhere, receiver = kElsewhere;  // runners
  Way way;                    // taken by the thread block; without ports: stays in the GPU
  bool contribution = false;  // kNvls: waits in its own memory for an in-switch reduction
  ByteCost crossing;          // of the way, shared with the work's other channels
  // kNet, kToSwitch, kFromSwitch only.
  PortId nic = kNoPort, gpu_dma = kNoPort;  // DMA ports at this end
  // Of the NIC, shared with the work's other channels: by the byte, and by the message.
  ByteCost nic_pace;
  Time nic_gap;
  int local_nic = -1, remote_nic = -1;
  int remote_host = -1;          // kToSwitch, kFromSwitch: the aggregation node at the NIC's switch
  uint32_t plan_connection = 0;  // index into Plan::connections, which both hosts know
  uint32_t flow = 0;
  uint32_t folded = 0;              // the folded connection that this end sends on; 0: none
  uint32_t other_end = kElsewhere;  // kNet inside this host: an entry for each end
  // kFromSwitch: the same member's kToSwitch, and the reverse; index of connection.
  uint32_t way_in = kElsewhere, way_out = kElsewhere;
  uint32_t first = 0, pieces = 0;   // of the reduction: the first of this connection's, and all
  uint32_t sent = 0, received = 0;  // slices in one call, counted at the ends that are here
};

struct LocalMember {
  int member = 0;  // of the group
  int gpu = 0;     // on this host
  uint32_t runners = 0;
  std::vector<uint32_t> runners_of_launch;
  KernelLoad load = {};  // kernel_load.h; nothing as the plan is made
};

struct LocalPlan {
  const Plan* plan = nullptr;
  std::vector<LocalMember> members;
  std::vector<LocalRunner> runners;
  std::vector<LocalTurn> turns;
  std::vector<LocalWork> works;
  std::vector<LocalStep> steps;
  std::vector<uint32_t> operands;  // into connections
  std::vector<LocalConnection> connections;
  IndexTable<uint32_t> by_plan_connection;  // the first connection of each plan_connection

  Time base, latency;                // `base` is that of the first kernel
  std::vector<Time> base_of_launch;  // from a kernel's start until its thread blocks run
  uint32_t most_slots = 1;           // of any work
  int64_t clear_to_send_bytes = 0;
  uint32_t net_sends = 0;  // slices that leave this host in one call
  bool complete = false;   // all members live here and nothing but scale-up links is used
  // Whose ports the call takes: 2g = GPU g's scale-up link, 2g + 1 = its PCIe link. Sorted.
  std::vector<uint16_t> port_classes;

  std::span<const uint32_t> OperandsOf(const LocalRunner& runner, Slots slots) const {
    return {operands.data() + runner.operand_begin + slots.begin, slots.count};
  }
  // kElsewhere if the connection has no end here. `receives`: which, if it has both.
  uint32_t FindConnection(uint32_t plan_connection, bool receives) const;
};

// `host_of_member` and `gpu_of_member` place every member of the group; those on `host` are local.
// A member that takes no part in the call is on host -1. `group` names the communicator for the
// choice of queue pairs. `aggregation` knows the switches that reduce, if the plan needs any.
LocalPlan MakeLocalPlan(const Plan& plan, const GpuSpec& gpu, const PortMap& ports, int host,
                        uint32_t group, std::span<const int> host_of_member,
                        std::span<const int> gpu_of_member, const Aggregation& aggregation = {});

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_LOCAL_PLAN_H_
