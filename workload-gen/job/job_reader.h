// Reads a TrainingJob from the tree of a model.yaml, by the table of keys.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_JOB_READER_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_JOB_READER_H_

#include <string>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "workload-gen/job/key.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Reads all sections of `root`, to which overrides are already applied. The model takes its name
// from the file's name unless model.name is given. Reports all mistakes at once.
Result<TrainingJob> TrainingJobFromTree(const YamlNode& root, const std::string& file_name);

// Reads one section, and reports all mistakes in it.
void ReadSection(const Section& section, const YamlNode& node, Diagnostics* diagnostics,
                 TrainingJob* job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_JOB_READER_H_
