// Rules inside one section of model.yaml that no single key states. Each function completes
// defaults that depend on several keys, and reports values that do not fit together. The table of
// keys (key.h) names the function of each section.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_SECTION_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_SECTION_RULES_H_

#include "core/base/yaml.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

void CheckModel(YamlReader* reader, TrainingJob* job);
void CheckTraining(YamlReader* reader, TrainingJob* job);
void CheckParallel(YamlReader* reader, TrainingJob* job);
void CheckOverlap(YamlReader* reader, TrainingJob* job);
void CheckZero(YamlReader* reader, TrainingJob* job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_SECTION_RULES_H_
