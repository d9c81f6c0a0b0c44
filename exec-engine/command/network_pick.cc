#include "exec-engine/command/network_pick.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"
#include "core/model/timeline.h"

namespace drydock {
namespace {

// Returns the packets that each member of a plan sends over the network in one call.
std::vector<int64_t> PacketsOfMembers(const Plan& plan, int64_t mtu) {
  std::vector<int64_t> packets;
  for (const std::vector<ChannelProgram>& programs : plan.members) {
    int64_t sum = 0;
    for (const ChannelProgram& program : programs) {
      const Protocol protocol = plan.works[program.work].protocol;
      const auto count = [&](const Step& step, int64_t bytes, int64_t times) {
        for (uint32_t i = 0; i < step.send.count; ++i) {
          const uint32_t operand = plan.operands[program.operand_begin + step.send.begin + i];
          const LinkKind link = plan.connections[operand].link;
          if (link != LinkKind::kNet && link != LinkKind::kToSwitch) continue;
          sum += (WireBytes(protocol, bytes) + mtu - 1) / mtu * times;
        }
      };
      ForEachSize(plan.patterns[program.pattern], program.position, count);
    }
    packets.push_back(sum);
  }
  return packets;
}

// Counts how often a rank class makes each call in each role.
std::map<std::pair<uint32_t, uint8_t>, int64_t> CountCalls(const Program& program) {
  std::map<std::pair<uint32_t, uint8_t>, int64_t> counts;
  for (const Op& op : program.ops) {
    if (IsCommunication(op.kind)) ++counts[{op.work, op.role}];
  }
  return counts;
}

}  // namespace

int64_t EstimatePackets(const Workload& workload, const FlowPlan& plan) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> plan_of;  // call, group
  for (const FlowPlan::Assignment& use : plan.assignments) {
    plan_of[{use.call, use.group}] = use.plan;
  }
  std::vector<std::vector<int64_t>> packets;  // by plan and member
  for (const Plan& each : plan.plans) {
    packets.push_back(PacketsOfMembers(each, workload.topology.transport.mtu.count()));
  }
  std::vector<std::map<std::pair<uint32_t, uint8_t>, int64_t>> calls_of_class;
  for (const Program& program : workload.programs) calls_of_class.push_back(CountCalls(program));
  int64_t sum = 0;
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const auto number = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
    for (const auto& [use, times] : calls_of_class[number]) {
      const int group = workload.group_of_rank[use.second][static_cast<size_t>(rank)];
      const auto found = plan_of.find({use.first, static_cast<uint32_t>(group)});
      if (found == plan_of.end()) continue;
      const std::vector<int>& ranks = workload.groups[static_cast<size_t>(group)].ranks;
      const auto member =
          static_cast<size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
      const std::vector<int64_t>& of_member = packets[found->second];
      if (member < of_member.size()) sum += of_member[member] * times;
    }
  }
  return sum;
}

NetworkPick PickNetwork(const Workload& workload, const FlowPlan& plan, int processes) {
  const auto flips = [](const Fault& fault) { return fault.kind == Fault::Kind::kErrors; };
  const std::vector<Fault>& faults = workload.topology.faults;
  NetworkPick pick;
  pick.packets = EstimatePackets(workload, plan);
  pick.network = pick.packets > kMaxPackets ? "fluid" : kPacketNetwork;
  pick.why = fmt::format("{} packets foreseen, {} {}", pick.packets,
                         pick.packets > kMaxPackets ? "more than" : "at most", kMaxPackets);
  if (std::any_of(faults.begin(), faults.end(), flips)) {
    pick.network = kPacketNetwork;
    pick.why = "faults flip bits, which lose packets";
  } else if (processes > 1) {
    pick.network = kPacketNetwork;
    pick.why = "the other networks run in one process";
  }
  return pick;
}

}  // namespace drydock
