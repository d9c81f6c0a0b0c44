// Finds the rank classes of a workload from the programs of its ranks, given in order.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_PROGRAM_CLASSES_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_PROGRAM_CLASSES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Ranks of one kind with equal programs form a class. Classes are numbered by their first ranks.
// Fills class_of_rank, programs and class_count of the workload. REQUIRES: its tables are complete.
class ProgramClasses {
 public:
  explicit ProgramClasses(Workload* workload);
  // Adds the program of the next rank. Ranks of different kinds never share a class.
  void Add(Program program, int kind = 0);

  // The hash of each class's trace.
  const std::vector<std::string>& sha256() const { return sha256_; }

 private:
  Workload* workload_;
  std::map<std::pair<int, std::string>, int> index_;  // by kind and hash of the program
  std::vector<std::string> sha256_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_PROGRAM_CLASSES_H_
