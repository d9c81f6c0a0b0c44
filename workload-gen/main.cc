// workload-gen: what every rank does in one iteration of a training run.
#include "workload-gen/generate_command.h"
#include "workload-gen/graph/commands.h"
#include "workload-gen/keys_command.h"

int main(int argc, char** argv) {
  std::vector<drydock::CommandMaker> commands = drydock::GraphCommands();
  commands.push_back(drydock::MakeKeysCommand);
  return drydock::RunTool(argc, argv, drydock::MakeGenerateCommand, commands);
}
