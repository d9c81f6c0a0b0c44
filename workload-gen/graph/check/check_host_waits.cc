#include <algorithm>
#include <span>
#include <utility>

#include "workload-gen/graph/check/check_steps.h"

namespace drydock {
namespace {

// Adds dependencies to a program in place of the waits of its host. What an op of a stream waits
// for, the later ops of that stream wait for as well. So the next op of a stream gets only what the
// host has waited for since the stream's last op: the number of dependencies grows with that of the
// waits, not with its square.
class HostWaitInserter {
 public:
  explicit HostWaitInserter(size_t streams) : last_(streams, -1), taken_(streams) {}

  Program Insert(const Program& from) {
    Program to;
    to.ops = from.ops;
    to.dependency_begin = {0};
    in_gate_.assign(from.ops.size(), false);
    for (uint32_t i = 0; i < from.ops.size(); ++i) {
      const Op& op = from.ops[i];
      const auto own = from.dependencies(i);
      if (op.host_waits != HostWait::kNothing) Close(op, own);
      std::vector<uint32_t> waits(own.begin(), own.end());
      Taken& taken = taken_[op.stream];
      if (taken.sync != sync_) taken = {sync_, 0};
      waits.insert(waits.end(), gate_.begin() + static_cast<ptrdiff_t>(taken.ops), gate_.end());
      taken.ops = gate_.size();
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
      to.dependency.insert(to.dependency.end(), waits.begin(), waits.end());
      to.dependency_begin.push_back(static_cast<uint32_t>(to.dependency.size()));
      last_[op.stream] = i;
    }
    return to;
  }

 private:
  // What the last op of a stream waits for: the first `ops` of the gate after a device sync.
  struct Taken {
    size_t sync = 0, ops = 0;
  };

  // Adds the ops that end before the host continues. For kDeviceSync these are the last op of each
  // stream. For kOpReady they are the op's dependencies and the earlier waits of the host.
  void Close(const Op& op, std::span<const uint32_t> own) {
    if (op.host_waits == HostWait::kDeviceSync) {
      ++sync_;
      for (const uint32_t each : gate_) in_gate_[each] = false;
      gate_.clear();
      for (const int64_t last : last_) AddToGate(last);
      return;
    }
    for (const uint32_t each : own) AddToGate(each);
    AddToGate(last_[op.stream]);
  }

  void AddToGate(int64_t op) {
    if (op < 0 || in_gate_[static_cast<size_t>(op)]) return;
    in_gate_[static_cast<size_t>(op)] = true;
    gate_.push_back(static_cast<uint32_t>(op));
  }

  std::vector<int64_t> last_;   // by stream: its previous op
  std::vector<uint32_t> gate_;  // the ops that the host has waited for since the last device sync
  std::vector<bool> in_gate_;   // by op
  size_t sync_ = 0;             // the number of device syncs
  std::vector<Taken> taken_;    // by stream
};

}  // namespace

Workload WithHostWaits(const Workload& workload) {
  Workload out = workload;
  for (Program& program : out.programs) {
    const bool waits = std::any_of(program.ops.begin(), program.ops.end(), [](const Op& op) {
      return op.host_waits != HostWait::kNothing;
    });
    if (waits) program = HostWaitInserter(workload.streams.size()).Insert(program);
  }
  return out;
}

}  // namespace drydock
