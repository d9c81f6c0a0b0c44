// Where a training run is stated: a model.yaml, or a Megatron-LM command line.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_JOB_SOURCE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_JOB_SOURCE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "workload-gen/import/tree/import_notes.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

struct JobSource {
  std::string path;                    // of the file
  bool megatron_arguments = false;     // it is a launch script or an argument list
  std::vector<std::string> variables;  // "NAME=VALUE": of the launch script
  bool strict = false;                 // what is unknown or not modelled is an error
};

// Reads the file, then what `overrides` replace, then the config.json that model.from names.
Result<TrainingJob> LoadJob(const JobSource& source, const std::vector<std::string>& overrides,
                            ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_JOB_SOURCE_H_
