// exec-engine: when each op of every rank starts and ends.
#include "exec-engine/command/large_pages.h"
#include "exec-engine/commands.h"
#include "ns3-backend/mpi_processes.h"

int main(int argc, char** argv) {
  drydock::PreferLargePages();
  drydock::Processes& processes = drydock::JoinProcesses();
  return drydock::LeaveProcesses(drydock::RunTool(
      argc, argv, [&] { return drydock::MakeReplayCommand(&processes); },
      {[&] { return drydock::MakeWhatIfCommand(&processes); }, drydock::MakeAstraCommand}));
}
