// The order in which a member does its works. Internal to the interpreter.
#ifndef DRYDOCK_SIMCCL_PROOF_TURNS_H_
#define DRYDOCK_SIMCCL_PROOF_TURNS_H_

#include <cstdint>
#include <map>
#include <utility>

namespace drydock {

// What a member has not done of each work: a thread block takes them in order, and a kernel
// begins when the one before has ended.
class Turns {
 public:
  struct Turn {
    int launch = 0;
    uint16_t channel = 0, work = 0;
  };
  void Add(const Turn& turn) {
    ++launches_[turn.launch];
    ++works_[{turn.channel, turn.work}];
  }
  void End(const Turn& turn) {
    if (--launches_[turn.launch] == 0) launches_.erase(turn.launch);
    const auto work = works_.find({turn.channel, turn.work});
    if (--work->second == 0) works_.erase(work);
  }
  bool Has(const Turn& turn) const {
    const auto first = works_.lower_bound({turn.channel, 0});
    return launches_.begin()->first == turn.launch && first->first.second == turn.work;
  }

 private:
  std::map<int, int> launches_;
  std::map<std::pair<uint16_t, uint16_t>, int> works_;  // by channel and work
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_TURNS_H_
