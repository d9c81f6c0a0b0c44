#include "exec-engine/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/check.h"
#include "exec-engine/accounting.h"
#include "exec-engine/aggregator.h"
#include "exec-engine/host_replay.h"
#include "exec-engine/progress.h"
#include "exec-engine/replay_index.h"

namespace drydock {
namespace {

constexpr size_t kStuckShown = 8;

Error NoCosts(const GpuSpec& gpu, const std::string& what) {
  return Error(
      fmt::format("{} has no {}, which says what NCCL's kernels cost; copy that of the "
                  "nearest GPU",
                  gpu.file_name.empty() ? gpu.name : gpu.file_name, what));
}

Status CheckCosts(const Topology& topology, const FlowPlan& plan) {
  bool nvls = false, nvls_registered = false;
  for (const Plan& p : plan.plans) {
    for (const Work& work : p.works) {
      const bool is_nvls =
          work.algorithm == Algorithm::kNvls || work.algorithm == Algorithm::kNvlsTree;
      (work.registered ? nvls_registered : nvls) |= is_nvls;
    }
  }
  for (const HostKind& kind : topology.host_kinds) {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
    if (!gpu.has_collective_costs) return NoCosts(gpu, "'collectives:' section");
    if (nvls && gpu.collectives.nvls.send == Bandwidth()) {
      return NoCosts(gpu, "'nvls' in its 'collectives:' section");
    }
    if (nvls_registered && gpu.collectives.nvls_registered.send == Bandwidth()) {
      return NoCosts(gpu, "'nvls_registered' in its 'collectives:' section");
    }
  }
  return OkStatus();
}

// "all-reduce of 50.3 MB over 'tp' (group 3), layer 4, micro-batch 0".
std::string Describe(const Workload& workload, int rank, const Op& op) {
  const CommCall& call = workload.calls[op.work];
  const std::string name = op.kind == OpKind::kSend ? "send"
                           : op.kind == OpKind::kRecv
                               ? "receive"
                               : CollectiveTypeNames()[static_cast<size_t>(call.collective)];
  std::string text = fmt::format("{} of {} over '{}' (group {})", name, ToString(call.bytes()),
                                 workload.roles[op.role].name,
                                 workload.group_of_rank[op.role][static_cast<size_t>(rank)]);
  if (op.layer >= 0) text += fmt::format(", layer {}", op.layer);
  if (op.microbatch >= 0) text += fmt::format(", micro-batch {}", op.microbatch);
  return text;
}

Error DeadlockError(const ReplayIndex& index, const std::vector<StuckOp>& stuck, int64_t ended) {
  const Workload& workload = index.workload();
  std::string text = fmt::format("the run cannot finish: {} of {} ops ended, {} wait for ever",
                                 ended, index.op_count(), stuck.size());
  for (size_t i = 0; i < std::min(stuck.size(), kStuckShown); ++i) {
    const StuckOp& s = stuck[i];
    text += fmt::format("\n  rank {} in op {} ({}) waits for {}", s.rank, s.op,
                        Describe(workload, s.rank, index.class_of(s.rank).program->ops[s.op]),
                        s.waits_for);
  }
  if (stuck.size() > kStuckShown) {
    text += fmt::format("\n  ... and {} more", stuck.size() - kStuckShown);
  }
  return Error(text);
}

class Run {
 public:
  Run(const ReplayIndex& index, std::unique_ptr<Network> network, const ReplayOptions& options)
      : index_(index),
        network_(std::move(network)),
        progress_(index.op_count(), options.progress),
        log_(options.log) {
    const Topology& topology = index.workload().topology;
    for (const HostKind& kind : topology.host_kinds) {
      port_maps_.push_back(
          std::make_unique<PortMap>(kind, topology.gpus[static_cast<size_t>(kind.gpu)]));
    }
    for (int rank = 0; rank < index.workload().rank_count(); ++rank) {
      const size_t ops = index.class_of(rank).program->ops.size();
      RankTimeline& t = timeline_.ranks.emplace_back();
      t.start.resize(ops);
      t.ready.resize(ops);
      t.end.resize(ops);
    }
    for (HostId host = 0; host < topology.host_count(); ++host) {
      const PortMap& ports =
          *port_maps_[static_cast<size_t>(topology.hosts[static_cast<size_t>(host)])];
      hosts_.push_back(std::make_unique<HostReplay>(host, index, ports, network_->port(host),
                                                    options.shortcut, &timeline_.ranks,
                                                    &progress_));
    }
    const Aggregation& aggregation = index.aggregation();
    for (int n = 0; n < aggregation.node_count(); ++n) {
      const HostId node = topology.host_count() + n;
      aggregators_.push_back(std::make_unique<Aggregator>(node, aggregation, network_->port(node)));
    }
  }

  Result<Timeline> Go() {
    std::vector<HostActor*> actors;
    for (const auto& host : hosts_) actors.push_back(host.get());
    for (const auto& aggregator : aggregators_) actors.push_back(aggregator.get());
    RETURN_IF_ERROR(network_->Run(actors));
    RETURN_IF_ERROR(CheckFinished());
    if (log_ != nullptr && network_->Log() != nullptr) *log_ = *network_->Log();
    for (const RankTimeline& rank : timeline_.ranks) {
      for (const Time end : rank.end) timeline_.iteration = std::max(timeline_.iteration, end);
    }
    const Workload& workload = index_.workload();
    for (int rank = 0; rank < workload.rank_count(); ++rank) {
      timeline_.accounts.push_back(AccountFor(*index_.class_of(rank).program, workload.roles,
                                              timeline_.ranks[static_cast<size_t>(rank)],
                                              timeline_.iteration));
    }
    Count();
    return std::move(timeline_);
  }

 private:
  Status CheckFinished() const {
    std::vector<StuckOp> stuck;
    int64_t ended = 0;
    for (const auto& host : hosts_) {
      ended += host->ops_ended();
      const std::vector<StuckOp> here = host->StuckOps();
      stuck.insert(stuck.end(), here.begin(), here.end());
    }
    if (ended == index_.op_count()) return OkStatus();
    return DeadlockError(index_, stuck, ended);
  }

  void Count() {
    timeline_.counters = network_->Counters();
    timeline_.links = network_->BusiestLinks();
    CommunicationCounters sum;
    for (const auto& host : hosts_) {
      const CommunicationCounters c = host->counters();
      sum.calls += c.calls;
      sum.looked_up += c.looked_up;
      sum.played += c.played;
      sum.detailed += c.detailed;
      sum.slices += c.slices;
    }
    timeline_.counters.emplace_back("ops", index_.op_count());
    timeline_.counters.emplace_back("communication ops", sum.calls);
    timeline_.counters.emplace_back("calls looked up", sum.looked_up);
    timeline_.counters.emplace_back("calls played alone", sum.played);
    timeline_.counters.emplace_back("calls played together", sum.detailed);
    timeline_.counters.emplace_back("slices", sum.slices);
  }

  const ReplayIndex& index_;
  std::unique_ptr<Network> network_;
  Progress progress_;
  NetworkLog* log_;
  std::vector<std::unique_ptr<PortMap>> port_maps_;
  std::vector<std::unique_ptr<HostReplay>> hosts_;
  std::vector<std::unique_ptr<Aggregator>> aggregators_;
  Timeline timeline_;
};

}  // namespace

Result<Timeline> Replay(const Workload& workload, const FlowPlan& plan, const KernelTimes& times,
                        const NetworkChoice& network, const ReplayOptions& options) {
  RETURN_IF_ERROR(CheckCosts(workload.topology, plan));
  ASSIGN_OR_RETURN(const ReplayIndex index, ReplayIndex::Create(workload, plan, times));
  // Aggregation nodes are hosts to the network, and to nobody else.
  const Topology fabric =
      index.aggregation().empty() ? workload.topology : index.aggregation().WithNodes();
  ASSIGN_OR_RETURN(std::unique_ptr<Network> carrier, network.make(fabric, options.network));
  Run run(index, std::move(carrier), options);
  ASSIGN_OR_RETURN(Timeline timeline, run.Go());
  timeline.network = network.name;
  return timeline;
}

}  // namespace drydock
