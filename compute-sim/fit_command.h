// compute-sim fit: a GPU's file with parameters fitted to measured rows, and how well they fit.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_COMMAND_H_
#define DRYDOCK_COMPUTE_SIM_FIT_COMMAND_H_

#include <string>
#include <vector>

#include "compute-sim/fit/fit.h"
#include "core/base/cli.h"

namespace drydock {

struct FitCommand {
  CLI::App* command = nullptr;
  std::string gpu;
  std::vector<std::string> profiles;
  std::string attention_library;
  std::string output;
  FitOptions fit;
};

void DeclareFit(CLI::App* app, FitCommand* options, CommonOptions* common);
Status RunFit(const FitCommand& options, const CommonOptions& common);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_COMMAND_H_
