// 2-flows.pb.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/calls/reductions.h"
#include "core/schema/artefacts/pattern_codec.h"
#include "core/schema/artefacts/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "flow plan";
using protocol::kMaxMembers;
using protocol::kMaxPrimitives;
using protocol::PatternFacts;
constexpr uint32_t kMaxChannels = std::numeric_limits<uint16_t>::max();
constexpr uint32_t kMaxWorks = std::numeric_limits<uint16_t>::max();

void Encode(const Connection& from, proto::FlowPlan::Connection* to) {
  to->set_from(from.from);
  to->set_to(from.to);
  to->set_link(static_cast<uint32_t>(from.link));
  to->set_send_nic(from.send_nic);
  to->set_recv_nic(from.recv_nic);
  to->set_proxy(from.proxy);
  to->set_send_gdr(from.send_gdr);
  to->set_recv_gdr(from.recv_gdr);
  to->set_reduction(from.reduction);
  to->set_first(from.first);
  to->set_direct(from.direct);
}

void Encode(const Work& from, proto::FlowPlan::Work* to) {
  to->set_algorithm(static_cast<uint32_t>(from.algorithm));
  to->set_protocol(static_cast<uint32_t>(from.protocol));
  to->set_channels(from.channels);
  to->set_warps(from.warps);
  to->set_slice_bytes(from.slice_bytes);
  to->set_slots(from.slots);
  to->set_launch(from.launch);
  to->set_slices(from.slices);
  to->set_slice_grain(from.slice_grain);
  to->set_registered(from.registered);
  to->set_start_ps(from.start.ps());
  to->set_rate_bits_per_second(from.rate.bits_per_second());
}

void EncodePrograms(const Plan& from, proto::FlowPlan::Plan* to) {
  for (const std::vector<ChannelProgram>& programs : from.members) {
    to->add_programs_of_member(static_cast<uint32_t>(programs.size()));
    for (const ChannelProgram& program : programs) {
      to->add_channel(program.channel);
      to->add_work(program.work);
      to->add_pattern(program.pattern);
      to->add_position(program.position);
      to->add_order(program.order);
      to->add_base(program.base);
      const auto operands = from.operands.begin() + program.operand_begin;
      to->mutable_operands()->Add(operands, operands + from.patterns[program.pattern].operands);
    }
  }
}

void Encode(const Plan& from, proto::FlowPlan::Plan* to) {
  to->set_name(from.name);
  for (const Work& work : from.works) Encode(work, to->add_works());
  for (const Connection& connection : from.connections) {
    Encode(connection, to->add_connections());
  }
  for (const Pattern& pattern : from.patterns) {
    protocol::Encode(pattern, to->add_patterns());
  }
  for (const std::vector<uint16_t>& order : from.orders) {
    to->add_orders()->mutable_pieces()->Add(order.begin(), order.end());
  }
  EncodePrograms(from, to);
}

// A NIC or member index, or -1 for none.
bool Fits(int32_t index) { return index >= -1 && index <= std::numeric_limits<int16_t>::max(); }

bool Decode(const proto::FlowPlan::Connection& from, int members, Connection* to) {
  const auto is_member = [members](int64_t index) { return index < members; };
  if (from.link() > static_cast<uint32_t>(LinkKind::kFromSwitch) || !is_member(from.from()) ||
      !is_member(from.to()) || !Fits(from.send_nic()) || !Fits(from.recv_nic()) ||
      !Fits(from.proxy()) || !is_member(from.proxy()) || !Fits(from.reduction())) {
    return false;
  }
  *to = {static_cast<uint16_t>(from.from()),
         static_cast<uint16_t>(from.to()),
         static_cast<LinkKind>(from.link()),
         static_cast<int16_t>(from.send_nic()),
         static_cast<int16_t>(from.recv_nic()),
         static_cast<int16_t>(from.proxy()),
         from.send_gdr(),
         from.recv_gdr(),
         static_cast<int16_t>(from.reduction()),
         from.first(),
         from.direct()};
  if (from.first() > kMaxPrimitives) return false;
  const bool switches = to->link == LinkKind::kToSwitch || to->link == LinkKind::kFromSwitch;
  if (switches != (to->reduction >= 0) || (switches && to->from != to->to)) return false;
  return (to->link != LinkKind::kNet && !switches) || (to->send_nic >= 0 && to->recv_nic >= 0);
}

// Returns true if each reduction has one connection to and one from the switches per member.
bool ReductionsFit(const Plan& plan) {
  std::map<std::pair<int16_t, uint16_t>, int> directions;  // 1: to, 2: from the switches
  for (const Connection& c : plan.connections) {
    if (c.reduction < 0) continue;
    int& known = directions[{c.reduction, c.from}];
    const int direction = c.link == LinkKind::kToSwitch ? 1 : 2;
    if ((known & direction) != 0) return false;
    known |= direction;
  }
  return std::all_of(directions.begin(), directions.end(),
                     [](const auto& entry) { return entry.second == 3; });
}

// Larger than the slots of any connection and the slices of any chunk.
constexpr int kMaxSlices = 1024;
constexpr int64_t kLargestGrain = 1 << 20;
// In bits a second: 1 MB/s and 10 TB/s.
constexpr int64_t kLeastTokenRate = 8'000'000, kMostTokenRate = 80'000'000'000'000;

// An exchange of tokens states its costs; other works do not.
bool CostsFit(const Work& work) {
  if (!ExchangesTokens(work.algorithm)) return work.start == Time() && work.rate == Bandwidth();
  return work.start >= Time() && work.start <= kMaxLaunchTime && work.channels >= 1 &&
         work.rate.bits_per_second() >= kLeastTokenRate &&
         work.rate.bits_per_second() <= kMostTokenRate;
}

bool Decode(const proto::FlowPlan::Work& from, Work* to) {
  *to = {protocol::ToEnum<Algorithm>(from.algorithm()),
         protocol::ToEnum<Protocol>(from.protocol()),
         from.channels(),
         from.warps(),
         from.slice_bytes(),
         from.slots(),
         from.launch(),
         from.slices(),
         from.slice_grain(),
         from.registered(),
         Time::Ps(from.start_ps()),
         Bandwidth::BitsPerSecond(from.rate_bits_per_second())};
  return protocol::Within(to->algorithm, AlgorithmNames().size()) &&
         protocol::Within(to->protocol, ProtocolNames().size()) && to->channels >= 0 &&
         to->warps >= 0 && to->slice_bytes >= 0 && to->slots >= 1 && to->launch >= 0 &&
         to->slices >= 0 && to->slices <= kMaxSlices && to->slice_grain >= 1 &&
         to->slice_grain <= kLargestGrain && CostsFit(*to);
}

bool Decode(const proto::FlowPlan::Order& from, std::vector<uint16_t>* to) {
  for (const uint32_t piece : from.pieces()) {
    if (piece >= static_cast<uint32_t>(from.pieces_size())) return false;
    to->push_back(static_cast<uint16_t>(piece));
  }
  return from.pieces_size() <= static_cast<int>(kMaxMembers);
}

// Returns an upper bound of the number of slices of a program of `work`.
int64_t MostSlices(const Work& work, const PatternFacts& facts) {
  if (work.slices > 0) return facts.primitives * work.slices;
  return facts.primitives + (work.slice_bytes > 0 ? facts.bytes / work.slice_bytes : 0);
}

// Reads the programs of a plan. REQUIRES: the tables of the plan are decoded.
class ProgramReader {
 public:
  ProgramReader(const proto::FlowPlan::Plan& from, Plan* to)
      : from_(from), to_(to), facts_(to->patterns.size()) {}

  bool Read() {
    const int n = from_.channel_size();
    if (from_.work_size() != n || from_.pattern_size() != n || from_.position_size() != n ||
        from_.order_size() != n || from_.base_size() != n) {
      return false;
    }
    int next = 0;
    for (const uint32_t count : from_.programs_of_member()) {
      std::vector<ChannelProgram>& programs = to_->members.emplace_back();
      if (count > static_cast<uint32_t>(n - next)) return false;
      programs.resize(count);
      for (uint32_t i = 0; i < count; ++i, ++next) {
        if (!Decode(next, &programs[i]) || !TakeOperands(programs[i])) return false;
        if (i > 0 && programs[i].work < programs[i - 1].work) return false;
      }
    }
    return next == n && static_cast<int>(to_->operands.size()) == from_.operands_size();
  }

 private:
  bool Decode(int i, ChannelProgram* program) {
    if (from_.channel(i) > kMaxChannels || from_.work(i) >= to_->works.size() ||
        from_.pattern(i) >= to_->patterns.size() || from_.order(i) < -1 ||
        from_.order(i) >= static_cast<int64_t>(to_->orders.size())) {
      return false;
    }
    *program = {.channel = static_cast<uint16_t>(from_.channel(i)),
                .work = static_cast<uint16_t>(from_.work(i)),
                .pattern = from_.pattern(i),
                .operand_begin = static_cast<uint32_t>(to_->operands.size()),
                .position = static_cast<uint16_t>(from_.position(i)),
                .order = static_cast<int16_t>(from_.order(i)),
                .base = from_.base(i)};
    const Pattern& pattern = to_->patterns[program->pattern];
    // FactsOf allocates memory per operand, so the file must have that many operands.
    const size_t left = static_cast<size_t>(from_.operands_size()) - to_->operands.size();
    if (pattern.operands > left) return false;
    std::optional<PatternFacts>& facts = facts_[program->pattern];
    if (!facts.has_value()) facts = protocol::FactsOf(pattern);
    const Work& work = to_->works[program->work];
    const bool order_fits = program->order < 0 ||
                            to_->orders[static_cast<size_t>(program->order)].size() == pattern.ring;
    return facts.has_value() && from_.position(i) < pattern.ring && order_fits &&
           program->base >= 0 &&
           program->base <= std::numeric_limits<int64_t>::max() - facts->extent &&
           MostSlices(work, *facts) <= kMaxPrimitives;
  }

  // A member receives on connections to it and sends on connections from it.
  bool TakeOperands(const ChannelProgram& program) {
    const PatternFacts& facts = *facts_[program.pattern];
    const size_t member = to_->members.size() - 1;
    for (size_t i = 0; i < facts.sends.size(); ++i) {
      const uint32_t operand = from_.operands(static_cast<int>(to_->operands.size()));
      if (operand >= to_->connections.size()) return false;
      const Connection& connection = to_->connections[operand];
      if (facts.receives[i] && connection.to != member) return false;
      if (facts.sends[i] && connection.from != member) return false;
      to_->operands.push_back(operand);
    }
    return true;
  }

  const proto::FlowPlan::Plan& from_;
  Plan* to_;
  std::vector<std::optional<PatternFacts>> facts_;  // by pattern, once a program runs it
};

bool Decode(const proto::FlowPlan::Plan& from, Plan* to) {
  to->name = from.name();
  to->works.clear();
  const int members = from.programs_of_member_size();
  if (members > static_cast<int>(kMaxMembers) || from.works_size() < 1 ||
      from.works_size() > static_cast<int>(kMaxWorks) || from.orders_size() > INT16_MAX) {
    return false;
  }
  int next = 0;  // the kernel that the next work may begin
  for (const proto::FlowPlan::Work& work : from.works()) {
    if (!Decode(work, &to->works.emplace_back())) return false;
    const int launch = to->works.back().launch;
    if (launch > next || launch < next - 1) return false;
    next = launch + 1;
  }
  for (const proto::FlowPlan::Connection& connection : from.connections()) {
    if (!Decode(connection, members, &to->connections.emplace_back())) return false;
  }
  for (const proto::FlowPlan::Pattern& pattern : from.patterns()) {
    if (!protocol::Decode(pattern, &to->patterns.emplace_back())) return false;
  }
  for (const proto::FlowPlan::Order& order : from.orders()) {
    if (!Decode(order, &to->orders.emplace_back())) return false;
  }
  if (!ReductionsFit(*to) || !ProgramReader(from, to).Read()) return false;
  const std::vector<PlanReduction> reductions = ReductionsOf(*to, PieceUnit::kSlice);
  return std::all_of(reductions.begin(), reductions.end(), IsWhole);
}

// Returns true if all NICs of the plan's connections exist.
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
  ASSIGN_OR_RETURN(const std::string content, protocol::Serialize(message, path));
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
