// The input of a report: the artefacts of a run directory, read and checked against each other.
// Plain data; immutable once built, so threads may share it.
//
// Contract of ReadInputs:
//  - an artefact that is absent, stale or damaged is an error that names the file and the tool to
//    run (core/schema/artefacts/artefacts.h);
//  - a timeline that contradicts itself is an error (CheckTimeline), so later code needs no checks.
#ifndef DRYDOCK_REPORT_INPUTS_INPUTS_H_
#define DRYDOCK_REPORT_INPUTS_INPUTS_H_

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/memory_curve.h"
#include "core/model/timeline.h"
#include "core/model/what_if.h"
#include "core/model/workload.h"
#include "report/inputs/link_log.h"

namespace drydock {

struct Inputs {
  Workload workload;
  std::string maker;  // the tool that made the workload
  FlowPlan flows;
  KernelTimes times;
  Timeline timeline;
  std::optional<WhatIf> what_if;  // if exec-engine what-if was run
  std::optional<MemoryCurve> memory_curve;  // if the workload has one
  std::optional<LinkLog> link_log;          // if the packet network kept one

  const Program& program_of(int rank) const {
    const int index = workload.class_of_rank[static_cast<size_t>(rank)];
    return workload.programs[static_cast<size_t>(index)];
  }
  const RankTimeline& timeline_of(int rank) const {
    return timeline.ranks[static_cast<size_t>(rank)];
  }
  // Returns the group of a rank's communication op; -1 if the rank has none in the role.
  int group_of(int rank, const Op& op) const {
    return workload.group_of_rank[op.role][static_cast<size_t>(rank)];
  }
  // Returns the plan of a call in a group; null if there is none (a pair that never communicates).
  const Plan* plan_of(uint32_t call, int group) const;
  // Returns false if the rank has no ops: a captured program may take fewer GPUs than the cluster
  // has.
  bool works(int rank) const { return !program_of(rank).ops.empty(); }
};

Result<Inputs> ReadInputs(const std::string& run);

// Returns an error at `path` for: an iteration of length 0; an op outside the iteration, or whose
// times are not in order; a communication op without a plan; a rank whose account has a negative
// part or does not add up to the iteration, to the picosecond.
Status CheckTimeline(const Inputs& inputs, const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_INPUTS_INPUTS_H_
