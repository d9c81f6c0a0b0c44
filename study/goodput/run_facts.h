// What a prediction of goodput takes from a run directory.
#ifndef DRYDOCK_STUDY_GOODPUT_RUN_FACTS_H_
#define DRYDOCK_STUDY_GOODPUT_RUN_FACTS_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

struct RunFacts {
  std::string run;
  Workload workload;  // tables alone
  std::string network;
  double step = 0;  // seconds: the mean of its iterations

  double tokens_per_second() const { return static_cast<double>(workload.totals.tokens) / step; }
};

// Errors: an artefact is absent, stale or damaged; the run was stopped.
Result<RunFacts> ReadRunFacts(const std::string& run);

// The communicators of the rank that makes most, and their members together.
struct CommunicatorCount {
  int communicators = 0;
  int64_t members = 0;
};
CommunicatorCount CommunicatorsOf(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_RUN_FACTS_H_
