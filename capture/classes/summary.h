// What a captured workload says of itself: the name and layout of the program, what was taken for
// granted.
#ifndef DRYDOCK_CAPTURE_CLASSES_SUMMARY_H_
#define DRYDOCK_CAPTURE_CLASSES_SUMMARY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/classes/world_groups.h"
#include "capture/classes/world_workload.h"
#include "core/model/workload.h"

namespace drydock::capture {

struct CaptureSummary {
  std::string torch_version;
  int iteration = 0;
  int ranks_run = 0;
  std::map<std::string, std::set<int>> refused;  // functions that are missing: who called them
  std::vector<std::string> splits;  // why ranks with the same groups are of several classes
  std::string processor;            // on which the host's times were measured; empty: none are kept
  std::set<int> observed;           // ranks whose host has only times beside observers
  std::set<int> lacked;             // ranks to whom something was broadcast that nobody knew
  // Between ranks of a class: of the optimizer's bytes, of the peak of memory.
  double optimizer_differs = 0, memory_differs = 0;

  void Compare(const ClassTape& stands, const ClassTape& other);
};

// Returns "pretrain_gpt.py" of "python pretrain_gpt.py --tp 8", "torchtitan.train" of "python -m
// torchtitan.train".
std::string NameOfCommand(const std::vector<std::string>& command);

// Fills in the totals' names, and the assumptions.
void Describe(const std::vector<std::string>& command, const WorldGroups& groups,
              const std::vector<WorldClass>& classes, const CaptureSummary& summary,
              Workload* workload, std::vector<std::string>* notes);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_SUMMARY_H_
