#include "exec-engine/replay/communication.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

// So often a call is played before it is asked whether only its last arrival matters.
constexpr size_t kManyPatterns = 4;

}  // namespace

bool WaitsForAll(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kReduceScatter || type == CollectiveType::kAllToAll;
}

// An engine whose only transfer starts at its first arrival, time 0.
class Communication::Alone final : private TransferEngine::Listener {
 public:
  Alone(HostId host, const PortMap& ports) : engine_(host, ports, this) {}

  KnownTimes::Times Play(const LocalPlan& plan, const KnownTimes::Offsets& offsets) {
    engine_.Reset();
    const int64_t slices_before = engine_.slices();
    times_.end.assign(offsets.size(), Time());
    times_.ready.assign(offsets.size(), Time());
    Transfer* transfer = engine_.Begin(&plan, 0);
    for (uint32_t m = 0; m < offsets.size(); ++m) {
      engine_.Start(transfer, m, Time::Ps(offsets[m]));
    }
    while (!engine_.idle()) engine_.RunNext();
    engine_.GiveBack(transfer);
    const int64_t last = *std::max_element(offsets.begin(), offsets.end());
    for (const Time end : times_.end) {
      CHECK_NOTE(end.ps() >= last, "a member is done before the last has started, or never");
    }
    times_.slices = engine_.slices() - slices_before;
    return times_;
  }

 private:
  void OnMemberEnd(Transfer*, uint32_t member, Time end, Time ready) override {
    times_.end[member] = end;
    times_.ready[member] = ready;
  }
  uint32_t OnMessage(const Message&, uint32_t) override { return 0; }
  void OnDrained(Transfer*) override {}

  TransferEngine engine_;
  KnownTimes::Times times_;
};

Communication::Communication(HostId host, const ReplayIndex& index, const PortMap& ports,
                             const SharingCosts& sharing, Owner* owner, bool shortcut,
                             ReplicaFolding* folding)
    : host_(host),
      index_(index),
      ports_(ports),
      sharing_(sharing),
      owner_(owner),
      shortcut_(shortcut),
      folding_(folding),
      first_rank_(index.first_rank(host)),
      engine_(host, ports, this),
      alone_(std::make_unique<Alone>(host, ports)) {
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

Communication::~Communication() = default;

const Op& Communication::OpOf(int gpu, uint32_t op) const {
  return index_.class_of(first_rank_ + gpu).program->ops[op];
}

CallKey Communication::KeyOf(int gpu, uint32_t op) const {
  const int rank = first_rank_ + gpu;
  return MakeCallKey(static_cast<uint32_t>(index_.group_of(rank, OpOf(gpu, op).role)),
                     index_.class_of(rank).sequence[op]);
}

Communication::GroupState* Communication::FindGroup(uint32_t group) {
  const uint32_t place = group_places_.Find(group);
  CHECK(place != group_places_.kNone);
  return &groups_[place];
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
  CHECK_NOTE(false, "a rank communicates in a group that it is not in");
  return 0;
}

const KernelLoad& Communication::Start(int gpu, uint32_t op, Time now) {
  ++counters_.calls;
  const CallKey key = KeyOf(gpu, op);
  GroupState* group = FindGroup(static_cast<uint32_t>(key >> 32));
  KnownPlan* known = FindPlan(group, OpOf(gpu, op).work);
  Call* call = FindCall(group, key);
  if (call == nullptr) call = BeginCall(group, known, key, now);
  CHECK_NOTE(call->plan == &known->plan, "members of one call ask for different things");
  const uint32_t member = MemberOn(*call->plan, gpu);
  if (call->all_parts) {
    StartParts(call, gpu, op, now);
    return known->plan.members[member].load;
  }
  call->arrivals[member].op = op;
  call->arrivals[member].time = now;
  ++call->arrived;
  if (call->transfer != nullptr) {
    engine_.Start(call->transfer, member, now);
  } else if (call->arrived == call->plan->members.size()) {
    PlayAlone(call, known);
  }
  return known->plan.members[member].load;
}

// The first member here.
Communication::Call* Communication::BeginCall(GroupState* group, KnownPlan* known, CallKey key,
                                              Time now) {
  if (free_calls_.empty()) {
    pool_.push_back(std::make_unique<Call>());
    free_calls_.push_back(pool_.back().get());
  }
  Call* call = free_calls_.back();
  free_calls_.pop_back();
  call->key = key;
  call->plan = &known->plan;
  call->all_parts = known->all_parts;
  call->transfer = nullptr;
  call->arrivals.assign(known->plan.members.size(), {});
  call->arrived = call->ended = 0;
  call->last_end = Time::Max();
  call->drained = false;
  group->active.emplace_back(key, call);
  const bool clear = ClearWayFor(known->plan, now);
  if (clear && known->can_shortcut) {
    for (const uint16_t port : known->plan.port_classes) port_states_[port].alone.push_back(call);
  } else {
    RunInEngine(call, now);
  }
  return call;
}

// True if nothing else will be on the plan's ports when a call that begins now first takes them,
// which is after its kernel's launch. Calls that are played on their own and will be are moved to
// the engine, the oldest first.
bool Communication::ClearWayFor(const LocalPlan& plan, Time now) {
  return ClearPorts(plan.port_classes, now + plan.base, now);
}

bool Communication::ClearPorts(std::span<const uint16_t> classes, Time first_use, Time now) {
  bool clear = true;
  in_the_way_.clear();
  for (const uint16_t port : classes) {
    const PortState& state = port_states_[port];
    if (state.in_engine > 0) clear = false;
    for (Call* other : state.alone) {
      const bool known =
          std::find(in_the_way_.begin(), in_the_way_.end(), other) != in_the_way_.end();
      if (other->last_end > first_use && !known) in_the_way_.push_back(other);
    }
  }
  for (Call* other : in_the_way_) RunInEngine(other, now);
  return clear && in_the_way_.empty();
}

void Communication::TakePorts(std::span<const uint16_t> classes, Time now) {
  ClearPorts(classes, now, now);
  for (const uint16_t port : classes) ++port_states_[port].in_engine;
}

void Communication::GivePortsBack(std::span<const uint16_t> classes) {
  for (const uint16_t port : classes) --port_states_[port].in_engine;
}

// From here on the call runs in the host's engine. Its arrivals so far are replayed there: nothing
// else has touched its ports since the first, so what happened before `now` happens again, and the
// ends told before are replaced.
void Communication::RunInEngine(Call* call, Time now) {
  ++counters_.detailed;
  for (const uint16_t port : call->plan->port_classes) {
    std::erase(port_states_[port].alone, call);
    ++port_states_[port].in_engine;
  }
  call->transfer = engine_.Begin(call->plan, call->key);
  call->transfer->owner = reinterpret_cast<uintptr_t>(call);
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    const Arrival& arrival = call->arrivals[m];
    if (arrival.op == kNoOp) continue;
    if (!arrival.ended) owner_->OnEndUnknown(call->plan->members[m].gpu, arrival.op);
    engine_.Start(call->transfer, m, arrival.time);
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

void Communication::PlayAlone(Call* call, KnownPlan* known) {
  Time first = Time::Max(), last;
  for (const Arrival& arrival : call->arrivals) {
    first = std::min(first, arrival.time);
    last = std::max(last, arrival.time);
  }
  offsets_.clear();
  for (const Arrival& arrival : call->arrivals) offsets_.push_back((arrival.time - first).ps());
  const auto [times, from] = TimesFor(known, first, last);
  call->last_end = from + *std::max_element(times->end.begin(), times->end.end());
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    owner_->OnOpWillEnd(call->plan->members[m].gpu, call->arrivals[m].op, from + times->end[m],
                        from + times->ready[m]);
  }
}

// Counted as if every host played for itself, so that it says the same for any number of processes.
Communication::Answer Communication::TimesFor(KnownPlan* known, Time first, Time last) {
  const auto it = known->times.find(offsets_);
  if (it != known->times.end()) {
    ++counters_.looked_up;
    return {it->second, first};
  }
  const auto play = [&](const KnownTimes::Offsets& offsets) {
    return alone_->Play(known->plan, offsets);
  };
  if (known->times.size() >= kManyPatterns) {
    const auto* rule = known->known->FromLastArrival(known->plan.members.size(), play);
    if (rule != nullptr) {
      ++counters_.looked_up;
      return {rule, last};
    }
  }
  const KnownTimes::Times& times = known->known->Find(offsets_, play);
  known->times.emplace(offsets_, &times);
  ++counters_.played;
  counters_.slices += times.slices;
  return {&times, first};
}

const KernelLoad& Communication::Ended(int gpu, uint32_t op) {
  Call* call = FindCall(KeyOf(gpu, op));
  CHECK(call != nullptr);
  const uint32_t member = MemberOn(*call->plan, gpu);
  const KernelLoad& load = call->plan->members[member].load;
  if (call->all_parts) {
    EndParts(call, gpu);
  } else {
    call->arrivals[member].ended = true;
    ++call->ended;
  }
  const bool all = call->ended == call->arrivals.size();
  if (all && (call->transfer == nullptr || call->drained)) FinishCall(call);
  return load;
}

// Not before the call is drained: NICs still read what the kernels of its senders left behind.
void Communication::ReleasePorts(Call* call) {
  for (const uint16_t port : call->plan->port_classes) {
    if (call->transfer != nullptr) {
      --port_states_[port].in_engine;
    } else {
      std::erase(port_states_[port].alone, call);
    }
  }
}

void Communication::FinishCall(Call* call) {
  ReleasePorts(call);
  if (call->transfer != nullptr) engine_.GiveBack(call->transfer);
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
  if (call->all_parts) return PartWillEnd(call, member, end, ready);
  const Arrival& arrival = call->arrivals[member];
  if (arrival.ended) return;  // it had, before the call came to share its ports
  owner_->OnOpWillEnd(call->plan->members[member].gpu, arrival.op, end, ready);
}

void Communication::OnDrained(Transfer* transfer) {
  Call* call = reinterpret_cast<Call*>(transfer->owner);
  call->drained = true;
  if (call->ended == call->arrivals.size()) FinishCall(call);
}

CommunicationCounters Communication::counters() const {
  CommunicationCounters out = counters_;
  out.slices += engine_.slices();
  out.merged += engine_.merged();
  return out;
}

Communication::Waiting Communication::WhatItWaitsFor(int gpu, uint32_t op) const {
  const Call* call = FindCall(KeyOf(gpu, op));
  if (call == nullptr) return {"nothing that is known", {}};
  const std::vector<int>& ranks =
      index_.workload().groups[static_cast<uint32_t>(call->key >> 32)].ranks;
  Waiting out;
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->arrivals[m].op != kNoOp) continue;
    const int rank = ranks[static_cast<size_t>(call->plan->members[m].member)];
    out.text += fmt::format("{}rank {}", out.ranks.empty() ? "" : ", ", rank);
    out.ranks.push_back(rank);
  }
  if (!out.ranks.empty()) {
    out.text += ", which never started it";
    return out;
  }
  const int me = call->plan->members[MemberOn(*call->plan, gpu)].member;
  if (call->transfer == nullptr) return {"other members, which have not finished", {}};
  for (const Transfer::Waiting& waiting : call->transfer->WaitingOn()) {
    if (waiting.member != me) continue;
    const int rank = ranks[static_cast<size_t>(waiting.peer)];
    const bool summed = waiting.peer == me;
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
