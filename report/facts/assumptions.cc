#include "report/facts/assumptions.h"

#include <fmt/format.h>

#include <array>
#include <set>

namespace drydock {
namespace {

// Returns "1204 model, 12 profile": the launched kernels of the GPU by the source of their times.
std::string SourcesOf(const GpuKernelTimes& gpu) {
  std::array<int64_t, kTimeSourceCount> count = {};
  for (const SubmoduleTime& submodule : gpu.submodules) {
    for (const KernelTime& kernel : submodule.kernels) {
      if (!kernel.gap) ++count[static_cast<size_t>(kernel.source)];
    }
  }
  std::string out;
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count[i], TimeSourceNames()[i]);
  }
  return out;
}

}  // namespace

std::vector<Assumption> AllAssumptions(const Inputs& inputs) {
  const Workload& workload = inputs.workload;
  const Topology& topology = workload.topology;
  std::vector<Assumption> out;
  std::set<int> used;
  for (const int kind : topology.hosts) {
    used.insert(topology.host_kinds[static_cast<size_t>(kind)].gpu);
  }
  for (const int index : used) {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(index)];
    const std::string sources = SourcesOf(inputs.times.gpus[static_cast<size_t>(index)]);
    out.push_back({"kernels of " + gpu.name,
                   (sources.empty() ? "none" : sources) +
                       (gpu.reference.empty() ? "" : "; scaled from " + gpu.reference),
                   gpu.file()});
    if (!gpu.has_collective_costs) continue;
    out.push_back({"NCCL on " + gpu.name,
                   fmt::format("costs of thread blocks; collectives reach {:.1f} % of the "
                               "scale-up bandwidth",
                               gpu.collectives.link_efficiency * 100),
                   gpu.file()});
  }
  out.insert(out.end(), workload.assumptions.begin(), workload.assumptions.end());
  return out;
}

}  // namespace drydock
