#include "report/facts/summary.h"

#include <algorithm>
#include <numeric>

namespace drydock {
namespace {

std::vector<GpuFacts> GpusOf(const Workload& workload) {
  std::vector<GpuFacts> out;
  for (const GpuSpec& gpu : workload.topology.gpus) {
    GpuFacts& facts = out.emplace_back();
    facts.name = gpu.name;
    facts.dense_rate = gpu.dense_rate[static_cast<size_t>(workload.totals.precision)];
    facts.source = gpu.source;
    facts.reference = gpu.reference;
    if (!gpu.has_collective_costs) continue;
    facts.link_efficiency = gpu.collectives.link_efficiency;
    facts.collective_source = gpu.collectives.source;
  }
  const Placement placement(workload.topology);
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const int gpu = workload.topology.kind_of_host(placement.of(rank).host).gpu;
    ++out[static_cast<size_t>(gpu)].count;
  }
  return out;
}

// The mean over the ranks; nothing if some GPU has no rate for the precision.
FlopRate PeakOf(const std::vector<GpuFacts>& gpus, int ranks) {
  double sum = 0;
  for (const GpuFacts& gpu : gpus) {
    if (gpu.count == 0) continue;
    if (gpu.dense_rate <= FlopRate()) return FlopRate();
    sum += gpu.dense_rate.flops_per_second() * gpu.count;
  }
  return FlopRate(sum / ranks);
}

// `seconds` for each iteration.
Rates RatesOf(const WorkloadTotals& totals, double seconds, int ranks, FlopRate peak) {
  Rates rates;
  rates.tokens_per_second = static_cast<double>(totals.tokens) / seconds;
  rates.tokens_per_gpu_second = rates.tokens_per_second / ranks;
  rates.model = FlopRate(totals.model_flops / seconds / ranks);
  rates.hardware = FlopRate(totals.hardware_flops / seconds / ranks);
  rates.peak = peak;
  rates.recompute = totals.hardware_flops > totals.model_flops;
  if (peak <= FlopRate()) return rates;
  rates.mfu = rates.model.flops_per_second() / peak.flops_per_second();
  if (rates.recompute) rates.hfu = rates.hardware.flops_per_second() / peak.flops_per_second();
  return rates;
}

// How much of the run there is, and so what its rates are: those of all its iterations, for the
// last begins on some ranks before the one before has ended on others. None if it was stopped.
void SetLength(const Inputs& inputs, Summary* out) {
  const Timeline& timeline = inputs.timeline;
  out->iterations = timeline.iterations;
  out->simulated = std::accumulate(timeline.iterations.begin(), timeline.iterations.end(), Time());
  if (timeline.iterations.empty()) out->simulated = timeline.iteration;
  out->stopped = timeline.stopped;
  if (timeline.stopped == Time()) {
    const auto count = static_cast<double>(std::max<size_t>(1, timeline.iterations.size()));
    out->rates = RatesOf(inputs.workload.totals, out->simulated.seconds() / count, out->ranks,
                         PeakOf(out->gpus, out->ranks));
  } else {
    out->ops_ended = timeline.ops_ended;
    for (const RankTimeline& rank : timeline.ranks) {
      out->ops += static_cast<int64_t>(rank.end.size());
    }
  }
  out->rates.iteration = timeline.iteration;
}

}  // namespace

Summary Summarise(const Inputs& inputs) {
  const Workload& workload = inputs.workload;
  Summary out;
  out.model = workload.totals.model_name;
  out.layout = workload.totals.layout;
  out.cluster = workload.topology.name;
  out.network = inputs.timeline.network;
  out.fabric = workload.topology.fabric.kind;
  // The others have no queues that could be congested.
  if (out.network == "packet") {
    out.congestion_control = workload.topology.transport.congestion_control;
  }
  out.precision = ToString(workload.totals.precision);
  out.hosts = workload.topology.host_count();
  out.ranks = workload.rank_count();
  out.parameters = workload.totals.parameters;
  out.tokens = workload.totals.tokens;
  out.model_flops = workload.totals.model_flops;
  out.hardware_flops = workload.totals.hardware_flops;
  out.gpus = GpusOf(workload);
  out.memory = JudgeMemory(workload);
  if (out.memory) out.memory_parts = workload.memory[static_cast<size_t>(out.memory->class_index)];
  SetLength(inputs, &out);
  out.parts = SummariseParts(inputs.timeline);
  out.classes = BreakdownByClass(inputs);
  out.collectives = SummariseCollectives(inputs);
  out.path = SummarisePath(inputs);
  out.kernels = SummariseKernels(inputs);
  out.transfers = SummariseTransfers(inputs);
  out.counters = inputs.timeline.counters;
  out.links = inputs.timeline.links;
  out.slowdowns = inputs.timeline.slowdowns;
  out.what_if = inputs.what_if;
  return out;
}

}  // namespace drydock
