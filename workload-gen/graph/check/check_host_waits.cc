#include <algorithm>
#include <span>
#include <utility>

#include "workload-gen/graph/check/check_steps.h"

namespace drydock {
namespace {

// Adds dependencies to a program in place of the waits of its host.
class HostWaitInserter {
 public:
  explicit HostWaitInserter(size_t streams) : last_(streams, -1), taken_(streams, 0) {}

  Program Insert(const Program& from) {
    Program to;
    to.ops = from.ops;
    to.dependency_begin = {0};
    for (uint32_t i = 0; i < from.ops.size(); ++i) {
      const Op& op = from.ops[i];
      const auto own = from.dependencies(i);
      if (op.host_waits != HostWait::kNothing) Close(op, own);
      std::vector<uint32_t> waits(own.begin(), own.end());
      if (taken_[op.stream] != number_) waits.insert(waits.end(), gate_.begin(), gate_.end());
      taken_[op.stream] = number_;
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
      to.dependency.insert(to.dependency.end(), waits.begin(), waits.end());
      to.dependency_begin.push_back(static_cast<uint32_t>(to.dependency.size()));
      last_[op.stream] = i;
    }
    return to;
  }

 private:
  // Returns the ops that end before the host continues. For kDeviceSync these are the last op of
  // each stream. For kOpReady they are the op's dependencies and the earlier waits of the host.
  void Close(const Op& op, std::span<const uint32_t> own) {
    ++number_;
    if (op.host_waits == HostWait::kDeviceSync) {
      gate_.clear();
      for (const int64_t last : last_) {
        if (last >= 0) gate_.push_back(static_cast<uint32_t>(last));
      }
      return;
    }
    gate_.insert(gate_.end(), own.begin(), own.end());
    if (last_[op.stream] >= 0) gate_.push_back(static_cast<uint32_t>(last_[op.stream]));
    std::sort(gate_.begin(), gate_.end());
    gate_.erase(std::unique(gate_.begin(), gate_.end()), gate_.end());
  }

  std::vector<int64_t> last_;   // by stream: its previous op
  std::vector<uint32_t> gate_;  // the ops of the host's latest wait
  size_t number_ = 0;           // of the host's latest wait
  std::vector<size_t> taken_;   // by stream: the host's wait that its last op has as dependencies
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
