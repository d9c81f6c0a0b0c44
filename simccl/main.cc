// simccl: plans what each member of a group sends and receives for each distinct communication
// call.
#include "simccl/commands.h"

int main(int argc, char** argv) {
  using drydock::MakeExpandCommand, drydock::MakeExplainCommand, drydock::MakePlanCommand;
  return drydock::RunTool(argc, argv, MakePlanCommand, {MakeExplainCommand, MakeExpandCommand});
}
