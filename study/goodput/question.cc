#include "study/goodput/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "study/goodput/time_units.h"

namespace drydock {
namespace {

// Beyond this, a course takes longer to simulate than anybody waits.
constexpr double kMostFailures = 1e6;

class Poser {
 public:
  Poser(const Question& question, const RunFacts& run, const RunFacts* shrunk,
        const RunFacts* writing, const FailureModel& model)
      : question_(question), run_(run), shrunk_(shrunk), writing_(writing), model_(model) {}

  Result<Posed> Pose() {
    const Topology& topology = run_.workload.topology;
    if (!topology.storage) {
      return Error(
          "its cluster states no 'storage', so how long a checkpoint takes is unknown; predict the "
          "run again with 'storage' in the cluster file, or with --set storage.read=…, "
          "storage.write=… and storage.source=…",
          {run_.run, 0, 0});
    }
    const std::optional<CheckpointSize> size =
        SizeOfCheckpoint(run_.workload, question_.checkpoint);
    if (!size) {
      return Error(
          "its workload states no memory, so the size of a checkpoint is unknown; give it with "
          "--checkpoint-size",
          {run_.run, 0, 0});
    }
    posed_.size = *size;
    ASSIGN_OR_RETURN(posed_.times, TimesOf(*size, topology));
    posed_.plan.horizon = question_.days * kSecondsOfDay;
    posed_.plan.policy = question_.policy;
    posed_.plan.spares = question_.spares;
    posed_.plan.hosts = topology.host_count();
    posed_.plan.restore = posed_.times.read;
    RETURN_IF_ERROR(SetHazards(topology));
    SetRecovery();
    RETURN_IF_ERROR(SetSchedules());
    return std::move(posed_);
  }

 private:
  // The value, or 0 if it is unknown, which is then listed.
  double Known(const KnownOrNot& entry, const std::string& name) {
    if (!entry.value) Unknown(name);
    return entry.value.value_or(0);
  }

  void Unknown(const std::string& name) {
    std::vector<std::string>& all = posed_.unknown;
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }

  Status SetHazards(const Topology& topology) {
    posed_.plan.hazards = HazardsOf(topology, model_);
    for (const Hazard& hazard : posed_.plan.hazards) {
      Known(model_.of(hazard.part).per_year,
            "failures." + FailingPartNames()[static_cast<size_t>(hazard.part)]);
    }
    const double failures = SumOf(posed_.plan.hazards) * posed_.plan.horizon;
    if (failures <= kMostFailures) return OkStatus();
    return Error(
        fmt::format("{:.3g} failures in {:g} days: at most 1e6 can be simulated; state "
                    "fewer days or smaller rates",
                    failures, question_.days));
  }

  void SetRecovery() {
    MonthPlan& plan = posed_.plan;
    for (const Hazard& hazard : plan.hazards) {
      if (hazard.per_second <= 0) continue;
      const auto part = static_cast<size_t>(hazard.part);
      const std::string& name = FailingPartNames()[part];
      const bool own_detect = model_.rates[part].detect.has_value();
      plan.detect[part] = Known(model_.DetectOf(hazard.part),
                                own_detect ? "failures." + name + ".detect" : "recovery.detect");
      if (hazard.hosts == 0) continue;
      const bool own_repair = model_.rates[part].repair.has_value();
      plan.repair[part] = Known(model_.RepairOf(hazard.part),
                                own_repair ? "failures." + name + ".repair" : "recovery.repair");
    }
    const FailureModel::Recovery& recovery = model_.recovery;
    if (plan.policy == Policy::kSpares) plan.replace = Known(recovery.replace, "recovery.replace");
    plan.start = Known(recovery.start, "recovery.start");
    posed_.communicators = CommunicatorsOf(run_.workload);
    if (posed_.communicators.communicators == 0) return;
    plan.communicators =
        posed_.communicators.communicators * Known(recovery.communicator, "recovery.communicator") +
        static_cast<double>(posed_.communicators.members) *
            Known(recovery.member, "recovery.member");
  }

  Status SetSchedules() {
    MonthPlan& plan = posed_.plan;
    plan.full.step = plan.full.writing_step = run_.step;
    if (question_.asynchronous) {
      plan.full.stall = posed_.times.snapshot;
      plan.full.write = posed_.times.write;
      if (writing_ == nullptr) {
        Unknown("interference of asynchronous checkpoints (--writing)");
      } else {
        RETURN_IF_ERROR(CheckSameTokens(*writing_));
        plan.full.writing_step = std::max(run_.step, writing_->step);
      }
    } else {
      plan.full.stall = posed_.times.write;
    }
    if (plan.policy != Policy::kShrink) return OkStatus();
    RETURN_IF_ERROR(CheckShrunk());
    plan.shrunk = plan.full;
    plan.shrunk.step = shrunk_->step;
    // The same interference, as a share.
    plan.shrunk.writing_step = shrunk_->step * plan.full.writing_step / plan.full.step;
    plan.shrunk_worth = shrunk_->tokens_per_second() / run_.tokens_per_second();
    plan.most_lost = plan.hosts - shrunk_->workload.topology.host_count();
    return OkStatus();
  }

  Status CheckSameTokens(const RunFacts& other) const {
    const WorkloadTotals &here = run_.workload.totals, &there = other.workload.totals;
    if (here.tokens == there.tokens && here.parameters == there.parameters) return OkStatus();
    return Error(
        "it does not train the same model with the same tokens an iteration as " + run_.run,
        {other.run, 0, 0});
  }

  Status CheckShrunk() {
    const WorkloadTotals &here = run_.workload.totals, &there = shrunk_->workload.totals;
    const int hosts = shrunk_->workload.topology.host_count();
    if (here.parameters != there.parameters) {
      return Error("it trains another model than " + run_.run, {shrunk_->run, 0, 0});
    }
    if (here.tokens <= 0 || there.tokens <= 0) {
      return Error("its workload states no tokens, so what its iterations are worth is unknown",
                   {(here.tokens <= 0 ? run_ : *shrunk_).run, 0, 0});
    }
    if (hosts >= posed_.plan.hosts) {
      return Error(fmt::format("it has {} hosts, not fewer than the {} of {}", hosts,
                               posed_.plan.hosts, run_.run),
                   {shrunk_->run, 0, 0});
    }
    if (shrunk_->tokens_per_second() > run_.tokens_per_second()) {
      return Error(fmt::format("its {} hosts train more tokens a second than the {} of {}", hosts,
                               posed_.plan.hosts, run_.run),
                   {shrunk_->run, 0, 0});
    }
    for (const std::string& name : posed_.unknown) {
      if (!name.ends_with("repair")) continue;
      return Error(
          fmt::format("'{}' is unknown: for how long a run shrinks depends on it; state "
                      "it with --set '{}={}'",
                      name, name, name.starts_with("recovery") ? "{time: …, source: …}" : "…"));
    }
    return OkStatus();
  }

  const Question& question_;
  const RunFacts& run_;
  const RunFacts *shrunk_, *writing_;
  const FailureModel& model_;
  Posed posed_;
};

}  // namespace

Result<Posed> Pose(const Question& question, const RunFacts& run, const RunFacts* shrunk,
                   const RunFacts* writing, const FailureModel& model) {
  return Poser(question, run, shrunk, writing, model).Pose();
}

}  // namespace drydock
