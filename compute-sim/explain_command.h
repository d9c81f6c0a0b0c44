// compute-sim explain: the tree of submodules, kernels and times, of a run or of a list of
// submodules on GPUs of one's choice. Writes nothing.
#ifndef DRYDOCK_COMPUTE_SIM_EXPLAIN_COMMAND_H_
#define DRYDOCK_COMPUTE_SIM_EXPLAIN_COMMAND_H_

#include <string>
#include <vector>

#include "compute-sim/model_options.h"

namespace drydock {

struct ExplainOptions {
  CLI::App* command = nullptr;
  std::string run;
  std::vector<std::string> gpus;
  std::string list;                 // a file of submodules
  std::vector<std::string> single;  // submodules in words
  ModelOptions model;
};

void DeclareExplain(CLI::App* app, ExplainOptions* options, CommonOptions* common);
Status RunExplain(const ExplainOptions& options, const CommonOptions& common);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_EXPLAIN_COMMAND_H_
