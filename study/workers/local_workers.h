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
  // Called now and then with the number of points done. Null: never.
  std::function<void(size_t done)> progress;
};

struct LocalResult {
  Shared shared;
  std::map<std::string, std::string> failures;  // by id: how the process ended; no point is written
};

// What a process does with an item; `index` is the item's in the list. Errors are those of this
// machine (a disk that is full, a library that is missing) and end the work.
using LocalTask = std::function<Status(Evaluator* evaluator, const WorkItem& item, size_t index)>;

// Does the task for all items. Items of one cluster stay together, because they have most in
// common. A task runs in another process: what it leaves in memory is lost, unless that is shared
// (shared_array.h). REQUIRES: this process has one thread.
Result<LocalResult> WorkLocally(const EvaluatorOptions& evaluator,
                                const std::vector<WorkItem>& items, const LocalOptions& options,
                                const LocalTask& task);

// Evaluates all items and writes them into `store`.
Result<LocalResult> EvaluateLocally(const EvaluatorOptions& evaluator, const PointStore& store,
                                    const std::vector<WorkItem>& items, bool pages,
                                    const LocalOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_WORKERS_LOCAL_WORKERS_H_
