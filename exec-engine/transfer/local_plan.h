// A plan as one host runs it: the channel programs of the members on this host, with every
// connection resolved to ports and every step to its cost. Built once per plan and set of members,
// immutable, shared by all calls that use it.
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

// A step of a pattern as a work runs it. Operands count from LocalRunner::operand_begin.
struct LocalStep {
  Slots receive, send;
  bool store = false;
  bool joined = false;  // with the previous step: no separate synchronization
  uint32_t merged = 1;  // Step::merged
  ByteCost cost;        // of the thread block; unused where a protocol counts passes
};

// The program of one member on one channel.
struct LocalRunner {
  uint32_t member = 0;         // index into LocalPlan::members
  uint32_t work = 0;           // index into LocalPlan::works
  uint32_t step_begin = 0;     // into LocalPlan::steps: those of its pattern
  uint32_t operand_begin = 0;  // into LocalPlan::operands
  uint32_t batch = 0;          // index into LocalPlan::batches
  int64_t slices = 0;          // in one call
  StepCursor start;
};

// The runners of a member for one work on one channel. They start together when the runners of the
// previous work on the channel have ended.
struct LocalBatch {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> runners;
  uint32_t next = kNone;  // next batch of the kernel on this channel; index into LocalPlan::batches
  bool first = true;      // of the kernel on this channel: starts with the kernel
  uint32_t launch = 0;    // the kernel (Work::launch)
};

// What the steps of a work cost in addition to LocalStep::cost.
struct LocalWork {
  Time step, net_slice, proxy, hop;
  const Work* planned = nullptr;
  uint32_t slots = 1;
  int64_t pass_bytes = 0;  // of all warps; 0: the protocol counts bytes (LocalStep::cost)
  Time pass_time, pass_store;
  bool gathers_together = false;  // NVLS: joined steps begin when the data of all of them is there

  // Returns the time that the thread block works on a slice, synchronization of the step excluded.
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
  uint32_t slots = 1;         // those of the work; fewer if its slices are merged
  uint32_t merged = 1;        // the largest Step::merged
  PortPath path;              // of the thread block's accesses; without ports: inside the GPU
  bool contribution = false;  // kNvls: lies in the sender's memory for an in-switch reduction
  ByteCost crossing;          // of the path, shared with the work's other channels
  // kNet, kToSwitch, kFromSwitch only.
  PortId nic = kNoPort, gpu_dma = kNoPort;  // DMA ports at this end
  // Of the NIC, shared with the work's other channels: for each byte and for each message.
  ByteCost nic_pace;
  Time nic_gap;
  int local_nic = -1, remote_nic = -1;
  int remote_host = -1;          // kToSwitch, kFromSwitch: the aggregation node at the NIC's switch
  uint32_t plan_connection = 0;  // index into Plan::connections, which both hosts know
  uint32_t flow = 0;
  uint32_t folded = 0;              // the folded connection on which this end sends; 0: none
  uint32_t other_end = kElsewhere;  // kNet inside this host has an entry for each end
  // kFromSwitch: the same member's connection kToSwitch, and the reverse; index of connection.
  uint32_t to_switch = kElsewhere, from_switch = kElsewhere;
  uint32_t first = 0, pieces = 0;   // of the reduction: first piece of this connection, and number
  uint32_t sent = 0, received = 0;  // slices of one call, counted at the ends on this host
};

struct LocalMember {
  int member = 0;  // of the group
  int gpu = 0;     // on this host
  uint32_t runners = 0;
  std::vector<uint32_t> runners_of_launch;
  // All that it does first is to receive, so it moves nothing before another member does.
  bool passive = false;
  KernelLoad load = {};  // set by FindLoads (kernel_load.h)
};

struct LocalPlan {
  const Plan* plan = nullptr;
  std::vector<LocalMember> members;
  std::vector<LocalRunner> runners;
  std::vector<LocalBatch> batches;
  std::vector<LocalWork> works;
  std::vector<LocalStep> steps;
  std::vector<uint32_t> operands;  // into connections
  std::vector<LocalConnection> connections;
  IndexTable<uint32_t> by_plan_connection;  // the first connection of each plan_connection

  Time base, latency;                // `base` is that of the first kernel
  std::vector<Time> base_of_launch;  // from the start of a kernel until its thread blocks run
  uint32_t max_slots = 1;            // of any work
  int64_t clear_to_send_bytes = 0;
  uint32_t net_sends = 0;    // slices of one call that leave this host
  bool meets_proxy = false;  // some connection leads through NICs
  bool complete = false;     // all members are on this host and the call uses scale-up links only
  // Ports that the call takes: 2g for the scale-up link of GPU g, 2g + 1 for its PCIe link. Sorted.
  std::vector<uint16_t> port_classes;

  std::span<const uint32_t> OperandsOf(const LocalRunner& runner, Slots slots) const {
    return {operands.data() + runner.operand_begin + slots.begin, slots.count};
  }
  // Returns true if no member can end before all have started: each pair of members exchanges data,
  // or more of it than the receiver has room for before it starts.
  bool AllPairsMeet() const;
  // Returns kElsewhere if the connection has no end here. `receives` chooses the end if it has
  // both.
  uint32_t FindConnection(uint32_t plan_connection, bool receives) const;
};

// `host_of_member` and `gpu_of_member` are the placement of the group. Members on `host` are local;
// a member that takes no part in the call is on host -1. `group` names the group for the choice of
// queue pairs. `aggregation` knows the switches that reduce, if the plan needs any.
LocalPlan MakeLocalPlan(const Plan& plan, const GpuSpec& gpu, const PortMap& ports, int host,
                        uint32_t group, std::span<const int> host_of_member,
                        std::span<const int> gpu_of_member, const Aggregation& aggregation = {});

// Returns the ports that a complete plan takes, numbered in the order in which its connections name
// them, their rates, and the paces of the connections. If two groups of one kind of host run the
// same plan and have equal ways, their calls take the same times.
std::vector<int64_t> WaysOf(const LocalPlan& plan, const PortMap& ports);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_LOCAL_PLAN_H_
