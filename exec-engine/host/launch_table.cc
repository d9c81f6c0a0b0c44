#include "exec-engine/host/launch_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace drydock {
namespace {

Time Slower(Time time, double speed) {
  return Time::Ps(std::llround(static_cast<double>(time.ps()) / speed));
}

// Returns the share of each kernel in the submodule's gaps.
Time GapEach(const SubmoduleTime& times) {
  Time gaps;
  int64_t kernels = 0;
  for (const KernelTime& kernel : times.kernels) {
    if (kernel.gap)
      gaps += kernel.time;
    else
      kernels += kernel.launches;
  }
  return kernels > 0 ? Time::Ps(gaps.ps() / kernels) : gaps;
}

// What a host spends on a submodule.
struct HostCost {
  Time code;  // before the first launch
  Time each;  // for each kernel
};

// Launches the block's kernels in order. `costs`: by submodule; `expert`: of each further launch of
// a loop over experts.
LaunchCost BlockCost(const ComputeBlock& block, const GpuKernelTimes& times,
                     const std::vector<HostCost>& costs, Time expert) {
  LaunchCost cost;
  Time left;  // time of the block from the present kernel to the end
  for (const uint32_t submodule : block.submodules) left += times.submodules[submodule].total;
  const auto launch = [&](Time took, Time code, Time each) {
    const Time launching = code + each;
    if (cost.launches == 0) {
      cost.first = launching;
      cost.first_code = code;
    }
    cost.span = std::max(cost.span, cost.busy - cost.first + launching + left);
    cost.busy += launching;
    cost.code += code;
    left = std::max(Time(), left - took);
    ++cost.launches;
  };
  for (const uint32_t submodule : block.submodules) {
    const SubmoduleTime& s = times.submodules[submodule];
    const Time gap = GapEach(s);
    Time code = costs[submodule].code;
    for (const KernelTime& kernel : s.kernels) {
      if (kernel.gap) continue;
      const int all = kernel.launches + kernel.looped;
      const Time took = Time::Ps((kernel.time + gap * kernel.launches).ps() / all);
      for (int i = 0; i < all; ++i) {
        const Time each = i < kernel.launches ? costs[submodule].each : expert;
        launch(took, std::exchange(code, Time()), each);
      }
    }
    // A submodule whose kernels are not listed counts as one kernel.
    if (s.kernels.empty() && s.total > Time()) launch(s.total, code, costs[submodule].each);
  }
  return cost;
}

bool IsBackward(Pass pass) {
  return pass == Pass::kBackward || pass == Pass::kBackwardActivation ||
         pass == Pass::kBackwardWeight;
}

}  // namespace

LaunchTable::LaunchTable(const Workload& workload, const HostKind& host,
                         const GpuKernelTimes& times)
    : costs_(workload.launch) {
  if (!modeled()) return;
  for (Time* time : {&costs_.kernel, &costs_.backward_kernel, &costs_.collective, &costs_.message,
                     &costs_.graph, &costs_.wait, &costs_.loop, &costs_.expert}) {
    *time = Slower(*time, host.board.launch_speed);
  }
  std::vector<HostCost> costs, looped(workload.submodules.size(), HostCost{{}, costs_.loop});
  for (const Submodule& submodule : workload.submodules) {
    costs.push_back({Slower(submodule.host, host.board.launch_speed),
                     IsBackward(submodule.pass) ? costs_.backward_kernel : costs_.kernel});
  }
  for (const ComputeBlock& block : workload.blocks) {
    blocks_.push_back(BlockCost(block, times, costs, costs_.expert));
    looped_.push_back(BlockCost(block, times, looped, costs_.expert));
  }
}

LaunchCost LaunchTable::CostOf(const Op& op) const {
  const auto at_once = [](Time cost) { return LaunchCost{cost, cost, Time(), 1}; };
  if (op.graph == GraphPart::kFirst) return at_once(costs_.graph);
  if (op.graph == GraphPart::kRest) return {};
  const bool loop = op.graph == GraphPart::kLoop;
  if (op.kind == OpKind::kCompute) return (loop ? looped_ : blocks_)[op.work];
  if (op.kind == OpKind::kHostWork) return {};  // the host does it itself
  if (loop) return at_once(costs_.loop);
  if (UsesMemory(op.kind)) return at_once(costs_.kernel);
  return at_once(op.kind == OpKind::kCollective ? costs_.collective : costs_.message);
}

}  // namespace drydock
