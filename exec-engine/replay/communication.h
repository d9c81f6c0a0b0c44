// The communication ops of one host's ranks: finds the call of the group to which an op belongs,
// runs the call in the host's TransferEngine, and reports when the kernel of each member ends.
//
// A call does not enter the engine at first if all its members are on this host and no member can
// end before the last has started (WaitsForAll). When its last member arrives, LoneCalls gives its
// times. These are exact as long as no other call takes the same GPUs' ports before this call ends.
// When another call may do so, the call moves into the host's engine: its arrivals are repeated
// there, the engine catches up to the present, and the call continues. The timeline is the same to
// the picosecond as with ReplayOptions::shortcut off.
//
// Members that can only wait for the data of others, such as a receiver, take no ports. As long as
// no other member has arrived, the call is idle: it meets no other call, and when they arrived does
// not matter.
//
// A call in the engine rests if nothing of it moves before another member arrives: a sender has
// filled all slots of its receiver. Meanwhile it meets no other call. When its last member arrives,
// it leaves the engine and is played alone if nothing else is on its ports and
// - it has rested: the earlier arrivals no longer matter, or
// - nothing of it has moved yet. So are calls in which a member may end before the last one starts.
//
// A call that spans hosts enters the engine, which may leave it out again (spanning_calls.h).
//
// Not thread-safe; one per host.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_COMMUNICATION_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_COMMUNICATION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/containers/index_table.h"
#include "exec-engine/index/spanning_calls.h"
#include "exec-engine/replay/host_planner.h"
#include "exec-engine/replay/lone_calls.h"
#include "exec-engine/transfer/transfer_engine.h"

namespace drydock {

struct CommunicationCounters {
  int64_t calls = 0;      // ops of members
  int64_t looked_up = 0;  // whole calls whose times were known
  int64_t played = 0;     // whole calls that were played alone
  int64_t detailed = 0;   // calls that ran in the host's engine
  int64_t slices = 0;     // that were simulated: of a call that is played again, those count again
  int64_t merged = 0;  // NCCL slices that were moved as fewer, merged slices (merged_loops.h)

  // Returns the counters of `hosts` equal hosts.
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

class Communication final : private TransferListener, private SpanningCalls::Host {
 public:
  // The replay that owns this object. It is told in advance when ops end.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnOpWillEnd(int gpu, uint32_t op, Time end, Time ready) = 0;
    // The end that was reported before no longer holds. OnOpWillEnd follows.
    virtual void OnEndUnknown(int gpu, uint32_t op) = 0;
    // Sends the message as TransferListener::OnMessage does. Returns its route.
    virtual uint32_t OnMessage(const Message& message, uint32_t folded_connection) = 0;
    virtual Time Now() const = 0;
    // Ends were reported, or the engine has other events, because of what happened elsewhere.
    virtual void OnChange() = 0;
  };

  // All arguments outlive this. `sharing` belongs to the host's GPUs. `shortcut`: calls inside the
  // host may be played alone. `folding` is null if the host represents itself only.
  // `spanning`: of all hosts; null if calls that span hosts are never left out.
  Communication(HostId host, const ReplayIndex& index, const PortMap& ports,
                const SharingCosts& sharing, Owner* owner, bool shortcut, ReplicaFolding* folding,
                SpanningCalls* spanning);
  ~Communication() override = default;

  // The programs of all ranks lack periods from now on (HostReplay::GoOnWith).
  void GoOnWith(const ReplayIndex& index) { index_ = &index; }
  // The op of the rank on `gpu` starts, and later has ended. Both return the load of its kernel on
  // the GPU.
  const KernelLoad& Start(int gpu, uint32_t op, Time now);
  const KernelLoad& Ended(int gpu, uint32_t op);
  void OnDelivered(const Message& message, Time now);
  void OnSent(const Message& message, Time now);

  // Other traffic takes ports of these classes from now on, until GivePortsBack. Ends of calls that
  // were reported before may change.
  void TakePorts(std::span<const uint16_t> classes, Time now);
  void GivePortsBack(std::span<const uint16_t> classes);
  Time Cross(const PortPath& path, Time from, int64_t bytes) {
    return engine_.ports().Cross(path, from, bytes);
  }

  bool idle() const { return engine_.idle(); }
  Time next_time() const { return engine_.next_time(); }
  void RunNext() { engine_.RunNext(); }

  CommunicationCounters counters() const;

  // The first arrival of all calls that have not finished; Time::Max() if there are none.
  Time EarliestArrival() const;
  void AppendState(RelativeState* out) const;
  // What an op that started and never ended waits for, such as "rank 3, which never started it",
  // and the ranks concerned.
  struct Waiting {
    std::string text;
    std::vector<int> ranks;
  };
  Waiting DescribeWait(int gpu, uint32_t op) const;

 private:
  struct Arrival {
    uint32_t op = kNoOp;
    Time time;
    bool ended = false;
    Time part_end = Time::Max(),
         part_ready;  // if the host serves every member (HostPlan::serves_every_member)
  };
  struct Call {
    CallKey key = 0;
    const LocalPlan* plan = nullptr;
    bool serves_every_member = false;
    Transfer* transfer = nullptr;   // null while played alone, or left out
    Transfer* rested = nullptr;     // of a call that left the engine: as it rested there
    std::vector<Arrival> arrivals;  // by local member
    uint32_t arrived = 0, ended = 0;
    uint32_t last = 0;            // the local member that arrived last
    bool idle = false;            // only passive members have arrived (LocalMember::passive)
    Time active_from;             // when it was no longer idle
    Time last_end = Time::Max();  // of a call played alone, once its last member has arrived
    bool drained = false;
    bool spans = false;     // HostPlan::spans
    bool left_out = false;  // as if it were in the engine
    bool holds_ports = true;
    // Of a call that was left out: when its last member on any host ends, and when this host's
    // ports are free.
    Time gone, drained_at;
  };
  // A group with members on this host.
  struct GroupState {
    uint32_t group = 0;
    std::vector<std::unique_ptr<HostPlan>> plans;
    std::vector<std::pair<CallKey, Call*>> active;
  };
  // The calls on a class of ports.
  struct PortState {
    int other = 0;                 // other traffic
    std::vector<Call*> in_engine;  // or left out
    std::vector<Call*> alone;      // calls that are played alone, oldest first
  };

  GroupState* FindGroup(uint32_t group);
  const GroupState* FindGroup(uint32_t group) const {
    return const_cast<Communication*>(this)->FindGroup(group);
  }
  const Op& OpOf(int gpu, uint32_t op) const;
  CallKey KeyOf(int gpu, uint32_t op) const;
  HostPlan* FindPlan(GroupState* group, uint32_t call);
  Call* FindCall(GroupState* group, CallKey key) const;
  Call* FindCall(CallKey key) const;
  Call* BeginCall(GroupState* group, HostPlan* plan, CallKey key);
  void Activate(Call* call, HostPlan* plan, Time now);
  bool LeaveEngine(Call* call, const HostPlan& plan, Time now);
  static Time FirstUse(const LocalPlan& plan, Time now);
  void EnterEngine(Call* call);
  void GoOnInEngine(Call* call);
  // Returns whether nothing of the call is left on this host and nothing can meet it elsewhere.
  static bool IsOver(const Call& call, Time now);
  void FinishLeftOut(Time now);
  bool ClearPortsFor(const LocalPlan& plan, Time now);
  bool ClearPorts(std::span<const uint16_t> classes, Time first_use, Time now,
                  const Call* besides = nullptr);
  void RunInEngine(Call* call, Time now);
  void PlayAlone(Call* call, HostPlan* plan);
  void ReleasePorts(Call* call);
  void FinishCall(Call* call);
  static uint32_t MemberOn(const LocalPlan& plan, int gpu);

  // Calls in which the host serves every member.
  void StartParts(Call* call, int gpu, uint32_t op, Time now);
  void PartWillEnd(Call* call, uint32_t member, Time end, Time ready);
  void EndParts(Call* call, int gpu);

  void AppendCall(const Call& call, RelativeState* out) const;
  Waiting MissingMembers(const Call& call) const;
  Waiting MissingData(const Call& call, int member) const;

  void OnMemberEnd(Transfer* transfer, uint32_t member, Time end, Time ready) override;
  uint32_t OnMessage(const Message& message, uint32_t folded_connection) override {
    return owner_->OnMessage(message, folded_connection);
  }
  void OnDrained(Transfer* transfer) override;

  int number() const override { return host_; }
  SpanningCalls::Part Moved() const override {
    return {Time(), engine_.slices(), engine_.merged()};
  }
  void LeaveOut(CallKey key, Time first, const SpanningCalls::Known& known,
                const SpanningCalls::Part& part) override;
  void PlayAfterAll(CallKey key, const SpanningCalls::Part& part) override;

  const ReplayIndex* index_;
  Owner* owner_;
  SpanningCalls* const spanning_;
  const HostId host_;
  const int first_rank_;  // of this host
  HostPlanner planner_;
  TransferEngine engine_;
  LoneCalls lone_calls_;
  std::vector<GroupState> groups_;
  IndexTable<uint32_t> group_places_;   // of groups, in groups_
  std::vector<PortState> port_states_;  // by port class (LocalPlan)
  std::vector<std::unique_ptr<Call>> pool_;
  std::vector<Call*> free_calls_;
  std::vector<Call*> left_out_;
  std::vector<Message> early_;    // for calls that no member here has started yet
  std::vector<int64_t> offsets_;  // scratch
  std::vector<Call*> to_move_;    // scratch
  CommunicationCounters counters_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_COMMUNICATION_H_
