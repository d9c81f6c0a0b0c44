#include "report/facts/kernels.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace drydock {
namespace {

// launches[gpu][submodule] in an iteration, over all ranks.
using Launches = std::vector<std::vector<int64_t>>;

std::vector<int64_t> SubmodulesOf(const Workload& workload, const Program& program) {
  std::vector<int64_t> counts(workload.submodules.size(), 0);
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::kCompute) continue;
    for (const uint32_t submodule : workload.blocks[op.work].submodules) ++counts[submodule];
  }
  return counts;
}

Launches CountLaunches(const Workload& workload) {
  const Placement placement(workload.topology);
  std::vector<std::vector<int64_t>> ranks(  // [class][gpu]
      workload.programs.size(), std::vector<int64_t>(workload.topology.gpus.size(), 0));
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const int gpu = workload.topology.kind_of_host(placement.of(rank).host).gpu;
    const int index = workload.class_of_rank[static_cast<size_t>(rank)];
    ++ranks[static_cast<size_t>(index)][static_cast<size_t>(gpu)];
  }
  Launches launches(workload.topology.gpus.size(),
                    std::vector<int64_t>(workload.submodules.size(), 0));
  for (size_t index = 0; index < workload.programs.size(); ++index) {
    const std::vector<int64_t> counts = SubmodulesOf(workload, workload.programs[index]);
    for (size_t gpu = 0; gpu < launches.size(); ++gpu) {
      for (size_t i = 0; i < counts.size(); ++i) launches[gpu][i] += counts[i] * ranks[index][gpu];
    }
  }
  return launches;
}

// Returns seconds as a double. The sums over ranks are only used for shares, so rounding is
// harmless.
double TotalOf(const KernelRow& row) {
  return row.time.seconds() * static_cast<double>(row.launches);
}

// Kernels of the same name, shape and time on one GPU share a row, in whatever submodule they run.
std::vector<KernelRow> CollectRows(const Inputs& inputs) {
  const Launches launches = CountLaunches(inputs.workload);
  std::map<std::tuple<size_t, std::string, std::string, Time>, KernelRow> rows;
  for (size_t gpu = 0; gpu < launches.size(); ++gpu) {
    for (size_t submodule = 0; submodule < launches[gpu].size(); ++submodule) {
      if (launches[gpu][submodule] == 0) continue;
      const GpuKernelTimes& times = inputs.times.gpus[gpu];
      for (const KernelTime& kernel : times.submodules[submodule].kernels) {
        KernelRow& row = rows[{gpu, kernel.name, kernel.shape, kernel.time}];
        if (row.launches == 0) {
          row = {times.gpu,     kernel.name,  kernel.shape, kernel.bound,
                 kernel.source, kernel.flops, kernel.bytes, kernel.time};
        }
        row.launches += launches[gpu][submodule];
      }
    }
  }
  std::vector<KernelRow> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

}  // namespace

KernelSummary SummarizeKernels(const Inputs& inputs) {
  KernelSummary summary;
  summary.rows = CollectRows(inputs);
  double total = 0;
  for (const KernelRow& row : summary.rows) total += TotalOf(row);
  for (KernelRow& row : summary.rows) {
    row.share = total > 0 ? TotalOf(row) / total : 0;
    summary.by_source[static_cast<size_t>(row.source)].share += row.share;
  }
  for (size_t i = 0; i < kTimeSourceCount; ++i) {
    summary.by_source[i].kernels = inputs.times.source_count[i];
  }
  std::stable_sort(summary.rows.begin(), summary.rows.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.share > b.share; });
  return summary;
}

}  // namespace drydock
