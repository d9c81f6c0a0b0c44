#include "report/facts/traffic.h"

#include <map>

#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"

namespace drydock {
namespace {

class Counter {
 public:
  Counter(const PlanLinks& links, const Workload& workload, const Plan& plan, int group)
      : links_(links), workload_(workload), plan_(plan), group_(group) {}

  Traffic Count(int member) {
    host_ =
        links_.placement()
            .of(workload_.groups[static_cast<size_t>(group_)].ranks[static_cast<size_t>(member)])
            .host;
    for (const ChannelProgram& program : plan_.members[static_cast<size_t>(member)]) {
      const Protocol protocol = plan_.works[program.work].protocol;
      const auto visit = [&](const Step& step, int64_t bytes, int64_t times) {
        AddStep(program, step, WireBytes(protocol, bytes) * times);
      };
      ForEachSize(plan_.patterns[program.pattern], program.position, visit);
    }
    for (const auto& [key, bytes] : net_)
      AddRoutes(plan_.connections[key.first], key.second, bytes);
    out_.cables.assign(cables_.begin(), cables_.end());
    return std::move(out_);
  }

 private:
  const Connection& ConnectionOf(const ChannelProgram& program, uint32_t operand) const {
    return plan_.connections[plan_.operands[program.operand_begin + operand]];
  }

  void AddStep(const ChannelProgram& program, const Step& step, int64_t bytes) {
    bool multicast = false;
    for (uint32_t i = 0; i < step.send.count; ++i) {
      const Connection& connection = ConnectionOf(program, step.send.begin + i);
      if (IsPeer(connection.link)) out_.scale_up_out += bytes;
      if (connection.link == LinkKind::kNet) {
        net_[{plan_.operands[program.operand_begin + step.send.begin + i], program.channel}] +=
            bytes;
      }
      if (connection.link == LinkKind::kToSwitch) AddNic(connection.send_nic, true, bytes);
      multicast |= connection.link == LinkKind::kNvls;
    }
    if (multicast) out_.scale_up_out += bytes;
    multicast = false;
    for (uint32_t i = 0; i < step.receive.count; ++i) {
      const Connection& connection = ConnectionOf(program, step.receive.begin + i);
      if (IsPeer(connection.link)) out_.scale_up_in += bytes;
      if (connection.link == LinkKind::kFromSwitch) AddNic(connection.recv_nic, false, bytes);
      multicast |= connection.link == LinkKind::kNvls;
    }
    if (multicast) out_.scale_up_in += bytes;
  }

  static bool IsPeer(LinkKind link) {
    return link == LinkKind::kPeerWrite || link == LinkKind::kPeerRead;
  }

  void AddNic(int nic, bool sends, int64_t bytes) {
    for (const uint32_t link : links_.fabric().ports_of(static_cast<uint32_t>(host_))) {
      if (links_.fabric().direction(link).from_nic != nic) continue;
      cables_[sends ? link : link ^ 1] += bytes;
      break;
    }
    if (sends) out_.sent += bytes;
  }

  // Queue pairs carry equal parts of a connection's data.
  void AddRoutes(const Connection& connection, uint16_t channel, int64_t bytes) {
    const std::vector<std::vector<uint32_t>> routes = links_.Cables(group_, connection, channel);
    for (const std::vector<uint32_t>& route : routes) {
      for (const uint32_t link : route)
        cables_[link] += bytes / static_cast<int64_t>(routes.size());
    }
    out_.sent += bytes;
  }

  const PlanLinks& links_;
  const Workload& workload_;
  const Plan& plan_;
  const int group_;
  int host_ = 0;
  Traffic out_;
  std::map<std::pair<uint32_t, uint16_t>, int64_t> net_;  // by connection and channel
  std::map<uint32_t, int64_t> cables_;
};

}  // namespace

Traffic TrafficOf(const PlanLinks& links, const Workload& workload, const Plan& plan, int group,
                  int member) {
  return Counter(links, workload, plan, group).Count(member);
}

}  // namespace drydock
