// Finds the rank classes of a workload whose programs come one rank after another.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_PROGRAM_CLASSES_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_PROGRAM_CLASSES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Ranks with equal programs (of one kind) are a class; classes are numbered by their first ranks.
// Fills class_of_rank, programs and class_count of the workload, whose tables it needs.
class ProgramClasses {
 public:
  explicit ProgramClasses(Workload* workload);
  // Of the next rank. Ranks of different kinds stay apart whatever they run.
  void Add(Program program, int kind = 0);

  // By class: of its trace.
  const std::vector<std::string>& sha256() const { return sha256_; }

 private:
  Workload* workload_;
  std::map<std::pair<int, std::string>, int> index_;  // kind, hash
  std::vector<std::string> sha256_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_PROGRAM_CLASSES_H_
