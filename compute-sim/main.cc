// compute-sim: how long each kernel takes on each GPU of the cluster.
#include "compute-sim/commands.h"

int main(int argc, char** argv) {
  return drydock::RunTool(
      argc, argv, drydock::MakeSimulateCommand,
      {drydock::MakeExplainCommand, drydock::MakeFitCommand, drydock::MakeImportCommand});
}
