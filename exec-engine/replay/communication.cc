#include "exec-engine/replay/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace drydock {
Communication::Communication(HostId host, const ReplayIndex& index, const PortMap& ports,
                             const SharingCosts& sharing, Owner* owner, bool shortcut,
                             ReplicaFolding* folding, SpanningCalls* spanning)
    : index_(&index),
      owner_(owner),
      spanning_(spanning),
      host_(host),
      first_rank_(index.first_rank(host)),
      planner_(host, index, ports, sharing, shortcut, folding),
      engine_(host, ports, this),
      lone_calls_(host, ports) {
  const Workload& workload = index.workload();
  const int end = std::min(first_rank_ + ports.gpus(), workload.rank_count());
  std::vector<uint32_t> groups;
  for (int rank = first_rank_; rank < end; ++rank) {
    for (size_t role = 0; role < workload.roles.size(); ++role) {
      const int group = index.group_of(rank, static_cast<uint8_t>(role));
      if (group >= 0) groups.push_back(static_cast<uint32_t>(group));
    }
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (const uint32_t group : groups) {
    group_places_.FindOrAdd(group, static_cast<uint32_t>(groups_.size()));
    groups_.push_back({group, {}, {}});
  }
  port_states_.resize(static_cast<size_t>(2 * ports.gpus()));
}

const Op& Communication::OpOf(int gpu, uint32_t op) const {
  return index_->class_of(first_rank_ + gpu).program->ops[op];
}

CallKey Communication::KeyOf(int gpu, uint32_t op) const {
  const int rank = first_rank_ + gpu;
  return MakeCallKey(static_cast<uint32_t>(index_->group_of(rank, OpOf(gpu, op).role)),
                     index_->class_of(rank).sequence[op]);
}

Communication::GroupState* Communication::FindGroup(uint32_t group) {
  const uint32_t place = group_places_.Find(group);
  CHECK(place != group_places_.kNone);
  return &groups_[place];
}

HostPlan* Communication::FindPlan(GroupState* group, uint32_t call) {
  for (const auto& known : group->plans) {
    if (known->call == call) return known.get();
  }
  group->plans.push_back(planner_.Make({call, group->group}));
  return group->plans.back().get();
}

Communication::Call* Communication::FindCall(GroupState* group, CallKey key) const {
  for (const auto& [name, call] : group->active) {
    if (name == key) return call;
  }
  return nullptr;
}

Communication::Call* Communication::FindCall(CallKey key) const {
  return FindCall(const_cast<Communication*>(this)->FindGroup(static_cast<uint32_t>(key >> 32)),
                  key);
}

uint32_t Communication::MemberOn(const LocalPlan& plan, int gpu) {
  for (uint32_t m = 0; m < plan.members.size(); ++m) {
    if (plan.members[m].gpu == gpu) return m;
  }
  CHECK_NOTE(false, "a rank has a call of a group to which it does not belong");
  return 0;
}

const KernelLoad& Communication::Start(int gpu, uint32_t op, Time now) {
  ++counters_.calls;
  const CallKey key = KeyOf(gpu, op);
  GroupState* group = FindGroup(static_cast<uint32_t>(key >> 32));
  HostPlan* plan = FindPlan(group, OpOf(gpu, op).work);
  Call* call = FindCall(group, key);
  if (call == nullptr) call = BeginCall(group, plan, key);
  CHECK_NOTE(call->plan == &plan->plan, "the members of a group differ in the call that they make");
  const uint32_t member = MemberOn(*call->plan, gpu);
  if (call->idle && !(plan->plays_alone && plan->plan.members[member].passive)) {
    Activate(call, plan, now);
  }
  if (call->serves_every_member) {
    StartParts(call, gpu, op, now);
    return plan->plan.members[member].load;
  }
  call->arrivals[member].op = op;
  call->arrivals[member].time = now;
  ++call->arrived;
  call->last = member;
  if (call->transfer != nullptr && !LeaveEngine(call, *plan, now)) {
    engine_.Start(call->transfer, member, now);
    if (call->spans) spanning_->Arrive(key, call->plan->members[member].member, now);
  } else if (!call->idle && call->arrived == call->plan->members.size()) {
    PlayAlone(call, plan);
  }
  return plan->plan.members[member].load;
}

// The call's first member on this host arrives.
Communication::Call* Communication::BeginCall(GroupState* group, HostPlan* plan, CallKey key) {
  if (free_calls_.empty()) {
    pool_.push_back(std::make_unique<Call>());
    free_calls_.push_back(pool_.back().get());
  }
  Call* call = free_calls_.back();
  free_calls_.pop_back();
  call->key = key;
  call->plan = &plan->plan;
  call->serves_every_member = plan->serves_every_member;
  call->transfer = call->rested = nullptr;
  call->arrivals.assign(plan->plan.members.size(), {});
  call->arrived = call->ended = 0;
  call->last_end = Time::Max();
  call->drained = false;
  call->spans = spanning_ != nullptr && plan->spans;
  call->left_out = false;
  call->idle = true;
  call->holds_ports = false;
  group->active.emplace_back(key, call);
  return call;
}

// The first member arrives that may move anything.
void Communication::Activate(Call* call, HostPlan* plan, Time now) {
  call->idle = false;
  call->active_from = now;
  call->holds_ports = true;
  FinishLeftOut(now);
  if (spanning_ != nullptr) {
    const auto group = static_cast<uint32_t>(call->key >> 32);
    const size_t members = call->spans ? index_->workload().groups[group].ranks.size() : 0;
    spanning_->Begin(this, {plan->call, group}, call->key, members, now, FirstUse(plan->plan, now));
  }
  const bool clear = ClearPortsFor(plan->plan, now);
  if (clear && plan->plays_alone && plan->waits_for_all) {
    for (const uint16_t port : plan->plan.port_classes) port_states_[port].alone.push_back(call);
  } else {
    RunInEngine(call, now);
  }
}

// A member starts a call that is in the engine. Returns true if it is the last one and the call is
// played alone from now on.
bool Communication::LeaveEngine(Call* call, const HostPlan& plan, Time now) {
  if (!plan.plays_alone) return false;
  const Time first_use = FirstUse(plan.plan, call->active_from);
  const bool unmoved = now < first_use;
  const bool clear =
      ClearPorts(plan.plan.port_classes, unmoved ? first_use : FirstUse(plan.plan, now), now, call);
  if (!clear || call->arrived < call->arrivals.size()) return false;
  if (!unmoved && !(plan.waits_for_all && call->transfer->RestsSince() <= now)) return false;
  for (const uint16_t port : plan.plan.port_classes) {
    std::erase(port_states_[port].in_engine, call);
    port_states_[port].alone.push_back(call);
  }
  --counters_.detailed;
  if (unmoved) {
    engine_.Forget(call->transfer);
  } else {
    call->rested = call->transfer;
  }
  call->transfer = nullptr;
  return true;
}

// Returns true if nothing else is on the plan's ports when a call that begins now first takes them,
// after the launch of its kernel, other than calls that rest. Calls that are played alone and are
// still on the ports then move to the engine, the oldest first.
bool Communication::ClearPortsFor(const LocalPlan& plan, Time now) {
  return ClearPorts(plan.port_classes, now + plan.base, now);
}

// `besides`: a call in the engine that does not count.
bool Communication::ClearPorts(std::span<const uint16_t> classes, Time first_use, Time now,
                               const Call* besides) {
  to_move_.clear();
  for (const uint16_t port : classes) {
    for (Call* other : port_states_[port].alone) {
      const bool known = std::find(to_move_.begin(), to_move_.end(), other) != to_move_.end();
      if (other->last_end > first_use && !known) to_move_.push_back(other);
    }
  }
  for (Call* other : to_move_) RunInEngine(other, now);
  const auto rests = [&](const Call* other) {
    return other == besides || (other->transfer != nullptr && other->plan->complete &&
                                other->transfer->RestsSince() <= first_use);
  };
  return std::all_of(classes.begin(), classes.end(), [&](uint16_t port) {
    const PortState& state = port_states_[port];
    return state.other == 0 && std::all_of(state.in_engine.begin(), state.in_engine.end(), rests);
  });
}

void Communication::TakePorts(std::span<const uint16_t> classes, Time now) {
  FinishLeftOut(now);
  if (spanning_ != nullptr) spanning_->TakePorts(now);
  ClearPorts(classes, now, now);
  for (const uint16_t port : classes) ++port_states_[port].other;
}

void Communication::GivePortsBack(std::span<const uint16_t> classes) {
  if (spanning_ != nullptr) spanning_->GivePortsBack();
  for (const uint16_t port : classes) --port_states_[port].other;
}

// Moves the call to the host's engine and repeats its arrivals there. Nothing else has used its
// ports since its first arrival, so all that happened before `now` happens again. The ends that
// were reported before are replaced.
void Communication::RunInEngine(Call* call, Time now) {
  ++counters_.detailed;
  for (const uint16_t port : call->plan->port_classes) {
    std::erase(port_states_[port].alone, call);
    port_states_[port].in_engine.push_back(call);
  }
  if (call->rested != nullptr) {
    GoOnInEngine(call);
  } else {
    EnterEngine(call);
  }
  while (!engine_.idle() && engine_.next_time() < now) engine_.RunNext();
  const auto mine = [call](const Message& message) {
    return MessageTag::Of(message).call == call->key;
  };
  for (const Message& message : early_) {
    if (!mine(message)) continue;
    const MessageTag tag = MessageTag::Of(message);
    const uint32_t connection = call->plan->FindConnection(tag.connection, !tag.credit);
    engine_.OnDelivered(call->transfer, connection, message, now);
  }
  std::erase_if(early_, mine);
}

// Its last member starts where the call rested.
void Communication::GoOnInEngine(Call* call) {
  call->transfer = std::exchange(call->rested, nullptr);
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    const Arrival& arrival = call->arrivals[m];
    if (!arrival.ended) owner_->OnEndUnknown(call->plan->members[m].gpu, arrival.op);
  }
  engine_.Start(call->transfer, call->last, call->arrivals[call->last].time);
}

void Communication::EnterEngine(Call* call) {
  call->transfer = engine_.Begin(call->plan, call->key);
  call->transfer->owner = reinterpret_cast<uintptr_t>(call);
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    const Arrival& arrival = call->arrivals[m];
    if (arrival.op == kNoOp) continue;
    if (!arrival.ended) owner_->OnEndUnknown(call->plan->members[m].gpu, arrival.op);
    engine_.Start(call->transfer, m, arrival.time);
  }
}

// Returns when a member that starts now first takes ports.
Time Communication::FirstUse(const LocalPlan& plan, Time now) {
  return now + *std::min_element(plan.base_of_launch.begin(), plan.base_of_launch.end());
}

// Its ports stay taken as long as the engine would hold them.
void Communication::LeaveOut(CallKey key, Time first, const SpanningCalls::Known& known,
                             const SpanningCalls::Part& part) {
  Call* call = FindCall(key);
  CHECK(call != nullptr && call->transfer != nullptr);
  engine_.Forget(call->transfer);
  call->transfer = nullptr;
  call->left_out = true;
  call->gone = first + known.last_end;
  call->drained_at = first + part.drained;
  counters_.slices += part.slices;
  counters_.merged += part.merged;
  left_out_.push_back(call);
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    const LocalMember& member = call->plan->members[m];
    const auto at = static_cast<size_t>(member.member);
    owner_->OnOpWillEnd(member.gpu, call->arrivals[m].op, first + known.end[at],
                        first + known.ready[at]);
  }
  owner_->OnChange();
}

void Communication::PlayAfterAll(CallKey key, const SpanningCalls::Part& part) {
  Call* call = FindCall(key);
  CHECK(call != nullptr && call->left_out);
  std::erase(left_out_, call);
  call->left_out = false;
  counters_.slices -= part.slices;
  counters_.merged -= part.merged;
  if (!call->holds_ports) {
    for (const uint16_t port : call->plan->port_classes) {
      port_states_[port].in_engine.push_back(call);
    }
    call->holds_ports = true;
  }
  EnterEngine(call);
  owner_->OnChange();
}

bool Communication::IsOver(const Call& call, Time now) {
  return call.left_out && call.ended == call.arrivals.size() && call.drained_at < now &&
         call.gone < now;
}

// Lets go of calls that were left out: of their ports when nothing of them is left on this host, of
// the call itself when it cannot be played after all.
void Communication::FinishLeftOut(Time now) {
  for (size_t i = 0; i < left_out_.size();) {
    Call* call = left_out_[i];
    if (IsOver(*call, now)) {
      left_out_.erase(left_out_.begin() + static_cast<std::ptrdiff_t>(i));
      FinishCall(call);
      continue;
    }
    const bool drained = call->ended == call->arrivals.size() && call->drained_at < now;
    if (drained && call->holds_ports) ReleasePorts(call);
    ++i;
  }
}

void Communication::PlayAlone(Call* call, HostPlan* plan) {
  const Time first = call->active_from;
  Time last;
  offsets_.clear();
  for (const Arrival& arrival : call->arrivals) {
    const Time time = std::max(arrival.time, first);  // passive members may have come before
    offsets_.push_back((time - first).ps());
    last = std::max(last, time);
  }
  const auto [times, from] = call->rested != nullptr
                                 ? lone_calls_.TimesAfterRest(plan, offsets_, last)
                                 : lone_calls_.TimesFor(plan, offsets_, first, last);
  call->last_end = from + *std::max_element(times->end.begin(), times->end.end());
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    owner_->OnOpWillEnd(call->plan->members[m].gpu, call->arrivals[m].op, from + times->end[m],
                        from + times->ready[m]);
  }
}

const KernelLoad& Communication::Ended(int gpu, uint32_t op) {
  Call* call = FindCall(KeyOf(gpu, op));
  CHECK(call != nullptr);
  const uint32_t member = MemberOn(*call->plan, gpu);
  const KernelLoad& load = call->plan->members[member].load;
  if (call->serves_every_member) {
    EndParts(call, gpu);
  } else {
    call->arrivals[member].ended = true;
    ++call->ended;
  }
  const bool all = call->ended == call->arrivals.size();
  if (all && spanning_ != nullptr) spanning_->Ended(call->key);
  const bool over = call->transfer == nullptr ? !call->left_out : call->drained;
  if (all && over) FinishCall(call);
  return load;
}

// REQUIRES: the call is drained. Until then, NICs read data that the kernels of senders have
// stored.
void Communication::ReleasePorts(Call* call) {
  call->holds_ports = false;
  for (const uint16_t port : call->plan->port_classes) {
    std::erase(port_states_[port].in_engine, call);
    std::erase(port_states_[port].alone, call);
  }
}

void Communication::FinishCall(Call* call) {
  if (call->holds_ports) ReleasePorts(call);
  if (call->transfer != nullptr) engine_.GiveBack(call->transfer);
  if (call->rested != nullptr) engine_.GiveBack(call->rested);
  auto& active = FindGroup(static_cast<uint32_t>(call->key >> 32))->active;
  std::erase_if(active, [call](const auto& each) { return each.second == call; });
  free_calls_.push_back(call);
}

void Communication::OnDelivered(const Message& message, Time now) {
  const MessageTag tag = MessageTag::Of(message);
  const auto [transfer, at] = engine_.Find(message.destination_place, tag.call);
  if (transfer != nullptr) return engine_.OnDelivered(transfer, at, message, now);
  Call* call = FindCall(tag.call);
  if (call == nullptr) {
    CHECK_NOTE(tag.credit, "data for a call that no member here has started");
    early_.push_back(message);
    return;
  }
  CHECK(call->transfer != nullptr);
  const uint32_t connection = call->plan->FindConnection(tag.connection, !tag.credit);
  CHECK(connection != kElsewhere);
  engine_.OnDelivered(call->transfer, connection, message, now);
}

void Communication::OnSent(const Message& message, Time now) {
  const MessageTag tag = MessageTag::Of(message);
  if (tag.credit) return;
  const auto [transfer, at] = engine_.Find(message.source_place, tag.call);
  if (transfer != nullptr) return engine_.OnSent(transfer, at, now);
  Call* call = FindCall(tag.call);
  CHECK(call != nullptr && call->transfer != nullptr);
  engine_.OnSent(call->transfer, call->plan->FindConnection(tag.connection, false), now);
}

void Communication::OnMemberEnd(Transfer* transfer, uint32_t member, Time end, Time ready) {
  Call* call = reinterpret_cast<Call*>(transfer->owner);
  if (call->serves_every_member) return PartWillEnd(call, member, end, ready);
  if (call->spans) {
    spanning_->WillEnd(call->key, call->plan->members[member].member, end, ready);
  }
  const Arrival& arrival = call->arrivals[member];
  if (arrival.ended) return;  // before the call moved into the engine
  owner_->OnOpWillEnd(call->plan->members[member].gpu, arrival.op, end, ready);
}

void Communication::OnDrained(Transfer* transfer) {
  Call* call = reinterpret_cast<Call*>(transfer->owner);
  call->drained = true;
  if (call->spans) spanning_->Drained(this, call->key, owner_->Now());
  if (call->ended == call->arrivals.size()) FinishCall(call);
}

// A rank starts the parts of all members that it represents.
void Communication::StartParts(Call* call, int gpu, uint32_t op, Time now) {
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->plan->members[m].gpu != gpu) continue;
    call->arrivals[m].op = op;
    call->arrivals[m].time = now;
    ++call->arrived;
    engine_.Start(call->transfer, m, now);
  }
}

// The op ends with the last of its parts.
void Communication::PartWillEnd(Call* call, uint32_t member, Time end, Time ready) {
  const int gpu = call->plan->members[member].gpu;
  call->arrivals[member].part_end = end;
  call->arrivals[member].part_ready = ready;
  Time last, moved;
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->plan->members[m].gpu != gpu) continue;
    last = std::max(last, call->arrivals[m].part_end);
    moved = std::max(moved, call->arrivals[m].part_ready);
  }
  if (last < Time::Max()) owner_->OnOpWillEnd(gpu, call->arrivals[member].op, last, moved);
}

void Communication::EndParts(Call* call, int gpu) {
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->plan->members[m].gpu != gpu) continue;
    call->arrivals[m].ended = true;
    ++call->ended;
  }
}

CommunicationCounters Communication::counters() const {
  CommunicationCounters out = counters_;
  out.looked_up = lone_calls_.looked_up();
  out.played = lone_calls_.played();
  out.slices += lone_calls_.slices() + engine_.slices();
  out.merged += engine_.merged();
  return out;
}

Time Communication::EarliestArrival() const {
  Time first = Time::Max();
  for (const GroupState& group : groups_) {
    for (const auto& [key, call] : group.active) {
      if (IsOver(*call, owner_->Now())) continue;
      for (const Arrival& arrival : call->arrivals) {
        if (arrival.op != kNoOp) first = std::min(first, arrival.time);
      }
    }
  }
  return first;
}

// Without calls that FinishLeftOut would let go of: the next call may be a long time off.
void Communication::AppendState(RelativeState* out) const {
  std::vector<int64_t> let_go(port_states_.size());  // calls, by port class
  for (const GroupState& group : groups_) {
    std::vector<std::pair<CallKey, Call*>> active = group.active;
    std::erase_if(active, [&](const auto& each) {
      const Call& call = *each.second;
      if (!IsOver(call, owner_->Now())) return false;
      if (!call.holds_ports) return true;
      for (const uint16_t port : call.plan->port_classes) ++let_go[port];
      return true;
    });
    std::sort(active.begin(), active.end());  // keys differ
    out->Add(static_cast<int64_t>(active.size()));
    for (const auto& [key, call] : active) AppendCall(*call, out);
  }
  for (size_t port = 0; port < port_states_.size(); ++port) {
    const PortState& state = port_states_[port];
    out->Add(state.other + static_cast<int64_t>(state.in_engine.size()) - let_go[port]);
    out->Add(static_cast<int64_t>(state.alone.size()));
    for (const Call* call : state.alone) out->AddCall(call->key);
  }
  out->Add(static_cast<int64_t>(early_.size()));
  for (const Message& message : early_) out->AddMessage(message);
  engine_.AppendState(out);
}

void Communication::AppendCall(const Call& call, RelativeState* out) const {
  out->AddCall(call.key);
  for (uint32_t m = 0; m < call.arrivals.size(); ++m) {
    const Arrival& arrival = call.arrivals[m];
    out->Add(arrival.op != kNoOp);
    if (arrival.op == kNoOp) continue;
    out->AddOp(first_rank_ + call.plan->members[m].gpu, arrival.op);
    out->AddTime(arrival.time);
    out->Add(arrival.ended);
    out->AddTime(arrival.part_end);
    if (arrival.part_end < Time::Max()) out->AddTime(arrival.part_ready);
  }
  out->Add(call.idle);
  out->AddTime(call.last_end);
  out->Add(call.drained);
  out->Add(call.left_out);
  if (call.left_out) {
    out->Add(call.holds_ports);
    out->AddTime(call.gone);
    out->AddTime(call.drained_at);
  }
  out->Add(call.transfer != nullptr);
  if (call.transfer != nullptr) call.transfer->AppendState(out);
  out->Add(call.rested != nullptr);
  if (call.rested != nullptr) call.rested->AppendState(out);
}

Communication::Waiting Communication::DescribeWait(int gpu, uint32_t op) const {
  const Call* call = FindCall(KeyOf(gpu, op));
  if (call == nullptr) return {"an unknown call", {}};
  Waiting missing = MissingMembers(*call);
  if (!missing.ranks.empty()) return missing;
  if (call->transfer == nullptr) return {"other members, which have not finished", {}};
  return MissingData(*call, call->plan->members[MemberOn(*call->plan, gpu)].member);
}

// The ranks of this host that have not started the call.
Communication::Waiting Communication::MissingMembers(const Call& call) const {
  const std::vector<int>& ranks =
      index_->workload().groups[static_cast<uint32_t>(call.key >> 32)].ranks;
  Waiting out;
  for (uint32_t m = 0; m < call.arrivals.size(); ++m) {
    if (call.arrivals[m].op != kNoOp) continue;
    const int rank = ranks[static_cast<size_t>(call.plan->members[m].member)];
    out.text += fmt::format("{}rank {}", out.ranks.empty() ? "" : ", ", rank);
    out.ranks.push_back(rank);
  }
  if (!out.ranks.empty()) out.text += ", which never started it";
  return out;
}

// The peers for whose data or slots `member` waits in the engine.
Communication::Waiting Communication::MissingData(const Call& call, int member) const {
  const std::vector<int>& ranks =
      index_->workload().groups[static_cast<uint32_t>(call.key >> 32)].ranks;
  Waiting out;
  for (const Transfer::Waiting& waiting : call.transfer->WaitingOn()) {
    if (waiting.member != member) continue;
    const int rank = ranks[static_cast<size_t>(waiting.peer)];
    const bool summed = waiting.peer == member;
    if (!summed) out.ranks.push_back(rank);
    if (!out.text.empty()) continue;
    out.text = summed ? "the other members' data, which the switches sum"
                      : fmt::format("{} rank {}", waiting.for_data ? "data from" : "room at", rank);
  }
  if (out.text.empty()) out.text = "other members, which have not finished";
  std::sort(out.ranks.begin(), out.ranks.end());
  out.ranks.erase(std::unique(out.ranks.begin(), out.ranks.end()), out.ranks.end());
  return out;
}

}  // namespace drydock
