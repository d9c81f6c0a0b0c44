// The calls of joint groups in a replay of representative ranks (rank_replicas.h). Every member
// takes part in such a call, but only some members are replayed. A call begins when the last of
// these has arrived, as the members that they represent arrive with them, and then takes the times
// that it takes alone: all members of all of its groups on the same hosts begin at once, on the
// whole cluster.
//
// Not thread-safe: for networks that run on one thread.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_JOINT_CALLS_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_JOINT_CALLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "exec-engine/folding/rank_replicas.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/transfer/kernel_load.h"
#include "exec-engine/transfer/message_tag.h"

namespace drydock {

// What a call of a joint group does on one member.
struct JointTimes {
  Time end, ready;  // after the last arrival
  KernelLoad load;
};

// The times of the calls of joint groups that representatives make.
class JointCallTimes {
 public:
  // `index` has the whole workload. All arguments outlive this.
  // Returns no value if a joint group makes a call in which a member can end before the last one
  // has started: its times depend on every arrival.
  static Result<std::unique_ptr<JointCallTimes>> Find(const ReplayIndex& index,
                                                      const RankReplicas& replicas,
                                                      const NetworkModel& network,
                                                      const ReplayOptions& options);

  bool IsJoint(int group) const { return replicas_.joint[static_cast<size_t>(group)]; }
  const JointTimes& Of(uint32_t call, uint32_t group, int rank) const {
    return times_.at({{call, group}, rank});
  }
  int Representatives(uint32_t group) const { return members_.at(group); }
  int64_t played() const { return static_cast<int64_t>(alone_.size()); }

 private:
  using Alone = std::vector<std::vector<std::pair<Time, Time>>>;  // by group and member: end, ready

  JointCallTimes(const ReplayIndex& index, const RankReplicas& replicas,
                 const NetworkModel& network, const ReplayOptions& options);
  Status FindAll();
  std::vector<int> HostsOf(uint32_t group) const;
  std::vector<uint32_t> GroupsBeside(uint32_t call, uint32_t group) const;
  Result<const Alone*> PlayAlone(uint32_t call, const std::vector<uint32_t>& groups);
  void FindLoads(const Workload::Use& use);

  const ReplayIndex& index_;
  const RankReplicas& replicas_;
  NetworkModel network_;  // merges no loops: those of the index are merged
  const ReplayOptions& options_;
  std::map<std::vector<const Plan*>, Alone> alone_;  // by the plans of the groups; only looked up
  std::map<std::pair<Workload::Use, int>, JointTimes> times_;  // by use and rank
  std::map<uint32_t, int> members_;  // by group: how many represent themselves
};

// Waits for the representatives of each call of a joint group.
class JointCalls {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // A call of a joint group ends.
    virtual void OnJointEnd(int rank, uint32_t op, Time end, Time ready) = 0;
  };

  // `times` outlives this.
  explicit JointCalls(const JointCallTimes& times) : times_(times) {}
  bool IsJoint(int group) const { return times_.IsJoint(group); }
  // The rank starts the op, which makes the call with this key. Tells the hosts of all members when
  // the last one arrives. Returns the load of the rank's kernel.
  const KernelLoad& Arrive(Host* host, int rank, uint32_t op, uint32_t call, CallKey key, Time now);
  const KernelLoad& LoadOf(uint32_t call, uint32_t group, int rank) const {
    return times_.Of(call, group, rank).load;
  }
  int64_t calls() const { return calls_; }

 private:
  struct Arrival {
    Host* host;
    int rank;
    uint32_t op;
  };
  const JointCallTimes& times_;
  std::map<CallKey, std::vector<Arrival>> waiting_;  // calls whose last member has not arrived
  int64_t calls_ = 0;                                // ops of members
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_JOINT_CALLS_H_
