// simccl: what each distinct communication call makes the members of its group send and receive.
#include "simccl/commands.h"

int main(int argc, char** argv) {
  using drydock::MakeExpandCommand, drydock::MakeExplainCommand, drydock::MakePlanCommand;
  return drydock::RunTool(argc, argv, MakePlanCommand, {MakeExplainCommand, MakeExpandCommand});
}
