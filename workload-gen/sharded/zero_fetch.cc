#include "workload-gen/sharded/zero_fetch.h"

#include <algorithm>
#include <utility>

namespace drydock {
namespace {

class Planner {
 public:
  Planner(const std::vector<int64_t>& parameters, const std::vector<std::vector<int>>& trace,
          const ZeroRules& rules, int ranks)
      : parameters_(parameters), trace_(trace), rules_(rules), ranks_(ranks) {
    for (const int64_t elements : parameters) {
      // Small parameters stay gathered.
      where_.push_back(elements <= rules.param_persistence_threshold ? kHere : kShared);
    }
    for (size_t step = 0; step < trace.size(); ++step) {
      for (const int parameter : trace[step]) queue_.push_back({parameter, step});
    }
  }

  ZeroFetchPlan Plan() {
    for (size_t step = 0; step < trace_.size(); ++step) {
      plan_.steps.emplace_back();
      Fetch(step);
      Prefetch(step);
      Release(step);
    }
    return std::move(plan_);
  }

 private:
  // The state of a parameter: sharded, whole on this rank, or in the gather of that index.
  static constexpr int kShared = -1, kHere = -2;
  struct Entry {
    int parameter;
    size_t step;
  };

  int& Where(int parameter) { return where_[static_cast<size_t>(parameter)]; }
  int64_t Size(int parameter) const { return parameters_[static_cast<size_t>(parameter)]; }
  bool Persists(int parameter) const {
    return Size(parameter) <= rules_.param_persistence_threshold;
  }

  int Gather(const std::vector<int>& parameters) {
    if (parameters.empty()) return -1;
    const auto index = static_cast<int>(plan_.gathers.size());
    ZeroFetch fetch;
    fetch.parameters = parameters;
    for (const int parameter : parameters) {
      fetch.elements += (Size(parameter) + ranks_ - 1) / ranks_ * ranks_;
      live_ += Size(parameter);
      Where(parameter) = index;
    }
    plan_.gathers.push_back(std::move(fetch));
    return index;
  }

  void Fetch(size_t step) {
    ZeroFetchStep& made = plan_.steps[step];
    std::vector<int> missing;
    for (const int parameter : trace_[step]) {
      if (Where(parameter) == kShared) missing.push_back(parameter);
    }
    made.own = Gather(missing);
    for (const int parameter : trace_[step]) {
      if (Where(parameter) >= 0) Arrive(Where(parameter), &made);
    }
    std::sort(made.waits.begin(), made.waits.end());
  }

  // One wait covers all parameters of a gather.
  void Arrive(int gather, ZeroFetchStep* step) {
    step->waits.push_back(gather);
    for (const int parameter : plan_.gathers[static_cast<size_t>(gather)].parameters) {
      Where(parameter) = kHere;
    }
  }

  void Prefetch(size_t step) {
    while (next_ < queue_.size() && queue_[next_].step <= step) ++next_;
    const int64_t most = std::min(rules_.max_live_parameters - live_, rules_.prefetch_bucket_size);
    std::vector<int> ahead;
    int64_t elements = 0;
    for (; next_ < queue_.size() && elements < most; ++next_) {
      const int parameter = queue_[next_].parameter;
      const bool listed = std::find(ahead.begin(), ahead.end(), parameter) != ahead.end();
      if (Where(parameter) != kShared || listed) continue;
      ahead.push_back(parameter);
      elements += Size(parameter);
    }
    plan_.steps[step].prefetch = Gather(ahead);
  }

  void Release(size_t step) {
    std::vector<int> done;
    for (const int parameter : trace_[step]) {
      if (!Persists(parameter)) done.push_back(parameter);
    }
    int64_t distance = 0;
    for (size_t later = step + 1; later < trace_.size(); ++later) {
      if (distance >= rules_.max_reuse_distance) break;
      for (const int parameter : trace_[later]) {
        std::erase(done, parameter);
        distance += Size(parameter);
      }
    }
    for (const int parameter : done) {
      Where(parameter) = kShared;
      live_ -= Size(parameter);
    }
    plan_.steps[step].releases = std::move(done);
  }

  const std::vector<int64_t>& parameters_;
  const std::vector<std::vector<int>>& trace_;
  const ZeroRules& rules_;
  int64_t ranks_;
  ZeroFetchPlan plan_;
  std::vector<int> where_;
  std::vector<Entry> queue_;  // all uses of parameters, in order
  size_t next_ = 0;           // the first entry neither used nor considered for prefetching
  int64_t live_ = 0;
};

}  // namespace

ZeroFetchPlan PlanZeroFetches(const std::vector<int64_t>& parameters,
                              const std::vector<std::vector<int>>& trace, const ZeroRules& rules,
                              int ranks) {
  return Planner(parameters, trace, rules, ranks).Plan();
}

}  // namespace drydock
