#include "exec-engine/transfer/local_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/model/calls/slices.h"
#include "core/model/fabric/flow_name.h"
#include "exec-engine/host/step_cost.h"
#include "exec-engine/transfer/connection_ends.h"
#include "exec-engine/transfer/link_shares.h"

namespace drydock {
namespace {

class Builder {
 public:
  Builder(const Plan& plan, const GpuSpec& gpu, const PortMap& ports, int host, uint32_t group,
          std::span<const int> host_of_member, std::span<const int> gpu_of_member,
          const Aggregation& aggregation)
      : plan_(plan),
        gpu_(gpu),
        ports_(ports),
        host_(host),
        group_(group),
        host_of_member_(host_of_member),
        gpu_of_member_(gpu_of_member),
        ends_(ports, host, host_of_member, gpu_of_member, aggregation) {}

  LocalPlan Build() {
    SetWorks();
    local_.assign(plan_.connections.size(), kElsewhere);
    receiving_.assign(plan_.connections.size(), kElsewhere);
    for (size_t m = 0; m < plan_.members.size(); ++m) {
      if (host_of_member_[m] == host_) AddMember(static_cast<int>(m));
    }
    Finish();
    return std::move(out_);
  }

 private:
  void SetWorks() {
    out_.plan = &plan_;
    out_.latency = ports_.latency();
    out_.clear_to_send_bytes = std::max<int64_t>(gpu_.collectives.clear_to_send.count(), 1);
    for (const Work& work : plan_.works) {
      const CollectiveCosts::Protocol& costs = CostsOf(work, gpu_.collectives);
      const int64_t warps = std::max(work.warps, 1);
      out_.base_of_launch.resize(static_cast<size_t>(work.launch) + 1);
      Time& base = out_.base_of_launch.back();
      base = std::max(base, work.start + costs.base + costs.base_per_warp * warps);
      LocalWork& local = out_.works.emplace_back();
      local.step = costs.step;
      local.net_slice = costs.net_slice;
      local.proxy = costs.proxy;
      local.hop = costs.hop;
      local.planned = &work;
      local.slots = static_cast<uint32_t>(std::max(work.slots, 1));
      out_.max_slots = std::max(out_.max_slots, local.slots);
      local.pass_bytes = costs.pass.count() * warps;
      local.pass_time = costs.pass_time;
      local.pass_store = costs.pass_store;
      // The tables of NVLS trees over 2 and 4 hosts leave no time for that.
      local.gathers_together = work.algorithm == Algorithm::kNvls;
    }
    out_.base = out_.base_of_launch.front();
  }

  void AddMember(int member) {
    const auto index = static_cast<uint32_t>(out_.members.size());
    const auto& programs = plan_.members[static_cast<size_t>(member)];
    out_.members.push_back({member, gpu_of_member_[static_cast<size_t>(member)],
                            static_cast<uint32_t>(programs.size()),
                            std::vector<uint32_t>(out_.base_of_launch.size(), 0)});
    last_batch_.clear();
    for (const ChannelProgram& program : programs) AddRunner(index, program);
  }

  void AddRunner(uint32_t member, const ChannelProgram& program) {
    const Pattern& pattern = plan_.patterns[program.pattern];
    const auto index = static_cast<uint32_t>(out_.runners.size());
    const int of = out_.members[member].member;
    LocalRunner runner;
    runner.member = member;
    runner.work = program.work;
    runner.step_begin = StepsOf(program);
    runner.operand_begin = static_cast<uint32_t>(out_.operands.size());
    runner.batch = BatchOf(program, index);
    runner.start = StepCursor(pattern, program.position);
    for (uint32_t i = 0; i < pattern.operands; ++i) {
      out_.operands.push_back(LocalIndex(plan_.operands[program.operand_begin + i], of, program));
    }
    out_.runners.push_back(runner);
    ForEachSize(pattern, program.position, [&](const Step& step, int64_t bytes, int64_t times) {
      Count(step, index, SliceCount(plan_.works[program.work], bytes / step.merged) * times);
    });
  }

  const Connection& OperandOf(const ChannelProgram& program, uint32_t operand) const {
    return plan_.connections[plan_.operands[program.operand_begin + operand]];
  }

  // A letter of Handling for each operand of the program; empty if none is direct.
  std::string HandlingsOf(const ChannelProgram& program) const {
    std::string handling;
    bool any = false;
    for (uint32_t i = 0; i < plan_.patterns[program.pattern].operands; ++i) {
      const Connection& c = OperandOf(program, i);
      handling += static_cast<char>(HandlingOf(c, plan_.works[program.work].algorithm));
      any |= c.direct;
    }
    return any ? handling : "";
  }

  // Returns the index of the first step of the program's pattern, with the costs of its work. Makes
  // the steps on first use.
  uint32_t StepsOf(const ChannelProgram& program) {
    const std::string handling = HandlingsOf(program);
    const auto [entry, added] = steps_.emplace(std::tuple(program.pattern, program.work, handling),
                                               static_cast<uint32_t>(out_.steps.size()));
    if (!added) return entry->second;
    const Work& work = plan_.works[program.work];
    for (const Step& step : plan_.patterns[program.pattern].steps) {
      LocalStep local = {step.receive, step.send, step.store, step.joined, step.merged, {}};
      if (out_.works[program.work].pass_bytes == 0) {
        local.cost = CostOf(step, work, gpu_, handling);
      }
      out_.steps.push_back(local);
    }
    return entry->second;
  }

  // Adds `runner` to the batch of the present member's program. Returns the batch.
  uint32_t BatchOf(const ChannelProgram& program, uint32_t runner) {
    const auto next = static_cast<uint32_t>(out_.batches.size());
    const auto [last, none] = last_batch_.try_emplace(program.channel, program.work, next);
    auto& [work, batch] = last->second;
    if (none || work != program.work) {
      LocalBatch& added = out_.batches.emplace_back();
      added.launch = static_cast<uint32_t>(plan_.works[program.work].launch);
      added.first = none || out_.batches[batch].launch != added.launch;
      if (!added.first) out_.batches[batch].next = next;
      work = program.work;
      batch = next;
    }
    out_.batches[batch].runners.push_back(runner);
    ++out_.members.back().runners_of_launch[out_.batches[batch].launch];
    return batch;
  }

  // Counts `slices` of a step at the ends of its connections.
  void Count(const Step& step, uint32_t index, int64_t slices) {
    LocalRunner& runner = out_.runners[index];
    runner.slices += slices;
    for (const uint32_t c : out_.OperandsOf(runner, step.receive)) {
      LocalConnection& connection = out_.connections[c];
      connection.merged = std::max(connection.merged, step.merged);
      Own(&connection.receiver, index);
      if (connection.link == LinkKind::kNvls && step.reduce) connection.contribution = true;
      connection.received += static_cast<uint32_t>(slices);
    }
    for (const uint32_t c : out_.OperandsOf(runner, step.send)) {
      LocalConnection& connection = out_.connections[c];
      connection.merged = std::max(connection.merged, step.merged);
      Own(&connection.sender, index);
      connection.sent += static_cast<uint32_t>(slices);
      if (connection.remote_host >= 0) out_.net_sends += static_cast<uint32_t>(slices);
    }
  }

  // Merged slices within the window (Merging::kWithinWindow) fill the slots of the slices that they
  // represent. Larger ones fill one slot each.
  static void LimitSlots(LocalConnection* connection) {
    const uint32_t fewer = connection->slots / connection->merged;
    if (fewer >= 2) connection->slots = fewer;
  }

  static void Own(uint32_t* end, uint32_t runner) {
    CHECK_NOTE(*end == kElsewhere || *end == runner,
               "two programs use the same end of a connection");
    *end = runner;
  }

  // Returns this host's index of a member's end of a plan connection. Makes it on first use. The
  // two ends of a connection inside the host are one, unless NICs are between them.
  uint32_t LocalIndex(uint32_t plan_connection, int member, const ChannelProgram& program) {
    const Connection& c = plan_.connections[plan_connection];
    const bool sends = c.from == member;
    const bool apart = c.link == LinkKind::kNet && ends_.Inside(c);
    uint32_t& index = (apart && !sends ? receiving_ : local_)[plan_connection];
    if (index != kElsewhere) return index;
    index = AddConnection(plan_connection, sends, program.work,
                          FlowOfConnection(group_, c.from, c.to, program.channel));
    const uint32_t other = (apart && sends ? receiving_ : local_)[plan_connection];
    if (apart && other != kElsewhere) {
      out_.connections[index].other_end = other;
      out_.connections[other].other_end = index;
    }
    return index;
  }

  uint32_t AddConnection(uint32_t plan_connection, bool sends, uint16_t work, uint32_t flow) {
    const Connection& c = plan_.connections[plan_connection];
    LocalConnection connection;
    connection.link = c.link;
    connection.work = work;
    connection.slots = out_.works[work].slots;
    connection.flow = flow;
    connection.plan_connection = plan_connection;
    connection.first = c.first;
    ends_.Resolve(c, sends, &connection);
    out_.connections.push_back(connection);
    return static_cast<uint32_t>(out_.connections.size()) - 1;
  }

  // Joins a member's two connections with the switches. A member that sends nothing still tells the
  // switches that it has room for the sum, so it needs the connection to them.
  void JoinSwitchConnections() {
    std::map<std::pair<int16_t, uint16_t>, uint32_t> to_switch;  // by reduction and member
    for (uint32_t c = 0; c < plan_.connections.size(); ++c) {
      const Connection& to = plan_.connections[c];
      if (to.link == LinkKind::kToSwitch) to_switch[{to.reduction, to.from}] = c;
    }
    if (to_switch.empty()) return;
    for (uint32_t out = 0; out < out_.connections.size(); ++out) {
      if (out_.connections[out].link != LinkKind::kFromSwitch) continue;
      const Connection& sums = plan_.connections[out_.connections[out].plan_connection];
      const uint32_t to = to_switch.at({sums.reduction, sums.from});
      if (local_[to] == kElsewhere) {
        local_[to] = AddConnection(to, /*sends=*/true, out_.connections[out].work,
                                   out_.connections[out].flow);
      }
      out_.connections[out].to_switch = local_[to];
      out_.connections[local_[to]].from_switch = out;
    }
    for (LocalConnection& in : out_.connections) {
      if (in.link != LinkKind::kToSwitch) continue;
      in.pieces = in.first + in.sent;
      if (in.from_switch == kElsewhere) continue;
      const LocalConnection& sums = out_.connections[in.from_switch];
      in.pieces = std::max(in.pieces, sums.first + sums.received);
    }
  }

  void Finish() {
    JoinSwitchConnections();
    out_.complete = out_.members.size() == plan_.members.size();
    for (LocalConnection& connection : out_.connections) {
      LimitSlots(&connection);
      out_.meets_proxy |= connection.remote_host >= 0;
      if (connection.remote_host >= 0 || connection.link == LinkKind::kShared) {
        out_.complete = false;
      }
      ports_.AddClasses(connection.path, &out_.port_classes);
      PortPath dma;
      dma.out = connection.gpu_dma;
      ports_.AddClasses(dma, &out_.port_classes);
      CHECK_NOTE(connection.remote_host >= 0 || connection.sent == connection.received,
                 "a host does not receive all slices that it sends to itself: " + plan_.name);
    }
    ShareLinks(ports_, gpu_.collectives.several_peers, &out_);
    ShareNics(ports_, &out_);
    if (out_.complete) FindPassive();
    std::vector<uint16_t>& classes = out_.port_classes;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    out_.by_plan_connection = IndexTable<uint32_t>(out_.connections.size());
    for (uint32_t i = 0; i < out_.connections.size(); ++i) {
      out_.by_plan_connection.FindOrAdd(out_.connections[i].plan_connection, i);
    }
  }

  void FindPassive() {
    const bool one = out_.base_of_launch.size() == 1;
    for (LocalMember& member : out_.members) member.passive = one && member.runners > 0;
    for (const LocalRunner& runner : out_.runners) {
      if (!out_.batches[runner.batch].first) continue;  // waits for another runner of the member
      const bool receives =
          !runner.start.done() &&
          out_.steps[runner.step_begin + runner.start.step_index()].receive.count > 0;
      if (!receives) out_.members[runner.member].passive = false;
    }
  }

  const Plan& plan_;
  const GpuSpec& gpu_;
  const PortMap& ports_;
  const int host_;
  const uint32_t group_;
  std::span<const int> host_of_member_, gpu_of_member_;
  const ConnectionEnds ends_;
  std::vector<uint32_t> local_;      // by plan connection
  std::vector<uint32_t> receiving_;  // by plan connection: the receiving end if the ends are apart
  // By pattern, work and letters of Handling.
  std::map<std::tuple<uint32_t, uint32_t, std::string>, uint32_t> steps_;
  std::map<uint16_t, std::pair<uint16_t, uint32_t>>
      last_batch_;  // of a member, by channel: its work
  LocalPlan out_;
};

}  // namespace

bool LocalPlan::AllPairsMeet() const {
  const size_t count = members.size();
  std::vector<bool> waits(count * count);  // [member * count + other]
  for (const LocalConnection& c : connections) {
    if (c.sender == kElsewhere || c.receiver == kElsewhere || c.sent == 0) continue;
    const size_t from = runners[c.sender].member, to = runners[c.receiver].member;
    waits[to * count + from] = true;
    if (c.sent > c.slots) waits[from * count + to] = true;
  }
  for (size_t m = 0; m < count; ++m) {
    for (size_t other = 0; other < count; ++other) {
      if (other != m && !waits[m * count + other]) return false;
    }
  }
  return true;
}

uint32_t LocalPlan::FindConnection(uint32_t plan_connection, bool receives) const {
  const uint32_t place = by_plan_connection.Find(plan_connection);
  if (place == by_plan_connection.kNone) return kElsewhere;
  const LocalConnection& found = connections[place];
  const bool is_other = found.other_end != kElsewhere && (found.receiver != kElsewhere) != receives;
  return is_other ? found.other_end : place;
}

std::vector<int64_t> WaysOf(const LocalPlan& plan, const PortMap& ports) {
  std::vector<int64_t> out;
  std::map<PortId, int64_t> numbers;
  const auto add = [&](PortId port) {
    if (port == kNoPort) return out.push_back(-1);
    const auto [entry, added] = numbers.try_emplace(port, static_cast<int64_t>(numbers.size()));
    out.push_back(entry->second);
    if (added) out.push_back(static_cast<int64_t>(ports.cost(port).scaled()));
  };
  for (const LocalConnection& c : plan.connections) {
    add(c.path.out);
    for (const PortId port : c.path.between) add(port);
    add(c.path.in);
    out.push_back(static_cast<int64_t>(c.crossing.scaled()));
  }
  return out;
}

LocalPlan MakeLocalPlan(const Plan& plan, const GpuSpec& gpu, const PortMap& ports, int host,
                        uint32_t group, std::span<const int> host_of_member,
                        std::span<const int> gpu_of_member, const Aggregation& aggregation) {
  Builder builder(plan, gpu, ports, host, group, host_of_member, gpu_of_member, aggregation);
  return builder.Build();
}

}  // namespace drydock
