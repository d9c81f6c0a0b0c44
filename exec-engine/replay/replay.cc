#include "exec-engine/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/calls/call_numbers.h"
#include "exec-engine/folding/rank_replicas.h"
#include "exec-engine/folding/replica_folding.h"
#include "exec-engine/host/step_cost.h"
#include "exec-engine/index/replay_index.h"
#include "exec-engine/index/spanning_calls.h"
#include "exec-engine/replay/accounting.h"
#include "exec-engine/replay/gather.h"
#include "exec-engine/replay/host_replay.h"
#include "exec-engine/replay/joint_calls.h"
#include "exec-engine/replay/progress.h"
#include "exec-engine/replay/repeat.h"
#include "exec-engine/replay/stuck_report.h"
#include "exec-engine/steady/steady_state.h"
#include "exec-engine/transfer/aggregator.h"
#include "exec-engine/transfer/merged_loops.h"

namespace drydock {
namespace {

Error NoCosts(const GpuSpec& gpu, const std::string& what) {
  return Error(
      fmt::format("{} has no {}, which states the costs of communication; copy it from the "
                  "file of the most similar GPU",
                  gpu.file_name.empty() ? gpu.name : gpu.file_name, what));
}

Status CheckCosts(const Topology& topology, const FlowPlan& plan) {
  bool nvls = false, nvls_registered = false, copy_engine = false, userbuffers = false;
  for (const Plan& p : plan.plans) {
    for (const Work& work : p.works) {
      (work.registered ? nvls_registered : nvls) |= IsNvls(work.algorithm);
      copy_engine |= work.algorithm == Algorithm::kCopyEngine;
      userbuffers |= work.algorithm == Algorithm::kUserBuffers;
    }
  }
  struct Section {
    bool needed;
    const char* name;
    CollectiveCosts::Protocol CollectiveCosts::*costs;
  };
  const Section sections[] = {
      {nvls, "nvls", &CollectiveCosts::nvls},
      {nvls_registered, "nvls_registered", &CollectiveCosts::nvls_registered},
      {copy_engine, "copy_engine", &CollectiveCosts::copy_engine},
      {userbuffers, "userbuffers", &CollectiveCosts::userbuffers}};
  for (const HostKind& kind : topology.host_kinds) {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
    if (!gpu.has_collective_costs) return NoCosts(gpu, "'collectives:' section");
    for (const Section& section : sections) {
      if (!section.needed || (gpu.collectives.*section.costs).send > Bandwidth()) continue;
      return NoCosts(gpu, fmt::format("'{}' in its 'collectives:' section", section.name));
    }
  }
  return OkStatus();
}

// The network of one run. The last two are null in a whole replay.
struct Carrier {
  std::unique_ptr<Network> network;
  FoldedNetwork* folded = nullptr;  // `network`
  ReplicaFolding* folding = nullptr;
};

Result<Carrier> MakeCarrier(const NetworkModel& model, const Topology& topology,
                            const NetworkOptions& options, ReplicaFolding* folding) {
  if (folding == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<Network> whole, model.make(topology, options));
    return Carrier{std::move(whole)};
  }
  ASSIGN_OR_RETURN(std::unique_ptr<FoldedNetwork> made,
                   model.make_folded(topology, options, *folding));
  FoldedNetwork* folded = made.get();
  return Carrier{std::move(made), folded, folding};
}

// The programs with which a run goes on.
struct ShorterRun {
  std::unique_ptr<const Workload> workload;
  std::unique_ptr<const ReplayIndex> index;
};

// What a run watches to find that its schedule repeats itself.
struct Watched {
  const WorkloadPeriods* periods = nullptr;  // null: nothing
  const Repetition* kept = nullptr;          // of which the programs lack the periods; or null
  int64_t left_out = 0;  // other periods that they lack: the run ends if it finds no repetition
};

class Run {
 public:
  using Shorten = std::function<ShorterRun(const Repetition&)>;

  // The index, the folding and `joint` outlive the run. `joint` is null unless the programs of
  // replicas are empty.
  Run(const ReplayIndex& index, Carrier carrier, const ReplayOptions& options,
      const JointCallTimes* joint)
      : index_(&index),
        network_(std::move(carrier.network)),
        folded_network_(carrier.folded),
        folding_(carrier.folding),
        processes_(options.network.processes),
        until_(options.until),
        sharing_(options.sharing),
        log_(options.log) {
    if (joint != nullptr) joint_calls_ = std::make_unique<JointCalls>(*joint);
    sharing_.resize(Cluster().gpus.size());
    for (const HostKind& kind : Cluster().host_kinds) {
      port_maps_.push_back(
          std::make_unique<PortMap>(kind, Cluster().gpus[static_cast<size_t>(kind.gpu)]));
    }
    if (MayLeaveOutCalls(options)) {
      spanning_calls_ =
          std::make_unique<SpanningCalls>(dynamic_cast<ForgetfulNetwork*>(network_.get()));
    }
    const int64_t own_ops = SizeTimelines();
    progress_ = options.progress != nullptr ? options.progress : &unseen_progress_;
    progress_->Begin(OwnHosts(), own_ops, until_);
    for (HostId host = 0; host < Cluster().host_count(); ++host) {
      if (Owns(host)) {
        Progress::Host* progress = progress_->host(static_cast<int>(hosts_.size()));
        const auto gpu = static_cast<size_t>(Cluster().kind_of_host(host).gpu);
        const HostReplay::Settings settings = {
            options.shortcut,   until_,
            sharing_[gpu],      options.variation,
            folding_,           folding_ == nullptr ? nullptr : folded_network_->port(host),
            joint_calls_.get(), spanning_calls_.get()};
        hosts_.push_back(std::make_unique<HostReplay>(host, index, PortsOf(host),
                                                      network_->port(host), settings,
                                                      &timeline_.ranks, progress));
        replicas_.push_back(folding_ == nullptr ? 1 : folding_->ReplicaCount(host));
      }
      actors_.push_back(Owns(host) ? hosts_.back().get() : nullptr);
    }
    const Aggregation& aggregation = index.aggregation();
    for (int n = 0; n < aggregation.node_count(); ++n) {
      const HostId node = Cluster().host_count() + n;
      if (network_->Owns(node)) {
        aggregators_.push_back(
            std::make_unique<Aggregator>(node, aggregation, network_->port(node)));
      }
      actors_.push_back(network_->Owns(node) ? aggregators_.back().get() : nullptr);
    }
  }

  // Lets the run end if the schedule repeats itself, if the network can tell. Returns whether it
  // can. The run goes on with programs that `shorten` makes, if it can.
  bool WatchPeriods(const Watched& watched, Shorten shorten) {
    const WorkloadPeriods& periods = *watched.periods;
    auto* network = dynamic_cast<ObservableNetwork*>(network_.get());
    if (network == nullptr || hosts_.empty()) return false;
    std::vector<const RepeatingHost*> hosts;
    for (const auto& host : hosts_) hosts.push_back(host.get());
    steady_ = std::make_unique<SteadyState>(*index_, periods, std::move(hosts), *network,
                                            [this] { return Counters(); });
    others_left_out_ = watched.left_out;
    if (watched.left_out > 0) steady_->OnlySearch(watched.left_out);
    if (watched.kept != nullptr) {
      steady_->Keep(*watched.kept);
    } else {
      steady_->OnRepetition([this, periods, shorten = std::move(shorten)](const Repetition& found) {
        return GoOnWithout(periods, found, shorten);
      });
    }
    network->Observe(steady_.get());
    return true;
  }

  // Returns what the programs with which the run went on lack; no value: it went on with its own.
  std::optional<Repetition> went_on_without() const {
    return shorter_.index == nullptr ? std::nullopt : steady_->kept();
  }

  Status Go() { return network_->Run(actors_); }

  // Returns what may be left out if the run was ended for that.
  const std::optional<Repetition>& repetition() const {
    static const std::optional<Repetition> none;
    return steady_ == nullptr ? none : steady_->repetition();
  }

  // Returns the timeline to the first process, an empty one to the others. `workload` has one
  // iteration, the workload of the index `iterations` of them, or fewer periods. Then there is no
  // timeline if the periods cannot be put into it. REQUIRES: Go has returned, without repetition().
  Result<std::optional<Timeline>> Finish(const Workload& workload, int iterations) {
    RETURN_IF_ERROR(CheckFinished());
    if (log_ != nullptr && network_->Log() != nullptr) *log_ = *network_->Log();
    timeline_.counters = Counters();
    timeline_.links = network_->BusiestLinks();
    GatherRanks(own_ranks_, processes_, &timeline_.ranks);
    if (&index_->workload() != &workload && iterations == 1 &&
        !steady_->Lengthen(workload, others_left_out_, own_ranks_, &timeline_)) {
      return std::optional<Timeline>();
    }
    if (!processes_->first()) return std::optional(Timeline());
    if (folding_ != nullptr) Unfold();
    if (iterations > 1 && index_->op_count() > 0) {
      KeepLastIteration(workload, *index_, iterations, &timeline_);
      return std::optional(std::move(timeline_));
    }
    timeline_.iteration = timeline_.stopped;
    for (const RankTimeline& rank : timeline_.ranks) {
      for (const Time end : rank.end) timeline_.iteration = std::max(timeline_.iteration, end);
    }
    for (int rank = 0; rank < workload.rank_count(); ++rank) {
      if (const int known = folding_ == nullptr ? rank : folding_->RepresentativeRank(rank);
          known < rank) {
        timeline_.accounts.push_back(timeline_.accounts[static_cast<size_t>(known)]);
        continue;
      }
      const auto of_class = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
      const AccountedRank accounted = {workload.programs[of_class], workload.roles,
                                       workload.transfers, &index_->launches_of(rank)};
      timeline_.accounts.push_back(
          AccountFor(accounted, timeline_.ranks[static_cast<size_t>(rank)], timeline_.iteration));
    }
    return std::optional(std::move(timeline_));
  }

 private:
  const Topology& Cluster() const { return index_->workload().topology; }

  const PortMap& PortsOf(HostId host) const {
    return *port_maps_[static_cast<size_t>(Cluster().hosts[static_cast<size_t>(host)])];
  }

  // Returns the index of the programs with which the run goes on; null if it cannot.
  const ReplayIndex* GoOnWithout(const WorkloadPeriods& periods, const Repetition& repetition,
                                 const Shorten& shorten) {
    HostReplay::LeftOut left_out;
    for (const ProgramPeriods& each : periods.classes) {
      left_out.ops.push_back(static_cast<uint32_t>(repetition.count * each.ops));
      left_out.same.push_back(each.end - left_out.ops.back());
    }
    ShorterRun shorter = shorten(repetition);
    if (shorter.index == nullptr) return nullptr;
    for (const auto& host : hosts_) {
      if (!host->MayGoOnWith(*shorter.index, left_out)) return nullptr;
    }
    shorter_ = std::move(shorter);
    index_ = shorter_.index.get();
    int64_t ops = 0;
    for (const auto& host : hosts_) host->GoOnWith(*index_, left_out);
    for (const int rank : own_ranks_) {
      ops += static_cast<int64_t>(index_->class_of(rank).program->ops.size());
    }
    progress_->Shorten(ops);
    return index_;
  }

  // Returns true if this process replays the host.
  bool Owns(HostId host) const {
    return network_->Owns(host) && (folding_ == nullptr || folding_->IsRepresentative(host));
  }

  int OwnHosts() const {
    int count = 0;
    for (HostId host = 0; host < Cluster().host_count(); ++host) count += Owns(host);
    return count;
  }

  // Returns whether calls that span hosts meet in the network and in engines only, and all of them
  // run to their end.
  bool MayLeaveOutCalls(const ReplayOptions& options) const {
    const auto* network = dynamic_cast<const ForgetfulNetwork*>(network_.get());
    return options.shortcut && network != nullptr && network->Forgets() && folding_ == nullptr &&
           joint_calls_ == nullptr && until_ == Time::Max() && index_->aggregation().empty();
  }

  // Sizes the timelines of this process's ranks. Returns the number of their ops.
  int64_t SizeTimelines() {
    const int ranks = index_->workload().rank_count();
    timeline_.ranks.resize(static_cast<size_t>(ranks));
    int64_t all = 0;
    for (HostId host = 0; host < Cluster().host_count(); ++host) {
      if (!Owns(host)) continue;
      const int first = index_->first_rank(host);
      for (int rank = first; rank < std::min(first + PortsOf(host).gpus(), ranks); ++rank) {
        own_ranks_.push_back(rank);
        const size_t ops = index_->class_of(rank).program->ops.size();
        RankTimeline& t = timeline_.ranks[static_cast<size_t>(rank)];
        t.start.resize(ops);
        t.ready.resize(ops);
        t.end.resize(ops);
        all += static_cast<int64_t>(ops);
      }
    }
    return all;
  }

  // Returns an error unless all ops have ended or the run was stopped. Cuts a stopped run.
  Status CheckFinished() {
    RunState own;
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const auto& host = hosts_[i];
      own.ended += host->ops_ended() * replicas_[i];
      own.stopped |= host->stopped();
      const std::vector<StuckOp> here = host->StuckOps();
      own.stuck.insert(own.stuck.end(), here.begin(), here.end());
    }
    const RunState all = GatherState(std::move(own), processes_);
    if (all.ended == index_->op_count()) return OkStatus();
    if (!all.stopped) return DeadlockError(*index_, all.stuck, all.ended);
    timeline_.stopped = until_;
    timeline_.ops_ended = all.ended;
    for (const auto& host : hosts_) host->CutShort();
    return OkStatus();
  }

  // Gives each rank the times of its representative.
  void Unfold() {
    for (int rank = 0; rank < index_->workload().rank_count(); ++rank) {
      const int known = folding_->RepresentativeRank(rank);
      if (known == rank) continue;
      timeline_.ranks[static_cast<size_t>(rank)] = timeline_.ranks[static_cast<size_t>(known)];
    }
  }

  // Of all processes, so far.
  ReplayCounters Counters() {
    ReplayCounters out = network_->Counters();
    CommunicationCounters own;
    int64_t ended = 0;
    for (size_t i = 0; i < hosts_.size(); ++i) {
      own += hosts_[i]->counters() * replicas_[i];
      ended += hosts_[i]->ops_ended() * replicas_[i];
    }
    const CommunicationCounters sum = GatherCounters(own, processes_);
    // Of a run that was stopped, all ops; of a run that skips periods, the ops that it replayed.
    out.emplace_back("ops", steady_ != nullptr ? ended : index_->op_count());
    out.emplace_back("communication ops", sum.calls);
    out.emplace_back("calls looked up", sum.looked_up);
    out.emplace_back("calls played alone", sum.played);
    out.emplace_back("calls played together", sum.detailed);
    out.emplace_back("slices", sum.slices);
    if (sum.merged > 0) out.emplace_back("slices merged", sum.merged);
    if (joint_calls_ != nullptr) out.emplace_back("calls timed alone", joint_calls_->calls());
    if (folding_ == nullptr) return out;
    out.emplace_back("hosts replayed", folding_->hosts_replayed());
    if (!folding_->relaxed()) return out;
    out.emplace_back("ways taken as their mean", folding_->mean_paths());
    out.emplace_back("calls spread", folding_->spread_calls());
    out.emplace_back("uneven calls", folding_->uneven_calls());
    return out;
  }

  ShorterRun shorter_;        // no index: the run has the programs with which it began
  const ReplayIndex* index_;  // of the programs as they are now
  std::unique_ptr<Network> network_;
  FoldedNetwork* folded_network_;
  ReplicaFolding* folding_;
  Processes* processes_;
  const Time until_;
  std::vector<SharingCosts> sharing_;  // by GPU type
  Progress* progress_ = nullptr;       // of this process
  Progress unseen_progress_;
  NetworkLog* log_;
  std::vector<std::unique_ptr<PortMap>> port_maps_;
  std::vector<int> own_ranks_;
  std::vector<std::unique_ptr<HostReplay>> hosts_;  // of this process
  std::vector<int64_t> replicas_;  // by hosts_: number of hosts that each represents
  std::vector<std::unique_ptr<Aggregator>> aggregators_;  // of this process
  std::vector<HostActor*> actors_;                        // by host; null: of another process
  std::unique_ptr<SpanningCalls> spanning_calls_;         // null: no call is left out
  std::unique_ptr<JointCalls> joint_calls_;               // null: all ranks are replayed
  std::unique_ptr<SteadyState> steady_;                   // null: periods are not watched
  int64_t others_left_out_ = 0;                           // Watched::left_out
  Timeline timeline_;
};

// Returns whether the state of a replay has all that decides its future, and its programs can lack
// periods.
bool MayRepeat(const ReplayOptions& options, const ReplayIndex& index) {
  const Variation& variation = options.variation;
  return options.leave_out_periods && options.iterations == 1 && options.until == Time::Max() &&
         variation.jitter.compute <= 0 && variation.jitter.call <= Time() &&
         variation.slow_gpus.empty() && index.aggregation().empty() &&
         index.workload().transfers.empty() && options.network.processes->count() == 1;
}

// How a run ended: with a timeline, or early because of a repetition. Neither: the periods that its
// programs lack cannot be put into its timeline.
struct Outcome {
  std::optional<Timeline> timeline;
  std::optional<Repetition> repetition;
};

// A schedule is full after few periods. Programs with many more are replayed with so many at first.
constexpr int64_t kFewPeriods = 24;

// What a folding of hosts replays. `folding`: null if every host is replayed.
struct Replayed {
  int ranks = 0;
  int64_t ops = 0;
};
Replayed ReplayedHosts(const ReplayIndex& index, const ReplicaFolding* folding) {
  const Workload& workload = index.workload();
  Replayed out;
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    if (folding != nullptr && !folding->IsRepresentative(index.placement().of(rank).host)) continue;
    ++out.ranks;
    const auto of_rank = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
    out.ops += static_cast<int64_t>(workload.programs[of_rank].ops.size());
  }
  return out;
}

// Returns whether the ranks of some hosts run other programs than those of the first host.
bool HostsDiffer(const ReplayIndex& index) {
  const Workload& workload = index.workload();
  std::map<int, std::vector<int>> classes;  // by host, of its ranks
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    classes[index.placement().of(rank).host].push_back(
        workload.class_of_rank[static_cast<size_t>(rank)]);
  }
  const std::vector<int>& first = classes.begin()->second;
  return std::any_of(classes.begin(), classes.end(),
                     [&first](const auto& host) { return host.second != first; });
}

// Returns the replicas among the ranks if their folding replays far fewer ranks than one of hosts.
// If all hosts run the same programs, hosts fold, and most calls may be joint (FSDP).
std::optional<RankReplicas> ReplicasToFold(const ReplayIndex& index, const NetworkModel& network,
                                           const ReplicaFolding* folding,
                                           const ReplayOptions& options) {
  // Choices between speed and exactness, as those of ReplicaFolding. A replay of 4 million ops
  // takes a minute where collectives and messages between stages overlap all the time: 16 us an op.
  constexpr int64_t kManyOps = 4'000'000;
  constexpr int kFewer = 2;
  const Workload& workload = index.workload();
  const Replayed of_hosts = ReplayedHosts(index, folding);
  const bool wanted =
      options.fold == Fold::kRelaxed || (options.fold == Fold::kAuto && of_hosts.ops >= kManyOps);
  if (!wanted || !HostsDiffer(index) || !network.folds_exactly || options.iterations > 1 ||
      options.until < Time::Max() || !workload.topology.faults.empty()) {
    return std::nullopt;
  }
  std::optional<RankReplicas> replicas = FindRankReplicas(index, options.variation);
  if (replicas && replicas->replayed * kFewer > of_hosts.ranks) replicas.reset();
  return replicas;
}

// Gives each rank the times and the account of its representative.
void Unfold(const RankReplicas& replicas, Timeline* timeline) {
  for (size_t rank = 0; rank < replicas.representative.size(); ++rank) {
    const auto known = static_cast<size_t>(replicas.representative[rank]);
    if (known == rank) continue;
    timeline->ranks[rank] = timeline->ranks[known];
    timeline->accounts[rank] = timeline->accounts[known];
  }
  timeline->counters.emplace_back("ranks replayed", replicas.replayed);
}

// `joint`: if the programs of replicas are empty; else null.
Result<Timeline> ReplayRanks(const Workload& workload, const FlowPlan& plan,
                             const KernelTimes& times, const NetworkModel& network,
                             const ReplayOptions& options, const JointCallTimes* joint) {
  CHECK(options.iterations >= 1);
  CHECK_NOTE(options.iterations == 1 || options.until == Time::Max(),
             "a run of several iterations cannot be stopped");
  RETURN_IF_ERROR(CheckCosts(workload.topology, plan));
  Workload repeated;
  if (options.iterations > 1) {
    RETURN_IF_ERROR(CheckRepeat(workload, options.iterations));
    repeated = Repeat(workload, options.iterations);
  }
  FlowPlan merged;
  const bool merges = network.merging != Merging::kNone;
  if (merges) merged = WithMergedLoops(plan, network.merging);
  ASSIGN_OR_RETURN(const ReplayIndex index,
                   ReplayIndex::Create(options.iterations > 1 ? repeated : workload,
                                       merges ? merged : plan, times));
  const FlowPlan& played = merges ? merged : plan;
  // To the network, aggregation nodes are hosts.
  const Topology fabric =
      index.aggregation().empty() ? workload.topology : index.aggregation().WithNodes();
  const std::optional<WorkloadPeriods> periods =
      MayRepeat(options, index) ? FindPeriods(workload) : std::nullopt;
  const auto fold = [&](const ReplayIndex& of) {
    // A fault breaks the equivalence of hosts.
    return network.make_folded != nullptr && workload.topology.faults.empty()
               ? ReplicaFolding::Find(of, options.variation, options.fold, network.folds_exactly)
               : nullptr;
  };
  const auto run = [&](const ReplayIndex& of, ReplicaFolding* folding,
                       const Watched& watched) -> Result<Outcome> {
    ASSIGN_OR_RETURN(Carrier carrier, MakeCarrier(network, fabric, options.network, folding));
    Run each(of, std::move(carrier), options, joint);
    const auto shorten = [&](const Repetition& found) {
      ShorterRun out;
      out.workload = std::make_unique<Workload>(
          WithoutPeriods(of.workload(), *watched.periods, found.from, found.count));
      Result<ReplayIndex> made =
          ReplayIndex::CreateShorter(*out.workload, played, times, SortedNames(of.workload()));
      if (made.ok()) out.index = std::make_unique<ReplayIndex>(std::move(*made));
      return out;
    };
    Outcome out;
    const bool watches = watched.periods != nullptr && each.WatchPeriods(watched, shorten);
    if (watched.left_out > 0 && !watches) return out;
    RETURN_IF_ERROR(each.Go());
    if (watched.left_out > 0 && !each.went_on_without()) return out;
    out.repetition = each.repetition();
    if (out.repetition) return out;
    Result<std::optional<Timeline>> timeline = each.Finish(workload, options.iterations);
    out.repetition = each.went_on_without();
    if (timeline.ok()) {
      out.timeline = std::move(*timeline);
    } else if (!out.repetition) {
      return timeline.error();
    }  // else the error would name ops of other programs
    if (out.timeline) out.timeline->network = network.name;
    return out;
  };
  // Replays programs of a few periods, which take little memory. Returns no value if they are too
  // few.
  const auto play_few = [&](bool folded) -> std::optional<Timeline> {
    const int64_t count = periods ? SparePeriods(workload, *periods, kFewPeriods) : 0;
    if (count == 0) return std::nullopt;
    std::vector<uint32_t> begins;
    for (const ProgramPeriods& each : periods->classes) begins.push_back(each.begin);
    const Workload few = WithoutPeriods(workload, *periods, begins, count);
    const Result<ReplayIndex> of = ReplayIndex::Create(few, played, times);
    if (!of.ok()) return std::nullopt;
    const WorkloadPeriods rest = Shortened(*periods, count);
    const auto folding = folded ? fold(*of) : nullptr;
    Result<Outcome> outcome = run(*of, folding.get(), {&rest, nullptr, count});
    return outcome.ok() ? std::move(outcome->timeline) : std::nullopt;
  };
  const auto play = [&](ReplicaFolding* folding) -> Result<Timeline> {
    if (std::optional<Timeline> timeline = play_few(folding != nullptr)) {
      return std::move(*timeline);
    }
    ASSIGN_OR_RETURN(Outcome first, run(index, folding, {periods ? &*periods : nullptr}));
    if (first.timeline) return std::move(*first.timeline);
    if (first.repetition) {
      const Repetition& repetition = *first.repetition;
      const Workload shorter =
          WithoutPeriods(workload, *periods, repetition.from, repetition.count);
      ASSIGN_OR_RETURN(const ReplayIndex of, ReplayIndex::Create(shorter, played, times));
      const auto folded = folding == nullptr ? nullptr : fold(of);
      const WorkloadPeriods rest = Shortened(*periods, repetition.count);
      Result<Outcome> second = run(of, folded.get(), {&rest, &repetition});
      if (second.ok() && second->timeline) return std::move(*second->timeline);
    }  // else replay all periods, so that an error names the ops of the workload
    ASSIGN_OR_RETURN(Outcome whole, run(index, folding, {}));
    return std::move(*whole.timeline);
  };
  if (joint != nullptr) return play(nullptr);
  const std::unique_ptr<ReplicaFolding> folding = fold(index);
  if (const auto replicas = ReplicasToFold(index, network, folding.get(), options)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<JointCallTimes> alone,
                     JointCallTimes::Find(index, *replicas, network, options));
    if (alone != nullptr) {
      Result<Timeline> timeline = ReplayRanks(WithoutReplicas(workload, *replicas), plan, times,
                                              network, options, alone.get());
      if (timeline.ok()) {
        Unfold(*replicas, &*timeline);
        return timeline;
      }  // else replay all ranks, so that the error names them
    }
  }
  if (folding != nullptr) {
    Result<Timeline> timeline = play(folding.get());
    if (timeline.ok()) return timeline;  // else replay all hosts, so that the error names them
  }
  return play(nullptr);
}

}  // namespace

Result<Timeline> Replay(const Workload& workload, const FlowPlan& plan, const KernelTimes& times,
                        const NetworkModel& network, const ReplayOptions& options) {
  return ReplayRanks(workload, plan, times, network, options, nullptr);
}

}  // namespace drydock
