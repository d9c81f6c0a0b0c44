#include "exec-engine/replay/what_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/spelling.h"

namespace drydock {
namespace {

Time Shorter(Time time, double factor) {
  return Time::Ps(static_cast<int64_t>(static_cast<double>(time.ps()) / factor + 0.5));
}

Bandwidth Faster(Bandwidth rate, double factor) {
  return Bandwidth::BitsPerSecond(
      static_cast<int64_t>(static_cast<double>(rate.bits_per_second()) * factor + 0.5));
}

void SpeedCompute(double factor, Workload*, KernelTimes* times) {
  for (GpuKernelTimes& gpu : times->gpus) {
    for (SubmoduleTime& submodule : gpu.submodules) {
      submodule.total = Shorter(submodule.total, factor);
      for (KernelTime& kernel : submodule.kernels) kernel.time = Shorter(kernel.time, factor);
    }
  }
}

void SpeedNvLink(double factor, Workload* workload, KernelTimes*) {
  for (HostKind& kind : workload->topology.host_kinds) {
    kind.scale_up.bandwidth = Faster(kind.scale_up.bandwidth, factor);
  }
}

void SpeedNic(double factor, Workload* workload, KernelTimes*) {
  for (HostKind& kind : workload->topology.host_kinds) {
    kind.nics.rate = Faster(kind.nics.rate, factor);
  }
  for (FabricLink& link : workload->topology.fabric.links) link.rate = Faster(link.rate, factor);
}

void ShortenLatency(double factor, Workload* workload, KernelTimes*) {
  for (HostKind& kind : workload->topology.host_kinds) {
    kind.scale_up.latency = Shorter(kind.scale_up.latency, factor);
    kind.nics.latency = Shorter(kind.nics.latency, factor);
    kind.nics.message = Shorter(kind.nics.message, factor);
  }
  for (FabricLink& link : workload->topology.fabric.links) link.delay = Shorter(link.delay, factor);
  for (FabricSwitch& each : workload->topology.fabric.switches) {
    each.latency = Shorter(each.latency, factor);
  }
}

void SpeedProtocol(double factor, CollectiveCosts::Protocol* costs) {
  for (Time* time : {&costs->base, &costs->base_per_warp, &costs->step, &costs->pass_time,
                     &costs->pass_store, &costs->net_slice, &costs->proxy, &costs->hop}) {
    *time = Shorter(*time, factor);
  }
  for (Bandwidth* rate : {&costs->send, &costs->copy_send, &costs->reduce_send, &costs->receive}) {
    *rate = Faster(*rate, factor);
  }
}

void SpeedNccl(double factor, Workload* workload, KernelTimes*) {
  for (GpuSpec& gpu : workload->topology.gpus) {
    CollectiveCosts& costs = gpu.collectives;
    for (CollectiveCosts::Protocol* each :
         {&costs.simple, &costs.ll, &costs.ll128, &costs.nvls, &costs.nvls_registered,
          &costs.p2p_simple, &costs.p2p_ll}) {
      SpeedProtocol(factor, each);
    }
  }
}

void SpeedHost(double factor, Workload* workload, KernelTimes*) {
  HostLaunch& launch = workload->launch;
  for (Time* time : {&launch.kernel, &launch.backward_kernel, &launch.collective, &launch.message,
                     &launch.graph, &launch.loop, &launch.wait, &launch.latency, &launch.expert}) {
    *time = Shorter(*time, factor);
  }
  for (Submodule& submodule : workload->submodules) {
    submodule.host = Shorter(submodule.host, factor);
  }
}

// The inputs before any change.
struct Originals {
  Topology topology;
  HostLaunch launch;
  std::vector<Submodule> submodules;
};

}  // namespace

const std::vector<WhatIfChange>& WhatIfChanges() {
  static const std::vector<WhatIfChange> changes = {
      {"compute", "all kernels of compute ops", SpeedCompute},
      {"nvlink", "bandwidth between the GPUs of a host: NVLink or PCIe", SpeedNvLink},
      {"nic", "rate of NICs and of all cables", SpeedNic},
      {"latency", "latency of NVLink, NICs, cables and switches", ShortenLatency},
      {"nccl", "times and copy rates of NCCL's thread blocks and proxies", SpeedNccl},
      {"host", "launches and framework code of the host", SpeedHost}};
  return changes;
}

Result<std::vector<const WhatIfChange*>> FindChanges(const std::string& names) {
  std::vector<std::string> known;
  for (const WhatIfChange& change : WhatIfChanges()) known.push_back(change.name);
  std::vector<std::string> wanted = names.empty() ? known : std::vector<std::string>();
  for (size_t begin = 0; !names.empty() && begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    wanted.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Error(fmt::format("--only: '{}' is not a change{}; valid values are {}", name,
                             DidYouMean(name, known), Join(known)));
  }
  std::vector<const WhatIfChange*> out;
  for (const WhatIfChange& change : WhatIfChanges()) {
    if (std::find(wanted.begin(), wanted.end(), change.name) != wanted.end()) {
      out.push_back(&change);
    }
  }
  return out;
}

Result<WhatIf> AnswerWhatIf(Workload workload, const FlowPlan& plan, const KernelTimes& times,
                            const NetworkModel& network, const WhatIfOptions& options) {
  const Originals originals{workload.topology, workload.launch, workload.submodules};
  WhatIf out;
  out.network = network.name;
  out.better = options.better;
  if (options.began) options.began("as it is");
  ASSIGN_OR_RETURN(const Timeline as_it_is, Replay(workload, plan, times, network, options.replay));
  out.iteration = as_it_is.iteration;
  for (const WhatIfChange* change : options.changes) {
    if (options.began) options.began(change->name);
    KernelTimes changed_times = times;
    workload.topology = originals.topology;
    workload.launch = originals.launch;
    workload.submodules = originals.submodules;
    change->apply(1 + options.better / 100, &workload, &changed_times);
    ASSIGN_OR_RETURN(const Timeline changed,
                     Replay(workload, plan, changed_times, network, options.replay));
    out.answers.push_back({change->name, change->changed, changed.iteration});
  }
  return out;
}

std::string WhatIfText(const WhatIf& what_if) {
  std::string out = fmt::format("iteration {} over the {} network; {:g} % better:\n",
                                ToString(what_if.iteration), what_if.network, what_if.better);
  for (const WhatIfAnswer& answer : what_if.answers) {
    const double change = answer.iteration.seconds() / what_if.iteration.seconds() - 1;
    out += fmt::format("  {:<9}{:>12}{:>10}  {}\n", answer.name, ToString(answer.iteration),
                       fmt::format("{:+.2f} %", change * 100), answer.changed);
  }
  return out;
}

}  // namespace drydock
