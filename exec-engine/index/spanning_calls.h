// Calls that span hosts and run while nothing else communicates. Such a call takes the same times
// whenever its members arrive with the same offsets, so it is played once and then left out: an
// all-to-all of experts is the same in every layer and micro-batch.
//
// A call is examined when its last member arrives. By then nothing has moved yet if all members
// arrive before the first one's kernel has been launched, and if no other call runs, nothing moves
// but this call. If its times are known for these offsets, the engines of its hosts forget it, and
// its members end at the known times. Else the engines play it, and its times are recorded unless
// another call takes ports before it ends.
//
// A call that begins later may meet the call that was left out. Then the network goes back to the
// first arrival, and the call is played after all until the present (ForgetfulNetwork). So neither
// the timeline nor a counter changes.
//
// Not thread-safe: for networks that run on one thread.
#ifndef DRYDOCK_EXEC_ENGINE_INDEX_SPANNING_CALLS_H_
#define DRYDOCK_EXEC_ENGINE_INDEX_SPANNING_CALLS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/units.h"
#include "core/containers/hash.h"
#include "core/model/workload.h"
#include "core/network/forgetful_network.h"
#include "exec-engine/transfer/message_tag.h"

namespace drydock {

class SpanningCalls {
 public:
  // What a call does on one of its hosts.
  struct Part {
    Time drained;  // when the network has acknowledged all that the host sent
    int64_t slices = 0, merged = 0;
  };
  // What a call does, counted from its first arrival.
  struct Known {
    std::vector<Time> end, ready;  // by member of the group
    Time last_end;
    std::vector<Part> parts;  // by host, in the order of the hosts
    ForgetfulNetwork::Traffic traffic;
  };
  // The calls of one host.
  class Host {
   public:
    virtual ~Host() = default;
    virtual int number() const = 0;
    // Slices moved so far.
    virtual Part Moved() const = 0;
    // The engine of the host forgets the call. Its members end at known times.
    virtual void LeaveOut(CallKey key, Time first, const Known& known, const Part& part) = 0;
    // The engine of the host plays the call from its first arrival on.
    virtual void PlayAfterAll(CallKey key, const Part& part) = 0;
  };

  // The network outlives this.
  explicit SpanningCalls(ForgetfulNetwork* network) : network_(*network) {}

  // A call begins on a host, which will not use its ports before `first_use`. `members`: of its
  // group, if the call spans hosts and no member can end before the last one has started; else 0.
  void Begin(Host* host, const Workload::Use& use, CallKey key, size_t members, Time now,
             Time first_use);
  // Other traffic takes ports of a host now, and later no longer has them.
  void TakePorts(Time now);
  void GivePortsBack() { --running_; }
  // A member starts a call that spans hosts.
  void Arrive(CallKey key, int member, Time now);
  // A member of a call ends in future. Calls that are not recorded are ignored.
  void WillEnd(CallKey key, int member, Time end, Time ready);
  // All members of a host have ended the call.
  void Ended(CallKey key);
  // All that a host sends of the call has been acknowledged.
  void Drained(const Host* host, CallKey key, Time now);

 private:
  using Offsets = std::vector<int64_t>;  // by member, ps after the first arrival; then the use

  // A call that nothing else has met so far.
  struct Call {
    CallKey key = kNoCall;
    Workload::Use use;
    Time first, first_use;
    Time met = Time::Max();      // the first use of ports by a call that began later
    std::vector<Host*> hosts;    // in their order
    std::vector<Part> before;    // by host: moved before the call
    std::vector<Time> arrivals;  // by member
    size_t arrived = 0, hosts_ended = 0, hosts_drained = 0;
    ForgetfulNetwork::Traffic traffic;  // before the call
    Known known;                        // so far
  };

  void Examine();
  void LeaveOut(const Known& known);
  void PlayAfterAll();
  void Meet(Time first_use);
  void StopExamining(CallKey key);
  void Keep(const Call& call);
  Call* FindRecording(CallKey key);
  static Offsets OffsetsOf(const Call& call);

  ForgetfulNetwork& network_;
  int64_t running_ = 0;           // calls on hosts, some of whose members there have not ended
  std::optional<Call> arriving_;  // the last call that began, until all members have arrived
  std::vector<Call> recordings_;
  std::optional<Call> left_out_;  // the last one
  const Known* left_out_known_ = nullptr;
  std::unordered_map<Offsets, Known, RangeHash> known_;  // only looked up
  size_t known_members_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_INDEX_SPANNING_CALLS_H_
