// The order in which a member runs its programs. Internal to the interpreter.
#ifndef DRYDOCK_SIMCCL_PROOF_MEMBER_SCHEDULE_H_
#define DRYDOCK_SIMCCL_PROOF_MEMBER_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <utility>

namespace drydock {

// Counts the unfinished programs of one member. A thread block runs the works of its channel one
// after another, and a kernel begins when the kernel before it has ended.
class MemberSchedule {
 public:
  // Where a program belongs.
  struct Place {
    int launch = 0;
    uint16_t channel = 0, work = 0;
  };
  void Add(const Place& place) {
    ++launches_[place.launch];
    ++works_[{place.channel, place.work}];
  }
  void End(const Place& place) {
    if (--launches_[place.launch] == 0) launches_.erase(place.launch);
    const auto work = works_.find({place.channel, place.work});
    if (--work->second == 0) works_.erase(work);
  }
  // Returns true if programs of this place may run now. REQUIRES: one of them has not ended.
  bool MayRun(const Place& place) const {
    const auto first = works_.lower_bound({place.channel, 0});
    return launches_.begin()->first == place.launch && first->first.second == place.work;
  }

 private:
  // Unfinished programs.
  std::map<int, int> launches_;                         // by kernel
  std::map<std::pair<uint16_t, uint16_t>, int> works_;  // by channel and work
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_MEMBER_SCHEDULE_H_
