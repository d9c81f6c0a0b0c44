// What a reader of the run should know beside its figures: GPUs that do nothing, values that change
// nothing, parts that are faster than what they are plugged into.
#ifndef DRYDOCK_REPORT_FACTS_NOTES_H_
#define DRYDOCK_REPORT_FACTS_NOTES_H_

#include <string>
#include <vector>

#include "report/inputs/inputs.h"

namespace drydock {

// One sentence each. Empty for most runs.
std::vector<std::string> NotesOf(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_NOTES_H_
