// compute-sim import: kernel times of other tools as a profile.
#ifndef DRYDOCK_COMPUTE_SIM_IMPORT_COMMAND_H_
#define DRYDOCK_COMPUTE_SIM_IMPORT_COMMAND_H_

#include <string>
#include <vector>

#include "core/base/cli.h"

namespace drydock {

struct ImportCommand {
  CLI::App* command = nullptr;
  std::string from, gpu, output, type = "bf16", model;
  std::string date = "not stated";
  std::vector<std::string> files;
};

void DeclareImport(CLI::App* app, ImportCommand* options, CommonOptions* common);
Status RunImport(const ImportCommand& options, const CommonOptions& common);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_IMPORT_COMMAND_H_
