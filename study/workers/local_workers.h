// Evaluates points in processes of this machine. A process takes the next point when it is done
// with one; there is no other traffic between them. A process that dies loses its point alone.
#ifndef DRYDOCK_STUDY_WORKERS_LOCAL_WORKERS_H_
#define DRYDOCK_STUDY_WORKERS_LOCAL_WORKERS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/evaluate/evaluator.h"
#include "study/points/point_store.h"

namespace drydock {

struct WorkItem {
  std::string id;
  std::vector<std::string> assignments;
};

struct LocalOptions {
  int jobs = 1;
  bool pages = true;  // report.html of each point
  // Called now and then with the number of points done. Null: never.
  std::function<void(size_t done)> progress;
};

struct LocalResult {
  Shared shared;
  std::map<std::string, std::string> failures;  // by id: how the process ended; no point is written
};

// Evaluates all items and writes them into `store`. Items of one cluster stay together, because
// they have most in common. Errors: the machine fails (a disk that is full, a library that is
// missing); points that are done by then are written.
// REQUIRES: this process has one thread.
Result<LocalResult> EvaluateLocally(const EvaluatorOptions& evaluator, const PointStore& store,
                                    const std::vector<WorkItem>& items,
                                    const LocalOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_WORKERS_LOCAL_WORKERS_H_
