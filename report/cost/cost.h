// What a run costs and how much energy it takes, from the section `cost` of the cluster file.
//
// The whole cluster is paid for: GPUs without work, and waits, cost as much as work. Power is that
// of all parts, times the PUE.
#ifndef DRYDOCK_REPORT_COST_COST_H_
#define DRYDOCK_REPORT_COST_COST_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {

struct CostFacts {
  std::string currency;                                // "USD"; empty if no amount is stated
  std::optional<double> per_hour;                      // of the cluster
  std::vector<std::pair<std::string, double>> hourly;  // its parts: "rent", "electricity"
  std::optional<double> watts;                         // of the cluster, at the meter
  std::vector<std::pair<std::string, double>> draws;   // of the parts, before the PUE

  // Of an iteration, and of a token. Absent of a run that was stopped, or whose workload states no
  // tokens.
  std::optional<double> iteration, token;  // amounts
  std::optional<double> iteration_joules, token_joules;
  std::vector<Assumption> assumptions;  // each value with its source
};

// `seconds`: the mean time of an iteration; 0: the run was stopped. `tokens`: of an iteration; 0:
// unknown. Absent if the cluster states no costs.
std::optional<CostFacts> CostOf(const Topology& topology, double seconds, int64_t tokens);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_COST_COST_H_
