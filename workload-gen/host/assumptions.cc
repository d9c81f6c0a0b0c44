#include "workload-gen/host/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "workload-gen/job/key.h"
#include "workload-gen/host/host_costs.h"

namespace drydock {
namespace {

constexpr const char* kClusterFile = "cluster file";

const char* DispatcherName(MoeDispatcher dispatcher) {
  switch (dispatcher) {
    case MoeDispatcher::kAllToAll:
      return "alltoall (NCCL)";
    case MoeDispatcher::kAllGather:
      return "allgather (NCCL)";
    case MoeDispatcher::kFlex:
      return "flex (DeepEP)";
    case MoeDispatcher::kHybridEp:
      return "hybridep (HybridEP)";
  }
  return "";
}

class Collector {
 public:
  explicit Collector(const AssumedFrom& from)
      : from_(from),
        job_(from.job),
        training_(from.job.training),
        topology_(from.workload.topology) {}

  std::vector<Assumption> Collect() {
    out_ = from_.imported;
    AddHost();
    AddAttention();
    if (job_.model.moe.experts > 0) AddExperts();
    AddTransports();
    AddDifferences();
    AddVendor();
    return std::move(out_);
  }

 private:
  void Add(const std::string& name, const std::string& value, const std::string& source) {
    out_.push_back({name, value, source});
  }

  // Returns "model.yaml:12", or "default of training.moe_dispatcher".
  std::string PlaceOf(const std::string& key) const {
    CHECK(FindKey(key) != nullptr);
    const auto place = job_.places.find(key);
    if (place == job_.places.end()) return "default of " + key;
    const Location& at = place->second.location;
    if (at.line == 0) return BaseName(at.file);
    return fmt::format("{}:{}", BaseName(at.file), at.line);
  }

  void AddHost() {
    const HostLaunchSet& set = from_.launch;
    if (!set.launch.modeled()) {
      Add("host costs", "none: launching takes no time", PlaceOf("training.host_launch"));
    } else {
      Add("host costs", set.launch.name, PlaceOf("training.host_launch"));
      Add("host costs measured", set.measured, "configs/host-launch.yaml");
      AddProcessors();
    }
    const Time delay = StepDelay(set, topology_);
    if (delay > Time()) {
      Add("step_delay",
          fmt::format("{} a step on one machine, so {} more for the slowest of all",
                      ToString(set.step_delay), ToString(delay)),
          "configs/host-launch.yaml");
    }
    const Time sample = training_.host.sample_time;
    Add("sample_time",
        sample == Time() ? "0 s: data is never late" : ToString(sample) + " a sample",
        PlaceOf("training.sample_time"));
  }

  void AddProcessors() {
    std::set<std::string> known;
    for (const int kind : topology_.hosts) {
      const HostKind& host = topology_.host_kinds[static_cast<size_t>(kind)];
      const GpuSpec& gpu = topology_.gpus[static_cast<size_t>(host.gpu)];
      const std::string cpu = host.CpuName(gpu.compute_capability);
      const double speed = host.board.launch_speed;
      if (!known.insert(fmt::format("{} {}", cpu, speed)).second) continue;
      const bool own = from_.processors.at(cpu) != speed;
      const std::string factor = speed == 1 ? "" : fmt::format("{:g} times ", speed);
      Add("host processor",
          fmt::format("{}{}, launches {}as fast as the processor of the costs", cpu,
                      host.board.cpu.empty() ? " (of the DGX with this GPU)" : "", factor),
          own ? "launch_speed in the cluster file" : "configs/processors.yaml");
    }
  }

  void AddAttention() {
    const bool fused =
        training_.fused_attention() || training_.framework != FrameworkKind::kMegatron;
    Add("attention", fused ? from_.attention : "unfused: operators of PyTorch",
        PlaceOf(training_.kernels.fused ? "training.attention_kernels" : "training.kernels"));
  }

  void AddExperts() {
    const ExpertRules& moe = training_.moe;
    Add("expert dispatcher", DispatcherName(moe.dispatcher), PlaceOf("training.moe_dispatcher"));
    const std::string busiest =
        fmt::format("the busiest rank gets {:.3g} times the mean", moe.imbalance);
    if (moe.loads != "uniform") {
      Add("expert loads", fmt::format("{}: {}", moe.loads, busiest), "configs/expert-loads.yaml");
    } else if (moe.imbalance > 1) {
      Add("expert loads", busiest, PlaceOf("training.moe_imbalance"));
    } else {
      Add("expert loads", "uniform: every rank gets the mean",
          PlaceOf("training.moe_expert_loads"));
    }
  }

  // Communication without NCCL.
  void AddTransports() {
    std::set<BufferKind> used;
    for (const CommCall& call : from_.workload.calls) {
      used.insert(call.buffers);
      for (const CommCall& part : call.parts) used.insert(part.buffers);
    }
    if (used.count(BufferKind::kDeepEp) > 0) {
      Add("DeepEP costs", "by GPU, section deepep", "configs/token-exchange.yaml");
    }
    if (used.count(BufferKind::kHybridEp) > 0) {
      Add("HybridEP costs", "by GPU, section hybridep", "configs/token-exchange.yaml");
    }
    if (used.count(BufferKind::kUserBuffers) == 0) return;
    for (const GpuSpec& gpu : topology_.gpus) {
      Add("Userbuffers costs", fmt::format("collectives of {}", gpu.name), gpu.file());
    }
  }

  // How GPUs, ranks and steps of one kind differ.
  void AddDifferences() {
    const Variation& variation = from_.variation;
    if (variation.none()) {
      Add("spread of GPUs", "none: all GPUs of a kind are equal", kClusterFile);
      return;
    }
    if (!variation.slow_gpus.empty()) {
      Add("spread of GPUs", Plural(variation.slow_gpus.size(), "slowdown") + " stated in faults",
          kClusterFile);
    }
    const Jitter& jitter = variation.jitter;
    if (jitter.compute > 0 || jitter.call > Time()) {
      Add("jitter",
          fmt::format("compute {:.3g} %, calls {}, seed {}", jitter.compute * 100,
                      ToString(jitter.call), jitter.seed),
          kClusterFile);
    }
  }

  void AddVendor() {
    for (const GpuSpec& gpu : topology_.gpus) {
      if (!gpu.architecture.starts_with("cdna")) continue;
      Add("RCCL",
          fmt::format("on {}: plans and costs of NCCL on {} stand for it", gpu.name, gpu.reference),
          gpu.file());
    }
  }

  const AssumedFrom& from_;
  const TrainingJob& job_;
  const TrainingRules& training_;
  const Topology& topology_;
  std::vector<Assumption> out_;
};

}  // namespace

std::vector<Assumption> AssumptionsOf(const AssumedFrom& from) { return Collector(from).Collect(); }

}  // namespace drydock
