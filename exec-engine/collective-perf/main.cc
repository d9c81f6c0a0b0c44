// collective-perf: how long a collective takes for a range of sizes.
#include "exec-engine/collective-perf/collective_perf_command.h"

int main(int argc, char** argv) {
  return drydock::RunTool(argc, argv, drydock::MakeCollectivePerfCommand);
}
