// workload-gen: what every rank does in one iteration of a training run.
#include "workload-gen/generate_command.h"
#include "workload-gen/graph/commands.h"

int main(int argc, char** argv) {
  return drydock::RunTool(argc, argv, drydock::MakeGenerateCommand, drydock::GraphCommands());
}
