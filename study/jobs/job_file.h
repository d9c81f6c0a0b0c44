// The points of one job, as a file that the job's process reads.
#ifndef DRYDOCK_STUDY_JOBS_JOB_FILE_H_
#define DRYDOCK_STUDY_JOBS_JOB_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/evaluate/evaluator.h"
#include "study/workers/local_workers.h"

namespace drydock {

struct JobFile {
  EvaluatorOptions evaluator;
  std::string study;  // its directory
  bool pages = true;
  std::vector<WorkItem> items;
};

std::string JobJson(const JobFile& job);
// Errors: not such a file, or that of another version.
Result<JobFile> LoadJobFile(const std::string& path);

// Evaluates the points that the study does not have yet, in processes of this machine. Errors: a
// point that this program calls by another ID, because it is another version; a process that died.
Status RunJob(const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_JOBS_JOB_FILE_H_
