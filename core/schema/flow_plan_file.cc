// 2-flows.pb.
#include <algorithm>
#include <limits>

#include "core/schema/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "flow plan";
constexpr uint32_t kReduceFlag = 1;
constexpr uint32_t kStoreFlag = 2;
constexpr uint32_t kJoinedFlag = 4;
constexpr uint32_t kMostMembers = std::numeric_limits<uint16_t>::max();

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
    to->add_flags((step.reduce ? kReduceFlag : 0) | (step.store ? kStoreFlag : 0) |
                  (step.joined ? kJoinedFlag : 0));
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
  if (from.channel() > kMostMembers) return false;
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
    const Step step = {from.receive_begin(i),
                       from.receive_count(i),
                       from.send_begin(i),
                       from.send_count(i),
                       from.bytes(i),
                       from.offset(i),
                       (from.flags(i) & kReduceFlag) != 0,
                       (from.flags(i) & kStoreFlag) != 0,
                       (from.flags(i) & kJoinedFlag) != 0};
    const auto fits = [to](uint64_t begin, uint64_t count) {
      return begin + count <= to->operands.size();
    };
    if (!fits(step.receive_begin, step.receive_count) || !fits(step.send_begin, step.send_count) ||
        step.bytes < 0 || step.offset < 0) {
      return false;
    }
    to->steps.push_back(step);
  }
  return true;
}

// A NIC or member index, or -1 for none.
bool Fits(int32_t index) { return index >= -1 && index <= std::numeric_limits<int16_t>::max(); }

bool Decode(const proto::FlowPlan::Connection& from, int members, Connection* to) {
  const auto is_member = [members](int64_t index) { return index < members; };
  if (from.link() > static_cast<uint32_t>(LinkKind::kNvls) || !is_member(from.from()) ||
      !is_member(from.to()) || !Fits(from.send_nic()) || !Fits(from.recv_nic()) ||
      !Fits(from.proxy()) || !is_member(from.proxy())) {
    return false;
  }
  *to = {static_cast<uint16_t>(from.from()),
         static_cast<uint16_t>(from.to()),
         static_cast<LinkKind>(from.link()),
         static_cast<int16_t>(from.send_nic()),
         static_cast<int16_t>(from.recv_nic()),
         static_cast<int16_t>(from.proxy()),
         from.gdr()};
  return to->link != LinkKind::kNet || (to->send_nic >= 0 && to->recv_nic >= 0);
}

// A member receives what is sent to it and sends what is its own.
bool EndsFit(const Plan& plan, const ChannelProgram& program, size_t member) {
  for (const Step& step : program.steps) {
    for (uint32_t i = 0; i < step.receive_count; ++i) {
      const uint32_t operand = program.operands[step.receive_begin + i];
      if (plan.connections[operand].to != member) return false;
    }
    for (uint32_t i = 0; i < step.send_count; ++i) {
      const uint32_t operand = program.operands[step.send_begin + i];
      if (plan.connections[operand].from != member) return false;
    }
  }
  return true;
}

bool Decode(const proto::FlowPlan::Plan& from, Plan* to) {
  to->name = from.name();
  to->algorithm = protocol::ToEnum<Algorithm>(from.algorithm());
  to->protocol = protocol::ToEnum<Protocol>(from.protocol());
  to->channels = from.channels();
  to->warps = from.warps();
  to->slice_bytes = from.slice_bytes();
  to->slots = from.slots();
  if (!protocol::Within(to->algorithm, AlgorithmNames().size()) ||
      !protocol::Within(to->protocol, ProtocolNames().size()) || to->channels < 0 ||
      to->warps < 0 || to->slice_bytes < 0 || to->slots < 1 ||
      static_cast<uint32_t>(from.members_size()) > kMostMembers) {
    return false;
  }
  for (const proto::FlowPlan::Connection& connection : from.connections()) {
    if (!Decode(connection, from.members_size(), &to->connections.emplace_back())) return false;
  }
  for (const proto::FlowPlan::Member& member : from.members()) {
    std::vector<ChannelProgram>& channels = to->members.emplace_back();
    for (const proto::FlowPlan::Channel& channel : member.channels()) {
      ChannelProgram& program = channels.emplace_back();
      if (!Decode(channel, to->connections.size(), &program)) return false;
      if (!EndsFit(*to, program, to->members.size() - 1)) return false;
    }
  }
  return true;
}

// The NICs that its connections name are there.
bool NicsFit(const Plan& plan, const Topology& topology) {
  int nics = 0;
  for (const HostKind& kind : topology.host_kinds) nics = std::max(nics, kind.nics.count);
  for (const Connection& connection : plan.connections) {
    if (connection.send_nic >= nics || connection.recv_nic >= nics) return false;
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
  RETURN_IF_ERROR(
      protocol::CheckMadeFrom(message.provenance(), path, kManifestName, workload.sha256));
  FlowPlan plan;
  for (const proto::FlowPlan::Plan& each : message.plans()) {
    Plan& decoded = plan.plans.emplace_back();
    if (!Decode(each, &decoded) || !NicsFit(decoded, workload.workload.topology)) {
      return protocol::Damaged(path, fmt::format("the plan '{}' contradicts itself", each.name()));
    }
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
