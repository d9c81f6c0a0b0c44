// The numbers of a run: how fast, why not faster, and what they rest on. Made once; shown as JSON,
// as text and in the page, so the three always agree. Plain data; immutable once built.
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
#include "report/facts/breakdown.h"
#include "report/facts/collectives.h"
#include "report/facts/critical_path.h"
#include "report/facts/inputs.h"
#include "report/facts/kernels.h"
#include "report/facts/transfers.h"

namespace drydock {

// Rates of the iteration. FLOPs are per second and per GPU.
struct Rates {
  Time iteration;
  double tokens_per_second = 0;  // of the whole cluster
  double tokens_per_gpu_second = 0;
  FlopRate model;     // forward and backward, no recompute
  FlopRate hardware;  // recompute included
  FlopRate peak;      // dense, at the workload's precision, mean over the ranks; 0 = unknown
  bool recompute = false;
  // Model FLOPs utilisation: model / peak. Hardware FLOPs utilisation: hardware / peak, where
  // something is recomputed. Absent if the GPUs have no rate for the precision.
  std::optional<double> mfu;
  std::optional<double> hfu;
};

// A kind of GPU in the cluster and where its numbers come from.
struct GpuFacts {
  std::string name;
  int count = 0;
  FlopRate dense_rate;  // at the workload's precision
  std::string source;
  std::string reference;       // the calibrated GPU its kernels are scaled from; empty if its own
  double link_efficiency = 0;  // 0 = it has no collective costs of its own
  std::string collective_source;
};

struct Summary {
  std::string model;
  std::string layout;
  std::string cluster;
  std::string network;
  std::string fabric;
  std::string congestion_control;  // empty: the network looks at none
  std::string precision;
  int hosts = 0;
  int ranks = 0;
  int64_t parameters = 0;
  int64_t tokens = 0;
  double model_flops = 0;  // of the iteration, over all GPUs
  double hardware_flops = 0;
  Rates rates;     // none but `iteration` of a run that was stopped
  Time simulated;  // all iterations of the run together
  Time stopped;    // on its way, at that moment; zero: it ran to its end
  int64_t ops = 0, ops_ended = 0;
  std::vector<Time> iterations;  // how long each took, of a run of several; the rest is the last's
  std::array<PartSummary, kPartCount> parts;
  std::vector<ClassBreakdown> classes;
  std::vector<CollectiveRow> collectives;
  PathSummary path;
  KernelSummary kernels;
  std::vector<TransferRow> transfers;  // loads, stores and the host's own work
  std::vector<std::pair<std::string, int64_t>> counters;
  std::vector<LinkTotal> links;  // of the network, the busiest first
  std::vector<SlowdownRow> slowdowns;
  std::vector<GpuFacts> gpus;
  std::optional<MemoryVerdict> memory;   // of the ranks that need most
  std::vector<MemoryPart> memory_parts;  // theirs
  std::optional<WhatIf> what_if;         // where it was asked

  double ShareOf(Time part) const {
    return static_cast<double>(part.ps()) / static_cast<double>(rates.iteration.ps());
  }
};

Summary Summarise(const Inputs& inputs);

// summary.json; its keys are those of docs/reference/report.md. Null: compared with no other run.
struct Comparison;
std::string SummaryJson(const Summary& summary, const Comparison* comparison = nullptr);

// For a terminal, 100 columns: the headlines, and the costliest collectives and kernels.
std::string SummaryText(const Summary& summary);

// The last line of a list on a terminal, "  and 3 calls more in summary.json"; "" if all are shown.
std::string MoreInJson(size_t all, size_t shown, const char* noun);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_SUMMARY_H_
