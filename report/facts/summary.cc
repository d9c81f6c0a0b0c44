#include "report/facts/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/facts/notes.h"

namespace drydock {
namespace {

std::vector<GpuFacts> GpusOf(const Workload& workload) {
  std::vector<GpuFacts> out;
  for (const GpuSpec& gpu : workload.topology.gpus) {
    GpuFacts& facts = out.emplace_back();
    facts.name = gpu.name;
    facts.dense_rate = gpu.RateOf(workload.totals.precision);
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

// Returns the mean over the ranks that work; 0 if one of their GPUs has no rate for the precision.
FlopRate PeakOf(const Inputs& inputs, const ClusterFacts& cluster) {
  const Workload& workload = inputs.workload;
  const Placement placement(workload.topology);
  double sum = 0;
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    if (!inputs.works(rank)) continue;
    const int gpu = workload.topology.kind_of_host(placement.of(rank).host).gpu;
    const FlopRate rate = cluster.gpus[static_cast<size_t>(gpu)].dense_rate;
    if (rate <= FlopRate()) return FlopRate();
    sum += rate.flops_per_second();
  }
  return FlopRate(sum / std::max(1, cluster.working));
}

// `seconds`: the time of an iteration. `ranks`: the number of ranks that work.
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

JobFacts JobOf(const WorkloadTotals& totals) {
  return {totals.model_name,    totals.layout, std::string(ToString(totals.precision)),
          totals.parameters,    totals.tokens, totals.model_flops,
          totals.hardware_flops};
}

ClusterFacts ClusterOf(const Inputs& inputs) {
  const Workload& workload = inputs.workload;
  const Topology& topology = workload.topology;
  ClusterFacts out = {topology.name, topology.fabric.kind, topology.host_count(),
                      workload.rank_count()};
  for (int rank = 0; rank < out.ranks; ++rank) out.working += inputs.works(rank);
  out.gpus = GpusOf(workload);
  return out;
}

NetworkFacts NetworkOf(const Inputs& inputs) {
  const Timeline& timeline = inputs.timeline;
  const Transport& transport = inputs.workload.topology.transport;
  const bool simulated = timeline.network == kPacketNetwork;
  return {timeline.network, simulated ? std::optional(transport.congestion_control) : std::nullopt,
          timeline.counters, timeline.links, timeline.slowdowns};
}

RunLength LengthOf(const Timeline& timeline) {
  RunLength out;
  out.iterations = timeline.iterations;
  out.simulated = std::accumulate(timeline.iterations.begin(), timeline.iterations.end(), Time());
  if (timeline.iterations.empty()) out.simulated = timeline.iteration;
  out.stopped = timeline.stopped;
  if (timeline.stopped == Time()) return out;
  out.ops_ended = timeline.ops_ended;
  for (const RankTimeline& rank : timeline.ranks) out.ops += static_cast<int64_t>(rank.end.size());
  return out;
}

// Returns the mean over all iterations; 0 of a run that was stopped.
double SecondsOf(const RunLength& length) {
  if (length.stopped > Time()) return 0;
  return length.simulated.seconds() /
         static_cast<double>(std::max<size_t>(1, length.iterations.size()));
}

// Returns the rates over all iterations together, because the last iteration begins on some ranks
// before the previous one has ended on others. A run that was stopped has no rates.
Rates RatesOf(const Inputs& inputs, const ClusterFacts& cluster, const RunLength& length) {
  Rates rates;
  if (length.stopped == Time()) {
    rates = RatesOf(inputs.workload.totals, SecondsOf(length), std::max(1, cluster.working),
                    PeakOf(inputs, cluster));
  }
  rates.iteration = inputs.timeline.iteration;
  return rates;
}

std::optional<MemoryFacts> MemoryOf(const Workload& workload) {
  const std::optional<MemoryVerdict> verdict = JudgeMemory(workload);
  if (!verdict) return std::nullopt;
  const auto index = static_cast<size_t>(verdict->class_index);
  MemoryFacts facts = {*verdict, workload.memory[index], std::nullopt};
  if (!workload.pytorch.empty()) facts.pytorch = workload.pytorch[index];
  return facts;
}

// Only a model says what its ranks hold.
std::string WhyNoMemory(const std::string& maker) {
  if (maker == "drydock-capture") {
    return "the workload was captured: it has what ranks ask of their GPU's streams, not what "
           "their allocator holds";
  }
  if (maker == "nccl-record") {
    return "the workload was recorded: it has what a program asks of NCCL, not what it holds";
  }
  if (maker == "workload-gen") {
    return "the workload was imported, and files of other tools do not say what ranks hold";
  }
  return "the workload does not state it";
}

}  // namespace

Summary Summarize(const Inputs& inputs, const std::optional<BandErrors>& errors) {
  Summary out;
  out.job = JobOf(inputs.workload.totals);
  out.cluster = ClusterOf(inputs);
  out.network = NetworkOf(inputs);
  out.length = LengthOf(inputs.timeline);
  out.rates = RatesOf(inputs, out.cluster, out.length);
  out.memory = MemoryOf(inputs.workload);
  if (!out.memory) out.no_memory = WhyNoMemory(inputs.maker);
  out.cost = CostOf(inputs.workload.topology, SecondsOf(out.length), out.job.tokens);
  out.parts = SummarizeParts(inputs);
  out.classes = BreakdownByClass(inputs);
  out.collectives = SummarizeCollectives(inputs);
  out.transfers = SummarizeTransfers(inputs);
  out.kernels = SummarizeKernels(inputs);
  out.path = SummarizePath(inputs);
  out.host = SummarizeHost(inputs);
  // Without launch costs, only work of the host's own can delay the GPU.
  if (inputs.workload.launch.modeled() || out.path.parts[kPathHostPart] > Time()) {
    out.host_share = HostShareOf(out.path, out.host);
  }
  out.assumptions = AllAssumptions(inputs);
  if (out.cost) {
    out.assumptions.insert(out.assumptions.end(), out.cost->assumptions.begin(),
                           out.cost->assumptions.end());
  }
  out.notes = NotesOf(inputs);
  out.what_if = inputs.what_if;
  if (errors && out.length.stopped == Time()) {
    out.band =
        BandOf(inputs, out.rates.iteration, TimeSharesOf(inputs, out.path.steps, *errors), *errors);
  }
  return out;
}

}  // namespace drydock
