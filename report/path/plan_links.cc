#include "report/path/plan_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/fabric/flow_name.h"

namespace drydock {

PlanLinks::PlanLinks(const Workload& workload)
    : workload_(workload), placement_(workload.topology), fabric_(workload.topology) {
  // Planning has already rejected settings that NCCL does not accept.
  const Result<ConnectionShape> shape = ConnectionShapeOf(workload.topology);
  if (shape.ok()) shape_ = *shape;
}

std::vector<std::vector<uint32_t>> PlanLinks::Cables(int group, const Connection& connection,
                                                     uint16_t channel) const {
  if (connection.link != LinkKind::kNet) return {};
  const std::vector<int>& ranks = workload_.groups[static_cast<size_t>(group)].ranks;
  const int from = placement_.of(ranks[connection.from]).host;
  const int to = placement_.of(ranks[connection.to]).host;
  const uint32_t flow =
      FlowOfConnection(static_cast<uint32_t>(group), connection.from, connection.to, channel);
  std::vector<std::vector<uint32_t>> cables;
  for (uint32_t pair = 0; pair < shape_.queue_pairs; ++pair) {
    const uint32_t path =
        PathHash(from, connection.send_nic, to, connection.recv_nic, FlowOfQueuePair(flow, pair));
    const auto ends = fabric_.PickAccess(static_cast<uint32_t>(from), connection.send_nic,
                                         static_cast<uint32_t>(to), connection.recv_nic, path);
    if (ends) cables.push_back(fabric_.LinksOf(*ends, path));
  }
  return cables;
}

std::string PlanLinks::CableName(uint32_t link) const {
  return StartOfLink(fabric_, link) + " to " + EndOfLink(fabric_, link);
}

void PlanLinks::AddNames(int group, const Connection& connection, uint16_t channel,
                         std::vector<std::string>* names) const {
  const auto add = [names](std::string name) {
    if (std::find(names->begin(), names->end(), name) == names->end()) {
      names->push_back(std::move(name));
    }
  };
  const std::vector<int>& ranks = workload_.groups[static_cast<size_t>(group)].ranks;
  const Placement::Slot& from = placement_.of(ranks[connection.from]);
  const Placement::Slot& to = placement_.of(ranks[connection.to]);
  switch (connection.link) {
    case LinkKind::kPeerWrite:
    case LinkKind::kPeerRead:
      return add(fmt::format("host {}/GPU {} to GPU {}", from.host, from.gpu, to.gpu));
    case LinkKind::kShared:
      return add(fmt::format("host {}/GPU {} to memory to GPU {}", from.host, from.gpu, to.gpu));
    case LinkKind::kNvls:
      return add(fmt::format("host {}/NVSwitch multicast", from.host));
    case LinkKind::kToSwitch:
      return add(fmt::format("host {}/nic{} to switches that sum", from.host, connection.send_nic));
    case LinkKind::kFromSwitch:
      return add(fmt::format("switches that sum to host {}/nic{}", to.host, connection.recv_nic));
    case LinkKind::kNet:
      break;
  }
  for (const std::vector<uint32_t>& route : Cables(group, connection, channel)) {
    for (const uint32_t link : route) add(CableName(link));
  }
}

std::vector<std::string> PlanLinks::NamesFor(const Plan& plan, int group, int member) const {
  for (const bool towards : {true, false}) {
    std::vector<std::string> names;
    for (const ChannelProgram& program : plan.members[static_cast<size_t>(member)]) {
      for (uint32_t i = 0; i < plan.patterns[program.pattern].operands; ++i) {
        const Connection& connection = plan.connections[plan.operands[program.operand_begin + i]];
        if ((towards ? connection.to : connection.from) != member) continue;
        AddNames(group, connection, program.channel, &names);
      }
    }
    if (!names.empty()) return names;
  }
  return {};
}

}  // namespace drydock
