// The figures of a run: its speed, what limits it, and the assumptions. Summarize computes them
// once; the JSON, the text and the page show them, so the three agree. Plain data;
// immutable once built.
#ifndef DRYDOCK_REPORT_FACTS_SUMMARY_H_
#define DRYDOCK_REPORT_FACTS_SUMMARY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/model/memory_total.h"
#include "report/band/band.h"
#include "report/cost/cost.h"
#include "report/facts/assumptions.h"
#include "report/facts/collectives.h"
#include "report/facts/host_share.h"
#include "report/facts/kernels.h"
#include "report/facts/transfers.h"
#include "report/inputs/breakdown.h"
#include "report/inputs/inputs.h"
#include "report/path/path_summary.h"

namespace drydock {

// The training job, from the workload.
struct JobFacts {
  std::string model;
  std::string layout;
  std::string precision;
  int64_t parameters = 0;
  int64_t tokens = 0;      // of an iteration
  double model_flops = 0;  // of an iteration, over all GPUs
  double hardware_flops = 0;
};

// How much of the run was replayed.
struct RunLength {
  std::vector<Time> iterations;    // of a run of several; other facts are of the last
  Time simulated;                  // all iterations together
  Time stopped;                    // when the run was stopped; zero: it is complete
  int64_t ops = 0, ops_ended = 0;  // of a run that was stopped
};

// Rates of the iteration. FLOPs are per second and per GPU. A run that was stopped has no rates.
struct Rates {
  Time iteration;
  double tokens_per_second = 0;  // of the whole cluster
  double tokens_per_gpu_second = 0;
  FlopRate model;     // forward and backward, no recompute
  FlopRate hardware;  // recompute included
  FlopRate peak;      // dense, at the workload's precision, mean over the ranks; 0 = unknown
  bool recompute = false;
  // Model FLOPs utilization: model / peak. Hardware FLOPs utilization: hardware / peak, if there is
  // recomputation. Absent if the GPUs have no rate for the precision.
  std::optional<double> mfu;
  std::optional<double> hfu;
};

// A kind of GPU in the cluster and the source of its values.
struct GpuFacts {
  std::string name;
  int count = 0;
  FlopRate dense_rate;  // at the workload's precision
  std::string source;
  std::string reference;       // the GPU whose kernel times are scaled for this one; or empty
  double link_efficiency = 0;  // 0: the GPU has no collective costs
  std::string collective_source;
};

struct ClusterFacts {
  std::string name;
  std::string fabric;
  int hosts = 0;
  int ranks = 0;
  int working = 0;  // ranks that work (Inputs::works)
  std::vector<GpuFacts> gpus;
};

struct NetworkFacts {
  std::string name;
  std::optional<CongestionControl> congestion_control;  // absent: the network does not simulate it
  std::vector<std::pair<std::string, int64_t>> counters;
  std::vector<LinkTotal> links;  // the busiest first
  std::vector<SlowdownRow> slowdowns;
};

// The memory of the ranks that need most.
struct MemoryFacts {
  MemoryVerdict verdict;
  std::vector<MemoryPart> parts;
  std::optional<PyTorchPeaks> pytorch;  // absent if unknown
};

struct Summary {
  JobFacts job;
  ClusterFacts cluster;
  NetworkFacts network;
  RunLength length;
  Rates rates;
  std::optional<Band> band;           // absent without errors, or if the run was stopped
  std::optional<MemoryFacts> memory;  // absent if unknown
  std::string no_memory;              // why it is unknown
  std::optional<CostFacts> cost;      // absent if the cluster states none
  std::array<PartSummary, kPartCount> parts;
  std::array<PartSummary, kHostCauseCount> host;  // the part `host` by cause
  std::optional<HostShare> host_share;            // absent where no op waits for the host
  std::vector<ClassBreakdown> classes;
  std::vector<CollectiveRow> collectives;
  std::vector<TransferRow> transfers;  // loads, stores and host work
  KernelSummary kernels;
  PathSummary path;
  std::vector<Assumption> assumptions;
  std::vector<std::string> notes;  // NotesOf
  std::optional<WhatIf> what_if;  // absent if exec-engine what-if was not run

  double ShareOf(Time part) const {
    return static_cast<double>(part.ps()) / static_cast<double>(rates.iteration.ps());
  }
};

// `errors`: of the models behind the prediction, for its band.
Summary Summarize(const Inputs& inputs, const std::optional<BandErrors>& errors = std::nullopt);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_SUMMARY_H_
