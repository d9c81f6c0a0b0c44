#include "study/goodput/goodput.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

// Neighbors in the first round of trials; later rounds look between the best one's neighbors.
constexpr double kRatio = 1.35;
constexpr int64_t kFewSteps = 8;

std::vector<Month> Months(const MonthPlan& plan, const Sampling& sampling) {
  std::vector<Month> months(sampling.samples);
  std::atomic<size_t> next = 0;
  const auto work = [&](bool reports) {
    for (size_t sample = next++; sample < months.size(); sample = next++) {
      months[sample] = SimulateMonth(plan, sampling.seed, sample);
      if (reports && sampling.progress) sampling.progress(sample + 1);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < sampling.threads; ++i) others.emplace_back(work, false);
  work(true);
  for (std::thread& thread : others) thread.join();
  return months;
}

double MeanGoodput(const MonthPlan& plan, const Sampling& sampling) {
  double sum = 0;
  for (const Month& month : Months(plan, sampling)) sum += month.goodput;
  return sum / static_cast<double>(sampling.samples) / plan.horizon;
}

// The best numbers of steps, found from coarse to fine. Each number is tried once.
class Trials {
 public:
  Trials(const Sampling& sampling, const MonthPlan& plan) : sampling_(sampling), plan_(plan) {}

  void Try(int64_t steps) {
    if (steps < 1 || known_.contains(steps) || !SetInterval(steps, &plan_)) return;
    known_[steps] = MeanGoodput(plan_, sampling_);
  }
  // Between the neighbors of the best one.
  bool Refine() {
    const auto best = Best();
    const int64_t below = best == known_.begin() ? best->first : std::prev(best)->first;
    const int64_t above = std::next(best) == known_.end() ? best->first : std::next(best)->first;
    const size_t before = known_.size();
    const int64_t steps = best->first;
    const int64_t step = std::max<int64_t>(1, (above - below) / kFewSteps);
    for (int64_t other = below + step; other < above; other += step) Try(other);
    Try(steps);
    return known_.size() > before;
  }
  bool empty() const { return known_.empty(); }
  int64_t best() const { return Best()->first; }
  std::vector<IntervalTrial> All() const {
    std::vector<IntervalTrial> all;
    for (const auto& [steps, goodput] : known_) all.push_back({steps, goodput});
    return all;
  }

 private:
  std::map<int64_t, double>::const_iterator Best() const {
    return std::max_element(known_.begin(), known_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
  }

  const Sampling& sampling_;
  MonthPlan plan_;
  std::map<int64_t, double> known_;
};

}  // namespace

Distribution DistributionOf(std::vector<double> values) {
  CHECK(!values.empty());
  Distribution out;
  for (const double value : values) out.mean += value / static_cast<double>(values.size());
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  out.p10 = at(0.1);
  out.median = at(0.5);
  out.p90 = at(0.9);
  return out;
}

Goodput Simulate(const MonthPlan& plan, const Sampling& sampling) {
  const std::vector<Month> months = Months(plan, sampling);
  const auto of = [&](auto value) {
    std::vector<double> values;
    for (const Month& month : months) values.push_back(value(month));
    return DistributionOf(std::move(values));
  };
  Goodput out;
  out.goodput = of([&](const Month& month) { return month.goodput / plan.horizon; });
  for (size_t i = 0; i < kBadputs; ++i) {
    out.badput[i] = of([&](const Month& month) { return month.badput[i] / plan.horizon; });
  }
  out.failures = of([](const Month& month) { return static_cast<double>(month.failures); });
  return out;
}

bool SetInterval(int64_t steps, MonthPlan* plan) {
  plan->full.steps = steps;
  if (plan->policy == Policy::kShrink) {
    const double seconds = static_cast<double>(steps) * plan->full.step;
    plan->shrunk.steps = std::max<int64_t>(1, std::llround(seconds / plan->shrunk.step));
    if (!IsPossible(plan->shrunk)) return false;
  }
  return IsPossible(plan->full);
}

std::vector<IntervalTrial> ChooseInterval(const Sampling& sampling, MonthPlan* plan) {
  Trials trials(sampling, *plan);
  const double most = std::floor(plan->horizon / plan->full.step);
  for (double steps = 1; steps <= most; steps = std::max(steps + 1, steps * kRatio)) {
    trials.Try(static_cast<int64_t>(steps));
  }
  if (trials.empty()) return {};
  while (trials.Refine()) {
  }
  SetInterval(trials.best(), plan);
  return trials.All();
}

double YoungInterval(double stall, double between) { return std::sqrt(2 * stall * between); }

double DalyInterval(double stall, double between) {
  if (stall >= 2 * between) return between;
  const double share = stall / (2 * between);
  return YoungInterval(stall, between) * (1 + std::sqrt(share) / 3 + share / 9) - stall;
}

}  // namespace drydock
