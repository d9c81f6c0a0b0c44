// From a run, a failures file and options to the plan of a month.
//
// What is not known counts as nothing in the plan and is listed, so the goodput is an upper bound.
// What decides the answer's shape has to be known: where checkpoints go, how large they are, and,
// where the plan is to shrink, when hosts are back.
#ifndef DRYDOCK_STUDY_GOODPUT_QUESTION_H_
#define DRYDOCK_STUDY_GOODPUT_QUESTION_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "study/goodput/checkpoint.h"
#include "study/goodput/failure_model.h"
#include "study/goodput/month.h"
#include "study/goodput/run_facts.h"

namespace drydock {

struct Question {
  double days = 54;
  Policy policy = Policy::kRestart;
  int spares = 0;
  bool asynchronous = false;
  std::optional<Bytes> checkpoint;  // its size, in place of the memory model's
};

struct Posed {
  MonthPlan plan;  // without its steps between checkpoints
  CheckpointSize size;
  CheckpointTimes times;
  CommunicatorCount communicators;
  std::vector<std::string> unknown;  // "recovery.start", "failures.switch", ...
};

// `shrunk`: of Policy::kShrink, a run on fewer hosts. `writing`: a run of the same workload with
// what is left of the network while a checkpoint is being written; null: unknown.
Result<Posed> Pose(const Question& question, const RunFacts& run, const RunFacts* shrunk,
                   const RunFacts* writing, const FailureModel& model);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_QUESTION_H_
