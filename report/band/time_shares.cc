#include "report/band/time_shares.h"

#include <algorithm>
#include <map>
#include <utility>

namespace drydock {
namespace {

// Adds up steps of the path by model.
class ShareCounter {
 public:
  ShareCounter(const Inputs& inputs, const BandErrors& errors)
      : inputs_(inputs), errors_(errors), placement_(inputs.workload.topology) {}

  void Add(const PathStep& step) {
    const double seconds = (step.end - step.begin).seconds();
    if (seconds <= 0) return;
    switch (step.kind) {
      case PathKind::kCompute:
        return AddCompute(step, seconds);
      case PathKind::kTransfer:
        return AddTransfer(step, seconds);
      case PathKind::kMemory:
        return Count("memory of the host", seconds, {"host.memory", errors_.memory});
      case PathKind::kHost:
        return Count("host", seconds, {"host.launches", errors_.launches});
    }
  }

  std::vector<TimeShare> Take() {
    std::vector<TimeShare> out;
    double sum = 0;
    for (const auto& [name, total] : totals_) sum += total.seconds;
    for (const auto& [name, total] : totals_) {
      TimeShare share;
      share.name = name;
      share.share = total.seconds / sum;
      share.stated_error = total.stated_error / total.seconds;
      share.entry = total.entry.name;
      share.entry_share = total.entry_seconds / total.seconds;
      share.assumed = total.assumed;
      share.error = share.stated_error + share.entry_share * total.entry.error;
      out.push_back(std::move(share));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const TimeShare& a, const TimeShare& b) { return a.share > b.share; });
    return out;
  }

 private:
  // An error of the file, which all models of a name share.
  struct Entry {
    std::string name;
    double error = 0;
  };

  struct Total {
    double seconds = 0;
    double stated_error = 0;   // seconds times errors of kernels
    double entry_seconds = 0;  // the time that counts with the entry's error
    Entry entry;
    bool assumed = false;
  };

  void Count(const std::string& name, double seconds, const Entry& entry) {
    Total& total = totals_[name];
    total.seconds += seconds;
    total.entry_seconds += seconds;
    total.entry = entry;
  }

  void CountStated(const std::string& name, double seconds, double error) {
    Total& total = totals_[name];
    total.seconds += seconds;
    total.stated_error += seconds * error;
  }

  // Divides the step among the kernels of its op as their times divide the op.
  void AddCompute(const PathStep& step, double seconds) {
    const Workload& workload = inputs_.workload;
    const Op& op = inputs_.program_of(step.rank).ops[step.op];
    const int gpu = workload.topology.kind_of_host(placement_.of(step.rank).host).gpu;
    const GpuKernelTimes& times = inputs_.times.gpus[static_cast<size_t>(gpu)];
    const std::vector<uint32_t>& submodules = workload.blocks[op.work].submodules;
    double all = 0;
    for (const uint32_t submodule : submodules) {
      for (const KernelTime& kernel : times.submodules[submodule].kernels) {
        all += kernel.time.seconds();
      }
    }
    if (all <= 0) return CountStated("compute without kernels", seconds, 0);
    for (const uint32_t submodule : submodules) {
      for (const KernelTime& kernel : times.submodules[submodule].kernels) {
        if (kernel.time > Time()) AddKernel(kernel, seconds * kernel.time.seconds() / all);
      }
    }
  }

  void AddKernel(const KernelTime& kernel, double seconds) {
    const auto source = static_cast<size_t>(kernel.source);
    const std::string word = TimeSourceNames()[source];
    const std::string name = kernel.name + " (" + word + ")";
    if (kernel.expected_error > 0) return CountStated(name, seconds, kernel.expected_error);
    Count(name, seconds, {"kernels." + word, errors_.kernels[source]});
  }

  void AddTransfer(const PathStep& step, double seconds) {
    const Op& op = inputs_.program_of(step.rank).ops[step.op];
    const int group = inputs_.group_of(step.rank, op);
    const std::vector<int>& ranks = inputs_.workload.groups[static_cast<size_t>(group)].ranks;
    const int host = placement_.of(ranks.front()).host;
    const bool inside = std::all_of(ranks.begin(), ranks.end(),
                                    [&](int rank) { return placement_.of(rank).host == host; });
    const CommCall& call = inputs_.workload.calls[op.work];
    if (ExchangesTokens(call.buffers) && AddExchange(call.buffers, host, inside, seconds)) return;
    if (inside) {
      Count("communication inside hosts", seconds,
            {"communication.inside_hosts", errors_.inside_hosts});
    } else {
      Count("communication between hosts", seconds,
            {"communication.between_hosts", errors_.between_hosts});
    }
  }

  // Returns false if the errors of such exchanges are not known.
  bool AddExchange(BufferKind buffers, int host, bool inside, double seconds) {
    const Topology& topology = inputs_.workload.topology;
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(topology.kind_of_host(host).gpu)];
    const TokenCosts* costs = FindTokenCosts(errors_.tokens, buffers, gpu);
    if (costs == nullptr) return false;
    std::string name = BufferKindNames()[static_cast<size_t>(buffers)];
    name += inside ? " inside hosts" : " between hosts";
    if (!costs->measured) name += " (assumed)";
    CountStated(name, seconds, inside ? costs->error : costs->error_between_hosts);
    totals_[name].assumed = !costs->measured;
    return true;
  }

  const Inputs& inputs_;
  const BandErrors& errors_;
  const Placement placement_;
  std::map<std::string, Total> totals_;
};

}  // namespace

std::vector<TimeShare> TimeSharesOf(const Inputs& inputs, const std::vector<PathStep>& path,
                                    const BandErrors& errors) {
  ShareCounter counter(inputs, errors);
  for (const PathStep& step : path) counter.Add(step);
  return counter.Take();
}

std::vector<TimeShare> LargestErrors(std::vector<TimeShare> shares, size_t most) {
  std::erase_if(shares, [](const TimeShare& each) { return each.share * each.error <= 0; });
  std::stable_sort(shares.begin(), shares.end(), [](const TimeShare& a, const TimeShare& b) {
    return a.share * a.error > b.share * b.error;
  });
  if (shares.size() > most) shares.resize(most);
  return shares;
}

}  // namespace drydock
