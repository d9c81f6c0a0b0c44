// The communication calls of one host's ranks: finds which call of which communicator an op is,
// runs it in the host's TransferEngine, and says when each member's kernel ends.
//
// A call whose members all live here, and in which no member can finish before the last has
// started (WaitsForAll), is not run in the engine at first.
// When its last member arrives it is played in an engine of its own from the first arrival, or
// looked up: the same plan with the same offsets between arrivals takes the same times, here and on
// every host that is like this one (known_times.h). That is
// exact as long as no other call takes the same GPUs' ports before it ends. When one may, the call
// is moved into the host's engine with its arrivals, caught up to now, and goes on there: the
// timeline is the same to the picosecond as with the shortcut switched off.
//
// Not thread-safe; one per host.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_COMMUNICATION_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_COMMUNICATION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/containers/hash.h"
#include "core/containers/index_table.h"
#include "core/model/sharing_costs.h"
#include "exec-engine/folding/replica_folding.h"
#include "exec-engine/index/known_times.h"
#include "exec-engine/index/replay_index.h"
#include "exec-engine/transfer/local_plan.h"
#include "exec-engine/transfer/transfer_engine.h"

namespace drydock {

// True if no member can be done before the last has started.
bool WaitsForAll(CollectiveType type);

struct CommunicationCounters {
  int64_t calls = 0;      // members' ops
  int64_t looked_up = 0;  // whole calls whose times were known
  int64_t played = 0;     // whole calls played on their own
  int64_t detailed = 0;   // whole calls (their part here) run in the host's engine
  int64_t slices = 0;
  int64_t merged = 0;  // slices that NCCL has, for which fewer were moved (merged_loops.h)

  // Of so many hosts that are alike.
  CommunicationCounters operator*(int64_t hosts) const {
    return {calls * hosts,    looked_up * hosts, played * hosts,
            detailed * hosts, slices * hosts,    merged * hosts};
  }
  CommunicationCounters& operator+=(const CommunicationCounters& other) {
    calls += other.calls;
    looked_up += other.looked_up;
    played += other.played;
    detailed += other.detailed;
    slices += other.slices;
    merged += other.merged;
    return *this;
  }
};

class Communication final : private TransferEngine::Listener {
 public:
  // The replay above: told when ops will end.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnOpWillEnd(int gpu, uint32_t op, Time end, Time ready) = 0;
    // The end told before does not hold any more; another will be told.
    virtual void OnEndUnknown(int gpu, uint32_t op) = 0;
    virtual uint32_t OnMessage(const Message& message, uint32_t folded_connection) = 0;  // route
  };

  // All outlive this. `sharing` is that of the host's GPUs; `shortcut` = play calls inside the host
  // on their own, as above. `folding`: the host stands for others as well; null: for itself.
  Communication(HostId host, const ReplayIndex& index, const PortMap& ports,
                const SharingCosts& sharing, Owner* owner, bool shortcut, ReplicaFolding* folding);
  ~Communication() override;

  // The op of the rank on `gpu` starts, and, later, has ended. What its kernel takes of the GPU.
  const KernelLoad& Start(int gpu, uint32_t op, Time now);
  const KernelLoad& Ended(int gpu, uint32_t op);
  void OnDelivered(const Message& message, Time now);
  void OnSent(const Message& message, Time now);

  // Something else takes ports of these classes from now on, until it gives them back; and takes
  // them. What was told of calls' ends may not hold any more.
  void TakePorts(std::span<const uint16_t> classes, Time now);
  void GivePortsBack(std::span<const uint16_t> classes);
  Time Cross(const Way& way, Time from, int64_t bytes) {
    return engine_.ports().Cross(way, from, bytes);
  }

  bool idle() const { return engine_.idle(); }
  Time next_time() const { return engine_.next_time(); }
  void RunNext() { engine_.RunNext(); }

  CommunicationCounters counters() const;
  // For an op that started and never ended: "rank 3, which never started it" and the like; and for
  // which ranks.
  struct Waiting {
    std::string text;
    std::vector<int> ranks;
  };
  Waiting WhatItWaitsFor(int gpu, uint32_t op) const;

 private:
  struct Arrival {
    uint32_t op = kNoOp;
    Time time;
    bool ended = false;
    Time part_end = Time::Max(), part_ready;  // of a part that is played for another
  };
  struct Call {
    CallKey key = 0;
    const LocalPlan* plan = nullptr;
    bool all_parts = false;
    Transfer* transfer = nullptr;   // null while played on its own
    std::vector<Arrival> arrivals;  // by local member
    uint32_t arrived = 0, ended = 0;
    Time last_end = Time::Max();  // of a call played on its own, once its last member is here
    bool drained = false;
  };
  struct KnownPlan {
    uint32_t call = 0;
    LocalPlan plan;
    bool can_shortcut = false;
    bool all_parts = false;               // several members share a GPU (replica_folding.h)
    KnownTimes::OfPlan* known = nullptr;  // what all hosts know, where it can be short cut
    // What was asked for here, by arrival offsets.
    std::unordered_map<KnownTimes::Offsets, const KnownTimes::Times*, RangeHash> times;
  };
  // A communicator with members here.
  struct GroupState {
    uint32_t group = 0;
    std::vector<std::unique_ptr<KnownPlan>> plans;
    std::vector<std::pair<CallKey, Call*>> active;
  };

  GroupState* FindGroup(uint32_t group);
  const GroupState* FindGroup(uint32_t group) const {
    return const_cast<Communication*>(this)->FindGroup(group);
  }
  const Op& OpOf(int gpu, uint32_t op) const;
  CallKey KeyOf(int gpu, uint32_t op) const;
  KnownPlan* FindPlan(GroupState* group, uint32_t call);
  void Fold(const Workload::Use& use, KnownPlan* known);
  void StartParts(Call* call, int gpu, uint32_t op, Time now);
  void PartWillEnd(Call* call, uint32_t member, Time end, Time ready);
  void EndParts(Call* call, int gpu);
  Call* FindCall(GroupState* group, CallKey key) const;
  Call* FindCall(CallKey key) const;
  Call* BeginCall(GroupState* group, KnownPlan* known, CallKey key, Time now);
  bool ClearWayFor(const LocalPlan& plan, Time now);
  bool ClearPorts(std::span<const uint16_t> classes, Time first_use, Time now);
  void RunInEngine(Call* call, Time now);
  void PlayAlone(Call* call, KnownPlan* known);
  // The times of a call with arrivals so far apart (`offsets_`), and from which arrival they count.
  struct Answer {
    const KnownTimes::Times* times = nullptr;
    Time from;
  };
  Answer TimesFor(KnownPlan* known, Time first, Time last);
  void ReleasePorts(Call* call);
  void FinishCall(Call* call);
  static uint32_t MemberOn(const LocalPlan& plan, int gpu);

  void OnMemberEnd(Transfer* transfer, uint32_t member, Time end, Time ready) override;
  uint32_t OnMessage(const Message& message, uint32_t folded_connection) override {
    return owner_->OnMessage(message, folded_connection);
  }
  void OnDrained(Transfer* transfer) override;

  class Alone;  // listener of the engine in which calls are played on their own

  const HostId host_;
  const ReplayIndex& index_;
  const PortMap& ports_;
  const SharingCosts& sharing_;
  Owner* owner_;
  const bool shortcut_;
  ReplicaFolding* folding_;
  const int first_rank_;  // of this host
  TransferEngine engine_;
  std::unique_ptr<Alone> alone_;
  std::vector<GroupState> groups_;
  IndexTable<uint32_t> group_places_;  // of groups, in groups_
  struct PortState {
    int in_engine = 0;         // calls that take the port in the engine
    std::vector<Call*> alone;  // calls on the port that are played on their own, oldest first
  };
  std::vector<PortState> port_states_;  // by port class (LocalPlan)
  std::vector<std::unique_ptr<Call>> pool_;
  std::vector<Call*> free_calls_;
  std::vector<Message> early_;     // for calls that no member here has started yet
  std::vector<int64_t> offsets_;   // scratch
  std::vector<Call*> in_the_way_;  // scratch
  CommunicationCounters counters_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_COMMUNICATION_H_
