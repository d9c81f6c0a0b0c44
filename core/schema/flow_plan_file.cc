// 2-flows.pb.
#include <limits>

#include "core/schema/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "flow plan";
constexpr uint32_t kReduceFlag = 1;
constexpr uint32_t kStoreFlag = 2;

void Encode(const ChannelProgram& from, proto::FlowPlan::Channel* to) {
  to->set_channel(from.channel);
  to->mutable_operands()->Add(from.operands.begin(), from.operands.end());
  for (const Step& step : from.steps) {
    to->add_receive_begin(step.receive_begin);
    to->add_receive_count(step.receive_count);
    to->add_send_begin(step.send_begin);
    to->add_send_count(step.send_count);
    to->add_bytes(step.bytes);
    to->add_offset(step.offset);
    to->add_flags((step.reduce ? kReduceFlag : 0) | (step.store ? kStoreFlag : 0));
  }
}

void Encode(const Plan& from, proto::FlowPlan::Plan* to) {
  to->set_name(from.name);
  to->set_algorithm(static_cast<uint32_t>(from.algorithm));
  to->set_protocol(static_cast<uint32_t>(from.protocol));
  to->set_channels(from.channels);
  to->set_warps(from.warps);
  to->set_slice_bytes(from.slice_bytes);
  to->set_slots(from.slots);
  for (const Connection& connection : from.connections) {
    proto::FlowPlan::Connection* added = to->add_connections();
    added->set_from(connection.from);
    added->set_to(connection.to);
    added->set_link(static_cast<uint32_t>(connection.link));
    added->set_send_nic(connection.send_nic);
    added->set_recv_nic(connection.recv_nic);
    added->set_proxy(connection.proxy);
    added->set_gdr(connection.gdr);
  }
  for (const auto& member : from.members) {
    proto::FlowPlan::Member* added = to->add_members();
    for (const ChannelProgram& program : member) Encode(program, added->add_channels());
  }
}

bool Decode(const proto::FlowPlan::Channel& from, size_t connections, ChannelProgram* to) {
  to->channel = static_cast<uint16_t>(from.channel());
  to->operands.assign(from.operands().begin(), from.operands().end());
  for (const uint32_t operand : to->operands) {
    if (operand >= connections) return false;
  }
  const int n = from.bytes_size();
  if (from.receive_begin_size() != n || from.receive_count_size() != n ||
      from.send_begin_size() != n || from.send_count_size() != n || from.offset_size() != n ||
      from.flags_size() != n) {
    return false;
  }
  to->steps.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    const Step step = {from.receive_begin(i), from.receive_count(i),
                       from.send_begin(i),    from.send_count(i),
                       from.bytes(i),         from.offset(i),
                       (from.flags(i) & kReduceFlag) != 0, (from.flags(i) & kStoreFlag) != 0};
    const auto fits = [to](uint64_t begin, uint64_t count) {
      return begin + count <= to->operands.size();
    };
    if (!fits(step.receive_begin, step.receive_count) || !fits(step.send_begin, step.send_count) ||
        step.bytes < 0) {
      return false;
    }
    to->steps.push_back(step);
  }
  return true;
}

bool Decode(const proto::FlowPlan::Plan& from, Plan* to) {
  to->name = from.name();
  to->algorithm = static_cast<Algorithm>(from.algorithm());
  to->protocol = static_cast<Protocol>(from.protocol());
  to->channels = from.channels();
  to->warps = from.warps();
  to->slice_bytes = from.slice_bytes();
  to->slots = from.slots();
  if (from.algorithm() >= AlgorithmNames().size() || from.protocol() >= ProtocolNames().size()) {
    return false;
  }
  for (const proto::FlowPlan::Connection& c : from.connections()) {
    if (c.link() > static_cast<uint32_t>(LinkKind::kNvls) ||
        c.from() >= static_cast<uint32_t>(from.members_size()) ||
        c.to() >= static_cast<uint32_t>(from.members_size())) {
      return false;
    }
    to->connections.push_back({static_cast<uint16_t>(c.from()), static_cast<uint16_t>(c.to()),
                               static_cast<LinkKind>(c.link()), static_cast<int16_t>(c.send_nic()),
                               static_cast<int16_t>(c.recv_nic()), static_cast<int16_t>(c.proxy()),
                               c.gdr()});
  }
  for (const proto::FlowPlan::Member& member : from.members()) {
    std::vector<ChannelProgram>& channels = to->members.emplace_back();
    for (const proto::FlowPlan::Channel& channel : member.channels()) {
      if (!Decode(channel, to->connections.size(), &channels.emplace_back())) return false;
    }
  }
  return true;
}

}  // namespace

Status WriteFlowPlan(const std::string& run, const FlowPlan& plan, const Provenance& provenance) {
  const std::string path = run + "/" + kFlowPlanName;
  proto::FlowPlan message;
  protocol::FillProvenance(kKind, provenance, message.mutable_provenance());
  for (const Plan& each : plan.plans) Encode(each, message.add_plans());
  for (const FlowPlan::Assignment& assignment : plan.assignments) {
    message.add_assignment_call(assignment.call);
    message.add_assignment_group(assignment.group);
    message.add_assignment_plan(assignment.plan);
  }
  ASSIGN_OR_RETURN(const std::string content, protocol::Serialise(message, path));
  return WriteFileAtomically(path, content);
}

Result<FlowPlan> ReadFlowPlan(const std::string& run, const WorkloadFile& workload,
                              std::string* sha256) {
  const std::string path = run + "/" + kFlowPlanName;
  proto::FlowPlan message;
  RETURN_IF_ERROR(protocol::Load(path, kKind, "simccl", &message, sha256));
  RETURN_IF_ERROR(protocol::CheckMadeFrom(message.provenance(), path, kManifestName,
                                          workload.sha256));
  FlowPlan plan;
  for (const proto::FlowPlan::Plan& each : message.plans()) {
    if (!Decode(each, &plan.plans.emplace_back())) return protocol::Damaged(path, each.name());
  }
  const std::vector<Workload::Use>& uses = workload.workload.uses;
  if (message.assignment_plan_size() != static_cast<int>(uses.size()) ||
      message.assignment_call_size() != static_cast<int>(uses.size()) ||
      message.assignment_group_size() != static_cast<int>(uses.size())) {
    return protocol::Damaged(path, "not every call has a plan");
  }
  for (int i = 0; i < message.assignment_plan_size(); ++i) {
    const Workload::Use& use = uses[static_cast<size_t>(i)];
    const uint32_t index = message.assignment_plan(i);
    if (message.assignment_call(i) != use.call || message.assignment_group(i) != use.group ||
        index >= plan.plans.size() ||
        plan.plans[index].members.size() != workload.workload.groups[use.group].ranks.size()) {
      return protocol::Damaged(path, "its assignments do not fit the workload");
    }
    plan.assignments.push_back({use.call, use.group, index});
  }
  return plan;
}

}  // namespace drydock
