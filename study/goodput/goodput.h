// What is left of some days of training: many courses of the same plan, and the interval between
// checkpoints that leaves most.
#ifndef DRYDOCK_STUDY_GOODPUT_GOODPUT_H_
#define DRYDOCK_STUDY_GOODPUT_GOODPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "study/goodput/month.h"

namespace drydock {

struct Sampling {
  size_t samples = 200;
  uint64_t seed = 0;
  int threads = 1;  // changes no figure
  // Called now and then with the number of courses done. Null: never.
  std::function<void(size_t done)> progress;
};

struct Distribution {
  double p10 = 0, median = 0, p90 = 0, mean = 0;
};
// REQUIRES: `values` is not empty.
Distribution DistributionOf(std::vector<double> values);

struct Goodput {
  Distribution goodput;                       // share of the time
  std::array<Distribution, kBadputs> badput;  // shares of the time
  Distribution failures;                      // how many
};
Goodput Simulate(const MonthPlan& plan, const Sampling& sampling);

struct IntervalTrial {
  int64_t steps = 0;
  double goodput = 0;  // mean share
};

// Tries numbers of steps between checkpoints, the same failures for each, and sets that with the
// most goodput in both schedules of *plan. Returns the trials in order of steps. Where no number of
// steps is possible within the horizon, returns nothing.
std::vector<IntervalTrial> ChooseInterval(const Sampling& sampling, MonthPlan* plan);

// Sets the steps between checkpoints of the full schedule, and of the shrunk one so that the time
// is about the same. Returns false if they are not possible.
bool SetInterval(int64_t steps, MonthPlan* plan);

// The best time of steps between checkpoints that each stop training for `stall`, if failures come
// every `between` seconds on average. Young 1974, "A first order approximation to the optimum
// checkpoint interval"; Daly 2006, "A higher order estimate of the optimum checkpoint interval for
// restart dumps", equation 37.
double YoungInterval(double stall, double between);
double DalyInterval(double stall, double between);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_GOODPUT_H_
