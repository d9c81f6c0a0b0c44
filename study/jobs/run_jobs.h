// Divides points among the jobs of an engine, and waits for them.
#ifndef DRYDOCK_STUDY_JOBS_RUN_JOBS_H_
#define DRYDOCK_STUDY_JOBS_RUN_JOBS_H_

#include <functional>
#include <map>
#include <string>

#include "core/base/result.h"
#include "study/jobs/engine.h"
#include "study/jobs/job_file.h"

namespace drydock {

struct JobsOptions {
  int jobs = 8;  // at most so many
  // Called now and then with the number of points done. Null: never.
  std::function<void(size_t done)> progress;
};

// Runs `all` in jobs: job i has each n-th point, so that all take about as long. The directory of
// the study and the files of the points must be the same on all machines. Writes STUDY/jobs/, the
// points and the log of each job. An interrupt of this process ends the jobs.
//
// Returns, by ID, why points are missing. Errors: the engine is not there, or does not take the
// jobs.
Result<std::map<std::string, std::string>> RunJobs(const Engine& engine, const JobFile& all,
                                                   const JobsOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_JOBS_RUN_JOBS_H_
