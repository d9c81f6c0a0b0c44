// What a report is made from, in one piece: the artefacts of a run directory, read and checked
// against one another. Plain data; immutable once built, so threads may share it.
//
// Contract of ReadInputs:
//  - an artefact that is absent, stale or damaged is an error that names the file and the tool to
//    run (core/schema/artefacts/artefacts.h);
//  - so is a timeline that contradicts itself: see CheckTimeline. What later code computes from
//    Inputs therefore needs no further checks.
#ifndef DRYDOCK_REPORT_FACTS_INPUTS_H_
#define DRYDOCK_REPORT_FACTS_INPUTS_H_

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/timeline.h"
#include "core/model/what_if.h"
#include "core/model/workload.h"

namespace drydock {

struct Inputs {
  Workload workload;
  FlowPlan flows;
  KernelTimes times;
  Timeline timeline;
  std::optional<WhatIf> what_if;  // where exec-engine what-if was asked

  const Program& program_of(int rank) const {
    const int index = workload.class_of_rank[static_cast<size_t>(rank)];
    return workload.programs[static_cast<size_t>(index)];
  }
  const RankTimeline& timeline_of(int rank) const {
    return timeline.ranks[static_cast<size_t>(rank)];
  }
  // The group a rank's communication op works in; -1 if the rank is in none of that role.
  int group_of(int rank, const Op& op) const {
    return workload.group_of_rank[op.role][static_cast<size_t>(rank)];
  }
  // The plan of a call in a group; null if it was not planned (a pair that never communicates).
  const Plan* plan_of(uint32_t call, int group) const;
};

Result<Inputs> ReadInputs(const std::string& run);

// Errors, placed at `path`: an iteration of no time; an op outside the iteration or out of order
// with itself; a communication op whose call was not planned; a rank whose account has a negative
// part, or whose parts do not add up to the iteration, to the picosecond.
Status CheckTimeline(const Inputs& inputs, const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_INPUTS_H_
