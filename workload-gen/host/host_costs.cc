#include "workload-gen/host/host_costs.h"

#include <algorithm>

#include "workload-gen/work/layer_work.h"

namespace drydock {
namespace {

// The expected maximum of as many exponential draws of mean 1 as there are machines, which is a
// harmonic number, less that of one draw: the delay of one machine is part of what was measured.
double DelaysBeyondOne(const Topology& topology) {
  int machines = 0;
  for (const auto kind : topology.hosts) {
    machines += topology.host_kinds[static_cast<size_t>(kind)].trays;
  }
  double sum = 0;
  for (int n = machines; n > 1; --n) sum += 1.0 / n;
  return sum;
}

}  // namespace

Time StepDelay(const HostLaunchSet& set, const Topology& topology) {
  return Time::FromUs(set.step_delay.us() * DelaysBeyondOne(topology));
}

namespace {

class HostCosts {
 public:
  HostCosts(const HostLaunchSet& set, const TrainingJob& job, const Topology& topology)
      : set_(set),
        step_(set.step + StepDelay(set, topology)),
        ring_(job.parallel.context > 1 && PassesKeys(job.parallel.context_type)) {}

  Time Of(const Submodule& s) const {
    const Time step = s.Is<submodule::Optimizer>() ? step_ : Time();
    const auto found = set_.modules.find(ModuleOf(s));
    const Time own = found != set_.modules.end() ? CostOf(s, found->second) : Time();
    return std::min(step + own, submodule::kLongestFixedDuration);
  }

 private:
  // Returns one of HostModuleNames(), or "" if no module runs the submodule. No module runs the
  // products of an optimizer, or the absorbed products of sparse attention.
  std::string ModuleOf(const Submodule& s) const {
    if (s.name.starts_with("optimizer.") && s.Is<submodule::Linear>()) return "";
    if (s.name == "attention.absorb" || s.name == "attention.value-up") return "";
    const auto* attention = s.As<submodule::Attention>();
    if (attention != nullptr && !attention->fused) return "unfused-attention";
    if (attention != nullptr && ring_) return "slice-of-attention";
    // Transformer Engine runs the same code for each format.
    if (s.Is<submodule::Linear>() && IsQuantized(s.type)) return "fp8-linear";
    return s.kind_name();
  }

  static Time CostOf(const Submodule& s, const ModuleCost& cost) {
    switch (s.pass) {
      case Pass::kForward:
        return cost.forward + cost.expert_forward * ExpertsOf(s);
      case Pass::kBackward:
      case Pass::kBackwardActivation:
        return cost.backward + cost.expert_backward * ExpertsOf(s);
      case Pass::kBackwardWeight:
        return Time();
      case Pass::kNone:
        return cost.once + cost.tensor * TensorsOf(s);
    }
    return Time();
  }

  // Experts whose weights are tensors of their own.
  static int64_t ExpertsOf(const Submodule& s) {
    const auto* grouped = s.As<submodule::GroupedLinear>();
    return grouped != nullptr && !grouped->one_kernel ? grouped->experts : 0;
  }

  // Of the step's loops. The quantization of gathered weights has a row for each.
  static int64_t TensorsOf(const Submodule& s) {
    if (const auto* quantize = s.As<submodule::Quantize>()) {
      return s.name == kGatheredQuantize ? quantize->rows : 0;
    }
    return std::visit(
        [](const auto& work) -> int64_t {
          if constexpr (requires { work.tensors; }) return work.tensors;
          return 0;
        },
        s.work);
  }

  const HostLaunchSet& set_;
  const Time step_;
  const bool ring_;
};

}  // namespace

void ChargeHost(const HostLaunchSet& set, const TrainingJob& job, Workload* workload) {
  workload->launch = set.launch;
  if (!set.launch.modeled()) return;
  if (job.training.host.deterministic) {
    workload->launch.kernel += set.fill;
    workload->launch.backward_kernel += set.fill;
  }
  const HostCosts costs(set, job, workload->topology);
  for (Submodule& submodule : workload->submodules) submodule.host = costs.Of(submodule);
}

}  // namespace drydock
