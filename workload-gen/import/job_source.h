// Reads a training run from a model.yaml or from a Megatron-LM command line.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_JOB_SOURCE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_JOB_SOURCE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "workload-gen/import/tree/import_notes.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

struct JobSource {
  std::string path;
  // The file is a launch script, a list of arguments, a YAML file with MODEL_ARGS, or a recipe of
  // NeMo or Megatron-Bridge.
  bool megatron_arguments = false;
  std::vector<std::string> variables;  // "NAME=VALUE": of the launch script
  bool strict = false;                 // unmodeled arguments and fields, and unknown fields, fail
  bool ignore_unknown = false;         // otherwise, unknown arguments are errors
};

// The paths of the tables that importing reads.
std::vector<std::string> ImportTables();

// Reads the file, applies `overrides`, and expands the files that model.from and overlap.from name.
Result<TrainingJob> LoadJob(const JobSource& source, const std::vector<std::string>& overrides,
                            ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_JOB_SOURCE_H_
